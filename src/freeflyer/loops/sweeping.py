"""A closed robot moved by its motors over a grid of positions, all states of the grid together, by small closed steps.

Continuation keeps the assembly mode: every step starts from a closed neighbour, follows the tangent
dq_dependent = -J_lu^-1 J_la dq_motors (papers/000 (8)) and is closed by Newton's method on the independent rows. A state
counts only while every square block of the Jacobian keeps the sign of its determinant: beyond a singularity the same
motor positions belong to another assembly mode, or to none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.closed.constraints import constraints
from freeflyer.dynamics.closed.linkage import Linkage, linkage
from freeflyer.dynamics.manifold import integrate
from freeflyer.errors import InputError
from freeflyer.model.first_argument import of_model
from freeflyer.model.inputs import real_array
from freeflyer.model.model import Model

CLOSED = 1e-9  # m or rad: what Newton's method leaves open on the independent rows
CORRECTIONS = 6  # Newton steps before a state is given up
STEPS = 40  # steps over the whole range of an axis, at least
LONGEST = 0.2  # rad or m: no dependent coordinate may move further in one correction; it would jump to another mode


@dataclass(frozen=True)
class Sweep:
    """Closed postures over a grid of independent coordinates.

    names: the driven joints. values: for each its positions (n_k,), m or rad. q (n_1, ..., n_k, nq): the postures, NaN
    where there is none. reached (n_1, ..., n_k): whether continuation got there without crossing a singularity. gap (n_1,
    ..., n_k): m or rad, by how much the worst of *all* rows is open; rows that repeat others show here whether they agree.
    """

    names: tuple[str, ...]
    values: tuple[np.ndarray, ...]
    q: np.ndarray
    reached: np.ndarray
    gap: np.ndarray


@of_model
def sweep(
    model: Model, axes: Mapping[str, ArrayLike], q: ArrayLike | None = None,
    progress: Callable[[float], object] = lambda fraction: None,
) -> Sweep:  # fmt: skip
    """The closed postures for every combination of the motor positions in `axes` (name: (n,)), the others at rest.

    Starts from q (nq,), closed (without it: the file's posture, assembled). `progress` hears the fraction done. Errors:
    UnknownNameError; InputError for a joint that loops determine, or for positions that are not a row of finite numbers.
    """
    split = linkage(model, q)
    names = tuple(axes)
    values = tuple(_positions(model, split, name, axes[name]) for name in names)
    shape = tuple(len(x) for x in values)
    Q, reached = split.q.copy()[None], np.ones(1, bool)
    signs = block_signs(split, constraints(model, Q)[1])
    work = np.cumprod(shape) / np.cumprod(shape).sum()  # states that each axis adds
    for k, (name, x) in enumerate(zip(names, values)):
        heard = partial(_report, progress, float(work[:k].sum()), float(work[k]))
        Q, reached = _along(model, split, signs, name, x, Q, reached, heard)
    Q = Q.reshape(*shape, model.nq)
    reached = reached.reshape(shape)
    Q[~reached] = np.nan
    gap = np.full(shape, np.nan)
    if reached.any():
        gap[reached] = np.abs(constraints(model, Q[reached])[0]).max(axis=-1, initial=0.0)
    return Sweep(names, values, Q, reached, gap)


def step_closed(
    model: Model, split: Linkage, q: np.ndarray, dv: np.ndarray, signs: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(q (n, nq), fine (n,)): q (n, nq) moved by dv (n, nv) of independent coordinates, closed again in the same mode."""
    r, J = constraints(model, q)
    dv = dv.copy()
    for block in split.blocks:
        pull = np.einsum("nij,nj->ni", J[:, block.rows], dv)
        dv[:, block.dependent] = -_solve(J[:, block.rows[:, None], block.dependent], pull)
    q = integrate(model, q, dv)
    fine = np.isfinite(q).all(axis=-1)
    q[~fine] = split.q
    for _ in range(CORRECTIONS):
        r, J = constraints(model, q)
        r = r[:, split.rows]
        open_ = fine & (np.abs(r).max(axis=-1, initial=0.0) > CLOSED)
        if not open_.any():
            break
        back = np.zeros((int(open_.sum()), model.nv))
        full = np.zeros((len(back), J.shape[1]))
        full[:, split.rows] = r[open_]
        for block in split.blocks:
            A = J[np.ix_(open_, block.rows)][:, :, block.dependent]
            back[:, block.dependent] = -_solve(A, full[:, block.rows] + np.einsum(
                "nij,nj->ni", J[np.ix_(open_, block.rows)], back))  # fmt: skip
        wild = ~(np.abs(back).max(axis=-1) < LONGEST)
        back[wild] = 0.0
        q[open_] = integrate(model, q[open_], back)
        fine[np.flatnonzero(open_)[wild]] = False
    closed = np.abs(r).max(axis=-1, initial=0.0) <= CLOSED
    return q, fine & closed & (block_signs(split, J) == signs).all(axis=-1)


def _along(model, split, signs, name, x, Q, reached, progress):
    """Every state of Q (n, nq) taken to every position of one axis: ((n, len(x), nq) and (n, len(x)), flattened)."""
    joint = model.joint(name)
    start = float(Q[0, joint.iq])
    longest = max((max(x.max(), start) - min(x.min(), start)) / STEPS, 1e-12)
    out = np.empty((len(Q), len(x), model.nq))
    good = np.empty((len(Q), len(x)), bool)
    order = np.argsort(x, kind="stable")
    done = 0
    for side in (order[x[order] >= start], order[x[order] < start][::-1]):
        now, fine, at = Q.copy(), reached.copy(), start
        for i in side:
            for _ in range(count := max(1, int(np.ceil(abs(x[i] - at) / longest - 1e-9)))):
                if not fine.any():
                    break
                dv = np.zeros((int(fine.sum()), model.nv))
                dv[:, joint.iv] = (x[i] - at) / count
                moved, ok = step_closed(model, split, now[fine], dv, signs)
                now[np.flatnonzero(fine)[ok]] = moved[ok]
                fine[np.flatnonzero(fine)[~ok]] = False
            at = float(x[i])
            out[:, i], good[:, i] = now, fine
            done += 1
            progress(done / len(x))
    return out.reshape(-1, model.nq), good.reshape(-1)


def _report(progress: Callable[[float], object], before: float, share: float, done: float) -> None:
    progress(before + share * done)


def block_signs(split: Linkage, J: np.ndarray) -> np.ndarray:
    """(n, blocks): signs of the determinants of the square blocks."""
    if not split.blocks:
        return np.ones((len(J), 0))
    parts = [np.linalg.slogdet(J[:, b.rows[:, None], b.dependent])[0] for b in split.blocks]
    return np.stack(parts, axis=-1)


def _solve(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A^-1 b of each state (n, m); NaN for a state whose A is exactly singular."""
    try:
        return np.linalg.solve(A, b[..., None])[..., 0]
    except np.linalg.LinAlgError:
        bad = np.linalg.slogdet(A)[0] == 0.0
        out = np.full(b.shape, np.nan)
        out[~bad] = np.linalg.solve(A[~bad], b[~bad][..., None])[..., 0]
        return out


def _positions(model: Model, split: Linkage, name: str, given: ArrayLike) -> np.ndarray:
    joint = model.joint(name)
    x = real_array(f"positions of {name!r}", given)
    if x.ndim != 1 or not len(x) or not np.isfinite(x).all():
        raise InputError(
            f"positions of {name!r} must be a row of finite numbers; got shape {x.shape}", joint=name, shape=x.shape
        )
    if joint.nv != 1 or joint.mimic is not None:
        raise InputError(f"joint {name!r} ({joint.kind}) is no single coordinate that could be driven", joint=name)
    if joint.iv in split.dependent:
        free = [j.name for j in model.joints if j.nv == 1 and j.iv in split.independent]
        raise InputError(
            f"the loops determine joint {name!r} from the motors: drive one of {', '.join(free)}",
            joint=name,
            independent=free,
        )
    return x
