"""Records of runs while they go on: samples at a chosen period, kept in memory or written to a folder in pieces.

Each piece is a file of `Run.save`, so that it can be loaded alone; the last one has "end" in its name."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from freeflyer.errors import FileError, FreeflyerError, InputError
from freeflyer.files import check_path
from freeflyer.model import Model, positive
from freeflyer.sim.blow_up import Survivors
from freeflyer.sim.events import Occurrence
from freeflyer.sim.run import Run, digest, write_run

PIECE = 2**26  # bytes of samples that wait for being written
MOST_SAMPLES = 10**8  # all are kept
MOST_NUMBERS = 2**29  # of an array that is made before the run
NO_FACTS: Mapping[str, Any] = {}
ABSENT = np.full(6, np.nan)  # the wrench of a constraint that does not hold
FORCE, FACT = "force ", "ground "  # names of arrays begin so


class Recorder:
    """Lists that grow with the run, or a folder that does; arrays of a batch are made at once. q: where the robots begin. every:
    one of how many samples is kept, besides the last one. steps: of the whole run."""

    def __init__(self, model: Model, settings: Mapping[str, Any], q: np.ndarray, every: int = 1, folder: Path | None = None,
                 steps: int = 0) -> None:  # fmt: skip
        self.model, self.settings, self.every, self.folder = model, settings, every, folder
        self.survivors, self.arrays = Survivors(q), dict[str, np.ndarray]()
        self.rows = steps // every + 2 if q.ndim > 1 and folder is None else 0
        self.rows = self.rows if self.rows * q.size < MOST_NUMBERS else 0
        self.samples: list[tuple[float, np.ndarray, np.ndarray, np.ndarray, Mapping[str, np.ndarray], Mapping[str, Any]]] = []
        self.events: list[Occurrence] = []
        self.count = self.pieces = self.waiting = 0
        self.passing = False

    def sample(self, t: float, q: np.ndarray, v: np.ndarray, tau: np.ndarray, forces: Mapping[str, np.ndarray],
               facts: Mapping[str, Any] = NO_FACTS, steps: int = 1) -> None:  # fmt: skip
        """steps: how many there are up to the next sample."""
        if self.survivors.told:
            q, v, tau = map(self.survivors.erase, (q, v, np.broadcast_to(tau, v.shape)))
            forces, facts = ({name: self.survivors.erase(x) for name, x in table.items()} for table in (forces, facts))
        if self.passing:  # the one before was kept only as the last one so far
            self.samples[-1:] = []
        elif self.folder is not None:
            if self.waiting > PIECE:
                self._write("")
            self.waiting += sum(x.nbytes for x in (q, v, v, *forces.values()))
        if self.rows:
            q, v, forces, facts = self._row("q", q), self._row("v", v), self._rows(FORCE, forces), self._rows(FACT, facts)
        self.passing = self.count % self.every != 0
        self.count += steps
        self.samples.append((t, q, v, tau, forces, facts))

    def several(self, times: Sequence[float], q: np.ndarray, v: np.ndarray, tau: np.ndarray,
                forces: Mapping[str, np.ndarray]) -> None:  # fmt: skip
        """A sample at each of the `times` under the same tau; q (..., k, nq), v (..., k, nv), forces (..., k, 6)."""
        if q.ndim == 2 and self.every == 1 and self.folder is None and not forces:
            self.samples += zip(times, q, v, repeat(tau), repeat(forces), repeat(NO_FACTS))
            self.count += len(times)
            return
        for i, t in enumerate(times):
            self.sample(t, q[..., i, :], v[..., i, :], tau, {name: F[..., i, :] for name, F in forces.items()})

    def _row(self, name: str, x: np.ndarray) -> np.ndarray:
        """x, copied to its place in the array of the run."""
        if name not in self.arrays:
            self.arrays[name] = np.empty((self.rows, *x.shape))
        row: np.ndarray = self.arrays[name][len(self.samples)]
        row[...] = x
        return row

    def _rows(self, kind: str, table: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {name: self._row(kind + name, x) for name, x in table.items()}

    def ended_by(self, error: BaseException, t: float) -> Run:
        """The run so far, which a motion ends that cannot go on at the time t. Errors of the arguments and of the user's own
        functions are raised, these with the run so far as `error.run`, and so is Ctrl-C."""
        if not self.count or (t == 0.0 and isinstance(error, InputError)):
            raise error
        if isinstance(error, FreeflyerError):
            return self.run(f"at {t:.6g} s: {error}")
        until, interrupted = self.samples[-1][0], isinstance(error, KeyboardInterrupt)
        failure = f"at {t:.6g} s: interrupted" if interrupted else f"{type(error).__name__}: {error}"
        error.run = self.run(failure)  # type: ignore[attr-defined]
        error.add_note(f"the simulation up to {until:.6g} s is the attribute `run` of this error")
        raise error

    def run(self, failure: str | None = None) -> Run:
        """The samples in memory as a run; of one on disk these are its last piece."""
        return self._made(failure) if self.folder is None else self._write("_end", failure)

    def _write(self, mark: str, failure: str | None = None) -> Run:
        assert self.folder is not None
        run = self._made(failure)
        write_run(run, self.folder / f"piece_{self.pieces:06d}{mark}.npz", packed=False)
        self.pieces, self.waiting = self.pieces + 1, 0
        self.samples.clear()
        self.events.clear()
        return run

    def _made(self, failure: str | None) -> Run:
        t, q, v, tau, forces, facts = zip(*self.samples)
        each = *v[0].shape[:-1], tau[0].shape[-1]  # servos of a closed robot in MuJoCo act on all of its joints
        taus = np.zeros((len(t), *each))  # takes no memory until it is written
        if any(x.any() for x in {id(x): x for x in tau}.values()):
            taus[:] = tau if q[0].ndim == 1 else [np.broadcast_to(x, each) for x in tau]  # which may be the same for all
        return Run(
            np.array(t), self._column("q", q), self._column("v", v), taus, self._columns(FORCE, forces), tuple(self.events),
            self.survivors.failure(failure), dict(self.settings), self.model.name, digest(self.model), self._columns(FACT, facts),
            self.model)  # fmt: skip

    def _column(self, name: str, values: Sequence[Any]) -> np.ndarray:
        """The values of all samples, NaN where a constraint does not hold."""
        return self.arrays[name][: len(values)] if name in self.arrays else np.array([ABSENT if x is None else x for x in values])

    def _columns(self, kind: str, tables: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray]:
        names = dict.fromkeys(name for x in tables for name in x)
        return {name: self._column(kind + name, [x.get(name) for x in tables]) for name in names}


def sample_count(dt: float, duration: float) -> int:
    """The number of steps, the last of which may be shorter."""
    count = duration / dt
    if not count <= MOST_SAMPLES:
        raise InputError(
            f"a duration of {duration:g} s in steps of {dt:g} s gives {count:.3g} samples, more than {MOST_SAMPLES:.0e}: take a "
            "longer dt", dt=dt, duration=duration)  # fmt: skip
    return max(1, int(np.ceil(count - 1e-9 * max(1.0, count))))


def stride(every: Any, dt: float) -> int:
    """How many steps there are from one kept sample to the next."""
    if every is None:
        return 1
    count = round(positive("every", every) / dt)
    if count < 1 or abs(every / dt - count) > 1e-6:
        raise InputError(f"every must be a multiple of dt = {dt:g} s, got {every:g}")
    return count


def record_folder(path: str | os.PathLike[str] | None) -> Path | None:
    """A folder for pieces, made if it is not there. Errors: FileError for one that holds anything."""
    if path is None:
        return None
    try:
        shown, folder = check_path(path), Path(path)
    except FreeflyerError as error:
        raise type(error)(f"record: {error}") from None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise FileError(f"record: {shown} holds files already, give an empty folder, or a new name", path=str(path))
    except OSError as error:
        raise FileError(f"record: {shown} cannot be used as a folder: {error.strerror or error}", path=str(path)) from None
    return folder
