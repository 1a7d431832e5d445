"""Configuration, velocity and acceleration as symbols, and their consequences: rates and Jacobians of formulas."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import sympy as sp

from freeflyer.errors import InputError, format_value
from freeflyer.model import Model, instance, public
from freeflyer.symbolic.routines import formula, matrix


@dataclass(frozen=True)
class Variables:
    """Symbols of a robot's state.

    Args:
        position: tuple of symbols, configuration (nq).
        velocity, acceleration: tuple of symbols, generalised velocity and its rate (nv).
        rates: (nq, nv): the rate of the configuration is rates times velocity."""

    position: tuple[sp.Symbol, ...]
    velocity: tuple[sp.Symbol, ...]
    acceleration: tuple[sp.Symbol, ...]
    rates: sp.ImmutableMatrix


@public
def variables(model: Model) -> Variables:
    """Symbols of a robot's state on SE(3) x R^n: q0, q1, ..., v0, v1, ..., a0, a1, ..."""
    if model.reduction is not None:
        raise InputError(f"variables are those of a tree: give {model.name!r} with open loops, its attribute `tree`")
    q = sp.symbols(f"q:{model.nq}", real=True)
    v, a = (sp.symbols(f"{letter}:{model.nv}", real=True) for letter in "va")
    E = sp.zeros(model.nq, model.nv)
    for joint in model.joints:
        at, to = joint.iq, joint.iv
        if joint.nq == joint.nv:
            E[at : at + joint.nq, to : to + joint.nv] = sp.eye(joint.nq)
            continue
        turn = at + joint.nq - 4
        x, y, z, w = q[turn : turn + 4]  # its rate: q (omega, 0) / 2, omega in body axes
        turned = sp.Quaternion(w, x, y, z, norm=1).to_rotation_matrix(homogeneous=False)
        for k in range(joint.nq - 4):  # a free joint's position
            E[at + k, to : to + 3] = turned[k, :]
        rates = sp.Matrix([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]]) / 2
        E[turn : turn + 4, to + joint.nv - 3 : to + joint.nv] = rates
    return Variables(q, v, a, sp.ImmutableMatrix(E))


@public
def time_derivative(x: sp.Expr | sp.MatrixBase, variables: Variables) -> sp.Expr | sp.ImmutableMatrix:
    """Rate of a formula, or of each entry of a matrix, along the motion of the state.

    Args:
        x: Of positions and velocities; other symbols are constants.
    Returns: expression or matrix."""
    instance("variables", variables, Variables, "ff.symbolic.variables")
    if isinstance(x, sp.MatrixBase):
        return matrix("x", x).applyfunc(lambda e: time_derivative(e, variables))
    e = formula("x", x)
    if late := sorted(map(str, e.free_symbols & set(variables.acceleration))):
        raise InputError(f"the rate of an acceleration has no symbol: x holds {', '.join(late)}")
    rates = [*(variables.rates * sp.Matrix(variables.velocity)), *variables.acceleration]
    return sp.Add(*(sp.diff(e, s) * rate for s, rate in zip((*variables.position, *variables.velocity), rates) if e.has(s)))


@public
def jacobian(y: sp.Expr | Iterable[sp.Expr], variables: Variables) -> sp.ImmutableMatrix:
    """Jacobian J of functions of the configuration: their rate is J times the generalised velocity; matrix, (k, nv).

    Args:
        y: expression, or row, column or iterable of k, of positions."""
    instance("variables", variables, Variables, "ff.symbolic.variables")
    column = matrix("y", y if isinstance(y, sp.MatrixBase | Iterable) else [y])
    if 1 not in column.shape:
        raise InputError(f"y must be one formula or a row of some, got a matrix of shape {column.shape}")
    rates = {*variables.velocity, *variables.acceleration}
    if moving := sorted(map(str, column.free_symbols & rates)):
        raise InputError(f"y must be a function of the configuration alone, it holds {', '.join(moving)}")
    return sp.ImmutableMatrix(sp.Matrix(list(column)).jacobian(variables.position) * variables.rates)


@public
def coefficient_matrix(column: sp.MatrixBase | Iterable[sp.Expr], unknowns: Iterable[sp.Symbol]) -> tuple[sp.ImmutableMatrix, ...]:
    """Matrix M and rest r of formulas that are at most quadratic in some symbols: column = M unknowns + r.

    Args:
        column: row, column or iterable of k formulas.
        unknowns: iterable of m symbols. If two are multiplied, M is not unique, and each gets half of the other's coefficient.
    Returns: tuple, M (k, m) and r (k, 1).
    Raises: InputError for formulas that are no polynomials of degree 2 in the unknowns."""
    formulas, names = matrix("column", column), tuple(unknowns)
    if 1 not in formulas.shape:
        raise InputError(f"column must be a row or column of formulas, got a matrix of shape {formulas.shape}")
    if not names or any(not isinstance(s, sp.Symbol) for s in names) or len(set(names)) != len(names):
        raise InputError(f"unknowns must be symbols, each once, got {format_value(names)}")
    rows, rests = zip(*(_split(e, names) for e in formulas))
    return sp.ImmutableMatrix(rows), sp.ImmutableMatrix(len(rests), 1, rests)


def _split(e: sp.Expr, unknowns: tuple[sp.Symbol, ...]) -> tuple[list[sp.Expr], sp.Expr]:
    poly = sp.Poly(e, *unknowns) if e.is_polynomial(*unknowns) else None
    if poly is None or poly.total_degree() > 2:
        raise InputError(f"{e} must be a polynomial of degree 2 at most in {', '.join(map(str, unknowns))}")
    row, rest = [sp.S.Zero] * len(unknowns), sp.S.Zero
    for powers, c in poly.terms():
        involved = [i for i, p in enumerate(powers) for _ in range(p)]
        for k, i in enumerate(involved):
            others = sp.Mul(*(unknowns[j] for m, j in enumerate(involved) if m != k))
            row[i] += c * others / len(involved)
        rest += sp.S.Zero if involved else c
    return row, rest
