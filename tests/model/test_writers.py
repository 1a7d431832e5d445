"""What is written reads back as the same robot, and other programs agree with it. MJCF of random robots, trees and closed
linkages: what is written reads back as the same machine."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh, refused
from dataclasses import replace
from freeflyer import linkages
from freeflyer.model.description import WORLD, Inertia, Joint, Link, joint_sizes
from freeflyer.model.load import describe, load
from freeflyer.model.readers.mjcf.bodies import FIELDS
from freeflyer.model.validate import validate
from linkage_samples import MASKS, random_linkage
from random_robots import random_description
from readers_samples import differences, with_hinge_loop, zoo
from robots_on_disk import EXAMPLES, example_urdfs, needs_examples
from test_readers_urdf import REFUSED


@pytest.mark.parametrize("base", ["free", "fixed", "planar"])
def test_root_joint_is_left_to_load(base):
    """The joint that `load` adds is not written, so that the same base gives the same robot."""
    description = replace(zoo(1, base=base), sites=(), loops=())
    text = ff.to_urdf(description)
    assert "root_joint" not in text
    assert differences(description, describe(text, base=base)) == []
    assert differences(description, describe(ff.to_mjcf(description), base=None)) == []


def test_robots_are_written_with_their_root_and_models():
    description = zoo(2)
    damped = description.with_joint(replace(description.joint("root_joint"), damping=(0.1,) * 6))
    for robot in (damped, replace(damped, sites=(), loops=())):
        assert differences(robot, describe(ff.to_urdf(robot), base="free")) == []
    model = ff.build(zoo(3))
    assert differences(model.description, describe(ff.to_mjcf(model), base=None)) == []
    assert differences(model.description, describe(ff.to_urdf(model), base=None)) == []
    model = load(ff.to_urdf(load(ff.to_urdf(zoo(5)), base=None)), base=None)
    assert (model.nq, model.nv) == (ff.build(zoo(5)).nq, ff.build(zoo(5)).nv)


@pytest.mark.parametrize("seed", range(3))
def test_initial_positions_and_refs_read_back(seed):
    rng = fresh(seed)
    description = zoo(seed)
    joints = []
    for j in description.joints:
        nq = joint_sizes(j.kind)[0]
        q = rng.uniform(-1.0, 1.0, nq)
        if j.kind in ("free", "spherical"):
            q[-4:] /= np.linalg.norm(q[-4:]) * np.sign(q[-1])
        joints.append(replace(j, initial=tuple(float(x) for x in q)))
    description = validate(replace(description, joints=tuple(joints)))
    for text in (ff.to_urdf(description), ff.to_mjcf(description)):
        back = describe(text, base=None)
        assert differences(description, back) == []
        for j in description.joints:
            np.testing.assert_allclose(back.joint(j.name).initial, j.initial, atol=1e-12, err_msg=j.name)


@needs_examples
@pytest.mark.parametrize("path", [p for p in example_urdfs() if p.name not in REFUSED],
                         ids=lambda p: str(p.relative_to(EXAMPLES)))  # fmt: skip
def test_example_robots_read_back_from_urdf(path):
    description = describe(path)
    assert differences(description, describe(ff.to_urdf(description))) == []


@needs_examples
@pytest.mark.parametrize("name", ["talos_reduced.urdf", "g1_29dof_rev_1_0.urdf", "panda.urdf", "human.urdf"])
def test_example_robots_read_back_from_mjcf(name):
    description = describe(next(p for p in example_urdfs() if p.name == name))
    assert differences(description, describe(ff.to_mjcf(description))) == []


def hung(joint, *more, link=None):
    """A robot of one joint on the world, and what hangs on it."""
    solid = Inertia(1.0, np.zeros(3), np.eye(3))
    links = [link or Link(joint.child, solid)] + [Link(j.child, solid) for j in more]
    return replace(zoo(0), links=tuple(links), joints=(joint, *more), sites=(), loops=(), couplings=(), actuated=())


UNWRITABLE = {
    "helical": (hung(Joint("h", "helical", WORLD, "a", pitch=0.1)), "helical joint 'h' cannot be written.*is soft"),
    "hinge loop": (with_hinge_loop(zoo(0)), "loop 'hinge' with mask .* cannot be written: MuJoCo ties points"),
    "no base": (replace(zoo(0), joints=zoo(0).joints[1:], loops=(), sites=()), "not tied to the world.*with_base"),
    "free joint off the world": (
        hung(Joint("h", "revolute", WORLD, "a"), Joint("f", "free", "a", "b")), "free joint 'f' cannot be written"),
    "massless mover": (hung(Joint("h", "revolute", WORLD, "a"), link=Link("a")), "MuJoCo refuses.*'a'.*give the named"),
    "triangle": (
        hung(Joint("h", "revolute", WORLD, "a"), link=Link("a", Inertia(1.0, np.zeros(3), np.diag([1.0, 1.0, 5.0])))),
        "link 'a' cannot be written: its principal moments are 1, 1, 5"),
    "half a range": (
        hung(Joint("h", "revolute", WORLD, "a", lower=(-np.inf,), upper=(1.0,))), "ranges have two finite ends"),
    "losses of each coordinate": (
        hung(Joint("h", "spherical", WORLD, "a", damping=(1.0, 2.0, 3.0))), "one number for all its coordinates"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNWRITABLE)
def test_what_mjcf_cannot_hold_is_refused(case):
    description, words = UNWRITABLE[case]
    refused(ff.DescriptionError, words, ff.to_mjcf, description)


def test_deep_flat_locked_and_unlimited_robots():
    joints = [Joint(f"j{k}", "revolute", f"l{k - 1}" if k else WORLD, f"l{k}") for k in range(600)]
    description = hung(*joints)
    refused(ff.DescriptionError, r"would nest 60. elements; MuJoCo reads 500", ff.to_mjcf, description)
    assert differences(description, describe(ff.to_urdf(description), base=None)) == []
    locked = hung(Joint("h", "revolute", WORLD, "a", lower=(0.5,), upper=(0.5,), effort=(0.0,), velocity=(0.0,)))
    open_ended = hung(Joint("h", "revolute", WORLD, "a", lower=(-np.inf,), upper=(1.0,), velocity=(np.inf,)))
    assert differences(locked, describe(ff.to_urdf(locked), base=None)) == []
    back = describe(ff.to_mjcf(locked), base=None).joint("h")
    assert [getattr(back, f) for f in FIELDS[:4]] == [(0.5,), (0.5,), (0.0,), (0.0,)]
    back = describe(ff.to_urdf(open_ended), base=None).joint("h")
    assert (back.lower, back.upper, back.velocity) == ((-np.inf,), (1.0,), (np.inf,))
    # A thin plate obeys the triangle inequality with equality, which rounding may break by a bit
    rng = fresh(0)
    for _ in range(50):
        a, b = rng.uniform(0.1, 1.0, 2)
        R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        J = R @ np.diag([a, b, a + b]) @ R.T
        plate = hung(Joint("h", "revolute", WORLD, "a"), link=Link("a", Inertia(1.0, np.zeros(3), 0.5 * (J + J.T))))
        assert differences(plate, describe(ff.to_mjcf(plate), base=None)) == []


KINDS = ("revolute", "continuous", "prismatic", "spherical", "cylindrical", "planar", "universal", "fixed")
TIES = (MASKS["point"], MASKS["weld"])  # that MuJoCo's equalities are


@pytest.mark.parametrize("base", ["free", "fixed"])
@pytest.mark.parametrize("k", range(8))
def test_trees_read_back(k: int, base: str) -> None:
    """To rounding, with the joints in other orders, joints that follow others, and armatures."""
    description = random_description(fresh("mjcf", k), 8, KINDS, base, mimics=0.3)
    joint = description.joint("base")
    if base == "free":  # MuJoCo's stand at the world's origin, each with one armature
        description = description.with_joint(replace(joint, placement=np.eye(4)))
    joints = tuple(replace(j, armature=j.armature[:1] * len(j.armature)) for j in description.joints)
    description = replace(description, joints=joints)
    back = ff.load(ff.to_mjcf(description), base=None)
    assert differences(description, back.description) == []
    model, rng = ff.build(description), fresh(k)
    q = ff.random_configuration(model, rng)
    v = rng.standard_normal(model.nv)
    iq, iv = places(model, back)
    q_back, v_back = np.empty(back.nq), np.empty(back.nv)
    q_back[iq], v_back[iv] = q, v
    close(ff.mass_matrix(back, q_back)[np.ix_(iv, iv)], ff.mass_matrix(model, q))
    close(ff.bias_forces(back, q_back, v_back)[iv], ff.bias_forces(model, q, v))


@pytest.mark.parametrize("k", range(8))
def test_linkages_read_back(k: int) -> None:
    """Loops tie the same frames: the same residual and Jacobian away from closure, too."""
    rng = fresh("mjcf loops", k)
    model, _ = random_linkage(rng, tuple(TIES[i] for i in rng.integers(len(TIES), size=1 + k % 3)), 8, KINDS[:4], at_zero=True)
    back = ff.load(ff.to_mjcf(model), base=None)
    iq, iv = places(model, back)
    q = ff.integrate(model, model.neutral, 0.1 * rng.standard_normal(model.nv))
    q_back = np.empty(back.nq)
    q_back[iq] = q
    assert {loop.name for loop in back.loops} == {loop.name for loop in model.loops}
    close(linkages.constraint_residual(back, q_back), linkages.constraint_residual(model, q))
    close(linkages.constraint_jacobian(back, q_back)[:, iv], linkages.constraint_jacobian(model, q))


def places(model: ff.Model, back: ff.Model) -> tuple[np.ndarray, np.ndarray]:
    """Where entries of q and v of one are in those of the other."""
    pairs = [(back.joint(j.name), j) for j in model.joints if j.nv and j.mimic is None]
    found = []
    for first, size, whole in (("iq", "nq", model.nq), ("iv", "nv", model.nv)):
        at = np.empty(whole, int)
        for there, here in pairs:
            own = np.arange(getattr(here, size))
            at[getattr(here, first) + own] = getattr(there, first) + own
        found.append(at)
    return found[0], found[1]
