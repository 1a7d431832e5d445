"""Contacts that pull, wrenches in the axes that are asked for, cones of points with a file's digits."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import EXACT, close, fresh, refused
from freeflyer import contacts
from freeflyer.contacts.wrenches import NORMAL, cone_of_generators, point_wrenches, pyramid_edges
from robots_on_disk import example, needs_examples
from scipy.spatial import ConvexHull

LEGS = ("FL", "FR", "RL", "RR")
FEET = tuple(f"{leg}_foot" for leg in LEGS)


@needs_examples
def test_feet_at_rest_carry_the_weight():
    """Go2 on its four feet, shanks inclined by half a right angle and more."""
    model = ff.load(example("go2.urdf"), base="free")
    legs = {f"{leg}_{part}_joint": angle for leg in LEGS for part, angle in (("thigh", 0.9), ("calf", -1.8))}
    q, stance = ff.configuration(model, legs), ff.ConstraintSet(model, [contacts.point(foot) for foot in FEET])
    rest, weight = np.zeros(model.nv), 9.81 * model.mass
    tau = ff.constrained_inverse_dynamics(model, q, rest, rest, constraints=stance)
    d = ff.constrained_dynamics(model, q, rest, tau.tau, constraints=stance)
    for found in (tau, d):
        assert abs(found.normal_forces.sum() - weight) < 1e-9 * weight
        assert found.pulling == dict.fromkeys(FEET, False)
        for words, part in (("contact", slice(3)), ("mixed", slice(3)), ("world", slice(6))):
            total = sum(found.wrenches(words).values())[part]
            lever = np.cross(ff.center_of_mass(model, q), [0.0, 0.0, weight])
            close(total, np.concatenate([[0.0, 0.0, weight], lever])[part], 1e-9)
    assert sum(f[2] for f in d.forces.values()) < 0.7 * weight  # z of the inclined frames
    # Pushed forwards, the rear feet pull, though along z of their frames friction hides it
    rest = np.zeros(model.nv)
    push = {"base": np.array([300.0, 0.0, 0.0, 0.0, 0.0, 0.0])}
    d = ff.constrained_inverse_dynamics(model, q, rest, rest, constraints=stance, external=push)
    assert d.pulling == {"FL_foot": False, "FR_foot": False, "RL_foot": True, "RR_foot": True}
    assert all(f[2] > 0.0 for f in d.forces.values())
    free = ff.forward_dynamics(model, q, rest, d.tau, external=dict(d.forces) | push)
    close(free, rest, 1e-9)


@pytest.mark.parametrize("as_rows", [False, True])
def test_soles_of_closed_robots_on_a_slope(as_rows):
    """A closed model, and its tree with loops as rows, tilted: the normal force is that of the wrench in world axes."""
    rng = fresh()
    closed = ff.close_loops(ff.robots.kangaroo_like())
    turned = np.zeros(closed.nv)
    turned[3:6] = 0.5 * rng.standard_normal(3)
    q, n = ff.integrate(closed, closed.neutral, turned), rng.standard_normal(3)
    model = closed.tree if as_rows else closed
    stance = ff.ConstraintSet(model, [contacts.surface("left_sole", normal=n), contacts.point("right_sole")])
    tau = rng.standard_normal((7, model.nv))
    d = ff.constrained_dynamics(model, q, np.zeros(model.nv), tau, constraints=stance)
    one = ff.constrained_dynamics(model, q, np.zeros(model.nv), tau[3], constraints=stance)
    for k, (name, normal) in enumerate({"left_sole": n / np.linalg.norm(n), "right_sole": np.array([0.0, 0.0, 1.0])}.items()):
        R = ff.frame_pose(closed, q, name)[:3, :3]
        along = d.forces[name][:, :3] @ (R.T @ normal)
        close(d.normal_forces[:, k], along, 1e-9)
        close(one.normal_forces[k], along[3], 1e-8)
        assert d.pulling[name].tolist() == (along < 0.0).tolist()
        close(d.wrenches("contact")[name][:, 2], along, 1e-9)
    known = {name: w for name, w in d.wrenches("world").items() if name in stance.item_names}
    alone = ff.ConstraintSet(model)
    given = ff.constrained_dynamics(model, q, np.zeros(model.nv), tau, constraints=alone, external=known, expressed="world")
    close(given.a, d.a, 1e-10 * max(1.0, np.abs(d.a).max()))


def test_axes_of_contacts_loops_and_locks():
    """A force at an arm keeps its moment in the contact's axes: p x f there is p x f turned."""
    rng = fresh()
    model, sole = ff.robots.humanoid(), "left_sole"
    for n in (*np.eye(3), *-np.eye(3), *rng.standard_normal((5, 3))):
        p, f = rng.standard_normal((2, 3))
        wrenches = [{sole: np.concatenate([x, y])} for x, y in ((f, np.cross(p, f)), (p, p))]
        contact = contacts.surface(sole, normal=n)
        (g, moment), (arm, _) = (contacts.express_wrenches(model, model.neutral, w, [contact])[sole].reshape(2,
         3) for w in wrenches)  # fmt: skip
        close(moment, np.cross(arm, g), 1e-12)
    # In other axes they still give the same accelerations as known wrenches
    closed = ff.close_loops(ff.robots.kangaroo_like())
    model, q = closed.tree, closed.neutral
    stance = ff.ConstraintSet(model, [contacts.surface("left_sole")], locks=[closed.joints[-1].name])
    d = ff.constrained_dynamics(model, q, np.zeros(model.nv), rng.standard_normal(model.nv), constraints=stance)
    assert set(d.wrenches("contact")) == {"left_sole"}
    frames = {loop.name: loop.frame_b for loop in model.loops} | {stance.locks[0]: model.joint(stance.locks[0]).child}
    for name, wrench in d.wrenches("world").items():
        X = ff.frame_pose(model, q, frames.get(name, name))
        expected = ff.spatial.wrench.change_expression(d.forces[name], X, "body", "world")
        close(wrench, expected, EXACT * max(1.0, np.abs(wrench).max()))
    changed = q.copy()
    later = ff.constrained_dynamics(model, changed, np.zeros(model.nv), np.zeros(model.nv), constraints=stance)
    before = later.wrenches("mixed")["left_sole"]
    changed[:7] = ff.random_configuration(model, rng)[:7]
    assert (later.wrenches("mixed")["left_sole"] == before).all()
    model = ff.robots.quadruped()
    q, rest = ff.robots.standing_posture(model), np.zeros(model.nv)
    foot = contacts.point("front_left_foot")
    for bad in (np.zeros(3), [1.0, 2.0], "up", [np.nan, 0.0, 1.0]):
        refused(ff.InputError, "normal", contacts.point, "front_left_foot", normal=bad)
    d = ff.constrained_dynamics(model, q, rest, rest, constraints=ff.ConstraintSet(model, foot))
    for bad in ("ground", None, ["world"]):
        refused(ff.InputError, "'contact', got", d.wrenches, bad)
    refused(ff.InputError, "contacts must be a list", contacts.express_wrenches, model, q, d.forces, ["front_left_foot"])


def test_facets_that_digits_of_a_file_tell_apart_are_one():
    """Of a sole that is tilted a little, in numbers of nine digits; the facets lie inside of all its own."""
    rng = fresh()
    corners = np.array([[x, y, 0.0] for x in (-0.1, 0.1) for y in (-0.05, 0.05)])
    for _ in range(20):
        tilted = corners @ ff.spatial.quaternion.to_matrix(ff.spatial.quaternion.exp(3e-5 * rng.standard_normal(3))).T
        G = np.concatenate([pyramid_edges(0.6) @ point_wrenches(p) for p in np.round(tilted, 9)])
        cone, own = cone_of_generators(G), ConvexHull(np.delete(G, NORMAL, axis=1)).equations
        assert len(cone.C) < len(np.unique(np.round(own, 9), axis=0))
        assert (cone.C @ G.T).max() < 1e-4  # what it leaves out
        y = rng.dirichlet(0.1 * np.ones(len(G)), 2000) @ G + 1e-5 * rng.standard_normal((2000, 6))
        y[:, NORMAL] = 1.0
        y = y[(y @ cone.C.T <= 0.0).all(axis=1)]
        assert len(y) > 100
        assert (np.delete(y, NORMAL, axis=1) @ own[:, :-1].T + own[:, -1]).max() < 1e-12
