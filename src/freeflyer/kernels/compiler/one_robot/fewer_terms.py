"""Numbers and states of a robot that give the same results by fewer terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from freeflyer.kernels.compiler.one_robot.expressions import Scalar
from freeflyer.kernels.entries import CORIOLIS, CRBA, LOADED_RNEA, MINV, PROJECTED_INVERSE_DYNAMICS, RNEA, SHARED_MINV
from freeflyer.kernels.model import layout as L

OF_ACCELERATIONS = {x.source for x in (RNEA, LOADED_RNEA, PROJECTED_INVERSE_DYNAMICS)}  # which take inertias as moments of mass
OF_SHAPE = {x.source for x in (CRBA, MINV, SHARED_MINV, CORIOLIS)}  # of a tree, without gravity
SYMMETRIC = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
INERTIA = (L.MASS, *range(L.MOMENT, L.SECOND + 6))


def records(topology: Sequence[int]) -> list[Sequence[int]]:
    at = range(L.HEADER, L.HEADER + L.BODY_INTS * (topology[L.N_BODIES] + 1), L.BODY_INTS)
    return [topology[k : k + L.BODY_INTS] for k in at]


def move_axial_masses(topology: Sequence[int], p: list[Scalar]) -> None:
    """Parameters of bodies, in which mass on the axis of a turning joint belongs to the joint's parent.

    Turning does not move it (M. Gautier, W. Khalil, Direct calculation of minimum set of inertial parameters of serial robots,
    1990). Inertias that stay inputs are left alone."""
    bodies = records(topology)
    for i in range(len(bodies) - 1, 0, -1):
        at, to = (L.BODIES + L.BODY_FLOATS * k for k in (i, bodies[i][L.PARENT]))
        numbers = *p[at : at + L.BODY_FLOATS], *(p[to + k] for k in INERTIA)
        slides = any(p[at + k] != 0.0 for k in (L.SLIDE, L.SLIDE_OFFSET))
        if bodies[i][L.KIND] != L.SCREW or slides or any(type(x) is not float for x in numbers):
            continue
        z, x = p[at + L.ROTATION + 2 : at + L.TRANSLATION : 3], p[at + L.TRANSLATION : at + L.TRANSLATION + 3]
        mass, moment, second = (p[at + k] for k in (L.MASS, L.MOMENT + 2, L.SECOND + 5))
        p[at + L.MASS] = p[at + L.MOMENT + 2] = p[at + L.SECOND + 5] = 0.0
        p[to + L.MASS] += mass
        for k in range(3):
            p[to + L.MOMENT + k] += mass * x[k] + moment * z[k]
        for k, (r, c) in enumerate(SYMMETRIC):
            p[to + L.SECOND + k] += mass * x[r] * x[c] + moment * (x[r] * z[c] + z[r] * x[c]) + second * z[r] * z[c]


def place_at_origin(topology: Sequence[int], q: list[Scalar]) -> None:
    """A configuration whose joints between a body and the world are at zero, as far as no other joint has their coordinates.

    Mass and Coriolis matrices of a tree do not depend on them."""
    bodies = records(topology)[1:]
    users = Counter(body[L.FIRST_Q] for body in bodies)
    for body in bodies:
        if body[L.PARENT] == 0 and users[first := body[L.FIRST_Q]] == 1:
            quaternion = body[L.KIND] in L.QUATERNION
            rest = [0.0] * body[L.COLUMN_COUNT] + [1.0] * quaternion
            q[first : first + len(rest)] = rest
