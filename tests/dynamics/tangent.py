"""Derivatives with q (in its tangent space), v and a, by differences of fourth order, of any function of a state."""

import freeflyer as ff
import numpy as np
from closeness import central, fresh, rounding, slope_error
from collections.abc import Callable, Iterator
from random_robots import BASES, KINDS, random_robot

DIFFERENCE = slope_error()  # relative
MOVING = tuple(k for k in KINDS if k != "fixed")
State = tuple[np.ndarray, np.ndarray, np.ndarray]
CASES = [(base, mimics, seed) for base in BASES for mimics in (0.0, 0.4) for seed in (1, 2)]


def solved(model: ff.Model, q: np.ndarray) -> float:
    """Bound of the relative error of what is solved with the mass matrix."""
    return max(1e-10, rounding(10_000, float(np.linalg.cond(ff.mass_matrix(model, q)))))


def robot_and_state(base: str, mimics: float, seed: int) -> tuple[ff.Model, *State]:
    rng = fresh(seed)
    model = random_robot(rng, 8, base=base, mimics=mimics)
    return model, *state(model, rng)


def derivative(f: Callable[..., np.ndarray], model: ff.Model, state: State, with_: str) -> np.ndarray:
    """(n, nv): df/dq, df/dv or df/da of f(q, v, a) (n,)."""
    q, v, a = state
    directions = np.eye(model.nv)
    move = {"q": lambda h: f(ff.integrate(model, q, h * directions), v, a), "v": lambda h: f(q, v + h * directions, a),
            "a": lambda h: f(q, v, a + h * directions)}[with_]  # fmt: skip
    return np.moveaxis(central(move), 0, -1)


def state(model: ff.Model, rng: np.random.Generator, lead: tuple[int, ...] = (), rows: int = 2) -> tuple[np.ndarray, ...]:
    """Random q (..., nq), and so many rows (..., nv) of order 1: v, a, tau."""
    return ff.random_configuration(model, rng, lead), *rng.standard_normal((rows, *lead, model.nv))


def bracket(model: ff.Model, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """[x, y] (nv,) of constant velocities, joint by joint: linear w_x x l_y + l_x x w_y, angular w_x x w_y; else zero."""
    out = np.zeros(model.nv)
    for joint in model.joints:
        if joint.kind in ("free", "spherical"):
            j = joint.iv + joint.nv - 3
            out[j : j + 3] = np.cross(x[j : j + 3], y[j : j + 3])
            if joint.kind == "free":
                out[j - 3 : j] = np.cross(x[j : j + 3], y[j - 3 : j]) + np.cross(x[j - 3 : j], y[j : j + 3])
    return out


def robots() -> Iterator[tuple[str, ff.Model]]:
    """Each joint kind among revolute ones of which half follow another, on every base; then trees of all kinds."""
    for k, kind in enumerate(MOVING):
        yield kind, random_robot(fresh(k), 5, (kind, "revolute"), BASES[k % 4], mimics=0.5)
    for seed in range(8):
        rng = fresh(100 + seed)
        yield f"tree {seed}", random_robot(rng, 8, KINDS, BASES[seed % 4], mimics=0.4)


def quaternion_at(model: ff.Model) -> list[tuple[int, int, bool]]:
    """(first entry in q, first of its angular velocity in v, whether a position stands before it)."""
    turning = [j for j in model.joints if j.kind in ("spherical", "free")]
    return [(j.iq + j.nq - 4, j.iv + j.nv - 3, j.kind == "free") for j in turning]


def rates(model: ff.Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """qdot (nq,): half of quaternion times angular velocity; R times linear velocity; v itself for all other joints."""
    out = np.full(model.nq, np.nan)
    for j in model.joints:
        if j.kind not in ("spherical", "free"):
            out[j.iq : j.iq + j.nq] = v[j.iv : j.iv + j.nv]
    for iq, iv, free in quaternion_at(model):
        u, s, w = q[iq : iq + 3], q[iq + 3], v[iv : iv + 3]
        out[iq : iq + 3], out[iq + 3] = 0.5 * (s * w + np.cross(u, w)), -0.5 * (u @ w)
        if free:
            l = v[iv - 3 : iv]
            t = 2.0 * np.cross(u, l)
            out[iq - 3 : iq] = l + s * t + np.cross(u, t)
    return out
