"""Table 3: counted operations of inverse dynamics; times of section 6 on serial arms."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

import freeflyer as ff
from freeflyer.analysis.checks.laws import States, random_states
from freeflyer.analysis.timing.results import threads, time_interleaved
from freeflyer.formulations.methods import gauss_terms, inverse_dynamics as inverse_dynamics_by
from freeflyer_papers.counting import CountingScalar, Operations, count
from freeflyer.kernels.model import layout as L
from freeflyer.progress import Progress
from freeflyer_papers.dual_quaternion.agreements import gauss_as_printed, serial_arm
from freeflyer_papers.printed.newton_euler import Body, joint_wrenches, product

FIRST = 3  # joints: shorter arms lack links in the middle
PAPER = {
    "dqNE": ("882 n - 48", "724 n - 40"), "classic NE [65]": ("150 n - 48", "131 n - 48"),
    "dqGP": ("4 n^3 + 386 n^2 + 401 n", "16/3 n^3 + 326 n^2 + 908/3 n"), "classic EL [66]": ("412 n - 277", "320 n - 201"),
}  # fmt: skip
Counter = Callable[[int], Operations]


class Count(namedtuple("Count", "line algorithm joints multiplications additions paper")):
    """Operations of an algorithm for a serial arm of n joints: coefficients of n^3, n^2, n, 1, exact for all n from 3 on.

    `line`: of Table 3; `paper`: what it prints there, (multiplications, additions), empty for our own lines."""


class Timing(namedtuple("Timing", "n newton_euler rnea pinocchio gauss batch")):
    """Times for one state of a serial arm of n joints, us. newton_euler, gauss: dqNE and dqGP of the paper. rnea: our inverse
    dynamics. pinocchio: Pinocchio's, None without it. batch: dqNE a state of a batch, one thread."""


def counts() -> tuple[Count, ...]:
    """Every line of Table 3: as printed, ours for any joint and for revolute joints alone."""
    return (_line("dqNE", "as printed, 8 entries", "any", printed_newton_euler, 1),
        _line("dqNE", "ours", "any, 6 DoF each", _ours("dq_newton_euler", "6-DoF", straight), 1, own=True),
        _line("dqNE", "ours", "any screw", _ours("dq_newton_euler", "helical", straight), 1, own=True),
        _line("dqNE", "ours", "revolute", _ours("dq_newton_euler", "revolute", units), 1, own=True),
        _line("classic NE [65]", "our RNEA, vectors", "any screw", _ours("rnea", "helical", straight), 1),
        _line("classic NE [65]", "our RNEA, vectors", "revolute", _ours("rnea", "revolute", units), 1, own=True),
        _line("dqGP", "as printed, 8 entries, full matrices", "any screw", printed_gauss, 3),
        _line("dqGP", "ours", "any screw", _ours("gauss", "helical", straight), 3, own=True),
        _line("dqGP", "ours", "revolute", _ours("gauss", "revolute", units), 3, own=True),
        _line("classic EL [66]", "3 x 3 recursion, full matrices", "revolute", lagrange, 1),
        _line("classic EL [66]", "the same, W Z by products", "revolute",
            lambda n: lagrange(n, lambda W, zero: W.dot(np.full((3, 3), zero))), 1))  # fmt: skip


def straight(model: ff.Model) -> set[int]:
    """Parameters of a serial arm that are known: no link branches, so that no joint has an azimuth."""
    turns = [L.BODIES + L.BODY_FLOATS * i + L.ROTATION for i in range(int(model.topology[L.N_BODIES]) + 1)]
    return {at + k for at in turns if model.parameters[at + 3] == 0.0 for k in (0, 3)}


def units(model: ff.Model) -> set[int]:
    """All parameters that are 0, 1 or -1: those of revolute joints, whose turn is 1 and slide 0."""
    return {k for k, p in enumerate(model.parameters) if p in (0.0, 1.0, -1.0)}


def _ours(name: str, kind: str, known: Callable[[ff.Model], Collection[int]]) -> Counter:
    def counted(n: int) -> Operations:
        model = serial_arm(n, kind)
        return count(name, model, known=known(model))

    return counted


def _line(line: str, algorithm: str, joints: str, counter: Counter, degree: int, own: bool = False) -> Count:
    n = range(FIRST, FIRST + degree + 4)
    found = [counter(k) for k in n]
    return Count(line, algorithm, joints, polynomial(n, [x.multiplications for x in found], degree),
        polynomial(n, [x.additions for x in found], degree), ("", "") if own else PAPER[line])  # fmt: skip


def polynomial(n: Collection[int], values: Collection[int], degree: int) -> tuple[float, ...]:
    """Coefficients of n^3, n^2, n, 1 of the polynomial through all values; ValueError if there is none of that degree."""
    found = [Fraction(c).limit_denominator(1000) for c in np.polyfit(list(n), list(values), degree)]
    if [sum(c * x**k for k, c in enumerate(reversed(found))) for x in n] != list(values):
        raise ValueError(f"counts {list(values)} at {list(n)} are no polynomial of degree {degree}")
    return (0.0,) * (3 - degree) + tuple(float(c) for c in found)


def printed_newton_euler(n: int) -> Operations:
    """Section 3 as printed, with the poses of the links from those of the joints, and (30) by products of dual quaternions."""
    x = CountingScalar(Operations())
    full, tensor = np.array([x] * 8), np.full((3, 4), x)
    bodies = [Body(k - 1, full, product(full, full), full, full, x, tensor) for k in range(n)]
    for wrench in joint_wrenches(bodies, np.array([x] * 3)):
        _ = (product(wrench, full) + product(full, wrench)) * -0.5
    return x.operations


def printed_gauss(n: int) -> Operations:
    """Section 4 as printed: M, C and g."""
    x = CountingScalar(Operations())
    full = np.array([x] * 8)
    gauss_as_printed([Body(-1, full, full, full, full, x, np.full((3, 4), x))] * n, np.array([x] * n), np.array([x] * 3))
    return x.operations


def lagrange(n: int, times: Callable[[np.ndarray, Any], np.ndarray] | None = None) -> Operations:
    """The recursion of [66]; times: W Z from W and a zero, if columns do not change places."""
    x = CountingScalar(Operations())
    three, nine, row = np.array([x] * 3), np.full((3, 3), x), np.array([x] * n)
    recursive_lagrange([Link(nine, three, x, three, nine)] * n, row, row, row, row, three, times or times_z)
    return x.operations


Array = np.ndarray


class Link(namedtuple("Link", "rotation origin mass first second")):
    """rotation (3, 3) and origin (3,) of the frame in its parent at q = 0; mass, first (3,) and second moment (3, 3), sum m y y^T,
    about the origin."""


def times_z(W: Array, zero: Any) -> Array:
    """W Z: columns change places."""
    return np.stack([W[:, 1], -W[:, 0], np.full(3, zero)], axis=1)


def recursive_lagrange(links: Sequence[Link], sines: Array, cosines: Array, v: Array, a: Array, gravity: Array,
                       times: Callable[[Array, Any], Array] = times_z) -> Array:  # fmt: skip
    """tau (n,), from sines and cosines of q and its rates."""
    zero = 0 * v[0]
    W, dW, ddW, acceleration = np.full((3, 3), zero), np.full((3, 3), zero), np.full((3, 3), zero), -gravity
    A, rotations, matrices, accelerations = [], [], [], []
    for k, link in enumerate(links):
        P, s, c = link.rotation, sines[k], cosines[k]
        A.append(np.stack([P[:, 0] * c + P[:, 1] * s, P[:, 1] * c - P[:, 0] * s, P[:, 2]], axis=1))  # P Rz
        if k:
            acceleration, moved = acceleration + ddW.dot(link.origin), dW.dot(A[k])
            W = W.dot(A[k])
            WZ = times(W, zero)
            twice = times(moved, zero) * (2 * v[k]) + times(WZ, zero) * (v[k] * v[k])
            dW, ddW = moved + WZ * v[k], ddW.dot(A[k]) + twice + WZ * a[k]
        else:
            W = A[k]
            WZ = times(W, zero)
            dW, ddW = WZ * v[k], times(WZ, zero) * (v[k] * v[k]) + WZ * a[k]
        rotations.append(WZ)
        matrices.append(ddW)
        accelerations.append(acceleration)
    tau: list[Any] = []
    e, D = np.full(3, zero), np.full((3, 3), zero)
    for k in reversed(range(len(links))):
        link, ddW, acceleration, WZ = links[k], matrices[k], accelerations[k], rotations[k]
        own = np.outer(link.first, acceleration) + link.second.dot(ddW.T)
        force = acceleration * link.mass + ddW.dot(link.first)
        last = k + 1 == len(links)
        D = own if last else own + A[k + 1].dot(D) + np.outer(links[k + 1].origin, e)
        e = force if last else e + force
        tau.append(WZ[:, 0].dot(D[0]) + WZ[:, 1].dot(D[1]))  # tr(W Z D): column 2 of W Z is zero
    return np.array(tau[::-1])


SIZES = (6, 10, 20, 50, 100)
PAPER_SIZE, PAPER_NEWTON_EULER, PAPER_GAUSS = 50, 1.9e3, 37e3  # us: the authors' estimate for C++
BLOCKS, BLOCK_SECONDS, BATCH = 15, 0.01, 4096


def timings(progress: Progress, sizes: tuple[int, ...]) -> tuple[tuple[Timing, ...], str]:
    """Medians of blocks of calls, taken in turn, one state each, on one thread; and the peer's name, or why there is none."""
    found, peer = [], ""
    with threads(1):
        for n in sizes:
            progress(0.0, f"times of {n} joints")
            model = serial_arm(n)
            states = random_states(model, BATCH, 1)
            one, many = (states.q[0], states.v[0], states.a[0]), (states.q, states.v, states.a)
            calls: list[Callable[[], object]] = [partial(inverse_dynamics_by, model, *one, by="dual_quaternion"),
                partial(ff.inverse_dynamics, model, *one), partial(gauss_terms, model, *one[:2]),
                partial(inverse_dynamics_by, model, *many, by="dual_quaternion")]  # fmt: skip
            theirs, peer = _pinocchio(model, states)
            newton_euler, rnea, gauss, batch, *pinocchio = time_interleaved(calls + theirs, BLOCKS, BLOCK_SECONDS)
            found.append(Timing(n, newton_euler, rnea, pinocchio[0] if theirs else None, gauss, batch / BATCH))
    return tuple(found), peer


def _pinocchio(model: ff.Model, states: States) -> tuple[list[Callable[[], object]], str]:
    """RNEA on the URDF of the arm, whose joints are in one order in both."""
    try:
        import pinocchio as pin
    except ImportError:
        return [], "Pinocchio is not installed: pip install 'freeflyer[peers]'"
    theirs, q, v, a = pin.buildModelFromXML(ff.to_urdf(model)), states.q[0], states.v[0], states.a[0]
    data = theirs.createData()
    return [lambda: pin.rnea(theirs, data, q, v, a)], f"Pinocchio {pin.__version__}"
