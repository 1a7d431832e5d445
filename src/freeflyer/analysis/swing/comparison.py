"""A pelvis that sways sideways over soles that stay, and the forces that hold its postures; the forces at the feet and centres of
pressure of such a swing, estimated and measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from freeflyer.analysis.estimators import Encoder
from freeflyer.contacts.description import Contact
from freeflyer.errors import InputError
from freeflyer.estimation.contact import contact_model
from freeflyer.estimation.sensing import Sensors
from freeflyer.estimation.stance import shared_weight, shift_base, standing_posture
from freeflyer.model.model import Model
from freeflyer.sim.mujoco_spec import Servos


@dataclass(frozen=True)
class Swing:
    """What is compared, at the times t (n,), s; everything below the low-pass of `sway.cutoff`.

    offset (n,): the pelvis's wanted offset; pelvis (n, 3): its position, m. wrenches: by source, "simulator", "motors", "balanced",
    "moving" (balanced with the estimated motion), (n, f, 6), [force; torque about the origin], world axes, N, N m. soles: (c, 2)
    corners of each foot on the floor, m. extremes (3, nq): simulated postures furthest left, in the middle, furthest right, at the
    samples extreme_samples. passive_error (n,): largest error of a passive joint, rad or m; base_error (n,): of the base, m; gap
    (n,): largest distance by which MuJoCo's loops are open, m or rad. weight: N. settled: first sample that counts."""

    robot: str
    feet: tuple[str, ...]
    sway: Sway
    servos: Servos
    weight: float
    t: np.ndarray
    offset: np.ndarray
    pelvis: np.ndarray
    wrenches: dict[str, np.ndarray]
    soles: tuple[np.ndarray, ...]
    extremes: np.ndarray
    extreme_samples: tuple[int, ...]
    passive_error: np.ndarray
    base_error: np.ndarray
    gap: np.ndarray
    settled: int

    def subsample(self, every: int) -> Swing:
        """One in `every` samples."""
        keep = slice(None, None, every)
        arrays = {n: getattr(self, n)[keep] for n in ("t", "offset", "pelvis", "passive_error", "base_error", "gap")}
        wrenches = {name: w[keep] for name, w in self.wrenches.items()}
        extremes = tuple(k // every for k in self.extreme_samples)
        return replace(self, wrenches=wrenches, settled=-(-self.settled // every), extreme_samples=extremes, **arrays)

    def vertical(self, source: str) -> np.ndarray:
        """(n, f): vertical force on each foot, N."""
        return self.wrenches[source][:, :, 2]

    def centers(self, source: str) -> np.ndarray:
        """(n, f, 2): centre of pressure of each foot, m."""
        return _centers(self.wrenches[source])

    def zmp(self, source: str) -> np.ndarray:
        """(n, 2): zero-moment point, m."""
        return _centers(self.wrenches[source].sum(axis=1))

    def weight_error(self, source: str) -> float:
        """Largest error of the sum of vertical forces, as a share of the weight."""
        total = self.vertical(source)[self.settled :].sum(axis=1)
        return float(np.abs(total / self.weight - 1.0).max())

    def inside(self, source: str) -> float:
        """Smallest distance of a foot's centre of pressure from the edge of its sole, m; below 0 it lies outside."""
        return min(float(_depth(self.centers(source)[self.settled :, k], corners).min()) for k,
            corners in enumerate(self.soles))  # fmt: skip

    def force_error(self, source: str) -> np.ndarray:
        """(2, 3): root mean square and largest error of a foot's force in x, y, z against the simulator, N."""
        d = (self.wrenches[source] - self.wrenches["simulator"])[self.settled :, :, :3]
        return np.array([np.sqrt((d**2).mean(axis=(0, 1))), np.abs(d).max(axis=(0, 1))])

    def center_error(self, source: str) -> np.ndarray:
        """(2, 2): root mean square and largest error of the feet's centres of pressure in x and y, m."""
        d = (self.centers(source) - self.centers("simulator"))[self.settled :]
        return np.array([np.sqrt((d**2).mean(axis=(0, 1))), np.abs(d).max(axis=(0, 1))])

    def zmp_error(self, source: str) -> np.ndarray:
        """(2, 2): likewise of the zero-moment point, m."""
        d = (self.zmp(source) - self.zmp("simulator"))[self.settled :]
        return np.array([np.sqrt((d**2).mean(axis=0)), np.abs(d).max(axis=0)])


def _centers(w: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(w[..., 2:3] > 0.0, np.stack([-w[..., 4], w[..., 3]], axis=-1) / w[..., 2:3], np.nan)


def _depth(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """(n,): distance to the nearest edge of a convex polygon (c, 2), counter-clockwise; negative outside."""
    edges = np.roll(corners, -1, axis=0) - corners
    normals = np.stack([-edges[:, 1], edges[:, 0]], axis=-1) / np.linalg.norm(edges, axis=1, keepdims=True)
    return np.einsum("nci,ci->nc", points[:, None] - corners, normals).min(axis=1)


WORDS = {
    "simulator": "MuJoCo's contacts",
    "motors": "motors alone, at rest",
    "balanced": "balanced with the base, at rest",
    "moving": "balanced, with the motion",
}
COLUMNS = ("wrenches from", "sum off by", "inside mm", "force x, y, z rms N", "largest z N", "CoP x, y rms mm",
    "ZMP x, y rms mm")  # fmt: skip


@dataclass(frozen=True)
class Line:
    """Of one source: weight_error, share of the weight; inside, m; errors against the simulator: force (2, 3) N, center (2, 2), zmp
    (2, 2) m, root mean square and largest."""

    source: str
    weight_error: float
    inside: float
    force: tuple[tuple[float, ...], ...]
    center: tuple[tuple[float, ...], ...]
    zmp: tuple[tuple[float, ...], ...]

    @property
    def cells(self) -> tuple[str, ...]:
        """A row below COLUMNS."""
        own = (WORDS[self.source], f"{self.weight_error:.2%}", f"{1e3 * self.inside:.1f}")
        if self.source == "simulator":
            return (*own, "", "", "", "")
        forces = ", ".join(f"{x:.2f}" for x in self.force[0])
        centers, zmp = (", ".join(f"{1e3 * x:.2f}" for x in e[0]) for e in (self.center, self.zmp))
        return (*own, forces, f"{self.force[1][2]:.1f}", centers, zmp)


def lines(swing: Swing) -> tuple[Line, ...]:
    """One for each source, the simulator first."""
    return tuple(Line(name, swing.weight_error(name), swing.inside(name), _rows(swing.force_error(name)),
        _rows(swing.center_error(name)), _rows(swing.zmp_error(name))) for name in swing.wrenches)  # fmt: skip


def _rows(x: Iterable[Iterable[float]]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(y) for y in row) for row in x)


def settings(swing: Swing) -> str:
    """How the experiment was done, in words."""
    w, s, late = swing.sway, swing.servos, slice(swing.settled, None)
    joints = "with the damping and friction of the file" if s.friction else "without damping and friction"
    return (
        f"The pelvis sways {1e3 * w.amplitude:g} mm to either side at {w.frequency:g} Hz over two feet on the floor, "
        f"{1e3 * w.crouch:g} mm crouched, {w.duration:g} s. MuJoCo: steps of {1e3 * s.dt:g} ms, servos of {s.stiffness:g} N/m "
        f"and {s.damping:g} N s/m with the holding forces fed forward, loops tied with solref {s.loop_time:g} s and solimp "
        f"{s.loop_impedance:g}, joints {joints}. Encoders: step {w.encoder.quantum:g}, noise {w.encoder.noise:g}; noise of forces "
        f"{w.force_noise:g} N. Estimators at 1 kHz, alpha = {w.alpha:g} / s; everything below {w.cutoff:g} Hz. Passive joints are "
        f"estimated to {swing.passive_error[late].max():.1e} (m, rad), the base to {1e3 * swing.base_error[late].max():.2f} mm; "
        f"MuJoCo's loops are open by up to {swing.gap.max():.1e}."
    )


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
