"""Everything a report shows about one robot, computed once; `page.py` lays it out, `write_report` saves it."""

from __future__ import annotations

import datetime
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from freeflyer.analysis.checks.checking import Check, check
from freeflyer.analysis.checks.findings import with_loops_closed
from freeflyer.analysis.checks.laws import random_states
from freeflyer.analysis.facts import Conditioning, Matrices, Overview, conditioning, matrices, overview
from freeflyer.analysis.flight import FallStudy, free_fall
from freeflyer.analysis.linkage import Linkages, linkages
from freeflyer.analysis.timing.algorithms import USUAL
from freeflyer.analysis.timing.results import Machine, RobotTimings, machine, time_interleaved
from freeflyer.analysis.timing.runner import Effort, time_robot
from freeflyer.dynamics import center_of_mass, centroidal_momentum, centroidal_momentum_matrix, forward_dynamics, inverse_dynamics
from freeflyer.errors import FreeflyerError
from freeflyer.linkages import has_loops, position_limits
from freeflyer.model import Model, neutral, public
from freeflyer.plots.files import inline_svg
from freeflyer.plots.picture import picture, png
from freeflyer.progress import Progress, no_progress
from freeflyer.report.linkage import robot as draw_robot
from freeflyer.version import __version__

T = TypeVar("T")
MOST_DRAWN = 1000  # links
PICTURE = 560  # pixels
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
        picture: PNG file of the robot at the neutral posture with joints moved within their limits; empty for robots of more than
            1000 links.
        views: Element `<svg>` of the robot there from four sides, in the colours of its motors; empty for such robots.
        omitted: The reason by the name of each part that is None: "matrices", "conditioning", "free fall", "timings", "linkages".
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
    picture: bytes
    views: bytes
    omitted: dict[str, str]


@public
def report(model: Model, *, seed: int = 0, effort: Effort = EFFORT, progress: Progress = no_progress) -> Report:
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
    small = len(tree.description.links) <= MOST_DRAWN
    drawn = model.neutral if model.reduction else np.clip(model.neutral, *position_limits(model))  # neutral closes loops
    linked = part("linkages", lambda: linkages(model)) if has_loops(tree) else None
    groups = linked.links if linked else None
    return Report(robot=model.name, version=__version__,
        created=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"), machine=machine(),
        overview=overview(model), check=check(model, seed=seed), matrices=part("matrices", lambda: matrices(model, seed=seed)),
        conditioning=part("conditioning", lambda: conditioning(model, seed=seed)),
        fall=part("free fall", lambda: free_fall(model, seed=seed)),
        timings=part("timings", lambda: time_robot(tree, effort=effort, algorithms=USUAL, progress=progress)),
        linkages=linked,
        picture=png(picture(model, drawn, width=PICTURE, height=PICTURE, layers=("com", "loops"))) if small else b"",
        views=inline_svg(lambda: draw_robot(tree, drawn, groups), "robot").encode() if small else b"",
        omitted=omitted)


BATCH = 4096


class Tour(namedtuple("Tour", (
    "robot nq nv mass com round_trip momentum inverse_dynamics_call inverse_dynamics_batch "
    "forward_dynamics_batch batch_size"))):  # fmt: skip
    """Sizes, where the robot's centre of mass is (m, neutral), residuals (relative) and times (us)."""


def tour(model: Model, batch: int = BATCH) -> Tour:
    """Neutral posture, inverse and forward dynamics of a batch and back, momentum by two ways, times."""
    x = random_states(model, batch, spread=0.5)
    tau = inverse_dynamics(model, x.q, x.v, x.a)
    returned = forward_dynamics(model, x.q, x.v, tau)
    q, v, a = x.q[0].copy(), x.v[0].copy(), x.a[0].copy()
    by_matrix = centroidal_momentum_matrix(model, q) @ v
    momentum = centroidal_momentum(model, q, v)
    (call,) = time_interleaved([lambda: inverse_dynamics(model, q, v, a)], 5, 1e-3)
    inverse, forward = time_interleaved(
        [lambda: inverse_dynamics(model, x.q, x.v, x.a), lambda: forward_dynamics(model, x.q, x.v, tau)], 5, 2e-3)
    return Tour(robot=model.name, nq=model.nq, nv=model.nv, mass=float(model.mass), com=center_of_mass(model, neutral(model)),
        round_trip=float(np.max(np.abs(returned - x.a)) / np.max(np.abs(x.a))),
        momentum=float(np.max(np.abs(by_matrix - momentum)) / max(np.max(np.abs(momentum)), 1e-12)),
        inverse_dynamics_call=call, inverse_dynamics_batch=inverse / batch, forward_dynamics_batch=forward / batch,
        batch_size=batch)
