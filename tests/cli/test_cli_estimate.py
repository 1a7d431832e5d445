"""`freeflyer estimate`."""

from __future__ import annotations

from command import run, run_json


def test_errors_of_the_passive_state_are_told():
    result, rows = run_json("estimate", "kangaroo_like", "--duration", 2)
    assert result.exit_code == 0
    assert [(r["encoders"], r["alpha"]) for r in rows][::2] == [("ideal", 1.0), ("quantised", 1.0), ("noisy, quantised", 1.0)]
    at = {(r["encoders"], r["alpha"]): r for r in rows}
    assert at["ideal", 1000.0]["passive_rms"] < 1e-5 < at["noisy, quantised", 1000.0]["passive_rms"] < 2e-3
    assert at["ideal", 1000.0]["closure"] < at["ideal", 1.0]["closure"]


def test_a_robot_without_loops_is_refused():
    result = run("estimate", "humanoid")
    assert result.exit_code == 2
    assert "has no loops" in result.stderr


def test_an_unknown_rigid_joint_is_refused():
    result = run("estimate", "kangaroo_like", "--rigid", "left_kneee")
    assert result.exit_code == 2
    assert "left_knee" in result.stderr
