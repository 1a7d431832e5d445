"""Which passive joints tell most of the motors: where absolute encoders would calibrate them."""

from __future__ import annotations

import numpy as np

from freeflyer.errors import InputError
from freeflyer.estimation.passive import given
from freeflyer.estimation.postures import reached, strokes
from freeflyer.estimation.sensing import Sensors
from freeflyer.loops.maps import motion_map
from freeflyer.model.model import Model
from freeflyer.model.public import public

TOLD = 1e-6  # of the clearest motor: who is told less is not told


@public
def telling_joints(robot: Model | Sensors) -> tuple[str, ...]:
    """As many passive joints as motors, one after the other the one that tells most of what the others leave open.

    Pivoted QR of how far the joints move through a stroke of each motor, in the middle of the strokes. Errors: InputError where
    they do not tell every motor.
    """
    from scipy.linalg import qr

    s = given(robot)
    lower, upper = strokes(s)
    q = reached(s, 0.5 * (lower + upper))
    q = s.linkage.q if q is None else q
    G = motion_map(s.model, s.linkage, q[None])[0]
    motors = [int(np.flatnonzero(s.linkage.independent == j)[0]) for j in s.coordinates]
    joints = [j for j in s.model.joints if j.nq == j.nv == 1 and j.iv in set(s.passive.tolist())]
    moved = G[[j.iv for j in joints]][:, motors] * (upper - lower)
    _, R, order = qr(moved.T, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    if len(size) < len(motors) or size[-1] <= TOLD * size[0]:
        raise InputError(f"the passive joints of {s.model.name!r} do not tell where all its motors stand")
    return tuple(joints[k].name for k in sorted(order[: len(motors)]))
