"""Configurations between MuJoCo's qpos and our q."""

from __future__ import annotations

import numpy as np

from freeflyer.errors import InputError
from freeflyer.model.inputs import check_configuration
from freeflyer.model.model import Model
from freeflyer.model.states.mujoco_places import Places
from freeflyer.tolerances import ABSENT_BASE_OFFSET


def configuration_from_mujoco(model: Model, places: Places, qpos: np.ndarray) -> np.ndarray:
    """q (..., nq) of the tree; InputError for quaternions of other than unit length."""
    absent = places.q_from < 0
    q = np.take(qpos, places.q_from, axis=-1) if qpos.shape[-1] else np.zeros((*qpos.shape[:-1], model.nq))
    q[..., absent] = places.rest[absent]
    check_configuration(model, "q from qpos", q, "q")
    return q


def configuration_to_mujoco(model: Model, places: Places, q: np.ndarray) -> np.ndarray:
    """qpos (..., nq there); InputError where a base that MuJoCo lacks stands elsewhere than the file draws it."""
    for name in places.absent_base:
        joint = model.joint(name)
        part = slice(joint.iq, joint.iq + joint.nq)
        if np.abs(q[..., part] - places.rest[part]).max(initial=0.0) > ABSENT_BASE_OFFSET:
            raise InputError(
                f"base {name!r} of {model.name!r} stands elsewhere than at {places.rest[part].tolist()}, where the MJCF file fixes "
                "it: MuJoCo has no coordinates for that. Load the file as it is (base=None)", joint=name,
            )  # fmt: skip
    if not len(places.qpos_from) or not q.shape[-1]:
        return np.broadcast_to(places.theirs_at_rest, (*q.shape[:-1], len(places.qpos_from))).copy()
    qpos = np.take(q, places.qpos_from, axis=-1)
    follow = np.flatnonzero((places.ratios != 1.0) | (places.offsets != 0.0))
    qpos[..., follow] = places.ratios[follow] * qpos[..., follow] + places.offsets[follow]
    absent = places.qpos_from < 0
    qpos[..., absent] = places.theirs_at_rest[absent]
    return qpos


def refuse_absent_base(model: Model, places: Places, name: str, x: np.ndarray) -> None:
    """InputError for a velocity, an acceleration or a force (..., nv) of a base that MuJoCo lacks."""
    for base in places.absent_base:
        joint = model.joint(base)
        if np.any(x[..., joint.iv : joint.iv + joint.nv]):
            raise InputError(
                f"{name} of base {base!r} of {model.name!r} is not zero, and the MJCF file fixes that base: MuJoCo has no "
                "coordinates for it. Load the file as it is (base=None)", joint=base,
            )  # fmt: skip
