"""Constrained dynamics of robots with loops: as rows of a tree, and of closed models that stand."""

import freeflyer as ff
import numpy as np
import pytest
from closed_robots import robot, robots, state
from closeness import close, fresh
from constrained_samples import check_dense, random_set
from freeflyer import contacts


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
    for loop in tree.loops:
        on_b, X_a, X_b = d.forces[loop.name], ff.frame_pose(tree, st.q, loop.frame_a), ff.frame_pose(tree, st.q, loop.frame_b)
        f, n = X_b[:3, :3] @ on_b[:3], X_b[:3, :3] @ on_b[3:]
        total -= ff.frame_jacobian(tree, st.q, loop.frame_b).T @ on_b
        moment = n + np.cross(X_b[:3, 3] - X_a[:3, 3], f)
        total += ff.frame_jacobian(tree, st.q, loop.frame_a, "mixed").T @ np.concatenate([f, moment])
    close(total, np.zeros(tree.nv), 1e-9)
