"""The loop in time: orders, energy, momentum, inputs, batches, saved runs, replays; motions that blow up end with their cause."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import fresh, refused
from concurrent.futures import ThreadPoolExecutor
from freeflyer import sim
from freeflyer.errors import FileError, InputError, ReplayError
from linkage_samples import four_bar
from sim_samples import check_equal, check_equal_robots

ADAPTIVE = ("rk45", "dop853", "radau", "bdf", "lsoda")


def tumbling(rng: np.random.Generator) -> tuple[ff.Model, np.ndarray, np.ndarray]:
    model = ff.robots.space_manipulator()
    return model, ff.random_configuration(model, rng), 0.5 * rng.standard_normal(model.nv)


def gap(model, a: ff.sim.Run, b: ff.sim.Run) -> float:
    """Of the ends of two runs."""
    return float(max(np.abs(ff.difference(model, a.q[-1], b.q[-1])).max(), np.abs(a.v[-1] - b.v[-1]).max()))


def test_rods_between_balls_spin_with_order_4(models_folder):
    """Cassie's two rods spin while the legs move: against dop853 in coordinates of another kind, with errors of 1e-13."""
    model = ff.with_gravity(ff.close_loops(ff.load(models_folder / "cassie" / "cassie.xml")), (0.0, 0.0, 0.0))
    tree, rods = model.tree, ("left-achilles-rod", "right-achilles-rod")
    turns = np.array([tree.joint(name).iv + k for name in rods for k in range(3)])
    rng, errors = fresh(), np.zeros((2, 4))
    for _ in range(2):
        q, v, rest = model.neutral, 0.4 * rng.standard_normal(model.nv), np.zeros(model.nv)
        v[[model.joint(name).iv for name in rods]] = rng.uniform(2.0, 4.0, 2) * rng.choice([-1.0, 1.0], 2)
        exact = sim.simulate(model, q, v, rest, dt=0.05, duration=0.1, integrator="dop853", rtol=1e-13, atol=1e-14)
        for k, dt in enumerate((1e-2, 5e-3)):
            run = sim.simulate(model, q, v, rest, dt=dt, duration=0.1)
            d = ff.difference(tree, exact.q[-1], run.q[-1])
            energy = ff.kinetic_energy(model, run.q[-1], run.v[-1]) - ff.kinetic_energy(model, q, v)
            sizes = d[turns], np.delete(d, turns), run.v[-1] - exact.v[-1], energy
            errors[k] += [np.abs(x).max() for x in sizes]
    orders = np.log2(errors[0] / errors[1])
    assert (orders > 3.5).all(), orders
    assert orders[0] < 4.5, orders


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ADAPTIVE)
def test_integrators_that_choose_their_steps_keep_the_error(integrator):
    model, q, v = tumbling(fresh())
    exact = sim.simulate(model, q, v, dt=5e-4, duration=0.4, integrator="rk4")
    loose, tight = (sim.simulate(model, q, v, dt=0.2, duration=0.4, integrator=integrator, rtol=r, atol=r) for r in (1e-4, 1e-8))
    coarse, fine = gap(model, loose, exact), gap(model, tight, exact)
    assert fine < 3e-6
    assert fine < max(coarse, 1e-8)


def test_a_stiff_spring_is_no_matter_to_implicit_integrators():
    """100 times stiffer than rk4 can take at this dt: it leaves the numbers; radau ends where the spring holds the joint."""
    model = ff.robots.chain(n=2)

    def stiff(t, q, v):
        return -1e8 * (q - 0.3) - 1e5 * v

    q, v = np.full(model.nq, 0.3) + 1e-3, np.zeros(model.nv)
    assert sim.simulate(model, q, v, stiff, dt=1e-3, duration=0.1).failure is not None
    run = sim.simulate(model, q, v, stiff, dt=1e-2, duration=0.1, integrator="radau", rtol=1e-6, atol=1e-8)
    assert run.failure is None
    assert np.abs(run.q[-1] - 0.3).max() < 1e-6


def test_energy_and_momentum_of_ten_seconds():
    model, q, v = tumbling(fresh())
    model = ff.with_gravity(model, (0.0, 0.0, 0.0))
    drift, spins = [], []
    for h in (1e-2, 5e-3):
        run = sim.simulate(model, q, v, dt=h, duration=10.0)
        E, momentum = ff.kinetic_energy(model, run.q, run.v), ff.centroidal_momentum(model, run.q, run.v)
        drift.append(np.abs(E / E[0] - 1.0).max())
        spins.append(np.abs(momentum - momentum[0]).max() / np.abs(momentum[0]).max())
    for coarse, fine in (drift, spins):
        assert fine < 1e-4  # of the fastest motions
        assert fine < coarse / 8.0 + 2e-12  # order 4: 16 times, but for the rounding of slow motions


def test_a_tree_on_its_loops_is_the_closed_model():
    """Under a set without contacts or locks."""
    tree, closed = ff.robots.kangaroo_like(), ff.close_loops(ff.robots.kangaroo_like())
    q, u = ff.neutral(closed), 0.1 * fresh().standard_normal(closed.nv)
    one = sim.simulate(closed, q, u, dt=2e-3, duration=0.02)  # longer, 1 of 80 draws comes to a singular posture
    v = ff.velocity_map(closed, q) @ u
    two = sim.simulate(tree, q, v, dt=2e-3, duration=0.02, constraints=ff.ConstraintSet(tree))
    assert np.abs(ff.linkages.constraint_residual(tree, two.q[-1])).max() < 1e-9
    assert np.abs(ff.difference(tree, one.q[-1], two.q[-1])).max() < 1e-7


def test_controllers_are_sampled_and_functions_are_not():
    model, q, v = tumbling(fresh())
    times = []

    class Controller:
        def tau(self, q, v):
            times.append(None)
            return np.zeros(model.nv)

    def function(t, q, v):
        times.append(t)
        return np.zeros(model.nv)

    sim.simulate(model, q, v, Controller(), dt=1e-2, duration=0.1)
    assert len(times) == 11
    times.clear()
    sim.simulate(model, q, v, function, dt=1e-2, duration=0.1)
    assert np.allclose(times, 5e-3 * np.repeat(np.arange(21), 2)[1:])  # of four evaluations a step, two are in its middle
    times.clear()
    sim.simulate(model, q, v, function, dt=1e-2, duration=0.1, hold=True)
    assert np.allclose(times, 1e-2 * np.arange(11))


def test_the_last_step_ends_at_the_duration():
    model, q, v = tumbling(fresh())
    run = sim.simulate(model, q, v, dt=0.004, duration=0.014)
    assert run.t.tolist() == [0.0, 0.004, 0.008, 0.012, 0.014]
    whole = sim.simulate(model, q, v, dt=0.002, duration=0.014)
    assert gap(model, run, whole) < 1e-8  # a step of 1e-6 s less would show
    assert sim.simulate(model, q, v, dt=1.0, duration=0.1).t.tolist() == [0.0, 0.1]


def test_sensing_is_the_same_with_the_same_seed():
    model, q, v = tumbling(fresh())
    seen = []

    def controller(t, q, v):
        seen.append((q, v))
        return np.zeros(model.nv)

    def shown(**options):
        seen.clear()
        run = sim.simulate(model, q, v, controller, dt=1e-2, duration=0.2, sensing=sim.Sensing(**options))
        return run, [x[0] for x in seen], [x[1] for x in seen]

    run, _, delayed = shown(delay=0.05)
    assert all((delayed[k] == run.v[max(0, k - 5)]).all() for k in range(21))
    _, q1, v1 = shown(position_noise=1e-3, velocity_noise=1e-2, seed=3)
    run, q2, v2 = shown(position_noise=1e-3, velocity_noise=1e-2, seed=3)
    _, q3, _ = shown(position_noise=1e-3, velocity_noise=1e-2, seed=4)
    assert all((a == b).all() for a, b in zip(q1 + v1, q2 + v2))
    assert (q1[0] != q3[0]).any()
    spread = np.std([ff.difference(model, a, b) for a, b in zip(run.q, q2)]), np.std(np.array(v2) - run.v)
    assert abs(spread[0] - 1e-3) < 2e-4
    assert abs(spread[1] - 1e-2) < 2e-3
    errors = [np.ravel(x) for x in ([ff.difference(model, a, b) for a, b in zip(run.q, q2)], np.array(v2) - run.v)]
    assert abs(np.corrcoef(errors)[0, 1]) < 0.3  # of positions and velocities apart


def test_closed_robots_of_a_batch_are_sensed_one_by_one():
    """Each near its own posture, by the noise; postures of the others were memory that nothing had written."""
    model, seen = ff.close_loops(four_bar()), []
    q = ff.random_configuration(model, fresh("sensed"), 3)

    def controller(t, q, v):
        seen.append((q, v))
        return np.zeros(v.shape)

    run = sim.simulate(model, q, np.zeros(model.nv), controller, dt=1e-3, duration=0.01, sensing=sim.Sensing(1e-6, 1e-5))
    for k, (x, y) in enumerate(seen):
        off = ff.difference(model, run.q[k], x)
        assert off.shape == y.shape == (3, model.nv)
        assert 0.0 < np.abs(off).max() < 1e-5
        assert 0.0 < np.abs(y - run.v[k]).max() < 1e-4
    assert len(seen) == 11


def test_runs_are_saved_loaded_and_replayed(tmp_path):
    model, q, v = tumbling(fresh())
    spring = lambda t, x, y: np.concatenate([np.zeros(6), -5.0 * y[6:]])
    event = sim.Event("turned", lambda s: s.t - 0.0512)
    run = sim.simulate(model, q, v, spring, dt=1e-2, duration=0.3, sensing=sim.Sensing(1e-3, 1e-3, seed=5), events=event)
    path = tmp_path / "run.npz"
    run.save(path)
    refused(FileError, "exists", run.save, path)
    back = sim.load(path)
    assert (back.q == run.q).all()
    assert (back.settings, [e.name for e in back.events]) == (run.settings, ["turned"])
    assert abs(back.events[0].t - 0.0512) < 1e-9
    again = sim.replay(model, back, spring, events=event)
    assert (again.v == run.v).all()
    refused(ReplayError, "sample", lambda: sim.replay(model, back, lambda t, x, y: 1.01 * spring(t, x, y), events=event))
    refused(InputError, "another robot", lambda: sim.replay(ff.robots.quadruped(), back))
    # Arrays that a user adds to the file are left alone; one of the run that is absent is named
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **arrays, note=np.arange(3), words=np.array(["by hand"]))
    assert (sim.load(path).tau == run.tau).all()
    for name in ("head", "tau", "event 0 v_after"):
        np.savez(path, **{key: x for key, x in arrays.items() if key != name})
        refused(FileError, f"it has no '{name}'$", sim.load, path)


def test_replays_begin_before_the_changes_of_events_at_the_start(tmp_path):
    """Sample 0 is recorded after them; controllers that measure late see the state before."""
    model, sensing = ff.robots.chain(2), sim.Sensing(position_noise=0.01, delay=0.02)
    drag = lambda t, q, v: -0.1 * v - q
    events = [sim.Event("faster", lambda state: 1.0, start=lambda state: sim.Change(v=2.0 * state.v)),
        sim.Event("start", lambda state: state.q[0] - 0.45, start=lambda state: sim.Change(q=state.q + 0.1, v=state.v + 0.1)),
        sim.Event("unchanged", lambda state: 1.0, start=lambda state: None)]  # fmt: skip
    for chosen, seen in ((events[0], None), (events, sensing), (events[1:], None), (events[2], sensing)):
        run = sim.simulate(model, [0.5, 0.0], [0.1, 0.2], drag, dt=0.01, duration=0.3, events=chosen, sensing=seen)
        run.save(tmp_path / "run.npz", overwrite=True)
        for first in (run, sim.load(tmp_path / "run.npz")):
            again = sim.replay(model, first, drag, events=chosen)
            for name in ("t", "q", "v", "tau"):
                assert (getattr(again, name) == getattr(run, name)).all()
            assert [(e.name, e.t, *e.q, *e.v_after) for e in again.events] == [(e.name, e.t, *e.q, *e.v_after) for e in run.events]


def test_starts_that_violate_constraints_and_runs_of_no_robots_are_refused():
    model = ff.robots.quadruped()
    q = ff.robots.standing_posture(model)
    stance = ff.ConstraintSet(model, [ff.contacts.point("front_left_foot")])
    with pytest.raises(InputError, match=r"row 'front_left_foot.[xyz]' by .*project_velocity"):
        sim.simulate(model, q, np.ones(model.nv), dt=1e-2, duration=0.1, constraints=stance)
    elsewhere = ff.integrate(model, q, 0.1 * np.ones(model.nv))
    with pytest.raises(InputError, match="project_configuration"):
        sim.simulate(model, elsewhere, np.zeros(model.nv), dt=1e-2, duration=0.1, constraints=stance.anchored(q))
    other = ff.ConstraintSet(ff.robots.quadruped(), [ff.contacts.point("front_left_foot")])
    refused(InputError, "another model", sim.simulate, model, q, np.zeros(model.nv), dt=1e-2, duration=0.1, constraints=other)
    none, words = (np.zeros((0, 2)), np.zeros(2)), r"one robot at least, got q of shape \(0, 2\) and v of shape \(2,\)"
    for integrator in ("rk4", "rk45"):
        refused(InputError, words, sim.simulate, ff.robots.chain(2), *none, dt=0.01, duration=0.1, integrator=integrator)


FASTEST = 1e8  # m/s or rad/s, as the page on simulation says
WAYS = {
    "compiled": {}, "semi-implicit": {"integrator": "semi-implicit"}, "explicit": {"integrator": "explicit"},
    "controller": {"inputs": lambda t, q, v: np.zeros(v.shape), "hold": True}, "law": {"inputs": lambda t, q, v: -1e-3 * v},
    "ground": {"ground": ff.sim.Ground()}, "sparse": {"ground": ff.sim.Ground(), "every": 10},
}  # fmt: skip


def thrown(rng, way, lead=(), speed=5.0):
    """A humanoid that is thrown over the ground, or an arm on a table; arguments of `simulate`."""
    model, options = ff.robots.chain(3), dict(WAYS[way])
    if "ground" in options:
        model = ff.robots.humanoid()
        options["contacts"] = ff.contacts.feet_by_name(model)
    q = np.broadcast_to(model.neutral, (*lead, model.nq)).copy()
    if "ground" in options:
        q[..., 2] = 1.2
    return {"model": model, "q": q, "v": speed * rng.standard_normal((*lead, model.nv)), "inputs": None} | options


def run_of(given, dt, count):
    every = {"every": given["every"] * dt} if "every" in given else {}
    return ff.sim.simulate(**given | every, dt=dt, duration=count * dt)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dt", [1e-3, 1e-2, 0.1, 1.0])
def test_a_run_ends_where_a_speed_is_beyond_the_bound(way, dt):
    given = thrown(fresh("blow up", way), way)
    model, run = given["model"], run_of(given, dt, 100)
    assert np.isfinite(run.q).all()
    assert np.abs(run.v).max() <= FASTEST
    if dt == 1.0:
        assert run.failure is not None
    elif dt == 1e-3:
        assert run.failure is None
    if run.failure is None:
        return
    assert run.failure.startswith(f"at {run.t[-1]:.6g} s: the motion blows up")
    assert "take a shorter dt" in run.failure
    assert "no inertia" not in run.failure
    for more in (0, 1, 2, 20):  # the last of the steps of one compiled call, or in its middle
        assert len(run_of(given, dt, round(run.t[-1] / dt) + 1 + more).t) == len(run.t)
    if "ground" in given:
        assert any(repr(joint.name) in run.failure for joint in model.joints)
        return
    tau = np.zeros(model.nv) if way != "law" else -1e-3 * run.v[-1]
    _, v = ff.step(model, run.q[-1], run.v[-1], tau, dt, given.get("integrator", "rk4"))
    assert np.abs(v).max() > FASTEST
    if way != "law":
        assert repr(model.joints[int(np.abs(v).argmax())].name) in run.failure


@pytest.mark.parametrize("way", WAYS)
def test_other_robots_of_a_batch_go_on_with_the_same_bits(way):
    rng = fresh("others", way)
    given = thrown(rng, way, lead=(11,))
    given["v"][[3, 8]] = rng.choice([-1.0, 1.0], (2, given["model"].nv)) * rng.uniform(5e3, 2e4, (2, given["model"].nv))
    dt, count, others = 2e-3, 40, [0, 1, 2, 4, 5, 6, 7, 9, 10]
    run = run_of(given, dt, count)
    assert np.isfinite(run.q[:, others]).all()
    check_equal_robots(run, run_of(given | {"q": given["q"][others], "v": given["v"][others]}, dt, count), others)
    for k in (3, 8):
        assert f"robot {k}: at " in run.failure
        assert np.isnan(run.q[-1, k]).all()
        assert np.isnan(run.tau[-1, k]).all()
        alone = run_of(given | {"q": given["q"][k], "v": given["v"][k], "every": 1}, dt, count)
        ended = int(np.isnan(run.q[:, k, 0]).argmax())
        assert run.t[ended - 1] <= alone.t[-1] + 1e-12 < run.t[ended]
        assert f"at {alone.t[-1]:.6g} s: the motion blows up" in alone.failure
    with ThreadPoolExecutor(2) as executor:
        spread = run_of(given | {"executor": executor}, dt, count)
    check_equal_robots(run, spread)
    assert "of robots 0 to 7: robot 3: at " in spread.failure


def test_a_batch_ends_with_its_last_robot(tmp_path):
    given = thrown(fresh("last robot"), "ground", lead=(20,), speed=2e4)
    given["v"][12:] *= 0.1
    run = run_of(given, 2e-3, 200)
    assert run.failure.startswith(f"at {run.t[-1]:.6g} s: no robot is left; robot ")
    assert "12 more robots blow up" in run.failure
    assert len(run.t) < 200
    with ThreadPoolExecutor(2) as executor:
        spread = run_of(given | {"executor": executor}, 2e-3, 200)
    check_equal_robots(run, spread)
    recorded = run_of(given | {"record": tmp_path / "run"}, 2e-3, 200)
    assert recorded.failure == run.failure
    check_equal(ff.sim.load(tmp_path / "run"), run)


def test_constraints_and_huge_forces_name_their_robot_and_joint():
    model = ff.robots.humanoid()
    stance = ff.ConstraintSet(model, contacts=[ff.contacts.surface("left_sole")])
    q = np.tile(ff.robots.standing_posture(model), (3, 1))
    v = ff.project_velocity(model, q, np.diag([0.1, 0.1, 1e6]) @ fresh("set").standard_normal((3, model.nv)), constraints=stance)
    run = ff.sim.simulate(model, q, v, dt=2e-3, duration=0.02, constraints=stance)
    assert run.failure.startswith("at 0 s: robot 2: the motion blows up")
    push = np.zeros((3, 3))
    push[1, 2] = 1e20
    run = ff.sim.simulate(ff.robots.chain(3), np.zeros((3, 3)), np.zeros((3, 3)), push, dt=1e-3, duration=0.02)
    assert "robot 1: at 0 s: the motion blows up" in run.failure
    assert "forces of up to 1e+20 N or N m act: take smaller ones" in run.failure
