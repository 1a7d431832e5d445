"""Derivatives of the centroidal momentum, its rate and the centre of mass: by differences, and Pinocchio's."""

import numpy as np
import pin_built
import pinocchio as pin
import pytest
from closeness import EXACT, close, distance
from peers import Peer, peer
from robots_on_disk import example, needs_examples
from seeds import fresh
from tangent import DIFFERENCE, State, derivative, robots, state

import freeflyer as ff

ROBOTS = dict(robots())
URDFS = ("talos_reduced.urdf", "talos_full_v2.urdf", "anymal.urdf", "panda.urdf", "solo.urdf", "tiago_pro.urdf", "icub.urdf",
         "romeo.urdf")  # fmt: skip
FUNCTIONS = {  # what is differentiated, and by what
    "momentum": (lambda m, q, v, a: ff.centroidal_momentum(m, q, v),
                 lambda m, q, v, a: ff.centroidal_momentum_derivatives(m, q, v)),
    "momentum rate": (ff.centroidal_momentum_rate, ff.centroidal_momentum_rate_derivatives),
    "com velocity": (lambda m, q, v, a: ff.center_of_mass_velocity(m, q, v),
                     lambda m, q, v, a: ff.center_of_mass_velocity_derivatives(m, q, v)),
    "com acceleration": (ff.center_of_mass_acceleration, ff.center_of_mass_acceleration_derivatives),
}  # fmt: skip
each_robot = pytest.mark.parametrize("robot", ROBOTS)
each_function = pytest.mark.parametrize("name", FUNCTIONS)


def prepared(robot: str) -> tuple[ff.Model, State]:
    model = ROBOTS[robot]
    return model, state(model, fresh(1))


@each_function
@each_robot
def test_by_differences(robot: str, name: str, poisoned: None) -> None:
    model, x = prepared(robot)
    f, derivatives = FUNCTIONS[name]
    for field, ours in derivatives(model, *x)._asdict().items():
        theirs = derivative(lambda q, v, a: f(model, q, v, a), model, x, field[1:])
        close(ours, theirs, DIFFERENCE, 2, what=field)


@each_robot
def test_center_of_mass(robot: str) -> None:
    """Position, velocity, acceleration: each the rate of the one before along a motion."""
    model, (q, v, a) = prepared(robot)
    J = derivative(lambda q, v, a: ff.center_of_mass(model, q), model, (q, v, a), "q")
    close(ff.center_of_mass_jacobian(model, q), J, DIFFERENCE, 2)
    D = ff.center_of_mass_velocity_derivatives(model, q, v)
    close(ff.center_of_mass_velocity(model, q, v), J @ v, DIFFERENCE, 1)
    close(ff.center_of_mass_acceleration(model, q, v, a), D.dq @ v + D.dv @ a, EXACT, 1)
    close(D.dv, ff.center_of_mass_jacobian(model, q), EXACT, 2)


@each_robot
def test_rate_of_momentum(robot: str) -> None:
    """A_G a + bias; and what dh/dq v + dh/dv a adds up to along the motion: no differences."""
    model, (q, v, a) = prepared(robot)
    A, rate = ff.centroidal_momentum_matrix(model, q), ff.centroidal_momentum_rate(model, q, v, a)
    D, E = ff.centroidal_momentum_derivatives(model, q, v), ff.centroidal_momentum_rate_derivatives(model, q, v, a)
    close(rate, A @ a + ff.centroidal_bias(model, q, v), EXACT, 1)
    close(rate, D.dq @ v + D.dv @ a, EXACT, 1)
    close(D.dv, A, EXACT, 2)
    close(E.da, A, EXACT, 2)


def test_rate_of_momentum_is_what_external_forces_do() -> None:
    """In free fall: the weight, and no moment about the centre of mass, whatever the joints do."""
    model = ff.robots.humanoid()
    rng = fresh(2)
    q, v, tau = state(model, rng)
    tau[:6] = 0.0
    rate = ff.centroidal_momentum_rate(model, q, v, ff.forward_dynamics(model, q, v, tau))
    weight = model.mass * model.gravity
    np.testing.assert_allclose(rate, [*weight, 0.0, 0.0, 0.0], atol=1e-10 * model.mass)


def compared(model: ff.Model, p: Peer | pin_built.Built, count: int) -> None:
    """At random states."""
    q, v, a = state(model, fresh(3), (count,))
    D, E = ff.centroidal_momentum_derivatives(model, q, v), ff.centroidal_momentum_rate_derivatives(model, q, v, a)
    rate = ff.centroidal_momentum_rate(model, q, v, a)
    for k in range(count):
        x = p.q(q[k]), p.spread @ v[k], p.spread @ a[k]
        theirs = pin.computeCentroidalDynamicsDerivatives(p.model, p.data, *x)
        ours = D.dq[k], E.dq[k], E.dv[k], E.da[k]
        errors = (distance(o, np.array(t) @ p.spread, 2) for o, t in zip(ours, theirs, strict=True))
        assert max(errors) < EXACT
        theirs = pin.computeCentroidalMomentumTimeVariation(p.model, p.data, *x).vector
        close(rate[k], theirs, EXACT, 1)


@pytest.mark.peers
@needs_examples
@pytest.mark.parametrize("name", URDFS)
def test_agrees_with_pinocchio(name: str, poisoned: None) -> None:
    path = example(name)
    model = ff.load(path, base="free")
    compared(model, peer(model, pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())), 4)


@pytest.mark.peers
@each_robot
def test_every_joint_kind_agrees_with_pinocchio(robot: str, poisoned: None) -> None:
    compared(ROBOTS[robot], pin_built.built(ROBOTS[robot]), 2)


@each_function
def test_a_robot_without_mass_is_refused(name: str) -> None:
    joint = ff.Joint("hinge", "revolute", "world", "ghost")
    model = ff.build(ff.Description("ghost", (ff.Link("ghost"),), (joint,)))
    x = [0.0], [0.0], [0.0]
    for f in FUNCTIONS[name]:
        with pytest.raises(ff.InputError, match="no moving mass"):
            f(model, *x)
