"""A run: the samples of a simulation, recorded, saved and loaded as one file."""

from __future__ import annotations

import hashlib
import io
import json
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

import numpy as np

from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.contacts.sets.forces import wrenches_in
from freeflyer.contacts.wrenches import ContactExpressed
from freeflyer.errors import FileError, InputError, format_value
from freeflyer.files import write_atomically
from freeflyer.model.inputs import instance
from freeflyer.model.model import Model
from freeflyer.sim.events import Occurrence
from freeflyer.sim.run_table import RecordedRun, state_columns

FORMAT = "freeflyer run 1"
PACKED = (ZIP_STORED, ZIP_DEFLATED)
LARGEST = 2**34  # bytes of a run that is read
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
        failure: The sentence of the error that ended the run early; the samples before it are kept.
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
        "events": [{"name": e.name, "t": e.t, "holding": e.holding, "robot": e.robot} for e in run.events],
    }  # fmt: skip
    arrays = {"t": run.t, "q": run.q, "v": run.v, "tau": run.tau}
    arrays |= {f"force {k}": F for k, F in enumerate(run.forces.values())}
    arrays |= {f"ground {k}": x for k, x in enumerate(run.ground.values())}
    arrays |= {f"event {k} {part}": getattr(e, part) for k, e in enumerate(run.events) for part in PLACES}
    file = io.BytesIO()
    (np.savez_compressed if packed else np.savez)(file, head=np.array(json.dumps(head)), **arrays)  # type: ignore[arg-type]
    write_atomically(path, file.getvalue(), overwrite)


def load(path: str | os.PathLike[str]) -> Run:
    """Run of a simulation, read from the file that `Run.save` wrote, or from the folder of a record.

    Args:
        path: A NumPy archive (.npz), or the folder to which simulate(record=) wrote its pieces. Each piece is such a file.
    Raises: FileError for others, and for those too large for memory.

    Examples:
        >>> run = ff.sim.simulate(ff.robots.chain(1), [0.5], [0.0], dt=0.01, duration=0.1)
        >>> run.save("swing.npz")
        >>> ff.sim.load("swing.npz")
        Run of 'chain_1': 11 samples to 0.1 s, 0 events
    """
    if isinstance(path, str | os.PathLike) and os.path.isdir(path):
        return _load_pieces(Path(path))
    try:
        with ZipFile(path) as archive:
            if (size := sum(x.file_size for x in archive.infolist())) > LARGEST:
                raise FileError(f"{str(path)!r} would take {size:.3g} bytes of memory, more than {LARGEST:.0e}", path=str(path))
            if any(x.compress_type not in PACKED for x in archive.infolist()):
                raise FileError(f"{str(path)!r} is packed otherwise than freeflyer packs runs", path=str(path))
        with np.load(Path(path), allow_pickle=False) as file:
            head = json.loads(str(file["head"]))
            if head["format"] != FORMAT:
                raise FileError(f"{str(path)!r} is a run of another format ({format_value(head['format'])}); {FORMAT!r} is read")
            names = ["t", "q", "v", "tau", *(f"force {k}" for k in range(len(head["forces"])))]
            names += [f"ground {k}" for k in range(len(head.get("ground", ())))]
            names += [f"event {k} {part}" for k in range(len(head["events"])) for part in PLACES]
            a = {name: file[name] for name in names}
        _check_arrays(head, a)
        forces = {name: a[f"force {k}"] for k, name in enumerate(head["forces"])}
        events = tuple(
            Occurrence(e["name"], e["t"], a[f"event {k} q"], a[f"event {k} v"], a[f"event {k} v_after"], tuple(e["holding"]),
                       tuple(e.get("robot", ())))
            for k, e in enumerate(head["events"])
        )
        rest = {name: head[name] for name in ("failure", "settings", "robot", "digest")}
        ground = {name: a[f"ground {k}"] for k, name in enumerate(head.get("ground", ()))}
        return Run(a["t"], a["q"], a["v"], a["tau"], forces, events, **rest, ground=ground)
    except FileError:
        raise
    except (OSError, ValueError, KeyError, TypeError, EOFError, RuntimeError, MemoryError, BadZipFile, zlib.error) as error:
        raise FileError(f"{str(path)!r} is no run that freeflyer wrote: {format_value(str(error))}", path=str(path)) from None


def _load_pieces(folder: Path) -> Run:
    """The run of which a folder holds the pieces."""
    files = sorted(folder.glob("piece_*.npz"))
    if not files:
        raise FileError(f"{str(folder)!r} holds no pieces of a run", path=str(folder))
    if (size := sum(file.stat().st_size for file in files)) > LARGEST:
        raise FileError(f"{str(folder)!r} would take {size:.3g} bytes of memory, more than {LARGEST:.0e}: load its {len(files)} "
                        "files one after the other", path=str(folder))  # fmt: skip
    pieces = [load(file) for file in files]
    last = pieces[-1]
    cut = None if files[-1].stem.endswith("_end") else f"at {last.t[-1]:.6g} s: the record was cut off"

    def joined(parts: list[np.ndarray | None]) -> np.ndarray:
        known = next(x for x in parts if x is not None)
        return np.concatenate([np.full((len(p.t), *known.shape[1:]), np.nan) if x is None else x for p, x in zip(pieces, parts)])

    def by_name(tables: list[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
        return {name: joined([x.get(name) for x in tables]) for name in dict.fromkeys(name for x in tables for name in x)}

    try:
        t, q, v, tau = (joined([getattr(p, name) for p in pieces]) for name in ("t", "q", "v", "tau"))
        forces, ground = by_name([p.forces for p in pieces]), by_name([p.ground for p in pieces])
    except ValueError:
        raise FileError(f"{str(folder)!r} holds pieces of different runs", path=str(folder)) from None
    return replace(last, t=t, q=q, v=v, tau=tau, forces=forces, ground=ground, events=tuple(e for p in pieces for e in p.events),
                   failure=cut or last.failure)  # fmt: skip


def _check_arrays(head: Any, a: Mapping[str, np.ndarray]) -> None:
    """ValueError for what `save` does not write."""
    samples = a["t"].shape
    if len(samples) != 1 or not samples[0]:
        raise ValueError("t must hold at least one time")
    for name, x in a.items():
        if x.dtype != np.float64 or not x.ndim or (not name.startswith("event") and x.shape[:1] != samples):
            raise ValueError(f"{name} holds {x.dtype} of shape {x.shape}")
    for name, kinds in (("failure", str | None), ("settings", dict), ("robot", str), ("digest", str)):
        if not isinstance(head[name], kinds):
            raise ValueError(f"{name} is {format_value(head[name])}")
    if not all(isinstance(x, str) for x in (*head["forces"], *head.get("ground", ()))):
        raise ValueError("forces and what is known of the ground must be names")
    for event in head["events"]:
        if not isinstance(event["name"], str) or not isinstance(event["t"], float) or not isinstance(event["holding"], list):
            raise ValueError(f"an event is {format_value(event)}")


def digest(model: Model) -> str:
    """A hash of the model's numbers."""
    content = hashlib.sha256(model.topology.tobytes() + model.parameters.tobytes())
    content.update(b"closed" if model.reduction else b"tree")
    return content.hexdigest()[:16]


def check_run(model: Model, run: object) -> Run:
    """InputError for what is no run of this model."""
    run = instance("run", run, Run)
    if not isinstance(run.digest, str) or run.digest != digest(model):
        raise InputError(
            f"the run is of another robot ({run.robot!r}) than this model ({model.name!r}), or of another version of its file",
        )
    widths = {"t": None, "q": model.nq, "v": model.nv, "tau": model.nv}
    for name, width in widths.items():
        x = getattr(run, name)
        right = isinstance(x, np.ndarray) and x.dtype == np.float64 and x.ndim >= 1 + (width is not None)
        if not right or not len(x) or len(x) != len(run.t) or (width is not None and x.shape[-1] != width):
            raise InputError(f"{name} of the run is no array of samples, as freeflyer.sim.simulate makes them: {format_value(x)}")
    events_right = isinstance(run.events, tuple | list) and all(isinstance(e, Occurrence) for e in run.events)
    if not events_right or not isinstance(run.settings, Mapping):
        raise InputError("settings or events of the run are not those that freeflyer.sim.simulate makes")
    return run
