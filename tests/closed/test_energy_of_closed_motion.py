"""Energy of free motions of closed linkages, by the commutator-free Runge-Kutta steps of order 4 in independent velocities."""

from __future__ import annotations

import numpy as np
import pytest
from closed_robots import shared, state

import freeflyer as ff

IN = {"coordinates": "independent"}


def drift(model: ff.Model, q: np.ndarray, u: np.ndarray, dt: float, steps: int) -> float:
    """Largest change of T + U over the motion, relative to the largest kinetic energy."""
    rest, energies, kinetic = np.zeros_like(u), [], []
    for _ in range(steps + 1):
        kinetic.append(ff.kinetic_energy(model, q, u, **IN))
        energies.append(kinetic[-1] + ff.potential_energy(model, q))
        q, u = ff.step(model, q, u, rest, dt, "rk4", **IN)
    return float(np.ptp(energies) / max(kinetic))


def test_five_bar_swings_for_ten_seconds(models_folder) -> None:
    model = shared(models_folder, "five_bar")
    s = state(model, np.random.default_rng(0), 0.05)
    coarse, fine = (drift(model, s.q, 0.0 * s.u, dt, round(10.0 / dt)) for dt in (4e-3, 2e-3))
    assert fine < 1e-6
    assert coarse > 8.0 * fine  # the scheme's order, not round-off


@pytest.mark.parametrize("seed", [0, 1])
def test_kangaroo_tumbles_freely(seed: int, models_folder) -> None:
    """A short flight: its free motors soon fold the knee linkage into a singular posture, which is refused."""
    model = shared(models_folder, "kangaroo")
    s = state(model, np.random.default_rng(seed), 0.002)
    u = np.zeros_like(s.u)
    u[:6] = [0.3, -0.2, 1.0, 0.5, 0.4, -0.3]
    assert drift(model, s.q, u, 2.5e-4, 80) < 1e-6
