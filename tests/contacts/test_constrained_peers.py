"""Constraint rows, drift and constrained dynamics against Pinocchio and MuJoCo, on real linkages."""

import freeflyer as ff
import numpy as np
import pytest
from closed_robots import shared
from closeness import fresh
from collections.abc import Callable
from pathlib import Path
from typing import Any

pytest.importorskip("pinocchio")

from benchmarks.closed import SOFTNESSES, distance, mujoco_peer
from benchmarks.closed_pinocchio import pinocchio_peer
from benchmarks.closed_states import ClosedState, closed_state

pytestmark = pytest.mark.peers

NAMES = ("kangaroo", "cassie", "battobot")


def read(make: Callable[[ff.Model, Path], Any], folder: Path, name: str, written: Path) -> tuple[ff.Model, Any]:
    """The robot and the peer that `make` makes of an MJCF file of it: its own, or one of ours."""
    model, path = shared(folder, name), folder / name / f"{name}.xml"
    if not path.exists():
        path = written / f"{name}.xml"
        ff.to_mjcf(model, path)
    return model, make(model, path)


def accelerations(model: ff.Model, s: ClosedState) -> np.ndarray:
    return ff.constrained_dynamics(model, s.q, s.v, s.tau, constraints=ff.ConstraintSet(model)).a


@pytest.mark.parametrize("name", NAMES)
def test_rows_drift_and_projected_equations_by_pinocchio(name, models_folder, tmp_path):
    """Its Jacobian leaves out how the gap turns with frame a, so it is ours at closure only; its drift is ours anywhere."""
    model, p = read(pinocchio_peer, models_folder, name, tmp_path)
    split = ff.linkages.partition(model)
    for amplitude in (0.0, 2e-3):
        s = closed_state(model, 1, amplitude)
        opened = np.abs(ff.linkages.constraint_residual(model, s.q)).max()
        tolerance = 1e-12 + 30.0 * opened
        assert distance(ff.linkages.constraint_jacobian(model, s.q), -p.in_our_order(np.array(p.jacobian_call(s)()))) < tolerance
        assert distance(ff.linkages.constraint_bias(model, s.q, s.v), -p.drifts(s)) < 5e-12
        inconsistent = s._replace(v=fresh(9).standard_normal(model.nv))  # violates the loops
        assert distance(ff.linkages.constraint_bias(model, s.q, inconsistent.v), -p.drifts(inconsistent)) < 5e-12
        M, h = p.equations(s, split.rows, split.dependent, split.independent)
        assert distance(ff.mass_matrix(ff.close_loops(model), s.q), M) < tolerance
        assert distance(ff.bias_forces(ff.close_loops(model), s.q, s.u), h) < tolerance
        rigid = np.linalg.solve(M, s.tau_u - h)  # of its terms on our rows: no regularisation, no redundant rows
        assert distance(ff.forward_dynamics(ff.close_loops(model), s.q, s.u, s.tau_u), rigid) < 1e3 * tolerance


@pytest.mark.parametrize(("name", "tolerance"), [("kangaroo", 3e-8), ("cassie", 1e-10), ("battobot", 1e-11)])
def test_constrained_accelerations_by_pinocchio(name, tolerance, models_folder, tmp_path):
    model, p = read(pinocchio_peer, models_folder, name, tmp_path)
    s = closed_state(model, 2)
    a = p.in_our_order(p.dynamics_call(s)())
    assert distance(accelerations(model, s), a) < tolerance
    kept = ff.linkages.partition(model).independent
    assert distance(ff.forward_dynamics(ff.close_loops(model), s.q, s.u, s.tau_u), a[kept]) < 3.0 * tolerance


@pytest.mark.parametrize(("name", "limit", "stiffest"),
    [("kangaroo", 3e-8, 1e-3), ("cassie", 1e-11, 1e-4), ("battobot", 1e-9, 0.1)])  # fmt: skip
def test_mujoco_s_accelerations_tend_to_ours_as_its_equalities_stiffen(name, limit, stiffest, models_folder, tmp_path):
    """In proportion to softness; how fast, depends on how ill-conditioned J M^-1 J^T is. In the limit they are the same."""
    model, p = read(mujoco_peer, models_folder, name, tmp_path)
    s = closed_state(model, 6)
    ours = accelerations(model, s)
    rigid, soft = p.rigid_limit(s)
    gaps = np.array([distance(ours, a) for a in soft])
    assert gaps[0] < stiffest
    np.testing.assert_allclose(gaps[:2] / gaps[0], np.array(SOFTNESSES[:2]) / SOFTNESSES[0], rtol=0.05)
    assert distance(ours, rigid) < limit
