"""The compiled meaning of primitives. Importing this package gives them theirs; backend/ and model/vector4.py say what each one
computes, in Python for one number.
"""

from freeflyer.kernels.meanings import arguments, memory, objects, scalars, vectors

__all__ = ["arguments", "memory", "objects", "scalars", "vectors"]
