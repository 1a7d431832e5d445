"""Forces of springs, damping and dry friction, which the equations of motion leave out: add them to tau."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.closed import motion, project_forces
from freeflyer.dynamics.evaluate import leading_axes
from freeflyer.model import Model, finite_row, leader, public, remembered
from freeflyer.spatial import quaternion

TURNED = {"spherical": 4, "free": 7}
SLOW_JOINT = 0.05  # rad/s, m/s: the direction of dry friction is not known below


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


@public
def passive_forces(model: Model, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Generalised forces -k (q - rest) - d v - f sign(v) of the file's springs, damping and dry friction; (..., nv), N, N m.

    The equations of motion leave these forces out. Add them to tau. The displacement of a ball joint is the shortest turn; that
    of a free joint is in the joint frame, as in MuJoCo. Friction is zero at v = 0, where it may be anything up to f. Those of a
    joint that mimics another act on that one's coordinate. Equal to MuJoCo's qfrc_passive but for friction, a constraint there."""
    if model.reduction:
        return project_forces(model, q, passive_forces(model.tree, q, motion(model, q, v)[0]))
    q, v = finite_row(model, "q", q, "q"), finite_row(model, "v", v, "v")
    lead = leading_axes((q, v), (1, 1), ("q", "v"))
    return _add_spring_forces(model, q, np.zeros((*lead, model.nv)) - model.damping * v - model.friction * np.sign(v))


def joint_losses(model: Model, q: np.ndarray, v: np.ndarray, rubbing: bool = True) -> np.ndarray:
    """Forces (nv,) of springs, damping and, if asked for, dry friction, as motors make up for them: friction of joints slower than
    SLOW_JOINT is in proportion to v."""
    tree, w = model.tree, motion(model, q, v)[0] if model.reduction else v
    damping, steep, least, most = _losses(tree)
    lost = damping * w
    if rubbing:
        lost -= np.minimum(np.maximum(steep * w, least), most)
    lost = _add_spring_forces(tree, q, lost)
    return project_forces(model, q, lost) if model.reduction else lost


@remembered
def _losses(model: Model) -> tuple[np.ndarray, ...]:
    """Of a tree: minus the damping; friction over SLOW_JOINT, least and most friction."""
    return -model.damping, model.friction / SLOW_JOINT, -model.friction, +model.friction


def _add_spring_forces(model: Model, q: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """tau (..., nv) of a tree, to which the forces of its springs at q (..., nq) are added."""
    springs = _springs(model)
    if len(springs.velocities):
        forces = -springs.ratio * springs.stiffness * (springs.ratio * q[..., springs.positions] + springs.offset - springs.rest)
        for n, k in enumerate(springs.velocities.tolist()):
            tau[..., k] += forces[..., n]
    for kind, iq, iv, stiffness, rest in springs.turned:
        now = q[..., iq : iq + TURNED[kind]]
        turn = quaternion.log(quaternion.multiply(quaternion.conjugate(rest[-4:]), now[..., -4:]))
        if kind == "free":  # along the joint frame's axes there, the body's here
            linear = stiffness[:3] * (now[..., :3] - rest[:3])
            tau[..., iv : iv + 3] -= quaternion.rotate(quaternion.conjugate(now[..., 3:]), linear)
        tau[..., iv + (kind == "free") * 3 : iv + len(stiffness)] -= stiffness[-3:] * turn
    return tau


@remembered
def _springs(model: Model) -> Springs:
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
        head, ratio, offset = leader(model.description, joint.name)
        first = model.joint(head.name)
        for k, stiffness in enumerate(joint.stiffness):
            rest = joint.spring_reference[k] if joint.spring_reference else 0.0
            scalars.append((first.iq + k, first.iv + k, ratio, offset, rest, stiffness))
    table = np.array(scalars, float).reshape(len(scalars), 6).T
    at, ratio, offset, rests, stiffnesses = table[:2].astype(np.int64), *table[2:]
    return Springs(at[0], at[1], ratio, offset, rests, stiffnesses, tuple(turned))
