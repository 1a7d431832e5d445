"""`freeflyer control`."""

import json
import pytest
from command import run
from robots_on_disk import example, needs_examples

pytestmark = pytest.mark.slow


@pytest.mark.slow
def test_a_squat_with_pictures_and_numbers(tmp_path):
    numbers = tmp_path / "numbers.json"
    arguments = ("control", "squat", "--dt", "0.002", "--duration", "0.1", "-o", tmp_path / "out", "--json", numbers)
    done = run(*arguments)
    assert done.exit_code == 0, done.output
    assert "it stands and keeps its tasks" in done.stdout
    found = json.loads(numbers.read_text())["data"]
    assert (found["scenario"], found["cycles"]) == ("squat", 51)
    assert not found["fell"]
    assert found["largest_errors"]["CenterOfMassTask"]["m"] < 1e-3
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert len(names) == 4
    assert all(name.startswith("squat_humanoid") for name in names)


def test_refused_options():
    assert run("control", "dance").exit_code == 2
    done = run("control", "squat", "--robot", "no_such_robot", "--duration", "0.01")
    assert done.exit_code != 0
    assert "no_such_robot" in done.output + str(done.exception)
    for arguments, words in ((("stand", "--hand", "left_palm"), "--hand belongs to the scenario reach"),
                             (("squat", "--pushes", 3), "--pushes and --boundary belong to the scenario stand"),
                             (("stand", "--velocity-noise", 1e308), "error: --velocity-noise holds 1e+308"),
                             (("stand", "--dt", 0), "error: --dt must be a positive number, got 0.0"),
                             (("stand", "--solver", "w" * 1000), "(1000 characters)")):  # fmt: skip
        done = run("control", *arguments)
        assert done.exit_code == 2, arguments
        assert words in done.stderr, done.stderr
        assert "Warning" not in done.output
    for arguments, words in ((("--feet", "left_palm"), "its sole's sides"), (("--feet", "nose", "--sole", "0.2x0.1"), "nose"),
                             (("--sole", "0.2x0.1"), "--feet names"),
                             (("--feet", "left_sole", "--sole", "wide"), "LENGTHxWIDTH")):  # fmt: skip
        done = run("control", "squat", "--duration", "0.01", *arguments)
        assert done.exit_code != 0
        assert words in done.output + str(done.exception), arguments


def test_robots_from_files(models_folder):
    done = run("control", "squat", "--robot", models_folder / "tocabi" / "tocabi.urdf", "--dt", "0.002", "--duration", "0.02")
    assert done.exit_code == 0, done.output
    assert "Pelvis_Link" in done.stdout
    feet = ("--feet", "left_sole,right_sole", "--sole", "0.2x0.1")
    assert run("control", "swing", "--dt", "0.002", "--duration", "0.02", *feet).exit_code == 0
    file = models_folder / "kangaroo" / "kangaroo.xml"
    done = run("control", "squat", "--robot", file, "--plant-file", file, "--dt", "0.002", "--duration", "0.02")
    assert done.exit_code == 0, done.output
    sprung = models_folder / "cassie" / "cassie.xml"
    done = run("control", "squat", "--robot", sprung, "--duration", "0.02", "--dt", "0.002")
    assert done.exit_code == 0, done.output
    done = run("control", "squat", "--robot", sprung, "--plant-file", sprung, "--duration", "0.02")
    assert "springs alone drive" in done.output + str(done.exception)


@needs_examples
def test_all_scenarios_of_a_quadruped_in_one_table(tmp_path):
    numbers = tmp_path / "numbers.json"
    done = run("control", "all", "--robot", example("go2.urdf"), "--dt", "0.005", "--duration", "0.02", "--json", numbers)
    assert done.exit_code == 0, done.output
    assert "longest cycle" in done.stdout
    data = json.loads(numbers.read_text())["data"]
    assert [r["scenario"] for r in data["runs"]] == ["stand", "squat", "reach", "lift", "walk", "swing"]
    assert data["refused"] == {}


def test_scenarios_that_a_robot_refuses_are_named(tmp_path):
    numbers, feet = tmp_path / "numbers.json", "front_left_foot,front_right_foot,rear_left_foot"
    robot = ("--robot", "quadruped", "--feet", feet, "--sole", "point")
    done = run("control", "all", *robot, "--dt", "0.005", "--duration", "0.02", "--json", numbers)
    assert done.exit_code == 0, done.output
    assert "walk is refused" in done.stdout
    assert list(json.loads(numbers.read_text())["data"]["refused"]) == ["lift", "walk"]
    walk = ("control", "walk", "--steps", "2", "--step-length", "0.1", "--dt", "0.005", "--duration", "0.02")
    assert run(*walk).exit_code == 0
    assert "belongs to the scenario walk" in run("control", "squat", "--steps", "3").output
    feet = ",".join(f"{a}_{b}_foot" for a in ("front", "rear") for b in ("left", "right"))
    stand = ("control", "squat", "--robot", "quadruped", "--feet", feet, "--sole", "point", "--dt", "0.005", "--duration", "0.02")
    done = run(*stand)
    assert done.exit_code == 0, done.output


@needs_examples
def test_four_feet_walk_by_gaits():
    walk = ("control", "walk", "--robot", example("go2.urdf"), "--dt", "0.005", "--duration", "0.02")
    done = run(*walk, "--gait", "trot", "--speed", "0.3", "--lateral", "0.05", "--turning", "0.2", "--steps", "3")
    assert done.exit_code == 0, done.output
    assert "FramePositionTask('FL_foot')" not in done.stdout  # still on the ground
    for options, words in ((("--gait", "gallop"), "Known gaits: crawl, trot"), (("--speed", "4"), "cannot go so fast"),
                           (("--step-length", "0.1"), "--step-length is for two feet")):  # fmt: skip
        refused = run(*walk, *options)
        assert refused.exit_code != 0
        assert words in " ".join((refused.output + str(refused.exception)).split())
    assert "belongs to the scenario walk" in run("control", "squat", "--speed", "0.3").output


def test_scenarios_in_a_table(tmp_path):
    numbers = tmp_path / "numbers.json"
    done = run("control", "all", "--compare", "--dt", "0.005", "--duration", "0.02", "--json", numbers)
    assert done.exit_code == 0, done.output
    assert "ratio" in done.stdout
    runs = json.loads(numbers.read_text())["data"]["runs"]
    assert [(r["scenario"], r["formulation"]) for r in runs[:3]] == [("stand", "full"), ("stand", "reduced"), ("squat", "full")]
    assert len(runs) == 12
    assert all(0.0 < r["solve_time_median"] <= r["solve_time_99_9"] <= r["solve_time_largest"] for r in runs)
    pushes = ("control", "stand", "--dt", "0.005", "--pushes", "1", "--seed", "3", "-o", tmp_path / "out", "--json", numbers)
    done = run(*pushes)
    assert done.exit_code == 0, done.output
    assert "0 of 1 pushes lost" in done.stdout
    assert json.loads(numbers.read_text())["data"]["fell"] == [False]
    assert sorted(path.suffix for path in (tmp_path / "out").iterdir()) == [".png", ".svg"]
    assert run("control", "walk", "--pushes", "2").exit_code == 2
