"""Several steps in time under held forces, by schemes of fixed steps (dynamics/integrators.py): explicit and semi-implicit Euler,
and the commutator-free method of order 4 of Celledoni, Marthinsen and Owren (2003)."""

from freeflyer.kernels.backend import copy_entries, inlined, kernel, load, load_int, release, store, taken, workspace
from freeflyer.kernels.linkages.projection import projected_forward_dynamics
from freeflyer.kernels.linkages.steps import move_closed
from freeflyer.kernels.model.joints.kinds import integrate
from freeflyer.kernels.model.layout import N_INDEPENDENT, N_Q, N_V, TABLE_AT
from freeflyer.kernels.tree.aba import aba
from freeflyer.kernels.tree.factor import shared_forward_dynamics

SEMI_IMPLICIT, EXPLICIT, RK4 = 0, 1, 2


def _make_steps(accelerate, move, count_at):
    """The kernel of steps with these accelerations and moves q (+) dv; count_at: where topology says how many rates there are."""

    @inlined
    def moved(topology, parameters, q, dv, n, s1, v1, s2, v2, s3, v3, s4, v4, out):
        """out = q (+) (s1 v1 + s2 v2 + s3 v3 + s4 v4)."""
        for j in range(n):
            store(dv, j, (s1 * load(v1, j) + s2 * load(v2, j)) + (s3 * load(v3, j) + s4 * load(v4, j)))
        room = taken(q)
        move(topology, parameters, q, dv, out)
        release(q, room)

    @inlined
    def put_rates(topology, parameters, q, v, tau, a):
        room = taken(q)
        accelerate(topology, parameters, q, v, tau, a)
        release(q, room)

    @inlined
    def added(v, s, a, n, out):
        for j in range(n):
            store(out, j, load(v, j) + s * load(a, j))

    @kernel
    def rk4(topology, parameters, q, v, tau, h, q_next, v_next):
        nq, n = load_int(topology, N_Q), load_int(topology, count_at)
        dv, total = workspace(q, n + 1), workspace(q, n + 1)
        a, v2, v3, v4 = workspace(q, n + 1), workspace(q, n + 1), workspace(q, n + 1), workspace(q, n + 1)
        x, half = workspace(q, nq + 1), workspace(q, nq + 1)
        put_rates(topology, parameters, q, v, tau, a)
        added(v, 0.5 * h, a, n, v2)
        copy_entries(a, n, total)
        moved(topology, parameters, q, dv, n, 0.5 * h, v, 0.0, v, 0.0, v, 0.0, v, half)
        put_rates(topology, parameters, half, v2, tau, a)
        added(v, 0.5 * h, a, n, v3)
        added(total, 2.0, a, n, total)
        moved(topology, parameters, q, dv, n, 0.5 * h, v2, 0.0, v, 0.0, v, 0.0, v, x)
        put_rates(topology, parameters, x, v3, tau, a)
        added(v, h, a, n, v4)
        added(total, 2.0, a, n, total)
        moved(topology, parameters, half, dv, n, h, v3, -0.5 * h, v, 0.0, v, 0.0, v, x)
        put_rates(topology, parameters, x, v4, tau, a)
        added(total, 1.0, a, n, total)
        s = h / 12.0
        moved(topology, parameters, q, dv, n, 3.0 * s, v, 2.0 * s, v2, 2.0 * s, v3, -s, v4, x)
        moved(topology, parameters, x, dv, n, -s, v, 2.0 * s, v2, 2.0 * s, v3, 3.0 * s, v4, q_next)
        added(v, h / 6.0, total, n, v_next)

    @kernel
    def euler(topology, parameters, q, v, tau, h, implicit, q_next, v_next):
        n = load_int(topology, count_at)
        dv, a = workspace(q, n + 1), workspace(q, n + 1)
        put_rates(topology, parameters, q, v, tau, a)
        added(v, h, a, n, v_next)
        for j in range(n):
            store(dv, j, h * load(v_next, j) if implicit else h * load(v, j))
        move(topology, parameters, q, dv, q_next)

    @kernel
    def steps(topology, parameters, q, v, tau, settings, scheme, qs, vs):
        """qs (samples, nq), vs (samples, n): the states after 1, 2, ... steps of the length in settings (1,) under tau."""
        nq, n, h = load_int(topology, N_Q), load_int(topology, count_at), load(settings, 0)
        x, y, x_next, y_next = workspace(q, nq + 1), workspace(q, n + 1), workspace(q, nq + 1), workspace(q, n + 1)
        copy_entries(q, nq, x)
        copy_entries(v, n, y)
        room = taken(q)
        for k in range(load_int(topology, load_int(topology, TABLE_AT))):
            if scheme == RK4:
                rk4(topology, parameters, x, y, tau, h, x_next, y_next)
            else:
                euler(topology, parameters, x, y, tau, h, scheme == SEMI_IMPLICIT, x_next, y_next)
            copy_entries(x_next, nq, x)
            copy_entries(y_next, n, y)
            for i in range(nq):
                store(qs, nq * k + i, load(x, i))
            for j in range(n):
                store(vs, n * k + j, load(y, j))
            release(q, room)

    return steps


tree_steps = _make_steps(aba, integrate, N_V)
shared_steps = _make_steps(shared_forward_dynamics, integrate, N_V)
closed_steps = _make_steps(projected_forward_dynamics, move_closed, N_INDEPENDENT)
