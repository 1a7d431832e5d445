"""`freeflyer report` and `freeflyer demo`: the page is written where it is said. `freeflyer bench`: every row of ours is
measured; JSON holds what the tables show."""

import json
import pytest
from command import arm, json_of, printed, refusal, run, run_json, written
from freeflyer import robots
from freeflyer.analysis.timing.algorithms import ALGORITHMS
from freeflyer.analysis.timing.runner import Effort
from freeflyer.report.page import MARK

pytestmark = pytest.mark.slow


def quick(monkeypatch):
    monkeypatch.setattr("freeflyer.report.reporting.EFFORT", Effort(batch=16, blocks=3, block_seconds=1e-4))


def test_the_report_is_written_and_named(tmp_path, monkeypatch):
    quick(monkeypatch)
    page = tmp_path / "arm.html"
    shown = printed("report", written(tmp_path, arm()), "-o", page, "--json", tmp_path / "arm.json")
    assert str(page) in shown
    assert MARK in page.read_text(encoding="utf-8")
    data = json.loads((tmp_path / "arm.json").read_text())["data"]
    assert (data["overview"]["nv"], len(data["matrices"]["mass_matrix"])) == (8, 8)
    quick(monkeypatch)
    other = tmp_path / "thesis.html"
    other.write_text("mine")
    assert "--force" in refusal("report", "chain", "-o", other)
    assert (other.read_text(), run("report", "chain", "-o", other, "--force").exit_code) == ("mine", 0)
    assert MARK in other.read_text(encoding="utf-8")


def test_the_demo_tours_every_robot_and_prints_the_path_of_its_report(tmp_path, monkeypatch):
    quick(monkeypatch)
    page = tmp_path / "demo.html"
    shown = printed("demo", "-o", page, "--json", tmp_path / "demo.json")
    assert str(page) in shown
    rows = json.loads((tmp_path / "demo.json").read_text())["data"]
    assert len(rows) == len(robots.names())
    for row in rows:
        assert row["round_trip"] < 1e-8
        assert row["momentum"] < 1e-10
        assert row["robot"] in shown
    picture = tmp_path / "demo-squat.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "squats by 20 cm" in shown
    page.unlink()  # the picture alone may be somebody's own
    assert "demo-squat.png" in refusal("demo", "-o", page)


def test_a_mesh_that_is_missing_is_named(tmp_path):
    inertial = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    mesh = '<visual><geometry><mesh filename="none.stl"/></geometry></visual>'
    (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="a">{inertial}{mesh}</link></robot>')
    assert printed("report", tmp_path / "r.urdf", "-o", tmp_path / "r.html").count("none.stl") == 1


QUICK = ("--batch", 16, "--blocks", 3)


def test_ours_alone(tmp_path):
    data = json_of("bench", "chain", *QUICK)
    (robot,) = data["robots"]
    assert [row["algorithm"] for row in robot["rows"]] == [a.name for a in ALGORITHMS if not a.least]
    assert all(row["call"] > 0 and row["batch"] > 0 and row["batch_fresh"] > 0 and row["peer"] is None for row in robot["rows"])
    assert {row["algorithm"] for row in robot["rows"] if row["call_out"] is None} >= {"center_of_mass", "kinetic_energy"}
    assert all(row["call_out"] is None or row["call_out"] > 0 for row in robot["rows"])
    assert all(x > 0 for x in data["floor"])
    assert data["batches"] == []
    assert data["machine"]["cores"] >= 1
    assert data["scaling"] == []


def test_links_and_linkages_that_do_not_fit(tmp_path):
    shown = printed("bench", "kangaroo_like", *QUICK, "--json", tmp_path / "bench.json")
    closed = json.loads((tmp_path / "bench.json").read_text())["data"]["robots"][0]["closed"]
    assert all(row["quantity"] in shown for row in closed["rows"])
    assert closed["constraints"] == 64
    assert all(row["peers"] == [] for row in closed["rows"])
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
