"""Selection of passive joints for absolute encoders: those whose positions depend most on the motors'."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer.errors import InputError
from freeflyer.estimation.passive import sensors_of
from freeflyer.estimation.postures import reach, strokes
from freeflyer.estimation.sensing import Sensors
from freeflyer.mechanisms.maps import motion_map
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.tolerances import MIN_ENCODER_SENSITIVITY


@dataclass(frozen=True)
class EncoderSelection:
    """joints: the selected passive joints, as many as `motors`, which passive joints follow. unobservable: motors that no passive
    joint follows."""

    joints: tuple[str, ...]
    motors: tuple[str, ...]
    unobservable: tuple[str, ...]


@public
def select_encoders(robot: Model | Sensors) -> EncoderSelection:
    """As many passive joints as motors, chosen one after the other by what each adds to the rank.

    Pivoted QR of the sensitivity matrix, the joints' motions over a stroke of each motor, in the middle of the strokes. Errors:
    InputError where the positions of the motors that passive joints follow cannot be computed from all passive joints.
    """
    from scipy.linalg import qr

    s = sensors_of(robot)
    lower, upper = strokes(s)
    q = reach(s, 0.5 * (lower + upper))
    q = s.partition.q if q is None else q
    G = motion_map(s.model, s.partition, q[None])[0]
    motors = [name for name in s.names if name in s.model.actuated]
    columns = [int(np.flatnonzero(s.partition.independent == s.model.joint(n).iv)[0]) for n in motors]
    joints = [j for j in s.model.joints if j.nq == j.nv == 1 and j.iv in set(s.passive.tolist())]
    moved = G[[j.iv for j in joints]][:, columns] * (upper - lower)[[s.names.index(n) for n in motors]]
    followed = np.abs(moved).max(axis=0, initial=0.0) > MIN_ENCODER_SENSITIVITY
    observable = tuple(n for n, is_followed in zip(motors, followed) if is_followed)
    _, R, order = qr(moved[:, followed].T, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    if len(size) < len(observable) or not len(observable) or size[-1] <= MIN_ENCODER_SENSITIVITY * size[0]:
        raise InputError(f"the passive joints of {s.model.name!r} do not determine the positions of the motors that move them")
    chosen = tuple(joints[k].name for k in sorted(order[: len(observable)]))
    return EncoderSelection(chosen, observable, tuple(n for n in motors if n not in observable))
