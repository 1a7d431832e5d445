"""Programs of both methods ("Reduced whole-body control", sections 3 and 4): the conventional one, LQP 1 and LQP 2.

A branch that contacts do not need acts on the other chains by its momentum alone: M_pu = P A, A (6, u) its columns of the
centroidal momentum matrix. So its accelerations appear in everything else only by s = A a_u, six numbers instead of u. A row of the
conventional program whose part over a_u is a row of A belongs to LQP 1, over (a_p, s, F); all others to LQP 2, over a_u with A a_u
= s, (30), where a_p and F are known."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from scipy.linalg import qr, solve_triangular

import freeflyer as ff
from freeflyer.control.chains import CENTROIDAL_ROWS
from freeflyer.control.problem import TOLERANCES, WholeBodyProblem, asked_of
from freeflyer.control.tasks import HARD
from freeflyer.kernels.control.layout import MOTOR_LIMITS
from freeflyer.kernels.entries import CONTROL_PROGRAM
from freeflyer.optimization.compiled import call
from freeflyer.optimization.hierarchy import Level, solve_hierarchy
from freeflyer_papers.reduced_wbc.robot import Stance

ROW_RATIO = 1e-9  # of a row: what of it is none of a branch's momentum, and counts as rounding
DEPENDENT = 1e-9  # of the largest direction of momentum: smaller ones are none
CENTROIDAL = "centroidal accelerations"


class Rows(namedtuple("Rows", "level name A lower upper weights equations torques", defaults=(False,))):
    """Rows lower <= A x <= upper of one thing: its level and name, weights of squares."""


class Lqp(namedtuple("Lqp", "rows H g")):
    """Rows by levels over x, and least 1/2 x^T H x + g^T x below them all."""

    def levels(self) -> list[Level]:
        """As solvers take them."""
        found = []
        for level in dict.fromkeys(rows.level for rows in self.rows):
            some = [rows for rows in self.rows if rows.level == level]
            found.append(Level(*(np.concatenate([getattr(x, part) for x in some]) for part in Level._fields)))
        return [level for level in found if len(level.lower)]

    def solve(self, solver: str) -> np.ndarray:
        """Its lexicographic optimum. Errors: SolverError."""
        levels = self.levels()
        L = np.linalg.cholesky(self.H)
        b = -solve_triangular(L, self.g, lower=True)
        for tolerance in TOLERANCES[1:]:
            try:
                return solve_hierarchy([*levels, Level(L.T, b, b)], solver=solver, tolerance=tolerance).x
            except ff.errors.SolverError:
                if tolerance == TOLERANCES[-1]:
                    raise
        raise AssertionError


class Split(namedtuple("Split", "first A own left")):
    """LQP 1, s = A a_u of the branches with mass matrix `own`, rows that are left for LQP 2."""


def conventional_program(problem: WholeBodyProblem, q: np.ndarray, v: np.ndarray) -> Lqp:
    """All rows over all accelerations and contact forces."""
    program, numbers = asked_of(problem, q, v, "full")
    found = call(CONTROL_PROGRAM, program.sizes, q, v, np.zeros(problem.model.nv), numbers)
    if found is None:
        raise ff.errors.NumericalError("the terms of the state are not finite")
    A, lower, upper, H, g = found[:5]
    rows, at = [], 0
    for piece in program.pieces:
        part = slice(at, at + piece.rows)
        torques = piece.kind == MOTOR_LIMITS
        of_rows = A[part], lower[part], upper[part], program.weights[part]
        rows.append(Rows(piece.level, piece.name, *of_rows, piece.equations, torques))
        at += piece.rows
    return Lqp(tuple(rows), H, g)


def split_program(problem: WholeBodyProblem, q: np.ndarray, whole: Lqp) -> Split:
    """LQP 1, and what is left."""
    p, u, n = problem.chains.kept, problem.chains.unconstrained, problem.model.nv
    A, W = _compress(problem, q, whole.H)
    k, r = len(whole.g) - n, len(A)
    own = whole.H[np.ix_(u, u)]
    P = whole.H[np.ix_(p, u)] @ W
    H = np.zeros((len(p) + r + k, len(p) + r + k))
    H[: len(p), : len(p)], H[: len(p), len(p) : len(p) + r] = whole.H[np.ix_(p, p)], P
    H[len(p) : len(p) + r, : len(p)], H[len(p) : len(p) + r, len(p) : len(p) + r] = P.T, np.eye(r)
    H[len(p) + r :, len(p) + r :] = whole.H[n:, n:]
    first, left = [], []
    for rows in whole.rows:
        K = rows.A[:, u] @ W
        left_over, whole_size = np.linalg.norm(rows.A[:, u] - K @ A, axis=1), np.linalg.norm(rows.A, axis=1)
        stay = np.asarray(left_over > ROW_RATIO * whole_size)
        if not rows.equations:  # limits of branches that are not compressed belong to them, too
            stay = np.asarray(np.isin(problem.driven, u) if rows.torques else rows.A[:, u].any(axis=1))
        first.append(_chosen(rows, ~stay)._replace(A=np.hstack([rows.A[:, p], K, rows.A[:, n:]])[~stay]))
        left.append(_chosen(rows, stay))
    g = np.concatenate([whole.g[p], W.T @ whole.g[u], whole.g[n:]])
    return Split(Lqp(tuple(first), H, g), A, own, tuple(left))


def second_program(problem: WholeBodyProblem, whole: Lqp, split: Split, x: np.ndarray) -> Lqp:
    """LQP 2, the answer x of LQP 1 being known."""
    p, u, n = problem.chains.kept, problem.chains.unconstrained, problem.model.nv
    s = x[len(p) : len(p) + len(split.A)]
    known = np.zeros(len(whole.g))
    known[p], known[n:] = x[: len(p)], x[len(p) + len(split.A) :]
    rows = []
    for part in split.left:
        shift = part.A @ known
        rows.append(part._replace(A=part.A[:, u], lower=part.lower - shift, upper=part.upper - shift))
    hard = sum(part.level in HARD for part in rows)
    rows.insert(hard, Rows(CENTROIDAL, CENTROIDAL, split.A, s, s, np.ones(len(s)), equations=True))
    return Lqp(tuple(rows), split.own, whole.g[u] + whole.H[u] @ known)


def with_centroidal(problem: WholeBodyProblem, split: Split, s: np.ndarray) -> Split:
    """The same, LQP 1 with s as branches can have it, before all tasks."""
    at = len(problem.chains.kept)
    J = np.eye(len(split.first.g))[at : at + len(s)]
    rows = Rows(CENTROIDAL, CENTROIDAL, J, s, s, np.ones(len(s)), equations=True)
    hard = sum(x.level in HARD for x in split.first.rows)
    return split._replace(first=split.first._replace(rows=(*split.first.rows[:hard], rows, *split.first.rows[hard:])))


def _chosen(rows: Rows, which: np.ndarray) -> Rows:
    return rows._replace(A=rows.A[which], lower=rows.lower[which], upper=rows.upper[which], weights=rows.weights[which])


def _compress(problem: WholeBodyProblem, q: np.ndarray, M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A (r, u) of s = A a_u and W (u, r), its inverse of least energy. Branches of more than six velocities by their momentum,
    others by themselves.

    Momentum that a branch cannot have, as arms that hang straight, is left out: with M = L L^T, and Q an orthonormal basis of the
    columns of L^-1 A_G^T, A is Q^T L^T, and the inertia of s is 1."""
    loose, momentum, blocks = problem.chains.unconstrained, ff.centroidal_momentum_matrix(problem.model, q), []
    for branch in problem.chains.branches:
        L = np.linalg.cholesky(M[np.ix_(branch, branch)])
        Q = np.eye(len(branch))
        if len(branch) > CENTROIDAL_ROWS:
            Q, R, _ = qr(solve_triangular(L, momentum[:, branch].T, lower=True), mode="economic", pivoting=True)
            size = np.abs(np.diag(R))
            Q = Q[:, size > DEPENDENT * size.max()]
        blocks.append((np.searchsorted(loose, branch), Q.T @ L.T, solve_triangular(L, Q, lower=True, trans=1)))
    r, at = sum(len(A) for _, A, _ in blocks), 0
    whole, inverse = np.zeros((r, len(loose))), np.zeros((len(loose), r))
    for places, A, W in blocks:
        whole[at : at + len(A), places], inverse[places, at : at + len(A)] = A, W
        at += len(A)
    return whole, inverse


PROGRAMS = ("conventional", "LQP 1", "LQP 2")
VARIABLES = "decision variables"
WORDS = {
    "dynamics": "dynamics", "TorqueLimits": "torque limits", "contacts": "contacts", "AccelerationLimits": "acceleration limits",
    "CenterOfMassTask": "centre of mass", "FrameOrientationTask": "pelvis orientation", "FramePoseTask": "end effectors",
    "centroidal accelerations": "centroidal accelerations"}  # fmt: skip
# (priority, rows): n joints, c contacts, k end effectors, m = n_r, which Table 2 must mean as joints of the constraint chain + 6,
# u = n_uc
PAPER = {
    "conventional": {
        "dynamics": (1, "6"), "torque limits": (1, "2 n"), "contacts": (2, "6 c"), "cones": (2, "10 c"),
        "acceleration limits": (2, "2 n"), "centre of mass": (3, "3"), "pelvis orientation": (3, "3"), "end effectors": (4, "6 k"),
        VARIABLES: (0, "n + 6 + 6 c")},
    "LQP 1": {
        "dynamics": (1, "6"), "torque limits": (1, "2 m"), "contacts": (2, "6 c"), "cones": (2, "10 c"),
        "acceleration limits": (2, "2 m"), "centre of mass": (3, "3"), "pelvis orientation": (3, "3"),
        VARIABLES: (0, "m + 6 + 6 c")},
    "LQP 2": {
        "centroidal accelerations": (1, "6"), "torque limits": (1, "2 u"), "end effectors": (2, "6 k"),
        "acceleration limits": (2, "2 u"), VARIABLES: (0, "u")}}  # fmt: skip


class Count(namedtuple("Count", "support program rows level ours equations paper_level formula paper")):
    """Rows of one kind in one program, inequalities by their finite sides; levels from 1 on, 0 for variables. `formula`: the
    paper's, `paper` its number for this robot; `equations`: whether ours are."""


def counts(st: Stance) -> tuple[Count, ...]:
    """Sizes of the conventional program and both reduced ones."""
    chains = st.problem.chains
    numbers = {"n": st.problem.model.nv - 6, "c": st.contacts, "k": st.ends, "m": len(chains.constraint) + 6,
        "u": len(chains.unconstrained)}  # fmt: skip
    found = []
    for name, program in zip(PROGRAMS, programs(st)):
        ours = _rows(program)
        for what, (level, formula) in PAPER[name].items():
            own_level, count, equations = ours.pop(what)
            paper = _value(formula, numbers)
            found.append(Count(st.support, name, what, own_level, count, equations, level, formula, paper))
        assert not ours, f"rows that the paper's {name} does not have: {list(ours)}"
    return tuple(found)


def programs(st: Stance) -> tuple[Lqp, Lqp, Lqp]:
    """The conventional program and both reduced ones at the posture, at rest; of the second one only the numbers in its rows depend
    on what the first one's answer is, here zero."""
    whole = conventional_program(st.problem, st.q, np.zeros(st.problem.model.nv))
    split = split_program(st.problem, st.q, whole)
    return whole, split.first, second_program(st.problem, whole, split, np.zeros(len(split.first.g)))


def _rows(p: Lqp) -> dict[str, tuple[int, int, bool]]:
    """(level, rows, whether they are equations) by their word, and the number of variables."""
    found: dict[str, tuple[int, int, bool]] = {VARIABLES: (0, len(p.g), False)}
    kept = [rows for rows in p.rows if len(rows.A)]
    levels = list(dict.fromkeys(rows.level for rows in kept))
    for rows in kept:
        k = levels.index(rows.level) + 1
        _, before, _ = found.get(_word(rows), (k, 0, rows.equations))
        sides = len(rows.A) if rows.equations else int(np.isfinite(rows.lower).sum() + np.isfinite(rows.upper).sum())
        found[_word(rows)] = (k, before + sides, rows.equations)
    return found


def _word(rows: Rows) -> str:
    return "cones" if rows.name.endswith(" cone") else WORDS[rows.name.partition("(")[0]]


def _value(formula: str, numbers: dict[str, int]) -> int:
    """Value of a sum of terms such as "6 c", "n" or "6"."""
    return sum(int(np.prod([numbers[x] if x in numbers else int(x) for x in term.split()])) for term in formula.split(" + "))
