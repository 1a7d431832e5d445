"""States from and to MuJoCo. R is the rotation of a free joint's body, l and w its body twist [linear; angular]:

    qpos                    position, then the quaternion w, x, y, z        q: position, then x, y, z, w
    qvel = [R l; w]         qacc = its time derivative                      a: linear = R^T qacc[:3] - w x l
    qfrc = [R f; t]         T = dqvel/dv = diag(R, 1, ...)                  tau = T^T qfrc
    M a + bias = tau        M = T^T M_mujoco T                              bias = T^T qfrc_bias + M [w x l; 0]

Ball joints differ by the order of their quaternions, other joints by their order at most."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.converted import check_state, to_ours, to_theirs
from freeflyer.errors import InputError
from freeflyer.model.inputs import finite_row
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.model.states.mujoco import (
    Places,
    configuration_from_mujoco,
    configuration_to_mujoco,
    mujoco_places,
    refuse_absent_base,
)
from freeflyer.model.states.records import MujocoState, State
from freeflyer.model.states.velocities import check_size, velocity_matrix

NAMES = {"v": "qvel", "a": "qacc", "tau": "qfrc", "bias": "bias_forces"}


@public
def from_mujoco(
    model: Model, qpos: ArrayLike, qvel: ArrayLike | None = None, qacc: ArrayLike | None = None, qfrc: ArrayLike | None = None, *,
    bias_forces: ArrayLike | None = None, mj_model: Any = None,
) -> State:  # fmt: skip
    """State (q, v, a, tau, bias_forces) of a state of MuJoCo's; None for values not given.

    Joints are matched by name with `mj_model`, or else with the MJCF file of the model. A model without such a file is matched with
    the output of `to_mjcf`. Joints that are fixed in the model, or belong to other objects, are left out. The position of a mimic
    joint follows from its leader. A base that only the model has is at rest, at its pose in the file. For a closed model v and a
    are the independent ones and tau the force along them. Its q is as closed as MuJoCo's (freeflyer.linkages.assemble closes it).

    Exact but for free joints' linear velocities, accelerations, forces and bias, which are rotated: 1e-15 relative.

    Args:
        qpos: (..., nq) array, MuJoCo's configuration; nq and nv are those of MuJoCo here.
        qvel, qacc, qfrc: (..., nv) array, MuJoCo's velocity, acceleration and any of its generalised forces; m, rad, s, N, N m.
        bias_forces: (..., nv) array, MuJoCo's qfrc_bias.
        mj_model: The compiled model whose joints these are; its scene may hold other things.
    Returns: State, m, rad, s, N, N m.
    Raises: InputError for sizes and joints of another robot, NaN, and quaternions of other than unit length. A free joint
    requires qvel for qacc and bias_forces, and closed loops require it for bias_forces. MuJoCo must have the base.

    Examples:
        >>> import mujoco
        >>> model = ff.robots.quadruped()
        >>> mj_model = mujoco.MjModel.from_xml_string(ff.to_mjcf(model))
        >>> data = mujoco.MjData(mj_model)
        >>> mujoco.mj_forward(mj_model, data)
        >>> q, v, a, tau, _ = ff.from_mujoco(model, data.qpos, data.qvel, data.qacc, data.qfrc_actuator)
        >>> bool(np.allclose(ff.inverse_dynamics(model, q, v, a), tau, atol=1e-9))
        True
    """
    places, tree = mujoco_places(model.tree, mj_model), model.tree
    x = _check_sizes(places, {"qpos": qpos, "qvel": qvel, "qacc": qacc, "qfrc": qfrc, "bias_forces": bias_forces}, mj_model)
    if bias_forces is not None and places.absent_base:
        raise InputError(
            f"the bias forces of base {places.absent_base[0]!r} of {model.name!r} are not in MuJoCo's: the MJCF file fixes it",
            joint=places.absent_base[0],
        )  # fmt: skip
    q = configuration_from_mujoco(tree, places, x["qpos"])
    return to_ours(model, places.velocities, q, {ours: x[theirs] for ours, theirs in NAMES.items()}, {"q": "qpos", **NAMES})


@public
def to_mujoco(
    model: Model, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None, tau: ArrayLike | None = None, *,
    bias_forces: ArrayLike | None = None, mj_model: Any = None,
) -> MujocoState:  # fmt: skip
    """State (qpos, qvel, qacc, qfrc, bias) of MuJoCo's for a state of freeflyer; None for values not given.

    The reverse of from_mujoco, joints found in the same way. Joints that the model lacks (locked here, or other objects of
    `mj_model`) are at rest. They stay at their locked positions, or else at those of the file. Forces on mimic joints are zero,
    because tau acts on their leaders. Of a closed model v and a give the motion of all joints; tau acts on the independent ones.

    Args:
        v, a, tau: (..., nv) array, velocity, acceleration, generalised forces; m, rad, s, N, N m.
        bias_forces: (..., nv) array, as bias_forces gives them, N and N m.
        mj_model: See from_mujoco.
    Returns: MujocoState, m, rad, s, N, N m.
    Raises: InputError as from_mujoco. A free joint requires v for a and bias_forces, and closed loops require it for a. Also
    for bias_forces of a closed model (convert those of model.tree). A base that MuJoCo lacks must be at rest, without forces,
    at its pose in the file.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> q = ff.configuration(model, root_joint=[0, 0, 0.4, 0, 0, np.sin(0.25), np.cos(0.25)])  # half a radian about z
        >>> state = ff.to_mujoco(model, q, np.eye(model.nv)[0])
        >>> np.round(state.qpos[3:7], 3).tolist()  # the quaternion is w, x, y, z there
        [0.969, 0.0, 0.0, 0.247]
        >>> np.round(state.qvel[:2], 3).tolist()  # the linear velocity is along the world's axes there
        [0.878, 0.479]
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
    """Matrix T(q) of qvel = T v; hence M = T^T M_mujoco T, J = J_mujoco T and tau = T^T qfrc.

    Args:
        mj_model: See from_mujoco.
    Returns: (..., nv of MuJoCo, nv) array of a closed model v are the independent velocities.
    Raises: InputError for joints of another robot, wrong shapes, NaN, infinities and quaternions of other than unit length.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> q, v = ff.random_configuration(model, np.random.default_rng(0)), np.ones(model.nv)
        >>> bool(np.allclose(ff.mujoco_velocity_map(model, q) @ v, ff.to_mujoco(model, q, v).qvel))
        True
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
