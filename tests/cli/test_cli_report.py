"""`freeflyer report`, `freeflyer demo` and `freeflyer control`."""

import freeflyer as ff
import json
import pytest
from command import arm, json_of, printed, refusal, run, run_json, written
from dataclasses import replace
from freeflyer.analysis.timing.algorithms import ALGORITHMS
from freeflyer.analysis.timing.runner import Effort
from freeflyer.cli.control import verdict
from freeflyer.report.page import MARK
from robots_on_disk import example, needs_examples

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("short_blocks")]


def quick(monkeypatch):
    monkeypatch.setattr("freeflyer.report.reporting.EFFORT", Effort(batch=16, blocks=3))


def test_the_report_is_written_and_named(tmp_path, monkeypatch):
    quick(monkeypatch)
    page = tmp_path / "arm.html"
    shown = printed("report", written(tmp_path, arm()), "-o", page, "--json", tmp_path / "arm.json")
    assert str(page) in shown
    assert MARK in page.read_text(encoding="utf-8")
    data = json.loads((tmp_path / "arm.json").read_text())["data"]
    assert (data["overview"]["nv"], len(data["matrices"]["mass_matrix"])) == (8, 8)
    other = tmp_path / "thesis.html"
    other.write_text("mine")
    assert "--overwrite" in refusal("report", "chain", "-o", other)
    assert (other.read_text(), run("report", "chain", "-o", other, "--overwrite").exit_code) == ("mine", 0)
    assert MARK in other.read_text(encoding="utf-8")


def test_the_demo_tours_every_robot_and_prints_the_path_of_its_report(tmp_path, monkeypatch):
    quick(monkeypatch)
    page = tmp_path / "demo.html"
    shown = printed("demo", "-o", page, "--json", tmp_path / "demo.json")
    assert str(page) in shown
    rows = json.loads((tmp_path / "demo.json").read_text())["data"]
    assert len(rows) == len(ff.robots.names())
    for row in rows:
        assert row["round_trip"] < 1e-8
        assert row["momentum"] < 1e-10
        assert row["robot"] in shown
    picture = tmp_path / "demo-squat.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "squats by 20 cm" in shown
    page.unlink()  # the picture alone may be somebody's own
    assert "demo-squat.png" in refusal("demo", "-o", page)


def test_a_mesh_that_is_missing_is_named(robot_without_mesh, tmp_path):
    assert printed("report", robot_without_mesh(), "-o", tmp_path / "r.html").count("none.stl") == 1


QUICK = ("--batch", 16, "--blocks", 3)


def test_ours_alone():
    data = json_of("bench", "chain", *QUICK)
    (robot,) = data["robots"]
    assert [row["algorithm"] for row in robot["rows"]] == [a.name for a in ALGORITHMS if "contacts" not in a.name]
    assert all(row["call"] > 0 and row["batch"] > 0 and row["batch_fresh"] > 0 for row in robot["rows"])
    assert {row["algorithm"] for row in robot["rows"] if row["call_out"] is None} >= {"center_of_mass", "kinetic_energy"}
    assert all(row["call_out"] is None or row["call_out"] > 0 for row in robot["rows"])
    assert all(x > 0 for x in data["floor"])
    assert data["batches"] == []
    assert data["machine"]["cores"] >= 1
    assert data["scaling"] == []


def test_links_and_linkages_that_do_not_fit(tmp_path):
    shown = printed("bench", "kangaroo_like", *QUICK, "--json", tmp_path / "bench.json")
    closed = json.loads((tmp_path / "bench.json").read_text())["data"]["robots"][0]["closed"]
    assert all(row["algorithm"] in shown for row in closed["rows"])
    assert "kangaroo_like, loops closed: nq" in shown
    assert closed["nv"] == 18
    path = tmp_path / "loops.yaml"
    path.write_text("loops: [{name: rigid, frame_a: lower, frame_b: base, type: weld}]\nactuated: [shoulder, elbow]\n")
    data = json_of("bench", written(tmp_path, arm()), "--loops", path, *QUICK)
    (robot,) = data["robots"]
    assert robot["closed"] is None
    assert robot["note"].startswith("loops left open: ")
    # Rows with more wrenches than links are left out
    _, data = run_json("bench", "chain:n=2", *QUICK)
    names = [row["algorithm"] for row in data["robots"][0]["rows"]]
    assert "inverse_dynamics, 2 wrenches" in names
    assert not {"inverse_dynamics, 4 wrenches", "all_terms, 4 frames"} & set(names)


def test_batches_and_chains_are_rows_of_their_sizes(monkeypatch):
    from freeflyer.analysis.timing import runner

    monkeypatch.setattr(runner, "CHAIN_SIZES", (2, 3))
    monkeypatch.setattr(runner, "SHORT_SIZES", (8, 16))
    result, data = run_json("bench", "chain", "--part", "batches", "--part", "scaling", *QUICK)
    assert (result.exit_code, [(x["bodies"], x["batch_size"]) for x in data["batches"]]) == (0, [(6, 8), (6, 16)])
    assert [x["bodies"] for x in data["scaling"]] == [2, 3]
    assert [t["algorithm"] for t in data["scaling"][0]["rows"]] == list(runner.CHAIN_ALGORITHMS)
    assert "us of a call beside its states" in result.stderr


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
def test_all_scenarios_of_a_quadruped_in_one_table():
    every = ("control", "all", "--robot", example("go2.urdf"), "--dt", "0.005", "--duration", "0.02")
    result, data = run_json(*every)
    assert "longest cycle" in result.stderr
    assert [r["scenario"] for r in data["runs"]] == ["stand", "squat", "reach", "lift", "walk", "swing"]
    assert data["refused"] == {}


def test_scenarios_that_a_robot_refuses_are_named(tmp_path):
    numbers, feet = tmp_path / "numbers.json", "front_left_foot,front_right_foot,rear_left_foot"
    robot = ("--robot", "quadruped", "--feet", feet, "--sole", "point")
    assert "walk is refused" in printed("control", "all", *robot, "--dt", "0.005", "--duration", "0.02", "--json", numbers)
    assert list(json.loads(numbers.read_text())["data"]["refused"]) == ["lift", "walk"]
    printed("control", "walk", "--steps", "2", "--step-length", "0.1", "--dt", "0.005", "--duration", "0.02")
    feet = ",".join(f"{a}_{b}_foot" for a in ("front", "rear") for b in ("left", "right"))
    printed("control", "squat", "--robot", "quadruped", "--feet", feet, "--sole", "point", "--dt", "0.005", "--duration", "0.02")


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
    assert runs[0]["solve_time_first"] > runs[0]["solve_time_median"]  # it loads code
    pushes = ("control", "stand", "--dt", "0.005", "--pushes", "1", "--seed", "3", "-o", tmp_path / "out", "--json", numbers)
    assert "0 of 1 pushes lost" in printed(*pushes)
    assert json.loads(numbers.read_text())["data"]["fell"] == [False]
    assert sorted(path.suffix for path in (tmp_path / "out").iterdir()) == [".png", ".svg"]
