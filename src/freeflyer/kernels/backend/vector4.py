"""3-vectors kept as one value: the recursion along the tree is then a quarter of the instructions for one state.

A state's numbers are floats, and a vector fills one register, a Quad of four (the fourth means nothing). A Pack fills a
register by itself, so a vector of Packs is a tuple of three. The functions here take either.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import models, overload, register_model

from freeflyer.kernels.backend.buffers import _aligned, _place, load_int, store_row, tile_at
from freeflyer.kernels.backend.pack import FLAGS, LANES, OVERLOAD, as_number, constant
from freeflyer.kernels.backend.transpose import block, transposed
from freeflyer.kernels.compiler._instructions import instructions
from freeflyer.kernels.compiler._jit import inlined
from freeflyer.kernels.math.algebra import load3, store3
from freeflyer.kernels.model.layout import N_BODIES, POSE, POSE_VECTORS, POSE_VECTORS_AT, POSES_AT

WIDTH = 4
QUAD = ir.VectorType(ir.DoubleType(), WIDTH)


class QuadType(types.Type):
    """The Numba type of a Quad."""

    def __init__(self) -> None:
        super().__init__(name="Quad")


quad_type = QuadType()


@register_model(QuadType)
class QuadModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: QuadType) -> None:
        super().__init__(manager, fe_type, QUAD)


def _repeated(builder: Any, number: Any) -> Any:
    first = builder.insert_element(ir.Constant(QUAD, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(first, ir.Constant(QUAD, ir.Undefined), zeros)


def load_vector(work: Any, at: int) -> Any:
    """The vector whose three entries lie at `at`."""
    return load3(work, at)


def store_vector(work: Any, at: int, a: Any) -> None:
    """Writes a vector; the entry behind it may be spoilt."""
    store3(work, at, a)


def vector(work: Any, a: Any) -> Any:
    """Three scalars as a vector."""
    return a


def plus(a: Any, b: Any) -> Any:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def times(s: Any, a: Any) -> Any:
    return s * a[0], s * a[1], s * a[2]


@instructions(load_vector)
def _(typing_context, work, at):
    def codegen(context, builder, sig, args):
        pointer, _ = _place(context, builder, work, *args)
        return _aligned(builder.load(builder.bitcast(pointer, QUAD.as_pointer())))

    return (quad_type(work, types.intp), codegen) if isinstance(work, types.Array) else None


@instructions(store_vector)
def _(typing_context, work, at, a):
    def codegen(context, builder, sig, args):
        pointer, _ = _place(context, builder, work, *args[:2])
        _aligned(builder.store(args[2], builder.bitcast(pointer, QUAD.as_pointer())))
        return context.get_dummy_value()

    return (types.void(work, types.intp, a), codegen) if isinstance(a, QuadType) else None


@instructions(vector)
def _(typing_context, work, a):
    def codegen(context, builder, sig, args):
        quad = ir.Constant(QUAD, [0.0] * WIDTH)
        for k, ty in enumerate(a):
            x = as_number(context, builder, builder.extract_value(args[1], k), ty)
            quad = builder.insert_element(quad, x, ir.Constant(ir.IntType(32), k))
        return quad

    return (quad_type(work, a), codegen) if isinstance(work, types.Array) else None


@instructions(plus)
def _(typing_context, a, b):
    def codegen(context, builder, sig, args):
        return builder.fadd(*args, flags=FLAGS)

    return (quad_type(a, b), codegen) if isinstance(a, QuadType) else None


@instructions(times)
def _(typing_context, s, a):
    def codegen(context, builder, sig, args):
        return builder.fmul(_repeated(builder, as_number(context, builder, args[0], s)), args[1], flags=FLAGS)

    return (quad_type(s, a), codegen) if isinstance(a, QuadType) else None


@overload(load_vector, jit_options=OVERLOAD)
def _(work, at):
    return None if isinstance(work, types.Array) else lambda work, at: load3(work, at)


@overload(store_vector, jit_options=OVERLOAD)
def _(work, at, a):
    return None if isinstance(a, QuadType) else lambda work, at, a: store3(work, at, a)


@overload(vector, jit_options=OVERLOAD)
def _(work, a):
    return None if isinstance(work, types.Array) else lambda work, a: a


@overload(plus, jit_options=OVERLOAD)
def _(a, b):
    return None if isinstance(a, QuadType) else lambda a, b: (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@overload(times, jit_options=OVERLOAD)
def _(s, a):
    return None if isinstance(a, QuadType) else lambda s, a: (s * a[0], s * a[1], s * a[2])


@inlined
def along(X, Y, Z, s):
    """X s[0] + Y s[1] + Z s[2]"""
    return plus(plus(times(s[0], X), times(s[1], Y)), times(s[2], Z))


def vector_step(work: Any) -> int:
    """How far apart vectors lie: four entries of a float array, three of Packs."""
    return 3


@instructions(vector_step)
def _(typing_context, work):
    return constant(WIDTH if isinstance(work, types.Array) else 3, work)


@inlined
def pose_vectors_at(topology, work, i):
    """Where the vectors of body i's pose lie: in its record, or, of one state, beside it until `transpose_poses`."""
    if vector_step(work) == WIDTH:
        return load_int(topology, POSE_VECTORS_AT) + POSE_VECTORS * i
    return load_int(topology, POSES_AT) + tile_at(work, POSE, i)


def transpose_poses(topology: Any, work: Any) -> None:
    """Puts what is read as rows of bodies into the poses' records: rotations, positions from the reference body."""


@overload(transpose_poses, jit_options=OVERLOAD)
def _(topology, work):
    if not isinstance(work, types.Array):
        return lambda topology, work: None

    def tiles(topology, work):
        vectors, poses = load_int(topology, POSE_VECTORS_AT), load_int(topology, POSES_AT)
        for i in range(0, load_int(topology, N_BODIES) + 1, LANES):
            for pair in range(2):  # X and Y; Z and the position from the reference body
                rows = transposed(block(work, vectors + POSE_VECTORS * i + LANES * pair, POSE_VECTORS))
                to = poses + POSE * i + 6 * LANES * pair
                store_row(work, to, rows[0])
                store_row(work, to + LANES, rows[1])
                store_row(work, to + 2 * LANES, rows[2])
                store_row(work, to + 3 * LANES, rows[4])
                store_row(work, to + 4 * LANES, rows[5])
                store_row(work, to + 5 * LANES, rows[6])

    return tiles
