"""Whole-body control in two parts, papers/003 sections 3 and 4: the contacts' chains with the momentum of the rest, then the rest.

A branch that contacts do not need acts on the other chains by its momentum alone: M_pu = P A, A (6, u) its columns of the
centroidal momentum matrix. So its accelerations appear in everything else only by s = A a_u, six numbers instead of u:

    first   x = (a_p, s, F), inertia [[M_pp, P], [P^T, (A M_uu^-1 A^T)^-1]], which is (14a); tasks whose rows are rows of (a_p, s),
            and of others what no motion with the same s changes
    then    x = a_u with A a_u = s, (30); a_p is known; all other tasks, by their levels

Limits of the branches go before (30). What they take away from it returns to the first part as an equation for s.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular

from freeflyer.control.assembly import Assembly
from freeflyer.control.motions import Motion
from freeflyer.control.parts import CENTROIDAL_ROWS, Parts, SplitLimit, split_limit
from freeflyer.control.task_rows import TaskRows, stacked
from freeflyer.kernels.control.layout import LEAST_MOMENTUM, LEAST_ROW, ROWS_LEFT, SPLITS
from freeflyer.kernels.entries import SPLIT_BY_CHAINS
from freeflyer.model.frozen import frozen_array
from freeflyer.optimization.compiled import Sizes, call, sizes_table
from freeflyer.tolerances import (
    BRANCH_DIRECTION_RATIO,
    CENTROIDAL_ROW_RATIO,
    CLEAR_DIRECTION_RATIO,
    DEPENDENT_DIRECTION_RATIO,
)

ABOVE_ALL = -1  # the level of (30), before those of tasks


class Split(NamedTuple):
    """A motion in two parts: the first part's, over (a_p, s); s = A a_u, of the branches with mass matrix `own`; tasks and limits
    that are left for the second part, tasks with rows (m, n) of all accelerations."""

    first: Motion
    A: np.ndarray
    own: np.ndarray
    tasks: tuple[tuple[TaskRows, np.ndarray], ...]
    limits: tuple[tuple[str, SplitLimit], ...]


class _Reduced(NamedTuple):
    """Energy metric (N, N) and sloped (N,) over (a_p, s), contacts fixed (k, N), rows of tasks (t, N); s = A a_u; mass matrix of
    the branches, rows of the tasks over a_u, which of these are left (t,)."""

    metric: np.ndarray
    sloped: np.ndarray
    fixed: np.ndarray
    rows: np.ndarray
    A: np.ndarray
    own: np.ndarray
    rest: np.ndarray
    left: np.ndarray


def split_motion(s: Assembly, m: Motion) -> Split:
    """The first part over alpha = (a_p, s), and what is left."""
    parts = s.problem.parts
    found = _clearly_split(s, m, parts)
    forced: list[TaskRows] = []
    if found is None:
        found, forced = _carefully_split(s, m, parts)
    p, is_left = len(parts.kept), found.left.tolist()
    tasks, left, at = [], [], 0
    for task in m.tasks:
        name, level, J, b, weights = task
        end = at + len(b)
        if not any(is_left[at:end]):
            tasks.append(TaskRows(name, level, found.rows[at:end], b, weights))
        elif all(is_left[at:end]):
            left.append((TaskRows(name, level, found.rest[at:end], b, weights), J))
        else:
            chosen = found.left[at:end]
            tasks.append(_chosen(task, found.rows[at:end], ~chosen))
            left.append((_chosen(task, found.rest[at:end], chosen), J[chosen]))
        at = end
    limits = [(name, split_limit(rows, parts, len(found.A))) for name, rows in m.limits]
    first = Motion(
        found.metric[:p], m.h[parts.kept], found.fixed[:, :p], found.fixed, m.drift, None, found.metric, found.sloped, parts.first,
        (*tasks, *forced), tuple([(name, x.first) for name, x in limits if x.first is not None]),
    )  # fmt: skip
    return Split(first, found.A, found.own, tuple(left), tuple(limits))


def second_part(s: Assembly, m: Motion, split: Split, a_p: np.ndarray, target: np.ndarray, tau_p: np.ndarray) -> Motion:
    """The accelerations of the branches, those of the other chains and the centroidal ones being known."""
    parts = s.problem.parts
    u, a = parts.loose, np.zeros(len(m.h))  # of the kept chains alone
    a[parts.kept] = a_p
    coupling = (s.M @ a)[u]
    centroidal = TaskRows("centroidal accelerations", ABOVE_ALL, split.A, target, _ones(len(target)))
    tasks = [TaskRows(x.name, x.level, x.J, x.b - rows @ a, x.weights) for x, rows in split.tasks]
    limits = [(name, rows) for name, limit in split.limits if (rows := limit.second_with(tau_p, a_p)) is not None]
    none = np.zeros((0, len(u)))
    return Motion(
        split.own, m.h[u] + coupling, none, none, np.zeros(0), None, split.own, m.linear[u] + coupling, parts.second,
        (centroidal, *tasks), tuple(limits),
    )  # fmt: skip


def with_centroidal(first: Motion, target: np.ndarray) -> Motion:
    """The first part with s as it can be had, before all tasks."""
    n = first.inertia.shape[1]
    J = np.eye(n)[n - len(target) :]
    rows = TaskRows("centroidal accelerations that branches reach", ABOVE_ALL, J, target, np.ones(len(target)))
    return first._replace(tasks=(rows, *first.tasks))


@lru_cache(maxsize=64)
def _ones(n: int) -> np.ndarray:
    return frozen_array(np.ones(n))


def _clearly_split(s: Assembly, m: Motion, parts: Parts) -> _Reduced | None:
    """By compiled code; None where branches are near postures in which they cannot move in all directions that tasks ask for."""
    J, _ = stacked(m.tasks, len(m.h))
    sizes = _sizes(len(m.h), len(m.J), len(J), parts)
    momentum = s.at.terms.centroidal_momentum_matrix
    found = call(SPLIT_BY_CHAINS, sizes, m.linear, s.M.ravel(), momentum.ravel(), m.J.ravel(), J.ravel())
    if found is None:
        return None
    verdicts = found[-1]
    if verdicts[: max(LEAST_MOMENTUM, LEAST_ROW) + 1].min() < CLEAR_DIRECTION_RATIO:
        return None
    metric, sloped, fixed, rows, A, own, rest, _ = found
    return _Reduced(metric, sloped, fixed, rows, A, own, rest, verdicts[ROWS_LEFT:] > CENTROIDAL_ROW_RATIO**2)


@lru_cache(maxsize=64)
def _sizes(n: int, contacts: int, tasks: int, parts: Parts) -> Sizes:
    p, u, r = len(parts.kept), len(parts.loose), parts.compressed
    table = [n, 6 * n, n * n, contacts, contacts * n, tasks, tasks * n, p, u, r, p + r, tasks + ROWS_LEFT, len(parts.branches)]
    return sizes_table(SPLITS, [*table, *parts.table], max(n, p + tasks + 8, tasks), (CENTROIDAL_ROW_RATIO**2,))


def _carefully_split(s: Assembly, m: Motion, parts: Parts) -> tuple[_Reduced, list[TaskRows]]:
    """By orthonormal bases, without directions that branches do not have; and rows of errors that the second part cannot reduce."""
    p, u = parts.kept, parts.loose
    A, W = _compress(s, parts)
    metric, own = np.eye(len(p) + len(A)), s.M[np.ix_(u, u)]
    metric[: len(p), : len(p)] = s.M[np.ix_(p, p)]
    metric[: len(p), len(p) :] = P = s.M[np.ix_(p, u)] @ W
    metric[len(p) :, : len(p)] = P.T
    J, _ = stacked(m.tasks, len(m.h))
    rest = J[:, u]
    K = rest @ W
    left = np.linalg.norm(rest - K @ A, axis=1) > CENTROIDAL_ROW_RATIO * np.linalg.norm(J, axis=1)
    found = _Reduced(
        metric, np.concatenate([m.linear[p], W.T @ m.linear[u]]), np.hstack([m.J[:, p], np.zeros((len(m.J), len(A)))]),
        np.hstack([J[:, p], K]), A, own, rest, left,
    )  # fmt: skip
    some, at = [], 0
    for task in m.tasks:
        chosen = left[at : at + len(task.b)]
        if chosen.any():
            some.append((_chosen(task, task.J[:, u], chosen), task.J[chosen][:, p]))
        at += len(task.b)
    return found, _forced(some, A, W)


def _compress(s: Assembly, parts: Parts) -> tuple[np.ndarray, np.ndarray]:
    """A (r, u) of s = A a_u and W (u, r), its inverse of least energy. Branches of more than six velocities by their momentum,
    others by themselves.

    Momentum that a branch cannot have, as arms that hang straight, is left out: with M = L L^T, and Q an orthonormal basis of the
    columns of L^-1 A_G^T, A is Q^T L^T, and the inertia of s is 1.
    """
    blocks = []
    for places in parts.branches:
        branch = parts.loose[places]
        L = np.linalg.cholesky(s.M[np.ix_(branch, branch)])
        Q = np.eye(len(branch))
        if len(branch) > CENTROIDAL_ROWS:
            momentum = solve_triangular(L, s.at.terms.centroidal_momentum_matrix[:, branch].T, lower=True)
            Q, R, _ = qr(momentum, mode="economic", pivoting=True, check_finite=False)
            size = np.abs(np.diag(R))
            Q = Q[:, size > DEPENDENT_DIRECTION_RATIO * size.max()]
        blocks.append((places, Q.T @ L.T, solve_triangular(L, Q, lower=True, trans=1)))
    r, u = sum(len(A) for _, A, _ in blocks), len(parts.loose)
    whole, inverse, at = np.zeros((r, u)), np.zeros((u, r)), 0
    for places, A, W in blocks:
        whole[at : at + len(A), places] = A
        inverse[places, at : at + len(A)] = W
        at += len(A)
    return whole, inverse


def _forced(left: list[tuple[TaskRows, np.ndarray]], A: np.ndarray, W: np.ndarray) -> list[TaskRows]:
    """Rows over (a_p, s) of errors that the second part cannot reduce: level by level, all motions with this s that the levels
    above leave free, a_u = G (a_p, s) + g + N z, have no effect on these combinations of rows.

    Where a posture of all joints is the last level and no limit is active, both parts then give the optimum of one program.
    """
    found: list[TaskRows] = []
    if not left:
        return found
    u, r = W.shape
    kept = left[0][1].shape[1]
    G, g = np.hstack([np.zeros((u, kept)), W]), np.zeros(u)
    N = np.asarray(qr(A.T, check_finite=False)[0][:, r:])
    levels = sorted({task.level for task, _ in left})
    for level in levels:
        some = [(task, known, np.sqrt(task.weights)) for task, known in left if task.level == level]
        J = np.concatenate([w[:, None] * task.J for task, _, w in some])
        R, e = J @ G, np.concatenate([w * task.b for task, _, w in some]) - J @ g
        terms = np.abs(J) @ np.abs(G)
        own = np.concatenate([w[:, None] * known for _, known, w in some])
        R[:, :kept] += own
        terms[:, :kept] += np.abs(own)
        U, size, V = np.linalg.svd(J @ N)
        rank = int((size > BRANCH_DIRECTION_RATIO * np.linalg.norm(J)).sum())
        C = U[:, rank:].T
        C = C[np.linalg.norm(C @ R, axis=1) > CENTROIDAL_ROW_RATIO * (np.abs(C) @ np.linalg.norm(terms, axis=1))]
        if len(C):  # the others are errors that no motion of the first part changes
            name = " and ".join([task.name for task, _, _ in some])
            found.append(TaskRows(f"{name}, as far as branches cannot", level, C @ R, C @ e, np.ones(len(C))))
        if level != levels[-1]:
            step = N @ V[:rank].T @ (U[:, :rank] / size[:rank]).T
            G, g, N = G - step @ R, g + step @ e, N @ V[rank:].T
    return found


def _chosen(task: TaskRows, J: np.ndarray, rows: np.ndarray) -> TaskRows:
    return TaskRows(task.name, task.level, J[rows], task.b[rows], task.weights[rows])
