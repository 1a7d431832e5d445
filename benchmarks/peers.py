"""Who is timed beside us: Pinocchio, MuJoCo, TSID, pink and mink, as far as they are installed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.closed import closed_peers
from benchmarks.kinematic_peers import SOLVERS
from benchmarks.pinocchio_peer import peer_for
from benchmarks.tsid_peer import tsid_contestants
from freeflyer.analysis.timing.measured import Peers
from freeflyer.dynamics.states import to_mujoco
from freeflyer.errors import FreeflyerError
from freeflyer.model.model import Model
from freeflyer.model.writers import to_mjcf

INTEGRATORS = {"rk4": "mjINT_RK4", "semi-implicit": "mjINT_EULER"}


def mujoco_steps(
    model: Model, q: np.ndarray, v: np.ndarray, dt: float, count: int
) -> tuple[str, dict[str, Callable[[], object]]]:
    """MuJoCo's steps without contacts and limits, called one by one from Python; none where it is not installed or cannot."""
    try:
        import mujoco

        mj = mujoco.MjModel.from_xml_string(to_mjcf(model))
        qpos, qvel = to_mujoco(model, q, v)[:2]
    except (ImportError, FreeflyerError):
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


PEERS = Peers(peer_for, closed_peers, mujoco_steps, tsid_contestants, SOLVERS)
