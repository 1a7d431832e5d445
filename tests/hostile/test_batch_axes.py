"""Batch axes that do not broadcast: an InputError that shows the shapes, where they meet outside of compiled code."""

import numpy as np
import pytest

import freeflyer as ff

CHAIN, QUADRUPED = ff.robots.chain(3), ff.robots.quadruped()
CLOSED = ff.close_loops(ff.robots.kangaroo_like())
HELD = ff.ConstraintSet(CLOSED, contacts=[ff.contacts.point("left_sole", at=np.eye(4))])
TWO, THREE = np.zeros((2, 3)), np.zeros((3, 3))
ROW = np.eye(3)[:1]


def pinocchio(call):
    pin = pytest.importorskip("pinocchio")
    return call(pin.buildModelFromXML(ff.to_urdf(CHAIN)))


@pytest.mark.parametrize(("call", "words"), [
    (lambda: ff.configuration(CHAIN, joint_1=[1.0, 2.0], joint_2=[1.0, 2.0, 3.0]), r"joint_1 \(2,\), joint_2 \(3,\)$"),
    (lambda: ff.configuration(CHAIN, start=TWO, joint_2=np.ones(3)), r"start \(2, 3\), joint_2 \(3,\)$"),
    (lambda: ff.configuration(QUADRUPED, root_joint=np.tile(np.eye(7)[6], (2, 1)), front_left_knee=np.ones(3)),
     r"root_joint \(2, 7\), front_left_knee \(3,\)$"),
    (lambda: ff.passive_forces(CHAIN, TWO, THREE), r"q \(2, 3\), v \(3, 3\)$"),
    (lambda: ff.to_mujoco(CHAIN, TWO, TWO, tau=THREE), r"q \(2, 3\), v \(2, 3\), tau \(3, 3\)$"),
    (lambda: ff.from_mujoco(CHAIN, TWO, TWO, qfrc=THREE), r"qpos \(2, 3\), qvel \(2, 3\), qfrc \(3, 3\)$"),
    (lambda: pinocchio(lambda pin: ff.to_pinocchio(CHAIN, pin, TWO, THREE)), r"q \(2, 3\), v \(3, 3\)$"),
    (lambda: pinocchio(lambda pin: ff.from_pinocchio(CHAIN, pin, TWO, THREE)), r"q \(2, 3\), v \(3, 3\)$"),
    (lambda: ff.velocity_map_bias(CHAIN, TWO, THREE), r"q \(2, 3\), u \(3, 3\)$"),
    (lambda: ff.constrained_dynamics(CHAIN, TWO, TWO, THREE, constraints=(ROW, [0.0])), r"v \(2, 3\), tau \(3, 3\)$"),
    (lambda: ff.constrained_dynamics(CHAIN, TWO, TWO, TWO, constraints=(np.ones((3, 1, 3)), [0.0])), r"A \(3, 1, 3\)"),
    (lambda: ff.constrained_dynamics(CLOSED, np.tile(CLOSED.neutral, (2, 1)), np.zeros(18), np.zeros((3, 18)), constraints=HELD),
     r"q \(2, 83\), v \(18,\), tau \(3, 18\)$"),
])  # fmt: skip
def test_axes_that_do_not_broadcast_are_shown(call, words):
    with pytest.raises(ff.InputError, match=f"do not broadcast together: .*{words}"):
        call()


def test_positions_by_name_broadcast():
    assert ff.configuration(CHAIN).shape == (3,)
    assert ff.configuration(CHAIN, start=TWO).shape == (2, 3)
    assert ff.configuration(CHAIN, start=TWO, joint_1=1.0, joint_2=np.ones((4, 1))).shape == (4, 2, 3)
    assert ff.configuration(QUADRUPED, root_joint=np.tile(np.eye(7)[6], (2, 1, 1)), front_left_knee=np.ones(3)).shape == (2, 3, 19)
