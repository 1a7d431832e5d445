"""Which passive joints tell most of the motors: where absolute encoders would calibrate them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer.errors import InputError
from freeflyer.estimation.passive import given
from freeflyer.estimation.postures import reached, strokes
from freeflyer.estimation.sensing import Sensors
from freeflyer.loops.maps import motion_map
from freeflyer.model.model import Model
from freeflyer.model.public import public

TOLD = 1e-6  # rad or m a stroke, and of the clearest motor: who is told less is not told


@dataclass(frozen=True)
class Telling:
    """joints: passive ones, as many as `motors`, those that passive joints follow. alone: motors that no passive joint follows."""

    joints: tuple[str, ...]
    motors: tuple[str, ...]
    alone: tuple[str, ...]


@public
def telling_joints(robot: Model | Sensors) -> Telling:
    """As many passive joints as motors, one after the other the one that tells most of what the others leave open.

    Pivoted QR of how far the joints move through a stroke of each motor, in the middle of the strokes. Errors: InputError where
    they do not tell every motor that they follow.
    """
    from scipy.linalg import qr

    s = given(robot)
    lower, upper = strokes(s)
    q = reached(s, 0.5 * (lower + upper))
    q = s.linkage.q if q is None else q
    G = motion_map(s.model, s.linkage, q[None])[0]
    motors = [name for name in s.names if name in s.model.actuated]
    columns = [int(np.flatnonzero(s.linkage.independent == s.model.joint(n).iv)[0]) for n in motors]
    joints = [j for j in s.model.joints if j.nq == j.nv == 1 and j.iv in set(s.passive.tolist())]
    moved = G[[j.iv for j in joints]][:, columns] * (upper - lower)[[s.names.index(n) for n in motors]]
    followed = np.abs(moved).max(axis=0, initial=0.0) > TOLD
    told = tuple(n for n, is_followed in zip(motors, followed) if is_followed)
    _, R, order = qr(moved[:, followed].T, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    if len(size) < len(told) or not len(told) or size[-1] <= TOLD * size[0]:
        raise InputError(f"the passive joints of {s.model.name!r} do not tell where the motors that move them stand")
    chosen = tuple(joints[k].name for k in sorted(order[: len(told)]))
    return Telling(chosen, told, tuple(n for n in motors if n not in told))
