"""Is there a body with this mass, com and rotational inertia? Answered in words, for one body or a batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import InputError
from freeflyer.spatial import _check as ck

__all__ = ["check"]


@dataclass(frozen=True)
class Reason:
    """Reason why a body fails: `name` is "mass", "definite", "triangle" or "flat", `index` its place in the batch."""

    name: str
    index: tuple[int, ...]
    text: str


@dataclass(frozen=True)
class Consistency:
    """Result of `check`; true where every body is consistent. Arrays have the leading axes of the input.

    Attributes:
        positive_mass, positive_definite: (...) bool array, mass > 0; every principal moment about the com > 0.
        triangle: (...) bool array, no principal moment exceeds the sum of the other two.
        consistent: (...) bool array, whether a density gives these numbers, also on a plane, a line or a point. The mass is then
            > 0 and no second moment of density is below zero, hence the triangle inequality.
        full: (...) bool array, a density that fills a volume does: the pseudo-inertia (4, 4) is positive definite.
        moments, second_moments: (..., 3) array, about the com, ascending, kg m^2: principal moments; those of density.
        reasons: At least one for each body that is not `full`; only "flat" leaves it `consistent`."""

    positive_mass: np.ndarray
    positive_definite: np.ndarray
    triangle: np.ndarray
    consistent: np.ndarray
    full: np.ndarray
    moments: np.ndarray
    second_moments: np.ndarray
    reasons: tuple[Reason, ...]

    def __bool__(self) -> bool:
        return bool(np.all(self.consistent))


def check(mass: ArrayLike, com: ArrayLike, rotational: ArrayLike, tolerance: float = 1e-9) -> Consistency:
    """Physical consistency of bodies: whether a distribution of mass gives these numbers.

    The place of the com does not matter since the pseudo-inertia about the origin is a congruence of the one about the com.

    Args:
        tolerance: Signs are judged up to so much times the largest moment, since files round."""
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not 0.0 <= tolerance <= 1.0:
        raise InputError(f"tolerance is {tolerance!r}; expected a number from 0 to 1.")
    m, c, I = ck.arrays(("mass", mass, ck.SCALAR), ("com", com, ck.POINT), ("rotational", rotational, ck.MATRIX3))
    I = ck.symmetric("rotational", I)
    batch = np.broadcast_shapes(m.shape, c.shape[:-1], I.shape[:-2])
    m = np.broadcast_to(m, batch)
    moments = np.broadcast_to(np.linalg.eigvalsh(I), (*batch, 3))
    second = 0.5 * moments.sum(axis=-1, keepdims=True) - moments[..., ::-1]
    slack = tolerance * np.abs(moments).max(axis=-1)
    positive_mass = m > 0.0
    definite, triangle = moments[..., 0] > slack, second[..., 0] >= -slack
    consistent = positive_mass & triangle & (moments[..., 0] >= -slack)
    full = positive_mass & (second[..., 0] > slack)
    reasons: list[Reason] = []
    for at in map(tuple, np.argwhere(~full).tolist()):
        reasons += _reasons(at, float(m[at]), moments[at], second[at], float(slack[at]))
    return Consistency(positive_mass, definite, triangle, consistent, full, moments, second, tuple(reasons))


def _reasons(at: tuple[int, ...], mass: float, moments: np.ndarray, second: np.ndarray, slack: float) -> list[Reason]:
    which = f"body {at}: " if at else ""
    shown = ", ".join(f"{x:.6g}" for x in moments)
    out = []
    if not mass > 0.0:
        out.append(("mass", f"the mass is {mass:.6g} kg; it must be above 0"))
    if moments[0] < -slack:
        out.append(("definite", f"principal moments {shown} kg m^2: one is negative, so turning would release energy"))
    if second[0] < -slack:
        excess = -2.0 * second[0]
        text = f"principal moments {shown} kg m^2: the largest exceeds the sum of the other two by {excess:.3g}"
        out.append(("triangle", f"{text}, which no distribution of mass does"))
    elif second[0] <= slack and mass > 0.0:
        shape = ("a plane", "a line", "a point")[int(np.sum(second <= slack)) - 1]
        out.append(("flat", f"principal moments {shown} kg m^2: all mass lies on {shape}; possible only as a limit"))
    return [Reason(name, at, which + text) for name, text in out]
