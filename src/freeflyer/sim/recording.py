"""Recording of samples, made into arrays at the end of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

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

    def attach(self, error: Exception) -> None:
        """The run so far as `error.run`, if it has a sample."""
        if self.samples:
            error.run = self.run(f"{type(error).__name__}: {error}")  # type: ignore[attr-defined]
            error.add_note(f"the simulation up to {self.samples[-1][0]:.6g} s is the attribute `run` of this error")

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
