"""Accuracy of the estimators: the passive state while the motors follow sinusoids, with ideal and real encoders (Kangaroo paper,
Fig 19); motors calibrated from many starts (Fig 18); times."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import freeflyer as ff
from freeflyer.analysis.timing.results import Call, time_interleaved
from freeflyer.estimation.passive import ALPHA, BETA, Sensors, constraint_error, passive_state, sensors_of, update_passive_state
from freeflyer.estimation.stance import reach, strokes
from freeflyer_papers.estimation.stance import random_postures
from freeflyer.model import LARGEST_SEED, SMALLEST, Model, number, public, whole_number
from freeflyer.progress import Progress, no_progress


@dataclass(frozen=True)
class Encoder:
    """noise: standard deviation (m or rad) added to a position; quantum: the step it is rounded to, 0 for none.

    An encoder with either gives no rates: they are differences of its readings over a sample."""

    noise: float = 0.0
    quantum: float = 0.0

    def __post_init__(self) -> None:
        for name in ("noise", "quantum"):
            number(name, getattr(self, name), 0.0)


class Tracking(namedtuple("Tracking", (
    "names encoder alpha beta rate t actual estimated actual_rates estimated_rates closure redundant "
    "passive_names passive_error settled"))):  # fmt: skip
    """Motors on sinusoids and their estimates, at the times t (n,), s.

    names (m,): measured joints. actual, estimated (n, m): their positions; actual_rates, estimated_rates (n, m): their rates;
    closure (n,): norm of the independent rows' residual; redundant (n,): largest entry of the others', m or rad. passive_names;
    passive_error (n, p): estimated minus actual position of the passive joints, rad or m. settled: first
    sample of the sinusoids proper, after the way there from the drawn posture."""

    def errors(self) -> dict[str, Any]:
        """Of the settled samples: root mean squares of the measured and of the passive joints' errors, the largest of a passive
        joint, the largest mean error (bias) and its joint, the largest closure and redundant entry."""
        late = slice(self.settled, None)
        measured, passive = (self.estimated - self.actual)[late], self.passive_error[late]
        means = np.abs(passive.mean(axis=0))
        return {"measured_rms": float(np.sqrt(np.mean(measured**2))), "passive_rms": float(np.sqrt(np.mean(passive**2))),
            "passive_largest": float(np.abs(passive).max()), "bias": float(means.max()),
            "worst_joint": self.passive_names[int(np.argmax(means))], "closure": float(self.closure[late].max()),
            "redundant": float(self.redundant[late].max())}  # fmt: skip


class Sinusoids(namedtuple("Sinusoids", "first middle amplitude frequency phase lead", defaults=(1.0,))):
    """Positions middle + amplitude sin(2 pi frequency t + phase), reached from `first` within `lead` seconds."""

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
    rng = np.random.default_rng(whole_number("seed", seed, 0, LARGEST_SEED))
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
    raise ff.InputError(f"the linkage of {s.model.name!r} does not follow its motors through {2 * share:.0%} of their strokes")


@public
def track(robot: Model | Sensors, encoder: Encoder | None = None, *, duration: float = 4.0, rate: float = 1000.0,
        alpha: float = ALPHA, beta: float = BETA, path: Sinusoids | None = None, seed: int = 0) -> Tracking:  # fmt: skip
    """Run the estimator at `rate` (Hz) along sinusoids, as encoders of this kind show them (ideal ones if None).

    duration (s); alpha, beta (1/s) as in `update_passive_state`. Errors: as there; InputError for bad rates and for durations too
    short."""
    s, encoder = sensors_of(robot), encoder or Encoder()
    rate, duration = number("rate", rate, 1e-3, 1e6), number("duration", duration, 0.0, 1e6)
    rng = np.random.default_rng(whole_number("seed", seed, 0, LARGEST_SEED))
    path = sinusoids(s) if path is None else path
    dt, n = 1.0 / rate, round(duration * rate)
    t = dt * np.arange(n + 1)
    if n * dt <= path.lead:
        got = f"got {duration!r} s at a rate of {rate!r} Hz"
        raise ff.InputError(f"duration must exceed the {path.lead:g} s of the way to the sinusoids by a sample, {got}")
    actual, rates = path.at(t)
    shown, shown_rates = readings(actual, rates, encoder, dt, rng)
    state = passive_state(s)
    q, v = np.empty((n + 1, s.model.nq)), np.empty((n + 1, s.model.nv))
    q[0], v[0] = state.q, 0.0
    for k in range(n):
        state = update_passive_state(s, state, shown[k], shown_rates[k], dt, alpha=alpha, beta=beta)
        q[k + 1], v[k + 1] = state.q, state.v
    true_q = q.copy()
    true_q[:, s.positions] = actual
    true_q = ff.linkages.keep_closed(s.model, true_q)[0]
    others = np.delete(ff.linkages.constraint_residual(s.model, q), s.partition.rows, axis=1)
    joints = [j for j in s.model.joints if j.nq == j.nv == 1 and j.iv in set(s.passive.tolist())]
    return Tracking(s.names, encoder, alpha, beta, rate, t, actual, q[:, s.positions], rates, v[:, s.coordinates],
        np.asarray(constraint_error(s, q)), np.abs(others).max(axis=1, initial=0.0), tuple(j.name for j in joints),
        (q - true_q)[:, [j.iq for j in joints]], round(path.lead * rate) + 1)  # fmt: skip


def readings(positions: np.ndarray, rates: np.ndarray, encoder: Encoder, dt: float,
        rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Readings of encoders at positions and rates (n, m)."""
    if encoder.noise == encoder.quantum == 0.0:
        return positions, rates
    shown = positions + encoder.noise * rng.standard_normal(positions.shape)
    if encoder.quantum:
        shown = encoder.quantum * np.round(shown / encoder.quantum)
    return shown, np.diff(shown, axis=0, prepend=shown[:1]) / dt


ALPHAS = (1.0, 1000.0)  # 1/s: the paper's, and one that closes loops within a sample
THIN = 5  # of the samples of sinusoids, one in so many is drawn


class Run(namedtuple("Run",
    "encoders alpha measured_rms passive_rms passive_largest bias worst_joint closure redundant")):  # fmt: skip
    """Errors of one kind of encoders and one alpha (1/s), as `Tracking.errors` defines them, m and rad."""


class TrackingResult(namedtuple("TrackingResult",
    "robot runs names t actual estimated actual_rates estimated_rates closures times", defaults=(None,))):  # fmt: skip
    """Estimates of one robot along sinusoids, by kind of encoder and alpha.

    runs: a Run for each pair. closures: for each run the norm (n,) of the rows of the loops, m and rad. Of m motors in the first
    run: names; t (n,), s; actual, estimated (n, m), m or rad; actual_rates, estimated_rates (n, m), m/s or rad/s. times:
    Times, None if nothing is timed."""


def track_all(s: Sensors, kinds: Mapping[str, Encoder], duration: float, progress: Progress, what: str,
        motors: Sequence[str] | None = None) -> TrackingResult:  # fmt: skip
    """Motors on sinusoids as encoders of several kinds show them, by each of ALPHAS; all measured joints are kept, or `motors`."""
    path, found = sinusoids(s), list[tuple[str, Tracking]]()
    for kind, encoder in kinds.items():
        for alpha in ALPHAS:
            progress(len(found) / (len(kinds) * len(ALPHAS)), f"{what}: {kind} encoders, alpha = {alpha:g}")
            found.append((kind, track(s, encoder, duration=duration, alpha=alpha, path=path)))
    first, names = found[0][1], s.names if motors is None else tuple(motors)
    kept = slice(None, None, THIN), [s.names.index(name) for name in names]
    return TrackingResult(s.model.name, tuple([Run(kind, t.alpha, **t.errors()) for kind, t in found]), names, first.t[kept[0]],
        first.actual[kept], first.estimated[kept], first.actual_rates[kept], first.estimated_rates[kept],
        tuple([t.closure[kept[0]] for _, t in found]))  # fmt: skip


TOLERANCE = 1e-4  # m and rad, Kangaroo paper


class Calibrations(namedtuple("Calibrations", "robot encoders errors offset_errors lost motors")):
    """encoders: joints with absolute encoders. errors: for each start, the norm of closure and encoders' errors before the first
    step and after each one, m and rad. offset_errors: of these, the largest error of a motor's offset that is left, m or rad. lost:
    starts from which no posture was found that agrees. motors: those calibrated."""

    @property
    def starts(self) -> int:
        """All of them."""
        return len(self.errors) + self.lost

    @property
    def steps(self) -> np.ndarray:
        """Steps taken from each start that was not lost."""
        return np.array([len(e) - 1 for e in self.errors], dtype=int)

    @property
    def right(self) -> int:
        """Starts that led to offsets within 1e-4 of the true ones, not to another assembly."""
        return int((self.offset_errors < TOLERANCE).sum())


def calibrations(s: Sensors, encoders: Sequence[str], starts: int, seed: int = 18, rigid: Sequence[str] = (),
        motors: Sequence[str] | None = None, progress: Progress = no_progress) -> Calibrations:  # fmt: skip
    """Starts and the true posture are drawn from the whole of the strokes, joints within their limits, loops closed.

    motors: those to calibrate, all of them if None; the others are known to stand where they truly do."""
    truth, *others = random_postures(s, starts + 1, np.random.default_rng(seed))
    readings = {name: float(truth[s.model.joint(name).iq]) for name in encoders}
    names = tuple(s.model.actuated if motors is None else motors)
    order = [s.model.joint(n).iq for n in names]
    known = [s.model.joint(n).iq for n in s.model.actuated if n not in names]
    calibrate = partial(ff.estimation.calibrate, s.model, readings, motors=names, rigid=rigid, tolerance=TOLERANCE)
    errors, left = [], []
    for k, start in enumerate(others):
        progress(k / starts, "calibrating")
        if known:  # these motors stand where they do, loops closed where the linkage follows
            start[known] = truth[known]
            closed = reach(s, start[s.positions])
            start = start if closed is None else closed
        try:
            found = calibrate(q=start)
        except ff.estimation.CalibrationError:
            if k == 0:
                calibrate(q=truth)  # refuses unobservable motors
            continue
        errors.append(found.errors)
        left.append(float(np.abs(found.offsets - truth[order]).max()))
    return Calibrations(s.model.name, tuple(encoders), tuple(errors), np.array(left), starts - len(errors), names)


BLOCKS, BLOCK_SECONDS = 15, 0.04


class Times(namedtuple("Times", "tree step closed_torques contact_update contact_wrenches contact_balanced")):
    """Microseconds a call: step of the passive state; closed_torques, inverse dynamics with the model's update in it;
    contact_update of a posture and contact_wrenches ("motors", "balanced") from motor forces, NaN without feet. tree: inverse
    dynamics of the tree alone, for scale."""

    @property
    def state_and_torques(self) -> float:
        """Estimator, model update and inverse dynamics: the paper's 0.38 ms."""
        return self.step + self.closed_torques

    @property
    def contacts(self) -> float:
        """Contact wrenches with the update of their posture: the paper's 0.03 ms."""
        return self.contact_update + self.contact_wrenches


def estimation_times(robot: Model | Sensors, feet: Sequence[ff.contacts.Contact] | None = None) -> Times:
    """Time a robot's estimators at its drawn posture, in turn. feet: those named `..._sole` if None; without any, or where motor
    forces do not determine their wrenches, these times are NaN."""
    s = sensors_of(robot)
    state = passive_state(s)
    x, rates, a = np.clip(state.q[s.positions], s.lower, s.upper), np.zeros(len(s.names)), np.zeros(s.model.nv)
    calls: list[Call] = [lambda: ff.inverse_dynamics(s.model, state.q, state.v, a),
        lambda: update_passive_state(s, state, x, rates), lambda: ff.estimation.closed_torques(s, state.q, state.v, a)]  # fmt: skip
    try:
        chosen = ff.contacts.feet_by_name(s.model) if feet is None else tuple(feet)
        contacts = ff.estimation.contact_model(s.model, state.q, chosen)
        tau = np.array(contacts.motors)
        more: list[Call] = [lambda: ff.estimation.contact_model(s.model, state.q, chosen),
            *(partial(ff.estimation.contact_wrenches, contacts, tau, method) for method in ("motors", "balanced"))]  # fmt: skip
        for call in more:
            call()
        calls += more
    except ff.FreeflyerError:  # no feet by their names, or a base that does not float
        pass
    times = time_interleaved(calls, BLOCKS, BLOCK_SECONDS)
    return Times(*times, *[float("nan")] * (6 - len(times)))
