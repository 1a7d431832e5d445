"""The figure of a control run: a panel for each kind of data, over one time axis, with units, limits and legends off the curves."""

import freeflyer as ff
import numpy as np
from closeness import close, fresh
from freeflyer.plots.control_run import control_run
from freeflyer.plots.controlled import run_figure, strip_times

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
    panels = control_run(TIME, **DATA).axes
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


def stepping(supports, dt=0.01):
    """A run whose feet bear weight by turns: (seconds, left bears, right bears)."""
    pieces = [np.tile([left, right], (round(seconds / dt), 1)) for seconds, left, right in supports]
    bears = np.vstack(pieces).astype(float)
    forces = {name: np.outer(bears[:, k], [0.0, 0.0, 500.0, 0.0, 0.0, 0.0]) for k, name in enumerate(("left", "right"))}
    n = len(bears)
    q = np.tile(ff.robots.humanoid().neutral, (n, 1))
    return ff.sim.Run(dt * np.arange(n), q, np.zeros((n, 1)), np.zeros((n, 1)), forces)


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
