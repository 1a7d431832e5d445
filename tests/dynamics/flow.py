"""Motion in time, for laws that speak of rates: qdot from v by the definition of the joints, and a Runge-Kutta step."""

import freeflyer as ff
import numpy as np
from collections.abc import Callable


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


def unit(model: ff.Model, q: np.ndarray) -> np.ndarray:
    """q with quaternions of unit length."""
    out = q.copy()
    for iq, _, _ in quaternion_at(model):
        out[iq : iq + 4] /= np.linalg.norm(out[iq : iq + 4])
    return out


def flow(model: ff.Model, q: np.ndarray, v: np.ndarray, force: Callable, watch: Callable, h: float,
         steps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """q, v and the integral of `watch` after so many Runge-Kutta steps of fourth order.

    `force` gives tau (nv,) and `watch` a rate (n,), both of (q, v).
    """
    x = np.concatenate([q, v, np.zeros_like(watch(q, v))])
    nq, nv = model.nq, model.nv

    def rate(x: np.ndarray) -> np.ndarray:
        q, v = unit(model, x[:nq]), x[nq : nq + nv]
        a = ff.forward_dynamics(model, q, v, force(q, v))
        return np.concatenate([rates(model, q, v), a, watch(q, v)])

    for _ in range(steps):
        k1 = rate(x)
        k2 = rate(x + 0.5 * h * k1)
        k3 = rate(x + 0.5 * h * k2)
        k4 = rate(x + h * k3)
        x = x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        x[:nq] = unit(model, x[:nq])
    return x[:nq], x[nq : nq + nv], x[nq + nv :]


