"""`all_terms` into given memory and without frames; configurations by joint names."""

import freeflyer as ff
import numpy as np
from closeness import close, fresh, refused
from pathlib import Path
from tangent import state
from test_loads import EXACT


def test_given_memory_and_no_frames():
    model = ff.robots.humanoid()
    feet = ff.frame_set(model, "left_sole", "right_sole")
    for lead in ((), (9,)):
        q, v, _ = state(model, fresh(), lead)
        alone = ff.all_terms(model, q, v, frames=feet)
        out = ff.all_terms(model, 0.0 * v[..., :1] + model.neutral, 0.0 * v, frames=feet)
        assert ff.all_terms(model, q, v, frames=feet, out=out) is out
        for field in AllTermsFields:
            assert np.array_equal(getattr(out, field), getattr(alone, field))
    q, v, _ = state(model, fresh())
    terms = ff.all_terms(model, q, v)
    assert terms.poses.shape == (0, 4, 4)
    assert terms.velocities.shape == terms.bias_accelerations.shape == (0, 6)
    assert terms.jacobians.shape == (0, 6, model.nv)
    close(terms.mass_matrix, ff.mass_matrix(model, q), EXACT)


AllTermsFields = ff.AllTerms._fields

TURN = [0.6, 0.0, 0.0, 0.8]


def arm() -> ff.Model:
    return ff.robots.chain(4, ["revolute", "spherical", "universal", "prismatic"], base="free")


def test_named_joints_and_all_others() -> None:
    model = arm()
    start = ff.random_configuration(model, fresh(1))
    names = [j.name for j in model.joints]
    q = ff.configuration(model, {names[1]: 0.3, names[2]: TURN}, start=start, **{names[3]: [0.1, 0.2]})
    ours = {j.name: q[j.iq : j.iq + j.nq].tolist() for j in model.joints}
    assert (ours[names[1]], ours[names[2]], ours[names[3]]) == ([0.3], TURN, [0.1, 0.2])
    for name in (names[0], names[4]):
        joint = model.joint(name)
        assert np.array_equal(q[joint.iq : joint.iq + joint.nq], start[joint.iq : joint.iq + joint.nq])
    assert np.array_equal(ff.configuration(model), ff.neutral(model))
    pose = [1.0, 2.0, 3.0, *TURN]
    assert np.array_equal(ff.configuration(model, {names[0]: pose})[:7], pose)
    one, ball = model.joints[1].name, model.joints[2].name
    fixed = ff.lock_joints(model, [one])
    links = tuple(ff.Link(n, ff.Inertia(1.0, np.zeros(3), np.eye(3))) for n in "ab")
    joints = (ff.Joint("a", "revolute", "world", "a"), ff.Joint("b", "revolute", "a", "b", mimic=ff.Mimic("a")))
    pair = ff.build(ff.Description("pair", links, joints))
    for bad, kind, words in (
        (lambda: ff.configuration(model, {one[:-1]: 0.1}), ff.UnknownNameError, "Did you mean 'joint_4'"),
        (lambda: ff.configuration(fixed, {one: 0.1}), ff.UnknownNameError, "That joint is fixed"),
        (lambda: ff.configuration(model, {one: 0.1}, **{one: 0.2}), ff.InputError, "given twice"),
        (lambda: ff.configuration(model, {ball: [0.0, 0.0, 0.0]}), ff.InputError, r"has shape \(3,\), expected \(\.\.\., 4\)"),
        (lambda: ff.configuration(model, {ball: [0.0, 0.0, 0.0, 2.0]}), ff.InputError, "norm 2, expected 1"),
        (lambda: ff.configuration(model, {one: np.nan}), ff.InputError, "every entry must be finite"),
        (lambda: ff.configuration(model, [one]), ff.InputError, "positions map names of joints"),
        (lambda: ff.configuration(model, start=np.zeros(3)), ff.InputError, r"start has shape \(3,\)"),
        (lambda: ff.configuration(pair, b=0.1), ff.InputError, "mimics 'a': give the position of that one"),
    ):
        refused(kind, words, bad)


def test_closed_robots_close(models_folder: Path) -> None:
    closed = ff.close_loops(ff.load(models_folder / "kangaroo" / "kangaroo.xml"))
    motor = "leg_left_length_motor"
    wanted = np.array([0.01, 0.02])
    q = ff.configuration(closed, {motor: wanted})
    assert np.allclose(q[:, closed.joint(motor).iq], wanted, atol=1e-15)
    ff.mass_matrix(closed, q)  # refuses postures that are open
    gap = np.abs(ff.linkages.constraint_residual(closed.tree, q)).max()
    assert gap < 1e-6
    assert np.abs(q - closed.neutral).max() > 0.05
    passive = next(j.name for j in closed.joints if j.nv < closed.tree.joint(j.name).nv)
    refused(ff.InputError, "follows from its loops: name independent joints", ff.configuration, closed, {passive: 0.1})
    refused(ff.FreeflyerError, "", ff.configuration, closed, {motor: 5.0})
