"""States from and to MuJoCo. R is the rotation of a free joint's body, l and w its body twist [linear; angular]:

    qpos                    position, then the quaternion w, x, y, z        q: position, then x, y, z, w
    qvel = [R l; w]         qacc = its time derivative                      a: linear = R^T qacc[:3] - w x l
    qfrc = [R f; t]         T = dqvel/dv = diag(R, 1, ...)                  tau = T^T qfrc
    M a + bias = tau        M = T^T M_mujoco T                              bias = T^T qfrc_bias + M [w x l; 0]

Ball joints differ by the order of their quaternions, other joints by their order at most.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.converted import check_state, to_ours, to_theirs
from freeflyer.errors import InputError
from freeflyer.model.inputs import finite_row
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.model.states.matching import check_size
from freeflyer.model.states.mujoco import configuration_from_mujoco, configuration_to_mujoco, refuse_absent_base
from freeflyer.model.states.mujoco_places import Places, mujoco_places
from freeflyer.model.states.records import MujocoState, State
from freeflyer.model.states.velocities import velocity_matrix

NAMES = {"v": "qvel", "a": "qacc", "tau": "qfrc", "bias": "bias"}


@public
def from_mujoco(
    model: Model, qpos: ArrayLike, qvel: ArrayLike | None = None, qacc: ArrayLike | None = None, qfrc: ArrayLike | None = None, *,
    bias: ArrayLike | None = None, mj_model: Any = None,
) -> State:  # fmt: skip
    """(q, v, a, tau, bias_forces) of a state of MuJoCo's; None for what is not given.

    qpos (..., nq), qvel, qacc, any generalised force qfrc and `bias`, its qfrc_bias (..., nv), of MuJoCo; m, rad, s, N, N m. Joints
    are found by name: those of the compiled `mj_model` if that is given (its scene may hold other things), else of the MJCF file
    that the model was read from, else of what `to_mjcf` writes. Joints that are fixed in the model, or belong to other things, are
    left out; one that mimics another stands where that one puts it; a base that only the model has stands where the file draws it,
    at rest. Of a closed model v and a are the independent ones and tau the force along them; its q is as closed as MuJoCo holds it
    (freeflyer.mechanisms.assemble closes it). qacc and bias need qvel.
    Exact but for free joints' linear velocities, accelerations, forces and bias, which are rotated: 1e-15 relative.
    Errors: InputError for sizes and joints of another robot, NaN, quaternions of other than unit length.

        q, v, a, tau, _ = ff.from_mujoco(model, data.qpos, data.qvel, data.qacc, data.qfrc_actuator)
    """
    places, tree = mujoco_places(model.tree, mj_model), model.tree
    x = _check_sizes(places, {"qpos": qpos, "qvel": qvel, "qacc": qacc, "qfrc": qfrc, "bias": bias}, mj_model)
    if bias is not None and places.absent_base:
        raise InputError(
            f"the bias forces of base {places.absent_base[0]!r} of {model.name!r} are not in MuJoCo's: the MJCF file fixes it",
            joint=places.absent_base[0],
        )  # fmt: skip
    q = configuration_from_mujoco(tree, places, x["qpos"])
    return to_ours(model, places.velocities, q, {ours: x[theirs] for ours, theirs in NAMES.items()}, NAMES)


@public
def to_mujoco(
    model: Model, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None, tau: ArrayLike | None = None, *,
    bias_forces: ArrayLike | None = None, mj_model: Any = None,
) -> MujocoState:  # fmt: skip
    """(qpos, qvel, qacc, qfrc, bias) of a state q (..., nq), v, a, tau, bias_forces (..., nv); None for what is not given.

    The reverse of `from_mujoco`, in the same units and order of joints. Joints that MuJoCo has and the model has not (locked here,
    or other things of `mj_model`) stand at rest: where they were locked, else where the file draws them. Forces on joints that
    mimic others are zero: tau counts on the others. Of a closed model v and a give the motion of all joints; tau acts on the
    independent ones. a and bias_forces need v.
    Errors: InputError; also for a base that MuJoCo lacks and that moves, or stands elsewhere than the file draws it.

        data.qpos, data.qvel = ff.to_mujoco(model, q, v)[:2]
    """
    places = mujoco_places(model.tree, mj_model)
    x, given = check_state(model, q, v, a, tau, bias_forces)
    qpos = configuration_to_mujoco(model.tree, places, x)
    for name, value in given.items():
        if value is not None:
            refuse_absent_base(model.tree, places, {"v": "v", "a": "a", "tau": "tau", "bias": "bias_forces"}[name], value)
    theirs = to_theirs(model.tree, places.velocities, x, given)
    return MujocoState(qpos, theirs["v"], theirs["a"], theirs["tau"], theirs["bias"])


@public
def mujoco_velocity_map(model: Model, q: ArrayLike, *, mj_model: Any = None) -> np.ndarray:
    """T (..., nv of MuJoCo, nv): qvel = T(q) v. So M = T^T M_mujoco T, J = J_mujoco T and tau = T^T qfrc.

    q (..., nq). Of a closed model v are the independent velocities. mj_model: as in `from_mujoco`. Errors: InputError.
    """
    places = mujoco_places(model.tree, mj_model)
    q = finite_row(model, "q", q, "q")
    T = velocity_matrix(places.velocities, q)
    return T @ model.reduction.functions.velocity_map(model, q) if model.reduction else T


def _check_sizes(places: Places, given: dict[str, Any], mj_model: Any) -> dict[str, Any]:
    whose = "the sizes of the compiled mj_model" if mj_model is not None else "as in the MJCF file of the model (or give mj_model=)"
    nq, nv = len(places.qpos_from), len(places.velocities.matched.leaders)
    return {
        name: None
        if x is None
        else check_size(name, x, nq if name == "qpos" else nv, f"{'nq' if name == 'qpos' else 'nv'} {whose}")
        for name, x in given.items()
    }
