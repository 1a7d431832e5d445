"""Forces of springs, damping and dry friction, which the equations of motion leave out: add them to tau.

    tau_passive = -k (q - rest) - d v - f sign(v)
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.evaluate import leading_axes
from freeflyer.model.inputs import finite_row
from freeflyer.model.locking import leader
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.spatial import quaternion

TURNED = {"spherical": 4, "free": 7}


@dataclass(frozen=True, eq=False)
class Springs:
    """Springs of scalars, each on position ratio q[positions] + offset, at rest at `rest`, its force on v[velocities]; those of
    ball and free joints: (kind, iq, iv, stiffness (nv,), rest (nq,))."""

    positions: np.ndarray
    velocities: np.ndarray
    ratio: np.ndarray
    offset: np.ndarray
    rest: np.ndarray
    stiffness: np.ndarray
    turned: tuple[tuple[str, int, int, np.ndarray, np.ndarray], ...]


_known: WeakKeyDictionary[Model, Springs] = WeakKeyDictionary()


@public
def passive_forces(model: Model, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """tau (..., nv), N and N m, by which the springs, the damping and the dry friction of the file act on the robot.

    q (..., nq), v (..., nv). Springs pull with stiffness times the way back to where they are at rest: of a ball joint the shortest
    turn, of a free joint also the way in the joint frame, as MuJoCo's. Damping is -d v. Friction is -f sign(v), and zero at v = 0,
    where it may be anything up to f. Those of joints that mimic others count on these. Inverse dynamics with them is
    `inverse_dynamics(model, q, v, a) - passive_forces(model, q, v)`. Of a closed model: along its independent velocities.
    Equal to MuJoCo's qfrc_passive where the file has springs and damping of joints alone; its friction is a constraint there.
    Errors: InputError.
    """
    if model.reduction:
        return model.reduction.functions.passive_forces(model, q, v)
    q, v = finite_row(model, "q", q, "q"), finite_row(model, "v", v, "v")
    lead = leading_axes((q, v), (1, 1), ("q", "v"))
    tau = np.zeros((*lead, model.nv)) - model.damping * v - model.friction * np.sign(v)
    springs, q = _springs(model), np.broadcast_to(q, (*lead, model.nq))
    way = springs.ratio * q[..., springs.positions] + springs.offset - springs.rest
    np.add.at(np.moveaxis(tau, -1, 0), springs.velocities, np.moveaxis(-springs.ratio * springs.stiffness * way, -1, 0))
    for kind, iq, iv, stiffness, rest in springs.turned:
        now = q[..., iq : iq + TURNED[kind]]
        turn = quaternion.log(quaternion.multiply(quaternion.conjugate(rest[-4:]), now[..., -4:]))
        if kind == "free":  # along the joint frame's axes there, the body's here
            linear = stiffness[:3] * (now[..., :3] - rest[:3])
            tau[..., iv : iv + 3] -= quaternion.rotate(quaternion.conjugate(now[..., 3:]), linear)
        tau[..., iv + (kind == "free") * 3 : iv + len(stiffness)] -= stiffness[-3:] * turn
    return tau


def _springs(model: Model) -> Springs:
    if model in _known:
        return _known[model]
    scalars: list[tuple[float, ...]] = []
    turned = []
    for info in model.joints:
        joint = model.description.joint(info.name)
        if not joint.sprung:
            continue
        if joint.kind in TURNED:
            pose = joint.spring_reference or model.neutral[info.iq : info.iq + info.nq]
            turned.append((joint.kind, info.iq, info.iv, np.array(joint.stiffness), np.array(pose)))
            continue
        head, ratio, offset = leader(model.description, joint)
        first = model.joint(head.name)
        for k, stiffness in enumerate(joint.stiffness):
            rest = joint.spring_reference[k] if joint.spring_reference else 0.0
            scalars.append((first.iq + k, first.iv + k, ratio, offset, rest, stiffness))
    table = np.array(scalars, float).reshape(len(scalars), 6).T
    at, ratio, offset, rests, stiffnesses = table[:2].astype(np.int64), *table[2:]
    _known[model] = Springs(at[0], at[1], ratio, offset, rests, stiffnesses, tuple(turned))
    return _known[model]
