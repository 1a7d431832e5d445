"""States as named tuples: ours, MuJoCo's, Pinocchio's. What was not given is None."""

from __future__ import annotations

from typing import Any, NamedTuple


class State(NamedTuple):
    """State of a model, as all functions take it; values that were not given are None.

    Attributes:
        q: (..., nq) array, configuration.
        v, a: (..., nv) array or None, velocity and acceleration.
        tau, bias_forces: (..., nv) array or None, generalised forces and bias forces, N, N m.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> x = ff.from_mujoco(model, ff.to_mujoco(model, model.neutral).qpos)
        >>> x.q[3:7], x.v     # quaternion x, y, z, w
        (array([0., 0., 0., 1.]), None)
    """

    q: Any
    v: Any = None
    a: Any = None
    tau: Any = None
    bias_forces: Any = None


class MujocoState(NamedTuple):
    """State in MuJoCo's coordinates; values that were not given are None.

    Attributes:
        qpos: (..., nq) array, configuration; nq and nv are MuJoCo's.
        qvel, qacc, qfrc: (..., nv) array or None, velocity, acceleration and generalised force.
        bias: (..., nv) array or None, MuJoCo's qfrc_bias.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> x = ff.to_mujoco(model, model.neutral)
        >>> x.qpos[3:7], x.qvel     # quaternion w, x, y, z
        (array([1., 0., 0., 0.]), None)
    """

    qpos: Any
    qvel: Any = None
    qacc: Any = None
    qfrc: Any = None
    bias: Any = None


class PinocchioState(NamedTuple):
    """State in Pinocchio's coordinates; values that were not given are None.

    Attributes:
        q: (..., nq) array, configuration; nq and nv are Pinocchio's.
        v, a, tau: (..., nv) array or None, velocity, acceleration and generalised force.
        bias: (..., nv) array or None, Pinocchio's nonLinearEffects.

    Examples:
        >>> import pinocchio
        >>> model = ff.robots.chain(1, "continuous")
        >>> pin_model = pinocchio.buildModelFromXML(ff.to_urdf(model))
        >>> ff.to_pinocchio(model, pin_model, [0.0]).q     # cosine and sine of the angle
        array([1., 0.])
    """

    q: Any
    v: Any = None
    a: Any = None
    tau: Any = None
    bias: Any = None
