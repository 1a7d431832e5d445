"""Everything a report shows about one robot, computed once; `page.py` lays it out, `write_report` saves it."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from freeflyer.bench.algorithms import USUAL
from freeflyer.bench.machine import machine
from freeflyer.bench.results import Machine, RobotTimings
from freeflyer.bench.runner import Effort, time_robot
from freeflyer.checks.checking import Check, check
from freeflyer.checks.closure import with_loops_closed
from freeflyer.errors import FreeflyerError
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.progress import Progress, no_progress
from freeflyer.studies.facts import Overview, overview
from freeflyer.studies.fall import FallStudy, free_fall
from freeflyer.studies.postures import Conditioning, Matrices, conditioning, matrices
from freeflyer.version import __version__

T = TypeVar("T")
EFFORT = Effort(batch=1024, blocks=7, block_seconds=1.5e-3)


@dataclass(frozen=True)
class Report:
    """The results behind a report; a part that this robot does not allow is None, for the reason in `omitted`."""

    robot: str
    version: str
    created: str
    machine: Machine
    overview: Overview
    check: Check
    matrices: Matrices | None
    conditioning: Conditioning | None
    fall: FallStudy | None
    timings: RobotTimings | None
    omitted: dict[str, str]


@public
def report(
    model: Model, *, seed: int = 0, effort: Effort = EFFORT, progress: Progress = no_progress
) -> Report:
    """Compute a report: facts, checks, matrices, conditioning over 256 postures, a free fall, timings; with its loops closed."""
    omitted: dict[str, str] = {}
    tree, (model, _) = model.tree, with_loops_closed(model)

    def part(name: str, compute: Callable[[], T]) -> T | None:
        progress(0.0, f"{name} of {model.name}")
        if model.nv == 0:
            omitted[name] = "the robot has no moving joint"
            return None
        try:
            return compute()
        except FreeflyerError as error:
            omitted[name] = str(error)
            return None

    progress(0.0, f"checks of {model.name}")
    return Report(
        robot=model.name,
        version=__version__,
        created=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        machine=machine(),
        overview=overview(model),
        check=check(model, seed=seed),
        matrices=part("matrices", lambda: matrices(model, seed=seed)),
        conditioning=part("conditioning", lambda: conditioning(model, seed=seed)),
        fall=part("free fall", lambda: free_fall(model, seed=seed)),
        timings=part("timings", lambda: time_robot(tree, effort=effort, algorithms=USUAL, progress=progress)),
        omitted=omitted,
    )
