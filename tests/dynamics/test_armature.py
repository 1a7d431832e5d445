"""Armature of floating and ball joints: it moves with its body, so that velocities alone need forces, too.

MuJoCo's is compared in test_mujoco_states.py; where armature differs between the coordinates of a joint, which no MJCF can
express, the reference is mechanics itself.
"""

import freeflyer as ff
import numpy as np
import pytest
from cases import Case, cases, few
from closeness import central, close, fresh
from dataclasses import replace
from freeflyer.model.description import WORLD, Description, Inertia, Joint, Link, joint_sizes
from hypothesis import given
from random_robots import random_rotation
from tangent import bracket


def world_momentum(model: ff.Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(6,): momentum M v of a single tree on a floating base, armature of the base included, about the world's origin."""
    base = model.joint("base")
    P, x = model.description.joint("base").placement, q[base.iq : base.iq + 7]
    X = P @ ff.spatial.se3.from_position_quaternion(x[:3], x[3:])
    h = (ff.mass_matrix(model, q) @ v)[base.iv : base.iv + 6]
    R, force = X[:3, :3], X[:3, :3] @ h[:3]
    return np.concatenate([force, R @ h[3:] + np.cross(X[:3, 3], force)])


@few
@given(cases(bases=("free",)))
def test_momentum_stays_instantaneously(c: Case) -> None:
    """Of any tree, thrown without gravity, whatever its joints do: d/dt of the world momentum of M v."""
    model = ff.with_gravity(c.model, (0.0, 0.0, 0.0))
    tau = c.tau.copy()
    base = model.joint("base")
    tau[base.iv : base.iv + 6] = 0.0
    a = ff.forward_dynamics(model, c.q, c.v, tau)
    h = 1e-3 / max(1.0, float(np.abs(a).max()) ** 0.5)

    def along(t: float) -> np.ndarray:
        """Of a motion with the state's velocity and acceleration."""
        return world_momentum(model, ff.integrate(model, c.q, t * c.v + 0.5 * t * t * a), c.v + t * a)

    rate = central(along, h)
    size = float(np.abs(world_momentum(model, c.q, c.v)).max()) * max(1.0, float(np.abs(c.v).max()))
    assert np.abs(rate).max() < 1e-5 * size


@few
@given(cases())
def test_coriolis_matrix_is_the_one_without_torsion(c: Case) -> None:
    """C(x) y - C(y) x = M [x, y]: with Mdot = C + C^T this leaves one matrix, the Levi-Civita connection's."""
    x, y = c.v, c.a
    M = ff.mass_matrix(c.model, c.q)
    left = ff.coriolis_matrix(c.model, c.q, x) @ y - ff.coriolis_matrix(c.model, c.q, y) @ x
    close(left, M @ bracket(c.model, x, y), 1e-12, 1, least=float(np.abs(M).max()))


@pytest.mark.parametrize("kind", ["free", "spherical"])
def test_ball_and_floating_armature_inside_a_tree(kind: str) -> None:
    """As if a body without weight, of that inertia, moved with the joint: a link on a carrier that is held still."""
    armature = (0.2, 0.9, 1.4, 0.3, 0.8, 0.1)[-joint_sizes(kind)[1] :]
    rng, X = fresh(2), np.eye(4)
    X[:3, :3] = random_rotation(rng)
    links = tuple(Link(name, Inertia(1.0, np.zeros(3), np.diag([0.2, 0.3, 0.4]))) for name in ("carrier", "link"))
    hinge = Joint("hinge", "revolute", WORLD, "carrier", axis=np.array([0.0, 0.0, 1.0]))
    joint = Joint("joint", kind, "carrier", "link", X, armature=armature)
    model = ff.build(Description("two", links, (hinge, joint)))
    bare = ff.build(Description("two", links, (hinge, replace(joint, armature=()))))
    q, v = ff.random_configuration(model, rng), rng.standard_normal(model.nv)
    more = ff.bias_forces(model, q, v) - ff.bias_forces(bare, q, v)
    A, l, w = np.array([0.0] * (6 - len(armature)) + list(armature)), np.zeros(3), v[-3:]
    if kind == "free":
        l = v[1:4]
    f, t = A[:3] * l, A[3:] * w
    expected = np.concatenate([np.cross(w, f), np.cross(w, t) + np.cross(l, f)])[-joint_sizes(kind)[1] :]
    np.testing.assert_allclose(more, np.concatenate([[0.0], expected]), atol=1e-14)
