"""Recording of samples, made into arrays at the end of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from freeflyer.errors import FreeflyerError, InputError
from freeflyer.model.model import Model
from freeflyer.sim.events import Occurrence
from freeflyer.sim.run import Run


class Recorder:
    """Lists that grow with the run."""

    def __init__(self, model: Model, settings: Mapping[str, Any], digest: str) -> None:
        self.model, self.settings, self.digest = model, settings, digest
        self.samples: list[tuple[float, np.ndarray, np.ndarray, np.ndarray, Mapping[str, np.ndarray]]] = []
        self.events: list[Occurrence] = []

    def sample(self, t: float, q: np.ndarray, v: np.ndarray, tau: np.ndarray, forces: Mapping[str, np.ndarray]) -> None:
        self.samples.append((t, q, v, tau, forces))

    def ended_by(self, error: Exception, t: float) -> Run:
        """The run so far, which a motion ends that cannot go on at the time t. Errors of the arguments and of the user's own
        functions are raised, these with the run so far as `error.run`."""
        if not self.samples or (t == 0.0 and isinstance(error, InputError)):
            raise error
        if isinstance(error, FreeflyerError):
            return self.run(f"at {t:.6g} s: {error}")
        error.run = self.run(f"{type(error).__name__}: {error}")  # type: ignore[attr-defined]
        error.add_note(f"the simulation up to {self.samples[-1][0]:.6g} s is the attribute `run` of this error")
        raise error

    def run(self, failure: str | None = None) -> Run:
        t, q, v, tau, forces = zip(*self.samples)
        if q[0].ndim > 1:  # forces may be the same for all
            tau = [np.broadcast_to(x, v[0].shape) for x in tau]
        return Run(
            np.array(t), np.stack(q), np.stack(v), np.stack(tau),
            _stack_forces(forces), tuple(self.events), failure, dict(self.settings), self.model.name, self.digest,
        )  # fmt: skip


def _stack_forces(forces: Sequence[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """{name: (T, 6)}, NaN where a constraint does not hold."""
    names = dict.fromkeys(name for f in forces for name in f)
    absent = np.full(6, np.nan)
    return {name: np.stack([f.get(name, absent) for f in forces]) for name in names}
