"""Pure dual quaternions as pairs (primary, dual) of 3-vectors, and bodies in them: numbers in brackets are those of the dual
quaternion paper."""

from freeflyer.kernels.backend.buffers import load
from freeflyer.kernels.marks import inlined
from freeflyer.kernels.math.algebra import add, cross, load3, load6, scale, sym_apply
from freeflyer.kernels.model.layout import COM, INERTIA, MASS


@inlined
def translate(p, h):
    """Ad(1 + eps p / 2) h: h, given about a point, about the point from which p leads there."""
    return h[0], add(h[1], cross(p, h[0]))


@inlined
def translate_back(p, h):
    """Ad(1 - eps p / 2) h: the inverse of `translate`."""
    return h[0], add(h[1], cross(h[0], p))


@inlined
def com_of(parameters, at):
    """Centre of mass of the body whose record begins at `at`, from its origin in its axes."""
    return load3(parameters, at + COM)


@inlined
def body_wrench_rate(parameters, at, omega, twist, rate):
    """Psi rate + S(omega) twist: (25) and (26) as one wrench force + eps torque at the centre of mass.

    For the body's own angular velocity omega, `twist` being its twist, that is what its motion takes; for any other twist it is the
    product with (44) of Gauss's principle, which is linear in it.
    """
    m, I = load(parameters, at + MASS), load6(parameters, at + INERTIA)
    force = scale(m, add(rate[1], cross(omega, twist[1])))
    return force, add(sym_apply(I, rate[0]), cross(twist[0], sym_apply(I, omega)))
