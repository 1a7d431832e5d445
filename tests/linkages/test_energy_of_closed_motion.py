"""Energy and momentum of free motions of closed linkages, by the commutator-free Runge-Kutta steps in independent velocities."""

import freeflyer as ff
import numpy as np
from closed_robots import robot, shared, state
from closeness import fresh, refused
from freeflyer.analysis.flight import free_flight, middle_posture

SPRUNG = {"spin": 1.4, "speed": 0.05, "stiffness": 3000.0}


def drift(model: ff.Model, q: np.ndarray, u: np.ndarray, dt: float, steps: int) -> float:
    """Largest change of T + U over the motion, relative to the largest kinetic energy."""
    rest, energies, kinetic = np.zeros_like(u), [], []
    for _ in range(steps + 1):
        kinetic.append(ff.kinetic_energy(ff.close_loops(model), q, u))
        energies.append(kinetic[-1] + ff.potential_energy(model, q))
        q, u = ff.step(ff.close_loops(model), q, u, rest, dt, "rk4")
    return float(np.ptp(energies) / max(kinetic))


def test_five_bar_swings_for_ten_seconds(models_folder) -> None:
    model = shared(models_folder, "five_bar")
    s = state(model, fresh(0), 0.05)
    coarse, fine = (drift(model, s.q, 0.0 * s.u, dt, round(10.0 / dt)) for dt in (4e-3, 2e-3))
    assert fine < 1e-6
    assert coarse > 8.0 * fine  # the scheme's order, not round-off
    f = free_flight(shared(models_folder, "kangaroo"), spin=1.4, duration=2.0)
    assert f.stopped is not None
    assert 0.05 < f.time[-1] < 1.9
    assert "singular" in f.stopped


def test_flights_end_in_words_and_drift_falls_with_the_step() -> None:
    model = ff.robots.kangaroo_like()
    q = middle_posture(model)
    coarse, fine = (free_flight(model, q, dt=h, duration=1.0, **SPRUNG) for h in (4e-3, 2e-3))
    assert 16.0 < coarse.drift / fine.drift < 64.0
    assert coarse.momentum_drift < 1e-7
    f = free_flight(ff.robots.make("quadruped"), spin=1.0, speed=0.5, duration=0.5)
    assert f.drift < 1e-9
    refused(ff.InputError, "does not float", lambda: free_flight(ff.robots.chain(2)))
    refused(ff.InputError, "limits", lambda: middle_posture(robot("point")))
