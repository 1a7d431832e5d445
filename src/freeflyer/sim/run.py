"""A run: what a simulation gave, sample by sample; saved and loaded as one file."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from freeflyer.errors import FileError, InputError, shown
from freeflyer.files import write_atomically
from freeflyer.model.model import Model
from freeflyer.sim.events import Occurrence

FORMAT = "freeflyer run 1"
PLACES = ("q", "v", "v_after")  # of an occurrence


@dataclass(frozen=True, eq=False)
class Run:
    """Samples at t (T,), s: q (T, ..., nq), v and tau (T, ..., nv); forces {name: (T, ..., 6)} of the constraints, on the robot in
    their frames' axes at their origins, NaN while they do not hold. events: what took place, in order.

    failure: None, or the sentence of the error that ended the run early; the samples before it are kept. settings: the arguments
    that `freeflyer.sim.replay` repeats the run with. robot, digest: the model's name, and a hash of its numbers.
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

    def __repr__(self) -> str:
        ended = f", ended early: {self.failure}" if self.failure else ""
        return f"Run of {self.robot!r}: {len(self.t)} samples to {self.t[-1]:g} s, {len(self.events)} events{ended}"

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Writes a NumPy archive (.npz) that `freeflyer.sim.load` reads. Errors: FileError for a file that is there."""
        head = {
            "format": FORMAT, "failure": self.failure, "settings": dict(self.settings), "robot": self.robot, "digest": self.digest,
            "forces": list(self.forces), "events": [{"name": e.name, "t": e.t, "holding": e.holding} for e in self.events],
        }  # fmt: skip
        arrays = {"t": self.t, "q": self.q, "v": self.v, "tau": self.tau}
        arrays |= {f"force {k}": F for k, F in enumerate(self.forces.values())}
        arrays |= {f"event {k} {part}": getattr(e, part) for k, e in enumerate(self.events) for part in PLACES}
        file = io.BytesIO()
        np.savez_compressed(file, head=np.array(json.dumps(head)), **arrays)  # type: ignore[arg-type]
        write_atomically(path, file.getvalue(), overwrite)


def load(path: str | os.PathLike[str]) -> Run:
    """The run that `Run.save` wrote. Errors: FileError for other files."""
    try:
        with np.load(Path(path), allow_pickle=False) as file:
            head = json.loads(str(file["head"]))
            if head["format"] != FORMAT:
                raise FileError(f"{str(path)!r} is a run of another format ({shown(head['format'])}); {FORMAT!r} is read")
            a = {name: file[name] for name in file.files if name != "head"}
        forces = {name: a[f"force {k}"] for k, name in enumerate(head["forces"])}
        events = tuple(
            Occurrence(e["name"], e["t"], a[f"event {k} q"], a[f"event {k} v"], a[f"event {k} v_after"], tuple(e["holding"]))
            for k, e in enumerate(head["events"])
        )
        rest = (head[name] for name in ("failure", "settings", "robot", "digest"))
        return Run(a["t"], a["q"], a["v"], a["tau"], forces, events, *rest)
    except FileError:
        raise
    except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
        raise FileError(f"{str(path)!r} is no run that freeflyer wrote: {error}", path=str(path)) from None


def digest(model: Model) -> str:
    """A hash of the model's numbers."""
    content = hashlib.sha256(model.topology.tobytes() + model.parameters.tobytes())
    content.update(b"closed" if model.reduction else b"tree")
    return content.hexdigest()[:16]


def check_run(model: Model, run: object) -> Run:
    """InputError for what is no run of this model."""
    if not isinstance(run, Run):
        raise InputError(f"run must be a freeflyer.sim.Run, got {shown(run)}")
    if run.digest != digest(model):
        raise InputError(
            f"the run is of another robot ({run.robot!r}) than this model ({model.name!r}), or of another version of its file",
        )
    return run
