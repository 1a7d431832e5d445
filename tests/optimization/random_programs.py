"""Random quadratic programs whose answers are known, for they are made from them: minimum, contradiction or direction of descent.

A minimum is chosen first: x, the limits that hold it, their multipliers; g then follows from H x + g + C^T y = 0. Variables and
rows are scaled by factors between 1/30 and 30 afterwards.
"""

import numpy as np
from dataclasses import dataclass

KINDS = ("feasible", "degenerate", "infeasible", "unbounded")


@dataclass(frozen=True)
class Known:
    """Arguments of solve_qp and what is known: x (the only minimum, or None), the value there, or a kind without answer."""

    kind: str
    arguments: dict[str, np.ndarray | None]
    x: np.ndarray | None
    value: float | None


def known(rng: np.random.Generator, kind: str) -> Known:
    return {"feasible": _feasible, "degenerate": _degenerate, "infeasible": _infeasible, "unbounded": _unbounded}[kind](rng)


def _sizes(rng: np.random.Generator) -> tuple[int, int, int, bool]:
    n = int(rng.integers(2, 21))
    m = int(rng.integers(1, 31))
    return n, m, int(rng.integers(0, max(1, min(n, m) // 2 + 1))), bool(rng.integers(2))


def _hessian(rng: np.random.Generator, n: int, rank: int) -> np.ndarray:
    J = rng.standard_normal((rank, n)) * 10.0 ** rng.uniform(-0.5, 0.5, (rank, 1))
    return J.T @ J


def _minimum(rng, H, C, b, equal, active, zero=0.0):
    """Limits, multipliers and g that make a random x the minimum with so many `active` inequalities; share `zero` of them weak."""
    n, rows = len(H), len(C)
    x = rng.standard_normal(n)
    value = C @ x
    lower, upper = value - rng.uniform(0.1, 2.0, rows), value + rng.uniform(0.1, 2.0, rows)
    lower[rng.random(rows) < 0.3] = -np.inf
    upper[rng.random(rows) < 0.3] = np.inf
    y = np.zeros(rows)
    fixed = np.zeros(rows, bool)
    fixed[b + equal] = True
    lower[fixed] = upper[fixed] = value[fixed]
    y[fixed] = rng.standard_normal(fixed.sum())
    for i in active:
        if fixed[i]:
            continue
        strength = 0.0 if rng.random() < zero else rng.uniform(0.1, 2.0)
        if rng.random() < 0.5:
            upper[i], y[i] = value[i], strength
        else:
            lower[i], y[i] = value[i], -strength
    return x, lower, upper, y, -(H @ x + C.T @ y)


def _scaled(rng, kind, H, g, A, lower, upper, b, x=None, value=None, unique=True) -> Known:
    """The same program in other units: x = D z, rows times R, objective times a factor."""
    n, m = len(H), len(A)
    D, R, c = 30.0 ** rng.uniform(-1, 1, n), 30.0 ** rng.uniform(-1, 1, m), 30.0 ** rng.uniform(-1, 1)
    a = {"H": c * D[:, None] * H * D, "g": c * g * D, "A": R[:, None] * A * D, "lower": lower[b:] * R, "upper": upper[b:] * R}
    a["x_lower"], a["x_upper"] = (lower[:b] / D, upper[:b] / D) if b else (None, None)
    a["H"] = (a["H"] + a["H"].T) / 2
    return Known(kind, a, None if x is None or not unique else x / D, None if value is None else c * value)


def _rows(n, A, bounds):
    return (np.vstack((np.eye(n), A)), n) if bounds else (A, 0)


def _feasible(rng) -> Known:
    n, m, e, bounds = _sizes(rng)
    H = _hessian(rng, n, n + 2)
    A = rng.standard_normal((m, n))
    C, b = _rows(n, A, bounds)
    active = rng.choice(len(C), size=int(rng.integers(0, min(n, len(C)) - e + 1)), replace=False)
    x, lower, upper, _, g = _minimum(rng, H, C, b, np.arange(e), active)
    return _scaled(rng, "feasible", H, g, A, lower, upper, b, x, 0.5 * x @ H @ x + g @ x)


def _degenerate(rng) -> Known:
    """Active rows that depend on each other, equalities given twice, weak multipliers, singular H."""
    n, m, e, bounds = _sizes(rng)
    rank = int(rng.integers(0, n + 1))
    H = _hessian(rng, n, rank) if rank else np.zeros((n, n))
    A = rng.standard_normal((m, n))
    copies = rng.integers(0, m, int(rng.integers(1, m + 1)))
    A = np.vstack((A, A[copies] * rng.uniform(0.5, 2.0, (len(copies), 1)) * rng.choice([-1, 1], (len(copies), 1))))
    if m > 2:
        A = np.vstack((A, A[0] + A[1], A[1] - A[2]))
    C, b = _rows(n, A, bounds)
    active = rng.choice(len(C), size=int(rng.integers(1, len(C) + 1)), replace=False)
    twice = m + np.flatnonzero(copies < e)
    x, lower, upper, y, g = _minimum(rng, H, C, b, np.concatenate((np.arange(e), twice)).astype(int), active, zero=0.3)
    strong = C[np.abs(y) > 0]
    unique = np.linalg.matrix_rank(np.vstack((H, strong))) == n
    return _scaled(rng, "degenerate", H, g, A, lower, upper, b, x, 0.5 * x @ H @ x + g @ x, unique)


def _infeasible(rng) -> Known:
    """A row that is a combination of others, with limits that the others exclude by a gap."""
    n, m, e, bounds = _sizes(rng)
    rank = n if rng.random() < 0.5 else int(rng.integers(1, n + 1))
    A = rng.standard_normal((m, n))
    C, b = _rows(n, A, bounds)
    x, lower, upper, _, _ = _minimum(rng, _hessian(rng, n, rank), C, b, np.arange(e), ())
    used = rng.choice(len(C), size=int(rng.integers(1, min(len(C), n + 1) + 1)), replace=False)
    weights = rng.uniform(0.2, 2.0, len(used)) * np.where(np.isfinite(upper[used]), 1.0, -1.0)
    closed = np.isfinite(np.where(weights > 0, upper[used], lower[used]))
    used, weights = used[closed], weights[closed]
    if not len(used):
        used, weights = np.array([b]), np.array([1.0])
        upper[b] = C[b] @ x + 1.0
    most = weights @ np.where(weights > 0, upper[used], lower[used])
    A = np.vstack((A, weights @ C[used]))
    at_least = most + 10.0 ** rng.uniform(-2, 1)
    lower, upper = np.append(lower, at_least), np.append(upper, at_least if rng.random() < 0.2 else np.inf)
    return _scaled(rng, "infeasible", _hessian(rng, n, rank), rng.standard_normal(n), A, lower, upper, b)


def _unbounded(rng) -> Known:
    """A direction d without curvature along which every limit is moved away from, and g^T d < 0."""
    n, m, e, bounds = _sizes(rng)
    d = rng.standard_normal(n)
    d[rng.random(n) < 0.3] = 0.0
    d = d / np.linalg.norm(d) if d.any() else np.eye(n)[0]
    away = np.eye(n) - np.outer(d, d)
    J = rng.standard_normal((int(rng.integers(1, n + 2)), n)) @ away
    A = rng.standard_normal((m, n))
    e = min(e, n - 1)
    A[:e] = A[:e] @ away
    C, b = _rows(n, A, bounds)
    _, lower, upper, _, _ = _minimum(rng, J.T @ J, C, b, np.arange(e), ())
    moves = C @ d
    equal = np.zeros(len(C), bool)
    equal[b : b + e] = True
    upper[(moves > 0) & ~equal] = np.inf
    lower[(moves < 0) & ~equal] = -np.inf
    g = rng.standard_normal(n)
    g -= d * (g @ d + rng.uniform(0.1, 2.0))
    return _scaled(rng, "unbounded", J.T @ J, g, A, lower, upper, b)
