"""Who is timed beside us: Pinocchio, MuJoCo, TSID, pink and mink, as far as they are installed.

pink and mink (optional: `pin-pink`, `mink`): TALOS keeps both feet; its left hand and its centre of mass go to targets, errors
weighted alike. Their steps go the whole way (gain 1), without limits or up to the position limits of joints."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import qpsolvers

import freeflyer as ff
from benchmarks import NoPeerError
from benchmarks.pinocchio_peer import peer_for
from benchmarks.standing import MOST, TOLERANCE, Reach, Reaching

INTEGRATORS = {"rk4": "mjINT_RK4", "semi-implicit": "mjINT_EULER"}


def mujoco_steps(model: ff.Model, q: np.ndarray, v: np.ndarray, dt: float,
        count: int) -> tuple[str, dict[str, Callable[[], object]]]:  # fmt: skip
    """MuJoCo's steps without contacts and limits, called one by one from Python; none where it is not installed or cannot."""
    try:
        import mujoco

        mj = mujoco.MjModel.from_xml_string(ff.to_mjcf(model))
        qpos, qvel = ff.to_mujoco(model, q, v)[:2]
    except (ImportError, ff.FreeflyerError):
        return "MuJoCo", {}
    mj.opt.timestep = dt
    mj.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    data = mujoco.MjData(mj)

    def run(kind: Any) -> None:
        mj.opt.integrator = kind
        data.qpos[:], data.qvel[:] = qpos, qvel
        for _ in range(count):
            mujoco.mj_step(mj, data)

    return "MuJoCo", {name: partial(run, getattr(mujoco.mjtIntegrator, kind)) for name, kind in INTEGRATORS.items()}


DAMPING = 1e-12  # of all coordinates: pink's own


def pink_solver(r: Reach) -> Reaching:
    """(q, steps) of pink; NoPeerError where it is missing."""
    pink = _package("pink", "pin-pink")
    model = r.problem.model
    peer = peer_for(model, r.problem.urdf, r.problem.hand)
    start = ff.to_pinocchio(model, peer.model, r.q).q
    tasks = [pink.tasks.FrameTask(frame, position_cost=1.0, orientation_cost=1.0) for frame in r.frames]
    poses = [peer.pin.SE3(X[:3, :3], X[:3, 3]) for X in r.frames.values()]
    limits = [pink.limits.ConfigurationLimit(peer.model, 1.0)] if r.limits else []
    return _peer_solver(pink, r, lambda: pink.Configuration(peer.model, peer.data, start), [*tasks, pink.tasks.ComTask(1.0)],
        poses, limits, lambda q: ff.from_pinocchio(model, peer.model, q).q)  # fmt: skip


def mink_solver(r: Reach) -> Reaching:
    """(q, steps) of mink, with MuJoCo's model of the same robot; NoPeerError where it is missing."""
    mink, model = _package("mink", "mink"), r.problem.model
    peer = import_module("mujoco").MjModel.from_xml_string(ff.to_mjcf(model))
    start = ff.to_mujoco(model, r.q).qpos
    tasks = [mink.FrameTask(frame, "body" if frame in model.link_names else "site", 1.0, 1.0) for frame in r.frames]
    limits = [mink.ConfigurationLimit(peer, 1.0)] if r.limits else []
    return _peer_solver(mink, r, lambda: mink.Configuration(peer, start), [*tasks, mink.ComTask(1.0)],
        [mink.SE3.from_matrix(X) for X in r.frames.values()], limits, lambda q: ff.from_mujoco(model, q).q)  # fmt: skip


SOLVERS = {"pink, daqp": pink_solver, "mink, daqp": mink_solver}


def _peer_solver(package: Any, r: Reach, start: Callable[[], Any], tasks: list[Any], poses: list[Any], limits: list[Any],
        ours: Callable[[np.ndarray], np.ndarray]) -> Reaching:  # fmt: skip
    for task, target in zip(tasks, [*poses, r.com], strict=True):
        task.set_target(target)

    def run() -> tuple[np.ndarray, int]:
        at, steps = start(), 0
        while steps < MOST and max(np.abs(task.compute_error(at)).max() for task in tasks) > TOLERANCE:
            step = qpsolvers.solve_problem(package.build_ik(at, tasks, 1.0, DAMPING, limits=limits), "daqp").x
            at.integrate_inplace(step, 1.0)
            steps += 1
        return ours(at.q), steps

    return run


def _package(name: str, at: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise NoPeerError(f"{name} is not installed: pip install {at}") from None
