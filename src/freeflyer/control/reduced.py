"""Whole-body control in two parts, papers/003 sections 3 and 4: the contacts' chains with the momentum of the rest, then the rest.

A branch that contacts do not need acts on the other chains by its momentum alone: M_pu = P A, A (6, u) its columns of the
centroidal momentum matrix. So its accelerations appear in everything else only by s = A a_u, six numbers instead of u:

    first   x = (a_p, s, F), inertia [[M_pp, P], [P^T, (A M_uu^-1 A^T)^-1]], which is (14a); tasks whose rows are rows of (a_p, s),
            and of others what no motion with the same s changes
    then    x = a_u with A a_u = s, (30); a_p is known; all other tasks, by their levels

Limits of the branches go before (30). What they take away from it returns to the first part as an equation for s.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular

from freeflyer.control.assembly import Assembly
from freeflyer.control.chains import Chains
from freeflyer.control.limits import LimitRows
from freeflyer.control.motions import Motion
from freeflyer.control.task_rows import TaskRows
from freeflyer.tolerances import BRANCH_DIRECTION_RATIO, CENTROIDAL_ROW_RATIO, DEPENDENT_DIRECTION_RATIO

CENTROIDAL_ROWS = 6  # to which larger branches are compressed
ABOVE_ALL = -1  # the level of (30), before those of tasks


class Branches(NamedTuple):
    """All branches together: A (r, u) of s = A a_u, block by block; W (u, r) its inverse of least energy, A W = 1; the energy
    s^T inertia s / 2 of branches that move with s.

    Rows of A span those of the centroidal momentum matrix, and are scaled so that the inertia is 1."""

    A: np.ndarray
    W: np.ndarray
    inertia: np.ndarray


class Split(NamedTuple):
    """A motion in two parts: the first part's, and which rows of tasks and limits are left for the second."""

    first: Motion
    branches: Branches
    tasks: tuple[tuple[TaskRows, np.ndarray], ...]
    limits: tuple[tuple[str, LimitRows, np.ndarray], ...]


def compress(s: Assembly, chains: Chains) -> Branches:
    """Branches of more than six velocities by their momentum, others by themselves.

    Momentum that a branch cannot have, as arms that hang straight, is left out: with M = L L^T, and Q an orthonormal basis of the
    columns of L^-1 A_G^T, A is Q^T L^T.
    """
    order = {int(j): k for k, j in enumerate(chains.unconstrained)}
    blocks = []
    for branch in chains.branches:
        L = np.linalg.cholesky(s.M[np.ix_(branch, branch)])
        Q = np.eye(len(branch))
        if len(branch) > CENTROIDAL_ROWS:
            momentum = solve_triangular(L, s.at.terms.centroidal_momentum_matrix[:, branch].T, lower=True)
            Q, R, _ = qr(momentum, mode="economic", pivoting=True, check_finite=False)
            size = np.abs(np.diag(R))
            Q = Q[:, size > DEPENDENT_DIRECTION_RATIO * size.max()]
        places = np.array([order[int(j)] for j in branch], int)
        blocks.append((places, Q.T @ L.T, solve_triangular(L, Q, lower=True, trans=1)))
    r, u = sum(len(A) for _, A, _ in blocks), len(chains.unconstrained)
    whole = Branches(np.zeros((r, u)), np.zeros((u, r)), np.eye(r))
    at = 0
    for places, A, W in blocks:
        rows = slice(at, at + len(A))
        whole.A[rows, places] = A
        whole.W[places, rows] = W
        at += len(A)
    return whole


def split_motion(s: Assembly, m: Motion, chains: Chains) -> Split:
    """The first part over alpha = (a_p, s), and what is left."""
    p, u, branches = chains.kept, chains.unconstrained, compress(s, chains)
    P = s.M[np.ix_(p, u)] @ branches.W
    inertia = np.hstack([s.M[np.ix_(p, p)], P])
    metric = np.vstack([inertia, np.hstack([P.T, branches.inertia])])
    linear = np.concatenate([m.linear[p], branches.W.T @ m.linear[u]])
    place = {int(j): k for k, j in enumerate(p)}
    free = np.array([place[int(j)] for j in m.free], int)
    motors = np.array([int(j) in place for j in m.driven], bool)
    driven = np.array([place[int(j)] for j in m.driven[motors]], int)
    J = np.hstack([m.J[:, p], np.zeros((len(m.J), len(branches.A)))])
    tasks, left_tasks = [], []
    for task in m.tasks:
        K = task.J[:, u] @ branches.W
        left = np.linalg.norm(task.J[:, u] - K @ branches.A, axis=1) > CENTROIDAL_ROW_RATIO * np.linalg.norm(task.J, axis=1)
        if not left.all():
            tasks.append(_part(task, np.hstack([task.J[:, p], K]), ~left))
        if left.any():
            left_tasks.append((_part(task, task.J[:, u], left), task.J[left][:, p]))
    tasks += _forced(left_tasks, branches)
    limits, left_limits = [], []
    for name, rows in m.limits:
        if rows.space == "force":
            limits.append((name, rows))
            continue
        columns = (motors, ~motors) if rows.space == "torque" else (p, u)
        mine, theirs = rows.A[:, columns[0]], rows.A[:, columns[1]]
        left = np.asarray(theirs.any(axis=1))
        wide = mine if rows.space == "torque" else np.hstack([mine, np.zeros((len(mine), len(branches.A)))])
        if not left.all():
            limits.append((name, _chosen(rows, wide, ~left)))
        if left.any():
            left_limits.append((name, _chosen(rows, theirs, left), mine[left]))
    first = Motion(
        inertia, m.h[p], m.force_map[:, p], J, m.drift, None, metric, linear, free, driven, tuple(tasks), tuple(limits)
    )  # fmt: skip
    return Split(first, branches, tuple(left_tasks), tuple(left_limits))


def second_part(s: Assembly, m: Motion, chains: Chains, split: Split, a_p: np.ndarray, target: np.ndarray,
                tau_p: np.ndarray) -> Motion:  # fmt: skip
    """The accelerations of the branches, those of the other chains and the centroidal ones being known."""
    p, u, branches = chains.kept, chains.unconstrained, split.branches
    coupling = s.M[np.ix_(u, p)] @ a_p
    centroidal = TaskRows("centroidal accelerations", ABOVE_ALL, branches.A, target, np.ones(len(target)))
    tasks = [task._replace(b=task.b - rest @ a_p) for task, rest in split.tasks]
    limits = []
    for name, rows, rest in split.limits:
        known = rest @ (tau_p if rows.space == "torque" else a_p)
        limits.append((name, rows._replace(lower=rows.lower - known, upper=rows.upper - known)))
    own = s.M[np.ix_(u, u)]
    place = {int(j): k for k, j in enumerate(u)}
    driven = np.array([place[int(j)] for j in m.driven if int(j) in place], int)
    none = np.zeros((0, len(u)))
    return Motion(
        own, m.h[u] + coupling, none, none, np.zeros(0), None, own, m.linear[u] + coupling, np.zeros(0, int), driven,
        (centroidal, *tasks), tuple(limits),
    )  # fmt: skip


def with_centroidal(first: Motion, target: np.ndarray) -> Motion:
    """The first part with s as it can be had, before all tasks."""
    n = first.inertia.shape[1]
    J = np.eye(n)[n - len(target) :]
    rows = TaskRows("centroidal accelerations that branches reach", ABOVE_ALL, J, target, np.ones(len(target)))
    return first._replace(tasks=(rows, *first.tasks))


def _forced(left: list[tuple[TaskRows, np.ndarray]], branches: Branches) -> list[TaskRows]:
    """Rows over (a_p, s) of errors that the second part cannot reduce: level by level, all motions with this s that the levels
    above leave free, a_u = G (a_p, s) + g + N z, have no effect on these combinations of rows.

    Where a posture of all joints is the last level and no limit is active, both parts then give the optimum of one program.
    """
    found: list[TaskRows] = []
    if not left:
        return found
    u, r = branches.W.shape
    kept = left[0][1].shape[1]
    G, g = np.hstack([np.zeros((u, kept)), branches.W]), np.zeros(u)
    N = np.asarray(qr(branches.A.T, check_finite=False)[0][:, r:])
    levels = sorted({task.level for task, _ in left})
    for level in levels:
        some = [(task, known, np.sqrt(task.weights)) for task, known in left if task.level == level]
        J = np.concatenate([w[:, None] * task.J for task, _, w in some])
        R, e = J @ G, np.concatenate([w * task.b for task, _, w in some]) - J @ g
        R[:, :kept] += np.concatenate([w[:, None] * known for _, known, w in some])
        U, size, V = np.linalg.svd(J @ N)
        rank = int((size > BRANCH_DIRECTION_RATIO * np.linalg.norm(J)).sum())
        C = U[:, rank:].T
        if len(C):
            name = " and ".join([task.name for task, _, _ in some])
            found.append(TaskRows(f"{name}, as far as branches cannot", level, C @ R, C @ e, np.ones(len(C))))
        if level != levels[-1]:
            step = N @ V[:rank].T @ (U[:, :rank] / size[:rank]).T
            G, g, N = G - step @ R, g + step @ e, N @ V[rank:].T
    return found


def _part(task: TaskRows, J: np.ndarray, rows: np.ndarray) -> TaskRows:
    return task if rows.all() and J is task.J else TaskRows(task.name, task.level, J[rows], task.b[rows], task.weights[rows])


def _chosen(rows: LimitRows, A: np.ndarray, chosen: np.ndarray) -> LimitRows:
    names = tuple([name for name, kept in zip(rows.names, chosen) if kept])
    return LimitRows(rows.space, names, A[chosen], rows.lower[chosen], rows.upper[chosen], rows.contact)
