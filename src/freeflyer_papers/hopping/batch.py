"""Many hopping runs at once: eight side by side in one register, blocks of runs on threads or any executor."""

from __future__ import annotations

from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

import freeflyer as ff
from freeflyer.errors import InputError, StepError
from freeflyer.kernels.compiler.calls.running import batch, table_handle
from freeflyer.kernels.entry import OK
from freeflyer.model import Model, finite_array, finite_row, positive, public
from freeflyer.progress import Progress, no_progress
from freeflyer.sim.parts import Executor
from freeflyer_papers.hopping import settings as setup
from freeflyer_papers.kernels import layout as L
from freeflyer_papers.kernels.entries import HOP_STEPS

BLOCK = 128  # runs that are sent to an executor together
TRIES = 256  # of a call
MOST_TRIES = 40_000  # a second of a run
OUTCOMES = {L.RUNNING: "standstill", L.ENDED: "ended", L.FALLEN: "fallen", L.SETTLED: "settled", L.STUCK: "failed",
    L.CHATTERING: "chattering", L.COUNTED: "counted"}  # fmt: skip


class HopEnds(NamedTuple):
    """Ends of hopping runs.

    Attributes:
        outcome: (...) array of str, "ended", "fallen", "settled" (on a gait), "counted" (so many apexes), "chattering", "failed" or
            "standstill".
        t: (...) array, times, s.
        q, v: (..., nv) arrays, states, m, rad, m/s and rad/s.
        apexes: (...) int array, how many there were.
        apex_q, apex_v: (..., nv) arrays, the state at the last one."""

    outcome: np.ndarray
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    apexes: np.ndarray
    apex_q: np.ndarray
    apex_v: np.ndarray


class Block(namedtuple("Block", "topology parameters table")):
    """A model's arrays and a table: all that a block of runs needs beside its records, so that it can be sent anywhere."""

    def advance(self, records: np.ndarray) -> np.ndarray:
        """Records (n, m) at the ends of their runs. Runs that have ended make room for others."""
        handle = table_handle(self.topology, self.parameters, L.HOPPERS, self.table)
        records, active, tries = records.copy(), np.arange(len(records)), 0
        most = MOST_TRIES * max(1.0, float(records[:, L.END].max(initial=0.0)))
        while active.size and tries < most:
            here = np.ascontiguousarray(records[active])
            after = np.empty_like(here)
            status, _ = batch(HOP_STEPS, handle, (here,), (), (after, np.empty((len(here), 0))), 0, len(here))
            if status != OK:
                raise StepError("a run's numbers are beyond floating-point numbers: start nearer to rest, or take other settings")
            records[active] = after
            active, tries = active[after[:, L.STATUS] == L.RUNNING], tries + TRIES
        return records


def advance_all(model: Model, controller: setup.HopSettings, records: np.ndarray, executor: Executor | None, progress: Progress,
                what: str) -> np.ndarray:  # fmt: skip
    """Records at the ends of their runs; by default on as many threads as batches take."""
    table = setup.table_of(model, controller, TRIES, False)
    block = Block(np.array(model.topology), np.array(model.parameters), table)
    parts = [records[k : k + BLOCK] for k in range(0, len(records), BLOCK)]
    own = ThreadPoolExecutor(ff.get_threads()) if executor is None else None
    done = []
    with own or nullcontext():
        pool: Any = own or executor
        futures = [pool.submit(block.advance, part) for part in parts]
        try:
            for k, future in enumerate(futures):
                done.append(future.result())
                progress((k + 1) / len(parts), what)
        except BaseException:
            for future in futures:
                future.cancel()
            raise
    return np.concatenate(done) if done else records


def ends_of(model: Model, records: np.ndarray, lead: tuple[int, ...] = ()) -> HopEnds:
    """Ends of runs, from their records."""
    nv, apex = model.nv, L.STATE + 2 * model.nv + 1 + L.PORTS
    outcome = np.array([OUTCOMES[int(k)] for k in records[:, L.STATUS]], dtype=object).astype(str)
    state, last = records[:, L.STATE : L.STATE + 2 * nv], records[:, apex : apex + 2 * nv]
    return HopEnds(outcome.reshape(lead), records[:, L.TIME].reshape(lead), state[:, :nv].reshape(*lead, nv),
        state[:, nv:].reshape(*lead, nv), records[:, L.APEXES].astype(int).reshape(lead), last[:, :nv].reshape(*lead, nv),
        last[:, nv:].reshape(*lead, nv))  # fmt: skip


@public
def hop_ends(experiment: str, q: ArrayLike, v: ArrayLike, *, duration: float, model: Model | None = None,
        executor: Executor | None = None, progress: Progress = no_progress, **changes: ArrayLike | str) -> HopEnds:  # fmt: skip
    """Ends of many hopping runs, of different starts and settings.

    A run ends early where it has fallen, and with `repeated` where five apexes in a row repeat the one before.

    Args:
        experiment: Whose settings hold, as in `hop`.
        q, v: (..., nv) arrays, starts, m, rad, m/s and rad/s; leading axes broadcast.
        duration: Of each run at most, s.
        model: See `hop`.
        executor: With `submit(function, *arguments)`, whose futures have `result()`: one of concurrent.futures, or a Dask client.
            The default is threads, `freeflyer.get_threads()` of them.
        **changes: Settings of `HopSettings`; numbers may be arrays that broadcast with the leading axes, but for `controller`, and
            but for the floor's.
    Raises: UnknownNameError, InputError as `hop`; StepError for runs whose numbers are beyond floating-point numbers."""
    chosen, robot = setup.chosen_hopper(experiment, model)
    end = positive("duration", duration)
    fixed = {name: x for name, x in changes.items() if np.ndim(x) == 0 or name.startswith("floor_")}
    varied = {name: finite_array(name, x) for name, x in changes.items() if name not in fixed}
    settings = setup.changed(chosen.settings, fixed)
    q0, v0 = finite_row(robot, "q", q, "v"), finite_row(robot, "v", v, "v")
    try:
        lead = np.broadcast_shapes(q0.shape[:-1], v0.shape[:-1], *(x.shape for x in varied.values()))
    except ValueError:
        raise InputError(f"the leading axes of q {q0.shape}, v {v0.shape} and of changes do not broadcast together") from None
    q0, v0 = (np.broadcast_to(x, (*lead, robot.nv)).reshape(-1, robot.nv) for x in (q0, v0))
    records = setup.make_records(robot, settings, q0, v0, end)
    _vary(records, settings, {name: np.broadcast_to(x, lead).reshape(-1) for name, x in varied.items()})
    return ends_of(robot, advance_all(robot, settings, records, executor, progress, f"hopping, {len(records)} runs"), lead)


def _vary(records: np.ndarray, settings: setup.HopSettings, varied: dict[str, np.ndarray]) -> None:
    """Writes settings that differ from run to run, each value checked once."""
    if not varied:
        return
    names = list(varied)
    values, of = np.unique(np.stack([varied[n] for n in names], axis=1), axis=0, return_inverse=True)
    for k, value in enumerate(values):
        given = {n: int(x) if n == "apexes" else float(x) for n, x in zip(names, value, strict=True)}
        part = records[of.ravel() == k]
        setup.put_settings(part, setup.changed(settings, given))
        records[of.ravel() == k] = part


@public
def hop_start(model: Model, *, angle: ArrayLike, height: ArrayLike, speed: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Starts of hopping at an apex: the leg at an angle, its joints as in keyframe "start", the trunk at a height, moving forward.

    Args:
        model: A hopper.
        angle: (...) array, angle of the line from the centre of mass to the foot, from the vertical, rad. It is the touch-down
            angle, because nothing turns in flight.
        height: (...) array of the trunk, m.
        speed: (...) array along x, m/s.
    Returns: tuple of (..., nv) arrays, q and v.
    Raises: InputError for another model, and numbers that do not broadcast."""
    setup.check_hopper(model)
    upright = np.array(model.keyframes["start"])
    given = [finite_array(name, x) for name, x in (("angle", angle), ("height", height), ("speed", speed))]
    angles, heights, speeds = np.broadcast_arrays(*given)
    q, v = np.tile(upright, (*angles.shape, 1)), np.zeros((*angles.shape, model.nv))
    q[..., 2] += angles - float(setup.legs(model, upright).angle)
    q[..., 1], v[..., 0] = heights, speeds
    return q, v


FALLEN, OPEN = -1, -2  # in place of a gait's number
FALLEN_HEIGHT = 0.06  # m: half a link
REPEATED = 1e-3  # m, rad, m/s, rad/s
SAME = 0.05  # settled apexes nearer than this, in the same units, are of one gait


@dataclass(frozen=True, eq=False)
class HopBasins:
    """Map of the gaits on which hopping settles.

    Attributes:
        angle, height, speed: (A,), (H,), (S,) arrays of the starts, rad, m, m/s.
        gait: (A, H, S) int array, number of the gait that a start settles on; -1 where it falls, -2 where neither has come about in
            time.
        gaits: (G, 2, nv) array, q and v at an apex of each gait, the place along x aside; the one with most starts first.
        ends: Of all runs."""

    angle: np.ndarray
    height: np.ndarray
    speed: np.ndarray
    gait: np.ndarray
    gaits: np.ndarray
    ends: HopEnds

    def share(self, gait: int) -> float:
        """Of all starts, those with this number."""
        return float(np.mean(self.gait == gait))

    def boundary(self) -> np.ndarray:
        """(A, H, S): whether a neighbour along an axis has another number."""
        wider = np.pad(self.gait, 1, mode="edge")
        neighbours = [np.roll(wider, shift, axis)[1:-1, 1:-1, 1:-1] for axis in range(3) for shift in (1, -1)]
        return np.any(np.array(neighbours) != self.gait, axis=0)


@public
def hop_basins(experiment: str, *, angle: ArrayLike, height: ArrayLike, speed: ArrayLike, duration: float = 20.0,
               model: Model | None = None, executor: Executor | None = None,
               progress: Progress = no_progress, **changes: ArrayLike | str) -> HopBasins:  # fmt: skip
    """Map of the gaits on which hopping settles, over touch-down angles, heights of the trunk and forward speeds.

    Runs end early, fallen or settled. Settled states nearer to each other than 0.05 are one gait.

    Args:
        experiment: Whose settings hold, as in `hop`.
        angle, height, speed: (A,), (H,), (S,) arrays of the starts, as in `hop_start`, rad, m, m/s.
        duration: Of a run at most, s.
        model, executor, progress: See `hop_ends`.
        **changes: Settings; by default the step's tolerance is 1e-6, and a fall is the trunk below 0.06 m. A run has settled
            if five apexes in a row repeat the one before to 1e-3 (m, rad, m/s, rad/s).
    Raises: UnknownNameError, InputError as `hop_ends`."""
    _, robot = setup.chosen_hopper(experiment, model)
    starts = (("angle", angle), ("height", height), ("speed", speed))
    angles, heights, speeds = (np.atleast_1d(finite_array(name, x)) for name, x in starts)
    grid = np.meshgrid(angles, heights, speeds, indexing="ij")
    q, v = hop_start(robot, angle=grid[0], height=grid[1], speed=grid[2])
    settings: dict[str, ArrayLike | str] = {"tolerance": 1e-6, "fallen_height": FALLEN_HEIGHT, "repeated": REPEATED} | changes
    ends = hop_ends(experiment, q, v, duration=duration, model=robot, executor=executor, progress=progress, **settings)
    number, gaits = _sort(ends)
    return HopBasins(angles, heights, speeds, number, gaits, ends)


def _sort(ends: HopEnds) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of gaits of all runs, and the gaits, by how many settle on them."""
    settled = ends.outcome == "settled"
    states = np.stack([ends.apex_q, ends.apex_v], axis=-2)[settled]
    states[:, 0, 0] = 0.0
    gaits: list[np.ndarray] = []
    of = np.empty(len(states), int)
    for k, state in enumerate(states):
        near = [n for n, gait in enumerate(gaits) if np.abs(state - gait).max() < SAME]
        of[k] = near[0] if near else len(gaits)
        gaits += [] if near else [state]
    order = np.argsort(-np.bincount(of, minlength=len(gaits)), kind="stable")
    rank = np.argsort(order)
    number = np.where(np.isin(ends.outcome, ("fallen", "chattering", "failed")), FALLEN, OPEN)
    number[settled] = rank[of] if len(gaits) else number[settled]
    return number, np.array(gaits).reshape(-1, 2, states.shape[-1])[order]
