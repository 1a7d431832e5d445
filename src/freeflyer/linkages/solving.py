"""Solving for closed postures: all rows first, then the independent ones, and new guesses for loops that stay open."""

from __future__ import annotations

import numpy as np

from freeflyer.dynamics.manifold import integrate
from freeflyer.errors import LinkageError
from freeflyer.linkages.closure import close
from freeflyer.linkages.graph import groups, structure
from freeflyer.linkages.partition import reference
from freeflyer.model.configuration import random_configuration
from freeflyer.model.model import Model
from freeflyer.tolerances import GUESS_SPREAD, MAX_REMAINING_STEP, REDUNDANT_ROW_GAP


def independent_or_all(model: Model) -> np.ndarray | None:
    """The independent rows, or None where the linkage has no split (it may still be assembled: all rows count then)."""
    try:
        return reference(model).rows
    except LinkageError:
        return None


def close_from(
    model: Model, q: np.ndarray, movable: np.ndarray, limits: bool, rows: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(q, residual, steps): all rows closed, then, for those that came near, the independent ones."""
    if rows is None or len(rows) == model.constraint_rows[0]:
        all_at_once = close(model, q, movable, limits)
        return all_at_once.q, all_at_once.residual, all_at_once.steps
    first = close(model, q, movable, limits, enough=MAX_REMAINING_STEP)
    near = np.abs(first.residual).max(axis=1) < 2.0 * REDUNDANT_ROW_GAP
    if near.any():
        second = close(model, first.q[near], movable, limits, rows)
        first.q[near], first.residual[near] = second.q, second.residual
        first.steps[near] += second.steps
    return first.q, first.residual, first.steps


def gaps(residual: np.ndarray, rows: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Largest entries (...): of all rows, of the independent ones."""
    gap = np.abs(residual)
    independent = gap if rows is None else gap[..., rows]
    return gap.max(axis=-1, initial=0.0), independent.max(axis=-1, initial=0.0)


def is_closed(residual: np.ndarray, rows: np.ndarray | None, tolerance: float, redundant: float) -> np.ndarray:
    gap, independent = gaps(residual, rows)
    return (independent <= tolerance) & (gap <= max(redundant, tolerance))


def fresh_guesses(model: Model, count: int, k: int, rng: np.random.Generator) -> np.ndarray:
    """Postures (count, nq) to try next: a closed one that is known, then by turns ones around it and ones anywhere."""
    if k % 2:
        return random_configuration(model, rng, count)
    try:
        known = reference(model).q
    except LinkageError:
        return random_configuration(model, rng, count)
    return integrate(model, known, GUESS_SPREAD * k * rng.standard_normal((count, model.nv)))


def next_guesses(
    model: Model, fresh: np.ndarray, guess: np.ndarray, found: np.ndarray, residual: np.ndarray, movable: np.ndarray,
    tolerance: float, redundant: float, rows: np.ndarray | None,
) -> np.ndarray:  # fmt: skip
    """Next guesses: groups of loops that are closed stay as found, the joints of the others start from `fresh`."""
    s, moves = structure(model), set(movable.tolist())
    touched = [set(c.tolist()) & moves for c in s.coordinates]
    next_guess = found.copy()
    independent = np.arange(model.constraint_rows[0]) if rows is None else rows
    for members in groups(touched):
        here = np.concatenate([s.rows[k] for k in members])
        gap = np.abs(residual[:, here])
        strict = np.abs(residual[:, np.intersect1d(here, independent)]).max(axis=1, initial=0.0)
        is_open = (gap.max(axis=1) > max(redundant, tolerance)) | (strict > tolerance)
        columns = set().union(*(touched[k] for k in members))
        for joint in model.joints:
            if joint.nv and columns & set(range(joint.iv, joint.iv + joint.nv)):
                at = slice(joint.iq, joint.iq + joint.nq)
                if joint.kind == "free":  # a base tied to the world: the place of its guess, any attitude
                    at = slice(joint.iq + 3, joint.iq + 7)
                    next_guess[is_open, joint.iq : joint.iq + 3] = guess[is_open, joint.iq : joint.iq + 3]
                next_guess[is_open, at] = fresh[is_open, at]
    return next_guess
