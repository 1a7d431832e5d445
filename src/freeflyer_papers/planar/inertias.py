"""Inertia of a link of the plane from its masses (decoupling thesis, eqs. (4.8)-(4.9))."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import sympy as sp

from freeflyer.errors import InputError
from freeflyer.model.public import public
from freeflyer.symbolic.formulas import matrix
from freeflyer_papers.planar.poses import Pose, adjoint


@dataclass(frozen=True)
class LinkInertia:
    """Inertia of a link about its frame's origin.

    Args:
        matrix: Lambda_j (3, 3), of twists [vx, vy, omega]; kg, kg m, kg m^2.
        mass: expression, kg.
        center: Centre of mass (2, 1) in the link's frame, m.

    Examples:
        >>> inertia = freeflyer_papers.planar.link_inertia([(1, 0)], [2], [0])
        >>> inertia.mass, inertia.matrix[2, 2]
        (2, 2)
    """

    matrix: sp.ImmutableMatrix
    mass: sp.Expr
    center: sp.ImmutableMatrix


@public
def link_inertia(centers: Iterable[Iterable[sp.Expr]], masses: Iterable[sp.Expr], inertias: Iterable[sp.Expr]) -> LinkInertia:
    """Inertia of a link that carries several masses.

    Args:
        centers: k rows of two, where each mass has its centre, in the link's frame, m.
        masses, inertias: rows of k, kg, and kg m^2 about each mass's own centre.
    Raises: InputError for rows of other lengths, none at all, and masses whose sum is zero.
    Source: Papers/004, (4.9); massmatrix_Lamda_j of table A.1, whose centres are columns.

    Examples:
        >>> import sympy
        >>> m, l = sympy.symbols("m l", positive=True)
        >>> freeflyer_papers.planar.link_inertia([(l, 0)], [m], [0]).matrix
        Matrix([
        [m,   0,      0],
        [0,   m,    l*m],
        [0, l*m, l**2*m]])
    """
    m, I = list(matrix("masses", masses)), list(matrix("inertias", inertias))
    points = [matrix(f"centers[{k}]", c) for k, c in enumerate(centers)]
    if not m or not len(m) == len(I) == len(points):
        raise InputError(f"a mass has one centre and one inertia: got {len(m)} masses, {len(points)} centers, {len(I)} inertias")
    total = sp.Add(*m)
    if total == 0:
        raise InputError("the masses of a link without mass have no centre: leave the link out")
    Lambda = sp.zeros(3, 3)
    for point, mass, inertia in zip(points, m, I):
        A = adjoint(Pose(sp.S.Zero, point).inverse)
        Lambda += A.T * sp.diag(mass, mass, inertia) * A
    moments = sum((mass * Pose(sp.S.Zero, p).origin for mass, p in zip(m, points)), sp.zeros(2, 1))
    center = (moments / total).applyfunc(sp.factor_terms)
    return LinkInertia(sp.ImmutableMatrix(Lambda.applyfunc(sp.expand)), total, sp.ImmutableMatrix(center))
