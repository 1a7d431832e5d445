"""Public functions on symbols: closed forms in SymPy of what the kernels compute, masses and lengths symbolic as well.

    import sympy
    q, v, a = sympy.symbols("q:2"), sympy.symbols("v:2"), sympy.symbols("a:2")
    tau = ff.symbolic.evaluate("inverse_dynamics", model, q, v, a)
"""

from freeflyer.symbolic.evaluating import evaluate
from freeflyer.symbolic.parameters import parameters

__all__ = ["evaluate", "parameters"]
