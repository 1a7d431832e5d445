"""All formulations on every joint: twists (Table 1), agreements, and the equations as they are printed; serial arms."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import freeflyer as ff
from freeflyer.analysis.checks.laws import random_states
from freeflyer.model import WORLD, Description, Inertia, Joint, Link
from freeflyer_papers.printed.newton_euler import Body, adjoint, bodies_of, conjugate, cross, inverse_dynamics_as_printed, product

STATES, JOINTS, LONG = 20, 6, 50
SIZES = (3, 6, 12)  # joints, for Remark 4.1
STEP = 1e-3  # s, of a difference of fourth order


def agreements() -> tuple[Agreement, ...]:
    """Largest distances over random states."""
    robots = {f"{JOINTS} joints, {kind}": serial_arm(JOINTS, kind) for kind in KINDS}
    robots |= {f"{LONG} revolute joints": serial_arm(LONG), "humanoid on a floating base": ff.robots.humanoid()}
    return tuple(_agreement(words, model) for words, model in robots.items())


def remarks() -> tuple[Remark, ...]:
    """Remark 4.1: A as printed, over random states of arms of one screw a link."""
    return tuple([_remark(f"{n} joints, {kind}", serial_arm(n, kind)) for kind in ("revolute", "helical") for n in SIZES])


def _remark(robots: str, model: ff.Model) -> Remark:
    x = random_states(model, STATES, 2)
    as_printed, whole, skew = [], [], []
    for q, v in zip(x.q, x.v):
        printed, lacking = skew_part_as_printed(list(body_terms(bodies_of(model, q, np.ones(model.nv), v), v)))
        P = ff.coriolis_matrix(model, q, v)  # passive: P + P^T is M's rate
        A = 0.5 * (P + P.T) - ff.formulations.coriolis_matrix(model, q, v, by="gauss")
        size = np.linalg.norm(A)
        as_printed.append(np.linalg.norm(printed - A) / size)
        whole.append(np.linalg.norm(printed + lacking - A) / size)
        skew.append(np.linalg.norm(A + A.T) / size)
    return Remark(robots, STATES, float(min(as_printed)), float(max(as_printed)), float(max(whole)), float(max(skew)))


def _agreement(robots: str, model: ff.Model) -> Agreement:
    x, compute = random_states(model, STATES, 2), ff.formulations.inverse_dynamics
    states, expected = (x.q, x.v, x.a), ff.inverse_dynamics(model, x.q, x.v, x.a)
    printed = np.array([inverse_dynamics_as_printed(model, *state) for state in zip(*states)])
    by_gauss = np.array([compute(model, *state, by="gauss") for state in zip(*states)])
    found = (compute(model, *states, by="dual_quaternion"), printed + model.armature * x.a,  # which the recursion leaves out
        by_gauss, compute(model, *states, by="gibbs_appell"), compute(model, *states, by="kane"))  # fmt: skip
    by_pairs, as_printed, gauss, appell, kane = (_distance(tau, expected) for tau in found)
    return Agreement(robots, STATES, by_pairs, as_printed, gauss, appell, kane, _skew(model, x.q, x.v))


def _distance(found: np.ndarray, expected: np.ndarray) -> float:
    """Relative to the largest entry of each state's."""
    return float((np.abs(found - expected).max(axis=-1) / np.abs(expected).max(axis=-1)).max())


def _skew(model: ff.Model, q: np.ndarray, v: np.ndarray) -> float:
    def mass(t: float) -> np.ndarray:
        return ff.mass_matrix(model, ff.integrate(model, q, t * v))

    rate = (2 / 3 * (mass(STEP) - mass(-STEP)) - 1 / 12 * (mass(2 * STEP) - mass(-2 * STEP))) / STEP
    C = ff.formulations.coriolis_matrix(model, q, v, by="gauss")
    return float(np.abs(rate - C - np.swapaxes(C, -1, -2)).max() / np.abs(mass(0.0)).max())


Array = np.ndarray
IMAGINARY = [0, 1, 2, 4, 5, 6]  # the rows that I-bar keeps


class Terms(namedtuple("Terms", "J J_rate Psi S back")):
    """Terms of one body: J and its rate (6, n), Psi and S-bar (6, 6), the conjugate of its pose (8,)."""


def gauss_as_printed(bodies: Sequence[Body], v: Array, gravity: Array) -> tuple[Array, Array, Array]:
    """M, C (n, n) and g (n,) of an arm whose bodies have the twists of unit velocities; v (n,); gravity (3,)."""
    n = len(v)
    M, C, g = (np.full(shape, 0 * v[0], dtype=v.dtype) for shape in ((n, n), (n, n), (n,)))
    for (J, J_rate, Psi, S, back), body in zip(body_terms(bodies, v), bodies):
        M = M + J.T.dot(Psi.dot(J))  # (46)
        C = C + J.T.dot(S.dot(J) + Psi.dot(J_rate))  # (47)
        weight = np.concatenate([gravity, [0 * gravity[0]]]) * body.mass
        g = g - J[3:].T.dot(_hamilton4(_hamilton4(back[:4]).dot(weight)).dot(conjugate(back[:4]))[:3])  # minus (50)
    return M, C, g


def skew_part_as_printed(terms: Sequence[Terms]) -> tuple[Array, Array]:
    """A (n, n) of Remark 4.1 as printed, and what it lacks of Mdot / 2 - C, itself skew."""
    printed = -sum(J.T @ S @ J for J, _, _, S, _ in terms)
    lacking = sum(0.5 * (J_rate.T @ Psi @ J - J.T @ Psi @ J_rate) for J, J_rate, Psi, _, _ in terms)
    return np.asarray(printed), np.asarray(lacking)


def body_terms(bodies: Sequence[Body], v: Array) -> Iterator[Terms]:
    """Terms of every body; the arguments are those of gauss_as_printed."""
    poses, world_screws, twists = list[Array](), list[Array](), list[Array]()  # of the centres of mass; all in the world
    for body, speed in zip(bodies, v):
        frame = product(poses[-1], body.x_parent) if poses else body.x_parent
        poses.append(product(frame, body.x_joint))
        world_screws.append(adjoint(frame, body.twist))
        twists.append(twists[-1] + world_screws[-1] * speed if twists else world_screws[-1] * speed)
    for i, body in enumerate(bodies):
        back = conjugate(poses[i])
        rate = 0.5 * product(twists[i], poses[i])  # (4)
        J_x, J_x_rate = [], []
        for k in range(i + 1):
            J_x.append(0.5 * product(world_screws[k], poses[i]))
            moved = cross(twists[k], world_screws[k])
            J_x_rate.append(0.5 * product(moved, poses[i]) + 0.5 * product(world_screws[k], rate))
        H, H_rate = _hamilton(back), _hamilton(conjugate(rate))
        A, B = np.array(J_x).T, np.array(J_x_rate).T
        J = _padded(2 * H.dot(A)[IMAGINARY], len(v))  # (33)
        J_rate = _padded(2 * (H_rate.dot(A) + H.dot(B))[IMAGINARY], len(v))
        I, omega = body.inertia[:, :3], J[:3].dot(v)
        yield Terms(J, J_rate, _metric(body.mass, I), _skew_bar(body.mass, I, omega), back)


def _hamilton(x: Array) -> Array:
    """H (8, 8) with H vec(h) = vec(x h)."""
    zero = np.full((4, 4), 0 * x[0], dtype=x.dtype)
    return np.block([[_hamilton4(x[:4]), zero], [_hamilton4(x[4:]), _hamilton4(x[:4])]])


def _hamilton4(a: Array) -> Array:
    return np.array([[a[3], -a[2], a[1], a[0]], [a[2], a[3], -a[0], a[1]], [-a[1], a[0], a[3], a[2]],
        [-a[0], -a[1], -a[2], a[3]]])  # fmt: skip


def _padded(J: Array, n: int) -> Array:
    """With the columns of zeros of joints behind the body."""
    return np.concatenate([J, np.full((6, n - J.shape[1]), 0 * J[0, 0], dtype=J.dtype)], axis=1)


def _metric(mass: Any, I: Array) -> Array:
    Psi = np.full((6, 6), 0 * mass, dtype=I.dtype)
    Psi[:3, :3] = I
    Psi[3, 3] = Psi[4, 4] = Psi[5, 5] = mass
    return Psi


def _skew_bar(mass: Any, I: Array, omega: Array) -> Array:
    """(44)"""
    S = np.full((6, 6), 0 * mass, dtype=I.dtype)
    S[:3, :3], S[3:, 3:] = -_cross_matrix(I.dot(omega)), _cross_matrix(omega) * mass
    return S


def _cross_matrix(a: Array) -> Array:
    zero = 0 * a[0]
    return np.array([[zero, -a[2], a[1]], [a[2], zero, -a[0]], [-a[1], a[0], zero]])


FORMULAS = {
    "6-DoF": "wx i + wy j + wz k + eps (vx i + vy j + vz k)", "revolute": "w l", "spherical": "wx i + wy j + wz k",
    "cylindrical": "(w + eps v) l", "planar": "w l + eps (vx i + vy j)", "prismatic": "eps v l", "helical": "(w + eps h w) l",
}  # fmt: skip
TWIST_STEP = 1e-3  # s, of a central difference of sixth order
WEIGHTS = (3 / 4, -3 / 20, 1 / 60)


def twists() -> tuple[Twist, ...]:
    """Every joint of Table 1 by itself, at a random position and velocity."""
    return tuple(_twist(kind) for kind in KINDS)


def _twist(kind: str) -> Twist:
    model, rng = serial_arm(1, kind), np.random.default_rng(3)
    q, v = ff.random_configuration(model, rng), rng.standard_normal(model.nv)
    rest = np.zeros(model.nv)

    def moved(t: float) -> tuple[np.ndarray, np.ndarray]:
        """Pose and twist, all in the axes of the joint's frame, of the link's centre of mass, through the massless links of joints
        that are chains."""
        x, xi = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]), np.zeros(8)
        for k, b in enumerate(bodies_of(model, ff.integrate(model, q, t * v), v, rest)):
            x = ff.spatial.dual_quaternion.multiply(x, b.x_parent) if k else x
            xi = xi + ff.spatial.dual_quaternion.adjoint(x, b.twist)
            x = ff.spatial.dual_quaternion.multiply(x, b.x_joint)
        return x, xi

    rate = sum(w * (moved(k * TWIST_STEP)[0] - moved(-k * TWIST_STEP)[0]) for k, w in enumerate(WEIGHTS, 1)) / TWIST_STEP
    error = np.abs(rate - ff.spatial.dual_quaternion.rate_from_twist(*moved(0.0), "world")).max()
    return Twist(kind, FORMULAS[kind], model.nv, float(error))


PITCH = 0.05  # m/rad, of helical joints
KINDS = ("6-DoF", "revolute", "spherical", "cylindrical", "planar", "prismatic", "helical")  # of Table 1
NAMES = {"6-DoF": "free"}


def serial_arm(n: int, kind: str = "revolute", seed: int = 0) -> ff.Model:
    """n joints of a kind of Table 1, each on the link before."""
    rng = np.random.default_rng([seed, n])
    links, joints = [], []
    for k in range(n):
        com, axis = 0.05 * rng.standard_normal(3), rng.standard_normal(3)
        I = np.diag(rng.uniform(0.01, 0.015, 3))
        turned = ff.spatial.quaternion.to_matrix(ff.spatial.quaternion.random(rng))
        links.append(Link(f"link_{k + 1}", Inertia(float(rng.uniform(0.2, 0.5)), com, turned @ I @ turned.T)))
        at = ff.spatial.se3.from_position_quaternion(0.1 * rng.standard_normal(3), ff.spatial.quaternion.random(rng))
        joints.append(Joint(f"joint_{k + 1}", NAMES.get(kind, kind), f"link_{k}" if k else WORLD, f"link_{k + 1}", at,
            axis / np.linalg.norm(axis), pitch=PITCH if kind == "helical" else 0.0))  # fmt: skip
    return ff.build(Description(f"{n} {kind} joints", tuple(links), tuple(joints)))


class Twist(namedtuple("Twist", "joint formula velocities error")):
    """A joint of Table 1: the paper's twist, and the largest error of ours against the rate of the joint's pose, (4)."""


class Agreement(namedtuple("Agreement", "robots states newton_euler printed gauss gibbs_appell kane skew")):
    """Largest relative distance of forces and matrices from the library's other algorithms, over `states` states of robots.

    skew: (52), M's rate, by differences, less C + C^T; relative to M."""


class Remark(namedtuple("Remark", "robots states least largest whole skew")):
    """Remark 4.1: distance from Mdot / 2 - C, relative to its norm, over `states` states of an arm.

    least, largest: of A as printed; whole: the largest of A with the term that it lacks; skew: the largest of A + A^T."""
