"""The errors of solvers: a problem without an answer, an answer that was not reached, an answer that does not hold."""

from __future__ import annotations

from freeflyer.errors import FreeflyerError


class SolverError(FreeflyerError):
    """Base of the errors of solvers: no solution is returned. `.data["solver"]` names the solver, `.data["status"]` quotes it."""


class InfeasibleError(SolverError, ValueError):
    """No x satisfies all rows and bounds.

    `.data["certificate"]`: multipliers of the bounds (n, if there are any) and rows (m), each times its row, that add up to
    0 <= a negative number. `.data["rows"]`, `.data["bounds"]`: indices of the rows and of the bounded variables that contradict
    each other.
    """


class UnboundedError(SolverError, ValueError):
    """The objective decreases without end. `.data["ray"]` (n,): a direction that keeps all rows and always decreases it."""


class NotConvergedError(SolverError, RuntimeError):
    """The solver stopped at its limit. `.data`: the iterate `x`, its `residuals`, `iterations`."""


class NumericalError(SolverError, ArithmeticError):
    """The solver ended with numbers that do not satisfy the conditions of optimality. `.data`: `x` and its `residuals`."""


class MissingSolverError(SolverError, ImportError):
    """A solver that is not installed; `.data["available"]` lists those that are."""
