"""Several steps in time under held forces, by schemes of fixed steps (dynamics/integrators.py): explicit and semi-implicit Euler,
and the commutator-free method of order 4 of Celledoni, Marthinsen and Owren (2003). Under a constraint set the drift of each step
is removed."""

from freeflyer.kernels.backend import (
    copy_entries, from_entry, kernel, load, load_int, put_sum, release, select_less, store, taken, workspace, zero_workspace,
)
from freeflyer.kernels.contacts.dynamics import set_dynamics
from freeflyer.kernels.contacts.projection import set_projection
from freeflyer.kernels.contacts.rows import table_int
from freeflyer.kernels.linkages.blocks import gather_independent, linkage, scatter_independent, whole_velocity
from freeflyer.kernels.linkages.projection import projected_forward_dynamics
from freeflyer.kernels.linkages.steps import move_closed
from freeflyer.kernels.model.joints.kinds import integrate
from freeflyer.kernels.model.layout import (
    ANCHOR_STEP, CONTRADICTION, N_INDEPENDENT, N_ITEMS, N_Q, N_SET_ROWS, N_STEPS, N_V, VERDICT_SIZE,
)
from freeflyer.kernels.tree.aba import aba
from freeflyer.kernels.tree.factor import shared_forward_dynamics

SEMI_IMPLICIT, EXPLICIT, RK4 = 0, 1, 2


def _make_step(accelerate, move, count_at):
    """The kernel of one step with these accelerations and moves q (+) dv; count_at: where topology says how many rates there are.
    """

    def moved(topology, parameters, q, dv, n, s1, v1, s2, v2, s3, v3, s4, v4, out):
        """out = q (+) (s1 v1 + s2 v2 + s3 v3 + s4 v4)."""
        for j in range(n):
            store(dv, j, (s1 * load(v1, j) + s2 * load(v2, j)) + (s3 * load(v3, j) + s4 * load(v4, j)))
        room = taken(q)
        move(topology, parameters, q, dv, out)
        release(q, room)

    def put_rates(topology, parameters, q, v, tau, a, found):
        room = taken(q)
        accelerate(topology, parameters, q, v, tau, a, found)
        release(q, room)

    @kernel
    def rk4(topology, parameters, q, v, tau, h, first, rest, q_next, v_next):
        nq, n = load_int(topology, N_Q), load_int(topology, count_at)
        dv, total = workspace(q, n + 1), workspace(q, n + 1)
        a, v2, v3, v4 = workspace(q, n + 1), workspace(q, n + 1), workspace(q, n + 1), workspace(q, n + 1)
        x, half = workspace(q, nq + 1), workspace(q, nq + 1)
        put_rates(topology, parameters, q, v, tau, a, first)
        put_sum(v, 0.5 * h, a, n, v2)
        copy_entries(a, n, total)
        moved(topology, parameters, q, dv, n, 0.5 * h, v, 0.0, v, 0.0, v, 0.0, v, half)
        put_rates(topology, parameters, half, v2, tau, a, rest)
        put_sum(v, 0.5 * h, a, n, v3)
        put_sum(total, 2.0, a, n, total)
        moved(topology, parameters, q, dv, n, 0.5 * h, v2, 0.0, v, 0.0, v, 0.0, v, x)
        put_rates(topology, parameters, x, v3, tau, a, rest)
        put_sum(v, h, a, n, v4)
        put_sum(total, 2.0, a, n, total)
        moved(topology, parameters, half, dv, n, h, v3, -0.5 * h, v, 0.0, v, 0.0, v, x)
        put_rates(topology, parameters, x, v4, tau, a, rest)
        put_sum(total, 1.0, a, n, total)
        s = h / 12.0
        moved(topology, parameters, q, dv, n, 3.0 * s, v, 2.0 * s, v2, 2.0 * s, v3, -s, v4, x)
        moved(topology, parameters, x, dv, n, -s, v, 2.0 * s, v2, 2.0 * s, v3, 3.0 * s, v4, q_next)
        put_sum(v, h / 6.0, total, n, v_next)

    @kernel
    def euler(topology, parameters, q, v, tau, h, implicit, first, q_next, v_next):
        n = load_int(topology, count_at)
        dv, a = workspace(q, n + 1), workspace(q, n + 1)
        put_rates(topology, parameters, q, v, tau, a, first)
        put_sum(v, h, a, n, v_next)
        for j in range(n):
            store(dv, j, h * load(v_next, j) if implicit else h * load(v, j))
        move(topology, parameters, q, dv, q_next)

    @kernel
    def step(topology, parameters, q, v, tau, h, scheme, first, rest, q_next, v_next):
        """first, rest: room for what else the accelerations at the beginning, and those within the step, give."""
        if scheme == RK4:
            rk4(topology, parameters, q, v, tau, h, first, rest, q_next, v_next)
        else:
            euler(topology, parameters, q, v, tau, h, scheme == SEMI_IMPLICIT, first, q_next, v_next)

    return step


def put_sample(x, n, samples, k):
    """Sample k of samples (..., n) becomes x."""
    copy_entries(x, n, from_entry(samples, n * k))


def set_accelerations(topology, parameters, q, v, tau, a, found):
    """found: forces (items, 6), multipliers (r,), and the larger of its last number and the contradiction."""
    items, rows = table_int(topology, N_ITEMS), table_int(topology, N_SET_ROWS)
    normals, verdict, last = workspace(q, items + 1), workspace(q, table_int(topology, VERDICT_SIZE)), 6 * items + rows
    set_dynamics(topology, parameters, q, v, tau, a, found, from_entry(found, 6 * items), normals, verdict)
    worst, ratio = load(found, last), load(verdict, CONTRADICTION)
    store(found, last, select_less(ratio, worst, worst, ratio))


@kernel
def closed_accelerations(topology, parameters, q, u, tau, a, found):
    """As `set_accelerations`, along the independent rates."""
    nv = load_int(topology, N_V)
    work, J, inverses = linkage(topology, parameters, q)
    v, forces, whole = whole_velocity(topology, work, J, inverses, u), zero_workspace(work, nv), workspace(q, nv + 1)
    scatter_independent(topology, tau, forces)
    set_accelerations(topology, parameters, q, v, forces, whole, found)
    gather_independent(topology, whole, a)


@kernel
def project_closed(topology, parameters, q, u, settings, q_near, u_near, gap, verdict):
    """As `set_projection`, in independent rates."""
    work, J, inverses = linkage(topology, parameters, q)
    near = workspace(q, load_int(topology, N_V) + 1)
    v = whole_velocity(topology, work, J, inverses, u)
    set_projection(topology, parameters, q, v, settings, q_near, near, gap, verdict)
    gather_independent(topology, near, u_near)


def _make_steps(accelerate, move, count_at, project=None):
    """The kernel of steps of a free robot, or, with the projection of a state, under a constraint set."""
    step = _make_step(accelerate, move, count_at)

    @kernel
    def steps(topology, parameters, q, v, tau, settings, scheme, qs, vs, *of_set):
        """qs (samples, nq), vs (samples, n): the states after 1, 2, ... steps under tau. settings: the length of a step, anchors.
        Under a set also forces (samples, 6 items) and multipliers (samples, r) at the beginning of each step; facts (samples, 2):
        the worst contradiction, the square of the largest gap."""
        nq, n, h, held = load_int(topology, N_Q), load_int(topology, count_at), load(settings, ANCHOR_STEP), len(of_set) > 0
        items, rows = (table_int(topology, N_ITEMS), table_int(topology, N_SET_ROWS)) if held else (0, 0)
        x, y, x_next, y_next = workspace(q, nq + 1), workspace(q, n + 1), workspace(q, nq + 1), workspace(q, n + 1)
        last = 6 * items + rows
        first, rest, gap = workspace(q, last + 8), workspace(q, last + 8), workspace(q, 8)
        verdict = workspace(q, table_int(topology, VERDICT_SIZE) if held else 1)
        copy_entries(q, nq, x)
        copy_entries(v, n, y)
        room = taken(q)
        for k in range(table_int(topology, N_STEPS if held else 0)):
            store(first, last, 0.0)
            store(rest, last, 0.0)
            step(topology, parameters, x, y, tau, h, scheme, first, rest, x_next, y_next)
            if held:
                project(topology, parameters, x_next, y_next, settings, x, y, gap, verdict)
                forces, multipliers, facts = of_set
                put_sample(first, 6 * items, forces, k)
                put_sample(from_entry(first, 6 * items), rows, multipliers, k)
                worst, other, after = load(first, last), load(rest, last), load(verdict, CONTRADICTION)
                worst = select_less(worst, other, other, worst)
                store(facts, 2 * k, select_less(worst, after, after, worst))
                store(facts, 2 * k + 1, load(gap, 0))
            else:
                copy_entries(x_next, nq, x)
                copy_entries(y_next, n, y)
            put_sample(x, nq, qs, k)
            put_sample(y, n, vs, k)
            release(q, room)

    return steps


def _alone(dynamics):
    """As accelerations under a constraint set, of which nothing else is found."""

    def accelerate(topology, parameters, q, v, tau, a, found):
        dynamics(topology, parameters, q, v, tau, a)

    return accelerate


tree_steps = _make_steps(_alone(aba), integrate, N_V)
shared_steps = _make_steps(_alone(shared_forward_dynamics), integrate, N_V)
closed_steps = _make_steps(_alone(projected_forward_dynamics), move_closed, N_INDEPENDENT)
set_steps = _make_steps(set_accelerations, integrate, N_V, set_projection)
closed_set_steps = _make_steps(closed_accelerations, move_closed, N_INDEPENDENT, project_closed)
