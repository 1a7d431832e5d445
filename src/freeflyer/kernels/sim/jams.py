"""A start for contacts that jam: a foot that slides is stopped at once where friction presses it down (Painleve 1895).

If pushing along friction makes a normal impulse grow, no impulse lets the point slide on. The only one that meets the conditions
stops it. It is larger than all velocities over gains, so steps from small impulses do not lead there."""

from freeflyer.kernels.backend import kernel, load, row_width, store, zero_workspace
from freeflyer.kernels.math.dense import solve_one

SHARE = 1e-9  # of the diagonal, added to gains of rows that may depend on each other


@kernel
def put_firm(G, width, rows, limits, boxes, b, y):
    """Impulses y (rows,) that stop all limits and points, and none of dry friction; zeros if there are none."""
    stride = row_width(G, rows + 1)
    A, found = zero_workspace(G, rows * stride + 8), zero_workspace(G, stride + 8)
    for k in range(rows):
        firm = 0.0 if limits <= k < limits + boxes else 1.0
        for j in range(rows):
            store(A, stride * k + j, firm * load(G, width * k + j))
        store(A, stride * k + k, (1.0 - firm) + firm * (1.0 + SHARE) * load(G, width * k + k))
        store(A, stride * k + rows, -firm * load(b, k))
    regular = solve_one(A, rows, stride, found)
    for k in range(rows):
        store(y, k, load(found, k) if regular else 0.0)
