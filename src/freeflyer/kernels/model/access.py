"""Where the records of a compiled model's bodies lie, and numbers of several bodies at once."""

from freeflyer.kernels.backend import LANES, like, load_int, number_row
from freeflyer.kernels.model.layout import BODIES, BODY_FLOATS, BODY_INTS, HEADER, ORDER_AT, SINES_AT, TILE, TILES_AT


def body_ints(i):
    """Where body i's record begins in topology."""
    return HEADER + BODY_INTS * i


def body_floats(i):
    """Where body i's record begins in parameters."""
    return BODIES + BODY_FLOATS * i


def by_depth(topology, k):
    """Body number k, counted by depth: neighbours in this order are rarely parent and child."""
    return load_int(topology, load_int(topology, ORDER_AT) + k)


def numbers_at(topology, i):
    """Where the first number of body i's record lies among the tiles of parameters; the others follow, LANES apart."""
    return load_int(topology, TILES_AT) + LANES * TILE * (i >> 3) + (i & 7)


def numbers3(work, parameters, at):
    """Three numbers, from `at` on, of as many bodies as a row scalar of work holds."""
    return tuple(number_row(work, parameters, at + LANES * k) for k in range(3))


def joint_row(topology):
    """The length of work's first three rows: of every body's joint (entry i is body i's) coordinate, sine, cosine."""
    return load_int(topology, SINES_AT) + LANES


def like3(s, a):
    """Numbers as scalars of the type of s."""
    return tuple(like(s, x) for x in a)
