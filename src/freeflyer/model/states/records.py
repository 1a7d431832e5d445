"""States as named tuples: ours, MuJoCo's, Pinocchio's. What was not given is None."""

from __future__ import annotations

from typing import Any, NamedTuple


class State(NamedTuple):
    """State of a model, as all functions take it; values that were not given are None.

    Attributes:
        q, v, a, tau, bias_forces: (..., nq) array; (..., nv) array or None."""

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
        bias: (..., nv) array or None, MuJoCo's qfrc_bias."""

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
        bias: (..., nv) array or None, Pinocchio's nonLinearEffects."""

    q: Any
    v: Any = None
    a: Any = None
    tau: Any = None
    bias: Any = None
