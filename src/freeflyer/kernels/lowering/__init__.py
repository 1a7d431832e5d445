"""The compiled meaning of the kernels' primitives: the only folder, with compiler/numba_ir.py, that imports Numba.

Importing this package registers them with Numba.
"""

from freeflyer.kernels.lowering import blocks, calls, memory, scalars, vectors

__all__ = ["blocks", "calls", "memory", "scalars", "vectors"]
