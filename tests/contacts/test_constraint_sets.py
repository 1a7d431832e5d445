"""Rows, algebra and refusals of constraint sets; impacts, projections and steps under them, against dense equations."""

import copy
import freeflyer as ff
import numpy as np
import pickle
import pytest
from closed_robots import robot, robots, state
from closeness import close, close_to_rate, close_to_slopes, fresh, refused
from constrained_samples import BASES, kkt, moving_robot, random_set
from dataclasses import replace
from freeflyer import contacts
from freeflyer.contacts.constrained_dynamics import project_state
from freeflyer.contacts.sets.tables import surface_points
from freeflyer.contacts.steps import anchor
from freeflyer.dynamics.integrators import SCHEMES, steps_of
from freeflyer.errors import InputError, UnknownNameError
from linkage_samples import shifted

HUMANOID = ff.robots.humanoid()
FRAMES = [name for name in HUMANOID.frame_names if name != "world"]


def held(model: ff.Model, rng: np.random.Generator, q: np.ndarray) -> ff.ConstraintSet:
    """A point, a line and a surface of random links and a lock, held at q."""
    frames = rng.choice([name for name in model.frame_names if name != "world"], 3)
    joint = next(j.name for j in model.tree.joints if j.nv)
    return ff.ConstraintSet(
        model, [contacts.point(frames[0], rng.standard_normal(3), name="point"),
                contacts.line(frames[1], rng.standard_normal((2, 3)), name="line"),
                contacts.surface(frames[2], name="surface")], [joint],
    ).anchored(q)  # fmt: skip


@pytest.mark.parametrize("base", BASES)
def test_rows_are_the_rates_of_residuals(base):
    rng = fresh()
    model = moving_robot(rng, 6, base=base, mimics=0.2)
    q = ff.random_configuration(model, rng)
    s = held(model, rng, q)
    close(s.residual(q), np.zeros(len(s.row_names)), 1e-7)
    close_to_slopes(s.jacobian(q), lambda e: s.residual(ff.integrate(model, q, e)), 1e-3, 1e-7)
    # Of rolling bodies, too, whose rows turn with them
    q, v = ff.random_configuration(model, rng), rng.standard_normal(model.nv)
    frames = [name for name in model.frame_names if name != "world"]
    s = held(model, rng, q) + contacts.rolling(frames[-1], 0.3, rng.standard_normal(3), rng.standard_normal(3), "wheel")
    s = s + contacts.rolling(str(rng.choice(frames)), 0.2, None, rng.standard_normal(3), "ball")
    close_to_rate(s.bias(q, v), lambda t: s.jacobian(ff.integrate(model, q, t * v)) @ v, 5e-4, 1e-7)


@pytest.mark.parametrize("name", robots())
def test_rows_of_closed_robots_are_the_rates_of_residuals(name):
    rng = fresh()
    model = ff.close_loops(robot(name))
    st = state(robot(name), rng, 0.03)
    s = held(model, rng, st.q)
    close_to_slopes(s.jacobian(st.q), lambda e: s.residual(ff.integrate(model, st.q, e)), 2e-4, 1e-8)
    close_to_rate(s.bias(st.q, st.u), lambda t: s.jacobian(ff.integrate(model, st.q, t * st.u)) @ st.u, 1e-4, 1e-7)


def test_surfaces_are_frames_and_points_are_points():
    """In a frame of the test's own: at the wheel's centre, along the plane."""
    rng = fresh()
    model = moving_robot(rng, 5)
    q, v = ff.random_configuration(model, rng), rng.standard_normal(model.nv)
    axis, normal = rng.standard_normal(3), rng.standard_normal(3)
    s = ff.ConstraintSet(model, rolling=[contacts.rolling("link_3", 0.4, axis, normal)])
    R, n = ff.frame_pose(model, q, "link_3")[:3, :3], normal / np.linalg.norm(normal)
    a = R @ axis / np.linalg.norm(axis)
    down = -(n - (a @ n) * a)
    lowest = 0.4 * down / np.linalg.norm(down)
    twist = ff.frame_velocity(model, q, v, "link_3", "mixed")
    slip = twist[:3] + np.cross(twist[3:], lowest)
    along = np.cross(a, n) / np.linalg.norm(np.cross(a, n))
    close(s.jacobian(q) @ v, np.array([slip @ along, slip @ np.cross(n, along), slip @ n]), 1e-12)
    rng = fresh(0)
    q, v = ff.random_configuration(HUMANOID, rng), rng.standard_normal(HUMANOID.nv)
    frame, p = FRAMES[-1], np.array([0.1, -0.2, 0.05])
    s = ff.ConstraintSet(HUMANOID, [contacts.surface(frame), contacts.point(frame, p, name="toe")])
    J = ff.frame_jacobian(HUMANOID, q, frame)
    close(s.jacobian(q)[:6], J, 1e-12)
    close(s.jacobian(q)[6:], J[:3] + np.cross(J[3:], p, axisa=0, axisc=0), 1e-12)
    close(s.bias(q, v)[:6], ff.frame_bias_acceleration(HUMANOID, q, v, frame), 1e-12)
    many = np.stack([q, ff.random_configuration(HUMANOID, rng)])
    assert s.jacobian(many[None]).shape == (1, 2, 9, HUMANOID.nv)
    close(s.jacobian(many)[0], s.jacobian(q), 1e-12)


def test_sets_are_values():
    frame, other = FRAMES[3], FRAMES[5]
    stance = ff.ConstraintSet(HUMANOID, [contacts.surface(frame)], [HUMANOID.joints[-1].name])
    more = stance + contacts.point(other, name="toe")
    assert (more.names, len(more.row_names)) == ((HUMANOID.joints[-1].name, frame, "toe"), 10)
    assert (more - "toe").names == stance.names
    assert (stance + ff.ConstraintSet(HUMANOID, [contacts.point(other)])).names[-1] == other
    assert ff.ConstraintSet(HUMANOID).jacobian(ff.neutral(HUMANOID)).shape == (0, HUMANOID.nv)
    q = ff.neutral(HUMANOID)
    held_there = more.anchored(q)
    for copied in (copy.copy(held_there), copy.deepcopy(held_there), pickle.loads(pickle.dumps(held_there))):
        assert copied.names == held_there.names
        assert np.array_equal(copied.jacobian(q), held_there.jacobian(q))
        assert np.array_equal(copied.residual(q), held_there.residual(q))
    with pytest.raises(AttributeError):
        stance.names = ()
    d = HUMANOID.description
    link = FRAMES[4]
    corners = [(0.2, 0.1), (0.2, -0.1), (-0.1, 0.0)]
    sites = [ff.Site("pad", link, np.eye(4))]
    sites += [ff.Site(f"pad_{k}", link, shifted(x, y)) for k, (x, y) in enumerate(corners)]
    model = ff.build(replace(d, sites=(*d.sites, *sites)))
    close(surface_points(model, contacts.surface("pad"))[:, :2], np.array(corners), 1e-12)
    close(surface_points(model, contacts.surface(link, size=(0.4, 0.2)))[0], np.array([0.2, 0.1, 0.0]), 1e-12)
    refused(InputError, "follows", lambda: ff.ConstraintSet(robot("coupled"), locks=["j11"]))
    refused(InputError, "go together", lambda: ff.ConstraintSet(robot("point")) - "loop0")
    assert ff.ConstraintSet(robot("point"), loops=False).names == ()
    assert set(ff.ConstraintSet(robot("coupled")).names) == {"loop0", "cubic"}
    assert ff.ConstraintSet(ff.close_loops(robot("coupled"))).names == ()


KANGAROO = ff.robots.kangaroo_like()
LOCK = HUMANOID.joints[-1].name


@pytest.mark.parametrize(("make", "kind", "words"), [
    (lambda: ff.ConstraintSet(HUMANOID, [contacts.point("left_sol")]), UnknownNameError, "Did you mean"),
    (lambda: ff.ConstraintSet(HUMANOID, [contacts.point(FRAMES[0]), contacts.surface(FRAMES[0])]), InputError,
     "a contact and a contact: give the contact another"),
    (lambda: ff.ConstraintSet(HUMANOID, [contacts.point(FRAMES[0], name=LOCK)], locks=[LOCK]), InputError,
     "a lock and a contact: give the contact another"),
    (lambda: ff.ConstraintSet(HUMANOID, rolling=[contacts.rolling(FRAMES[0], 1.0, name=LOCK)], locks=[LOCK]), InputError,
     "a lock and a rolling body: give the rolling body another"),
    (lambda: ff.ConstraintSet(HUMANOID, locks=[LOCK, LOCK]), InputError, "a lock and a lock: lock the joint once"),
    (lambda: ff.ConstraintSet(KANGAROO, [contacts.point("left_sole", name=KANGAROO.loops[0].name)]), InputError,
     "a loop or coupling of the file and a contact: give the contact another"),
    (lambda: ff.ConstraintSet(HUMANOID) - "toe", UnknownNameError, "no constraint"),
    (lambda: ff.ConstraintSet(HUMANOID) + 3, InputError, "another set"),
    (lambda: ff.ConstraintSet(HUMANOID) + ff.ConstraintSet(ff.robots.quadruped()), InputError, "another model"),
    (lambda: ff.ConstraintSet(HUMANOID, [contacts.point(FRAMES[0])]).residual(ff.neutral(HUMANOID)), InputError, "anchor"),
    (lambda: ff.ConstraintSet(HUMANOID, locks=[HUMANOID.joints[-1].name]).residual(ff.neutral(HUMANOID)), InputError, "anchor"),
    (lambda: ff.ConstraintSet(HUMANOID, rolling=[contacts.rolling(FRAMES[0], 1.0)]).residual(ff.neutral(HUMANOID)), InputError,
     "rolls"),
    (lambda: ff.project_configuration(HUMANOID, ff.neutral(HUMANOID),
        constraints=ff.ConstraintSet(HUMANOID, rolling=[contacts.rolling(FRAMES[0], 1.0)])), InputError, "rolls"),
    (lambda: ff.ConstraintSet(HUMANOID, [contacts.point(FRAMES[0], name=f"p{k}") for k in range(200)]), InputError, "rows"),
    (lambda: contacts.point("a", [1.0, 2.0]), InputError, "shape"),
    (lambda: contacts.point("a", at=np.ones((4, 4))), InputError, "pose"),
    (lambda: contacts.line("a", np.ones((2, 3))), InputError, "differ"),
    (lambda: contacts.surface("a", [[0, 0, 0], [1, 0, 0], [2, 0, 0]]), InputError, "three points"),
    (lambda: contacts.surface("a", size=(0.1, -0.1)), InputError, "sides"),
    (lambda: contacts.rolling("a", 0.1, (0, 0, 0)), InputError, "axis must be three numbers that are not all zero"),
])  # fmt: skip
def test_what_makes_no_sense_is_refused(make, kind, words):
    refused(kind, words, make)


def test_what_cannot_be_is_refused() -> None:
    model = ff.robots.quadruped()
    q, feet = ff.neutral(model), ff.contacts.feet_by_name(model)
    free = ff.ConstraintSet(model, contacts=feet)
    refused(ff.InputError, "held nowhere", ff.project_configuration, model, q, constraints=free)
    refused(ff.InputError, "ConstraintSet", ff.project_velocity, model, q, np.zeros(18), constraints=(np.eye(18), np.zeros(18)))
    there = ff.ConstraintSet(model, contacts=[feet[0].held_at(shifted(9.0, 9.0, 9.0)), feet[1].held_at(np.eye(4))])
    with pytest.raises((ff.linkages.AssemblyError, ff.InputError), match=r"no configuration near|contradict"):
        ff.project_configuration(model, q, constraints=there)


def dense(model: ff.Model, q: np.ndarray, v: np.ndarray, J: np.ndarray, e: float) -> tuple[np.ndarray, np.ndarray]:
    """(velocity, impulses) after the impact."""
    M = ff.mass_matrix(model, q)
    return kkt(M, np.zeros(model.nv), J, e * (J @ v), M @ v)


@pytest.mark.parametrize("base", BASES)
def test_by_dense_equations(base):
    rng = fresh()
    J = np.zeros((0, 0))
    while not len(J):
        model = moving_robot(rng, 8, base=base)
        q, v = ff.random_configuration(model, rng), rng.standard_normal(model.nv)
        s = random_set(rng, model, q, model.nv - 1)
        J = s.jacobian(q)
    for e in (0.0, 0.4, 1.0):
        found, (expected, impulses) = ff.impact(model, q, v, constraints=s, restitution=e), dense(model, q, v, J, e)
        close(found.v, expected, 1e-9)
        close(found.multipliers, impulses, 1e-8)
        close(J @ found.v, -e * (J @ v), 1e-9)
        before, after = ff.kinetic_energy(model, q, v), ff.kinetic_energy(model, q, found.v)
        if e == 1.0:
            assert after == pytest.approx(before, rel=1e-8)
        else:
            assert after < before


def test_batches_closed_models_and_redundant_contacts():
    rng = fresh()
    model = ff.robots.quadruped()
    q, v = ff.random_configuration(model, rng), rng.standard_normal(model.nv)
    s = ff.ConstraintSet(model, [contacts.surface(model.frame_names[4]), contacts.point(model.frame_names[8], (0.1, 0.0, 0.0))])
    found = ff.impact(model, q, v, constraints=s)
    batch = ff.impact(model, np.stack([q] * 9), v, constraints=s, restitution=0.3)
    close(batch.v[8], ff.impact(model, q, v, constraints=s, restitution=0.3).v, 1e-10)
    own = ff.impact(model, q, v, constraints=(s.jacobian(q), np.zeros(9)))
    close(own.v, found.v, 1e-9)
    frame = model.frame_names[5]
    twice = ff.ConstraintSet(model, [contacts.point(frame, name="a"), contacts.point(frame, name="b")])
    found = ff.impact(model, q, v, constraints=twice)
    assert found.redundant == {"a": False, "b": True}
    close(found.impulses["a"], found.impulses["b"], 1e-8)
    model, st = ff.close_loops(robot("nested")), state(robot("nested"), rng, 0.03)
    s = ff.ConstraintSet(model, [contacts.point("l11", (0.0, 0.1, 0.2))])
    found = ff.impact(model, st.q, st.u, constraints=s, restitution=0.5)
    close(found.v, dense(model, st.q, st.u, s.jacobian(st.q), 0.5)[0], 1e-9)


@pytest.mark.parametrize("closed", [False, True])
def test_projections_take_the_shortest_steps_in_the_kinetic_metric(closed):
    """Rows that depend on each other, too, by the pseudoinverse of the whitened Jacobian; another metric is found."""
    model, rng = ff.close_loops(ff.robots.kangaroo_like()) if closed else ff.robots.humanoid(), fresh("shortest")
    standing = ff.control.stand_on_feet(model)
    q = np.tile(standing.q, (7, 1))
    q[:, :2] += rng.normal(0.0, 0.1, (7, 2))
    moved = ff.integrate(model, q, rng.normal(0.0, 1e-7, (7, model.nv)))
    feet = standing.feet
    corners = [contacts.point(feet[0].frame, p, name=f"corner {k}") for k, p in enumerate(feet[0].points)]
    for held in (ff.ConstraintSet(model, contacts=feet), ff.ConstraintSet(model, contacts=[*feet, *corners])):
        at = anchor(held, q)
        J, M = held.jacobian(moved), ff.mass_matrix(model, moved)
        found = ff.difference(model, moved, ff.project_configuration(model, moved, constraints=at))
        root = np.linalg.cholesky(np.linalg.inv(M))
        for metric, right in ((root, True), (np.eye(model.nv), False)):
            expected = -(metric @ np.linalg.pinv(J @ metric, rcond=1e-9) @ at.residual(moved)[..., None])[..., 0]
            assert np.allclose(found, expected, rtol=1e-4, atol=1e-11) == right


@pytest.mark.parametrize("integrator", ["explicit", "semi-implicit", "rk4"])
@pytest.mark.parametrize("make", [ff.robots.humanoid, ff.robots.kangaroo_like, lambda: ff.close_loops(ff.robots.kangaroo_like())])
def test_steps_keep_what_is_held_and_are_those_of_runs(make, integrator):
    model, rng, h = make(), fresh("constrained steps"), 2e-3
    held = ff.ConstraintSet(model, contacts=ff.contacts.feet_by_name(model), locks=[model.actuated[0]])
    q = model.neutral if model.tree.loops else ff.robots.standing_posture(model)
    q = np.stack([q, q])
    v = ff.project_velocity(model, q, rng.normal(0.0, 0.2, (2, model.nv)), constraints=held)
    tau = rng.normal(0.0, 1.0, (2, model.nv))
    x, u = ff.step(model, q, v, tau, h, integrator, constraints=held)
    assert np.abs(held.anchored(q[0]).residual(x)).max() < 1e-10
    assert np.abs(held.jacobian(x) @ u[..., None]).max() < 1e-10
    run = ff.sim.simulate(model, q, v, tau, dt=h, duration=3.0 * h, constraints=held, integrator=integrator)
    assert np.array_equal(run.q[1], x)
    assert np.array_equal(run.v[1], u)
    for k in range(2):
        one = ff.step(model, q[k], v[k], tau[k], h, integrator, constraints=held)
        assert np.abs(one[0] - x[k]).max() < 1e-12
    scheme, anchored = SCHEMES[integrator], held.anchored(q[0])

    def rates(x, y, _):
        return ff.constrained_dynamics(model, x, y, tau, constraints=anchored).a

    plain = scheme(rates, steps_of(model, scheme), q, v, h)
    plain = project_state(model, *plain, anchored)  # the scheme in Python, by other compiled functions
    assert np.abs(ff.difference(model.tree, plain[0], x)).max() < 1e-12
    assert np.abs(plain[1] - u).max() < 1e-9 * (1.0 + np.abs(v).max())
    assert held.names == tuple(run.forces)
    forces = ff.constrained_dynamics(model, run.q, run.v, run.tau, constraints=held).forces
    assert all(np.allclose(run.forces[name], F, rtol=1e-8, atol=1e-8) for name, F in forces.items())


@pytest.mark.parametrize("base", BASES)
def test_drift_is_removed_as_by_dense_steps(base):
    """Random contacts of all kinds, locks and rolling bodies; the last row of a batch alone, too."""
    rng, fixed, held = fresh("drift"), *[ff.ConstraintSet(ff.robots.chain(1))] * 2
    while not ((fixed.contacts or fixed.locks) and held.rolling):
        model = moving_robot(rng, 8, base=base)
        q = ff.random_configuration(model, rng)
        held = random_set(rng, model, q, model.nv - 1).anchored(q)
        fixed = replace(held, rolling=())
    near = ff.integrate(model, q, rng.normal(0.0, 1e-3, (9, model.nv)))
    near[3] = q
    v = rng.standard_normal((9, model.nv))
    found, u = project_state(model, near, v, held)
    assert np.abs(fixed.residual(found)).max() < 1e-10
    assert np.array_equal(found[3], q)  # what is there stays, whatever its neighbours do
    x = near
    for _ in range(6):
        root = np.linalg.cholesky(np.linalg.inv(ff.mass_matrix(model, x)))
        step = root @ np.linalg.pinv(fixed.jacobian(x) @ root, rcond=1e-9) @ fixed.residual(x)[..., None]
        x = ff.integrate(model, x, -step[..., 0])
    assert np.abs(ff.difference(model, x, found)).max() < 1e-8
    assert np.abs(u - ff.impact(model, found, v, constraints=held).v).max() < 1e-9 * np.abs(v).max()
    alone = project_state(model, near[8], v[8], held)
    assert max(np.abs(alone[0] - found[8]).max(), np.abs(alone[1] - u[8]).max()) < 1e-9
