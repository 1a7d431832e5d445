"""Accuracy of the estimated passive state while the motors follow sinusoids, with ideal and real encoders. Kangaroo paper, Fig 19.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer.errors import InputError
from freeflyer.estimation.passive import ALPHA, BETA, constraint_error, passive_state, sensors_of, update_passive_state
from freeflyer.estimation.sensing import Sensors
from freeflyer.estimation.stance import reach, strokes
from freeflyer.linkages.maps import motion_map
from freeflyer.linkages.motion import keep_closed
from freeflyer.linkages.rows import constraint_residual
from freeflyer.model.inputs import SMALLEST, number
from freeflyer.model.model import Model
from freeflyer.model.public import public

CHUNK = 1000  # samples at a time


@dataclass(frozen=True)
class Encoder:
    """noise: standard deviation (m or rad) added to a position; quantum: the step it is rounded to, 0 for none.

    An encoder with either gives no rates: they are differences of its readings over a sample."""

    noise: float = 0.0
    quantum: float = 0.0

    def __post_init__(self) -> None:
        for name in ("noise", "quantum"):
            number(name, getattr(self, name), 0.0)


@dataclass(frozen=True)
class Tracking:
    """Motors on sinusoids and what the estimator makes of them, at the times t (n,), s.

    names (m,): measured joints. actual, estimated (n, m): their positions; actual_rates, estimated_rates (n, m): their rates;
    closure (n,): norm of the independent rows' residual; redundant (n,): largest entry of the others', m or rad. passive_names;
    passive_error (n, p): estimated minus actual position of the passive joints, rad or m; passive_rate_error (n, p). settled: first
    sample of the sinusoids proper, after the way there from the drawn posture."""

    names: tuple[str, ...]
    encoder: Encoder
    alpha: float
    beta: float
    rate: float
    t: np.ndarray
    actual: np.ndarray
    estimated: np.ndarray
    actual_rates: np.ndarray
    estimated_rates: np.ndarray
    closure: np.ndarray
    redundant: np.ndarray
    passive_names: tuple[str, ...]
    passive_error: np.ndarray
    passive_rate_error: np.ndarray
    settled: int

    @property
    def measured_rms(self) -> float:
        """Root mean square of estimated minus actual position of the measured joints."""
        return _rms((self.estimated - self.actual)[self.settled :])

    @property
    def measured_largest(self) -> float:
        """Its largest magnitude."""
        return float(np.abs(self.estimated - self.actual)[self.settled :].max())

    @property
    def passive_rms(self) -> float:
        """Root mean square of the passive joints' errors."""
        return _rms(self.passive_error[self.settled :])

    @property
    def passive_largest(self) -> float:
        """Their largest magnitude."""
        return float(np.abs(self.passive_error[self.settled :]).max())

    @property
    def bias(self) -> float:
        """The largest mean error of a passive joint."""
        return float(np.abs(self.passive_error[self.settled :].mean(axis=0)).max())

    @property
    def worst_joint(self) -> str:
        """The passive joint of that bias."""
        return self.passive_names[int(np.argmax(np.abs(self.passive_error[self.settled :].mean(axis=0))))]

    @property
    def rate_rms(self) -> float:
        """Root mean square of the errors of passive rates."""
        return _rms(self.passive_rate_error[self.settled :])

    @property
    def largest_redundant(self) -> float:
        """Of all samples."""
        return float(self.redundant[self.settled :].max())

    @property
    def largest_closure(self) -> float:
        """Of all samples."""
        return float(self.closure[self.settled :].max())


def _rms(x: np.ndarray) -> float:
    return float(np.sqrt(np.mean(x**2)))


@dataclass(frozen=True)
class Sinusoids:
    """Positions middle + amplitude sin(2 pi frequency t + phase), reached from `first` within `lead` seconds."""

    first: np.ndarray
    middle: np.ndarray
    amplitude: np.ndarray
    frequency: np.ndarray
    phase: np.ndarray
    lead: float = 1.0

    def at(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions and rates (n, m) at the times t (n,)."""
        u = np.clip(t / self.lead, 0.0, 1.0)[:, None]
        blend, slope = u * u * (3.0 - 2.0 * u), 6.0 * u * (1.0 - u) / self.lead
        w = 2.0 * np.pi * self.frequency
        wave = self.middle + self.amplitude * np.sin(w * t[:, None] + self.phase)
        rate = self.amplitude * w * np.cos(w * t[:, None] + self.phase)
        return self.first + blend * (wave - self.first), blend * rate + slope * (wave - self.first)


@public
def sinusoids(robot: Model | Sensors, seed: int = 0, share: float = 0.5) -> Sinusoids:
    """Sinusoids of the motors through a share of their strokes, of 0.3 to 1 Hz, at phases drawn by `seed`; other joints rest.

    A linkage that does not follow its motors to such corners gets half the share, up to three times. m, rad, Hz. Errors: InputError
    for shares outside of (0, 1] and linkages that do not follow."""
    s = sensors_of(robot)
    share = number("share", share, SMALLEST, 1.0)
    rng = np.random.default_rng(seed)
    lower, upper = strokes(s)
    n, first = len(s.names), s.partition.q[s.positions]
    frequency, phase, corners = rng.uniform(0.3, 1.0, n), rng.uniform(0.0, 2.0 * np.pi, n), rng.choice((-1.0, 1.0), (6, n))
    driven = np.array([name in s.model.actuated for name in s.names])
    for _ in range(4):
        amplitude = np.where(driven, 0.5 * share * (upper - lower), 0.0)
        for wished in (0.5 * (lower + upper), np.clip(first, lower + amplitude, upper - amplitude)):
            middle = np.where(driven, wished, first)
            if all(reach(s, middle + c * amplitude) is not None for c in corners):
                return Sinusoids(first, middle, amplitude, frequency, phase)
        share *= 0.5
    raise InputError(f"the linkage of {s.model.name!r} does not follow its motors through {2 * share:.0%} of their strokes")


@public
def track(
    robot: Model | Sensors, encoder: Encoder | None = None, *, duration: float = 4.0, rate: float = 1000.0, alpha: float = ALPHA,
    beta: float = BETA, path: Sinusoids | None = None, seed: int = 0,
) -> Tracking:  # fmt: skip
    """Run the estimator at `rate` (Hz) along sinusoids, as encoders of this kind show them (ideal ones if None).

    duration (s); alpha, beta (1/s) as in `update_passive_state`. Errors: as there; InputError for bad rates and for durations too
    short."""
    s, encoder = sensors_of(robot), encoder or Encoder()
    rate, duration = number("rate", rate, 1e-3, 1e6), number("duration", duration, 0.0, 1e6)
    path = sinusoids(s) if path is None else path
    dt, n = 1.0 / rate, round(duration * rate)
    t = dt * np.arange(n + 1)
    if n * dt <= path.lead:
        got = f"got {duration!r} s at a rate of {rate!r} Hz"
        raise InputError(f"duration must exceed the {path.lead:g} s of the way to the sinusoids by a sample, {got}")
    actual, rates = path.at(t)
    shown, shown_rates = readings(actual, rates, encoder, dt, np.random.default_rng(seed))
    state = passive_state(s)
    q, v = np.empty((n + 1, s.model.nq)), np.empty((n + 1, s.model.nv))
    q[0], v[0] = state.q, 0.0
    for k in range(n):
        state = update_passive_state(s, state, shown[k], shown_rates[k], dt, alpha=alpha, beta=beta)
        q[k + 1], v[k + 1] = state.q, state.v
    true_q, true_v = q.copy(), np.zeros_like(v)
    true_q[:, s.positions], true_v[:, s.coordinates] = actual, rates
    true_q = keep_closed(s.model, true_q)[0]
    for k in range(0, n + 1, CHUNK):
        G = motion_map(s.model, s.partition, true_q[k : k + CHUNK])
        true_v[k : k + CHUNK] = np.einsum("nij,nj->ni", G, true_v[k : k + CHUNK, s.partition.independent])
    others = np.delete(constraint_residual(s.model, q), s.partition.rows, axis=1)
    joints = [j for j in s.model.joints if j.nq == j.nv == 1 and j.iv in set(s.passive.tolist())]
    iq, iv = [j.iq for j in joints], [j.iv for j in joints]
    return Tracking(
        s.names, encoder, alpha, beta, rate, t, actual, q[:, s.positions], rates, v[:, s.coordinates],
        np.asarray(constraint_error(s, q)), np.abs(others).max(axis=1, initial=0.0), tuple(j.name for j in joints),
        (q - true_q)[:, iq], (v - true_v)[:, iv], round(path.lead * rate) + 1,
    )  # fmt: skip


def readings(
    positions: np.ndarray, rates: np.ndarray, encoder: Encoder, dt: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """What encoders show of positions and rates (n, m)."""
    if not (encoder.noise >= 0.0 and encoder.quantum >= 0.0):
        raise InputError(f"noise and quantum must be 0 or more (m or rad), got {encoder}")
    if encoder.noise == encoder.quantum == 0.0:
        return positions, rates
    shown = positions + encoder.noise * rng.standard_normal(positions.shape)
    if encoder.quantum:
        shown = encoder.quantum * np.round(shown / encoder.quantum)
    return shown, np.diff(shown, axis=0, prepend=shown[:1]) / dt
