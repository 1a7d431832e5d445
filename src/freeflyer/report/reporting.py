"""Everything a report shows about one robot, computed once; `page.py` lays it out, `write_report` saves it."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from freeflyer.analysis.checks.checking import Check, check
from freeflyer.analysis.checks.closure import with_loops_closed
from freeflyer.analysis.facts import Overview, overview
from freeflyer.analysis.fall import FallStudy, free_fall
from freeflyer.analysis.linkage import Linkages, linkages
from freeflyer.analysis.postures import Conditioning, Matrices, conditioning, matrices
from freeflyer.analysis.timing.algorithms import USUAL
from freeflyer.analysis.timing.clock import machine
from freeflyer.analysis.timing.results import Machine, RobotTimings
from freeflyer.analysis.timing.runner import Effort, time_robot
from freeflyer.errors import FreeflyerError
from freeflyer.linkages.closing import has_loops
from freeflyer.linkages.closure import position_limits
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.plots.skeleton import Body, bodies
from freeflyer.progress import Progress, no_progress
from freeflyer.version import __version__

T = TypeVar("T")
MOST_DRAWN = 1000  # links
EFFORT = Effort(batch=1024, blocks=7, block_seconds=1.5e-3)


@dataclass(frozen=True)
class Report:
    """Results of a report on one robot; a part that this robot does not allow is None, for the reason in `omitted`.

    Attributes:
        robot: The model's name.
        version: Version of freeflyer.
        created: Date and time, UTC.
        machine: Processor, system and versions of packages.
        overview: Sizes, masses, links, joints and loops.
        check: Findings and identities, of freeflyer.analysis.checks.
        matrices: The mass matrix and the centroidal momentum matrix at a random posture near neutral.
        conditioning: Condition numbers of the mass matrix over random postures.
        fall: The energy in free fall by five step sizes.
        timings: Times of the functions, us.
        linkages: Sub-mechanisms, strokes and motor motions of a robot with closed loops.
        bodies: Links as they are drawn, at the neutral posture with joints moved within their limits; none of robots of more than
            1000 links.
        omitted: The reason by the name of each part that is None: "matrices", "conditioning", "free fall", "timings", "linkages".

    Examples:
        All parts are there, and all laws hold:

        >>> from freeflyer.analysis.timing.runner import Effort
        >>> result = ff.report.report(ff.robots.chain(2), effort=Effort(batch=8, blocks=3, block_seconds=1e-4))
        >>> result.robot, all(x.holds for x in result.check.identities), result.omitted
        ('chain_2', True, {})
    """

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
    linkages: Linkages | None
    bodies: tuple[Body, ...]
    omitted: dict[str, str]


@public
def report(
    model: Model, *, seed: int = 0, effort: Effort = EFFORT, progress: Progress = no_progress
) -> Report:
    """Results of a report on one robot: facts, checks, matrices, conditioning, a free fall, timings.

    Loops are closed, if they can be; timings are of the tree and, apart, of the closed robot. Conditioning is over 256 postures,
    fewer for hundreds of joints.

    Args:
        seed: Seed of the random states and postures.
        effort: Effort of the timings (freeflyer.analysis.timing.runner): states in a batch, blocks of calls, s in a block, threads.
    Returns: Report for write_report.

    Examples:
        A robot without joints allows facts and checks only:

        >>> result = ff.report.report(ff.robots.chain(3, joints="fixed"))
        >>> result.overview.total_mass, result.omitted["free fall"]
        (2.0, 'the robot has no moving joint')
    """
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
        linkages=part("linkages", lambda: linkages(model)) if has_loops(tree) else None,
        bodies=tuple(bodies(tree, _drawn_posture(model))) if len(tree.description.links) <= MOST_DRAWN else (),
        omitted=omitted,
    )


def _drawn_posture(model: Model) -> np.ndarray:
    """The neutral posture; without loops, which it closes, joints are moved within their limits."""
    return model.neutral if model.reduction else np.clip(model.neutral, *position_limits(model))
