"""Calls, and functions as LLVM code.

A function without a mark is written into its caller. A kernel becomes a function for each tuple of kinds of its arguments, or, if
it is short, is written into its callers, too. A function is named by a hash of its code, in which the functions that it calls are
named likewise: equal names mean equal code, in whichever entry it is used, so that object code is made once for each.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType
from typing import Any

from freeflyer.kernels.backend import KERNEL, PRIMITIVE, mark
from freeflyer.kernels.compiler.frontend import kinds as K
from freeflyer.kernels.compiler.frontend.control_flow import ControlFlow
from freeflyer.kernels.compiler.frontend.instructions import KernelError, Scope, Source, source

SHORT = 150  # lines of LLVM code: kernels of fewer are written into their callers
FEW_RESULTS = 2  # that a function returns in registers: kernels of more are written into their callers, too
MEANINGS: dict[Any, Callable[..., Any]] = {}  # of primitives: meaning(writer, *arguments)


@dataclass(frozen=True, eq=False)
class Function:
    """A function as LLVM code, in which it is named @SELF. `result`: the kind of its value. `convention`: how it is called.
    `parameters`: their LLVM types. `body`: its definition. `declared`: lines that declare what it calls. `callees`: functions of
    kernels that it calls."""

    name: str
    result: Any
    convention: str
    parameters: tuple[str, ...]
    body: str
    declared: tuple[str, ...]
    callees: tuple[Function, ...]

    @cached_property
    def symbol(self) -> str:
        text = "\n".join((self.body, *self.declared))
        return f"ff_{self.name.strip('<>')}_{hashlib.sha256(text.encode()).hexdigest()[:20]}"

    @property
    def result_type(self) -> str:
        return _llvm_type(self.result)

    @property
    def declaration(self) -> str:
        return f"declare {self.convention}{self.result_type} @{self.symbol}({', '.join(self.parameters)}) nounwind"

    @property
    def code(self) -> str:
        return "\n".join((self.body.replace("@SELF", f"@{self.symbol}"), *self.declared, ""))

    @cached_property
    def closure(self) -> tuple[Function, ...]:
        """All functions that it needs, itself last, those that are called before their callers."""
        return *{f.symbol: f for callee in self.callees for f in callee.closure}.values(), self


Made = dict[tuple[Any, Any], Function]  # by function and kinds


class Functions(ControlFlow):
    """Writes one function; those that it calls go to `made`."""

    def __init__(self, made: Made, caller: Scope | None = None) -> None:
        super().__init__()
        self.made, self.scope = made, caller

    def call(self, function: Any, arguments: list[Any]) -> Any:
        how = mark(function)
        if how == KERNEL:
            return self._call_kernel(function, arguments)
        meaning = getattr(function, "compiled", None) or (MEANINGS.get(function) if callable(function) else None)
        if meaning is None and isinstance(function, FunctionType) and how != PRIMITIVE:
            return self.inline(source(function), arguments)
        if meaning is None:
            self.refuse(f"found a call of {K.describe(function)}, which has no compiled meaning",
                        "functions written in Python, primitives, range, min, max, len, abs")  # fmt: skip
        code, count = meaning.__code__, len(arguments) + 1
        if count != code.co_argcount and not code.co_flags & 0x04:  # *arguments
            self.refuse(f"{K.describe(function)} takes {code.co_argcount - 1} arguments, got {len(arguments)}")
        return meaning(self, *arguments)

    def inline(self, text: Source, arguments: list[Any]) -> Any:
        """Writes a function's text here."""
        count = len(text.parameters)
        if len(arguments) != count and not (text.rest and len(arguments) > count):
            self.refuse(f"{text.name} takes {count} arguments, got {len(arguments)}")
        caller = scope = self.scope
        while scope is not None:
            if scope.source is text:
                self.refuse(f"{text.name} calls itself", "functions that do not")
            scope = scope.caller
        names = dict(zip(text.parameters, arguments)) | ({text.rest: tuple(arguments[count:])} if text.rest else {})
        scope = self.scope = Scope(text, names, caller)
        self.statements(text.body)
        if self.block is not None:
            scope.returns.append((self.block, None))
        made = self.meet(scope.returns)
        if isinstance(made, K.Missing) and scope.returns:
            self.refuse(f"what {text.name} returns {made.why}", "values of one kind")
        self.scope = caller
        return made

    def _call_kernel(self, function: Any, arguments: list[Any]) -> Any:
        kinds = tuple(K.in_registers(K.kind_of(x)) for x in arguments)
        made = self.function(function, kinds)
        if made.body.count("\n") < SHORT or len(K.llvm_types(made.result)) > FEW_RESULTS:
            return self.inline(source(function), arguments)
        given = ", ".join(f"{t} {x}" for t, x in zip(made.parameters, self.names_of(tuple(arguments), kinds)))
        self.callees[made.symbol] = made
        self.declared[made.symbol] = made.declaration
        call, types = f"call {made.convention}{made.result_type} @{made.symbol}({given})", K.llvm_types(made.result)
        if not types:
            self.line(call)
            return K.made_of(made.result, iter(()))
        name = self.address(call)
        if len(types) > 1:
            parts = [self.address(f"extractvalue {made.result_type} {name}, {k}") for k in range(len(types))]
        return K.made_of(made.result, iter(parts if len(types) > 1 else [name]))

    def function(self, function: Any, kinds: tuple[Any, ...]) -> Function:
        """A kernel's function for arguments of these kinds."""
        key = (function, kinds)
        if key not in self.made:
            self.made[key] = Functions(self.made, self.scope).written(source(function), kinds)
        return self.made[key]

    def written(self, text: Source, kinds: tuple[Any, ...], convention: str = "fastcc ", name: str = "") -> Function:
        """The function of a text, for arguments of these kinds. `name`: another than the text's."""
        parameters = K.llvm_types(kinds)
        names = [self.new() for _ in parameters]
        result = self.inline(text, list(K.made_of(kinds, iter(names))))
        if self.block is None:
            raise KernelError(f"{text.file}:{text.line}, in {text.name}: it never returns")
        kind = K.in_registers(K.kind_of(result))
        types, out = K.llvm_types(kind), self.names_of(result, kind)
        ty = _llvm_type(kind)
        if len(types) < 2:
            self.block.end = f"ret {ty} {out[0]}" if types else "ret void"
        else:
            whole = "poison"
            for k, (t, x) in enumerate(zip(types, out)):
                whole = self.address(f"insertvalue {ty} {whole}, {t} {x}, {k}")
            self.block.end = f"ret {ty} {whole}"
        head = f"define {convention}{ty} @SELF({', '.join(f'{t} {n}' for t, n in zip(parameters, names))}) nounwind"
        declared, callees = (tuple(x[k] for k in sorted(x)) for x in (self.declared, self.callees))
        return Function(name or text.name, kind, convention, tuple(parameters), self.text(head), declared, callees)


def _llvm_type(kind: Any) -> str:
    types = K.llvm_types(kind)
    return types[0] if len(types) == 1 else "{ " + ", ".join(types) + " }" if types else "void"


def c_function(name: str, body: Callable[..., Any], kinds: tuple[K.Scalar, ...], made: Made) -> Function:
    """The C function of a body: int64_t of pointers and integers. `made`: functions of kernels that are written already."""
    try:
        return Functions(made).written(source(body), kinds, "", name)
    except KernelError as error:
        raise error.with_traceback(None) from None  # the message names the places; those in the compiler tell nothing
