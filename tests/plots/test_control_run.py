"""The figure of a control run, and film strips."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh
from dataclasses import replace
from freeflyer.plots.control_run import control_run
from freeflyer.model.visuals.reading import visuals
from freeflyer.plots.controlled import run_figure, strip_times
from freeflyer.plots.film import film_strip
from freeflyer.plots.film_scene import postures
from freeflyer.plots.scene import robot_pieces
from freeflyer.plots.style import round_below
from freeflyer.plots.camera import View
from freeflyer.sim.run import Run, digest
from itertools import pairwise
from matplotlib.patches import FancyArrow
from scipy.spatial import ConvexHull

RNG = fresh("control run")
TIME = np.linspace(0.0, 2.0, 60)
SOLE = np.array([[0.16, 0.05], [0.16, -0.05], [-0.09, -0.05], [-0.09, 0.05]])
JOINTS = [f"joint_{k}" for k in range(8)]
DATA = {"errors": {"hand": RNG.standard_normal((60, 3)), "height": RNG.standard_normal(60)},
        "forces": {"left": RNG.standard_normal((60, 6)), "right": RNG.standard_normal((60, 3))},
        "torques": {name: (k + 1.0) * np.sin(TIME * 3.0) for k, name in enumerate(JOINTS)},
        "torque_limits": dict.fromkeys(JOINTS, 10.0) | {"joint_0": (-2.0, 1.2)}, "solve_times": RNG.uniform(1e-4, 2e-4, 60),
        "period": 1e-3,
        "pressure": {"left": np.where(TIME[:, None] < 1.0, 0.02, np.nan) * np.ones((60, 2)), "right": np.zeros((60, 2))},
        "soles": {"left": SOLE, "right": SOLE}}  # fmt: skip
LABELS = ["error (m, rad)", "normal force (N)", "torque / limit", "solve time (ms)", "forward (mm)", "forward (mm)"]


def legend(axes) -> list[str]:
    return [x.get_text() for x in axes.get_legend().get_texts()]


def test_panels_values_and_torques() -> None:
    figure = control_run(TIME, **DATA)
    panels = [axes for axes in figure.axes if axes.get_ylabel()]
    assert [axes.get_ylabel() for axes in panels] == LABELS
    assert all(axes.get_shared_x_axes().joined(panels[0], axes) for axes in panels[:4])
    assert panels[3].get_xlabel() == "time (s)"
    figure.canvas.draw()
    for axes in panels[:4]:
        assert axes.get_legend().get_window_extent().x0 >= axes.get_window_extent().x1, "the legend is beside the curves"
    panels = figure.axes
    close(panels[0].lines[0].get_ydata(), np.linalg.norm(DATA["errors"]["hand"], axis=1))
    close(panels[0].lines[1].get_ydata(), np.abs(DATA["errors"]["height"]))
    close(panels[1].lines[0].get_ydata(), DATA["forces"]["left"][:, 2])
    close(panels[3].lines[0].get_ydata(), 1e3 * DATA["solve_times"])
    close(panels[4].collections[0].get_offsets()[0], np.array([20.0, 20.0]))
    axes = control_run(TIME, torques=DATA["torques"], torque_limits=DATA["torque_limits"]).axes[0]
    names = [text.split(":")[0] for text in legend(axes)]
    assert names == ["joint_0", "joint_7", "joint_6", "joint_5", "joint_4", "3 others"][: len(names)], "nearest to their limits"
    shares = {line.get_label().split(":")[0]: line.get_ydata() for line in axes.lines}
    s = np.sin(TIME * 3.0)
    close(shares["joint_0"], np.where(s > 0.0, s / 1.2, s / 2.0))
    close(shares["joint_7"], 0.8 * s)
    assert "of 10" in legend(axes)[1]


def stepping(supports):
    """A run whose feet bear weight by turns: (seconds, left bears, right bears)."""
    pieces = [np.tile([left, right], (round(seconds / 0.01), 1)) for seconds, left, right in supports]
    bears = np.vstack(pieces).astype(float)
    forces = {name: np.outer(bears[:, k], [0.0, 0.0, 500.0, 0.0, 0.0, 0.0]) for k, name in enumerate(("left", "right"))}
    n = len(bears)
    q = np.tile(ff.robots.humanoid().neutral, (n, 1))
    return ff.sim.Run(0.01 * np.arange(n), q, np.zeros((n, 1)), np.zeros((n, 1)), forces)


def test_strips_and_forces():
    model = ff.robots.humanoid()
    feet = [ff.contacts.surface(f"{side}_sole", name=side) for side in ("left", "right")]
    run = stepping([(1.0, 1, 1), (0.8, 1, 0), (0.4, 1, 1), (0.8, 0, 1), (1.0, 1, 1)])
    close(strip_times(run, model, feet, 6), np.array([0.05, 1.4, 2.0, 2.6, 3.99]), 1e-9)
    close(strip_times(run, model, feet, 3), np.array([0.05, 2.0, 3.99]), 1e-9)
    assert len(strip_times(run, model, feet, 2)) == 2
    walk = stepping([(1.0, 1, 1), *([(0.6, 1, 0), (0.2, 1, 1), (0.6, 0, 1), (0.2, 1, 1)] * 3), (1.0, 1, 1)])
    steps = np.diff(strip_times(walk, model, feet, 6)[1:-1])
    close(steps, np.full(3, 0.4), 1e-9)  # one phase after the other: a whole stride
    landing = stepping([(1.0, 1, 1), (0.8, 1, 0), (0.02, 1, 1), (0.02, 1, 0), (0.4, 1, 1), (0.8, 0, 1), (1.0, 1, 1)])
    assert len(strip_times(landing, model, feet, 9)) == len(strip_times(run, model, feet, 9)) == 5
    resting = stepping([(2.0, 1, 1)])
    close(strip_times(resting, model, feet, 3), np.array([0.05, 1.02, 1.99]), 1e-9)
    # The lines drawn for a robot on point feet are the vertical parts of their forces, not those along the shanks
    model = ff.robots.quadruped()
    feet = [ff.contacts.point(name, (0.0, 0.0, -0.01)) for name in model.frame_names if name.endswith("_foot")]
    done = ff.control.run_scenario("squat", model, feet=feet, duration=0.02)
    axes = next(a for a in run_figure(done).axes if a.get_ylabel() == "normal force (N)")
    lines = [line for line in axes.get_lines() if len(line.get_ydata()) == len(done.solve_times)]
    for foot, line in zip(done.stance.feet, lines, strict=True):
        R = ff.frame_pose(done.stance.model, done.run.q, foot.frame)[:, :3, :3]
        vertical = (R @ done.run.forces[foot.name][:, :3, None])[:, 2, 0]
        close(line.get_ydata(), vertical[: len(done.solve_times)], 1e-9)
    assert any(np.abs(w[:, 2] - vertical).max() > 0.01 * vertical.max() for w in list(done.run.forces.values())[-1:])


def test_pressure_is_drawn_in_the_plane_of_the_sole_whatever_the_height_of_its_frame():
    model = ff.robots.humanoid()
    feet = [ff.contacts.surface(f"{side}_foot", points=[[*corner, -0.09] for corner in SOLE]) for side in ("left", "right")]
    done = ff.control.run_scenario("swing", model, feet=feet, duration=0.3, plant="freeflyer")
    world = done.run.wrenches(ff.ConstraintSet(model, contacts=feet), "world")
    maps = [axes for axes in run_figure(done).axes if axes.get_ylabel() == "forward (mm)"]
    for foot, axes in zip(feet, maps, strict=True):
        w = world[foot.name]
        at = np.stack([-w[:, 4], w[:, 3], 0.0 * w[:, 3]], axis=1) / w[:, 2:3]  # on the floor
        X = ff.frame_pose(model, done.run.q, foot.frame)
        local = np.einsum("tji,tj->ti", X[:, :3, :3], at - X[:, :3, 3])
        close(np.asarray(axes.collections[-1].get_offsets())[:, ::-1], 1e3 * local[: len(done.solve_times), :2], 0.1)
        assert np.abs(0.09 * w[:, :2] / w[:, 2:3]).max() > 1e-3  # m: what the height of the frame would make


HUMANOID, QUADRUPED = ff.robots.humanoid(), ff.robots.quadruped()
POINT_FEET = [ff.contacts.point(name) for name in QUADRUPED.frame_names if name.endswith("_foot")]


def standing_run(model: ff.Model, feet) -> Run:
    """The robot on its feet, which all bear one force; the last sample is 1 m ahead."""
    q = np.tile(ff.robots.standing_posture(model), (3, 1))
    q[-1, 0] += 1.0
    rest = np.zeros((3, model.nv))
    forces = {foot.name: np.tile([0.0, 0.0, 100.0, 0.0, 0.0, 0.0], (3, 1)) for foot in feet}
    return Run(np.arange(3) * 0.5, q, rest, rest, forces, robot=model.name, digest=digest(model))


RUNS = {"humanoid": (HUMANOID, standing_run(HUMANOID, ff.contacts.feet_by_name(HUMANOID)), None),
        "quadruped": (QUADRUPED, standing_run(QUADRUPED, POINT_FEET), POINT_FEET)}  # fmt: skip


def arrows(figure) -> list[float]:
    """Lengths of all arrows, pixels, the longest distance of two of their corners being that from tail to tip; the scale's last."""
    found = [x.get_xy() for axes in (*figure.axes[1:], figure.axes[0]) for x in axes.patches if isinstance(x, FancyArrow)]
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
    still, same, ahead = (line.get_xydata()[0] for line in axes.lines if line.get_marker() == "x")
    close(same, still)
    close(ahead[1], still[1], 1e-9)  # 1 m to the right
    assert ahead[0] - still[0] > 0.2 * np.ptp(axes.get_ylim())
    model, run, _ = RUNS["quadruped"]
    found = postures(model, run, 2, None, None)
    assert [p.soles for p in found] == [[], []]
    closed = ff.close_loops(ff.robots.kangaroo_like())
    still = Run(np.zeros(1), closed.neutral[None], np.zeros((1, closed.nv)), np.zeros((1, closed.nv)), digest=digest(closed))
    assert len(postures(closed, still, 1, None, None)[0].soles) == 2


def link_corners(model: ff.Model, q: np.ndarray) -> dict[str, np.ndarray]:
    """Corners (k, 3) of the shapes of each link, in the world."""
    found = {}
    for shape, piece in zip(visuals(model).shapes, robot_pieces(model, q), strict=True):
        found.setdefault(shape.link, []).append(piece.mesh.vertices)
    return {link: np.vstack(parts) for link, parts in found.items()}


@pytest.mark.parametrize("name", RUNS)
def test_links_reach_from_joint_to_joint_and_to_the_floor(name: str) -> None:
    model, run, _ = RUNS[name]
    shown = link_corners(model, run.q[0])
    assert set(shown) == {x.name for x in model.description.links if x.inertia.mass > 0.0}
    for joint in model.description.joints[1:]:
        p = ff.frame_pose(model, run.q[0], joint.child)[:3, 3]
        for link in (joint.parent, joint.child):
            assert (ConvexHull(shown[link]).equations @ [*p, 1.0] < 0.02).all(), "the joint is in the link, or next to it"
    assert abs(min(float(x[:, 2].min()) for x in shown.values())) < 0.015


def test_a_run_that_blew_up_is_drawn_too() -> None:
    """Lines of the floor at 0.25 m would have been terabytes."""
    model, run, _ = RUNS["humanoid"]
    q = run.q.copy()
    q[-1, :3] += [1e10, 0.0, 1e11]
    assert film_strip(model, replace(run, q=q)).axes
    assert film_strip(model, replace(run, q=q), overlaid=True).axes


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("overlaid", [False, True])
def test_equal_forces_are_equally_long(name: str, overlaid: bool) -> None:
    model, run, feet = RUNS[name]
    figure = film_strip(model, run, count=3, feet=feet, overlaid=overlaid)
    *drawn, scale = arrows(figure)
    assert len(drawn) == 3 * len(run.forces)
    close(np.array(drawn), np.full(len(drawn), drawn[0]), 1e-6)
    assert scale == pytest.approx(drawn[0] / 2.0, rel=1e-3), "the arrow of 50 N, whose tail is as broad"
    assert [round_below(x) for x in (0.04, 0.99, 1.9, 30.0, 50.0 - 1e-12)] == pytest.approx([0.02, 0.5, 1.0, 20.0, 50.0])
    assert "50 N" in [x.get_text() for x in figure.axes[0].texts]


def test_low_robots_stand_in_two_rows() -> None:
    model, run, _ = RUNS["quadruped"]
    figure = film_strip(model, run, count=7)
    assert figure.get_size_inches()[1] > 3.0
    assert [len(axes.images) for axes in figure.axes] == 7 * [1] + [0]
    places = [axes.get_position() for axes in figure.axes]
    assert all(upper.y0 > lower.y1 and upper.x0 == lower.x0 for upper, lower in zip(places[:3], places[4:]))


def test_forces_of_feet() -> None:
    model, run, _ = RUNS["humanoid"]
    shifted = np.outer([1.0, 2.0, 3.0], [0.0, 0.0, 100.0, 2.0, -5.0, 0.0])  # 0.05 m forward, 0.02 m to the left
    ((at, force),) = postures(model, replace(run, forces={"left_sole": shifted}), 1, [1.0], None)[0].forces
    X = ff.frame_pose(model, run.q[2], "left_sole")
    close(at, (X @ [0.05, 0.02, 0.0, 1.0])[:3])
    close(force, X[:3, 2] * 300.0)
    forces = {"left_sole": np.tile([0.0, 0.0, 0.1, 0.0, 0.0, 0.0], (3, 1)), "right_sole": np.full((3, 6), np.nan)}
    figure = film_strip(model, replace(run, forces=forces), count=2)
    assert arrows(figure) == []
    # Of a run that has their forces: from the feet themselves, whichever way their axes point
    model, run, _ = RUNS["quadruped"]
    assert len(arrows(film_strip(model, run, count=2))) == 2 * len(POINT_FEET) + 1
    downwards = {name: -wrench for name, wrench in run.forces.items()}
    for forces in (run.forces, downwards):
        found = postures(model, replace(run, forces=forces), 1, None, None)[0].forces
        expected = [ff.frame_pose(model, run.q[0], name)[:3, 3] for name in forces]
        close(np.array([at for at, _ in found]), np.array(expected))


@pytest.mark.slow
def test_postures_side_by_side_do_not_overlap() -> None:
    model, run, _ = RUNS["humanoid"]
    figure = film_strip(model, run, times=[0.0, 0.52, 1.0])
    texts = [x.get_text() for axes in figure.axes for x in axes.texts]
    assert texts == ["0.00 s", "50 N", "0.50 s", "1.00 s"]
    ends = [(x.get_position().x0, x.get_position().x1) for x in figure.axes]
    assert all(end < begin for (_, end), (begin, _) in pairwise(ends))
    pictures = [axes.images[0].get_array() for axes in figure.axes]
    for picture in (x[: len(x) // 2] for x in pictures):  # above the floor
        assert (picture[:, [0, -1]] == 255).all(), "the robot is within its picture"
        assert (np.abs(picture - pictures[0][: len(picture)].astype(int)) > 2).mean() < 1e-3, "the last one walked on"


def test_earlier_postures_are_paler_and_behind() -> None:
    """A posture later at the same place hides them."""
    model, run, _ = RUNS["humanoid"]
    picture = film_strip(model, run, count=3, overlaid=True, view=View(-90.0, 10.0)).axes[0].images[0].get_array().astype(int)
    dark = picture.min(axis=(0, 2))  # of each column
    early, late = dark[: len(dark) // 2].min(), dark[len(dark) // 2 :].min()
    assert early - late > 20
    moved = replace(run, q=run.q[[0, 0, 0]])
    pictures = [film_strip(model, moved, count=3, overlaid=x).axes[0].images[0].get_array().astype(int) for x in (True, False)]
    assert pictures[0].min() == pictures[1].min()
