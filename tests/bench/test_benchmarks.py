"""`python -m benchmarks`: rows beside peers, whose answers agree with ours; pictures and JSON are written."""

import pytest
import subprocess
import sys
from benchmarks.__main__ import app
from benchmarks.solvers import SIZES
from cli import command
from cli.command import LIMIT, arm, written
from freeflyer.analysis.timing.runner import SHORT_ALGORITHMS, SHORT_SIZES
from freeflyer.optimization import solvers
from functools import partial
from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.peers, pytest.mark.usefixtures("short_blocks")]
ROOT = Path(__file__).parents[2]
QUICK = ("--batch", 16, "--blocks", 3)
run_json = partial(command.run_json, program=app)


def test_beside_the_peer(tmp_path):
    pytest.importorskip("pinocchio")
    path = written(tmp_path, arm())
    result, data = run_json(path, "chain:n=5,base=free", *QUICK, "--plot", tmp_path / "bench.png")
    assert result.exit_code == 0
    assert [x["robot"] for x in data["beside"]] == [x["robot"] for x in data["robots"]]
    for robot in data["beside"]:
        assert robot["note"] is None
        assert len(robot["rows"]) > 10
        assert all(row["difference"] < 1e-9 for row in robot["rows"]), robot["rows"]
        assert all(row["ratio_call"] == pytest.approx(row["peer_call"] / row["call"]) for row in robot["rows"])
    assert "geometric means: one call" in result.stderr
    assert (tmp_path / "bench.png").read_bytes().startswith(b"\x89PNG")


def test_batches_and_missing_peers(tmp_path):
    """Each size beside the peer; the price of a call is where the line through the two shortest begins."""
    pytest.importorskip("pinocchio")
    result, data = run_json("chain:n=5,base=free", "--part", "batches", *QUICK)
    assert (result.exit_code, data["robots"]) == (0, [])
    for name in SHORT_ALGORITHMS:
        for sizes in (data["batches"], data["batches_beside"]):
            points = [(x["batch_size"], t) for x in sizes for t in x["rows"] if t["algorithm"] == name]
            assert [states for states, _ in points] == list(SHORT_SIZES)
            assert all(t["batch"] > 0 for _, t in points)
        assert all(t["peer_batch"] > 0 and t["difference"] < 1e-9 for _, t in points)
    mimic = arm(limit=f'{LIMIT}<mimic joint="shoulder" multiplier="2"/>')
    result, data = run_json(written(tmp_path, mimic), *QUICK)
    assert result.exit_code == 0
    assert "mimic" in data["beside"][0]["note"]
    assert data["beside"][0]["rows"] == []


def test_a_closed_robot_has_constrained_rows_beside_both_peers(models_folder):
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    result, data = run_json(models_folder / "cassie" / "cassie.xml", *QUICK)
    assert result.exit_code == 0
    (robot,) = data["robots"]
    own = robot["closed"]
    assert own["nv"] == 22
    assert all(row["call"] > 0 and row["batch"] > 0 for row in own["rows"])
    (closed,) = data["closed_beside"]
    assert closed["notes"] == []
    rows = {row["quantity"]: row for row in closed["rows"]}
    for name in ("forward_dynamics", "constrained_dynamics"):
        assert [p["peer"].split()[0] for p in rows[name]["peers"]] == ["Pinocchio", "Pinocchio", "MuJoCo"]
        assert all(p["difference"] < 1e-6 and p["call"] > 0 for p in rows[name]["peers"])
    assert all(p["difference"] < 1e-5 for row in rows.values() for p in row["peers"])
    gaps = [gap for _, gap in closed["softness"]]
    assert gaps == sorted(gaps)
    assert 1e-7 < gaps[0] < 1e-4


def test_loops_and_recordings():
    _, data = run_json("kangaroo_like", *QUICK)
    (note,) = data["closed_beside"][0]["notes"]
    assert "left_yaw_pin" in note
    result, data = run_json("--part", "solvers", "--blocks", 3)
    assert (result.exit_code, [r["solver"] for r in data["hierarchies"]]) == (0, ["active set", *solvers()[1:]])
    rows = data["solvers"]  # each installed solver on each size, cold and warm
    assert [(r["solver"], r["variables"], r["rows"]) for r in rows] == [(s, n, m) for n, m, _ in SIZES for s in solvers()]
    assert all(r["bare"] > 0 and r["call"] > 0 and r["warm"] > 0 and r["iterations"] > 0 for r in rows)
    assert all(r["overhead"] == pytest.approx(r["call"] - r["bare"]) for r in rows)
    assert data["hierarchies"][0]["worse"] == 0
    def run(*words):
        return subprocess.run([sys.executable, "-m", "benchmarks", *words], cwd=ROOT, capture_output=True, text=True, check=False)

    shown = run("--help")
    assert shown.returncode == 0
    assert "--part" in shown.stdout
    wrong = run("nobody.urdf")
    assert wrong.returncode == 2
    assert "there is no file 'nobody.urdf'" in wrong.stderr
    assert "Traceback" not in wrong.stderr


def test_beside_generated_code():
    """One robot's own code and CasADi's compute what general code does."""
    pytest.importorskip("casadi")
    result, data = run_json("--part", "generated")
    assert result.exit_code == 0
    names = {"inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity_forces"}
    assert {row["function"] for row in data["generated"]} == names
    assert max(row["difference"] for row in data["generated"]) < 1e-11
