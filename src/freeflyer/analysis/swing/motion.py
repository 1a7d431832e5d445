"""A pelvis that sways sideways over soles that stay: postures, motor positions and the forces that hold them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freeflyer.analysis.estimators.tracking_accuracy import Encoder
from freeflyer.contacts.description import Contact
from freeflyer.errors import InputError
from freeflyer.estimation.contact import contact_model
from freeflyer.estimation.sensing import Sensors
from freeflyer.estimation.stance import shared_weight, shift_base, standing_posture
from freeflyer.model.model import Model
from freeflyer.sim.mujoco_spec import Servos

RATE = 1000.0  # Hz of the estimators
REST_TIME = 1.0  # s of standing before the sway
RISE_TIME = 2.0  # s until the sway has its amplitude
GRID_SIZE = 21  # postures over the sway
ENCODER = Encoder(0.0, 1e-5)  # m: the step of a motor's encoder through its screw


@dataclass(frozen=True)
class Sway:
    """amplitude (m) and frequency (Hz) of the pelvis, duration (s), crouch (m below the drawn posture). encoder: of the motors'
    positions. force_noise: standard deviation of measured motor forces, N. cutoff: of the low-pass, Hz. alpha: of the estimator,
    1/s. seed: of the noise."""

    amplitude: float = 0.05
    frequency: float = 0.2
    duration: float = 10.0
    crouch: float = 0.05
    encoder: Encoder = ENCODER
    force_noise: float = 5.0
    cutoff: float = 5.0
    alpha: float = 1000.0
    seed: int = 0


@dataclass(frozen=True)
class Route:
    """Postures q (k, nq) at the offsets (k,) of what moves (the pelvis, a motor), m, and the motor forces (k, m) that hold them."""

    offsets: np.ndarray
    q: np.ndarray
    forces: np.ndarray

    @property
    def start(self) -> np.ndarray:
        """(nq,): the posture in the middle."""
        return np.asarray(self.q[len(self.q) // 2])


def route(s: Sensors, feet: Sequence[Contact], sway: Sway) -> Route:
    """The pelvis from side to side, level, over soles that stay. Errors: as `standing_posture` and `shift_base`."""
    middle = standing_posture(s, feet, sway.crouch)
    offsets = np.linspace(-sway.amplitude, sway.amplitude, GRID_SIZE)
    found = {GRID_SIZE // 2: middle}
    for side in (range(GRID_SIZE // 2 + 1, GRID_SIZE), range(GRID_SIZE // 2 - 1, -1, -1)):
        q = middle
        for k in side:
            q = shift_base(s, q, feet, np.array([0.0, middle[1] + offsets[k] - q[1], 0.0]))
            found[k] = q
    q = np.array([found[k] for k in range(GRID_SIZE)])
    return Route(offsets, q, np.array([holding_forces(s.model, x, feet) for x in q]))


def holding_forces(model: Model, q: np.ndarray, feet: Sequence[Contact]) -> np.ndarray:
    """(m,): motor forces with the weight shared between the feet, tau = g - J^T F of (45)."""
    c = contact_model(model, q, feet)
    y = np.linalg.lstsq(c.resultant, shared_weight(model, q, feet).reshape(-1), rcond=None)[0]
    return c.motors - c.A @ y


def offset_at(t: np.ndarray, sway: Sway) -> tuple[np.ndarray, np.ndarray]:
    """The pelvis's offset and its rate (n,): at rest, then a sinusoid whose amplitude rises."""
    late = np.maximum(t - REST_TIME, 0.0)
    u = np.minimum(late / RISE_TIME, 1.0)
    blend, slope = u * u * (3.0 - 2.0 * u), np.where(u < 1.0, 6.0 * u * (1.0 - u) / RISE_TIME, 0.0)
    w = 2.0 * np.pi * sway.frequency
    a = sway.amplitude
    return a * blend * np.sin(w * late), a * (blend * w * np.cos(w * late) + slope * np.sin(w * late)) * (t > REST_TIME)


def check_sway(sway: Sway, servos: Servos) -> None:
    for name in ("amplitude", "frequency", "duration", "cutoff"):
        value = getattr(sway, name)
        if not (isinstance(value, int | float) and 0.0 < value < np.inf):
            raise InputError(f"{name} must be a positive number, got {value!r}")
    if not (0.0 <= sway.crouch < np.inf and 0.0 <= sway.force_noise < np.inf):
        raise InputError(f"crouch and force_noise must be 0 or more, got {sway.crouch!r} and {sway.force_noise!r}")
    if sway.duration < REST_TIME + RISE_TIME + 1.0 / sway.frequency:
        raise InputError(
            f"duration {sway.duration:g} s is too short for one sway: standing takes {REST_TIME:g} s, rising {RISE_TIME:g} s, a "
            f"sway of {sway.frequency:g} Hz {1 / sway.frequency:g} s"
        )
    every = 1.0 / (RATE * servos.dt) if servos.dt > 0.0 else 0.0
    if every < 1.0 or abs(every - round(every)) > 1e-9:
        raise InputError(f"dt must divide the estimators' sample of {1 / RATE:g} s, got {servos.dt!r}")
