"""What the functions of freeflyer.decoupling refuse, in words."""

import closed_robots
import numpy as np
import pytest
from random_robots import random_robot
from seeds import fresh

import freeflyer as ff
from freeflyer import decoupling

ONE_STATE = (
    "locked_velocity", "total_momentum", "constants_of_motion", "decouple", "invariance", "frame_map", "momentum_map",
    "external_velocity",
)  # fmt: skip


@pytest.fixture(scope="module")
def model() -> ff.Model:
    return ff.robots.space_manipulator()


def robots_that_do_not_float() -> list[ff.Model]:
    two = random_robot(fresh(), 2, ("revolute",), base="two free", mimics=0.0)
    planar = random_robot(fresh(1), 2, ("revolute",), base="planar", mimics=0.0)
    return [ff.robots.chain(3), two, planar, ff.close_loops(closed_robots.robot("turn")), ff.robots.holonomic_manipulator()]


@pytest.mark.parametrize("name", ONE_STATE)
def test_robots_that_do_not_float(name: str) -> None:
    for robot in robots_that_do_not_float():
        q = np.array(robot.neutral)
        with pytest.raises(ff.InputError, match="does not float") as caught:
            getattr(decoupling, name)(robot, q, np.zeros(robot.nv))
        assert 'base="free"' in str(caught.value)


def test_the_others_do_not_take_them_either() -> None:
    arm = ff.robots.chain(3)
    for call in (
        lambda: decoupling.integrability(arm, arm.neutral), lambda: decoupling.link_jacobian(arm, arm.neutral, "tip"),
        lambda: decoupling.center_of_mass_angle(arm, [arm.neutral, arm.neutral]), lambda: decoupling.blocks(arm, np.eye(3)),
        lambda: decoupling.internal_jacobian(arm, arm.neutral, "tip"),
        lambda: decoupling.external_jacobian(arm, arm.neutral, "tip"),
        lambda: decoupling.external_internal(arm, arm.neutral, "tip"),
        lambda: decoupling.internal_velocity(arm, arm.neutral, np.zeros(3), "tip"),
    ):  # fmt: skip
        with pytest.raises(ff.InputError, match="does not float"):
            call()
    for form in ("passive", "hamel", "newton-euler"):  # which need no base
        assert decoupling.coriolis_matrix(arm, arm.neutral, np.ones(3), form).shape == (3, 3)


@pytest.mark.parametrize("name", ["T_x", "T_y"])
def test_maps(model: ff.Model, name: str) -> None:
    n = {"T_x": 6, "T_y": 7}[name]
    q, v, singular = model.neutral, np.ones(13), np.ones((n, n))
    for given, words in (
        (singular, f"{name} is singular"), (np.zeros((n, n)), f"{name} is singular"), (np.eye(n + 1), rf"{name} must have shape"),
        (np.eye(n)[0], rf"{name} must have shape"), ((np.eye(n),) * 3, "tuple"), ((np.eye(n), np.eye(5)), rf"the rate of {name}"),
        (np.full((n, n), np.nan), name), ("unit", name), (np.eye(n) * 1j, name), (np.stack([np.eye(n)] * 4), "broadcast"),
    ):  # fmt: skip
        with pytest.raises(ff.InputError, match=words):
            decoupling.decouple(model, np.tile(q, (3, 1)), v, **{name: given})


def test_units_do_not_make_a_map_singular(model: ff.Model) -> None:
    """Rows in other units, from micrometres to kilometres, are as regular as before."""
    T = np.linalg.qr(fresh().standard_normal((6, 6)))[0] * np.array([1e-9, 1e-3, 1.0, 1e3, 1e6, 1e9])[:, None]
    d = decoupling.decouple(model, model.neutral, np.ones(13), T_x=T)
    np.testing.assert_allclose(T.T @ d.M_x @ T, ff.mass_matrix(model, model.neutral)[:6, :6], rtol=1e-9, atol=1e-6)


def test_rows_and_paths(model: ff.Model) -> None:
    q, v = model.neutral, np.ones(13)
    with pytest.raises(ff.InputError, match="frames must be a list"):
        decoupling.constants_of_motion(model, q, v, frames="world")
    with pytest.raises(ff.InputError, match=r"\(\.\.\., 13, 13\)"):
        decoupling.blocks(model, np.eye(6))
    for rows in ((), (0, 0), (6,), (-1,)):
        with pytest.raises(ff.InputError, match="rows"):
            decoupling.external_internal(model, q, "end_effector", rows=rows)
    arm = ff.robots.aerial_manipulator()
    with pytest.raises(ff.InputError, match=r"4 joints of .* cannot move the rows"):
        decoupling.external_internal(arm, arm.neutral, "end_effector")
    with pytest.raises(ff.InputError, match="cannot move the rows"):  # one joint, two rows
        decoupling.external_internal(ff.lock_joints(arm, arm.actuated[1:]), arm.neutral[:8], "end_effector", rows=(0, 1))
    for path in (q, [q], np.zeros((2, 3))):
        with pytest.raises(ff.InputError, match="path"):
            decoupling.center_of_mass_angle(model, path)
