"""What docs/tutorials/dq_robotics.md says of DQ Robotics, tried on that library; skipped where it is not installed."""

from __future__ import annotations

import numpy as np
import pytest
from closeness import close, rounding
from page_blocks import DOCS, run_page
from seeds import fresh

import freeflyer as ff
from freeflyer.spatial import dual_quaternion as dq

theirs = pytest.importorskip("dqrobotics")
PRODUCTS = rounding(100)  # a dozen products of entries of size one


@pytest.fixture
def poses() -> tuple[np.ndarray, np.ndarray]:
    rng = fresh()
    p, q = rng.standard_normal((2, 3)), ff.spatial.quaternion.random(rng, 2)
    return dq.from_position_quaternion(p[0], q[0]), dq.from_position_quaternion(p[1], q[1])


def them(x: np.ndarray) -> object:
    return theirs.DQ(dq.to_vec8(x))


def test_the_algebra(poses) -> None:
    x, y = poses
    h = dq.from_twist(fresh().standard_normal(6))
    close(dq.to_vec8(dq.multiply(x, y)), theirs.vec8(them(x) * them(y)), PRODUCTS)
    close(dq.to_vec8(dq.adjoint(x, h)), theirs.vec8(them(x).Ad(them(h))), PRODUCTS)
    close(dq.to_vec8(dq.conjugate(x)), theirs.vec8(them(x).conj()), PRODUCTS)
    close(dq.to_vec8(dq.dual_conjugate(x)), theirs.vec8(them(x).sharp()), PRODUCTS)
    close(dq.to_vec6(h), theirs.vec6(them(h)), PRODUCTS)
    order = dq.to_vec8(np.arange(8.0)).astype(int)
    close(dq.hamilton_left(x)[np.ix_(order, order)], theirs.hamiplus8(them(x)), PRODUCTS)
    close(dq.hamilton_right(x)[np.ix_(order, order)], theirs.haminus8(them(x)), PRODUCTS)
    p, r = dq.to_position_quaternion(x)
    close(p, theirs.vec3(theirs.translation(them(x))), PRODUCTS)
    close(r, theirs.vec4(theirs.rotation(them(x)))[[1, 2, 3, 0]], PRODUCTS)


def test_the_other_logarithm(poses) -> None:
    x = poses[0] * np.sign(poses[0][3])
    p, r = dq.to_position_quaternion(x)
    close(0.5 * np.r_[ff.spatial.quaternion.log(r), p], theirs.vec6(theirs.log(them(x))), rounding(1000))


def test_the_arm_of_the_page(tmp_path) -> None:
    from dqrobotics.robot_modeling import DQ_Kinematics, DQ_SerialManipulatorDH

    names = run_page(DOCS / "tutorials" / "dq_robotics.md", tmp_path)
    rows = np.array([names[name] for name in ("theta", "d", "a", "alpha")] + [np.zeros(3)])
    arm, model, q = DQ_SerialManipulatorDH(rows), names["model"], fresh().uniform(-1.0, 1.0, 3)
    x, J = dq.from_pose(ff.frame_pose(model, q, "tip")), ff.frame_jacobian(model, q, "tip", "body")
    sign = np.sign(theirs.vec8(arm.fkm(q)) @ dq.to_vec8(x))
    close(dq.to_vec8(x), sign * theirs.vec8(arm.fkm(q)), PRODUCTS)
    close(dq.to_vec8(dq.rate_from_twist(x, dq.from_twist(J.T), "body")).T, sign * arm.pose_jacobian(q), PRODUCTS)
    close(ff.frame_jacobian(model, q, "tip", "mixed")[:3],
          DQ_Kinematics.translation_jacobian(arm.pose_jacobian(q), arm.fkm(q))[1:], PRODUCTS)  # fmt: skip
    xi = 2.0 * theirs.DQ(arm.pose_jacobian(q) @ q) * arm.fkm(q).conj()
    close(dq.to_vec6(dq.from_twist(ff.frame_jacobian(model, q, "tip", "world") @ q)), theirs.vec6(xi), PRODUCTS)
