"""Steps on rigid ground, and impulses of random contact problems: the laws of Newton, Signorini and Coulomb, by other formulas."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import fresh
from freeflyer.kernels import plain
from freeflyer.kernels.backend import load, row_width, store, workspace
from freeflyer.kernels.compiler.calls.running import bare_topology
from freeflyer.kernels.contacts.rows import table_int
from freeflyer.kernels.entry import Entry
from freeflyer.kernels.sim.complementarity import ACCURACY, POLISHING, solve_impulses
from freeflyer.optimization.compiled import call, sizes_table
from sim_samples import DT, G, body, simulate


def swept(v: np.ndarray) -> np.ndarray:
    """The rate of a base's velocity along axes that do not turn, less that along its own."""
    return np.r_[np.cross(v[3:6], v[:3]), np.zeros(len(v) - 3)]


@pytest.mark.parametrize("mu", [0.05, 0.9])
def test_steps_obey_newton_and_coulomb(mu):
    """Momenta of all steps with the recorded forces; impulses that add no energy; forces within cones and against sliding; none
    where gaps stay open."""
    rng, model = fresh("ground steps"), ff.robots.quadruped()
    names = [n for n in model.frame_names if n.endswith("_foot")]
    feet = [ff.contacts.point(n) for n in names]
    q = ff.neutral(model)
    q[2] -= min(ff.frame_pose(model, q, n)[2, 3] for n in names) - 0.05
    v = np.r_[1.5, 0.5, 0.0, rng.normal(0.0, 0.2, 3), rng.normal(0.0, 1.0, model.nv - 6)]
    run = simulate(model, q, v, feet, rng.normal(0.0, 0.5, model.nv) * (np.arange(model.nv) > 5), duration=0.3, friction=mu)
    slid = stuck = checked = 0
    for k in range(len(run.t) - 1):
        p, u, w = run.q[k], run.v[k], run.v[k + 1].copy()
        turn = ff.frame_pose(model, p, "trunk")[:3, :3].T @ ff.frame_pose(model, run.q[k + 1], "trunk")[:3, :3]
        w[:3] = turn @ w[:3]  # along the axes of the base before the step
        room = np.minimum(p[7:] - model.position_lower[6:], model.position_upper[6:] - p[7:])
        limited = (room < 0.01 + 10.0 * DT * np.abs(u[6:])).any()
        forces = {n: run.forces[n][k] for n in names}
        middle = u + 0.5 * DT * (ff.forward_dynamics(model, p, u, run.tau[k]) + swept(u))
        free = u + DT * (ff.forward_dynamics(model, p, middle, run.tau[k]) + swept(middle))
        assert ff.kinetic_energy(model, p, w) <= ff.kinetic_energy(model, p, free) * (1.0 + 1e-12)
        if not limited:
            checked += 1
            found = ff.inverse_dynamics(model, p, middle, (w - u) / DT - swept(middle), external=forces)
            assert np.abs(found - run.tau[k]).max() < 1e-9 * (1.0 + max(np.abs(f).max() for f in forces.values()))
        for n in names:
            R = ff.frame_pose(model, p, n)[:3, :3]
            f, velocity = R @ forces[n][:3], ff.frame_velocity(model, p, w, n, "mixed")[:3]
            gap = ff.frame_pose(model, p, n)[2, 3]
            assert f[2] >= 0.0
            assert np.hypot(*f[:2]) <= mu * f[2] * (1.0 + 1e-7) + 1e-9
            if f[2] > 1e-6:
                assert abs(gap + DT * velocity[2]) < 1e-6 or gap < 0.0
                if np.hypot(*f[:2]) < 0.99 * mu * f[2]:
                    stuck += 1
                    assert np.hypot(*velocity[:2]) < 1e-9
                elif np.hypot(*velocity[:2]) > 1e-6:
                    slid += 1
                    assert np.allclose(f[:2] / np.hypot(*f[:2]), -velocity[:2] / np.hypot(*velocity[:2]), atol=1e-5)
    assert checked > 20
    assert (slid if mu < 0.5 else stuck) > 5


@pytest.mark.parametrize("mu", [0.05, 0.3, 1.0])
def test_thrown_boxes_lose_energy_alone(mu):
    """They tumble on eight corners, slide and come to rest: steps are solved, and contacts give no energy."""
    rng, model = fresh("boxes", round(100 * mu)), body(2.0, (0.02, 0.03, 0.035))
    turns = rng.standard_normal((30, 4))
    q = np.c_[np.zeros((30, 2)), np.full(30, 0.4), turns / np.linalg.norm(turns, axis=1)[:, None]]
    points = [ff.contacts.point("body", (i * 0.2, j * 0.15, k * 0.1), name=f"{i} {j} {k}") for i in (-1, 1) for j in (-1, 1)
              for k in (-1, 1)]  # fmt: skip
    run = ff.sim.simulate(model, q, rng.normal(0.0, 2.0, (30, 6)), dt=DT, duration=0.7, ground=ff.sim.Ground(friction=mu),
                          contacts=points)  # fmt: skip
    assert np.sort(run.ground["residual"], axis=None)[-3] < 1e-8  # of 21 000 steps
    assert run.ground["residual"].max() < 1e-4
    energy = ff.kinetic_energy(model, run.q, run.v) + 2.0 * G * run.q[..., 2]
    assert np.diff(energy, axis=0).max() < 1e-6
    assert run.ground["penetration"].max() < 1e-4


def lying_points(model):
    """Soles, and points of the trunk and the limbs: a fallen humanoid touches by any of them."""
    found = list(ff.contacts.feet_by_name(model))
    for link, x, z in (("palm", 0.0, 0.0), ("shank", 0.06, 0.0), ("forearm", -0.05, 0.0), ("upper_arm", 0.0, 0.05)):
        found += [ff.contacts.point(f"{side}_{link}", (x, 0.0, z)) for side in ("left", "right")]
    for link, z in (("pelvis", 0.0), ("chest", 0.2), ("head", 0.1)):
        found += [ff.contacts.point(link, (x, 0.0, z), name=f"{link} {x}") for x in (-0.12, 0.1)]
    return found


def test_fallen_robots_keep_all_points_above_the_ground_and_all_joints_within_limits():
    """Humanoids land on some of 22 points while joints reach limits; points without a force count, too."""
    rng, model, n, mu = fresh("fallen"), ff.robots.humanoid(), 10, 0.6
    contacts = lying_points(model)
    places = [(c, p) for c in contacts for p in c.points]
    q, v = np.tile(ff.robots.standing_posture(model), (n, 1)), rng.normal(0.0, 1.0, (n, model.nv))
    turns = np.array([0.0, 1.0, 0.0, 1.0]) + rng.normal(0.0, 0.2, (n, 4))
    q[:, 3:7] = turns / np.linalg.norm(turns, axis=1)[:, None]

    def heights(q):
        return np.stack([(X := ff.frame_pose(model, q, c.frame))[..., 2, 3] + X[..., 2, :3] @ p for c, p in places], axis=-1)

    q[:, 2] -= heights(q).min(axis=1) - 0.01
    run = ff.sim.simulate(model, q, v, dt=DT, duration=0.4, ground=ff.sim.Ground(friction=mu), contacts=contacts)
    assert run.failure is None
    solved = run.ground["residual"][:-1] < 1e-8
    assert solved.mean() > 0.999
    gaps, w = np.maximum(heights(run.q[:-1]), 0.0), run.v[1:].copy()
    R = [ff.frame_pose(model, x, "pelvis")[..., :3, :3] for x in (run.q[:-1], run.q[1:])]
    w[..., :3] = np.einsum("...ji,...jk,...k", *R, w[..., :3])  # along the axes of the base before the step
    power = np.zeros(solved.shape)
    for i, (c, p) in enumerate(places):
        X, V = (f(model, run.q[:-1], *x) for f, x in ((ff.frame_pose, (c.frame,)), (ff.frame_velocity, (w, c.frame, "mixed"))))
        velocity = V[..., :3] + np.cross(V[..., 3:], X[..., :3, :3] @ p)
        left = (gaps[..., i] + DT * velocity[..., 2])[solved]
        assert left.min() > -1e-9
        if len(c.points) == 1:
            force = np.einsum("...ij,...j", X[..., :3, :3], run.forces[c.name][:-1, :, :3])
            power += np.einsum("...i,...i", force, velocity)
            force = force[solved]
            assert force[:, 2].min() >= 0.0
            assert (np.hypot(force[:, 0], force[:, 1]) - mu * force[:, 2]).max() < 1e-6
            assert np.abs(left[force[:, 2] > 1e-3]).max(initial=0.0) < 1e-9
    assert power[solved].max() < 1e-5  # W: contacts give no energy
    x, rate = run.q[..., 7:], w[..., 6:]
    rooms = np.maximum(np.stack([x - model.position_lower[6:], model.position_upper[6:] - x]), 0.0)
    assert (rooms[:, :-1] + DT * np.stack([rate, -rate]))[:, solved].min() > -1e-9
    assert (rooms[:, 1:] < 1e-6).any(axis=(0, 1)).sum() > n  # limits reached
    assert run.ground["touching"].max(axis=0).mean() > 2.0  # 5.5 +- 0.9; fewer at the end if many begin upwards


CORNERS = np.array([(x, y, 0.0) for x in (-0.1, 0.1) for y in (-0.05, 0.05)])
IMPULSES, ROWS, LIMITS, DRY, CONES = 20, 1, 2, 3, 4  # a kind of table, of its own, and the places of its numbers


def impulses(topology, parameters, problem, y, u, facts):
    """y and u (rows,) of G (rows, rows), b, a guess of y, bounds of dry friction and coefficients, one after the other."""
    rows, limits, dry, cones = tuple(table_int(topology, k) for k in (ROWS, LIMITS, DRY, CONES))
    width = row_width(problem, rows)
    G, b, bounds = workspace(problem, rows * width + 8), workspace(problem, rows + 8), workspace(problem, dry + cones + 8)
    found, left = workspace(problem, rows + 8), workspace(problem, width + 8)
    for i in range(rows):
        for j in range(width):
            store(G, width * i + j, load(problem, rows * i + j) if j < rows else 0.0)
        store(b, i, load(problem, rows * rows + i))
        store(found, i, load(problem, rows * rows + rows + i))
    for k in range(dry + cones):
        store(bounds, k, load(problem, rows * rows + 2 * rows + k))
    missing, enough, count = solve_impulses(G, width, rows, limits, dry, cones, bounds, b, found, left, ACCURACY, POLISHING)
    for i in range(rows):
        store(y, i, load(found, i))
        store(u, i, load(left, i))
    for k, x in enumerate((missing, enough, 1.0 * count)):
        store(facts, k, x)


ENTRY = Entry("impulses", impulses, "m", (("table 1",), ("table 1",), (3,)), square=True, table=IMPULSES, one_by_one=True)


def solve(G, b, guess, bounds, limits, dry, cones):
    """(impulses, velocities, facts)."""
    rows = len(b)
    table = sizes_table(IMPULSES, [rows * rows + 2 * rows + dry + cones, rows, limits, dry, cones], rows + 8)
    return call(ENTRY, table, np.concatenate([G.ravel(), b, guess, bounds]))


def soles(rng, count):
    """Rows of the corners of rigid soles, which depend on each other."""
    rows = []
    for _ in range(count):
        J = rng.standard_normal((6, 30))
        rows += [J[:3] - np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]) @ J[3:] for x, y, z in CORNERS]
    return np.concatenate(rows)


def check(G, b, y, bounds, limits, dry, tolerance):
    u = G @ y + b
    for k in range(limits):
        assert y[k] >= 0.0
        assert u[k] > -tolerance
        assert y[k] * u[k] < tolerance
    for k, bound in zip(range(limits, limits + dry), bounds):
        assert abs(y[k]) <= bound * (1.0 + 1e-9)
        assert bound * abs(u[k]) + y[k] * u[k] < tolerance  # of all forces the one that takes most power
    for k, mu in zip(range(limits + dry, len(b), 3), bounds[dry:]):
        slip, f = u[k : k + 2], y[k : k + 2]
        assert y[k + 2] >= 0.0
        assert u[k + 2] > -tolerance
        assert y[k + 2] * u[k + 2] < tolerance
        assert np.linalg.norm(f) <= mu * y[k + 2] * (1.0 + 1e-12)
        assert mu * y[k + 2] * np.linalg.norm(slip) + f @ slip < tolerance


@pytest.mark.parametrize("mu", [0.05, 0.5, 1.0])
def test_impulses_meet_their_conditions(mu):
    rng, unsolved = fresh("impulses", round(100 * mu)), 0
    for sample in range(60):
        limits, dry, cones = (0, 0, 8) if sample % 2 else (*rng.integers(0, 4, 2), 4)
        J = np.concatenate([rng.standard_normal((limits + dry, 30)), soles(rng, cones // 4)])
        A = rng.standard_normal((30, 30))
        G, b = J @ (A @ A.T + np.eye(30)) @ J.T / 30.0, J @ rng.standard_normal(30)
        b[limits + dry + 2 :: 3] -= rng.uniform(0.0, 2.0)
        bounds = np.r_[rng.uniform(0.0, 1.0, dry), np.full(cones, mu)]
        y, u, (left, enough, _) = solve(G, b, np.zeros(len(b)), bounds, limits, dry, cones)
        np.testing.assert_allclose(u, G @ y + b, atol=1e-10 * np.abs(b).max())
        if left > enough:
            unsolved += 1
            continue
        size = (1.0 + np.abs(y).max()) * (1.0 + np.abs(b).max())
        check(G, b, y, bounds, limits, dry, 1e-7 * size)
        again = solve(G, b, y, bounds, limits, dry, cones)
        np.testing.assert_allclose(G @ again[0], G @ y, atol=1e-9 * size)
        assert again[2][2] == 0.0  # rounds, from the answer
        if sample < 3:  # plain memory is None until it is written
            sizes, given = (len(b), limits, dry, cones), [*G.ravel(), *b, *y, *bounds]
            topology, x, w = bare_topology(IMPULSES, [len(given), *sizes], 8), np.zeros(len(b)), np.zeros(len(b))
            plain.function(impulses)(topology, [], given, x, w, np.zeros(3))
            np.testing.assert_allclose(w, again[1], atol=1e-9 * size)
    assert unsolved <= 1


@pytest.mark.parametrize("speed", [1e-3, 1.0, 1e3])
def test_a_foot_that_jams_is_stopped(speed):
    """A leg at its knee's limit, the foot of which slides: no impulse lets it slide on, and only one stops it (Painleve)."""
    G = np.array([[77.9142, -13.60472, -1.20431, -10.34634], [-13.60472, 3.93545, 0.09632, 2.21581],
                  [-1.20431, 0.09632, 1.10689, 0.72338], [-10.34634, 2.21581, 0.72338, 1.8531]])  # fmt: skip
    for slip in np.random.default_rng(3).uniform(0.5, 2.0, 10):
        b, mu = speed * np.array([-0.06651, 1.47708 * slip, 2.6875 * slip, -0.039]), np.array([0.7])
        y, _, (left, enough, _) = solve(G, b, np.zeros(4), mu, 1, 0, 1)
        assert left <= enough
        np.testing.assert_allclose(y, -np.linalg.solve(G, b), rtol=1e-6)
        check(G, b, y, mu, 1, 0, 1e-7 * (1.0 + np.abs(y).max()))
