"""Couplings of two joints, q1 = polynomial(q2), or of one with a constant: value, slope and curvature."""

from freeflyer.kernels.backend.buffers import load, load_int
from freeflyer.kernels.marks import inlined
from freeflyer.kernels.model.layout import (
    COUPLING_INTS, COUPLING_RATIOS, COUPLINGS_AT, FIRST_POSITION, N_COEFFICIENTS, NUMBERS_AT, SECOND_POSITION,
)


@inlined
def coupled_position(topology, parameters, q, at, numbers):
    """Position of a coupling's joint, from its entry of q (record entry `at`), ratio and offset."""
    return load(parameters, numbers) * load(q, load_int(topology, at)) + load(parameters, numbers + 1)


@inlined
def polynomial(parameters, first, count, x):
    """(value, slope, curvature) of the polynomial whose coefficients begin at `first`, constant first."""
    p, slope, bend = 0.0 * x + load(parameters, first + count - 1), 0.0 * x, 0.0 * x
    for k in range(count - 2, -1, -1):
        bend = bend * x + 2.0 * slope
        slope = slope * x + p
        p = p * x + load(parameters, first + k)
    return p, slope, bend


@inlined
def coupling_value(topology, parameters, q, k):
    """(record, first number, residual, slope, curvature) of coupling k: q1 - polynomial(q2)."""
    at = load_int(topology, COUPLINGS_AT) + COUPLING_INTS * k
    numbers, count = load_int(topology, at + NUMBERS_AT), load_int(topology, at + N_COEFFICIENTS)
    one = coupled_position(topology, parameters, q, at + FIRST_POSITION, numbers)
    two = 0.0 * one
    if load_int(topology, at + SECOND_POSITION) >= 0:
        two = coupled_position(topology, parameters, q, at + SECOND_POSITION, numbers + 2)
    p, slope, bend = polynomial(parameters, numbers + COUPLING_RATIOS, count, two)
    return at, numbers, one - p, slope, bend
