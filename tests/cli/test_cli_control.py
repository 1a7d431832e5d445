"""`freeflyer control`."""

import freeflyer as ff
import json
import pytest
from command import printed, refusal
from dataclasses import replace
from freeflyer.cli.control import verdict
from robots_on_disk import example, needs_examples

pytestmark = pytest.mark.slow


def test_a_squat_with_pictures_and_numbers(tmp_path):
    numbers = tmp_path / "numbers.json"
    arguments = ("control", "squat", "--dt", "0.002", "--duration", "0.1", "-o", tmp_path / "out", "--json", numbers)
    shown = printed(*arguments)
    assert "it stands and keeps its tasks" in shown
    assert "stands on left_sole (surface), right_sole (surface)" in shown
    found = json.loads(numbers.read_text())["data"]
    assert (found["scenario"], found["cycles"]) == ("squat", 51)
    assert not found["fell"]
    assert found["largest_errors"]["CenterOfMassTask"]["m"] < 1e-3
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert len(names) == 4
    assert all(name.startswith("squat_humanoid") for name in names)


def test_robots_from_files(models_folder):
    tocabi = ("--robot", models_folder / "tocabi" / "tocabi.urdf", "--dt", "0.002", "--duration", "0.02")
    assert "Pelvis_Link" in (shown := printed("control", "squat", *tocabi))
    assert "stands on " in shown
    feet = ("--feet", "left_sole,right_sole", "--sole", "0.2x0.1")
    printed("control", "swing", "--dt", "0.002", "--duration", "0.02", *feet)
    file = models_folder / "kangaroo" / "kangaroo.xml"
    printed("control", "squat", "--robot", file, "--plant-file", file, "--dt", "0.002", "--duration", "0.02")
    sprung = models_folder / "cassie" / "cassie.xml"
    printed("control", "squat", "--robot", sprung, "--duration", "0.02", "--dt", "0.002")
    assert "springs alone drive" in refusal("control", "squat", "--robot", sprung, "--plant-file", sprung, "--duration", "0.02")


@needs_examples
def test_all_scenarios_of_a_quadruped_in_one_table(tmp_path):
    numbers = tmp_path / "numbers.json"
    every = ("control", "all", "--robot", example("go2.urdf"), "--dt", "0.005", "--duration", "0.02", "--json", numbers)
    assert "longest cycle" in printed(*every)
    data = json.loads(numbers.read_text())["data"]
    assert [r["scenario"] for r in data["runs"]] == ["stand", "squat", "reach", "lift", "walk", "swing"]
    assert data["refused"] == {}


def test_scenarios_that_a_robot_refuses_are_named(tmp_path):
    numbers, feet = tmp_path / "numbers.json", "front_left_foot,front_right_foot,rear_left_foot"
    robot = ("--robot", "quadruped", "--feet", feet, "--sole", "point")
    assert "walk is refused" in printed("control", "all", *robot, "--dt", "0.005", "--duration", "0.02", "--json", numbers)
    assert list(json.loads(numbers.read_text())["data"]["refused"]) == ["lift", "walk"]
    walk = ("control", "walk", "--steps", "2", "--step-length", "0.1", "--dt", "0.005", "--duration", "0.02")
    printed(*walk)
    feet = ",".join(f"{a}_{b}_foot" for a in ("front", "rear") for b in ("left", "right"))
    stand = ("control", "squat", "--robot", "quadruped", "--feet", feet, "--sole", "point", "--dt", "0.005", "--duration", "0.02")
    printed(*stand)


@needs_examples
def test_four_feet_walk_by_gaits():
    walk = ("control", "walk", "--robot", example("go2.urdf"), "--dt", "0.005", "--duration", "0.02")
    shown = printed(*walk, "--gait", "trot", "--speed", "0.3", "--lateral", "0.05", "--turning", "0.2", "--steps", "3")
    assert "FramePositionTask('FL_foot')" not in shown  # still on the ground
    for options, words in ((("--gait", "gallop"), "Known gaits: crawl, trot"), (("--speed", "4"), "cannot go so fast"),
                           (("--step-length", "0.1"), "--step-length is for two feet")):  # fmt: skip
        assert words in refusal(*walk, *options)


def test_the_reason_of_an_end_is_said():
    run = ff.control.run_scenario("squat", "humanoid", duration=0.02)
    failed = [replace(run.run, failure=f"at 0.006 s: {why}") for why in ("the robot fell", "the motion blows up")]
    ends = [verdict(replace(run, run=x)) for x in failed]
    assert ends == ["it fell after 0.02 s", "the run ended at 0.006 s: the motion blows up"]


def test_scenarios_in_a_table(tmp_path):
    numbers = tmp_path / "numbers.json"
    assert "ratio" in printed("control", "all", "--compare", "--dt", "0.005", "--duration", "0.02", "--json", numbers)
    runs = json.loads(numbers.read_text())["data"]["runs"]
    assert [(r["scenario"], r["formulation"]) for r in runs[:3]] == [("stand", "full"), ("stand", "reduced"), ("squat", "full")]
    assert len(runs) == 12
    assert all(0.0 < r["solve_time_median"] <= r["solve_time_99_9"] <= r["solve_time_largest"] for r in runs)
    pushes = ("control", "stand", "--dt", "0.005", "--pushes", "1", "--seed", "3", "-o", tmp_path / "out", "--json", numbers)
    assert "0 of 1 pushes lost" in printed(*pushes)
    assert json.loads(numbers.read_text())["data"]["fell"] == [False]
    assert sorted(path.suffix for path in (tmp_path / "out").iterdir()) == [".png", ".svg"]
