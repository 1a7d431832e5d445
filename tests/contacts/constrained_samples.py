"""Robots, sets and states for the tests of constraint sets, and their answers by dense linear algebra."""

import freeflyer as ff
import numpy as np
from closeness import close, rounding
from random_robots import BASES, random_robot
from typing import Any

__all__ = ["BASES", "check_dense", "condition_in_order", "kkt", "moving_robot", "random_set", "whitened"]


def moving_robot(rng: np.random.Generator, n: int, least: int = 3, **options: Any) -> ff.Model:
    """A random robot of n joints with at least so many velocities: drawn again until it has them."""
    while (model := random_robot(rng, n, **options)).nv < least:
        pass
    return model


def random_set(rng: np.random.Generator, model: ff.Model, q: np.ndarray, rows: int, rolling: bool = True) -> ff.ConstraintSet:
    """Contacts, locks and rolling bodies of random frames: at most so many rows, far from depending on each other at q."""
    found = ff.ConstraintSet(model)
    frames = [name for name in model.frame_names if name != "world"]
    joints = [j.name for j in model.tree.joints if j.nv]
    for k in range(12):
        frame, kind = str(rng.choice(frames)), int(rng.integers(6 if rolling else 4))
        normal = rng.standard_normal(3)
        if kind == 0:
            more = found + ff.contacts.point(frame, rng.standard_normal(3), name=f"c{k}", normal=normal)
        elif kind == 1:
            more = found + ff.contacts.line(frame, rng.standard_normal((2, 3)), name=f"c{k}", normal=normal)
        elif kind == 2:
            more = found + ff.contacts.surface(frame, rng.standard_normal((4, 3)), name=f"c{k}", normal=normal)
        elif kind == 3 and joints:
            joint = str(rng.choice(joints))
            if joint in found.names:
                continue
            more = found + ff.ConstraintSet(model, locks=[joint], loops=found.loops)
        else:
            axis = None if kind == 4 else rng.standard_normal(3)
            more = found + ff.contacts.rolling(frame, rng.uniform(0.1, 0.5), axis, normal, f"c{k}")
        J = more.jacobian(q)
        if len(J) <= rows and len(J) < model.nv and np.linalg.svd(J, compute_uv=False)[-1] > 0.1:
            found = more
    return found


def kkt(M: np.ndarray, h: np.ndarray, J: np.ndarray, bias: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(a, multipliers) of M a + h = tau + J^T multipliers, J a + bias = 0, by least squares over the whole."""
    n, r = M.shape[0], len(J)
    K = np.block([[M, -J.T], [J, np.zeros((r, r))]])
    x = np.linalg.lstsq(K, np.concatenate([tau - h, -bias]), rcond=1e-13)[0]
    return x[:n], x[n:]


def whitened(model: ff.Model, q: np.ndarray, s: ff.ConstraintSet) -> np.ndarray:
    """Rows (r, nv) of J L^-T, M = L L^T, each of unit length: their products are J M^-1 J^T without units."""
    W = np.linalg.solve(np.linalg.cholesky(ff.mass_matrix(model, q)), s.jacobian(q).T).T
    return W / np.linalg.norm(W, axis=1, keepdims=True)


def condition_in_order(W: np.ndarray) -> float:
    """Condition number of those rows of unit length that do not depend on rows before them."""
    kept = np.zeros((0, W.shape[1]))
    for row in W:
        more = np.vstack([kept, row])
        if np.linalg.svd(more, compute_uv=False)[-1] > 1e-9 and len(more) <= W.shape[1]:
            kept = more
    return float(np.linalg.cond(kept))


def check_dense(model: ff.Model, s: ff.ConstraintSet, q: np.ndarray, v: np.ndarray, tau: np.ndarray, tolerance: float) -> None:
    """Against one least-squares solve of everything."""
    d = ff.constrained_dynamics(model, q, v, tau, constraints=s)
    J, bias = s.jacobian(q), s.bias(q, v)
    M = ff.mass_matrix(model, q)
    a, multipliers = kkt(M, ff.bias_forces(model, q, v), J, bias, tau)
    tolerance = max(tolerance, rounding(45, np.linalg.cond(np.block([[M, -J.T], [J, np.zeros((len(J), len(J)))]]))))
    assert not any(d.redundant.values())
    close(d.a, a, tolerance)
    close(d.multipliers, multipliers, tolerance)
    forces = np.zeros(model.nv)
    for item in s.items:
        forces += ff.frame_jacobian(model, q, item.frame).T @ d.forces[item.name]
        normal = item.normal @ ff.frame_pose(model, q, item.frame)[:3, :3] @ d.forces[item.name][:3]
        assert d.pulling[item.name] == (normal < 0.0)
        close(d.wrenches("contact")[item.name][2], normal, tolerance * max(1.0, np.abs(d.multipliers).max(initial=0.0)))
    first = s.table.free
    close(forces, J[first:].T @ d.multipliers[first:], tolerance * max(1.0, np.abs(d.multipliers).max(initial=0.0)))


