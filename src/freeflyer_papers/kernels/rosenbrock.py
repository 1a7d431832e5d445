"""A step of a Rosenbrock method: of order 4, L-stable, with an error estimate of order 3; for stiff equations.

Source: E. Hairer and G. Wanner, "Solving Ordinary Differential Equations II", 2nd edition, IV.7, RODAS. The Jacobian is made of
differences. Works at the ports do not act on the motion: their rows are solved last, without being in the matrix.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, row_width, store, workspace
from freeflyer.kernels.backend.pack import select_less
from freeflyer.kernels.marks import inlined, kernel
from freeflyer.kernels.math.dense import invert
from freeflyer_papers.kernels.hopper import rates
from freeflyer_papers.kernels.layout import PORTS, TOLERANCE

STAGES, WEIGHTS, DIAGONAL = 6, 5, 0.25
# of each stage, how much of the ones before it adds to the state
STATE_WEIGHTS = (
    (0.0, 0.0, 0.0, 0.0, 0.0),
    (1.544, 0.0, 0.0, 0.0, 0.0),
    (0.9466785280815826, 0.2557011698983284, 0.0, 0.0, 0.0),
    (3.314825187068521, 2.896124015972201, 0.9986419139977817, 0.0, 0.0),
    (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 0.0),
    (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1.0),
)
# and, by the length of the step, to the rates
RATE_WEIGHTS = (
    (0.0, 0.0, 0.0, 0.0, 0.0),
    (-5.6688, 0.0, 0.0, 0.0, 0.0),
    (-2.430093356833875, -0.2063599157091915, 0.0, 0.0, 0.0),
    (-0.1073529058151375, -9.594562251023355, -20.47028614809616, 0.0, 0.0),
    (7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160, 0.0),
    (8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054),
)
DIFFERENCE = 1e-7  # m, rad and their rates: in Jacobians, whose error then changes steps by less than 1e-8 of the error allowed


@inlined
def put_weights(weights, k, of_state, of_rates):
    """Those of stage k, as entries that a loop can number."""
    for s in range(2):
        at, five = WEIGHTS * (2 * k + s), of_state if s == 0 else of_rates
        store(weights, at, five[0])
        store(weights, at + 1, five[1])
        store(weights, at + 2, five[2])
        store(weights, at + 3, five[3])
        store(weights, at + 4, five[4])


@inlined
def step_workspaces(like, n):
    """(state, rates, Jacobian, inverse, stages, right side, weights) for `step` of n unknowns and the ports."""
    total, weights = n + PORTS, workspace(like, 2 * STAGES * WEIGHTS)
    put_weights(weights, 0, STATE_WEIGHTS[0], RATE_WEIGHTS[0])
    put_weights(weights, 1, STATE_WEIGHTS[1], RATE_WEIGHTS[1])
    put_weights(weights, 2, STATE_WEIGHTS[2], RATE_WEIGHTS[2])
    put_weights(weights, 3, STATE_WEIGHTS[3], RATE_WEIGHTS[3])
    put_weights(weights, 4, STATE_WEIGHTS[4], RATE_WEIGHTS[4])
    put_weights(weights, 5, STATE_WEIGHTS[5], RATE_WEIGHTS[5])
    return (
        workspace(like, total), workspace(like, total), workspace(like, total * n),
        workspace(like, n * row_width(like, 2 * n)), workspace(like, STAGES * total), workspace(like, total), weights,
    )  # fmt: skip


@kernel
def put_jacobian(topology, parameters, record, x, n, work, body, spaces):
    """Derivatives of all rates by the n unknowns, and the rates at x."""
    y, f, J, _, _, b, _ = spaces
    total = n + PORTS
    for i in range(total):
        store(y, i, load(x, i))
    rates(topology, parameters, record, y, work, body, f)
    for j in range(n):
        moved = load(x, j) + DIFFERENCE
        store(y, j, moved)
        rates(topology, parameters, record, y, work, body, b)
        share = 1.0 / (moved - load(x, j))
        for i in range(total):
            store(J, n * i + j, share * (load(b, i) - load(f, i)))
        store(y, j, load(x, j))


@inlined
def put_stage(k, h, inverse_step, n, stride, spaces):
    """Stage k, the rates at its state being in b."""
    _, _, J, W, stages, b, weights = spaces
    total, first = n + PORTS, WEIGHTS * (2 * k + 1)
    for i in range(total):
        y = load(b, i)
        for s in range(k):
            y = y + load(weights, first + s) * inverse_step * load(stages, total * s + i)
        store(b, i, y)
    for i in range(n):
        y = load(W, stride * i + n) * load(b, 0)
        for j in range(1, n):
            y = y + load(W, stride * i + n + j) * load(b, j)
        store(stages, total * k + i, y)
    for i in range(n, total):
        y = load(b, i)
        for j in range(n):
            y = y + load(J, n * i + j) * load(stages, total * k + j)
        store(stages, total * k + i, DIAGONAL * h * y)


@kernel
def step(topology, parameters, record, x, h, n, work, body, spaces, out):
    """out: the state a time h after x; the answer is the mean square of the error by (1 + |x|) tolerance."""
    y, f, J, W, stages, b, weights = spaces
    total, stride = n + PORTS, row_width(W, 2 * n)
    inverse_step = 1.0 / h
    put_jacobian(topology, parameters, record, x, n, work, body, spaces)
    for i in range(n):
        for j in range(n):
            store(W, stride * i + j, -load(J, n * i + j))
        store(W, stride * i + i, inverse_step / DIAGONAL - load(J, n * i + i))
    invert(W, 0, n, stride, 0.0 * h)
    for k in range(STAGES):
        for i in range(total):
            if k == 0:
                store(b, i, load(f, i))
            else:
                to = load(x, i)
                for s in range(k):
                    to = to + load(weights, 2 * WEIGHTS * k + s) * load(stages, total * s + i)
                store(y, i, to)
        if k > 0:
            rates(topology, parameters, record, y, work, body, b)
        put_stage(k, h, inverse_step, n, stride, spaces)
    return finish(x, record, n, spaces, out)


@inlined
def finish(x, record, n, spaces, out):
    """The state after the last stage, and its error."""
    y, _, _, _, stages, _, _ = spaces
    total = n + PORTS
    from_last, squares = total * (STAGES - 1), 0.0 * load(x, 0)
    for i in range(total):
        error = load(stages, from_last + i)
        to = load(y, i) + error
        store(out, i, to)
        share = error / (1.0 + select_less(to, 0.0, -to, to))
        squares = squares + share * share
    allowed = load(record, TOLERANCE)
    return squares / (total * allowed * allowed)
