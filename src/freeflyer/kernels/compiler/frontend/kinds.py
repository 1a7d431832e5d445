"""Values while code is written, and their kinds.

A value is a Python constant, a Register, a Buffer, a tuple of values, or Missing. Its kind is what the compiler knows of it before
the code runs: a Scalar, a BufferKind, a tuple of kinds, a Constant, or Missing.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

LANES = 8  # numbers of a row


@dataclass(frozen=True)
class Scalar:
    """The kind of a register. `lanes`: numbers of a Pack, 0 for a single one."""

    name: str
    llvm: str
    lanes: int = 0

    def __str__(self) -> str:
        return self.name


BOOL, INT, FLOAT = Scalar("bool", "i1"), Scalar("int", "i64"), Scalar("float", "double")
INTEGERS = Scalar("buffer of integers", "ptr")
NUMBERS = (BOOL, INT, FLOAT)  # each holds the values of those before
OF_PYTHON = {bool: BOOL, int: INT, float: FLOAT}


@cache
def pack(lanes: int) -> Scalar:
    return Scalar(f"Pack of {lanes}", f"<{lanes} x double>", lanes)


ROW = pack(LANES)


@dataclass(frozen=True)
class BufferKind:
    """A flat buffer of numbers (lanes = 1) or Packs."""

    lanes: int

    def __str__(self) -> str:
        return "buffer of numbers" if self.lanes == 1 else f"buffer of Packs of {self.lanes}"


@dataclass(frozen=True)
class Constant:
    """The kind of a Python value that is known while code is written. 1, 1.0 and True differ, and so do 0.0 and -0.0."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and type(self.value) is type(other.value) and repr(self.value) == repr(other.value)

    def __hash__(self) -> int:
        return hash(repr(self.value))

    def __str__(self) -> str:
        name = getattr(self.value, "__name__", None)
        return f"{type(self.value).__name__} {name}" if name else f"the constant {self.value!r}"


@dataclass(frozen=True)
class Missing:
    """A name without a value, or with values of kinds that do not fit, on a path that leads here."""

    why: str = "has no value on one of the paths that lead here"

    def __str__(self) -> str:
        return f"a name that {self.why}"


@dataclass(frozen=True, eq=False)
class Register:
    """A scalar in a register, by its LLVM name."""

    kind: Scalar
    name: str


@dataclass(frozen=True, eq=False)
class Buffer:
    """Address of the first entry, and of the record of the memory for workspaces (see meanings/memory.py)."""

    lanes: int
    data: str
    record: str

    @property
    def scalar(self) -> Scalar:
        """The kind of an entry."""
        return FLOAT if self.lanes == 1 else pack(self.lanes)

    @property
    def row(self) -> Scalar:
        """The kind of a row: eight numbers, or one Pack."""
        return ROW if self.lanes == 1 else pack(self.lanes)


def kind_of(v: Any) -> Any:
    if isinstance(v, Register):
        return v.kind
    if isinstance(v, tuple):
        return tuple(map(kind_of, v))
    if isinstance(v, Buffer):
        return BufferKind(v.lanes)
    return v if isinstance(v, Missing) else Constant(v)


def describe(v: Any) -> str:
    """A value as the author of a kernel knows it."""
    k = v if isinstance(v, Scalar) else kind_of(v)
    return f"a tuple of {len(k)}" if isinstance(k, tuple) else str(k)


def in_registers(k: Any) -> Any:
    """The kind in which numbers that are known become registers."""
    if isinstance(k, tuple):
        return tuple(map(in_registers, k))
    return OF_PYTHON.get(type(k.value), k) if isinstance(k, Constant) else k


def join(a: Any, b: Any) -> Any:
    """The kind that holds the values of both; Missing if there is none."""
    if a == b:
        return a
    if isinstance(a, Missing) or isinstance(b, Missing):
        return a if isinstance(a, Missing) else b
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(map(join, a, b))
    x, y = in_registers(a), in_registers(b)
    if x == y:
        return x
    if x in NUMBERS and y in NUMBERS:
        return max(x, y, key=NUMBERS.index)
    for one, other in ((x, y), (y, x)):
        if isinstance(one, Scalar) and one.lanes and other in NUMBERS:
            return one
    return Missing(f"is {_named(a)} on one path and {_named(b)} on another")


def _named(k: Any) -> str:
    return f"a tuple of {len(k)}" if isinstance(k, tuple) else f"a {k}" if isinstance(k, Scalar | BufferKind) else str(k)


def llvm_types(k: Any) -> list[str]:
    """The LLVM types of the registers of a value of that kind."""
    if isinstance(k, tuple):
        return [t for x in k for t in llvm_types(x)]
    return [k.llvm] if isinstance(k, Scalar) else ["ptr", "ptr"] if isinstance(k, BufferKind) else []


def made_of(k: Any, names: Iterator[str]) -> Any:
    """A value of that kind from the names of its registers."""
    if isinstance(k, tuple):
        return tuple([made_of(x, names) for x in k])
    if isinstance(k, Scalar):
        return Register(k, next(names))
    if isinstance(k, BufferKind):
        return Buffer(k.lanes, next(names), next(names))
    return k.value if isinstance(k, Constant) else k


def number(x: float) -> str:
    """A float as LLVM writes it. (A cache would take 0.0 for -0.0.)"""
    return f"0x{struct.unpack('>Q', struct.pack('>d', x))[0]:016X}"
