"""Points of a robot that may touch the ground: planes below them, gaps, and their velocities as rows.

A point is itself, the lowest point of a ball about it, or that of the edge of a disc about it: c = p - radius n for a ball with the
ground's normal n, c = p - radius (n - (a . n) a) / |n - (a . n) a| for a disc with the axis a.
"""

from freeflyer.kernels.backend import kernel, lane, lanes, like, load, load_int, select_less, sqrt, with_lane
from freeflyer.kernels.contacts.rows import table_int
from freeflyer.kernels.math.algebra import (
    add, add_scaled, compose, cross, dot, load3, rotate, rotate_back, scale, store_entries, subtract,
)
from freeflyer.kernels.math.spatial import spatial_of
from freeflyer.kernels.model.layout import TABLE_AT
from freeflyer.kernels.model.poses import pose_at, position, root_position, rotation
from freeflyer.kernels.sim.layout import (
    AXIS, DISC, GIVEN, GRID, GRID_FLOATS, GRID_NUMBERS, GRID_X, GRID_Y, HEIGHT, PLACE, PLANE_FLOATS, PLANES, POINT_FLOATS,
    POINT_FRAME, POINT_INTS, POINT_KIND, POINT_NUMBERS, POINTS_AT, RADIUS, SURFACE, TIP,
)
from freeflyer.kernels.tree.frames import frame_body, placement

EDGE_ON = 1e-9  # a disc that lies flat to this sine touches with its centre
FOOTS = 3  # times that the foot of the perpendicular from a point to a grid is looked up


def point_int(topology, n, k):
    return load_int(topology, load_int(topology, TABLE_AT) + table_int(topology, POINTS_AT) + POINT_INTS * n + k)


def point_number(topology, parameters, n, k):
    return load(parameters, table_int(topology, POINT_NUMBERS) + POINT_FLOATS * n + k)


def point_share(topology, parameters, settings, n, k, ground):
    """Friction or restitution of point n, if it has its own, else that of the ground in the settings."""
    own = point_number(topology, parameters, n, k)
    return own if own >= 0.0 else load(settings, ground)


def cell_of(x, first, step, count):
    """(cell of a grid's axis, how far in it) of a coordinate; beyond the grid its nearest edge."""
    place = min(max((x - first) / step, 0.0), 1.0 * (count - 1))
    k = 0
    while k < count - 2 and place >= 1.0 * (k + 1):
        k += 1
    return k, place - 1.0 * k


def grid_plane(topology, parameters, height, x, y):
    """Normal and offset of the plane that touches the grid's surface above (x, y): heights are bilinear in a cell."""
    at, nx, ny = table_int(topology, GRID_NUMBERS), table_int(topology, GRID_X), table_int(topology, GRID_Y)
    x0, y0, dx, dy = load(parameters, at), load(parameters, at + 1), load(parameters, at + 2), load(parameters, at + 3)
    i, s = cell_of(x, x0, dx, nx)
    j, t = cell_of(y, y0, dy, ny)
    corner = at + GRID_FLOATS + ny * i + j
    a, b = load(parameters, corner), load(parameters, corner + 1)
    c, d = load(parameters, corner + ny), load(parameters, corner + ny + 1)
    z = height + (1.0 - s) * ((1.0 - t) * a + t * b) + s * ((1.0 - t) * c + t * d)
    slope_x = ((1.0 - t) * (c - a) + t * (d - b)) / dx if x0 <= x <= x0 + dx * (nx - 1) else 0.0
    slope_y = ((1.0 - s) * (b - a) + s * (d - c)) / dy if y0 <= y <= y0 + dy * (ny - 1) else 0.0
    size = 1.0 / sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
    n = (-slope_x * size, -slope_y * size, size)
    return *n, dot(n, (x, y, z))


def grid_planes(topology, parameters, height, x, y):
    """(normal, offset) of `grid_plane` in every lane."""
    a, b, c, d = like(x, 0.0), like(x, 0.0), like(x, 0.0), like(x, 0.0)
    for i in range(lanes(x)):
        found = grid_plane(topology, parameters, lane(height, i), lane(x, i), lane(y, i))
        a, b, c, d = with_lane(a, i, found[0]), with_lane(b, i, found[1]), with_lane(c, i, found[2]), with_lane(d, i, found[3])
    return (a, b, c), d


def plane_below(topology, parameters, settings, n, p):
    """(normal, offset d) of the plane normal . x = d that stands for the ground near point n at p, world axes."""
    surface, height = table_int(topology, SURFACE), load(settings, HEIGHT)
    if surface == GIVEN:
        at = PLANES + PLANE_FLOATS * n
        return load3(settings, at), load(settings, at + 3)
    zero = 0.0 * p[0]
    normal, offset = (zero, zero, 1.0 + zero), height + zero
    if surface == GRID:
        x, y = p[0], p[1]
        for _ in range(FOOTS):
            normal, offset = grid_planes(topology, parameters, height + zero, x, y)
            away = dot(normal, p) - offset
            x, y = p[0] - away * normal[0], p[1] - away * normal[1]
    return normal, offset


def point_place(topology, parameters, work, n):
    """(body, rotation of its frame, the frame's origin from the root body's, point n from there, what leads to the world)."""
    frame = point_int(topology, n, POINT_FRAME)
    i = frame_body(topology, frame)
    P, c = placement(topology, parameters, frame, load(work, pose_at(topology, work, 0)))
    R, x = rotation(topology, work, i), root_position(topology, work, i)
    out = subtract(position(topology, work, i), x)
    x, R = add(x, rotate(R, c)), compose(R, P)
    p = load3(parameters, table_int(topology, POINT_NUMBERS) + POINT_FLOATS * n + PLACE)
    return i, R, x, add(x, rotate(R, p)), out


def touching_point(topology, parameters, n, R, p, normal):
    """Where point n at p touches a plane."""
    kind, radius = point_int(topology, n, POINT_KIND), point_number(topology, parameters, n, RADIUS)
    down = scale(-radius, normal)
    if kind == DISC:
        a = rotate(R, load3(parameters, table_int(topology, POINT_NUMBERS) + POINT_FLOATS * n + AXIS))
        out = subtract(normal, scale(dot(a, normal), a))
        size = sqrt(dot(out, out))
        down = scale(select_less(EDGE_ON, size, -radius / size, 0.0 * size), out)
    return p if kind == TIP else add(p, down)


def tangents(n):
    """Two unit vectors at right angles to n and to each other; x and y for the vertical."""
    steep = n[0] * n[0]
    x = select_less(0.8, steep, -n[1] * n[0], 1.0 - steep)
    x = x, select_less(0.8, steep, 1.0 - n[1] * n[1], -n[0] * n[1]), select_less(0.8, steep, -n[1] * n[2], -n[0] * n[2])
    first = scale(1.0 / sqrt(dot(x, x)), x)
    return first, cross(n, first)


@kernel
def put_point(topology, parameters, work, settings, n, record):
    """Writes RECORD numbers of point n: gap, then in world axes from the root body's origin where it touches, the normal, two
    tangents, where its frame's origin is, and the frame's rotation."""
    _, R, x, p, out = point_place(topology, parameters, work, n)
    normal, offset = plane_below(topology, parameters, settings, n, add(p, out))
    c = touching_point(topology, parameters, n, R, p, normal)
    first, second = tangents(normal)
    gap = dot(normal, add(c, out)) - offset
    store_entries(record, RECORD * n, (gap, *c, *normal, *first, *second, *x, *R))


TOUCH, NORMAL, FIRST, SECOND, ORIGIN, TURN, RECORD = 1, 4, 7, 10, 13, 16, 25


def world_force(record, n, y, k):
    """The impulse of point n, whose rows begin at k, in world axes."""
    at = RECORD * n
    f = scale(load(y, k), load3(record, at + FIRST))
    return add_scaled(add_scaled(f, load(y, k + 1), load3(record, at + SECOND)), load(y, k + 2), load3(record, at + NORMAL))


def point_wrench(record, n, f):
    """Wrench of the force f (world axes) of point n on its frame, in the frame's axes at its origin."""
    at = RECORD * n
    R, arm = tuple(load(record, at + TURN + k) for k in range(9)), subtract(load3(record, at + TOUCH), load3(record, at + ORIGIN))
    return spatial_of((*rotate_back(R, f), *rotate_back(R, cross(arm, f))))
