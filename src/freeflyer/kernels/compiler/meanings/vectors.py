"""3-vectors: of one state, in one register; of Packs, a tuple of three."""

from __future__ import annotations

import ast
from typing import Any

from freeflyer.kernels.compiler.frontend.functions import means
from freeflyer.kernels.compiler.frontend.instructions import FAST
from freeflyer.kernels.compiler.frontend.kinds import FLOAT, VECTOR4, Register
from freeflyer.kernels.compiler.meanings.memory import buffer, load, plus, pointer, store, times
from freeflyer.kernels.model import vector4


def in_register(x: Any) -> bool:
    return isinstance(x, Register) and x.kind is VECTOR4


@means(vector4.load_vector)
def _load_vector(e, work, at):
    if buffer(e, work).lanes == 1:
        return load(e, VECTOR4, pointer(e, work, at))
    return tuple(load(e, work.scalar, pointer(e, work, plus(e, at, k))) for k in range(3))


@means(vector4.store_vector)
def _store_vector(e, work, at, a):
    if in_register(a):
        return store(e, VECTOR4, a, pointer(e, buffer(e, work), at))
    for k in range(3):
        store(e, buffer(e, work).scalar, e.entry(a, k), pointer(e, work, plus(e, at, k)))


@means(vector4.vector)
def _vector(e, work, a):
    if buffer(e, work).lanes > 1:
        return a
    made = "zeroinitializer"
    for k in range(3):
        made = e.address(f"insertelement {VECTOR4.llvm} {made}, double {e.name(e.entry(a, k), FLOAT)}, i32 {k}")
    return Register(VECTOR4, made)


@means(vector4.plus)
def _plus(e, a, b):
    if in_register(a) and in_register(b):
        return e.write(VECTOR4, f"fadd {FAST}{VECTOR4.llvm} {a.name}, {b.name}")
    return tuple(e.binary(ast.Add, e.entry(a, k), e.entry(b, k)) for k in range(3))


@means(vector4.times)
def _times(e, s, a):
    if in_register(a):
        factor = e.repeated(e.name(s, FLOAT), VECTOR4.llvm, vector4.WIDTH, "double")
        return e.write(VECTOR4, f"fmul {FAST}{VECTOR4.llvm} {factor}, {a.name}")
    return tuple(times(e, s, e.entry(a, k)) for k in range(3))


@means(vector4.vector_step)
def _vector_step(e, work):
    return vector4.WIDTH if buffer(e, work).lanes == 1 else 3


@means(vector4.transpose_poses)
def _transpose_poses(e, topology, work):
    if buffer(e, work).lanes == 1:
        e.call(vector4.transpose_vectors, [topology, work])
