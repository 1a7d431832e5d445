"""What counts as a formula of SymPy: expressions and matrices that are evaluated and finite."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from freeflyer.errors import InputError, format_value

UNEVALUATED = (sp.Derivative, sp.Integral, sp.Subs, sp.Sum, sp.Product, sp.Limit)
INFINITE = (sp.S.NaN, sp.S.ComplexInfinity, sp.S.Infinity, sp.S.NegativeInfinity)


def formula(what: str, x: object) -> sp.Expr:
    """x as an expression; InputError for words, matrices, infinities and what is not carried out."""
    found: Any = x if isinstance(x, sp.Basic) else _number(x)
    if not isinstance(found, sp.Expr) or isinstance(found, sp.MatrixExpr):
        raise InputError(f"{what} must be a formula of SymPy or a number, got {type(x).__name__} {format_value(x)}")
    left = sorted({type(e).__name__ for e in found.atoms(*UNEVALUATED)} | {str(e) for e in found.atoms(AppliedUndef)})
    if left:
        raise InputError(f"{what} holds what is not evaluated: {', '.join(left)}; call .doit(), and put symbols for functions")
    if found.has(*INFINITE):
        raise InputError(f"{what} must be finite, got {format_value(x)}")
    return found


def matrix(what: str, x: object, shape: tuple[int, int] | None = None) -> sp.ImmutableMatrix:
    """x as a matrix of formulas; a flat row of scalars is a column. InputError for other shapes."""
    if isinstance(x, sp.MatrixBase):
        found = sp.ImmutableMatrix(x)
    elif isinstance(x, Iterable) and not isinstance(x, str | bytes):
        entries = list(x)
        rows = [list(e) for e in entries if isinstance(e, Iterable) and not isinstance(e, str | bytes | sp.Basic)]
        if (rows and len(rows) != len(entries)) or len({len(r) for r in rows}) > 1:
            raise InputError(f"{what} must be a matrix, its rows of one length, got {format_value(x)}")
        flat = [formula(f"{what}[{i}]", e) for i, e in enumerate(chain(*rows) if rows else entries)]
        found = sp.ImmutableMatrix(len(entries), len(rows[0]) if rows else 1, flat)
    else:
        raise InputError(f"{what} must be a matrix of SymPy or a row of formulas, got {type(x).__name__} {format_value(x)}")
    if shape is not None and found.shape != shape:
        raise InputError(f"{what} must have the shape {shape}, got {found.shape}")
    for i, e in enumerate(found):
        formula(f"{what}[{i}]", e)
    return found


def _number(x: Any) -> object:
    if isinstance(x, bool | str | bytes):
        return None
    try:
        return sp.sympify(x, strict=True)
    except (sp.SympifyError, TypeError, ValueError, AttributeError):
        return None
