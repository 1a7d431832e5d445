"""Results of `freeflyer reproduce dual-quaternion`: plain data, shown by `tables` and `pictures`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


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


@dataclass(frozen=True)
class Correlation:
    """CMC between a method's accelerations of one robot and those of the simulator, over its coordinates.

    names, each: of all coordinates; the others sum them up."""

    robot: str
    method: str
    minimum: float
    mean: float
    deviation: float
    maximum: float
    names: tuple[str, ...]
    each: np.ndarray


@dataclass(frozen=True)
class Waveform:
    """Fig 3: one coordinate's acceleration (n,) in the simulator and by the method, at times (n,); m/s^2 or rad/s^2."""

    name: str
    cmc: float
    time: np.ndarray
    simulated: np.ndarray
    computed: np.ndarray


@dataclass(frozen=True)
class Integration:
    """A motion of the differential drive under its constraint, by one integrator.

    violation: the largest sideways velocity, m/s. energy: the largest change of the total energy, relative to the range of the
    kinetic one; None where forces act."""

    motion: str
    integrator: str
    drift_control: str
    seconds: float
    violation: float
    energy: float | None


@dataclass(frozen=True)
class Sideways:
    """Sideways force on the wheels, N, at times (n,): `computed` (n,) by the equations, `simulated` (k, n) at `softness` (k,), of
    which 1 is the simulator's default, and `extrapolated` (n,) to none.

    errors (k,), error: root mean squares of the differences, relative."""

    time: np.ndarray
    computed: np.ndarray
    softness: tuple[float, ...]
    simulated: np.ndarray
    errors: tuple[float, ...]
    extrapolated: np.ndarray
    error: float


@dataclass(frozen=True)
class Validation:
    """Table 2, Fig 3, the nonholonomic constraint over 20 s, the wheels' forces."""

    correlations: tuple[Correlation, ...]
    samples: int
    waveforms: tuple[Waveform, ...]
    integrations: tuple[Integration, ...]
    sideways: Sideways
