"""A canonical form of sines and cosines: their products as sums, so that equal formulas become equal expressions."""

from __future__ import annotations

import mpmath
import sympy as sp

from freeflyer.model import public
from freeflyer.symbolic.routines import formula, matrix


@public
def reduce_products(x: sp.Expr | sp.MatrixBase) -> sp.Expr | sp.ImmutableMatrix:
    """Formulas whose products of sines and cosines are written as sums: cos(a) cos(b) = (cos(a - b) + cos(a + b)) / 2.

    A polynomial in sines and cosines of independent angles is 0 exactly if its form is. `sympy.simplify` seeks the shortest of
    many forms, which takes a thousand times as long.

    Args:
        x: expression or matrix of SymPy.
    Returns: expression or matrix; of a quotient, numerator and denominator are such sums."""
    if isinstance(x, sp.MatrixBase):
        return matrix("x", x).applyfunc(_reduced)
    return _reduced(formula("x", x))


@public
def is_zero(x: sp.Expr | sp.MatrixBase) -> bool:
    """Whether a formula of sines and cosines, or each entry of a matrix, is proved to be zero.

    Args:
        x: expression or matrix of SymPy, as in `reduce_products`.
    Returns: bool; False where it is not zero, and where roots or other functions hide that it is."""
    entries = list(matrix("x", x)) if isinstance(x, sp.MatrixBase) else [formula("x", x)]
    if not all(map(_vanishes_at_a_point, entries)):
        return False
    plain = (e.replace(sp.tan, lambda angle: sp.sin(angle) / sp.cos(angle)) for e in entries)
    return all(_waves(sp.fraction(sp.together(e))[0]) == {} for e in plain)


def _vanishes_at_a_point(x: sp.Expr) -> bool:
    """Whether the number at one generic point is zero, as far as 50 digits show: refutes without expanding."""
    at = {s: mpmath.mpf(k * k + 3) / (2 * k + 7) for k, s in enumerate(sorted(x.free_symbols, key=str))}
    with mpmath.workdps(50):
        try:
            value = sp.lambdify(list(at), [x], "mpmath", cse=True)(*at.values())[0]
        except (ZeroDivisionError, TypeError, NameError, ValueError):
            return True
        return bool(abs(value) < mpmath.mpf(10) ** -25)


def _reduced(x: sp.Expr) -> sp.Expr:
    divided = any(p.exp.could_extract_minus_sign() for p in x.atoms(sp.Pow) if p.base.free_symbols)
    numerator, denominator = sp.fraction(sp.together(x)) if divided else (x, sp.S.One)
    top, bottom = (sp.Add(*(sp.factor_terms(c) * wave for wave, c in _waves(part).items())) for part in (numerator, denominator))
    return top / bottom


def _waves(x: sp.Expr) -> dict[sp.Expr, sp.Expr]:
    """Coefficients by wave (1, cos(angle), sin(angle)); without those that are zero."""
    found: dict[sp.Expr, list[sp.Expr]] = {}
    for term in sp.Add.make_args(sp.expand(x)):
        rest, factors = [], []
        for factor in sp.Mul.make_args(term):
            base, power = factor.as_base_exp()
            if isinstance(base, sp.sin | sp.cos) and power.is_Integer and power > 0:
                factors += [base] * int(power)
            else:
                rest.append(factor)
        for wave, number in _product(factors).items():
            sign, wave = (-1, -wave) if wave.could_extract_minus_sign() else (1, wave)
            found.setdefault(wave, []).append(sp.Mul(sign * number, *rest))
    sums = {wave: sp.Add(*terms) for wave, terms in found.items()}
    return {wave: c for wave, c in sums.items() if c != 0}


def _product(factors: list[sp.Expr]) -> dict[sp.Expr, sp.Rational]:
    """Sum of waves that a product of sines and cosines is: numbers by wave."""
    waves: dict[tuple[sp.Expr, int], sp.Rational] = {(sp.S.Zero, 0): sp.S.One}  # (angle, quarter turns) of a cosine
    for factor in factors:
        angle, quarters = factor.args[0], 3 if isinstance(factor, sp.sin) else 0
        longer: dict[tuple[sp.Expr, int], sp.Rational] = {}
        for (other, turns), number in waves.items():
            for sign in (-1, 1):  # cos a cos b = (cos(a - b) + cos(a + b)) / 2
                key = sp.expand(other + sign * angle), (turns + sign * quarters) % 4
                longer[key] = longer.get(key, sp.S.Zero) + number / 2
        waves = longer
    total: dict[sp.Expr, sp.Rational] = {}
    for (angle, turns), number in waves.items():
        wave = sp.sin(angle) if turns % 2 else sp.cos(angle)
        if wave != 0:
            total[wave] = total.get(wave, sp.S.Zero) + (-number if turns in (1, 2) else number)
    return total
