"""Accelerations and forces under constraint sets against dense equations, of trees, closed models, and loops as rows."""

import freeflyer as ff
import numpy as np
import pytest
from closed_robots import robot, robots, state
from closeness import close, fresh, refused, rounding
from constrained_samples import BASES, check_dense, condition_in_order, kkt, moving_robot, random_set, whitened
from freeflyer import contacts
from freeflyer.contacts.sets.systems import matrix_rows, solve_systems
from linkage_samples import MASKS, random_linkage


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("mimics", [0.0, 0.3])
def test_random_trees_by_dense_equations(base, mimics):
    rng = fresh()
    for _ in range(3):
        model = moving_robot(rng, int(rng.integers(4, 12)), base=base, mimics=mimics)
        q, v, tau = ff.random_configuration(model, rng), rng.standard_normal(model.nv), rng.standard_normal(model.nv)
        s = random_set(rng, model, q, model.nv - 1)
        check_dense(model, s, q, v, tau, 1e-9)


def test_redundant_feet_share_the_load_with_the_least_point_forces():
    """The same foot twice carries half each; accelerations are those of one."""
    rng = fresh()
    model = ff.robots.quadruped()
    frame = model.frame_names[5]
    q, v, tau = ff.random_configuration(model, rng), rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    points = rng.standard_normal((4, 3))
    once = ff.ConstraintSet(model, [contacts.point(frame, points[0], name="one")])
    twice = once + contacts.point(frame, points[0], name="two")
    one, two = (ff.constrained_dynamics(model, q, v, tau, constraints=s) for s in (once, twice))
    assert two.redundant == {"one": False, "two": True}
    close(two.a, one.a, 1e-10)
    close(two.forces["two"], two.forces["one"], 1e-8)
    close(two.forces["one"] + two.forces["two"], one.forces["one"], 1e-9)
    batch = ff.constrained_dynamics(model, np.stack([q] * 11), v, tau, constraints=twice)
    assert batch.redundant["two"].all()
    assert not batch.redundant["one"].any()
    close(batch.a[7], one.a, 1e-10)
    # Four points are twelve rows of rank six: the forces are those that the sole's corners have, in newtons alone
    q, tau = ff.random_configuration(model, rng), rng.standard_normal(model.nv)
    points = np.array([[0.1, 0.05, 0.0], [0.1, -0.05, 0.0], [-0.1, -0.05, 0.01], [-0.1, 0.05, 0.0]])
    sole = ff.ConstraintSet(model, [contacts.surface(frame, points)])
    corners = ff.ConstraintSet(model, [contacts.point(frame, p, name=str(k)) for k, p in enumerate(points)])
    v = np.zeros(model.nv)
    a, b = (ff.constrained_dynamics(model, q, v, tau, constraints=s) for s in (sole, corners))
    close(b.a, a.a, 1e-9)
    close(sum(b.forces.values()), a.forces[frame], 1e-8)
    S = np.vstack([corners.jacobian(q)[3 * k : 3 * k + 3] for k in range(4)])
    y = b.multipliers
    null = np.eye(12) - np.linalg.pinv(S.T, rcond=1e-9) @ S.T
    close(null @ y, np.zeros(12), 1e-10 * max(1.0, np.abs(y).max()))


def test_what_contradicts_or_does_not_fit_is_refused():
    rng = fresh()
    model = ff.robots.quadruped()
    q, v = ff.random_configuration(model, rng), rng.standard_normal(model.nv)
    trunk, toe = model.joints[0].child, model.joints[-1].child
    s = ff.ConstraintSet(model, [contacts.surface(trunk), contacts.point(toe, name="toe")], [j.name for j in model.joints[1:]])
    with pytest.raises(ff.InputError, match=r"'toe'.*contradict"):  # a leg of joints that turn, and are said to be locked
        ff.constrained_dynamics(model, q, 5.0 * v, v, constraints=s)
    refused(ff.InputError, r"at state \[1\]", ff.constrained_dynamics, model, q, np.stack([0.0 * v, 5.0 * v]), v, constraints=s)
    A = np.zeros((2, model.nv))
    A[:, 3] = 1.0
    refused(ff.InputError, "contradict", ff.constrained_dynamics, model, q, v, v, constraints=(A, np.array([1.0, 2.0])))
    q = ff.neutral(model)
    frame = model.joints[0].child
    n = ff.frame_pose(model, q, frame)[:3, :3] @ np.array([0.0, 1.0, 0.0])
    s = ff.ConstraintSet(model, rolling=[contacts.rolling(frame, 0.1, normal=n)])
    refused(ff.InputError, "lies flat", ff.constrained_dynamics, model, q, np.zeros(model.nv), np.zeros(model.nv), constraints=s)
    model = robot("point")
    closed = ff.close_loops(model)
    q, u = np.array(closed.neutral), np.zeros(closed.nv)
    refused(ff.InputError, "loops open", lambda: ff.constrained_dynamics(closed, q, u, u, constraints=ff.ConstraintSet(model)))
    other = ff.robots.quadruped()
    refused(ff.InputError, "another model", lambda: ff.constrained_dynamics(closed, q, u, u, constraints=ff.ConstraintSet(other)))
    with pytest.raises(ff.InputError, match="q"):
        ff.constrained_dynamics(other, np.full(other.nq, np.nan), np.zeros(other.nv), np.zeros(other.nv),
                                constraints=ff.ConstraintSet(other))  # fmt: skip


def test_wrenches_rows_of_one_s_own_and_empty_sets():
    rng = fresh()
    model = ff.robots.quadruped()
    q, v, tau = ff.random_configuration(model, rng), rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    A, b = rng.standard_normal((3, 4, model.nv)), rng.standard_normal((3, 4))
    d = ff.constrained_dynamics(model, q, v, tau, constraints=(A, b))
    for k in range(3):
        a, multipliers = kkt(ff.mass_matrix(model, q), ff.bias_forces(model, q, v), A[k], -b[k], tau)
        close(d.a[k], a, 1e-9)
        close(d.multipliers[k], multipliers, 1e-9)
    assert d.forces == {}
    refused(ff.InputError, "shapes", ff.constrained_dynamics, model, q, v, tau, constraints=(A[..., 1:], b))
    refused(ff.InputError, "pair of arrays", ff.constrained_dynamics, model, q, v, tau, constraints="stance")
    s = ff.ConstraintSet(model, [contacts.point(model.frame_names[k], name=str(k)) for k in (3, 6)])
    w, g, frame = rng.standard_normal(6), rng.standard_normal(3), model.frame_names[8]
    found = ff.constrained_dynamics(model, q, v, tau, constraints=s, external={frame: w}, expressed="mixed", gravity=g)
    h = ff.bias_forces(model, q, v, external={frame: w}, expressed="mixed", gravity=g)
    a, _ = kkt(ff.mass_matrix(model, q), h, s.jacobian(q), s.bias(q, v), tau)
    close(found.a, a, 1e-9)
    model = moving_robot(rng, 7)
    q, v, tau = ff.random_configuration(model, rng), rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    d = ff.constrained_dynamics(model, q, v, tau, constraints=ff.ConstraintSet(model))
    close(d.a, ff.forward_dynamics(model, q, v, tau), 1e-10)
    assert (d.forces, d.pulling, d.redundant, d.multipliers.shape) == ({}, {}, {}, (0,))


def test_rows_that_a_batch_of_one_joint_shares():
    """Numbers of a system stand in order, also where NumPy would lay out the array of all systems by columns."""
    model, rng = ff.robots.chain(1), fresh()
    q, v, tau = rng.standard_normal((3, 70, 1))
    rows = rng.standard_normal((2, 1)), np.zeros(2)
    for count in (1, 3, 70):
        found = ff.constrained_dynamics(model, q[:count], 0.0 * v[:count], tau[:count], constraints=rows)
        close(found.a, np.zeros((count, 1)), 1e-12)


def test_a_link_without_inertia_is_named():
    links = ff.Link("a", ff.Inertia(1.0, (0.0, 0.0, 0.1), 0.1 * np.eye(3))), ff.Link("b")
    joints = ff.Joint("j", "revolute", "world", "a"), ff.Joint("k", "revolute", "a", "b")
    model, q = ff.build(ff.Description("light", links, joints)), np.zeros((2, 3, 2))
    for J in np.eye(2)[:, None]:
        for x, where in ((q, r" at state \[0, 0\]"), (q[0, 0], "")):
            words = rf"'light' is singular{where} .*joint 'k' moves no inertia"
            rows = J, np.zeros(1)
            refused(ff.InputError, words, lambda x=x, rows=rows: ff.constrained_dynamics(model, x, x, x, constraints=rows))
            refused(ff.InputError, words, ff.impact, model, x, x + 1.0, constraints=rows)


def test_the_first_singular_system_is_named():
    model, M = ff.robots.chain(2), np.tile(np.eye(2), (4, 5, 1, 1))
    M[1, 3] = M[2, 0] = 0.0
    rows = matrix_rows(model, (np.eye(2)[:1], np.zeros(1)), model.neutral, np.zeros(2))
    refused(ff.InputError, r"state \[1, 3\]", solve_systems, model, model.neutral, M, np.ones(2), rows, np.zeros(1), np.ones(()))


def test_more_rows_than_memory_was_kept_for():
    """Ninety rows of rank thirty-something: the compiled code returns the memory it needs, and is called again."""
    rng = fresh()
    model = ff.robots.humanoid()
    while True:  # until something can move, and the rows that add to the rank in their order are far from depending on others
        frames = rng.choice(model.link_names, 30)
        s = ff.ConstraintSet(model, [contacts.point(str(f), rng.standard_normal(3), name=str(k)) for k, f in enumerate(frames)])
        q, tau = ff.random_configuration(model, rng), rng.standard_normal(model.nv)
        W = whitened(model, q, s)
        condition = condition_in_order(W)
        if condition < 2000.0 and np.linalg.matrix_rank(W, 1e-9) < model.nv:
            break
    error = rounding(100, condition**2)
    d = ff.constrained_dynamics(model, q, np.zeros(model.nv), tau, constraints=s)
    a, _ = kkt(ff.mass_matrix(model, q), ff.bias_forces(model, q, np.zeros(model.nv)), s.jacobian(q), s.bias(q, 0.0 * tau), tau)
    close(d.a, a, error)
    batch = ff.constrained_dynamics(model, np.stack([q] * 9), np.zeros(model.nv), tau, constraints=s)
    close(batch.a[8], d.a, error)


def test_inverse_dynamics_is_the_inverse():
    """Of a stance whose accelerations forward dynamics has found: the same torques and forces, where they are unique."""
    rng = fresh()
    model = ff.robots.quadruped()
    s = ff.ConstraintSet(model, contacts.feet_by_name(model))
    q = ff.random_configuration(model, rng)
    J, v = s.jacobian(q), ff.project_velocity(model, q, rng.standard_normal(model.nv), constraints=s)
    tau = np.zeros(model.nv)
    tau[6:] = rng.standard_normal(model.nv - 6)
    d = ff.constrained_dynamics(model, q, v, tau, constraints=s)
    found = ff.constrained_inverse_dynamics(model, q, v, d.a, constraints=s)
    need = ff.inverse_dynamics(model, q, v, d.a)
    carried = sum(ff.frame_jacobian(model, q, c.frame).T @ found.forces[c.name] for c in s.contacts)
    close(found.tau + carried, need, 1e-8)
    assert np.abs(found.tau[:6]).max() == 0.0
    again = ff.constrained_dynamics(model, q, v, found.tau, constraints=s)
    close(again.a, d.a, 1e-7)
    least = np.linalg.lstsq(J[:, :6].T, need[:6], rcond=1e-9)[0]
    close(found.multipliers, least, 1e-8)
    batch = ff.constrained_inverse_dynamics(model, np.stack([q, q]), v, d.a, constraints=s)
    close(batch.tau[1], found.tau, 1e-9)
    with pytest.raises(ff.InputError, match="no motor"):
        ff.constrained_inverse_dynamics(model, q, 0.0 * v, 0.0 * v, constraints=ff.ConstraintSet(model, s.contacts[:1]))
    with pytest.raises(ff.InputError, match="not one that the constraints allow"):
        ff.constrained_inverse_dynamics(model, q, v, d.a + 1.0, constraints=s)


@pytest.mark.parametrize("model", [ff.robots.humanoid(33), ff.robots.chain(7)], ids=lambda model: model.name)
@pytest.mark.parametrize("effort", [1.0, 10.0, 100.0])
def test_locks_allow_the_accelerations_of_forward_dynamics(model, effort):
    """Of any size: 40 states of each; a part of 1.1e-6 of the whole acceleration along a lock is refused."""
    rng = fresh(model.name)
    joints = [joint.name for joint in model.joints if joint.nv == 1]
    for _ in range(40):
        locks = [str(name) for name in rng.choice(joints, 2, replace=False)]
        held = [model.joint(name).iv for name in locks]
        s = ff.ConstraintSet(model, locks=locks)
        q, v, tau = ff.random_configuration(model, rng), rng.standard_normal(model.nv), np.zeros(model.nv)
        v[held] = 0.0
        driven = [model.joint(name).iv for name in model.actuated]
        tau[driven] = effort * rng.standard_normal(len(driven))
        a = ff.constrained_dynamics(model, q, v, tau, constraints=s).a
        found = ff.constrained_inverse_dynamics(model, q, v, a, constraints=s)
        close(found.tau + s.jacobian(q).T @ found.multipliers, ff.inverse_dynamics(model, q, v, a), 1e-8)
        off = np.zeros(model.nv)
        off[held[0]] = np.linalg.norm(a)
        with pytest.raises(ff.InputError, match="not one that the constraints allow"):
            ff.constrained_inverse_dynamics(model, q, v, a + 1.1e-6 * off, constraints=s)


@pytest.mark.parametrize("name", robots())
def test_loops_as_rows_and_as_a_closed_model_agree(name):
    rng = fresh()
    tree, st = robot(name), state(robot(name), rng, 0.05)
    closed = ff.close_loops(tree)
    q, u, tau = st.q, st.u, rng.standard_normal(closed.nv)
    s = random_set(rng, closed, q, 4)
    check_dense(closed, s, q, u, tau, 1e-9)
    whole = np.zeros(tree.nv)
    whole[closed.reduction.split.independent] = tau
    G = ff.velocity_map(closed, q)
    rows = ff.ConstraintSet(tree, s.contacts, s.locks, s.rolling)
    a, b = (ff.constrained_dynamics(closed, q, u, tau, constraints=s),
            ff.constrained_dynamics(tree, q, G @ u, whole, constraints=rows))  # fmt: skip
    close(G @ a.a + ff.velocity_map_bias(closed, q, u), b.a, 1e-8)
    for item in s.items:
        close(a.forces[item.name], b.forces[item.name], 1e-8)
    free = ff.constrained_dynamics(tree, q, G @ u, whole, constraints=ff.ConstraintSet(tree))
    alone = ff.forward_dynamics(closed, q, u, G.T @ whole)
    close(G @ alone + ff.velocity_map_bias(closed, q, u), free.a, 1e-9)
    multipliers = ff.linkages.constraint_multipliers(tree, q, G @ u, tau=whole)
    close(multipliers[closed.reduction.split.rows], free.multipliers, 1e-8)


@pytest.mark.parametrize("name", [name for name in robots() if name != "coupled"])  # the force of a coupling is no wrench
def test_forces_of_loops_and_contacts_are_wrenches_that_external_takes(name):
    """Cut open, and held by the forces, the robot moves as before."""
    rng = fresh()
    tree, st = robot(name), state(robot(name), rng, 0.05)
    v, tau = ff.velocity_map(ff.close_loops(tree), st.q) @ st.u, rng.standard_normal(tree.nv)
    floats = "base" in tree.joint_names  # else there are too few motions for a contact
    s = ff.ConstraintSet(tree, [contacts.point("l11", (0.1, 0.0, 0.2), name="finger")] if floats else [])
    d = ff.constrained_dynamics(tree, st.q, v, tau, constraints=s)
    external = {"l11": d.forces["finger"]} if floats else None
    total = ff.inverse_dynamics(tree, st.q, v, d.a, external=external) - tau
    close(total, loop_loads(tree, st.q, d.forces), 1e-9, least=1.0)


def loop_loads(tree: ff.Model, q: np.ndarray, forces) -> np.ndarray:
    """Generalised forces (nv,) of the wrenches on frames b of loops, and of the opposite ones on frames a."""
    total = np.zeros(tree.nv)
    for loop in tree.loops:
        on_b, X_a, X_b = forces[loop.name], ff.frame_pose(tree, q, loop.frame_a), ff.frame_pose(tree, q, loop.frame_b)
        f, n = X_b[:3, :3] @ on_b[:3], X_b[:3, :3] @ on_b[3:]
        total += ff.frame_jacobian(tree, q, loop.frame_b).T @ on_b
        moment = n + np.cross(X_b[:3, 3] - X_a[:3, 3], f)
        total -= ff.frame_jacobian(tree, q, loop.frame_a, "mixed").T @ np.concatenate([f, moment])
    return total


def test_loops_below_contacts_that_depend_on_each_other():
    """All links are held: forces of contacts are the least ones, those of the loop, which come first, follow from them."""
    rng = fresh()
    model, q = random_linkage(rng, (MASKS["point"],), n=5, kinds=("revolute",))
    held = ff.ConstraintSet(model, [contacts.surface(name) for name in model.link_names if name.startswith("link")])
    v, tau = np.zeros(model.nv), rng.standard_normal(model.nv)
    d = ff.constrained_dynamics(model, q, v, tau, constraints=held)
    loads = {name: d.forces[name] for name in held.item_names}
    total = ff.inverse_dynamics(model, q, v, d.a, external=loads) - tau
    close(total, loop_loads(model, q, d.forces), 1e-8, least=1.0)
    assert np.abs(d.a).max() < 1e-7
