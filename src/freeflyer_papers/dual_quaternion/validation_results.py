"""What the validation of the dual quaternion paper computes, frozen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


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
