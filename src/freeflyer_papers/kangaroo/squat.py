"""Fig 13 on two feet: a squat by the length motors alone, in numbers and pictures."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

import freeflyer as ff
from freeflyer_papers.estimation.swing import Route, follow_route, holding_forces
from freeflyer.contacts.wrenches import express_at
from freeflyer.estimation.passive import sensors_of
from freeflyer.plots.camera import View
from freeflyer.plots.film import film_strip
from freeflyer.plots.style import BLUE, GREEN, ORANGE, new_figure
from freeflyer.progress import Progress, part_of
from freeflyer.sim.floor_contacts import put_on_floor
from freeflyer.sim.mujoco_scene import plant
from freeflyer.tables import Table
from freeflyer_papers.kangaroo.robots import Kangaroo, home_posture
from freeflyer_papers.registry import Drawn


def tables(r: Squat) -> list[Table]:
    """The squat in numbers."""
    within, late = r.length <= r.last, r.t > REST
    reached = f"{r.last:.4f} of {STROKE:g}" if r.last < r.length[-1] else "never"
    rows = (
        ("soles stay flat, length motors alone: largest tilt (deg) over the stroke", "no intervention of the ankle",
         f"{np.degrees(r.tilt.max()):.4f}"),
        ("ankle pitch over the stroke (deg)", "picture", f"{np.degrees(r.pitch[0]) + 0.0:.1f} .. {np.degrees(r.pitch[-1]):.1f}"),
        ("stop of the ankle pitch (deg), reached at the length (m)", "", f"{np.degrees(r.stop):.1f}, {reached}"),
        ("centre of mass before the ankles (mm), within the stop", "", _most(1e3 * r.ahead[within], 1)),
        ("a length motor holds half the weight with (N), within the stop", "", _most(np.abs(r.force[within]))),
        ("  half the weight over the ratio of Fig 15, the leg itself weightless (N)", "", _most(r.by_ratio[within])),
        ("MuJoCo: length motors (mm)", "", _most(1e3 * r.moved[late], 1)),
        ("MuJoCo: base goes down by (m)", "", f"{np.ptp(r.height[late]):.3f}"),
        ("MuJoCo: largest tilt of a sole against the floor (deg)", "flat", f"{np.degrees(r.soles[late].max()):.3f}"),
        ("MuJoCo: largest motion of another motor (mm)", "none", f"{1e3 * r.others[late].max():.2f}"),
        ("MuJoCo: ankle pitch (deg)", "", _most(np.degrees(r.ankle[late]), 1)),
        ("MuJoCo: a sole slides by (mm)", "", f"{1e3 * r.slid:.2f}"),
        ("MuJoCo: force of the left length motor (N)", "", _most(r.pushing[late])),
        ("MuJoCo: vertical forces on the feet, of the weight", "", _most(r.feet[late].sum(axis=1) / r.weight, 3)))  # fmt: skip
    return [Table("Fig 13: a squat by the length motors alone", ("quantity", "paper", "ours"), rows, (2,), (
        "All other motors hold their places, the ankles' at 0. The paper draws the whole stroke; the pitch joint of the public "
        f"model's ankle reaches its stop before. In MuJoCo the robot turns round {1e3 * MARGIN:g} mm before the stop or the end "
        f"of the stroke: {TIMES} squats of {PERIOD:g} s, servos as in the lateral swing."))]  # fmt: skip


def _most(x: np.ndarray, digits: int = 0) -> str:
    return f"{x.min():.{digits}f} .. {x.max():.{digits}f}"


def pictures(r: Squat) -> dict[str, Any]:
    """Fig 13 on two feet: the robot on its way down, with the forces on its feet; and over time."""
    times = np.linspace(REST, REST + 0.5 * PERIOD, POSTURES)
    strip = film_strip(r.film.model, r.film.run, times=times, feet=r.film.feet, view=View(-90.0, 0.0))
    return {"fig13_squat": strip, "fig13_squat_course": course(r)}


SAMPLES = 31
STROKE = 0.15  # m: of the length motors
HIGH, MARGIN = 0.01, 0.0025  # m: where the squat begins; how far before the stop it ends
REST, PERIOD, TIMES = 0.5, 2.0, 2  # s: of standing; of going down and up; how often
THIN = 20  # of the samples, one in so many is kept
POSTURES = 7  # drawn


class Squat(namedtuple("Squat", (
    "robot length tilt pitch stop last ahead force by_ratio weight low high t moved height soles others ankle "
    "pushing feet slid film"))):  # fmt: skip
    """Squat of Kangaroo by both length motors, all others at rest: postures at rest, and a run in MuJoCo on f feet.

    robot: name of the model; weight: N. At rest, at the lengths `length` (n,) of both motors, m: tilt (n,) of the soles against the
    base and pitch (n,) of the ankle, rad; stop: limit of the pitch, rad, reached at the length `last`, m; ahead (n,): distance of
    the centre of mass in front of the ankles, m; force (n,) of a length motor, N; by_ratio (n,): half the weight over the ratio of
    Fig 15, N.

    In MuJoCo, between the lengths `low` and `high`, m: t (k,), s; moved (k,): length of the motors, m; height (k,) of the base, m;
    soles (k, f): tilt of each sole against the floor, rad; others (k,): largest motion of another motor, m; ankle (k,): pitch, rad;
    pushing (k,): force of the left length motor, N; feet (k, f): vertical forces, N; slid: largest way of a sole on the floor, m.
    film: the run that is drawn."""


def compute(robot: Kangaroo, progress: Progress) -> Squat:
    """The postures of the squat, the forces that hold them, and the squat in MuJoCo."""
    text = "Fig 13: a squat in MuJoCo"
    progress(0.0, text)
    model, n = robot.model, robot.left
    length = np.linspace(0.0, STROKE, SAMPLES)
    q = np.array([put_on_floor(model, home_posture(robot, x, ankle=0.0), robot.feet) for x in length])
    joint = model.joint(n.ankle_pitch)
    pitch = q[:, joint.iq]
    stop = float(model.position_upper[joint.iv] if pitch[-1] > 0.0 else model.position_lower[joint.iv])
    last = float(np.interp(abs(stop), np.abs(pitch), length))
    s, weight = sensors_of(model), model.mass * float(np.linalg.norm(model.gravity))
    forces = np.array([holding_forces(s.model, x, robot.feet) for x in q])
    leg = ff.linkages.extract_limb(model, n.sole)
    ratio = ff.linkages.force_curve(leg, ff.linkages.follow(leg, n.length_motor, length), n.sole, 1.0).ratio
    soles = ff.frame_pose(model, q, n.sole)
    tilt = _angle(ff.frame_pose(model, q, model.joints[0].child), soles)
    way = Route(length, q, forces)
    moved = _run(robot, way, HIGH, min(last, STROKE) - MARGIN, part_of(progress, text))
    return Squat(robot.source, length, tilt, pitch, stop, last, (ff.center_of_mass(model, q) - soles[:, :3, 3])[:, 0],
        forces[:, list(model.actuated).index(n.length_motor)], 0.5 * weight / ratio, weight, **moved)  # fmt: skip


def _angle(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Angle (n,) between the z axes of poses (n, 4, 4), rad."""
    return np.asarray(np.linalg.norm(np.cross(X[:, :3, 2], Y[:, :3, 2]), axis=1))


def _run(robot: Kangaroo, way: Route, low: float, high: float, progress: Progress) -> dict[str, Any]:
    """The fields of Squat that MuJoCo gives."""
    model, n, servos = robot.model, robot.left, ff.sim.Servos()
    s = sensors_of(model)
    begin = put_on_floor(model, home_posture(robot, low, ankle=0.0), robot.feet)
    path = robot.path if robot.is_real else None
    feet = robot.feet if path is None else ff.contacts.feet_from_file(s.closed, path)
    plant_of = plant(s.model, path, feet, s.names, np.vstack([begin, way.q]), servos)

    def lengths(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Length and rate (n,) of the motors: at rest, then down and up by a cosine."""
        x = 2.0 * np.pi * np.maximum(t - REST, 0.0) / PERIOD
        return low + 0.5 * (high - low) * (1.0 - np.cos(x)), 0.5 * (high - low) * np.sin(x) * 2.0 * np.pi / PERIOD

    run = follow_route(s, plant_of, way, begin, servos, lengths, REST + TIMES * PERIOD, progress)
    if run.failure:
        raise ff.InputError(f"{model.name!r} falls in the simulator: {run.failure}")
    keep = slice(None, None, THIN)
    q, motor, ankle = run.q[keep], model.joint(n.length_motor), model.joint(n.ankle_pitch)
    poses = np.stack([ff.frame_pose(model, q, foot.frame) for foot in robot.feet], axis=1)
    wrenches = np.stack([express_at(ff.frame_pose(model, q, f.frame), run.forces[f.name][keep], "world") for f in feet], axis=1)
    still = [model.joint(name).iq for name in model.actuated if name not in (n.length_motor, robot.right.length_motor)]
    level = np.eye(4)[None]
    return {
        "low": low, "high": high, "t": run.t[keep], "moved": q[:, motor.iq], "height": q[:, 2],
        "soles": np.stack([_angle(level, poses[:, k]) for k in range(len(robot.feet))], axis=1),
        "others": np.abs(q[:, still] - begin[still]).max(axis=1), "ankle": q[:, ankle.iq], "pushing": run.tau[keep, motor.iv],
        "feet": wrenches[..., 2], "slid": float(np.linalg.norm(poses[:, :, :2, 3] - poses[0, :, :2, 3], axis=-1).max()),
        "film": Drawn(model=model, run=run, feet=feet)}  # fmt: skip


def course(r: Squat) -> Any:
    """Motors, ankle and soles over time."""
    figure, (top, middle, bottom) = new_figure(6.4, 6.0, 3, 1, sharex=True)
    top.plot(r.t, 1e3 * r.moved, color=BLUE, lw=1.6, label="length motors")
    top.plot(r.t, 1e3 * r.others, color=ORANGE, lw=1.6, label="largest motion of another motor")
    top.set_ylabel("motors (mm)")
    middle.plot(r.t, np.degrees(r.ankle), color=GREEN, lw=1.6, label="ankle pitch")
    if r.last < r.length[-1]:
        middle.axhline(np.degrees(r.stop), color="#c8453b", ls="--", lw=0.9, label="its stop")
    middle.set_ylabel("ankle pitch (deg)")
    for k, foot in enumerate(("left", "right")):
        bottom.plot(r.t, np.degrees(r.soles[:, k]), color=(BLUE, ORANGE)[k], ls=("-", "--")[k], lw=1.4, label=f"{foot} sole")
    bottom.set(ylabel="tilt against\nthe floor (deg)", xlabel="time (s)", ylim=(0.0, None))
    for axes in (top, middle, bottom):
        axes.legend(fontsize=7.5, ncols=2, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2)
    return figure
