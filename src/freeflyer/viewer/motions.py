"""Runs of every kind as motions that can be shown: postures, contact forces and signals at times."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import cast

import numpy as np

from freeflyer.contacts.description import Contact
from freeflyer.control.running import ControlRun
from freeflyer.errors import InputError
from freeflyer.model import Model, instance
from freeflyer.plots.film_scene import feet_of_run
from freeflyer.plots.runs import signal_groups
from freeflyer.plots.scene import floor_under, robot_pieces
from freeflyer.sim.run import Run, check_run
from freeflyer.sim.run_table import RecordedRun

FRAMES = 60  # a second, in the browser


class Motion(namedtuple("Motion", "model t q forces feet signals title")):
    """Motion of n robots of one model. t (T,), s; q (T, n, nq); forces: wrenches (T, n, 6) on the feet by name, in their frames'
    axes. signals: curves (T, n) by kind and name. title: title of the page."""

    def at(self, k: int, chosen: Sequence[int]) -> tuple[np.ndarray, list[dict[str, np.ndarray]]]:
        """(q (m, nq), wrenches on the feet by name of each) of some of the robots at sample k."""
        on_feet = {foot.name: self.forces[foot.name] for foot in self.feet if foot.name in self.forces}
        return self.q[k, chosen], [{name: w[k, n] for name, w in on_feet.items()} for n in chosen]

    def sampled(self, rate: float) -> np.ndarray:
        """Samples that are shown `rate` times a second, the first and the last one included."""
        count = max(2, round((self.t[-1] - self.t[0]) * rate) + 1)
        wanted = np.linspace(self.t[0], self.t[-1], count)
        nearest = np.searchsorted(0.5 * (self.t[1:] + self.t[:-1]), wanted, side="right")
        return np.unique(np.append(nearest, len(self.t) - 1))


def floor_of(m: Motion) -> float:
    """Height of the floor, m: 0 if there are contact forces, else below the lowest point of three postures."""
    if m.forces:
        return 0.0
    shown = [piece for k in (0, len(m.t) // 2, len(m.t) - 1) for piece in robot_pieces(m.model, m.q[k, 0])]
    return floor_under(m.model, shown) or 0.0


@singledispatch
def motion(run: object, model: Model | None = None, feet: Sequence[Contact] | None = None) -> Motion:
    """Motion of a run. Errors: InputError for anything but a run, and for that of another robot."""
    own, inner = getattr(run, "motion", None), getattr(run, "run", None)
    if callable(own):  # of another package
        return cast(Motion, own())
    if isinstance(inner, Run):  # of studies that keep the simulator's
        return motion(inner, model, feet)
    raise InputError(f"a run of the library is shown, of sim.simulate, control.run_scenario ..., got {type(run).__name__}")


def state_motion(run: RecordedRun, model: Model, q: np.ndarray, forces: Mapping[str, np.ndarray], feet: Sequence[Contact],
                 title: str) -> Motion:  # fmt: skip
    """Motion of postures q (T, ..., nq) and wrenches (T, ..., 6)."""
    columns, q = run.columns(), np.asarray(q)
    t = columns["t"]
    finite = np.isfinite(q).all(axis=-1).reshape(len(t), -1)
    flat = q.reshape(len(t), -1, model.nq).copy()
    for n in range(flat.shape[1]):  # robots whose run ended stay where they were
        last = len(t) if finite[:, n].all() else int(np.argmin(finite[:, n]))
        if last == 0:
            raise InputError(f"robot {n} of the run has no posture")
        flat[last:, n] = flat[last - 1, n]
    signals = {
        kind: {name: np.broadcast_to(x.reshape(len(t), -1), flat.shape[:2]) for name, x in curves.items()}
        for kind, curves in signal_groups(columns).items()}  # fmt: skip
    return Motion(model, t, flat, {name: w.reshape(len(t), -1, 6) for name, w in forces.items()}, feet, signals, title)


@motion.register
def _(run: Run, model: Model | None = None, feet: Sequence[Contact] | None = None) -> Motion:
    robot = model_of_run(run, model)
    return state_motion(run, robot, run.q, run.forces, feet_of_run(robot, run, feet), f"run of {run.robot}")


@motion.register
def _(run: ControlRun, model: Model | None = None, feet: Sequence[Contact] | None = None) -> Motion:
    return motion(run.run, run.stance.model, run.stance.feet)._replace(title=f"{run.robot}: {run.scenario}")


def model_of_run(run: Run, model: Model | None) -> Model:
    """The model given or kept. Errors: InputError for neither, and for that of another run."""
    if model is None and run.model is None:
        raise InputError("the run was loaded, and does not know its robot's shapes: give its model, model=...")
    chosen = instance("model", model or run.model, Model)
    check_run(chosen, run)
    return chosen
