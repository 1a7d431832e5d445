"""Additional terms of derivatives by q for wrenches held fixed in other axes than their frame's.

A wrench held in its frame's axes turns with its body, as all forces in inverse.py do: a step along column k changes it by S_k x* F.
One held in world axes does not. With (f, m) about the frame's origin, at x from the root body's, beside that change it gains

    MIXED: e_k = -(w_k x f, w_k x m) about the frame's origin         WORLD: e_k = -S_k x* F

for every column k that moves the frame, so d tau_i / d q_k, of tau that is less by S_i . F, changes by -S_i . e_k.
"""

from freeflyer.kernels.backend import inlined, kernel, load, load_int, load_row, row_step, store, store_row
from freeflyer.kernels.derivatives.inverse import DIRECTION_RECORD, S, areas
from freeflyer.kernels.math.algebra import add, cross, subtract
from freeflyer.kernels.math.spatial import force_cross, load_spatial
from freeflyer.kernels.model.layout import COLUMN_ROW
from freeflyer.kernels.tree.columns import put_column, row_dot, scalar_column
from freeflyer.kernels.tree.composite import column_range, parent_of
from freeflyer.kernels.tree.frames import BODY, MIXED, frame_body
from freeflyer.kernels.tree.wrenches import WRENCH, root_wrench, wrench_frame


@inlined
def held_size(topology, count):
    """Entries of a table that `put_held` writes."""
    return WRENCH * load_int(topology, COLUMN_ROW) * count


@kernel
def put_held(topology, parameters, work, wrenches, count, expressed, table, at):
    """Writes six rows over columns for each wrench, from `at` on: -e."""
    directions, _, _, _, _, _ = areas(topology)
    stride = load_int(topology, COLUMN_ROW)
    for k in range(count):
        to = at + WRENCH * stride * k
        for c in range(WRENCH * stride):
            store(table, to + c, 0.0)
        if expressed != BODY:
            b, F, x = root_wrench(topology, parameters, work, wrenches, k, expressed)
            f, m = F[0], subtract(F[1], cross(x, F[0]))
            while b > 0:
                first, end = column_range(topology, b)
                for c in range(first, end):
                    V = load_spatial(work, directions + DIRECTION_RECORD * c)
                    e = force_cross(V, F)
                    if expressed == MIXED:
                        turned = cross(V[1], f)
                        e = turned, add(cross(V[1], m), cross(x, turned))
                    put_column(table, to, stride, c, e)
                b = parent_of(topology, b)


@kernel
def add_held(topology, table, at, count, dq, width):
    """Rows of dq, `width` long, over all columns, grow by what the wrenches gain."""
    stride, step = load_int(topology, COLUMN_ROW), row_step(table)
    for k in range(count):
        rows, body = at + WRENCH * stride * k, frame_body(topology, wrench_frame(topology, k))
        _, reach = column_range(topology, body)
        full, b = reach - reach % step, body
        while b > 0:
            first, end = column_range(topology, b)
            for i in range(first, end):
                s, to = scalar_column(table, S * stride, stride, i), width * i
                for c in range(0, full, step):
                    store_row(dq, to + c, load_row(dq, to + c) + row_dot(s, table, rows + c, stride))
                for c in range(full, reach):
                    e = scalar_column(table, rows, stride, c)
                    x = s[0] * e[0] + s[1] * e[1] + s[2] * e[2] + s[3] * e[3] + s[4] * e[4] + s[5] * e[5]
                    store(dq, to + c, load(dq, to + c) + x)
            b = parent_of(topology, b)
