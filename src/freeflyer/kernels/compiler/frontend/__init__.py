"""From the Python text of kernels to LLVM code: one walk over the syntax tree of each function.

`source` reads functions, `kinds` says what a value is, `instructions` writes LLVM code, `operators` and `control_flow` give the
meaning of expressions and statements, `functions` that of calls; `meanings` holds the primitives. docs/compiling.md shows the way
of a loop and of a load.
"""
