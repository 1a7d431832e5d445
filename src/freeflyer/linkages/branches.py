"""The different ways in which a linkage closes around the same positions of its motors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from freeflyer.dynamics.manifold import difference
from freeflyer.errors import InputError, format_value
from freeflyer.linkages.partition import reference
from freeflyer.linkages.solving import close_from
from freeflyer.model.configuration import random_configuration
from freeflyer.model.model import Model
from freeflyer.tolerances import MIN_DISTANCE


def check_branches(count: int, postures: int) -> None:
    """InputError for what is no count of branches, and for several postures."""
    if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < 1:
        raise InputError(f"branches must be a count of at least 1, got {format_value(count)}")
    if postures != 1:
        raise InputError(f"branches are found of one posture, got {postures}")


def other_branches(
    model: Model, q: np.ndarray, residual: np.ndarray, steps: np.ndarray, count: int, limits: bool,
    is_closed: Callable[[np.ndarray], np.ndarray], rows: np.ndarray | None, rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """(q (n, nq), residual (n, r), steps (n,)): up to `count` closures of a posture q (1, nq), which comes first, nearest first.

    From many guesses at random of the joints that the loops determine; all others stay as they are in q."""
    dependent = reference(model).dependent
    guesses = np.repeat(q, max(32, 16 * count), axis=0)
    random = random_configuration(model, rng, len(guesses))
    moves = set(dependent.tolist())
    for joint in model.joints:
        if joint.nq and moves & set(range(joint.iv, joint.iv + joint.nv)):
            at = slice(joint.iq, joint.iq + joint.nq)
            if set(range(joint.iv, joint.iv + joint.nv)) <= moves:
                guesses[:, at] = random[:, at]
    found, open_by, taken = close_from(model, guesses, dependent, limits, rows)
    good = np.flatnonzero(is_closed(open_by))
    chosen, others, n = [q[0]], [residual[0]], [int(steps[0])]
    away = np.linalg.norm(_wrap(model, difference(model, q[0], found[good])), axis=-1) if len(good) else np.empty(0)
    for k in good[np.argsort(away)]:
        apart = [np.linalg.norm(_wrap(model, difference(model, x, found[k]))) for x in chosen]
        if len(chosen) < count and min(apart) > MIN_DISTANCE:
            chosen.append(found[k])
            others.append(open_by[k])
            n.append(int(taken[k]))
    return np.array(chosen), np.array(others), np.array(n)


def _wrap(model: Model, dv: np.ndarray) -> np.ndarray:
    """Differences (..., nv) with those of turning joints taken modulo a full turn."""
    dv = dv.copy()
    for joint in model.joints:
        if joint.kind in ("revolute", "continuous") and joint.nv:
            dv[..., joint.iv] -= 2.0 * np.pi * np.round(dv[..., joint.iv] / (2.0 * np.pi))
    return dv
