"""The program of a problem at a state, by the compiled code that solves it."""

from types import SimpleNamespace

import numpy as np

from freeflyer.control.problem import asked_of
from freeflyer.kernels.entries import CONTROL_PROGRAM
from freeflyer.optimization.compiled import call

NAMES = ("A", "lower", "upper", "H", "g", "motors", "h", "unit")


def program_of(problem, q, v, formulation="full", *, weighted=False):
    """Rows lower <= A x <= upper, least 1/2 x^T H x + g^T x, torques motors x + h, unit wrenches; `rows`: of each piece."""
    program, numbers = asked_of(problem, q, v, formulation, weighted=weighted)
    found = dict(zip(NAMES, call(CONTROL_PROGRAM, program.sizes, q, v, np.zeros(problem.model.nv), numbers), strict=True))
    ends = np.cumsum([0, *(piece.rows for piece in program.pieces)])
    rows = [(piece, slice(first, end)) for piece, first, end in zip(program.pieces, ends, ends[1:])]
    return SimpleNamespace(**found, rows=rows, alpha=program.alpha, weights=program.weights, program=program)
