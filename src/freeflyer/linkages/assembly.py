"""Assembling a linkage: from any guess to a posture in which every loop is closed (kernels/linkages/assembly.py)."""

from __future__ import annotations

import warnings
from collections import namedtuple
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer import tolerances as T
from freeflyer.dynamics import difference, integrate
from freeflyer.errors import AssemblyError, InputError, LinkageError, OpenLoopWarning
from freeflyer.linkages.closure import check_range, close, q_of_v
from freeflyer.linkages.partition import movable_joints, reference
from freeflyer.linkages.refusals import list_names
from freeflyer.linkages.rows import constraint_loops, groups, structure
from freeflyer.model import Model, check_configuration, file_posture, positive, public, random_configuration, row, whole_number
from freeflyer.spatial._check import generator

ATTEMPTS = 24  # guesses at random for one posture that its own guess did not close
Found = tuple[np.ndarray, np.ndarray, np.ndarray]  # postures (n, nq), residuals (n, r), steps (n,)


@dataclass(frozen=True)
class Assembly:
    """Closed postures, and the remaining gaps of their loops.

    Attributes:
        q, residual: (..., nq) and (..., r) array, or (found, ...) with `branches`; gaps of the rows, m or rad
            (constraint_residual).
        gap, independent_gap, redundant_gap: (...) float, largest entry of |residual|, m or rad: of all, independent and redundant
            rows. Rounded or contradictory dimensions leave the latter open (beyond 1e-5: OpenLoopWarning).
        worst_loop, iterations: (...) str and int, the most open loop; steps taken.
        closed: (...) bool; whether independent rows are within `tolerance` and the others within `redundant`."""

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
def assemble(model: Model, q: ArrayLike | None = None, *, hold: str | Sequence[str] | None = None, limits: bool = True,
             tolerance: float = T.CLOSED_GAP, redundant: float = T.REDUNDANT_ROW_GAP, strict: bool = True,
             attempts: int | None = None, branches: int | None = None,
             rng: np.random.Generator | None = None) -> Assembly:
    """Closed postures near guesses of the configuration.

    Damped Newton steps first close all rows as well as possible, then the independent rows of the linkage to the last digit.
    The remaining gap of the redundant rows comes from the file. Its digits are rounded (1e-8 to 2e-7), or the linkage
    over-constrains itself away from its drawn posture (the public Kangaroo's hip, up to 2 mm).

    Args:
        q: (..., nq) array, guesses; by default the file's posture.
        hold: Joints that stay, or "actuated" (all motors). The base stays, too, unless loops tie it to the world.
        limits: Joints that move are kept within their limits.
        tolerance, redundant: float, m or rad: largest gaps of independent and of redundant rows.
        strict: A posture that does not close is an error; otherwise `closed` is False for it.
        attempts: Random guesses for a posture that its own does not close; by default 24 for one posture, none for batches.
        branches: Finds up to so many closures of one posture, the joints that the loops do not determine held.
        rng: Generator of the random guesses; reproducible without.
    Returns: Assembly; with `branches` the posture itself, then the other closures, nearest first.
    Raises: AssemblyError with `strict` for a posture that does not close; InputError with `limits` for a joint held outside of
    its own."""
    model = model.tree
    tolerance, redundant = positive("tolerance", tolerance), positive("redundant", redundant)
    guess = file_posture(model) if q is None else row(model, "q", q, "q")
    check_configuration(model, "q", guess, "q")
    lead = guess.shape[:-1]
    rng = np.random.default_rng(0) if rng is None else generator(rng)
    tries = (0 if lead else ATTEMPTS) if attempts is None else whole_number("attempts", attempts, 0)
    if branches is not None and whole_number("branches", branches, 1) and prod(lead) != 1:
        raise InputError(f"branches are found of one posture, got {prod(lead)}")
    movable, flat = movable_coordinates(model, hold), guess.reshape(-1, model.nq)
    lead = lead if branches is None else (1,)
    if not model.constraint_rows[0]:
        task = _Task(model, movable, limits, None, tolerance, redundant)
        return task.assembly((flat, np.zeros((len(flat), 0)), np.zeros(len(flat), np.int64)), lead)
    if limits:
        place = q_of_v(model)
        held = np.setdiff1d(np.flatnonzero(place >= 0), movable)
        check_range(model, held, guess[..., place[held]], "joint {!r} is held", "hold it within, or pass limits=False")
    task = _Task(model, movable, limits, independent_or_all(model), tolerance, redundant)
    found, residual, steps = task.close(flat, movable)
    for k in range(tries):
        at = np.flatnonzero(~task.is_closed(residual))
        if not len(at):
            break
        fresh = _fresh_guesses(model, len(at), k, rng)
        x, r, n = task.close(task.next_guesses(fresh, flat[at], found[at], residual[at]), movable)
        better = np.linalg.norm(r, axis=1) < np.linalg.norm(residual[at], axis=1)
        found[at[better]], residual[at[better]] = x[better], r[better]
        steps[at] += n
    if strict:
        task.check_all_closed(found, residual)
    if branches is not None:
        found, residual, steps = task.branches((found, residual, steps), branches, rng)
        lead = (len(found),)
    return task.assembly((found, residual, steps), lead)


def independent_or_all(model: Model) -> np.ndarray | None:
    """The independent rows, or None where the linkage has no split (it may still be assembled: all rows count then)."""
    try:
        return reference(model).rows
    except LinkageError:
        return None


def movable_coordinates(model: Model, hold: str | Sequence[str] | None = None) -> np.ndarray:
    """Velocity coordinates that assembling may change, sorted."""
    s = structure(model)
    names = model.actuated if isinstance(hold, str) and hold == "actuated" else () if hold is None else hold
    if isinstance(names, str):
        raise InputError(f"hold is {hold!r}: expected a list of joint names, or 'actuated' for all motors", hold=hold)
    held = set(names)
    for name in held:
        model.joint(name)
    return np.array(sorted(int(j) for j in movable_joints(s) if s.owner[j] not in held), dtype=np.int64)


class _Task(namedtuple("_Task", "model movable limits rows tolerance redundant")):
    """Postures to close: by the coordinates `movable`, within limits if `limits`; the independent rows (None: all count as such)
    within `tolerance` and the others within `redundant` count as closed."""

    def gaps(self, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Largest entries (...): of all rows, of the independent ones."""
        gap = np.abs(residual)
        return gap.max(axis=-1, initial=0.0), (gap if self.rows is None else gap[..., self.rows]).max(axis=-1, initial=0.0)

    def is_closed(self, residual: np.ndarray) -> np.ndarray:
        gap, independent = self.gaps(residual)
        return (independent <= self.tolerance) & (gap <= max(self.redundant, self.tolerance))

    def close(self, q: np.ndarray, movable: np.ndarray) -> Found:
        """All rows closed, then, for postures that came near, the independent ones."""
        if self.rows is None or len(self.rows) == self.model.constraint_rows[0]:
            return close(self.model, q, movable, self.limits)
        found = close(self.model, q, movable, self.limits, enough=T.MAX_REMAINING_STEP)
        near = np.abs(found.residual).max(axis=1) < 2.0 * T.REDUNDANT_ROW_GAP
        if near.any():
            again = close(self.model, found.q[near], movable, self.limits, self.rows)
            found.q[near], found.residual[near] = again.q, again.residual
            found.steps[near] += again.steps
        return found

    def next_guesses(self, fresh: np.ndarray, guess: np.ndarray, found: np.ndarray, residual: np.ndarray) -> np.ndarray:
        """Next guesses: groups of loops that are closed stay as found, the joints of the others start from `fresh`."""
        s, moves, next_guess = structure(self.model), set(self.movable.tolist()), found.copy()
        touched = [set(c.tolist()) & moves for c in s.coordinates]
        independent = np.arange(self.model.constraint_rows[0]) if self.rows is None else self.rows
        for members in groups(touched):
            here = np.concatenate([s.rows[k] for k in members])
            strict = np.abs(residual[:, np.intersect1d(here, independent)]).max(axis=1, initial=0.0)
            gap = np.abs(residual[:, here]).max(axis=1)
            is_open = (gap > max(self.redundant, self.tolerance)) | (strict > self.tolerance)
            columns = set().union(*(touched[k] for k in members))
            for joint in self.model.joints:
                if joint.nv and columns & set(range(joint.iv, joint.iv + joint.nv)):
                    at = slice(joint.iq, joint.iq + joint.nq)
                    if joint.kind == "free":  # a base tied to the world: the place of its guess, any attitude
                        at = slice(joint.iq + 3, joint.iq + 7)
                        next_guess[is_open, joint.iq : joint.iq + 3] = guess[is_open, joint.iq : joint.iq + 3]
                    next_guess[is_open, at] = fresh[is_open, at]
        return next_guess

    def branches(self, known: Found, count: int, rng: np.random.Generator) -> Found:
        """Up to `count` closures of the one posture `known`, which comes first, nearest first.

        From many guesses at random of the joints that the loops determine; all others stay as they are."""
        model, dependent = self.model, reference(self.model).dependent
        q, residual, steps = known
        guesses, moves = np.repeat(q, max(32, 16 * count), axis=0), set(dependent.tolist())
        random = random_configuration(model, rng, len(guesses))
        for joint in model.joints:
            if joint.nq and joint.nv and set(range(joint.iv, joint.iv + joint.nv)) <= moves:
                guesses[:, joint.iq : joint.iq + joint.nq] = random[:, joint.iq : joint.iq + joint.nq]
        found, open_by, taken = self.close(guesses, dependent)
        good = np.flatnonzero(self.is_closed(open_by))
        chosen = [(q[0], residual[0], int(steps[0]))]
        for k in good[np.argsort(_distances(model, q[0], found[good]))]:
            apart = min(float(_distances(model, x, found[k])) for x, _, _ in chosen)
            if len(chosen) < count and apart > T.MIN_DISTANCE:
                chosen.append((found[k], open_by[k], int(taken[k])))
        x, r, n = (np.array(part) for part in zip(*chosen))
        return x, r, n

    def check_all_closed(self, q: np.ndarray, residual: np.ndarray) -> None:
        model, closed, moves = self.model, self.is_closed(residual), set(self.movable.tolist())
        if closed.all():
            return
        at = int(np.argmax(np.where(closed, -1.0, np.abs(residual).max(axis=1))))
        worst = int(np.argmax(np.abs(residual[at])))
        loop, s = constraint_loops(model)[worst], structure(model)
        many = f" in posture {at} of {len(q)} ({int((~closed).sum())} do not close; strict=False marks them)"
        k = next(i for i, here in enumerate(s.rows) if worst in here)
        gap = float(np.linalg.norm(residual[at, s.rows[k]]))
        way = [s.owner[j] for j in s.coordinates[k] if j in moves]
        tied = groups([set(c.tolist()) & moves for c in s.coordinates])
        together = next(members for members in tied if k in members)  # loops that share joints, directly or through others
        stuck = self._at_limits(q[at], np.concatenate([s.coordinates[i] for i in together])) if self.limits else []
        cause = f"; at their limits are {list_names(stuck)}" if stuck else ""
        cause = cause if way else "; every joint in the loop is held"
        raise AssemblyError(
            f"loop {loop!r} of {model.name!r} stays open by {gap:.3g} (m or rad){many if len(q) > 1 else ''}: no posture found "
            f"from this guess closes it{cause}. Hold fewer joints, move the held ones, start nearer, or widen limits or tolerance",
            loop=loop, gap=gap, index=at, q=q[at], residual=residual[at], joints=tuple(dict.fromkeys(way)))

    def _at_limits(self, q: np.ndarray, coordinates: np.ndarray) -> list[str]:
        model, place, owner = self.model, q_of_v(self.model), structure(self.model).owner
        positions = {j: q[place[j]] if place[j] >= 0 else np.nan for j in np.intersect1d(coordinates, self.movable)}
        low, high = model.position_lower + 1e-9, model.position_upper - 1e-9
        return [owner[j] for j, x in positions.items() if x <= low[j] or x >= high[j]]

    def assembly(self, found: Found, lead: tuple[int, ...]) -> Assembly:
        q, residual, steps = (x.reshape((*lead, *x.shape[1:])) for x in found)
        gap, independent = self.gaps(residual)
        names = np.array([*constraint_loops(self.model), ""])
        worst = names[np.argmax(np.abs(residual), axis=-1)] if residual.shape[-1] else np.full(residual.shape[:-1], "")
        closed, others = self.is_closed(residual), np.zeros(residual.shape[:-1])
        if self.rows is not None:
            others = np.abs(np.delete(residual, self.rows, axis=-1)).max(axis=-1, initial=0.0)
        if (closed & (others > T.WARNING_GAP)).any():
            at = np.unravel_index(int(np.argmax(np.where(closed, others, 0.0))), others.shape)
            warnings.warn(
                f"loop {str(worst[at] if np.ndim(worst) else worst)!r} of {self.model.name!r} stays open by {others[at]:.2g} (m or "
                "rad) in directions that others make redundant: its dimensions contradict each other by that much",
                OpenLoopWarning, stacklevel=4)
        return Assembly(q.copy(), residual, gap[()], independent[()], others[()],
                        worst if np.ndim(worst) else str(worst), steps[()], closed[()], self.tolerance, self.redundant)


def _fresh_guesses(model: Model, count: int, k: int, rng: np.random.Generator) -> np.ndarray:
    """Postures (count, nq) to try next: a closed one that is known, then by turns ones around it and ones anywhere."""
    if k % 2:
        return random_configuration(model, rng, count)
    try:
        known = reference(model).q
    except LinkageError:
        return random_configuration(model, rng, count)
    return integrate(model, known, T.GUESS_SPREAD * k * rng.standard_normal((count, model.nv)))


def _distances(model: Model, q: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(...): how far postures (..., nq) are from q (nq,), turning joints taken modulo a full turn."""
    dv = difference(model, q, others)
    turning = [j.iv for j in model.joints if j.kind in ("revolute", "continuous") and j.nv]
    dv[..., turning] -= 2.0 * np.pi * np.round(dv[..., turning] / (2.0 * np.pi))
    return np.asarray(np.linalg.norm(dv, axis=-1))
