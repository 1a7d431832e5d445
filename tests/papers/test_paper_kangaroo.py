"""Kangaroo reproduced: its mechanisms, figures and tables; Cartesian inertia."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh, refused
from freeflyer.analysis.timing import algorithms
from freeflyer.progress import no_progress
from freeflyer_papers import kangaroo
from freeflyer_papers.estimation import estimators
from freeflyer_papers.estimation.swing import Sway
from freeflyer_papers.kangaroo import (comparison, inverse_dynamics, mechanisms, robots, squat, swing,
    tracking, transmissions, workspace)  # fmt: skip
from freeflyer_papers.kangaroo.comparison import angular_momentum, cartesian_inertia
from freeflyer_papers.kangaroo.inverse_dynamics import equations
from freeflyer_papers.registry import model_file
from robots_on_disk import MODELS, example, needs_examples, needs_models
from whole import briefly, check_tables


def on_short_ways(progress):
    """All of it, for our own robot."""
    changes = [(workspace, "PER_AXIS", 7), (workspace, "LOOP_POSITIONS", 5), (squat, "TIMES", 1), (inverse_dynamics, "BLOCKS", 1),
        (transmissions, "SAMPLES", 13), (swing, "DURATION", 0.2), (comparison, "LENGTHS", (robots.HOME_LENGTH,)),
        (tracking, "TRIED", 8), (tracking, "DURATION", 1.5), (estimators, "BLOCKS", 1), (algorithms, "example_urdf", {}.get),
        (swing, "SWAY", Sway(amplitude=0.03, frequency=0.5, duration=5.0))]  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("FREEFLYER_MODELS", raising=False)
        return briefly(lambda _: kangaroo.compute(progress), *changes)


def test_everything_on_our_own_robot():
    heard = []
    result = on_short_ways(lambda fraction, what: heard.append((what, fraction)))
    assert list(result.parts) == list(kangaroo.PARTS)
    parts = [fraction for text, fraction in heard if text.startswith("Fig 5")]
    assert (parts, parts[-1]) == (sorted(parts), pytest.approx(1.0))
    tables = kangaroo.REPRODUCTION.tables(result)
    titles = " ".join(t.title for t in tables)
    assert all(r.drift < 1e-6 and r.flown == pytest.approx(0.2) for r in result.parts["flight"])
    for word in ("free flight", "Table I:", "Table II", "Table III", "Fig 5", "Fig 18", "Fig 19", "Fig 22", "VI-A", "section III-B",
                 "squat", "loops close"):  # fmt: skip
        assert word in titles
    assert "our own dimensions" in tables[0].note
    check_tables(tables)
    pictures = kangaroo.REPRODUCTION.pictures(result)
    assert {n.split("_")[0] for n in pictures} == {"fig5", "fig7", "fig11", "fig12", "fig13", "fig14", "fig15",
                                                     "fig18", "fig19", "fig21", "fig22a", "fig22b"}  # fmt: skip
    assert set(pictures) == set(kangaroo.REPRODUCTION.captions)
    check_estimation(result, tables)
    ours = {m.name: m for m in result.parts["mechanisms"].mechanisms}
    assert result.parts["mechanisms"].passive_in_a_leg == 32
    for name, (active, passive, _, rows, stroke, limits) in mechanisms.PAPER.items():
        assert (ours[name].active, ours[name].passive, ours[name].rows) == (active, passive, rows)
        assert ours[name].stroke == stroke
        np.testing.assert_allclose(ours[name].limits, limits, atol=2.0)
    assert result.parts["mechanisms"].by_freedom == {1: 4, 2: 4}
    assert np.isnan(result.parts["comparison"].chi).all()
    places = result.parts["regions"].places
    assert {p.mechanism for p in places} == {"hip yaw", "hip", "knee", "ankle"}
    inside = [p for p in places if p.found.found and p.found.inside]
    assert [(p.mechanism, p.motion) for p in inside] == [("hip", "one against the other")]


def check_estimation(result, tables):
    """Figs 18, 19 and 22: the claims of their tables hold."""
    found = result.parts["calibration"]
    assert len(found.paper.motors) == 10
    for c in (found.paper, found.rotary):
        assert len(c.errors) == 8
        assert all(e[-1] < 1e-4 < e[0] for e in c.errors)
        assert c.steps.max() <= 9
        assert c.offset_errors.max() < 1e-4
    runs = {(x.encoders, x.alpha): x for x in result.parts["tracking"].runs}
    assert runs["ideal", 1000.0].closure < 1e-6 < runs["ideal", 1.0].closure < 1e-3
    assert runs["ideal", 1000.0].passive_rms < 1e-5 < runs["noisy, quantised", 1000.0].passive_rms
    lines = {x.source: x for x in result.parts["swing"].lines}
    assert result.parts["swing"].smooth == (), "this robot's joints have no friction"
    assert result.parts["swing"].light == (), "its mass is our own choice"
    assert lines["motors"].force[0][2] < 0.1 * lines["balanced"].force[0][2]
    assert lines["moving"].zmp[0][1] < 0.4 * lines["balanced"].zmp[0][1]
    said = [row for t in tables if t.title.startswith("Fig 22") for row in t.rows]
    assert [row[2] for row in said[1:3]] == ["yes", "yes"]


def test_where_the_robot_comes_from(models_folder, monkeypatch, tmp_path):
    for name, kind in mechanisms.KINDS.items():
        assert mechanisms.letters(kind) == mechanisms.PAPER[name][2]
    assert mechanisms.letters("U-2(RRRP-RRR-UU)") == 22  # as the text writes the ankle: two short of its own table
    # Without a robot, the file in the folder of models is taken; its name asks for our own
    monkeypatch.setenv("FREEFLYER_MODELS", str(models_folder))
    assert model_file("kangaroo", "kangaroo.xml") == models_folder / "kangaroo" / "kangaroo.xml"
    assert not robots.kangaroo("kangaroo_like").is_real
    other = tmp_path / "arm.urdf"
    other.write_text(ff.to_urdf(ff.robots.humanoid()))
    refused(ff.InputError, r"arm\.urdf is no Kangaroo: it has no motors leg_left_1_motor", robots.kangaroo, other)
    refused(ff.InputError, r"arm\.urdf is no TALOS", kangaroo.compute, no_progress, peer=other)


def test_public_model(models_folder):
    path = models_folder / "kangaroo" / "kangaroo.xml"
    robot = robots.kangaroo(path)
    assert robot.is_real
    found = mechanisms.compute_mechanisms(robot, no_progress)
    assert found.passive_in_a_leg == 30
    counts = {m.name: (m.active, m.passive, m.passive + m.pins, m.rows) for m in found.mechanisms}
    assert counts == {"hip yaw": (1, 2, 3, 2), "hip roll-pitch": (2, 8, 10, 8), "knee": (1, 6, 8, 6), "ankle": (2, 14, 20, 14)}
    curves = transmissions.compute(robot, no_progress)
    assert np.degrees(curves.knee.y[-1]) == pytest.approx(120.0, abs=0.5)
    assert all(np.ptp(x) < 1e-5 for x in curves.level.motors.values())  # Fig 13: the ankle's motors rest
    assert 0.13 < curves.fixed.length[-1] < 0.14  # Fig 14: then the bars from hip to knee lie flat
    force = curves.force.force
    assert force.min() == force[-1]  # Fig 15: least when fully compressed, most half way, in between when stretched
    assert 0.3 < curves.force.position[curves.force.largest] / 0.15 < 0.7
    assert force[-1] < force[0] < force.max()
    # Motors of `home_posture` are those of the model's keyframe, up to 0.2 mm
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo reads keyframes in its own order of joints")
    read = mujoco.MjModel.from_xml_path(str(path))
    q = robots.home_posture(robot)
    for name in robot.model.actuated:
        there = read.key("home").qpos[read.joint(name).qposadr[0]]
        assert q[robot.model.joint(name).iq] == pytest.approx(there, abs=2e-4), name
    assert np.abs(ff.linkages.constraint_residual(robot.model, q)).max() < 1e-6
    q = ff.linkages.partition(robot.model).q
    for names in (robot.left, robot.right):
        X = ff.frame_pose(robot.model, q, names.sole)
        np.testing.assert_allclose(X[:3, :3], np.eye(3), atol=1e-9)
    # Its over-constrained hip is open by most of a millimetre, its other sub-mechanisms by their digits
    found = {c.name: c for c in workspace.compute_closure(robot, no_progress)}
    hip = found.pop("hip roll-pitch")
    assert hip.independent < 1e-8 < 5e-4 < hip.redundant < 1e-3
    assert 0.3 * hip.redundant < hip.least_squares < 0.7 * hip.redundant
    assert 0.3 < np.degrees(hip.moved) < 0.8
    assert all(max(c.redundant, c.least_squares) < 1e-6 and np.degrees(c.moved) < 1e-3 for c in found.values())
    # Fig 13 on the floor: length motors alone, the soles flat, the ankles within their stops
    found = squat.compute(robot, no_progress)
    assert np.degrees(found.tilt.max()) < 0.005
    assert found.last == pytest.approx(0.0968, abs=2e-4)
    assert np.degrees(found.soles.max()) < 0.02
    assert np.abs(found.ankle).max() < abs(found.stop)
    assert found.others.max() < 5e-4
    assert np.ptp(found.height) > 0.3
    np.testing.assert_allclose(found.feet[2:20].sum(axis=1), found.weight, rtol=0.02)


@needs_examples
def test_table_iii(models_folder):
    """In the home posture, within a sixth of the paper but for chi along z (leg nearly straight) and angular chi about y."""
    robot = robots.kangaroo(models_folder / "kangaroo" / "kangaroo.xml")
    found = comparison.compute(robot, no_progress, example("talos_full_v2.urdf"))
    k = comparison.LENGTHS.index(robots.HOME_LENGTH)
    nine = [x for part in comparison.PAPER for x in part]
    np.testing.assert_allclose([*found.chi[-1], *found.gamma[-1]], nine, rtol=0.095)
    np.testing.assert_allclose(found.chi[k, [0, 1, 3, 5]], [3.6, 4.1, 11.4, 3.6], rtol=1 / 6)
    np.testing.assert_allclose(found.gamma[k], comparison.PAPER[2], rtol=0.1)
    assert found.chi[k, 2] < 4.6 < found.chi[3, 2]
    assert (found.chi > 1.0).all()
    assert comparison.tables(found)[0].rows[0][0] == "paper"


REAL = MODELS / "kangaroo" / "kangaroo.xml"
EITHER = [pytest.param(None, id="like"), pytest.param(REAL, id="real", marks=needs_models)]
EXACT = 1e-11  # of the largest term: 60 loop rows are solved with, of condition 1e3


@pytest.mark.parametrize("path", EITHER)
def test_projected_equations_are_those_of_the_closed_model(path):
    """(62) and (71) stacked are M, h and J of ff.close_loops, which are computed by another way."""
    rng = fresh()
    robot = robots.kangaroo(path)
    closed = ff.close_loops(robot.model)
    q = robots.home_posture(robot, rng.uniform(0.01, 0.09), ankle=0.0)
    u = 0.3 * rng.standard_normal(closed.nv)
    v = ff.velocity_map(closed, q) @ u
    e = equations(closed, q, v, robot.feet)
    M_b, h_b = e.projected_rows(e.b)
    M_a, h_a = e.projected_rows(e.a)
    M_u, h_u = e.projected_rows(e.u)
    order = np.concatenate([closed.reduction.split.base, np.searchsorted(closed.reduction.split.independent, e.a)])
    M, h = np.vstack([M_b, M_a + e.J_m.T @ M_u]), np.concatenate([h_b, h_a + e.J_m.T @ h_u])
    close(M, ff.mass_matrix(closed, q)[np.ix_(order, order)], EXACT)
    close(h, ff.bias_forces(closed, q, u)[order], EXACT, least=float(np.abs(e.h).max()))
    a = rng.standard_normal(len(order))
    F, tau = rng.standard_normal(12) * 100.0, M[6:] @ a + h[6:]
    J = np.vstack([ff.frame_jacobian(closed, q, foot.frame, expressed="body") for foot in robot.feet])[:, order]
    close(e.joint_space_torques(a, F), tau - J[:, 6:].T @ F, EXACT, least=float(np.abs(tau).max() + 1000.0))
    close(e.base_residual(a, F), M[:6] @ a + h[:6] - J[:, :6].T @ F, EXACT, least=1000.0)


SOLE, LENGTH = "left_sole", "left_length_motor"


@pytest.fixture(scope="module")
def model():
    return ff.robots.kangaroo_like()


@pytest.fixture(scope="module")
def bent(model):
    return ff.linkages.follow(model, LENGTH, np.linspace(0.0, 0.05, 6)).q[-1]


def test_inertia_is_wrench_over_acceleration(model, bent):
    """A robot at rest, base held: Lagrange's equations with multipliers on *all* loop rows, no projection."""
    leg = ff.linkages.extract_limb(model, SOLE, bent)
    q = ff.linkages.extract_configuration(leg, model, bent)
    J, Jl, M = ff.frame_jacobian(leg, q, SOLE, expressed="mixed"), ff.linkages.constraint_jacobian(leg, q), ff.mass_matrix(leg, q)
    system = np.block([[M, Jl.T], [Jl, np.zeros((len(Jl), len(Jl)))]])
    right = np.vstack([J.T, np.zeros((len(Jl), 6))])
    acceleration = J @ np.linalg.solve(system, right)[: leg.nv]
    found = cartesian_inertia(model, SOLE, bent, epsilon=0.0)
    np.testing.assert_allclose(found @ acceleration, np.eye(6), atol=1e-7)
    np.testing.assert_allclose(np.linalg.norm(found, axis=0), np.linalg.norm(np.linalg.inv(acceleration), axis=0), rtol=1e-7)
    exact, soft = (cartesian_inertia(model, SOLE, bent, epsilon=e) for e in (0.0, 0.1))
    np.testing.assert_allclose(np.linalg.inv(soft) - np.linalg.inv(exact), 0.1 * np.eye(6), atol=1e-7)
    moved = bent.copy()
    moved[:7] = [3.0, -2.0, 1.0, 0.0, 0.0, np.sin(0.4), np.cos(0.4)]
    one, two = (cartesian_inertia(model, SOLE, q) for q in (bent, moved))
    np.testing.assert_allclose(one, two, rtol=1e-7, atol=1e-7)
    first, second = (np.linalg.norm(angular_momentum(model, x)[:, 3:6], axis=0) for x in (bent, moved))
    np.testing.assert_allclose(first, second, rtol=1e-9)
    # A v for a velocity that keeps the loops closed: centroidal momentum of the whole tree
    split = ff.linkages.partition(model, bent)
    rng = fresh(3)
    v = np.zeros(model.nv)
    v[split.independent] = rng.normal(size=len(split.independent))
    J = ff.linkages.constraint_jacobian(model, bent)[split.rows]
    v[split.dependent] = -np.linalg.solve(J[:, split.dependent], J @ v)
    momentum = ff.centroidal_momentum(model, bent, v)[3:]
    np.testing.assert_allclose(angular_momentum(model, bent) @ v[split.independent], momentum, rtol=1e-9, atol=1e-9)
