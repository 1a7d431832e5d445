"""A batch in parts: each part is a run of its own, and the runs of all become that of the batch."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from pickle import PicklingError
from typing import Any, Protocol, runtime_checkable

import numpy as np

from freeflyer.dynamics.integrators import SCHEMES
from freeflyer.errors import InputError
from freeflyer.progress import no_progress, part_of
from freeflyer.sim.blow_up import NONE_LEFT
from freeflyer.sim.events import Occurrence
from freeflyer.sim.ground import check_each
from freeflyer.sim.inputs import PartSensing, Place, Sensing, is_table
from freeflyer.sim.records import record_folder, sample_count, stride
from freeflyer.sim.run import Run

Simulate = Callable[..., Run]
PART = "robots"  # folders of parts begin so
PARTS_PER_WORKER, LANES = 4, 8


@runtime_checkable
class Executor(Protocol):
    """What runs parts of a batch: `submit` of concurrent.futures, whose futures have `result`; a Dask client has both. Its errors,
    such as that of a worker which was killed, are raised as they are."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Any:
        """A future."""


def in_parts(simulate: Simulate, given: Mapping[str, Any], lead: tuple[int, ...], count: int) -> Run:
    """The run of robots that are simulated one after the other. given: arguments of simulate by name; count: its steps."""
    folder, runs = record_folder(given["record"]), list[Run]()
    for k in range(lead[0]):
        progress = part_of(given["progress"], "simulating", k / lead[0], 1.0 / lead[0])
        try:
            runs.append(simulate(**part_of_arguments(given, lead, k, folder) | {"progress": progress}))
        except (Exception, KeyboardInterrupt) as error:  # the run so far is that of all robots, NaN for those that follow
            ended = getattr(error, "run", None)
            runs += [] if ended is None else [ended]
            if runs:
                error.run = _gathered(runs, folder, lead, given, count)  # type: ignore[union-attr]
            raise
    return _gathered(runs, folder, lead, given, count)


def _gathered(runs: list[Run], folder: Path | None, lead: tuple[int, ...], given: Mapping[str, Any], count: int) -> Run:
    return gather(_last_samples(runs, folder), list(range(len(runs))), lead, grid(given, count), True)


def spread(simulate: Simulate, given: Mapping[str, Any], lead: tuple[int, ...], count: int, executor: Executor,
           alone: bool) -> Run:  # fmt: skip
    """The run of robots that the workers of an executor simulate."""
    if not lead:
        raise InputError("executor= spreads a batch: give q and v leading axes")
    folder = record_folder(given["record"])
    given, progress = dict(given) | {"executor": None, "progress": no_progress}, given["progress"]
    size = max(1, -(-lead[0] // (PARTS_PER_WORKER * _workers(executor) * LANES))) * LANES  # whole packs of lanes
    places = [slice(k, min(k + size, lead[0])) for k in range(0, lead[0], size)]
    unshared = {"pure": False} if hasattr(executor, "nthreads") else {}  # Dask keeps results of equal calls otherwise
    waiting: list[Any] = []
    try:
        for place in places:
            waiting.append(executor.submit(_part, simulate, part_of_arguments(given, lead, place, folder), **unshared))
        runs = []
        for k, future in enumerate(waiting):
            runs.append(future.result())
            progress((k + 1) / len(waiting), "simulating")
    except BaseException as error:
        for future in waiting:
            future.cancel()
        if isinstance(error, PicklingError | AttributeError | TypeError) and "pickle" in str(error).lower():
            raise InputError(f"the arguments cannot be sent to other processes ({error}): give functions of a module") from None
        raise
    return gather(_last_samples(runs, folder), places, lead, grid(given, count), alone)


def _part(simulate: Simulate, arguments: dict[str, Any]) -> Run:
    if arguments["record"] is not None:  # what a worker that died has left
        for piece in arguments["record"].glob("piece_*.npz"):
            piece.unlink()
    return simulate(**arguments)


def _last_samples(runs: list[Run], folder: Path | None) -> list[Run]:
    """Of runs in a folder the last sample of each, at the time of the longest."""
    if folder is None:
        return runs
    end = np.array([max(run.t[-1] for run in runs)])
    return [replace(run, t=end, **joined([run], lambda values: values[0][-1:])) for run in runs]


def gather_parts(runs: Sequence[Run], names: Sequence[str]) -> Run:
    """The run of a batch from those of all its parts, by the names of their folders."""
    numbers = [list(map(int, name.split("_")[1:])) for name in names]
    places: list[Place] = [slice(*x) if len(x) > 1 else x[0] for x in numbers]
    longest = max(runs, key=lambda run: len(run.t))
    lead = (numbers[-1][1], *longest.q.shape[2:-1]) if len(numbers[-1]) > 1 else (len(runs), *longest.q.shape[1:-1])
    alone = len(numbers[-1]) == 1 or any(run.events for run in runs) or longest.settings["integrator"] not in SCHEMES
    settings = longest.settings
    return gather(runs, places, lead, grid(settings, sample_count(settings["dt"], settings["duration"])), alone)


def _workers(executor: Any) -> int:
    if callable(getattr(executor, "nthreads", None)):
        return max(1, sum(executor.nthreads().values()))
    return int(getattr(executor, "_max_workers", None) or os.cpu_count() or 1)


def grid(given: Mapping[str, Any], count: int) -> np.ndarray:
    """Times of the samples that are kept."""
    kept = np.r_[np.arange(0, count, stride(given.get("every"), float(given["dt"]))), count]
    return np.minimum(kept * float(given["dt"]), float(given["duration"]))


def taken(name: str, x: Any, axes: int, lead: tuple[int, ...], place: Place) -> Any:
    """A part of x, whose last `axes` axes belong to one robot; what all robots share stays."""
    if np.ndim(x) - axes < len(lead):
        return x
    x = np.asarray(x)
    check_each(name, x.shape[: x.ndim - axes], lead)
    return np.broadcast_to(x, (*lead, *x.shape[len(lead) :]))[place]


def part_of_arguments(given: Mapping[str, Any], lead: tuple[int, ...], place: Place,
                      folder: Path | None = None) -> dict[str, Any]:
    """Arguments of simulate for a part of the batch; functions are those of the batch. folder: in which each part has its own."""
    made, sensing, inputs, loads, ground = dict(given), *(given[name] for name in ("sensing", "inputs", "external", "ground"))
    for name, axes in (("q", 1), ("v", 1), ("gravity", 1)):
        made[name] = taken(name, given[name], axes, lead, place)
    if folder is not None:
        numbers = (place,) if isinstance(place, int) else (place.start, place.stop)
        made["record"] = folder / "_".join([PART, *(f"{k:09d}" for k in numbers)])
    if is_table(inputs):
        made["inputs"] = inputs[0], [taken("inputs", x, 1, lead, place) for x in np.asarray(inputs[1])]
    elif inputs is not None and not callable(inputs) and not hasattr(inputs, "tau") and not hasattr(inputs, "tau_at"):
        made["inputs"] = taken("inputs", inputs, 1, lead, place)
    if isinstance(loads, Mapping):
        made["external"] = {name: taken("external", x, 1, lead, place) for name, x in loads.items()}
    elif isinstance(loads, tuple) and len(loads) == 2:  # a set of frames, and the wrenches on them
        made["external"] = loads[0], taken("external", loads[1], 2, lead, place)
    if ground is not None:
        made["ground"] = replace(ground, **{name: taken(name, x, 0, lead, place) for name, x in ground.of_each().items()})
    if isinstance(sensing, PartSensing):
        made["sensing"] = replace(sensing, places=(*sensing.places, place))
    elif isinstance(sensing, Sensing):
        made["sensing"] = PartSensing(**asdict(sensing), lead=lead, places=(place,))
    return made


def joined(runs: Sequence[Any], join: Callable[[list[Any]], np.ndarray]) -> dict[str, Any]:
    """q, v, tau, forces, ground of one run: what `join` makes of the arrays in all, None where a run has no force of a name."""
    found: dict[str, Any] = {name: join([getattr(run, name) for run in runs]) for name in ("q", "v", "tau")}
    for word in ("forces", "ground"):
        tables = [getattr(run, word) for run in runs]
        found[word] = {name: join([x.get(name) for x in tables]) for name in dict.fromkeys(name for x in tables for name in x)}
    return found


def gather(runs: Sequence[Run], places: Sequence[Place], lead: tuple[int, ...], times: np.ndarray, alone: bool) -> Run:
    """The run of a batch from those of its parts at `places` of the first axis. alone: a part that ends early has NaN from there
    on; otherwise the first failure ends all."""
    right = [int(np.isin(run.t, times).sum()) for run in runs]
    going = [n for run, n in zip(runs, right) if not (run.failure or "").split(": ", 1)[-1].startswith(NONE_LEFT)]
    count = max(right) if alone or not going else min(going)
    longest = runs[right.index(count)]

    def beside(values: Sequence[np.ndarray | None]) -> np.ndarray:
        known = next(x for x in values if x is not None)
        own = known.shape[1 + len(lead) - (1 if isinstance(places[0], int) else 0) :]
        found = np.full((count, *lead, *own), np.nan)
        for x, n, place in zip(values, right, places):
            if x is not None:
                found[: min(n, count), place] = x[: min(n, count)]
        return found

    failures = [f"{_named(place)}: {run.failure}" for place, run, n in zip(places, runs, right) if run.failure and n <= count]
    events = sorted((e for run, place in zip(runs, places) for e in _moved(run.events, place)), key=lambda e: e.t)
    return replace(longest, t=longest.t[:count], **joined(runs, beside), events=tuple(events), failure="; ".join(failures) or None)


def _named(place: Place) -> str:
    return f"robot {place}" if isinstance(place, int) else f"of robots {place.start} to {place.stop - 1}"


def _moved(events: Sequence[Occurrence], place: Place) -> list[Occurrence]:
    if isinstance(place, int):
        return [replace(e, robot=(place, *e.robot)) for e in events]
    return [replace(e, robot=(e.robot[0] + place.start, *e.robot[1:])) for e in events]
