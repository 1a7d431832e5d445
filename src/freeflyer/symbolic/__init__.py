"""Public functions on symbols: closed forms in SymPy of the kernels' results, masses and lengths symbolic as well.

import sympy
q, v, a = sympy.symbols("q:2"), sympy.symbols("v:2"), sympy.symbols("a:2")
tau = ff.symbolic.evaluate("inverse_dynamics", model, q, v, a)"""

from freeflyer.symbolic.evaluating import evaluate, kernel_routine
from freeflyer.symbolic.parameters import parameters
from freeflyer.symbolic.routines import Routine, make_function, print_source, routine
from freeflyer.symbolic.trigonometry import is_zero, reduce_products
from freeflyer.symbolic.variables import coefficient_matrix, jacobian, time_derivative, variables

__all__ = [
    "Routine", "coefficient_matrix", "evaluate", "is_zero", "jacobian", "kernel_routine", "make_function",
    "parameters", "print_source", "reduce_products", "routine", "time_derivative", "variables"]
