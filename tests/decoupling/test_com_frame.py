"""The frame that is aligned with the locked velocity: decoupling thesis, section 3.2.4."""

import freeflyer as ff
import numpy as np
import pytest
from cases import Case, cases, few
from closeness import close, close_to_slopes, fresh, rounding, slope_error
from freeflyer import decoupling
from freeflyer.decoupling.orientation import _steps
from hypothesis import given
from linkage_samples import shifted
from random_robots import random_inertia, random_robot

ONE_COORDINATE = ("revolute", "continuous", "prismatic", "helical", "universal", "cylindrical", "planar")
WITH_BALLS = (*ONE_COORDINATE, "spherical", "free")


def planar_robot(rng: np.random.Generator, joints: int, prismatic: bool = False) -> ff.Model:
    """Links that move in the plane z = 0, and a base with them; its inertia is that of planar bodies."""
    links, parts = [ff.Link("base", flat(rng))], [ff.Joint("root", "free", "world", "base")]
    for k in range(joints):
        kind, axis = ("prismatic", (0.6, 0.8, 0.0)) if prismatic and k == 0 else ("revolute", (0.0, 0.0, 1.0))
        links.append(ff.Link(f"link_{k}", flat(rng)))
        place = shifted(*rng.uniform(0.1, 0.4, 2))
        parts.append(ff.Joint(f"joint_{k}", kind, links[-2].name, links[-1].name, place, np.array(axis)))
    return ff.build(ff.Description("planar", tuple(links), tuple(parts), gravity=(0.0, 0.0, 0.0)))


def flat(rng: np.random.Generator) -> ff.Inertia:
    """Symmetric about the plane."""
    I = random_inertia(rng)
    com = np.array([*I.com[:2], 0.0])
    R = np.array(I.rotational)
    R[2, :2] = R[:2, 2] = 0.0
    return ff.Inertia(I.mass, com, R)


def slopes(model: ff.Model, q: np.ndarray) -> np.ndarray:
    """T (6, n) and its slopes (6, n, n), the last axis the direction."""
    n = model.nv - 6
    d = decoupling.decouple(model, q, np.zeros(model.nv))
    slope = np.zeros((6, n, n))
    for k, e in enumerate(np.eye(n)):
        slope[..., k] = decoupling.decouple(model, q, np.concatenate([np.zeros(6), e])).base_map_rate[:, 6:]
    return d.base_map[:, 6:], slope


@few
@given(cases(bases=("free",), kinds=WITH_BALLS, most=5))
def test_the_tensor_by_slopes(c: Case) -> None:
    """(3.72), the slopes of T by differences; velocities of balls do not commute."""
    model, n = c.model, c.model.nv - 6
    T, slope = slopes(model, c.q)

    def at(e: np.ndarray) -> np.ndarray:
        return decoupling.decouple(model, ff.integrate(model, c.q, np.concatenate([np.zeros(6), e])), model._zero).base_map[:, 6:]

    size = float(np.abs(T).max(initial=0.0)) + float(np.abs(slope).max(initial=0.0)) + 1.0
    condition = float(np.linalg.cond(ff.mass_matrix(model, c.q)[:6, :6]))
    if n:
        close_to_slopes(slope, at, tolerance=max(slope_error(), rounding(4500, condition)), least=size)
    found = decoupling.integrability(model, c.q)
    bracket = np.einsum("iab,bj->aij", ff.spatial.se3.ad(T.T), T)
    commutators = np.zeros((n, n, n))
    for joint in model.joints[1:]:
        if joint.kind in ("spherical", "free") and joint.nv:
            at_joint, unit = slice(joint.iv - 6, joint.iv - 6 + joint.nv), np.eye(6)[:, -joint.nv :]
            commutators[at_joint, at_joint, at_joint] = np.einsum("jab,bi->aij", ff.spatial.se3.ad(unit.T), unit)[-joint.nv :]
    expected = slope - np.swapaxes(slope, 1, 2) + bracket - np.einsum("ak,kij->aij", T, commutators)
    close(found.tensor, expected, rounding(4500, condition), least=size**2)
    close(found.tensor, -np.swapaxes(found.tensor, 1, 2), rounding(4500, condition), least=size**2)


@few
@given(cases(bases=("free",), kinds=WITH_BALLS, most=5).filter(lambda c: not c.model.armature[:6].any()))
def test_the_origin_of_the_frame_always_is_a_function(c: Case) -> None:
    """The linear part is c x the angular one: the centre of mass is integrable whatever the orientation is. This fails for wrong
    brackets of balls, too."""
    found = decoupling.integrability(c.model, c.q)
    X = ff.frame_pose(c.model, c.q, c.model.joints[0].child)
    center = X[:3, :3].T @ (ff.center_of_mass(c.model, c.q) - X[:3, 3])
    T, slope = slopes(c.model, c.q)
    size = float(np.abs(T).max(initial=0.0) ** 2 + np.abs(slope).max(initial=0.0)) + 1.0
    condition = float(np.linalg.cond(ff.mass_matrix(c.model, c.q)[:6, :6]))
    expected = np.cross(center, found.tensor[3:], axisa=0, axisb=0, axisc=0)
    close(found.tensor[:3], expected, rounding(4500, condition), least=size)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "helical"])
def test_one_joint_always_is_integrable(kind: str) -> None:
    """What the decoupling thesis says below (3.73); two joints in space are not, but by symmetry."""
    rng = fresh(kind)
    one, two = (random_robot(rng, n, (kind,), mimics=0.0) for n in (1, 2))
    assert decoupling.integrability(one, ff.random_configuration(one, rng, 10)).integrable.all()
    found = decoupling.integrability(two, ff.random_configuration(two, rng, 10))
    assert kind == "prismatic" or not found.integrable.any()
    if not found.integrable.all():
        assert set(found.failing[0][:2]) == {"joint_1", "joint_2"}


def test_the_angle_depends_on_the_path_where_it_is_not_integrable() -> None:
    rng = fresh()
    model = planar_robot(rng, 2)

    def at(*angles: float) -> np.ndarray:
        return ff.integrate(model, model.neutral, np.concatenate([np.zeros(6), angles]))

    ways = [[at(0, 0), at(*by), at(1, 1.5)] for by in ((1, 0), (0, 1.5))]
    found = [decoupling.center_of_mass_angle(model, way) for way in ways]
    assert not any(f.integrable for f in found)
    apart = found[0].angle[-1] - found[1].angle[-1]
    nodes, weights = np.polynomial.legendre.leggauss(16)
    x, y = 0.5 * (nodes + 1.0), 0.75 * (nodes + 1.0)
    area = sum(0.5 * u * 0.75 * w * decoupling.integrability(model, at(a, b)).tensor[5, 1, 0] for a,
               u in zip(x, weights) for b, w in zip(y, weights))  # fmt: skip
    # Stokes: the integral of the torsion over what lies between the ways
    close(np.array(apart), np.array(area), 1e-10)
    one = ff.lock_joints(model, ["joint_1"])
    path = [ff.integrate(one, one.neutral, [0, 0, 0, 0, 0, 0, a]) for a in (0.0, 1.5, -0.7, 1.0)]
    ends = [decoupling.center_of_mass_angle(one, p).angle[-1] for p in (path, path[::3])]
    close(np.array(ends[0]), np.array(ends[1]), 1e-11)


def test_the_frame_turns_with_the_locked_velocity() -> None:
    """(3.70) in space: R_ib R_bc of a robot at zero momentum does not turn; by simulation, whose steps know nothing of the
    frame."""
    model = ff.robots.space_manipulator()
    rng = fresh()
    torques = np.concatenate([np.zeros(6), rng.uniform(-3.0, 3.0, 7)])
    start = ff.integrate(model, model.neutral, np.concatenate([np.zeros(6), rng.uniform(-0.5, 0.5, 7)]))
    run = ff.sim.simulate(model, start, np.zeros(13), lambda t, q, v: torques * np.cos(3.0 * t), dt=0.02, duration=1.0,
                          integrator="dop853", rtol=1e-11, atol=1e-12)  # fmt: skip
    found = decoupling.center_of_mass_angle(model, run.q)
    R = ff.frame_pose(model, run.q, "satellite")[:, :3, :3]
    turned = R @ found.rotations
    # straight pieces between samples miss the path by the square of the time step; a quarter with half of it
    coarse = decoupling.center_of_mass_angle(model, run.q[::2])
    error = np.abs(turned - turned[0]).max()
    wide = np.abs(R[::2] @ coarse.rotations - turned[0]).max()
    moved = np.abs(R - R[0]).max()
    assert moved > 1e-3
    assert error < 1e-3 * moved
    assert error < 0.35 * wide
    assert not found.integrable
    assert found.axis is None


def test_steps_and_pieces() -> None:
    """Half the step, a 64th of the error, as Magnus' series of this order has it."""
    model = ff.robots.space_manipulator()
    q = model.neutral[None]
    move = np.concatenate([np.zeros(6), [2.0, 1.5, -2.0, 2.5, 1.0, -2.0, 1.0]])[None]

    def turned(steps: int) -> np.ndarray:
        R = np.eye(3)
        for exponent in _steps(model, q, move, steps)[1][0]:
            R = ff.spatial.se3.exp(np.concatenate([np.zeros(3), exponent]))[:3, :3] @ R
        return R

    exact = turned(64)
    errors = [float(np.abs(turned(k) - exact).max()) for k in (2, 4, 8)]
    assert errors[2] < errors[0] / 1000.0  # 256 were order 4, 4096 is order 6
    # More postures on the same straight way change nothing; balls and batches of pieces, too
    rng = fresh()
    model = random_robot(rng, 5, ("revolute", "spherical", "prismatic"), mimics=0.0)
    q = ff.random_configuration(model, rng)
    d = np.concatenate([np.zeros(6), rng.uniform(-1.0, 1.0, model.nv - 6)])
    end = ff.integrate(model, q, d)
    coarse = decoupling.center_of_mass_angle(model, [q, end])
    fine = decoupling.center_of_mass_angle(model, ff.integrate(model, q, np.linspace(0.0, 1.0, 8)[:, None] * d))
    close(fine.rotations[-1], coarse.rotations[-1], 1e-10)
    close(fine.angle[-1], coarse.angle[-1], 1e-9)
