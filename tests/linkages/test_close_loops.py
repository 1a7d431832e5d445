"""Closed models: every quantity in independent velocities, against differences along the linkage and against the tree's own."""

import copy
import freeflyer as ff
import numpy as np
import pytest
from closed_robots import robot, robots, state
from closeness import close, close_to_rate, close_to_slopes, fresh, refused
from dataclasses import replace
from freeflyer import control, linkages

MODELS = ("point", "nested", "weld", "coupled", "turn", "held")


def sample(name: str) -> tuple[ff.Model, np.ndarray, np.ndarray, np.ndarray]:
    model = ff.close_loops(robot(name))
    s = state(model.tree, fresh(), 0.02)
    return model, s.q, s.u, s.u_dot


@pytest.mark.parametrize("name", MODELS)
def test_derivatives_of_motions(name: str) -> None:
    """Of frames, momentum and moves, along independent steps; wrong in the fourth digit where the map's change is left out."""
    model, q, u, u_dot = sample(name)
    frame = model.link_names[-2]

    def moved(e: np.ndarray) -> np.ndarray:
        return ff.integrate(model, q, e)

    for expressed in ("body", "mixed", "world"):
        d = ff.frame_velocity_derivatives(model, q, u, frame, expressed)
        close_to_slopes(d.dq, lambda e, x=expressed: ff.frame_velocity(model, moved(e), u, frame, x), 2e-4, 1e-8)
        close(d.dv, ff.frame_jacobian(model, q, frame, expressed), 1e-11)
        d = ff.frame_acceleration_derivatives(model, q, u, u_dot, frame, expressed)
        close_to_slopes(d.dq, lambda e, x=expressed: ff.frame_acceleration(model, moved(e), u, u_dot, frame, x), 2e-4, 1e-7)
        close_to_slopes(d.dv, lambda e, x=expressed: ff.frame_acceleration(model, q, u + e, u_dot, frame, x), 1e-2, 1e-8)
        close(d.da, ff.frame_jacobian(model, q, frame, expressed), 1e-11)
    d = ff.centroidal_momentum_derivatives(model, q, u)
    close_to_slopes(d.dq, lambda e: ff.centroidal_momentum(model, moved(e), u), 2e-4, 1e-8)
    d = ff.centroidal_momentum_rate_derivatives(model, q, u, u_dot)
    close_to_slopes(d.dq, lambda e: ff.centroidal_momentum_rate(model, moved(e), u, u_dot), 2e-4, 1e-7)
    close_to_slopes(d.dv, lambda e: ff.centroidal_momentum_rate(model, q, u + e, u_dot), 1e-2, 1e-8)
    close(d.da, ff.centroidal_momentum_matrix(model, q), 1e-11)
    close(ff.centroidal_momentum_rate(model, q, u, u_dot),
          ff.centroidal_momentum_matrix(model, q) @ u_dot + ff.centroidal_bias(model, q, u), 1e-11)  # fmt: skip
    d = ff.center_of_mass_acceleration_derivatives(model, q, u, u_dot)
    close_to_slopes(d.dq, lambda e: ff.center_of_mass_acceleration(model, moved(e), u, u_dot), 2e-4, 1e-7)


@pytest.mark.parametrize("name", ["point", "coupled", "held"])
def test_derivatives_of_moves(name: str) -> None:
    model, q, u, _ = sample(name)
    there = ff.integrate(model, q, 0.01 * u)
    d = ff.integrate_derivatives(model, q, 0.01 * u)

    def seen(x: np.ndarray) -> np.ndarray:
        return ff.difference(model, there, x)

    close_to_slopes(d.dq, lambda e: seen(ff.integrate(model, ff.integrate(model, q, e), 0.01 * u)), 2e-4, 1e-7)
    close_to_slopes(d.ddv, lambda e: seen(ff.integrate(model, q, 0.01 * u + e)), 2e-4, 1e-7)
    d = ff.difference_derivatives(model, q, there)
    close_to_slopes(d.dq0, lambda e: ff.difference(model, ff.integrate(model, q, e), there), 2e-4, 1e-7)
    close_to_slopes(d.dq1, lambda e: ff.difference(model, q, ff.integrate(model, there, e)), 2e-4, 1e-7)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("step", [None, 0.002])
def test_output_map_has_twelve_rows_a_frame(name: str, step: float | None) -> None:
    """F7: of trees and closed models alike."""
    model, q, u, tau = sample(name)
    frames = model.link_names[-3:-1]
    line = ff.linearize(model, q, u, tau, frames=frames, dt=step)
    tree = ff.linearize(model.tree, q, np.zeros(model.tree.nv), np.zeros(model.tree.nv), frames=frames)
    assert line.C.shape == (24, 2 * model.nv)
    assert tree.C.shape == (24, 2 * model.tree.nv)
    for k, frame in enumerate(frames):
        d, rows = ff.frame_velocity_derivatives(model, q, u, frame), slice(12 * k, 12 * k + 12)
        close(line.C[rows], np.block([[d.dv, np.zeros_like(d.dv)], [d.dq, d.dv]]), 1e-12)


@pytest.mark.parametrize("name", ["point", "weld"])
def test_second_derivatives(name: str) -> None:
    model, q, u, u_dot = sample(name)
    rng = fresh()
    x, y, z = rng.standard_normal((3, model.nv))
    external = {model.link_names[-2]: 10.0 * rng.standard_normal(6)}
    loads = {"external": external, "gravity": rng.standard_normal(3), "expressed": "mixed"}
    found = ff.inverse_dynamics_second_derivatives(model, q, u, u_dot, x, y, z, **loads)

    def gradient(k: float) -> np.ndarray:
        at = ff.integrate(model, q, k * x), u + k * y, u_dot + k * z
        return np.array(ff.inverse_dynamics_derivatives(model, *at, **loads))

    close_to_rate(np.array(found), gradient, 2e-4, 1e-8)


@pytest.mark.parametrize("name", MODELS)
def test_all_terms_are_the_terms_one_by_one(name: str) -> None:
    model, q, u, _ = sample(name)
    frames, g = ff.frame_set(model, *model.link_names[-3:-1]), np.array([0.3, -1.0, -5.0])
    t = ff.all_terms(model, q, u, frames=frames, expressed="body", gravity=g)
    close(t.mass_matrix, ff.mass_matrix(model, q), 1e-11)
    close(t.bias_forces, ff.bias_forces(model, q, u, gravity=g), 1e-10)
    close(t.gravity_forces, ff.gravity_forces(model, q, gravity=g), 1e-11)
    close(t.center_of_mass_jacobian, ff.center_of_mass_jacobian(model, q), 1e-11)
    close(t.centroidal_momentum, ff.centroidal_momentum(model, q, u), 1e-11)
    close(t.centroidal_bias, ff.centroidal_bias(model, q, u), 1e-10)
    for k, frame in enumerate(frames.names):
        close(t.jacobians[k], ff.frame_jacobian(model, q, frame), 1e-11)
        close(t.bias_accelerations[k], ff.frame_bias_acceleration(model, q, u, frame), 1e-10)
    many = ff.all_terms(model, np.stack([q, q]), np.stack([u, 0.0 * u]), frames=frames, expressed="body", gravity=g)
    for field in ff.AllTerms._fields:
        close(getattr(many, field)[0], getattr(t, field), 1e-12)
    assert ff.all_terms(model, np.stack([q, q]), u, frames=frames, out=many) is many


@pytest.mark.parametrize("name", robots())
def test_random_postures_are_closed(name: str) -> None:
    model = ff.close_loops(robot(name))
    q = ff.random_configuration(model, fresh(), (2, 10))
    assert q.shape == (2, 10, model.nq)
    assert np.abs(linkages.constraint_residual(model, q)).max() < 1e-6
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
    assert model.actuated == tuple(joints)
    assert ff.control.joint_inputs(model).names == tuple(joints)
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
    part = linkages.extract_limb(model, "l03")
    assert part.reduction
    assert part.nv < model.nv
    model = ff.robots.quadruped()
    assert ff.close_loops(model) is model
    assert model.tree is model
    closed = ff.close_loops(robot("point"))
    assert ff.close_loops(closed) is closed
    assert ff.close_loops(closed.tree) is closed
    assert closed.tree is robot("point")


def test_regulators_take_closed_models_and_refuse_cut_trees() -> None:
    tree = ff.build(replace(robot("turn").description, gravity=(0.0, 0.0, -9.81)))
    model = ff.close_loops(tree)
    found = control.equilibrium(model, ff.neutral(model))
    assert found.balanced
    regulator = control.lqr(model, found.q)
    assert (regulator.poles.real < 0.0).all()
    for function in (control.equilibrium, control.lqr):
        refused(ff.InputError, "close_loops", function, tree, ff.neutral(tree))
    refused(ff.InputError, "follows the others", control.joint_inputs, model, ["j02"])
