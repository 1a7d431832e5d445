"""States as named tuples: ours, MuJoCo's, Pinocchio's. What was not given is None."""

from __future__ import annotations

from typing import Any, NamedTuple


class State(NamedTuple):
    """q (..., nq), velocities v, accelerations a, generalised forces tau, bias forces (..., nv), as every function takes them."""

    q: Any
    v: Any = None
    a: Any = None
    tau: Any = None
    bias_forces: Any = None


class MujocoState(NamedTuple):
    """qpos (..., nq), qvel, qacc, qfrc and bias (..., nv) in MuJoCo's coordinates; `bias` is its qfrc_bias."""

    qpos: Any
    qvel: Any = None
    qacc: Any = None
    qfrc: Any = None
    bias: Any = None


class PinocchioState(NamedTuple):
    """q (..., nq), v, a, tau and bias (..., nv) in Pinocchio's coordinates; `bias` is its nonLinearEffects."""

    q: Any
    v: Any = None
    a: Any = None
    tau: Any = None
    bias: Any = None
