"""`freeflyer report` and `freeflyer demo`: the page is written where it is said."""

import json
import pytest
from command import arm, printed, run, written
from freeflyer import robots
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
    assert data["overview"]["nv"] == 8
    assert len(data["matrices"]["mass_matrix"]) == 8
    quick(monkeypatch)
    other = tmp_path / "thesis.html"
    other.write_text("mine")
    refused = run("report", "chain", "-o", other)
    assert refused.exit_code == 2
    assert "--force" in refused.stderr
    assert other.read_text() == "mine"
    assert run("report", "chain", "-o", other, "--force").exit_code == 0
    assert MARK in other.read_text(encoding="utf-8")


@pytest.mark.slow
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
    again = run("demo", "-o", page)
    assert again.exit_code != 0
    assert "demo-squat.png" in again.output + str(again.exception)


def test_a_mesh_that_is_missing_is_named(tmp_path):
    inertial = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    mesh = '<visual><geometry><mesh filename="none.stl"/></geometry></visual>'
    (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="a">{inertial}{mesh}</link></robot>')
    assert printed("report", tmp_path / "r.urdf", "-o", tmp_path / "r.html").count("none.stl") == 1
