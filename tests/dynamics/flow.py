"""qdot from v by the definition of the joints, for laws that speak of rates."""

import freeflyer as ff
import numpy as np


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
