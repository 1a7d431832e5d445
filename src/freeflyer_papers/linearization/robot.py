"""A robot like that of the geometric linearisation paper, Fig 4: branched, on a moving base, with revolute, prismatic and helical
joints.

The figure shows the topology, not the numbers, so masses, lengths and axes are ours; (b) of the figure, all joints at 0.3, and a
base that moves, is the state of all checks. Below it the results: plain data, shown by `tables` and `pictures`."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable

import numpy as np

import freeflyer as ff
from freeflyer.kernels import plain
from freeflyer.model import WORLD, Description, Inertia, Joint, Link
from freeflyer.robots._parts import box
from freeflyer_papers.printed import geometric

POSITION = 0.3  # of every joint, m or rad
PITCH = 0.1  # m/rad, of helical joints
SHAPE = (  # joint i carries body i: kind, parent body, where on it (m), axis, and the body's far end (m)
    ("revolute", 0, (0.2, 0.0, 0.0), (0.0, 1.0, 0.0), (0.3, 0.0, 0.0)),
    ("prismatic", 1, (0.3, 0.0, 0.0), (1.0, 0.0, 0.0), (0.3, 0.0, 0.0)),
    ("helical", 2, (0.3, 0.0, 0.0), (1.0, 0.0, 0.2), (0.1, 0.0, 0.0)),
    ("revolute", 3, (0.1, 0.12, 0.0), (0.0, 0.3, 1.0), (0.2, 0.25, 0.0)),
    ("prismatic", 3, (0.1, -0.12, 0.0), (0.2, -1.0, 0.0), (0.1, -0.25, 0.0)),
    ("helical", 0, (-0.2, 0.0, 0.0), (0.0, 0.0, 1.0), (-0.3, 0.0, 0.0)),
    ("revolute", 6, (-0.3, 0.0, 0.0), (0.0, 1.0, 0.0), (-0.3, 0.0, 0.0)),
    ("prismatic", 7, (-0.3, -0.12, 0.0), (-0.3, 0.0, 1.0), (0.0, 0.0, 0.3)),
    ("helical", 7, (-0.3, 0.12, 0.0), (0.0, 1.0, 0.0), (-0.1, 0.3, 0.0)),
    ("revolute", 0, (0.0, 0.2, 0.0), (1.0, 0.0, 0.0), (0.0, 0.35, 0.0)))
BASE_SIZE, BASE_MASS, BODY_MASS, RADIUS = (0.4, 0.4, 0.2), 5.0, 0.8, 0.04
BASE_POSITION, BASE_TURN = (0.1, -0.2, 0.5), (0.4, -0.7, 1.1)  # m; rotation vector, rad


class State(namedtuple("State", "q v a tau")):
    """q (nq,), v, a, tau (nv,) with tau the forces that give a."""


def branched_robot() -> ff.Model:
    """Ten bodies on a floating base: nv = 16."""
    links, joints = [Link("base", box(BASE_MASS, BASE_SIZE))], [Joint("root_joint", "free", WORLD, "base")]
    for i, (kind, parent, at, axis, end) in enumerate(SHAPE, start=1):
        placement = np.eye(4)
        placement[:3, 3] = at
        links.append(Link(f"body_{i}", _rod(np.array(end))))
        joints.append(Joint(f"{kind}_{i}", kind, "base" if parent == 0 else f"body_{parent}", f"body_{i}", placement,
            np.array(axis) / np.linalg.norm(axis), pitch=PITCH if kind == "helical" else 0.0))  # fmt: skip
    return ff.build(Description("branched", tuple(links), tuple(joints)))


def perturbed_state(model: ff.Model) -> State:
    """All joints at 0.3, a turned and moving base; velocities and accelerations random, but always the same."""
    rng = np.random.default_rng(2)
    q = np.full(model.nq, POSITION)
    q[:3], q[3:7] = BASE_POSITION, ff.spatial.quaternion.exp(np.array(BASE_TURN))
    v, a = rng.uniform(-1.0, 1.0, (2, model.nv))
    return State(q, v, a, ff.inverse_dynamics(model, q, v, a))


def _rod(end: np.ndarray) -> Inertia:
    """A cylinder from the joint to `end`."""
    length = float(np.linalg.norm(end))
    along = np.outer(end, end) / length**2
    across = BODY_MASS * (3.0 * RADIUS**2 + length**2) / 12.0
    return Inertia(BODY_MASS, 0.5 * end, across * (np.eye(3) - along) + 0.5 * BODY_MASS * RADIUS**2 * along)


def skeleton(model: ff.Model, q: np.ndarray) -> np.ndarray:
    """(bodies + 1, 2, 3): where each body's joint and far end are in the world; the base first, as a point."""
    ends = [(0.0, 0.0, 0.0), *(end for *_, end in SHAPE)]
    poses = [ff.frame_pose(model, q, name) for name in ("base", *(f"body_{i}" for i in range(1, len(ends))))]
    return np.array([(X[:3, 3], X[:3, :3] @ end + X[:3, 3]) for X, end in zip(poses, ends, strict=True)])


DURATION, STEPS = 0.3, 60  # s
SIZES = np.logspace(-1.0, -4.0, 7)
SMALL = 0.02  # perturbations from here on show the second order alone


def predict(model: ff.Model, state: State) -> Prediction:
    """Along the motion under constant tau, a perturbation of pose, velocity and torque: remainder of its linear prediction."""
    rng, nv, h = np.random.default_rng(6), model.nv, DURATION / STEPS
    z = rng.standard_normal(2 * nv)
    u = rng.standard_normal(nv)
    z, u = z / np.linalg.norm(z), u / np.linalg.norm(u)
    sizes = np.concatenate([[0.0], SIZES])[:, None]
    q, v = ff.integrate(model, state.q, sizes * z[:nv]), state.v + sizes * z[nv:]
    tau = state.tau + sizes * u
    for _ in range(STEPS):  # (A, B) from the paper's tables, along the unperturbed motion, first of the batch
        middle, end = ff.step(model, q, v, tau, 0.5 * h, "rk4"), ff.step(model, q, v, tau, h, "rk4")
        states = ((q[0], v[0]), (middle[0][0], middle[1][0]), (end[0][0], end[1][0]))
        start_rate, middle_rate, end_rate = (geometric.linearize(model, *s, state.tau) for s in states)
        k1 = start_rate.A @ z + start_rate.B @ u
        k2 = middle_rate.A @ (z + 0.5 * h * k1) + middle_rate.B @ u
        k3 = middle_rate.A @ (z + 0.5 * h * k2) + middle_rate.B @ u
        k4 = end_rate.A @ (z + h * k3) + end_rate.B @ u
        z = z + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        q, v = end
    moved = np.concatenate([ff.difference(model, q[0], q[1:]), v[1:] - v[0]], axis=-1)
    remainder = np.linalg.norm(moved - SIZES[:, None] * z, axis=-1)
    small = SIZES < SMALL
    order = float(np.polyfit(np.log10(SIZES[small]), np.log10(remainder[small]), 1)[0])
    return Prediction(DURATION, SIZES, remainder, order)


STEP = 1e-30


def by_complex_steps(kernel: str, model: ff.Model, q: np.ndarray, v: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, ...]:
    """Derivatives (nv, nv) of the entry `kernel` ("rnea": x = a, "aba": x = tau) by q (tangent space), v and x."""

    def run(q: np.ndarray, v: np.ndarray, x: np.ndarray) -> np.ndarray:
        return np.array(plain.run(kernel, model, list(q), list(v), list(x)), complex)

    def moved(u: np.ndarray) -> np.ndarray:
        return np.array(plain.run("integrate", model, list(q), list(u)), complex)

    q, v, x = (np.asarray(y, complex) for y in (q, v, x))
    return (_columns(lambda u: run(moved(u), v, x), model.nv), _columns(lambda u: run(q, v + u, x), model.nv),
            _columns(lambda u: run(q, v, x + u), model.nv))  # fmt: skip


def _columns(f: Callable[[np.ndarray], np.ndarray], n: int) -> np.ndarray:
    return np.stack([np.imag(f(1j * STEP * e)) / STEP for e in np.eye(n)], axis=-1)


def distance(actual: np.ndarray, expected: np.ndarray) -> float:
    """Largest difference, relative to the largest entry of `expected`."""
    return float(np.abs(actual - expected).max() / np.abs(expected).max())


class Check(namedtuple("Check", "requirement what value bound")):
    """One executed check: `value`, which must be at most `bound`, of the quantity `what`, about `requirement` (SF, MB, RF or ED).

    A `bound` of None makes it a comparison: what another approach gives, which is not ours to pass."""

    @property
    def holds(self) -> bool | None:
        """Whether it passed; None for a comparison."""
        return None if self.bound is None else bool(self.value <= self.bound)


class Approach(namedtuple("Approach", "name worst typical base operations")):
    """A way to the derivatives, measured: errors relative to the largest entry, over base attitudes of any pitch.

    `worst` and `typical` (median) error of d tau / dq and dv; `base`: typical error of the base's rows; `operations`:
    multiplications and additions an entry, on the longest chain that was counted."""

    @property
    def singularity_free(self) -> bool:
        """No attitude is worse by orders of magnitude than others."""
        return bool(self.worst < 1e3 * self.typical)

    @property
    def moving_base(self) -> bool:
        """The base's rows come out right."""
        return bool(self.base < 1e-6)

    @property
    def exact(self) -> bool:
        """Rounding alone."""
        return bool(self.typical < 1e-12)


class Differences(namedtuple("Differences", "kind delta maximal average evaluations fall rise")):
    """Fig 5: errors of geometric finite differences of the forward dynamics against the step `delta` (n,), rad or m.

    `maximal` and `average` (n,) are over all entries of [da/dq, da/dv, da/dtau], divided by the largest of them. `evaluations`: how
    many forward dynamics one linearisation takes. `fall`, `rise`: slopes of log error over log delta where truncation and where
    rounding rules."""

    @property
    def best(self) -> int:
        """Where the maximal error is smallest."""
        return int(np.argmin(self.maximal))


class Counts(namedtuple("Counts", (
    "bodies entries eidamb eidamb_as_printed by_pose by_shape by_shape_through_wrenches by_base_velocity "
    "by_joint_velocity"))):  # fmt: skip
    """Multiplications and additions of the algorithms on a chain of `bodies`, base not counted; every joint revolute.

    `entries`: of the derivatives by H, s, v and r together. `eidamb`: Table 4 without its table of wrenches, which results do not
    need."""

    @property
    def derivatives(self) -> int:
        """Tables 5 to 8, Table 6 without wrenches."""
        return self.by_pose + self.by_shape + self.by_base_velocity + self.by_joint_velocity


class Cost(namedtuple("Cost", "bodies nv tables compiled differences")):
    """Microseconds for all derivatives of the inverse dynamics of a chain on a floating base; None: not run at that size.
    `tables`: the paper's, in NumPy."""


class Sweep(namedtuple("Sweep", "pitch error condition")):
    """Over base pitches (n,), rad: the error of Tables 5 to 8, and the condition number of roll, pitch and yaw's rates."""


class Prediction(namedtuple("Prediction", "duration size remainder order")):
    """Linear prediction of a motion beside the motion: `remainder` is their distance after `duration` seconds.

    `size` (n,) of the perturbation, rad, m, rad/s, m/s and N m alike; `order` is the slope of their logarithms."""


class LinearizationResult(namedtuple("LinearizationResult", (
    "robot nv bodies checks approaches differences exact_error sweep prediction counts costs machine "
    "skeletons"))):  # fmt: skip
    """Everything that the reproduction of the geometric linearisation paper computes. `exact_error`: of the tables against complex
    steps. `skeletons`: of the reference and the perturbed posture, (bodies + 1, 2, 3), joint and far end in the world."""
