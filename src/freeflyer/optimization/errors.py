"""The errors of solvers: a problem without an answer, an answer that was not reached, an answer that does not hold."""

from __future__ import annotations

from freeflyer.errors import FreeflyerError


class SolverError(FreeflyerError):
    """Base of the errors of solvers: no solution is returned.

    Attributes:
        data: "solver": its name; "level": of a hierarchy, the level from 0. Where the solver ran also "status", what it says, and
            "iterations".

    Examples:
        >>> try:
        ...     ff.optimization.solve_qp([[0.0]], [1.0])  # a slope without end
        ... except ff.optimization.SolverError as error:
        ...     print(type(error).__name__, error.data["solver"], error.data["status"])
        UnboundedError active-set unbounded
    """


class InfeasibleError(SolverError, ValueError):
    """Contradiction of rows and bounds: no x satisfies them all.

    Attributes:
        data: As of SolverError. "rows", "bounds": indices of the rows and of the bounded variables that contradict each other.
            "certificate": multipliers of the bounds (n, if there are any) and rows (m), each times its row, that add up to 0 <= a
            negative number; None where the two limits of one row do not leave any value.

    Examples:
        The rows x >= 1 and x <= 0, with multipliers that cancel x:

        >>> A = np.array([[1.0], [1.0]])
        >>> try:
        ...     ff.optimization.solve_qp(np.eye(1), [0.0], A, [1.0, -np.inf], [np.inf, 0.0])
        ... except ff.optimization.InfeasibleError as error:
        ...     y = error.data["certificate"]
        ...     print(error.data["rows"], np.sign(y), np.round(y @ A, 6) + 0.0)
        (0, 1) [-1.  1.] [0.]
    """


class UnboundedError(SolverError, ValueError):
    """Objective that decreases without end.

    Attributes:
        data: As of SolverError. "ray" (n,): a direction that keeps all rows and always decreases the objective.

    Examples:
        The second variable has a slope, but no curvature and no limit above:

        >>> try:
        ...     ff.optimization.solve_qp(np.diag([1.0, 0.0]), [0.0, -1.0], x_lower=[0.0, 0.0])
        ... except ff.optimization.UnboundedError as error:
        ...     print(np.round(error.data["ray"], 6) + 0.0)
        [0. 1.]
    """


class NotConvergedError(SolverError, RuntimeError):
    """Solver that stopped at its limit of iterations or time.

    Attributes:
        data: As of SolverError. "x" (n,): the iterate, and "residuals": its Residuals; both are None for solvers that return none
            (active-set, daqp).

    Examples:
        >>> try:
        ...     ff.optimization.solve_qp(np.eye(2), [-1.0, -1.0], np.eye(2), upper=[0.0, 0.0], iterations=1)
        ... except ff.optimization.NotConvergedError as error:
        ...     print(error.data["iterations"], error.data["status"])
        1 iteration limit
    """


class NumericalError(SolverError, ArithmeticError):
    """End of a solver with numbers that do not satisfy the conditions of optimality, where no proof says that there is no answer.

    Attributes:
        data: As of SolverError. "x" (n,): where the solver ended, and "residuals": the Residuals there, NaN without multipliers;
            both are None where the solver returns no x.

    Examples:
        The second variable has 1e-14 of the first one's curvature; in a unit 1e7 times as large daqp solves the program, too:

        >>> try:
        ...     ff.optimization.solve_qp(np.diag([1.0, 1e-14]), [0.0, 1.0], solver="daqp")
        ... except ff.optimization.NumericalError as error:
        ...     print(error.data["status"])
        unbounded
        >>> print(f"{1e7 * ff.optimization.solve_qp(np.eye(2), [0.0, 1e7], solver="daqp").x[1]:.0e}")
        -1e+14
    """


class MissingSolverError(SolverError, ImportError):
    """Solver that is not installed or does not exist.

    Attributes:
        data: "solver": the name given; "available": names of those that are installed; "package": the package to install, or None;
            "level" as of SolverError.

    Examples:
        >>> try:
        ...     ff.optimization.solve_qp([[1.0]], [0.0], solver="osqqp")
        ... except ff.optimization.MissingSolverError as error:
        ...     print(error.data["solver"], "daqp" in error.data["available"])
        osqqp True
    """
