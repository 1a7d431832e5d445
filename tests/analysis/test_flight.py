"""Free flights of robots that float, rest, or are held; postures and counts at their limits."""

from __future__ import annotations

import numpy as np
import pytest

import freeflyer as ff
from freeflyer.analysis import conditioning, free_fall, free_flight, matrices, middle_posture

LINK = ff.Inertia(1.0, np.array([0.1, 0.0, 0.0]), 0.01 * np.eye(3))
SPACE, FIXED = ff.robots.space_manipulator(), ff.lock_joints(ff.robots.chain(2), ["joint_1", "joint_2"])


def beside(kind: str, inertia: ff.Inertia) -> ff.Model:
    """A free box beside another body, which comes first."""
    links = (ff.Link("world"), ff.Link("other", inertia), ff.Link("box", LINK))
    joints = (
        ff.Joint("first", kind, "world", "other", axis=np.array([0.0, 1.0, 0.0]), armature=(0.1,) * (6 if kind == "free" else 1)),
        ff.Joint("float", "free", "world", "box"),
    )
    return ff.build(ff.Description("two", links, joints))


def test_the_base_is_where_its_velocities_stand():
    """Behind a body without mass the same box flies in the same way."""
    alone = ff.build(ff.Description("box", (ff.Link("world"), ff.Link("box", LINK)), (ff.Joint("float", "free", "world", "box"),)))
    a = free_flight(alone, duration=0.5, dt=0.01, spin=2.0)
    b = free_flight(beside("revolute", ff.Inertia(0.0, np.zeros(3), np.zeros((3, 3)))), duration=0.5, dt=0.01, spin=2.0)
    assert a.turned == pytest.approx(1.0, rel=0.05)
    assert b.turned == pytest.approx(a.turned, rel=1e-12)
    np.testing.assert_allclose(b.momentum, a.momentum, atol=1e-14)
    assert np.abs(b.momentum[:, :3]).max() < 1e-14


@pytest.mark.parametrize("kind", ["revolute", "free"])
def test_what_does_not_float_as_one_is_refused(kind):
    with pytest.raises(ff.InputError, match=r"'two' does not float as one: joint '(float|first)' carries only a part of its mass"):
        free_flight(beside(kind, LINK), duration=0.1, dt=0.01)


@pytest.mark.parametrize("model", [SPACE, ff.robots.kangaroo_like()], ids=["tree", "closed"])
def test_a_robot_at_rest_drifts_by_nothing(model):
    f = free_flight(model, spin=0.0, duration=0.05, dt=0.01)
    assert (f.drift, f.momentum_drift, f.turned) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(("call", "words"), [
    (lambda: free_flight(SPACE, spin=np.nan), "spin is nan"), (lambda: free_flight(SPACE, stiffness=np.inf), "stiffness is inf"),
    (lambda: free_flight(SPACE, seed=-1), "seed must be"), (lambda: free_flight(SPACE, SPACE.neutral[:-1]), "q has shape"),
    (lambda: free_flight(SPACE, np.tile(SPACE.neutral, (2, 1))), "one state"),
    (lambda: middle_posture(SPACE, steps=0), "steps must be a whole number of 1 or more"),
    (lambda: middle_posture(SPACE, steps=1.5), "steps must be"),
    (lambda: conditioning(SPACE, count=0), "count must be a whole number of 1 or more"),
    (lambda: conditioning(SPACE, seed=-1), "seed must be"), (lambda: matrices(SPACE, seed=-1), "seed must be"),
    (lambda: free_fall(SPACE, seed=-1), "seed must be"), (lambda: ff.analysis.identities(SPACE, count=0), "count must be"),
    (lambda: ff.analysis.identities(FIXED, count=0), "count must be"), (lambda: ff.analysis.check(SPACE, seed=-1), "seed must be"),
])  # fmt: skip
def test_bad_arguments_are_refused(call, words):
    with pytest.raises(ff.InputError, match=words):
        call()


def test_a_robot_without_degrees_of_freedom():
    found = conditioning(FIXED, count=3)
    assert (found.condition == 1.0).all()
    assert found.condition.shape == found.unit_free.shape == (3,)
    assert middle_posture(FIXED).shape == (0,)
    assert ff.analysis.identities(FIXED) == ()
