"""A run: the samples of a simulation, recorded, saved and loaded as one file."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from freeflyer.contacts import ConstraintSet, ContactExpressed, wrenches_in
from freeflyer.errors import InputError, format_value
from freeflyer.files import write_atomically
from freeflyer.model import Model, instance
from freeflyer.sim.events import Occurrence
from freeflyer.sim.run_table import RecordedRun, state_columns

FORMAT = "freeflyer run 1"
UNSOLVED = 1e-8  # m/s: residuals of contacts below are rounding
PLACES = ("q", "v", "v_after")  # of an occurrence


@dataclass(frozen=True, eq=False)
class Run(RecordedRun):
    """Run of a simulation: its samples and events; `run.save(path)` writes it to a file.

    Attributes:
        t: (T,) array, times of the samples, s.
        q: (T, ..., nq) array, configurations, m and rad.
        v: (T, ..., nv) array, velocities, m/s and rad/s.
        tau: (T, ..., nv) array, generalised forces of the inputs, N and N m.
        forces: Wrenches [force; torque] (T, ..., 6) of the constraints on the robot by name, in their frames' axes at their
            origins, N and N m; NaN while they do not hold.
        ground: Arrays (T, ...) by name of runs on a ground. "residual" is the miss of the contacts' conditions by the step from a
            sample, m/s. "penetration" is the depth of the lowest point in the ground, or of a joint behind its limit, m (rad).
            "touching" counts the points that push, "rounds" those of the solver.
        events: Events in order.
        failure: The sentence of the error that ended the run early; the samples before it are kept. Of a batch also which robots
            blew up, when and why: they have NaN from there on.
        settings: The arguments with which `freeflyer.sim.replay` repeats the run.
        robot, digest: The model's name, and a hash of its numbers.
        model: The model; None for runs that were loaded or copied to another process.

    Examples:
        The energy of a swinging chain (J) stays, to the order of the integrator:

        >>> model = ff.robots.chain(3)
        >>> run = ff.sim.simulate(model, [0.5, 0.0, 0.0], np.zeros(3), dt=2e-3, duration=0.5)
        >>> run
        Run of 'chain_3': 251 samples to 0.5 s, 0 events
        >>> energy = ff.kinetic_energy(model, run.q, run.v) + ff.potential_energy(model, run.q)
        >>> bool(np.ptp(energy) < 1e-6)
        True
    """

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    forces: Mapping[str, np.ndarray] = field(default_factory=dict)
    events: tuple[Occurrence, ...] = ()
    failure: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    robot: str = ""
    digest: str = ""
    ground: Mapping[str, np.ndarray] = field(default_factory=dict)
    model: Model | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "model": None}

    def columns(self) -> dict[str, np.ndarray]:
        """Arrays by name: t, q, v, tau of each coordinate, forces and torques of each contact, and what the ground says."""
        columns = state_columns(self.model, self.t, self.q, self.v, self.tau, self.forces)
        return columns | {f"ground {name}": x for name, x in self.ground.items()}

    def __repr__(self) -> str:
        ended = f", ended early: {self.failure}" if self.failure else ""
        unsolved = int((self.ground["residual"] > UNSOLVED).sum()) if self.ground else 0
        ended = f", {unsolved} steps miss their contacts' conditions" * (unsolved > 0) + ended
        return f"Run of {self.robot!r}: {len(self.t)} samples to {self.t[-1]:g} s, {len(self.events)} events{ended}"

    def wrenches(self, constraints: ConstraintSet, expressed: ContactExpressed = "contact") -> dict[str, np.ndarray]:
        """Name -> (T, 6): `forces` of the constraints of a set, such as ConstraintSet(model, contacts=feet), in axes of "contact",
        whose z is the normal, or "body", "mixed", "world" as in inverse_dynamics. Errors: InputError for other words, and for a set
        of another robot."""
        if not isinstance(constraints, ConstraintSet):
            raise InputError(f"wrenches takes a ConstraintSet of the run's contacts, got {format_value(constraints)}")
        check_run(constraints.model, self)
        known = {name: F for name, F in self.forces.items() if name in constraints.names}
        return wrenches_in(constraints, self.q, known, expressed)

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Writes a NumPy archive (.npz) that `freeflyer.sim.load` reads. Errors: FileError for a file that is there."""
        write_run(self, path, overwrite)


def write_run(run: Run, path: str | os.PathLike[str], overwrite: bool = False, packed: bool = True) -> None:
    """A file of the run, compressed or not. Errors: FileError for a file that is there."""
    head = {
        "format": FORMAT, "failure": run.failure, "settings": dict(run.settings), "robot": run.robot, "digest": run.digest,
        "forces": list(run.forces), "ground": list(run.ground),
        "events": [{"name": e.name, "t": e.t, "holding": e.holding, "robot": e.robot} for e in run.events]}  # fmt: skip
    arrays = {"t": run.t, "q": run.q, "v": run.v, "tau": run.tau}
    arrays |= {f"force {k}": F for k, F in enumerate(run.forces.values())}
    arrays |= {f"ground {k}": x for k, x in enumerate(run.ground.values())}
    arrays |= {f"event {k} {part}": getattr(e, part) for k, e in enumerate(run.events) for part in PLACES}
    file = io.BytesIO()
    (np.savez_compressed if packed else np.savez)(file, head=np.array(json.dumps(head)), **arrays)  # type: ignore[arg-type]
    write_atomically(path, file.getvalue(), overwrite)


def digest(model: Model) -> str:
    """A hash of the model's numbers."""
    content = hashlib.sha256(model.topology.tobytes() + model.parameters.tobytes())
    content.update(b"closed" if model.reduction else b"tree")
    return content.hexdigest()[:16]


def check_run(model: Model, run: object) -> Run:
    """InputError for anything that is no run of this model."""
    run = instance("run", run, Run)
    if not isinstance(run.digest, str) or run.digest != digest(model):
        raise InputError(
            f"the run is of another robot ({run.robot!r}) than this model ({model.name!r}), or of another version of its "
            "file, of another base, or of open loops where this one's are closed")
    joints = model.nv, model.tree.nv  # servos of a closed robot in MuJoCo act on all of its joints
    for name, widths in {"t": (), "q": (model.nq,), "v": (model.nv,), "tau": joints}.items():
        x = getattr(run, name)
        right = isinstance(x, np.ndarray) and x.dtype == np.float64 and x.ndim >= 1 + bool(widths)
        if not right or not len(x) or len(x) != len(run.t) or (widths and x.shape[-1] not in widths):
            raise InputError(f"{name} of the run is no array of samples, as freeflyer.sim.simulate makes them: {format_value(x)}")
    events_right = isinstance(run.events, tuple | list) and all(isinstance(e, Occurrence) for e in run.events)
    if not events_right or not isinstance(run.settings, Mapping):
        raise InputError("settings or events of the run are not those that freeflyer.sim.simulate makes")
    return run
