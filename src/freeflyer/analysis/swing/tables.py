"""A lateral swing in numbers: each estimate of contact wrenches beside the simulator's own contact forces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from freeflyer.analysis.swing.comparison import Swing

WORDS = {
    "simulator": "MuJoCo's contacts",
    "motors": "motors alone, at rest",
    "balanced": "balanced with the base, at rest",
    "moving": "balanced, with the motion",
}
COLUMNS = (
    "wrenches from", "sum off by", "inside mm", "force x, y, z rms N", "largest z N", "CoP x, y rms mm", "ZMP x, y rms mm",
)  # fmt: skip


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
    return tuple(
        Line(
            name, swing.weight_error(name), swing.inside(name), _rows(swing.force_error(name)), _rows(swing.center_error(name)),
            _rows(swing.zmp_error(name)),
        )
        for name in swing.wrenches
    )


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
