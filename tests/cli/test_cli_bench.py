"""`freeflyer bench`: every row is measured, agreement with the peer is checked, pictures and JSON are written."""

from __future__ import annotations

import json

import pytest
from command import arm, run, run_json, written

from freeflyer.analysis.timing import batches
from freeflyer.analysis.timing.algorithms import ALGORITHMS

pytestmark = pytest.mark.slow

QUICK = ("--batch", 16, "--blocks", 3)


def test_ours_alone(tmp_path):
    result, data = run_json("bench", "chain", *QUICK)
    assert result.exit_code == 0
    (robot,) = data["robots"]
    assert [row["algorithm"] for row in robot["rows"]] == [a.name for a in ALGORITHMS if not a.least]
    assert all(row["call"] > 0 and row["batch"] > 0 and row["batch_fresh"] > 0 and row["peer"] is None for row in robot["rows"])
    assert {row["algorithm"] for row in robot["rows"] if row["call_out"] is None} >= {"center_of_mass", "kinetic_energy"}
    assert all(row["call_out"] is None or row["call_out"] > 0 for row in robot["rows"])
    assert all(x > 0 for x in data["floor"])
    assert data["batches"] == []
    assert data["machine"]["cores"] >= 1
    assert data["scaling"] == []


@pytest.mark.peers
def test_beside_the_peer(tmp_path):
    pytest.importorskip("pinocchio")
    path = written(tmp_path, arm())
    result, data = run_json("bench", path, "chain:n=5,base=free", "--peers", *QUICK, "--plot", tmp_path / "bench.png")
    assert result.exit_code == 0
    for robot in data["robots"]:
        assert robot["note"] is None
        assert all(row["difference"] < 1e-9 for row in robot["rows"]), robot["rows"]
        assert all(row["ratio_call"] == pytest.approx(row["peer_call"] / row["call"]) for row in robot["rows"])
    assert (tmp_path / "bench.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.peers
def test_short_batches(tmp_path):
    """Each size beside the peer; the price of a call is where the line through the two shortest begins."""
    pytest.importorskip("pinocchio")
    result, data = run_json("bench", "chain:n=5,base=free", "--part", "batches", "--peers", *QUICK)
    assert result.exit_code == 0
    assert data["robots"] == []
    for name in batches.ALGORITHMS:
        points = [p for p in data["batches"] if p["timing"]["algorithm"] == name]
        assert [p["states"] for p in points] == list(batches.SIZES)
        assert all(p["timing"]["batch"] > 0 and p["timing"]["peer_batch"] > 0 for p in points)
        assert all(p["timing"]["difference"] < 1e-9 for p in points)


def test_solvers_beside_themselves():
    """Every installed solver on every size, cold and warm, and on recorded hierarchies."""
    from freeflyer.analysis.timing.solvers import SIZES
    from freeflyer.optimization import solvers

    result, data = run_json("bench", "--part", "solvers", "--blocks", 3)
    assert result.exit_code == 0
    rows = data["solvers"]
    expected = [(s, n, m) for n, m, _ in SIZES for s in solvers()]
    assert [(r["solver"], r["variables"], r["rows"]) for r in rows] == expected
    assert all(r["bare"] > 0 and r["call"] > 0 and r["warm"] > 0 and r["iterations"] > 0 for r in rows)
    assert all(r["overhead"] == pytest.approx(r["call"] - r["bare"]) for r in rows)
    assert all(r["solver"] in result.stdout for r in rows)
    assert [r["solver"] for r in data["hierarchies"]] == ["active set", *solvers()[1:]]
    assert data["hierarchies"][0]["worse"] == 0


def test_links_are_enough_for_wrenches():
    """Rows with more wrenches than links are left out."""
    _, data = run_json("bench", "chain:n=2", *QUICK)
    names = [row["algorithm"] for row in data["robots"][0]["rows"]]
    assert "inverse_dynamics, 2 wrenches" in names
    assert not {"inverse_dynamics, 4 wrenches", "all_terms, 4 frames"} & set(names)


@pytest.mark.peers
def test_a_robot_without_a_peer_gives_the_reason(tmp_path):
    pytest.importorskip("pinocchio")
    mimic = arm().replace('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><mimic joint="shoulder" multiplier="2"/>')
    mimic = mimic.replace('<mimic joint="shoulder" multiplier="2"/>', "", 1)
    result, data = run_json("bench", written(tmp_path, mimic), "--peers", *QUICK)
    assert result.exit_code == 0
    assert "mimic" in data["robots"][0]["note"]


def test_the_document_holds_what_the_table_shows(tmp_path):
    result = run("bench", "chain", *QUICK, "--json", tmp_path / "bench.json")
    assert result.exit_code == 0
    rows = json.loads((tmp_path / "bench.json").read_text())["data"]["robots"][0]["rows"]
    assert all(row["algorithm"] in result.stdout for row in rows)


@pytest.mark.peers
def test_a_closed_robot_has_constrained_rows_beside_both_peers(models_folder):
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    result, data = run_json("bench", models_folder / "cassie" / "cassie.xml", "--peers", *QUICK)
    assert result.exit_code == 0
    (robot,) = data["robots"]
    closed = robot["closed"]
    assert (closed["nu"], closed["constraints"], closed["rank"], closed["notes"]) == (22, 12, 10, [])
    rows = {row["quantity"]: row for row in closed["rows"]}
    assert all(row["call"] > 0 and row["batch"] > 0 for row in rows.values())
    for name in ("forward_dynamics", "constrained_forward_dynamics"):
        assert [p["peer"].split()[0] for p in rows[name]["peers"]] == ["Pinocchio", "Pinocchio", "MuJoCo"]
        assert all(p["difference"] < 1e-6 and p["call"] > 0 for p in rows[name]["peers"])
    assert all(p["difference"] < 1e-5 for row in rows.values() for p in row["peers"])
    gaps = [gap for _, gap in closed["softness"]]
    assert gaps == sorted(gaps)
    assert 1e-7 < gaps[0] < 1e-4


def test_without_peers_closed_rows_are_ours_alone(tmp_path):
    result = run("bench", "kangaroo_like", *QUICK, "--json", tmp_path / "bench.json")
    assert result.exit_code == 0
    closed = json.loads((tmp_path / "bench.json").read_text())["data"]["robots"][0]["closed"]
    assert all(row["quantity"] in result.stdout for row in closed["rows"])
    assert closed["constraints"] == 64
    assert all(row["peers"] == [] for row in closed["rows"])


def test_loops_that_peers_cannot_tie_are_named():
    _, data = run_json("bench", "kangaroo_like", "--peers", *QUICK)
    (note,) = data["robots"][0]["closed"]["notes"]
    assert "left_yaw_pin" in note


def test_a_linkage_that_cannot_be_split_is_reported(tmp_path):
    path = tmp_path / "loops.yaml"
    path.write_text("loops: [{name: rigid, frame_a: lower, frame_b: base, type: weld}]\nactuated: [shoulder, elbow]\n")
    result, data = run_json("bench", written(tmp_path, arm()), "--loops", path, *QUICK)
    assert result.exit_code == 0
    (robot,) = data["robots"]
    assert robot["closed"] is None
    assert robot["note"].startswith("loops left open: ")
