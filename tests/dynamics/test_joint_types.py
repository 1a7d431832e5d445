"""Every joint kind and mixed trees beside Pinocchio."""

import freeflyer as ff
import numpy as np
import pin_built
import pytest
from answers import all_errors, stacked, too_large
from closeness import fresh
from dataclasses import replace
from freeflyer.model import slides
from freeflyer.model.description import joint_sizes
from peers import reference
from random_robots import BASES, KINDS, random_description, random_robot

MOVING = tuple(k for k in KINDS if k != "fixed")


def compare(model: ff.Model, seed: int) -> dict[str, float]:
    """Relative errors against Pinocchio at three random states."""
    p, rng = pin_built.built(model), fresh(seed)
    states = ff.random_configuration(model, rng, 3), *rng.standard_normal((3, 3, model.nv))
    wrenches = {name: rng.standard_normal(6) for name in list(p.links)[::3]}
    theirs = stacked(reference(p, *x, wrenches) for x in zip(*states))
    if model.armature.any():
        del theirs["kinetic energy, by bodies"]  # Pinocchio's takes the armature of the wrong joints; its M does not
    found = all_errors(model, states, p.links, wrenches, theirs)
    assert len(found) > 60
    return found


@pytest.mark.peers
@pytest.mark.parametrize("base", ["free", "fixed"])
@pytest.mark.parametrize("kind", MOVING)
def test_kind_agrees_with_pinocchio(kind: str, base: str) -> None:
    model = random_robot(fresh(KINDS.index(kind)), 5, (kind,), base, mimics=0.0)
    assert (model.nv, too_large(compare(model, 1))) == (5 * joint_sizes(kind)[1] + 6 * (base == "free"), {})


@pytest.mark.parametrize("kind", MOVING)
def test_lengths_are_the_coordinates_that_turn_nothing(kind: str) -> None:
    model = random_robot(fresh(KINDS.index(kind)), 5, (kind,), mimics=0.0)
    q = ff.random_configuration(model, fresh(1))
    turned = sum(np.linalg.norm(ff.frame_jacobian(model, q, name)[3:], axis=0) for name in model.link_names)
    assert np.array_equal(slides(model), turned < 1e-9)


@pytest.mark.peers
@pytest.mark.parametrize("seed", range(24))
def test_mixed_trees_agree(seed: int) -> None:
    rng = fresh(100 + seed)
    model = random_robot(rng, int(rng.integers(4, 14)), KINDS, BASES[seed % 4], mimics=0.4)
    assert too_large(compare(model, seed)) == {}


@pytest.mark.peers
@pytest.mark.parametrize("kind", ["revolute", "prismatic", "helical", "cylindrical", "planar", "universal"])
def test_axes_near_the_poles(kind: str) -> None:
    """z and -z themselves, and all but: the robot's axes are turned to z, where digits could be lost."""
    rng = fresh(4)
    for tilt in (0.0, 1e-15, 1e-12, 1e-9, 1e-7, 1e-6, 1.5e-6, 3e-6, 1e-5, 1e-4, 1e-3, 1e-2):
        if kind == "planar" and 0.0 < tilt < 3e-6:
            continue
        for z in (1.0, -1.0):
            d = random_description(rng, 3, (kind,), mimics=0.0)
            joint = d.joint("joint_2")
            axis = np.array([0.6 * tilt, -0.8 * tilt, z])
            model = ff.load(d.with_joint(replace(joint, axis=axis, axis2=np.array([0.3, 1.0, 0.0]))), base=None)
            found = compare(model, 4)
            assert too_large(found) == {}, f"axis {axis}"
            assert found["pose"] < 1e-13


def test_whole_turns_change_nothing() -> None:
    model = ff.robots.chain(4, "continuous", base="free")
    rng = fresh(0)
    q, v = ff.random_configuration(model, rng), rng.standard_normal(model.nv)
    far = q.copy()
    far[7:] += 2.0 * np.pi * np.array([1, -3, 100, -1000])  # each turn costs 2e-16 of the angle: 1e-12 in all
    np.testing.assert_allclose(ff.bias_forces(model, far, v), ff.bias_forces(model, q, v), atol=1e-10)
    assert ff.integrate(model, far, v)[7:] == pytest.approx(far[7:] + v[6:], abs=1e-12)
