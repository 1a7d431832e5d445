"""Selection of passive joints for absolute encoders: those whose positions depend most on the motors'."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer.errors import InputError
from freeflyer.estimation.passive import sensors_of
from freeflyer.estimation.postures import reach, strokes
from freeflyer.estimation.sensing import Sensors
from freeflyer.linkages.maps import motion_map
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.tolerances import MIN_ENCODER_SENSITIVITY


@dataclass(frozen=True)
class EncoderSelection:
    """Passive joints that determine the positions of the motors.

    Attributes:
        joints: (k,) tuple of str, the selected passive joints.
        motors: (k,) tuple of str, motors that passive joints follow.
        unobservable: Motors that no passive joint follows.

    Examples:
        >>> selection = ff.estimation.select_encoders(ff.robots.kangaroo_like())
        >>> len(selection.joints), len(selection.motors), selection.unobservable
        (12, 12, ())
    """

    joints: tuple[str, ...]
    motors: tuple[str, ...]
    unobservable: tuple[str, ...]


@public
def select_encoders(model: Model | Sensors) -> EncoderSelection:
    """Passive joints selected for absolute encoders, as many as motors: one after the other by what each adds to the rank.

    Pivoted QR of the sensitivity matrix, the joints' motions over a stroke of each motor, in the middle of the strokes, or in the
    file's posture where the linkage does not reach it. Motors without limits count with a stroke of 1 rad or m.

    Args:
        model: Model or Sensors.
    Raises: InputError where the positions of the motors that passive joints follow cannot be computed from all passive joints; as
    sensors.

    Examples:
        >>> model = ff.robots.kangaroo_like()
        >>> joints = ff.estimation.select_encoders(model).joints
        >>> joints[0], len(joints), len(model.actuated)
        ('left_hip_yaw', 12, 12)
        >>> found = ff.estimation.calibrate(model, dict.fromkeys(joints, 0.0))  # they determine every motor
        >>> found.offsets.shape, float(np.abs(found.offsets).max())
        ((12,), 0.0)
    """
    from scipy.linalg import qr

    s = sensors_of(model)
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
