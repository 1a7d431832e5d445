"""Results of `freeflyer reproduce dual-quaternion`: plain data, shown by `tables` and `pictures`."""

from __future__ import annotations

from dataclasses import dataclass

from freeflyer_papers.dual_quaternion.validation_results import Validation


@dataclass(frozen=True)
class Twist:
    """A joint of Table 1: the paper's twist, and the largest error of ours against the rate of the joint's pose, (4)."""

    joint: str
    formula: str
    velocities: int
    error: float


@dataclass(frozen=True)
class Agreement:
    """Largest relative distance of forces and matrices from the library's other algorithms, over `states` states of robots."""

    robots: str
    states: int
    newton_euler: float
    printed: float
    gauss: float
    gibbs_appell: float
    kane: float
    skew: float  # (52): M's rate, by differences, less C + C^T; relative to M


@dataclass(frozen=True)
class Remark:
    """Remark 4.1: distance from Mdot / 2 - C, relative to its norm, over `states` states of an arm.

    least, largest: of A as printed; whole: the largest of A with the term that it lacks; skew: the largest of A + A^T."""

    robots: str
    states: int
    least: float
    largest: float
    whole: float
    skew: float


@dataclass(frozen=True)
class Count:
    """Operations of an algorithm for a serial arm of n joints: coefficients of n^3, n^2, n, 1, exact for all n from 3 on.

    `line`: of Table 3; `paper`: what it prints there, (multiplications, additions), empty for our own lines."""

    line: str
    algorithm: str
    joints: str
    multiplications: tuple[float, ...]
    additions: tuple[float, ...]
    paper: tuple[str, str]


@dataclass(frozen=True)
class Timing:
    """us for one state of a serial arm of n joints; None: not measured. Pinocchio's is its inverse dynamics."""

    n: int
    newton_euler: float
    rnea: float
    pinocchio: float | None
    gauss: float
    batch: float  # us a state of a batch of dqNE, one thread


@dataclass(frozen=True)
class DualQuaternionResult:
    """Everything that the reproduction computes."""

    twists: tuple[Twist, ...]
    agreements: tuple[Agreement, ...]
    remarks: tuple[Remark, ...]
    counts: tuple[Count, ...]
    timings: tuple[Timing, ...]
    machine: str
    peer: str
    validation: Validation
