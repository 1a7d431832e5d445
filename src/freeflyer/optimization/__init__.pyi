"""Public names of the room and where they are defined; each is imported when it is first used."""

from .failures import (
    InfeasibleError as InfeasibleError,
    MissingSolverError as MissingSolverError,
    NotConvergedError as NotConvergedError,
    NumericalError as NumericalError,
    SolverError as SolverError,
    UnboundedError as UnboundedError,
)
from .hierarchy import HierarchySolution as HierarchySolution, Level as Level, solve_hierarchy as solve_hierarchy
from .problem import Solution as Solution
from .quadratic import nearest as nearest, solve_qp as solve_qp, solvers as solvers
