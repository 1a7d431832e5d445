"""The compiled meaning of primitives. Importing this package gives them theirs; kernels/backend.py and kernels/model/poses.py say
what each one computes, in Python for one number."""

from freeflyer.kernels.compiler.meanings import arguments, memory, objects, vectors

__all__ = ["arguments", "memory", "objects", "vectors"]
