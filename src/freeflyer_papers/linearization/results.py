"""What `freeflyer reproduce linearization` computes: plain data, shown by `tables` and `pictures`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Check:
    """One executed check: `value`, which must be at most `bound`, of the quantity `what`, about `requirement`.

    A `bound` of None makes it a comparison: what another approach gives, which is not ours to pass."""

    requirement: str  # SF, MB, RF or ED
    what: str
    value: float
    bound: float | None

    @property
    def holds(self) -> bool | None:
        """Whether it passed; None for a comparison."""
        return None if self.bound is None else bool(self.value <= self.bound)


@dataclass(frozen=True)
class Approach:
    """A way to the derivatives, measured: errors relative to the largest entry, over base attitudes of any pitch.

    `worst` and `typical` (median) error of d tau / dq and dv; `base`: typical error of the base's rows; `operations`:
    multiplications and additions an entry, on the longest chain that was counted."""

    name: str
    worst: float
    typical: float
    base: float
    operations: float

    @property
    def singularity_free(self) -> bool:
        """No attitude is worse by orders of magnitude than others."""
        return bool(self.worst < 1e3 * self.typical)

    @property
    def moving_base(self) -> bool:
        """The base's rows come out right."""
        return bool(self.base < 1e-6)

    @property
    def exact(self) -> bool:
        """Rounding alone."""
        return bool(self.typical < 1e-12)


@dataclass(frozen=True)
class Differences:
    """Fig 5: errors of geometric finite differences of the forward dynamics against the step `delta` (n,), rad or m.

    `maximal` and `average` (n,) are over all entries of [da/dq, da/dv, da/dtau], divided by the largest of them. `evaluations`: how
    many forward dynamics one linearisation takes."""

    kind: str
    delta: np.ndarray
    maximal: np.ndarray
    average: np.ndarray
    evaluations: int
    fall: float  # slope of log error over log delta where truncation rules
    rise: float  # and where rounding does

    @property
    def best(self) -> int:
        """Where the maximal error is smallest."""
        return int(np.argmin(self.maximal))


@dataclass(frozen=True)
class Counts:
    """Multiplications and additions of the algorithms on a chain of `bodies`, base not counted; every joint revolute.

    `entries`: of the derivatives by H, s, v and r together. `eidamb`: Table 4 without its table of wrenches, which results do not
    need."""

    bodies: int
    entries: int
    eidamb: int
    eidamb_as_printed: int
    by_pose: int
    by_shape: int
    by_shape_through_wrenches: int
    by_base_velocity: int
    by_joint_velocity: int

    @property
    def derivatives(self) -> int:
        """Tables 5 to 8, Table 6 without wrenches."""
        return self.by_pose + self.by_shape + self.by_base_velocity + self.by_joint_velocity


@dataclass(frozen=True)
class Cost:
    """Microseconds for all derivatives of the inverse dynamics of a chain on a floating base; None: not run at that size."""

    bodies: int
    nv: int
    tables: float | None  # the paper's tables, NumPy
    compiled: float
    differences: float


@dataclass(frozen=True)
class Sweep:
    """Over base pitches (n,), rad: the error of Tables 5 to 8, and the condition number of roll, pitch and yaw's rates."""

    pitch: np.ndarray
    error: np.ndarray
    condition: np.ndarray


@dataclass(frozen=True)
class Prediction:
    """Linear prediction of a motion beside the motion: `remainder` is their distance after `duration` seconds.

    `size` (n,) of the perturbation, rad, m, rad/s, m/s and N m alike; `order` is the slope of their logarithms."""

    duration: float
    size: np.ndarray
    remainder: np.ndarray
    order: float


@dataclass(frozen=True)
class LinearizationResult:
    """Everything that the reproduction of the geometric linearisation paper computes. `exact_error`: of the tables against complex
    steps."""

    robot: str
    nv: int
    bodies: int
    checks: tuple[Check, ...]
    approaches: tuple[Approach, ...]
    differences: tuple[Differences, ...]
    exact_error: float
    sweep: Sweep
    prediction: Prediction
    counts: tuple[Counts, ...]
    costs: tuple[Cost, ...]
    machine: str
    skeletons: tuple[
        np.ndarray, np.ndarray
    ]  # (bodies + 1, 2, 3) joint and far end in the world, reference and perturbed
