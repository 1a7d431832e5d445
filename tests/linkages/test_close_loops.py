"""Closed models: postures, chosen joints, edits, refusals, NaN where singular; motions through a singularity without sign change of
the whole determinant, of two parallelograms that fold together."""

import copy
import freeflyer as ff
import functools
import numpy as np
import pytest
from closed_robots import robot, robots, state
from closeness import close, fresh, refused
from dataclasses import replace
from freeflyer.linkages.closing import close_with_partition, crosses_singularity, step_closed
from freeflyer.linkages.partition import partition
from kangaroo_leg import leg
from linkage_samples import BAR, planar, shifted
from types import SimpleNamespace


@pytest.mark.parametrize("name", robots())
def test_random_postures_are_closed(name: str) -> None:
    model = ff.close_loops(robot(name))
    q = ff.random_configuration(model, fresh(), (2, 10))
    assert q.shape == (2, 10, model.nq)
    assert np.abs(ff.linkages.constraint_residual(model, q)).max() < 1e-6
    assert np.ptp(q, axis=(0, 1)).max() > 0.1
    ff.mass_matrix(model, q)


def test_independent_joints_can_be_chosen() -> None:
    tree = robot("point")
    model = ff.close_loops(tree, independent=("j10", "j11", "j12"))
    assert [j.name for j in model.joints if j.nv] == ["base", "j10", "j11", "j12"]
    q, u = ff.neutral(model), fresh().standard_normal(model.nv)
    v = ff.velocity_map(model, q) @ u
    other = ff.close_loops(tree)
    same = v[other.reduction.split.independent]
    close(ff.kinetic_energy(model, q, u), ff.kinetic_energy(other, q, same), 1e-11)
    close(ff.velocity_map(other, q) @ same, v, 1e-11)
    edited = ff.with_gravity(model, (0.0, 0.0, -1.0))
    assert edited.reduction.split.independent.tolist() == model.reduction.split.independent.tolist()
    refused(ff.errors.LinkageError, "would be independent", ff.close_loops, tree, independent=("j10",))
    refused(ff.errors.LinkageError, "name fewer", ff.close_loops, tree, independent=("j10", "j11", "j12", "j00"))
    refused(ff.UnknownNameError, "j1O", ff.close_loops, tree, independent=("j1O",))
    refused(ff.InputError, "no loops", lambda: ff.close_loops(ff.robots.quadruped(), independent=("x",)))
    refused(ff.InputError, "independent must be a list", ff.close_loops, tree, independent="j10")


def test_too_few_independent_joints_are_no_singular_posture(models_folder) -> None:
    """Kangaroo's file has rounded digits: if too many joints are dependent, its redundant rows gain rank near by."""
    tree = ff.load(models_folder / "kangaroo" / "kangaroo.xml")
    motors = [j.name for j in ff.close_loops(tree).joints if j.nv == 1]
    count = int(fresh().integers(0, len(motors)))
    words = "do not determine all joints of 'kangaroo': 12 joints are independent.*'leg_left_1_motor'"
    refused(ff.errors.LinkageError, words, ff.close_loops, tree, independent=motors[:count])


GRIPPER = """<mujoco model="gripper"><worldbody><body name="palm"><geom type="box" size=".05 .02 .02"/>
  <body name="left" pos=".05 .03 0"><joint name="left" type="slide" axis="0 1 0"/><geom type="box" size=".03 .01 .01"/>
    <body name="left_tip" pos=".03 0 0"><joint name="left_tip" axis="0 0 1"/><geom type="box" size=".03 .01 .01"/></body></body>
  <body name="right" pos=".05 -.03 0"><joint name="right" type="slide" axis="0 -1 0"/><geom type="box" size=".03 .01 .01"/>
    <body name="right_tip" pos=".03 0 0"><joint name="right_tip" axis="0 0 1"/><geom type="box" size=".03 .01 .01"/></body></body>
  </body></worldbody>
  <tendon><fixed name="split"><joint joint="left" coef=".5"/><joint joint="right" coef=".5"/></fixed></tendon>
  <equality>{coupling}<connect name="bar" body1="left_tip" body2="right_tip" anchor=".05 -.03 0"/></equality>
  <actuator><general name="grip" tendon="split"/></actuator></mujoco>"""


@pytest.mark.parametrize(("coupling", "joints"), [("", ["left", "left_tip"]), ('<joint joint1="right" joint2="left"/>', ["left"])])
def test_grippers_that_a_tendon_drives_are_closed_by_named_joints(tmp_path, coupling: str, joints: list[str]) -> None:
    """Refused without names, with words that say what to do; with them they move as MuJoCo moves them."""
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "gripper.xml"
    path.write_text(GRIPPER.format(coupling=coupling))
    tree = ff.load(path)
    refused(ff.errors.LinkageError, rf"'bar' tie .* choose {len(joints)} of them, .*independent=", ff.close_loops, tree)
    refused(ff.errors.LinkageError, r"cannot all be independent.*name fewer", ff.close_loops, tree, [*joints, "right_tip"])
    model = ff.close_loops(tree, joints)
    assert (model.actuated, ff.control.joint_inputs(model).names) == (tuple(joints), tuple(joints))
    for again in (copy.deepcopy(model), ff.with_gravity(copy.deepcopy(model), (0.0, 0.0, 0.0))):
        assert again.actuated == tuple(joints)
    rng = fresh(coupling)
    tau = rng.standard_normal(model.nv)
    a = ff.velocity_map(model, model.neutral) @ ff.forward_dynamics(model, model.neutral, np.zeros(model.nv), tau)
    m = mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    for name, force in zip(joints, tau):
        d.qfrc_applied[m.joint(name).dofadr[0]] = force
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    m.eq_solref[:], m.eq_solimp[:] = (-1.0, -1.0), (0.9999999, 0.9999999, 0.001, 0.5, 2.0)  # hard, without a spring
    m.opt.tolerance, m.opt.iterations = 0.0, 500
    mujoco.mj_forward(m, d)
    expected = np.array([d.qacc[m.joint(joint.name).dofadr[0]] for joint in tree.joints if joint.nv and joint.mimic is None])
    close(a, expected, 1e-3, least=np.abs(d.qacc_smooth).max())  # its constraints give way to 1e-4 of what they hold


def test_edits_and_writers_take_closed_models(tmp_path) -> None:
    model = ff.close_loops(robot("point"))
    for edited in (ff.with_gravity(model, (0.0, 0.0, -1.0)), ff.attach_payload(model, "l03", 1.0), ff.merge_fixed(model)):
        assert edited.nv == model.nv
        assert edited.reduction
    for writer, name in ((ff.to_urdf, "robot.urdf"), (ff.to_mjcf, "robot.xml")):
        d = model.description  # MuJoCo has one armature for all coordinates of a joint
        plain = ff.close_loops(ff.build(replace(d, joints=tuple(replace(j, armature=()) for j in d.joints))))
        for k, x in enumerate((plain, plain.tree)):
            writer(x, tmp_path / f"{k}_{name}")
        assert (tmp_path / f"0_{name}").read_bytes() == (tmp_path / f"1_{name}").read_bytes()
    part = ff.linkages.extract_limb(model, "l03")
    assert part.reduction
    assert part.nv < model.nv
    assert ff.close_loops(model) is model
    assert ff.close_loops(model.tree) is model
    assert ff.close_loops(humanoid := ff.robots.humanoid()) is humanoid.tree is humanoid
    assert model.tree is robot("point")


def test_refusals_name_the_fault() -> None:
    model = robot("point")
    s = state(model, fresh(17), 0.02)
    open_q = s.q.copy()
    open_q[-1] += 1e-3
    refused(ff.errors.LinkageError, "loop 'loop0' is open", lambda: ff.mass_matrix(ff.close_loops(model), open_q))
    refused(ff.errors.LinkageError, "q\\[3\\]", lambda: ff.mass_matrix(ff.close_loops(model), np.array([s.q, s.q, s.q, open_q])))
    refused(ff.InputError, "nv = 9", lambda: ff.bias_forces(ff.close_loops(model), s.q, np.zeros(model.nv)))
    tied = robot("held")  # to the world: its hull cannot leave
    steps = np.outer([0.0, 0.0, 50.0], np.eye(len(partition(tied).independent))[0])
    with pytest.raises(ff.errors.LinkageError, match=r"do not close again after .* at q\[2\]"):
        ff.integrate(ff.close_loops(tied), np.array(partition(tied).q), steps)
    with pytest.raises(ff.errors.LinkageError, match="does not keep the loops closed"):
        ff.linkages.constraint_multipliers(model, s.q, np.ones(model.nv), tau=np.zeros(model.nv))
    refused(ff.InputError, "either", ff.linkages.constraint_multipliers, model, s.q, np.zeros(model.nv))


FLAT = (0, 3, 8, 21)


def arrays(result) -> list[np.ndarray]:
    return list(result) if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("loads", [{}, {"gravity": (1.0, 0.0, -3.0)}, {"external": {"l1_bar": np.arange(6.0)}}])
@pytest.mark.parametrize("name", ["forward_dynamics", "inverse_mass_matrix", "forward_dynamics_derivatives"])
def test_flat_postures_give_nan(name, loads):
    """Of a parallelogram, whose angles are (a, -a, a); at zero all bars lie in one line."""
    model = planar((0.2, 0.5), (0.2,), 0.5)
    angle = np.linspace(0.2, 1.0, 30)
    angle[list(FLAT)] = 0.0
    q = angle[:, None] * [1.0, -1.0, 1.0]
    u, tau = fresh(0).standard_normal((2, 30, 1))
    inputs, loads = ((q,), {}) if name == "inverse_mass_matrix" else ((q, u, tau), loads)
    call = getattr(ff, name)
    result = call(ff.close_loops(model), *inputs, on_failure="nan", **loads)
    failed = np.isin(np.arange(30), FLAT)
    refused(ff.FreeflyerError, "singular", lambda: call(ff.close_loops(model), *inputs, **loads))
    expected = call(ff.close_loops(model), *(x[~failed] for x in inputs), **loads)
    for x, y in zip(arrays(result), arrays(expected), strict=True):
        assert np.isnan(x[failed]).all()
        np.testing.assert_allclose(x[~failed], y, rtol=1e-12)
    one = call(ff.close_loops(model), *(x[0] for x in inputs), on_failure="nan", **loads)
    assert all(np.isnan(x).all() for x in arrays(one))


CRANK, GROUND = 0.2, 0.5
START = 0.5  # rad


@functools.cache
def mirrored(sides: tuple[float, ...] = (1.0, -1.0), error: float = 0.0) -> ff.Model:
    """A crank that follows a motor and turns a parallelogram on each side, flat at zero; followers are `error` m too long."""
    links = [ff.Link(n, BAR) for n in ("ground", "rotor", "crank")]
    joints = [ff.Joint("root", "fixed", "world", "ground"),
              ff.Joint("motor", "revolute", "ground", "rotor", initial=(START,)),
        ff.Joint("crank", "revolute", "ground", "crank", initial=(START,))]  # fmt: skip
    sites, loops = [], []
    for k, side in enumerate(sides):
        links += [ff.Link(f"coupler{k}", BAR), ff.Link(f"follower{k}", BAR)]
        joints += [ff.Joint(f"coupler{k}", "revolute", "crank", f"coupler{k}", shifted(side * CRANK), initial=(-START,)),
            ff.Joint(f"follower{k}", "revolute", "ground", f"follower{k}", shifted(side * GROUND), initial=(START,))]  # fmt: skip
        sites.append(ff.Site(f"tip{k}", f"coupler{k}", shifted(side * GROUND)))
        sites.append(ff.Site(f"end{k}", f"follower{k}", shifted(side * (CRANK + error))))
        loops.append(ff.Loop(f"loop{k}", f"tip{k}", f"end{k}", (1, 1, 0, 0, 0, 0)))
    gear = ff.Coupling("gear", "crank", "motor", (0.0, 1.0))
    return ff.build(ff.Description("mirrored", tuple(links), tuple(joints), tuple(sites), tuple(loops), (gear,),
                                   actuated=("motor",)))  # fmt: skip


def test_blocks_that_do_not_come_apart():
    """The sample is one sub-mechanism, and its determinant keeps its sign where both parallelograms have folded."""
    model = mirrored()
    (block,) = partition(model).blocks
    q = np.array([_posture(model, a) for a in (0.1, -0.1)])
    J = ff.linkages.constraint_jacobian(model, q)[:, block.rows[:, None], block.dependent]
    signs = np.linalg.slogdet(J)[0]
    assert signs[0] == signs[1] != 0
    # As one matrix, the same folds are a pair of eigenvalues that change their signs
    p = close_with_partition(model, partition(model))
    assert len(p.reduction.blocks) > 1
    one = replace(p.reduction, blocks=((p.reduction.split.rows, p.reduction.split.dependent),))
    whole = SimpleNamespace(tree=p.tree, reduction=one)
    q = np.array([_posture(model, a) for a in (0.3, 0.1, -0.1)])
    assert crosses_singularity(whole, q[:2], q[1:]).tolist() == [False, True]
    assert crosses_singularity(whole, q[:1], _posture(model, 0.0)[None]).tolist() == [True]


@pytest.mark.parametrize("sides", [(1.0,), (1.0, -1.0), (1.0, 1.0), (1.0, -1.0, 1.0, -1.0)])
def test_folds_at_one_place_are_found(sides):
    model = mirrored(sides)
    x = np.linspace(START, -0.45, 22)
    swept = ff.linkages.sweep(model, {"motor": x})
    np.testing.assert_array_equal(swept.reached, x > 0.0)
    np.testing.assert_allclose(swept.q[x > 0], [_posture(model, a) for a in x[x > 0]], atol=1e-7)
    found = ff.linkages.first_singularity(model, {"motor": -1.0}, 1.0)
    assert found.distance == pytest.approx(START, abs=2e-6)
    assert found.independence < 1e-3
    assert found.loops == tuple(f"loop{k}" for k in range(len(sides)))


@pytest.mark.parametrize("count", [23, 401, 4001])
@pytest.mark.parametrize("error", [1e-9, 1e-8, -1e-8])
def test_rounded_digits_do_not_decide(count, error):
    """Bars alike up to 10 nm turn sharply from one mode into the other, nowhere singular: that is no way, either."""
    model = mirrored((1.0,), error)
    x = np.linspace(START, -0.45, count)
    clear = np.abs(x) > 2e-3
    np.testing.assert_array_equal(ff.linkages.sweep(model, {"motor": x}).reached[clear], x[clear] > 0.0)
    assert ff.linkages.first_singularity(model, {"motor": -1.0}, 1.0).distance == pytest.approx(START, abs=2e-3)


def test_long_steps_come_out_as_short_ones():
    """One step over a whole stroke is cut until its ends are near enough to each other to decide."""
    p = close_with_partition(leg(), partition(leg()))
    at = [p.joint(name).iv for name in ("left_length_motor", "left_yaw_motor")]
    du = np.zeros((3, p.nv))
    du[:, at] = [[0.15, 0.0], [0.07, 0.02], [0.0, -0.09]]
    q, fine = step_closed(p, np.repeat(p.reduction.split.q[None], 3, axis=0), du)
    assert fine.tolist() == [True, True, False]  # no rod is that short
    expected = ff.linkages.sweep(leg(), {"left_length_motor": [0.15, 0.07], "left_yaw_motor": [0.0, 0.02]}).q
    np.testing.assert_allclose(q[:2], [expected[0, 0], expected[1, 1]], atol=1e-8)
    # Eight states go side by side through compiled code; one that does not close leaves the others as they are alone
    rng = fresh(0)
    du = 0.01 * rng.standard_normal((11, p.nv))
    du[4] = 0.2
    many, fine = step_closed(p, np.repeat(p.reduction.split.q[None], 11, axis=0), du)
    for k in (0, 3, 5, 10):
        one, alone = step_closed(p, p.reduction.split.q[None], du[k : k + 1])
        assert alone[0] == fine[k]
        np.testing.assert_allclose(many[k], one[0], atol=1e-12)
        alike = step_closed(p, np.repeat(p.reduction.split.q[None], 8, axis=0), np.repeat(du[k : k + 1], 8, axis=0))[0]
        np.testing.assert_array_equal(alike, many[k][None].repeat(8, axis=0))
    assert not fine[4]


def _posture(model: ff.Model, angle: float) -> np.ndarray:
    q = np.zeros(model.nq)
    for joint in model.joints:
        if joint.nq:
            q[joint.iq] = -angle if joint.name.startswith("coupler") else angle
    return q
