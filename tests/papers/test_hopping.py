"""Hopping by energy, by what the thesis states; batches, gaits, bad input."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh, refused
from concurrent.futures import ThreadPoolExecutor
from freeflyer_papers import hopping
from freeflyer_papers.hopping.gaits import GaitError
from freeflyer_papers.hopping.hopping import HopRun
from freeflyer_papers.hopping.settings import EXPERIMENTS, HopSettings, legs


def last(run: HopRun) -> np.ndarray:
    return np.r_[run.q[-1], run.v[-1]]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["prismatic-III", "revolute-II", "revolute-VI"])
def test_floor_forces_and_leg_rates_are_those_of_the_motion(name):
    """Floor forces and weight change the momentum, step by step; rates of the leg are differences."""
    run = hopping.hop(name, duration=1.0, tolerance=1e-10)
    dt, F, weight = np.diff(run.t)[:, None], run.floor_forces, run.model.mass * 9.8
    end = np.where(np.isin(run.t[1:], [e.t for e in run.named("touch-down")])[:, None], 0.0, F[1:])  # the flight before it ends
    pushed = 0.5 * (F[:-1] + end) * dt - [0.0, weight] * dt
    kept = ~np.isin(run.t[1:], [e.t for e in run.named("lift-off")])  # where the horizontal force drops
    assert np.abs(pushed - np.diff(run.linear_momentum, axis=0))[kept].max() < 1e-6  # N s
    assert np.abs(F[:, 1].max()) > 10.0 * weight
    assert (F[:, 1] >= 0.0).all()
    assert not F[~run.stance].any()
    smooth = dt[:, 0] > 1e-6
    for k, x in enumerate((run.leg.length, run.leg.angle)):
        mean = 0.5 * (run.leg_rates[1:, k] + run.leg_rates[:-1, k])
        close((np.diff(x) / dt[:, 0])[smooth], mean[smooth], 1e-3, least=1.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_energy_closes_port_by_port(name):
    energy = hopping.hop(name, duration=2.0).energy
    assert max(energy.residuals) < 1e-6 * energy.total
    parts = energy.radial_damper + energy.energy_controller + energy.radial_spring + energy.polar_spring
    assert energy.floor[-1] < 0.0
    assert energy.touch_down[-1] < 0.0
    assert (np.diff(energy.touch_down) <= 0.0).all()
    assert (np.diff(energy.radial_damper) <= 1e-9).all()
    close(energy.external + energy.joint, parts, 1e-5)


@pytest.mark.slow
def test_impacts_and_flights():
    run = hopping.hop("revolute-VI", duration=0.2)
    event, model = run.named("touch-down")[0], run.model
    stance = ff.ConstraintSet(model, [ff.contacts.point("foot_point", name="foot")])
    after = ff.impact(model, event.q, event.v, constraints=stance).v
    lost = ff.kinetic_energy(model, event.q, after) - ff.kinetic_energy(model, event.q, event.v)
    k = np.searchsorted(run.t, event.t, side="right")
    close(run.energy.touch_down[k], lost, 1e-10)
    run = hopping.hop("revolute-VI", duration=1.0)
    close(run.angle, run.leg.angle, 1e-6)
    run = hopping.hop("revolute-III", duration=0.1)
    close(run.angular_momentum, np.zeros(len(run.t)), 1e-9)
    close(run.linear_momentum[:, 1], -9.8 * run.model.mass * run.t, 1e-6)


@pytest.mark.slow
def test_events_lie_where_they_are_said_to():
    run = hopping.hop("revolute-V", duration=1.5)
    assert {e.name for e in run.events} >= {"touch-down", "release", "lift-off", "apex"}
    for event in run.events:
        leg = legs(run.model, event.q)
        sink = leg.foot_jacobian[1] @ event.v
        value = {"touch-down": leg.foot[1], "lift-off": leg.foot[1], "apex": leg.center_jacobian[1] @ event.v,
                 "release": leg.foot[1] + 0.1 * sink, "press": leg.foot[1] + 0.1 * sink}[event.name]  # fmt: skip
        assert abs(value) < 1e-9, (event.name, value)
    assert (np.diff(run.t) >= 0.0).all()
    assert run.leg.foot[~run.stance, 1].min() > -1e-9
    assert run.leg.foot[run.stance, 1].max() < 1e-9


@pytest.mark.slow
def test_statements_of_the_thesis():
    """The thesis: 7.15 J of external work, 4.65 J of joints; losses: touch-down 2.9, damper 5.9, floor 3.0 J."""
    energy = hopping.hop("revolute-VI").energy
    assert f"{energy.external[-1]:.2f}" == "7.15"
    close(energy.joint[-1], 4.65, 0.3, least=1.0, axes=0)
    close(-energy.touch_down[-1], 2.9, 0.45, axes=0)
    close(-energy.radial_damper[-1], 5.9, 0.35, axes=0)
    close(-energy.floor[-1] + energy.radial_damper[-1], 3.0, 0.2, axes=0)
    first = hopping.hop("revolute-I")
    down = next(e for e in first.named("touch-down") if e.t > first.named("apex")[0].t)
    assert 29.0 < np.degrees(legs(first.model, down.q).angle) < 31.5  # "about 30 deg until the next touch-down"
    assert "fallen" in first.ended
    assert f"{hopping.hop('prismatic-III', duration=0.01).energy.mechanical[0]:.4f}" == "2.9047"
    at_rest = hopping.hop("prismatic-II")
    assert 11 <= len(at_rest.named("lift-off")) <= 14
    assert np.abs(at_rest.v[-1]).max() < 1e-2
    assert not at_rest.named("lift-off")[-1].t > 5.0
    five, six = (hopping.hop(name).named("apex")[-1] for name in ("revolute-V", "revolute-VI"))
    close(np.r_[five.q[1:], five.v], np.r_[six.q[1:], six.v], 5e-3)


@pytest.mark.slow
def test_gaits():
    gait = hopping.hop_gait("revolute-VI")
    assert gait.stable
    assert abs(gait.stride / gait.period - 0.237) < 2e-3
    run = hopping.hop("revolute-VI", q=gait.q, v=gait.v, duration=2.0 * gait.period + 0.05, tolerance=1e-10)
    again = [e for e in run.named("apex") if e.t > 0.1]
    for k, event in enumerate(again, 1):
        close(event.t, k * gait.period, 1e-7)
        close(np.r_[event.q[1:], event.v], np.r_[gait.q[1:], gait.v], 1e-6)
    rng = fresh("gait")
    disturbance = 1e-6 * rng.uniform(-1.0, 1.0, 6)
    from freeflyer_papers.hopping.gaits import ApexMap
    maps = ApexMap(run.model, HopSettings(**{**vars(run.settings), "apexes": 1}))
    s = maps.section(gait.q[None], gait.v[None])
    there = maps(s + disturbance)[0][0] - s[0]
    close(there, gait.matrix @ disturbance, 2e-8)
    refused(GaitError, "no periodic gait", hopping.hop_gait, "revolute-I")


@pytest.mark.slow
def test_basins_and_batches():
    rng = fresh("batch")
    q = np.tile(ff.robots.revolute_hopper().keyframes["start"], (11, 1))
    q[:, 1:3] += [-0.1, 0.1] * np.stack([rng.random(11), rng.standard_normal(11)], axis=1)
    v = [0.2, 0.2, 0.3, 1.0] * rng.uniform(-1.0, 1.0, (11, 4))
    ends = hopping.hop_ends("revolute-IV", q, v, duration=0.2, tolerance=1e-9)
    for k in range(0, 11, 5):
        run = hopping.hop("revolute-IV", q=q[k], v=v[k], duration=0.2, tolerance=1e-9)
        close(np.r_[ends.q[k], ends.v[k]], last(run), 1e-4)
    with ThreadPoolExecutor(3) as pool:
        again = hopping.hop_ends("revolute-IV", q, v, duration=0.2, tolerance=1e-9, executor=pool)
    assert all((a == b).all() for a, b in zip(ends, again, strict=True))
    gains = np.array([0.0, 10.0])
    varied = hopping.hop_ends("revolute-IV", q[0], v[0], duration=0.15, energy_gain=gains)
    for k in range(2):
        run = hopping.hop("revolute-IV", q=q[0], v=v[0], duration=0.15, energy_gain=gains[k])
        close(varied.q[k], run.q[-1], 1e-4)
    calls: list[float] = []
    axes = {"angle": np.radians([0.0, 30.0, 80.0]), "height": [0.29, 0.30], "speed": [0.0, 0.2]}
    found = hopping.hop_basins("revolute-V", **axes, progress=lambda x, _: calls.append(x))
    assert found.gait.shape == (3, 2, 2)
    assert (found.gait[2] == -1).all()
    assert (found.gait[:2] >= 0).any()
    assert calls
    assert calls[-1] == 1.0
    assert abs(sum(found.share(k) for k in range(-2, len(found.gaits))) - 1.0) < 1e-12
    gait = hopping.hop_gait("revolute-VI")
    distances = np.abs(found.gaits - np.array([gait.q, gait.v])).max(axis=(1, 2))
    assert distances.min() < 0.02


@pytest.mark.slow
def test_controller_three_turns_with_the_locked_velocity():
    run = hopping.hop("revolute-IV", controller="III", duration=0.3)
    matrix = ff.centroidal_momentum_matrix(run.model, run.q)[:, 4, :]
    locked = np.einsum("tj,tj->t", matrix, run.v) / matrix[:, 2]
    turned = np.concatenate([[0.0], np.cumsum(0.5 * (locked[1:] + locked[:-1]) * np.diff(run.t))])
    close(run.angle - run.angle[0], turned, 2e-2)
    from freeflyer_papers.hopping.settings import locked_angle

    close(run.angle[-1], locked_angle(run.model, run.q[-1]), 1e-6)
    two, three = (hopping.hop("prismatic-II", controller=c, q=[0, 0.3, -1.5, 0.114], duration=0.5) for c in ("II", "III"))
    close(last(two), last(three), 1e-6)  # the leg's own direction is that of the frame


@pytest.mark.slow
@pytest.mark.parametrize(("call", "words"), [
    (lambda: hopping.hop("revolute-V", q=[0, 0.1, -2.5, 1.78]), "below the ground"),
    (lambda: hopping.hop("prismatic-II", q=[0, 0.3, -1.57, 0.0]), "no length"),
    (lambda: hopping.hop("prismatic-II", gain=3.0), "no setting"),
    (lambda: hopping.hop("prismatic-II", radial_gain=np.nan), "radial_gain"),
    (lambda: hopping.hop("prismatic-II", controller="IV"), "controller"),
    (lambda: hopping.hop("prismatic-II", tolerance=0.5), "tolerance"),
    (lambda: hopping.hop("prismatic-II", length=0.0), "length"),
    (lambda: hopping.hop("prismatic-II", floor_damping=-1.0), "floor_damping"),
    (lambda: hopping.hop("prismatic-II", q=np.zeros((2, 4))), "hop_ends"),
    (lambda: hopping.hop("prismatic-II", model=ff.robots.chain(4)), "planar"),
    (lambda: hopping.hop_ends("revolute-V", [[0, 0.3, -2, 1.78], [0, 0.1, -2, 1.78]], np.zeros(4), duration=1.0), "run 1"),
])  # fmt: skip
def test_bad_input_is_refused_in_words(call, words):
    refused((ff.InputError, ff.UnknownNameError), words, call)


@pytest.mark.slow
def test_unstable_gains_and_chatter():
    run = hopping.hop("prismatic-II", radial_damping=-5000.0, duration=2.0)
    assert run.failure
    assert "s:" in run.failure
    assert "Reached: q = " in run.failure
    assert len(run.t) > 10
    assert np.isfinite(run.q).all()
    assert run.t[-1] < 2.0
    assert run.energy.external.shape == run.t.shape
    # A floor without damping or weight of its own cannot make it: the count that finds it is lowered by a record near its end
    from freeflyer_papers.hopping.hopping import explain_end
    from freeflyer_papers.kernels import layout as L
    run = hopping.hop("prismatic-II", duration=0.1)
    record = np.zeros(60)
    record[L.STATUS], record[L.TIME] = L.CHATTERING, 0.25
    ended, failure = explain_end(run.model, record)
    assert ended == "failed at 0.25 s"
    assert "chatters" in failure
