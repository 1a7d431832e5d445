"""Assembling a linkage: from any guess to a posture in which every loop is closed (kernels/closed/assembly.py)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.manifold import difference, integrate
from freeflyer.errors import AssemblyError, InputError, LinkageError, OpenLoopWarning, format_value, unknown_name
from freeflyer.linkages.closure import close, file_posture, q_of_v
from freeflyer.linkages.partition import reference
from freeflyer.linkages.refusals import list_names
from freeflyer.linkages.rows import constraint_loops, groups, structure
from freeflyer.model.configuration import random_configuration
from freeflyer.model.inputs import check_configuration, row
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.tolerances import (
    CLOSED_GAP,
    GUESS_SPREAD,
    MAX_REMAINING_STEP,
    MIN_DISTANCE,
    REDUNDANT_ROW_GAP,
    WARNING_GAP,
)


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


ATTEMPTS = 24  # guesses at random for one posture that its own guess did not close


@dataclass(frozen=True)
class Assembly:
    """Closed postures, and the remaining gaps of their loops.

    Attributes:
        q: (..., nq) array, postures; (found, nq) with `branches`.
        residual: (..., r) array; by how much each constraint row is open, m or rad (constraint_residual).
        gap, independent_gap, redundant_gap: float or (...) array, largest entry of |residual|, m or rad: of all rows, of the
            independent ones, and of the redundant ones. Rounded or contradictory dimensions leave the latter open (beyond 1e-5
            there is an OpenLoopWarning).
        worst_loop: str or (...) array, name of the most open loop.
        iterations: int or (...) array, steps taken.
        closed: bool or (...) array; whether independent rows are within `tolerance` and the others within `redundant`.
        tolerance, redundant: The arguments of assemble, m or rad.

    Examples:
        >>> leg = ff.linkages.extract_limb(ff.robots.kangaroo_like(), "left_sole")
        >>> guesses = leg.neutral + np.outer([0.0, 0.02, 0.5], np.ones(leg.nq))
        >>> found = ff.linkages.assemble(leg, guesses, hold="actuated", limits=False, strict=False)
        >>> found.q.shape, found.closed.tolist()
        ((3, 38), [True, True, False])
        >>> str(found.worst_loop[2])
        'left_yaw_pin'
    """

    q: np.ndarray
    residual: np.ndarray
    gap: Any
    independent_gap: Any
    redundant_gap: Any
    worst_loop: Any
    iterations: Any
    closed: Any
    tolerance: float
    redundant: float


@public
def assemble(
    model: Model, q: ArrayLike | None = None, *, hold: str | Sequence[str] | None = None, limits: bool = True,
    tolerance: float = CLOSED_GAP, redundant: float = REDUNDANT_ROW_GAP, strict: bool = True, attempts: int | None = None,
    branches: int | None = None, rng: np.random.Generator | None = None,
) -> Assembly:  # fmt: skip
    """Closed postures near guesses of the configuration.

    Damped Newton steps on the manifold first close all rows as well as possible, then the independent rows of the linkage to the
    last digit. Postures then lie exactly on the manifold of the split of the velocities (partition). The remaining gap of the
    redundant rows comes from the file. Its digits are rounded (1e-8 to 2e-7), or the linkage over-constrains itself away from its
    drawn posture (the public Kangaroo's hip, up to 2 mm).

    Args:
        q: (..., nq) array, guesses; by default the file's posture.
        hold: sequence of str or "actuated", joints that stay where they are; "actuated": all motors. The base stays, too, unless
            loops tie it to the world.
        limits: Joints that move are kept within their limits.
        tolerance: float, m or rad: largest gap of independent constraint rows.
        redundant: float, m or rad: largest gap of redundant rows.
        strict: A posture that does not close is an error; otherwise `closed` is False for it.
        attempts: Random guesses for a posture that its own guess does not close; by default 24 for one posture, none for batches.
        branches: Finds up to so many different closures of one posture, all joints that the loops do not determine held.
        rng: Generator of the random guesses; reproducible without.
    Returns: Assembly. Postures in `q`; with `branches` the posture itself, then the other closures, nearest first.

    Raises:
        AssemblyError: With `strict`, for a posture that does not close.
        InputError: For wrong shapes, values that are not finite, and with `limits` a joint that is held outside of its limits.

    Examples:
        >>> leg = ff.linkages.extract_limb(ff.robots.kangaroo_like(), "left_sole")
        >>> guess = ff.configuration(leg, {"left_length_motor": 0.1})
        >>> found = ff.linkages.assemble(leg, guess, hold="actuated")
        >>> knee, motor = (float(found.q[leg.joint(f"left_{name}").iq]) for name in ("knee", "length_motor"))
        >>> print(f"motor at {motor:.1f} m, knee at {np.degrees(knee):.0f} degrees, loops open by {found.gap:.6f}")
        motor at 0.1 m, knee at 84 degrees, loops open by 0.000000
    """
    model = model.tree
    _check_numbers(tolerance=tolerance, redundant=redundant)
    guess = file_posture(model) if q is None else row(model, "q", q, "q")
    check_configuration(model, "q", guess, "q")
    lead = guess.shape[:-1]
    rng = np.random.default_rng(0) if rng is None else rng
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng must be a numpy.random.Generator (numpy.random.default_rng(seed)), got {type(rng).__name__}")
    if attempts is not None and (not isinstance(attempts, int | np.integer) or isinstance(attempts, bool) or attempts < 0):
        raise InputError(f"attempts must be a count of at least 0, got {format_value(attempts)}")
    if branches is not None:
        check_branches(branches, prod(lead))
    movable = movable_coordinates(model, hold)
    if not model.constraint_rows[0]:
        lead = lead if branches is None else (1,)
        q = guess.reshape(*lead, model.nq)
        return _make_assembly(model, q, np.zeros((*lead, 0)), np.zeros(lead, np.int64), None, tolerance, redundant)
    if limits:
        _check_held(model, guess, movable)
    rows = independent_or_all(model)
    tries = (0 if lead else ATTEMPTS) if attempts is None else attempts
    flat = guess.reshape(-1, model.nq)
    found, residual, steps = close_from(model, flat, movable, limits, rows)
    for k in range(tries):
        is_open = ~is_closed(residual, rows, tolerance, redundant)
        if not is_open.any():
            break
        fresh = fresh_guesses(model, len(found[is_open]), k, rng)
        again = next_guesses(model, fresh, flat[is_open], found[is_open], residual[is_open], movable, tolerance, redundant, rows)
        x, r, n = close_from(model, again, movable, limits, rows)
        better = np.linalg.norm(r, axis=1) < np.linalg.norm(residual[is_open], axis=1)
        where = np.flatnonzero(is_open)
        found[where[better]], residual[where[better]] = x[better], r[better]
        steps[where] += n
    if strict:
        _check_all_closed(model, flat, found, residual, rows, tolerance, redundant, movable, limits)
    if branches is not None:
        found, residual, steps = other_branches(
            model, found, residual, steps, branches, limits, lambda r: is_closed(r, rows, tolerance, redundant), rows, rng
        )
        lead = (len(found),)
    q, residual, steps = found.reshape(*lead, model.nq), residual.reshape(*lead, -1), steps.reshape(lead)
    return _make_assembly(model, q, residual, steps, rows, tolerance, redundant)


def movable_coordinates(model: Model, hold: str | Sequence[str] | None = None) -> np.ndarray:
    """Velocity coordinates that assembling may change, sorted."""
    s = structure(model)
    names = model.actuated if isinstance(hold, str) and hold == "actuated" else () if hold is None else hold
    if isinstance(names, str):
        raise InputError(f"hold is {hold!r}: expected a list of joint names, or 'actuated' for all motors", hold=hold)
    held = set(names)
    for name in held:
        if name not in model.joint_names:
            raise unknown_name("joint", name, model.joint_names)
    touched = set(np.concatenate([*s.coordinates, np.empty(0, np.int64)]).tolist())
    base = [j for j in s.base if j in touched]
    free = [int(j) for j in (*s.passive, *s.actuated, *base) if s.owner[j] not in held]
    return np.array(sorted(free), dtype=np.int64)


def _check_numbers(**numbers: float) -> None:
    for name, x in numbers.items():
        if not isinstance(x, int | float | np.floating) or not 0.0 < x < np.inf:
            raise InputError(f"{name} must be a positive number (m and rad), got {format_value(x)}")


def _check_held(model: Model, q: np.ndarray, movable: np.ndarray) -> None:
    """InputError for a joint that is held outside of its limits."""
    place, moves = q_of_v(model), set(movable.tolist())
    for joint in model.joints:
        for j in range(joint.iv, joint.iv + joint.nv):
            if j in moves or place[j] < 0:
                continue
            x, low, high = q[..., place[j]], model.position_lower[j], model.position_upper[j]
            beyond = np.asarray((x < low - 1e-9) | (x > high + 1e-9))
            if beyond.any():
                value = float(np.asarray(x)[beyond].ravel()[0])
                raise InputError(
                    f"joint {joint.name!r} is held at {value:.6g}, out of its range {low:g} to {high:g}: hold it within, or pass "
                    "limits=False",
                    joint=joint.name, value=value, lower=float(low), upper=float(high),
                )  # fmt: skip


def _make_assembly(
    model: Model, q: np.ndarray, residual: np.ndarray, steps: np.ndarray, rows: np.ndarray | None, tolerance: float,
    redundant: float,
) -> Assembly:  # fmt: skip
    gap, independent = gaps(residual, rows)
    names = np.array([*constraint_loops(model), ""])
    worst = names[np.argmax(np.abs(residual), axis=-1)] if residual.shape[-1] else np.full(residual.shape[:-1], "")
    closed = is_closed(residual, rows, tolerance, redundant)
    others = np.abs(residual if rows is None else np.delete(residual, rows, axis=-1)).max(axis=-1, initial=0.0)
    others = np.zeros_like(others) if rows is None else others
    if (closed & (others > WARNING_GAP)).any():
        at = np.unravel_index(int(np.argmax(np.where(closed, others, 0.0))), others.shape)
        warnings.warn(
            f"loop {str(worst[at] if np.ndim(worst) else worst)!r} of {model.name!r} stays open by {others[at]:.2g} (m or rad) in "
            "directions that others make redundant: its dimensions contradict each other by that much",
            OpenLoopWarning, stacklevel=4,
        )  # fmt: skip
    return Assembly(
        q=q.copy(), residual=residual, gap=gap[()], independent_gap=independent[()], redundant_gap=others[()],
        worst_loop=worst if np.ndim(worst) else str(worst), iterations=steps[()], closed=closed[()], tolerance=tolerance,
        redundant=redundant,
    )  # fmt: skip


def _check_all_closed(
    model: Model, guess: np.ndarray, q: np.ndarray, residual: np.ndarray, rows: np.ndarray | None, tolerance: float,
    redundant: float, movable: np.ndarray, limits: bool,
) -> None:  # fmt: skip
    closed = is_closed(residual, rows, tolerance, redundant)
    if closed.all():
        return
    at = int(np.argmax(np.where(closed, -1.0, np.abs(residual).max(axis=1))))
    worst = int(np.argmax(np.abs(residual[at])))
    loop = constraint_loops(model)[worst]
    where = "" if len(q) == 1 else f" in posture {at} of {len(q)} ({int((~closed).sum())} do not close; strict=False marks them)"
    s = structure(model)
    k = next(i for i, here in enumerate(s.rows) if worst in here)
    gap = float(np.linalg.norm(residual[at, s.rows[k]]))
    way = [s.owner[j] for j in s.coordinates[k] if j in set(movable.tolist())]
    moves = [set(c.tolist()) & set(movable.tolist()) for c in s.coordinates]
    together = next(members for members in groups(moves) if k in members)  # loops that share joints, directly or through others
    stuck = _at_limits(model, q[at], np.concatenate([s.coordinates[i] for i in together]), movable) if limits else []
    cause = f"; at their limits are {list_names(stuck)}" if stuck else ""
    cause = cause if way else "; every joint in the loop is held"
    raise AssemblyError(
        f"loop {loop!r} of {model.name!r} stays open by {gap:.3g} (m or rad){where}: no posture found from this guess closes "
        f"it{cause}. Hold fewer joints, move the held ones, start nearer, or widen limits or tolerance",
        loop=loop, gap=gap, index=at, q=q[at], residual=residual[at], joints=tuple(dict.fromkeys(way)),
    )  # fmt: skip


def _at_limits(model: Model, q: np.ndarray, coordinates: np.ndarray, movable: np.ndarray) -> list[str]:
    place, owner = q_of_v(model), structure(model).owner
    found = []
    for j in np.intersect1d(coordinates, movable):
        x = q[place[j]] if place[j] >= 0 else np.nan
        if x <= model.position_lower[j] + 1e-9 or x >= model.position_upper[j] - 1e-9:
            found.append(owner[j])
    return found
