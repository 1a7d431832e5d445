"""Steps of robots on ground beside MuJoCo: one that stands, with depths and slips, and many humanoids that fall and slide.

`python -m benchmarks.ground ROBOTS SECONDS` takes other numbers of the latter, and says how much memory our run takes.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout

import freeflyer as ff
from freeflyer.kernels.entries import GROUND_STEP
from freeflyer.kernels.sim import layout as G
from freeflyer.progress import Progress, no_progress
from freeflyer.sim.ground_run import GroundStepper
from freeflyer.sim.state import Equations
from freeflyer.tables import Table

DT, FRICTION, STEPS, BLOCKS = 1e-3, 0.8, 300, 7  # s; of the ground; steps of a block, blocks
FALLING, FALL, KEPT = 1024, 0.3, 0.01  # robots, s; time between samples that are kept, s
STIFFNESS, DAMPING = 1000.0, 60.0  # of the joints that hold the posture: accelerations by rad and rad/s


@dataclass(frozen=True)
class GroundTiming:
    """A step of ours and of MuJoCo's, us on one core if one robot stands, on all if many fall; the worst residual of ours, m/s; how
    deep each sinks, m, and how fast its lowest points slip in the end, m/s."""

    what: str
    ours: float
    mujoco: float
    residual: float
    unsolved: float
    depths: tuple[float, float] = (np.nan, np.nan)
    slips: tuple[float, float] = (np.nan, np.nan)


def ground_times(progress: Progress = no_progress) -> tuple[GroundTiming, ...]:
    """Humanoid on 8 points, quadruped on 4, humanoids that fall."""
    found = []
    for k, (model, feet) in enumerate(((ff.robots.humanoid(), None), (ff.robots.quadruped(), "_foot"))):
        progress(k / 3, f"{model.name} on ground")
        points = [ff.contacts.point(x) for x in model.frame_names if feet and x.endswith(feet)]
        found.append(_standing(model, points or ff.contacts.feet_by_name(model)))
    progress(2 / 3, f"{FALLING} humanoids fall")
    found += [_falling(ff.robots.humanoid()), _falling(ff.robots.humanoid(), FALLING // 4, 1.0, body=True)]
    return tuple(found)


def ground_table(timings: tuple[GroundTiming, ...]) -> Table:
    """us a step; the ratio above 1 if ours is faster."""
    rows = [
        (t.what, f"{t.ours:.1f}", f"{t.mujoco:.1f}", f"{t.mujoco / t.ours:.2f}", f"{t.residual:.1e}", f"{t.unsolved:.1e}",
         *(("-",) * 4 if np.isnan(t.depths[0]) else (f"{x:.1e}" for x in (*t.depths, *t.slips)))) for t in timings
    ]  # fmt: skip
    columns = ("robots", "ours us", "MuJoCo us", "ratio", "residual m/s", "above 1e-8", "depth m", "MuJoCo m", "slip m/s", "MuJoCo")
    return Table("ground: a step of 1 ms", columns, rows, range(1, 10))


def _scene(model: ff.Model, contacts: Any, q: np.ndarray) -> tuple[Any, Any]:
    """A plant in MuJoCo without servos, and its data."""
    plant = ff.sim.mujoco_plant(model, q, feet=contacts, motors=model.actuated, friction=FRICTION)
    plant.mj_model.opt.timestep = DT
    plant.mj_model.actuator_gainprm[:], plant.mj_model.actuator_biasprm[:] = 0.0, 0.0
    return plant, mujoco.MjData(plant.mj_model)


def _standing(model: ff.Model, contacts: Any) -> GroundTiming:
    """Both under springs and dampers of the joints, in turns; our compiled step and mj_step alone are timed."""
    q0, rest = ff.robots.standing_posture(model), np.zeros(model.nv)
    plant, data = _scene(model, contacts, q0)
    data.qpos[:] = ff.to_mujoco(model, q0, rest).qpos
    stepper = GroundStepper(Equations(model), ff.sim.Ground(friction=FRICTION), contacts)
    held = ff.constrained_inverse_dynamics(model, q0, rest, rest, constraints=ff.ConstraintSet(model, contacts=contacts)).tau
    inertia, joints = np.diag(ff.mass_matrix(model, q0)), np.arange(model.nv) >= model.joints[0].nv
    problem, settings = stepper.problem, stepper.settings(())
    settings[G.STEP] = DT
    state: list[Any] = [q0, rest, stepper.no_forces(q0), None, np.zeros(G.FACTS)]
    stepper.advance(0.0, q0, rest, rest, DT, state[2])  # compiles, and makes room

    def forces(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.where(joints, held - inertia * (STIFFNESS * ff.difference(model, q0, q) + DAMPING * v), 0.0)

    def ours() -> float:
        settings[problem.settings - problem.kept :] = state[2]
        tau, begin = forces(*state[:2]), perf_counter()
        q, v, kept, wrenches, facts = GROUND_STEP.call(problem.handle, *state[:2], tau, settings, None)
        took = perf_counter() - begin
        state[:] = q[0], v[0], kept, wrenches[0], facts[0]
        return took

    def theirs() -> float:
        now = ff.from_mujoco(model, data.qpos, data.qvel)
        data.qfrc_applied[:] = ff.to_mujoco(model, now.q, now.v, tau=forces(now.q, now.v)).qfrc
        begin = perf_counter()
        mujoco.mj_step(plant.mj_model, data)
        return perf_counter() - begin

    times, residuals = [], []
    for _ in range(BLOCKS):
        times.append([1e6 * np.median([step() for _ in range(STEPS)]) for step in (ours, theirs)])
        residuals.append(float(state[4][G.MISSING]))
    now = ff.from_mujoco(model, data.qpos, data.qvel)
    lowest = [_lowest(model, contacts, *x) for x in ((state[0], state[1]), (now.q, now.v))]
    residual = np.array(residuals)
    depths, slips = ((lowest[0][k], lowest[1][k]) for k in (0, 1))
    a, b = np.median(times, axis=0)
    return GroundTiming(f"{model.name} stands", a, b, residual.max(), float((residual > 1e-8).mean()), depths, slips)


def _lowest(model: ff.Model, contacts: Any, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """How deep the lowest point of the contacts is, m, and the fastest of their frames along the ground, m/s."""
    heights, slips = [], []
    for c in contacts:
        X = ff.frame_pose(model, q, c.frame)
        heights.append((X[:3, 3] + c.points @ X[:3, :3].T)[:, 2].min())
        slips.append(np.linalg.norm(ff.frame_velocity(model, q, v, c.frame, expressed="mixed")[:2]))
    return -min(heights), max(slips)


def _body_points(model: ff.Model) -> list[ff.contacts.Contact]:
    """The soles of a humanoid, and points of its hands, knees, elbows, shoulders, pelvis, chest and head."""
    found = list(ff.contacts.feet_by_name(model))
    places = {"palm": (0.0, 0.0, 0.0), "shank": (0.06, 0.0, 0.0), "forearm": (-0.05, 0.0, 0.0), "upper_arm": (0.0, 0.0, 0.05)}
    found += [ff.contacts.point(f"{side}_{link}", p) for side in ("left", "right") for link, p in places.items()]
    for link, height in (("pelvis", 0.0), ("chest", 0.2), ("head", 0.1)):
        found += [ff.contacts.point(link, (x, 0.0, height), name=f"{link} {x}") for x in (-0.12, 0.1)]
    return found


def _falling(model: ff.Model, robots: int = FALLING, fall: float = FALL, body: bool = False, repeats: int = 3) -> GroundTiming:
    """Thrown humanoids without torques: whole runs of ours and mujoco.rollout on equal threads, in turns; processor time of
    a core, which other programs disturb less. body: they fall on their
    knees and lie down in the end, and not on their soles alone."""
    contacts = _body_points(model) if body else ff.contacts.feet_by_name(model)
    q0, rng = ff.robots.standing_posture(model), np.random.default_rng(0)
    q, v = np.tile(q0, (robots, 1)), rng.uniform(-1.0, 1.0, (robots, model.nv))
    q[:, 2] += 0.02
    plant, data = _scene(model, contacts, q0)
    full, threads = mujoco.mjtState.mjSTATE_FULLPHYSICS, ff.get_threads()
    start = np.empty((robots, mujoco.mj_stateSize(plant.mj_model, full)))
    for x, u, row in zip(q, v, start):
        data.qpos[:], data.qvel[:] = ff.to_mujoco(model, x, u)[:2]
        mujoco.mj_getState(plant.mj_model, data, row, full)
    datas, steps, times = [mujoco.MjData(plant.mj_model) for _ in range(threads)], round(fall / DT), []
    settings: dict[str, Any] = {"dt": DT, "ground": ff.sim.Ground(friction=FRICTION), "contacts": contacts, "every": KEPT}
    ff.sim.simulate(model, q, v, duration=DT, **settings)
    with rollout.Rollout(nthread=threads) as pool:
        for _ in range(repeats):
            begin = process_time()
            run = ff.sim.simulate(model, q, v, duration=fall, **settings)
            middle = process_time()
            pool.rollout(plant.mj_model, datas, start, nstep=steps)
            times.append((middle - begin, process_time() - middle))
    a, b = 1e6 * np.median(times, axis=0) / (robots * steps * threads)
    residual, end = run.ground["residual"], " and lie down" if body else ""
    what = f"{robots} humanoids fall {fall:g} s{end}, {threads} threads"
    return GroundTiming(what, a, b, residual.max(), float((residual > 1e-8).mean()))


def main(robots: int, fall: float) -> None:
    """One run of so many robots that lie down in the end."""
    model = ff.robots.humanoid()
    contacts, q0, rng = _body_points(model), ff.robots.standing_posture(model), np.random.default_rng(0)
    q, v = np.tile(q0, (robots, 1)), rng.uniform(-1.0, 1.0, (robots, model.nv))
    q[:, 2] += 0.02
    before, begin, used = getrusage(RUSAGE_SELF).ru_maxrss, perf_counter(), process_time()
    with TemporaryDirectory() as folder:
        ff.sim.simulate(model, q, v, dt=DT, duration=fall, ground=ff.sim.Ground(friction=FRICTION), contacts=contacts, every=KEPT,
                        record=f"{folder}/run")  # fmt: skip
        took, used = perf_counter() - begin, process_time() - used
        memory = getrusage(RUSAGE_SELF).ru_maxrss
        run = ff.sim.load(f"{folder}/run")
    residual = run.ground["residual"]
    steps = robots * round(fall / DT)
    print(f"{robots} robots, {fall:g} s: {took:.1f} s, {used:.1f} s of processors, {steps / used:.0f} steps in each of these")
    print(f"memory {before / 1024:.0f} MB before, at most {memory / 1024:.0f} MB while it ran")
    print(f"residual at most {residual.max():.1e} m/s, above 1e-8 in {(residual > 1e-8).mean():.1e} of the kept steps")
    print(f"penetration at most {run.ground['penetration'].max():.1e} m, pelvis at {run.q[-1, :, 2].mean():.2f} m in the end")


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
