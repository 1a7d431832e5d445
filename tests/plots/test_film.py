"""Film strips: views are rotations, links reach from joint to joint and down to the floor, equal forces are drawn equally long."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh
from dataclasses import replace
from freeflyer.plots.film import film_strip
from freeflyer.plots.film_scene import postures
from freeflyer.plots.view import View, bodies
from freeflyer.sim.run import Run, digest
from matplotlib.patches import FancyArrow

RNG = fresh("film")
HUMANOID, QUADRUPED = ff.robots.humanoid(), ff.robots.quadruped()
POINT_FEET = [ff.contacts.point(name) for name in QUADRUPED.frame_names if name.endswith("_foot")]


def standing_run(model: ff.Model, feet, samples: int = 3, force: float = 100.0) -> Run:
    """The robot on its feet, which all bear one force; the last sample is 1 m ahead."""
    q = np.tile(ff.robots.standing_posture(model), (samples, 1))
    q[-1, 0] += 1.0
    wrench = np.tile([0.0, 0.0, force, 0.0, 0.0, 0.0], (samples, 1))
    rest = np.zeros((samples, model.nv))
    forces = {foot.name: wrench for foot in feet}
    return Run(np.arange(samples) * 0.5, q, rest, rest, forces, robot=model.name, digest=digest(model))


RUNS = {
    "humanoid": (HUMANOID, standing_run(HUMANOID, ff.contacts.feet_by_name(HUMANOID)), None),
    "quadruped": (QUADRUPED, standing_run(QUADRUPED, POINT_FEET), POINT_FEET),
}


def arrows(figure) -> list[float]:
    """Lengths of all arrows, m, the longest distance of two of their corners being that from tail to tip."""
    found = [x.get_xy() for x in figure.axes[0].patches if isinstance(x, FancyArrow)]
    return [float(np.linalg.norm(x[:, None] - x[None], axis=-1).max()) for x in found]


def test_views_and_postures() -> None:
    view = View(*RNG.uniform(-80.0, 80.0, 2))
    axes = view.axes()
    close(axes @ axes.T, np.eye(3))
    assert np.linalg.det(axes) > 0.0
    assert view.project(np.array([0.0, 0.0, 1.0]))[0] == pytest.approx(0.0, abs=1e-12)
    assert view.project(np.array([0.0, 0.0, 1.0]))[1] > 0.0
    close(View(-90.0, 0.0).project(np.array([[1.0, 2.0, 3.0]])), np.array([[1.0, 3.0]]))
    model, run, _ = RUNS["humanoid"]
    axes = film_strip(model, run, count=3, overlaid=True, view=View(-90.0, 10.0)).axes[0]
    marks = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "x"]
    close(np.diff(marks), np.array([0.0, 1.0]), 1e-9)
    model, run, _ = RUNS["quadruped"]
    found = postures(model, run, 2, None, None, View())
    assert [p.soles for p in found] == [[], []]
    closed = ff.close_loops(ff.robots.kangaroo_like())
    still = Run(np.zeros(1), closed.neutral[None], np.zeros((1, closed.nv)), np.zeros((1, closed.nv)), digest=digest(closed))
    assert len(postures(closed, still, 1, None, None, View())[0].soles) == 2


@pytest.mark.parametrize("name", RUNS)
def test_links_reach_from_joint_to_joint_and_to_the_floor(name: str) -> None:
    model, run, feet = RUNS[name]
    contacts = ff.contacts.feet_by_name(model) if feet is None else feet
    shown = {x.name: x for x in bodies(model, run.q[0], contacts)}
    assert set(shown) == {x.name for x in model.description.links if x.inertia.mass > 0.0}
    for joint in model.description.joints[1:]:
        p = ff.frame_pose(model, run.q[0], joint.child)[:3, 3]
        for link in (joint.parent, joint.child):
            body = shown[link]
            alone = link not in [x.parent for x in model.description.joints] and body.points.shape == (2, 3)
            assert np.linalg.norm(body.points - p, axis=1).min() < (2.0 * body.radius if alone else 1e-12)
    lowest = min(float(x.points[:, 2].min() - x.radius) for x in shown.values())
    assert abs(lowest) < 0.015
    heavy, light = max(shown.values(), key=lambda x: x.radius), min(shown.values(), key=lambda x: x.radius)
    assert heavy.radius > 3.0 * light.radius


def test_a_run_that_blew_up_is_drawn_too() -> None:
    """Lines of the floor at 0.25 m would have been terabytes."""
    model, run, _ = RUNS["humanoid"]
    q = run.q.copy()
    q[-1, :3] += [1e10, 0.0, 1e11]
    assert film_strip(model, replace(run, q=q)).axes
    assert film_strip(model, replace(run, q=q), overlaid=True).axes


def test_a_light_head_far_from_its_joint_ends_near_its_mass(tmp_path) -> None:
    """Its rod reaches from the joint to 0.1 m, half its own length, beyond the centre of mass."""
    head = '<link name="head"><inertial><origin xyz="0 0 0.4"/><mass value="3"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" '
    joint = '<joint name="neck" type="fixed"><parent link="torso"/><child link="head"/></joint>'
    text = f'{head}ixz="0" iyz="0"/></inertial></link>{joint}'
    (tmp_path / "a.urdf").write_text(f'<robot name="a"><link name="torso"/>{text}</robot>')
    model = ff.load(tmp_path / "a.urdf", base="fixed")
    (head,) = bodies(model, model.neutral)
    assert head.points[:, 2].max() == pytest.approx(0.5)
    assert head.points[:, 2].min() == pytest.approx(head.radius)


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("overlaid", [False, True])
def test_equal_forces_are_equally_long(name: str, overlaid: bool) -> None:
    model, run, feet = RUNS[name]
    figure = film_strip(model, run, count=3, feet=feet, overlaid=overlaid)
    *drawn, scale = arrows(figure)
    assert len(drawn) == 3 * len(run.forces)
    close(np.array(drawn), np.full(len(drawn), drawn[0]), 1e-6)
    assert scale == pytest.approx(drawn[0] / 2.0, rel=1e-3), "the arrow of 50 N, whose tail is as broad"
    assert "50 N" in [x.get_text() for x in figure.axes[0].texts]


def test_forces_of_feet() -> None:
    model, run, _ = RUNS["humanoid"]
    shifted = np.tile([0.0, 0.0, 100.0, 2.0, -5.0, 0.0], (3, 1))  # 0.05 m forward, 0.02 m to the left
    view = View()
    found = postures(model, replace(run, forces={"left_sole": shifted}), 1, None, None, view)[0].forces
    X = ff.frame_pose(model, run.q[0], "left_sole")
    assert len(found) == 1
    close(found[0].at, view.project((X @ [0.05, 0.02, 0.0, 1.0])[:3]))
    forces = {"left_sole": np.tile([0.0, 0.0, 0.1, 0.0, 0.0, 0.0], (3, 1)), "right_sole": np.full((3, 6), np.nan)}
    figure = film_strip(model, replace(run, forces=forces), count=2)
    assert arrows(figure) == []
    # Of a run that has their forces: from the feet themselves, whichever way their axes point
    model, run, _ = RUNS["quadruped"]
    assert len(arrows(film_strip(model, run, count=2))) == 2 * len(POINT_FEET) + 1
    downwards = {name: -wrench for name, wrench in run.forces.items()}
    for forces in (run.forces, downwards):
        found = postures(model, replace(run, forces=forces), 1, None, None, View())[0].forces
        expected = [View().project(ff.frame_pose(model, run.q[0], name)[:3, 3]) for name in forces]
        close(np.array([x.at for x in found]), np.array(expected))


@pytest.mark.slow
def test_postures_side_by_side_do_not_overlap() -> None:
    model, run, _ = RUNS["humanoid"]
    figure = film_strip(model, run, times=[0.0, 0.5, 0.52])
    texts = [x for x in figure.axes[0].texts if x.get_text().endswith(" s")]
    assert [x.get_text() for x in texts] == ["0.00 s", "0.50 s", "0.50 s"]
    shown = postures(model, run, 3, None, None, View())
    size = max(float(np.ptp(p.corners[:, 0])) for p in shown)
    assert np.diff([x.xy[0] for x in texts]).min() > size
