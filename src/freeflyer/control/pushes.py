"""Pushes on a standing robot, each from rest: which ones it bears, and the boundary where it falls, by direction."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from threading import Thread, current_thread, main_thread
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.control.problem import Formulation, WholeBodyProblem
from freeflyer.control.running import Simulator, run_scenario
from freeflyer.control.scenario import Stance
from freeflyer.control.scenarios import PUSH_DURATION, Stand, along
from freeflyer.control.standing import Standing
from freeflyer.control.support import capture_point, max_push_impulse, support_polygon
from freeflyer.errors import FreeflyerError, StepError
from freeflyer.model import LARGEST_SEED, instance, number, public, shaped, whole_number
from freeflyer.progress import Progress, no_progress, part_of
from freeflyer.sim import Sensing
from freeflyer.spatial.polygons import signed_distance
from freeflyer.text import short_repr

FIRST = 0.1  # s of rest before the push
AFTER = 1.5  # s in which a robot that is lost falls: five time constants of its capture point
CHECKED = 0.02  # s from one check of the capture point to the next
BEYOND = 0.1  # m that the capture point is outside the support polygon: lost without a step
WIDEST = 2.0  # share of the inverted pendulum's limit at which the search for the boundary begins


@dataclass(frozen=True, eq=False)
class PushBoundary:
    """Largest impulses that a standing robot bears, by direction.

    Attributes:
        angles: (k,) array, directions, rad from the world's x to its y.
        borne, lost: (k,) array, largest impulse that it bore and least one at which it fell, N s; infinite where it never fell.
        limits: (k,) array, those of the capture point over the support polygon, N s."""

    angles: np.ndarray
    borne: np.ndarray
    lost: np.ndarray
    limits: np.ndarray
    __repr__ = short_repr


@public
def survives_push(robot: Standing, impulses: ArrayLike, *, formulation: Formulation = "full", dt: float = 1e-3,
                  sensing: Sensing | None = None, plant: Simulator = "mujoco", processes: int = 1,
                  progress: Progress = no_progress) -> np.ndarray:  # fmt: skip
    """Which pushes on its base a standing robot survives, each from rest: (n,) array of bool.

    It survives if it stands 1.5 s later, and its capture point was never 10 cm outside the support polygon.

    Args:
        robot: Result of stand_on_feet.
        impulses: (n, 2) array, horizontal, N s, world axes; a constant force for 0.1 s.
        formulation, dt, sensing, plant: See run_scenario.
        processes: Python processes that share the pushes; scripts that ask for more than one need `if __name__ == "__main__":`."""
    instance("robot", robot, Standing, "control.stand_on_feet")
    given = shaped("impulses", impulses, ("n", 2), ", N s")
    options = {"formulation": formulation, "dt": dt, "sensing": sensing, "plant": plant}
    count = whole_number("processes", processes, 1)
    what, found = f"{len(given)} pushes", np.zeros(len(given), bool)
    if count == 1:
        for k, impulse in enumerate(given):
            found[k] = _stood(impulse, robot, options)
            progress((k + 1) / len(given), what)
        return found
    # processes start anew, for a fork would copy running threads; they end when `alive` is closed, be it by an error, by Ctrl-C,
    # which they do not see themselves, or with this process; each gets the robot at its start, as the pool waits for ever if a
    # process is killed while it writes long tasks
    context = get_context("spawn")
    watched, alive = context.Pipe(duplex=False)
    with alive, ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(watched, robot, options)) as pool:
        try:
            with _deaf_children():
                futures = [pool.submit(_stood, impulse) for impulse in given]
            for k, future in enumerate(futures):
                found[k] = future.result()
                progress((k + 1) / len(given), what)
        except BaseException as error:
            alive.close()  # the pool does not end a worker that it was starting when another one was killed
            if not isinstance(error, BrokenProcessPool):
                raise
            raise FreeflyerError("a process was ended, perhaps for lack of memory: ask for fewer (processes=)") from None
    return found


@public
def random_pushes(robot: Standing, count: int, *, share: float = 0.5, seed: int = 0) -> np.ndarray:
    """Horizontal impulses (count, 2) in N s, with uniform directions and uniform shares of the capture point's limit.

    Args:
        count: int.
        share: Largest share of the limit of freeflyer.control.max_push_impulse.
        seed: int."""
    n = whole_number("count", count, 1)
    rng = np.random.default_rng(whole_number("seed", seed, 0, LARGEST_SEED))
    angles, sizes = rng.uniform(0.0, 2.0 * np.pi, n), rng.uniform(0.0, 1.0, n)
    return along(angles, number("share", share, 0.0) * sizes * _limits(robot, angles))


@public
def push_boundary(robot: Standing, angles: ArrayLike, *, rounds: int = 6, formulation: Formulation = "full", dt: float = 1e-3,
                  sensing: Sensing | None = None, plant: Simulator = "mujoco", processes: int = 1,
                  progress: Progress = no_progress) -> PushBoundary:  # fmt: skip
    """Where a standing robot begins to fall, by halving the impulse's interval in each direction.

    Args:
        robot: Result of stand_on_feet.
        angles: (k,) array, directions, rad from the world's x to its y.
        rounds: Halvings, from twice the capture point's limit down: six tell it to 3 % of the limit.
        formulation, dt, sensing, processes: See survives_push."""
    turn = shaped("angles", angles, ("k",), ", rad")
    count, limits = whole_number("rounds", rounds, 1), _limits(robot, turn)
    borne, lost, fell_once = np.zeros(len(turn)), WIDEST * limits, np.zeros(len(turn), bool)
    for k in range(count):
        middle = 0.5 * (borne + lost)
        stands = survives_push(
            robot, along(turn, middle), formulation=formulation, dt=dt, sensing=sensing, plant=plant, processes=processes,
            progress=part_of(progress, f"{len(turn)} directions, {count} rounds", k / count, 1.0 / count))  # fmt: skip
        borne, lost = np.where(stands, middle, borne), np.where(stands, lost, middle)
        fell_once |= ~stands
    return PushBoundary(turn, borne, np.where(fell_once, lost, np.inf), limits)


class _Pushed(Stand):
    """One push; the run ends where the capture point is so far out of the soles that no standing robot comes back."""

    def __init__(self, stance: Stance, impulse: np.ndarray) -> None:
        super().__init__(stance, impulse[None], FIRST)
        self.duration, self.soles, self.checked = FIRST + PUSH_DURATION + AFTER, support_polygon(stance.feet), 0.0

    def problem(self, t: float, q: np.ndarray, v: np.ndarray) -> WholeBodyProblem:
        if t >= self.checked + CHECKED:
            self.checked = t
            if signed_distance(self.soles, capture_point(self.stance.model, q, v, self.stance.feet)[:2]) < -BEYOND:
                raise StepError(f"the capture point is {BEYOND:g} m outside the soles")
        return super().problem(t, q, v)


def _limits(robot: Standing, angles: np.ndarray) -> np.ndarray:
    """(k,) N s; 0 where the capture point is beside feet without area, by rounding."""
    return np.nan_to_num(max_push_impulse(robot.model, robot.q, np.zeros(robot.model.nv), angles, robot.feet))


_here: list[Any] = []  # of a worker: the robot and the options of its runs


def _begin(watched: Any, *given: Any) -> None:
    """A worker ends as soon as nobody has the other end of the pipe (a Connection) any more."""
    _here[:] = given
    os.environ.setdefault("MUJOCO_GL", "disable")  # MuJoCo would look for a display, in a process that does not end with this one

    def wait() -> None:
        with suppress(OSError):
            watched.poll(None)
        os._exit(1)

    Thread(target=wait, daemon=True).start()


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Processes that are started within do not see Ctrl-C. This process sees it afterwards, not while one is half started."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    seen: list[int] = []
    # a mask alone would not do, for any other thread of this process may take the signal, and Python then interrupts this one
    here = current_thread() is main_thread() and signal.getsignal(signal.SIGINT)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    if here:
        signal.signal(signal.SIGINT, lambda number, _: seen.append(number))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if here:
            signal.signal(signal.SIGINT, here)
        if seen:
            signal.raise_signal(signal.SIGINT)


def _stood(impulse: np.ndarray, *given: Any) -> bool:
    """Whether a robot stands in a run with these options; by default those of a worker."""
    robot, options = given or _here
    length = round((FIRST + PUSH_DURATION + AFTER) / options["dt"]) * options["dt"]
    pushed = partial(_Pushed, impulse=impulse)
    return not run_scenario(pushed, robot.model, q=robot.q, feet=robot.feet, duration=length, **options).fell
