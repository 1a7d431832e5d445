"""Functions as syntax trees. LLVM code of one function: instructions in blocks, conversions of kinds, blocks in which paths meet.

Code is in SSA form from the start: a register is written once, and where paths meet phis choose between their registers.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NoReturn

from freeflyer.kernels.compiler.frontend import kinds as K


class KernelError(TypeError):
    """A kernel is not part of the language that is compiled. The message says where, what was found and what is allowed."""


class Source:
    """A function's syntax tree, and the names that it reaches. `locals`: names that it sets anywhere. Errors: KernelError for
    parameters that are not plain names, and if the text is not where Python says."""

    def __init__(self, function: Callable[..., Any]) -> None:
        code = function.__code__
        self.name, self.file, self.line = function.__name__, code.co_filename, code.co_firstlineno
        tree = definition(function)
        if tree is None:
            raise KernelError(f"{self.file}:{self.line}: the text of {self.name} is not there: kernels stand in a file, "
                              "as it was when it was imported, or in a notebook")
        a = tree.args
        if a.kwarg or a.kwonlyargs or a.posonlyargs or a.defaults:
            raise KernelError(f"{self.file}:{self.line}, in {self.name}: parameters must be plain names without defaults")
        self.rest = a.vararg.arg if a.vararg else ""  # the name of a tuple of all further arguments
        self.body = tree.body if isinstance(tree, ast.FunctionDef) else [ast.copy_location(ast.Return(tree.body), tree.body)]
        self.globals, self.parameters = function.__globals__, [x.arg for x in a.args]
        self.cells = dict(zip(code.co_freevars, (c.cell_contents for c in function.__closure__ or ())))
        self.locals = written(*self.body) | {*self.parameters, self.rest}


@cache
def source(function: Callable[..., Any]) -> Source:
    return Source(function)


def definition(function: Callable[..., Any]) -> ast.FunctionDef | ast.Lambda | None:
    """A function's syntax tree, by its first line and name, or, for a lambda, by the place of its expression."""
    code = function.__code__
    places = set(code.co_positions())
    for node in functions(code.co_filename, "".join(linecache.getlines(code.co_filename))):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if (first, node.name) == (code.co_firstlineno, code.co_name):
                return node
        elif code.co_name == "<lambda>" and node.lineno == code.co_firstlineno:
            x = node.body
            if (x.lineno, x.end_lineno, x.col_offset, x.end_col_offset) in places:
                return node
    return None


@cache
def functions(file: str, text: str) -> list[ast.FunctionDef | ast.Lambda]:
    return [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef | ast.Lambda)]


@cache
def written(*nodes: ast.AST) -> frozenset[str]:
    """Names that are set."""
    return frozenset(n.id for x in nodes for n in ast.walk(x) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


@cache
def size(node: ast.AST) -> int:
    """How many nodes a syntax tree has."""
    return sum(1 for _ in ast.walk(node))


FAST = "reassoc nsz arcp contract "  # LLVM may fuse and reorder; NaN and infinity stay detectable


@dataclass(eq=False)
class Block:
    """A basic block. `end`: its last instruction."""

    name: str
    phis: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    end: str = "unreachable"


@dataclass(eq=False)
class Scope:
    """A function whose text is being compiled, into a function of its own or into its caller. `names`: values of its variables.
    `returns`, `breaks`, `continues`: the open blocks that end so, with the value returned or the variables. `node`: the place in
    its text. `caller`: the scope that calls it."""

    source: Source
    names: dict[str, Any]
    caller: Scope | None
    returns: list[tuple[Block, Any]] = field(default_factory=list)
    breaks: list[tuple[Block, dict[str, Any]]] = field(default_factory=list)
    continues: list[tuple[Block, dict[str, Any]]] = field(default_factory=list)
    node: ast.AST | None = None

    @property
    def place(self) -> str:
        return f"{self.source.file}:{getattr(self.node, 'lineno', self.source.line)}, in {self.source.name}"


class Instructions:
    """The function that is being written. `block`: where instructions go; None if no path leads here."""

    def __init__(self) -> None:
        self.scope: Scope | None = None
        self.blocks: list[Block] = []
        self.allocations: list[str] = []
        self.declared: dict[str, str] = {}
        self.arrays: list[str] = []
        self.flags = FAST
        self.parts: list[str] = []  # definitions of functions that this one alone calls
        self.callees: dict[str, Any] = {}
        self._count = 0
        self.block: Any = None
        self.start(self.new_block())

    def refuse(self, found: str, allowed: str = "") -> NoReturn:
        """Errors: KernelError, always, with the chain of calls that led here."""
        places, scope = [], self.scope
        while scope is not None:
            places.append(scope.place)
            scope = scope.caller
        message = f"{places[0] if places else 'kernel'}: {found}" + (f"; allowed: {allowed}" if allowed else "")
        raise KernelError("\n  called from ".join([message, *places[1:]]))

    # instructions

    def new(self) -> str:
        self._count += 1
        return f"%v{self._count:x}"

    def write(self, kind: Any, text: str) -> K.Register:
        """A new register with the result of an instruction."""
        name = self.new()
        self.block.lines.append(f"{name} = {text}")
        return K.Register(kind, name)

    def address(self, text: str) -> str:
        """The name of a new register with an address or a vector."""
        return self.write(None, text).name

    def line(self, text: str) -> None:
        self.block.lines.append(text)

    def allocate(self, ty: str) -> str:
        """Address of memory on the stack."""
        name = self.new()
        self.allocations.append(f"{name} = alloca {ty}")
        return name

    def declare(self, name: str, result: str, parameters: list[str], attributes: str = "nounwind willreturn memory(none)") -> None:
        self.declared[name] = f"declare {result} @{name}({', '.join(parameters)}) {attributes}"

    def array(self, text: str) -> str:
        """Address of a constant."""
        self.arrays.append(text)
        return f"@SELF.{len(self.arrays) - 1}"

    # blocks

    def new_block(self) -> Block:
        self._count += 1
        return Block(f"b{self._count:x}")

    def start(self, block: Block) -> None:
        self.blocks.append(block)
        self.block = block

    def jump(self, target: Block) -> None:
        self.block.end = f"br label %{target.name}"

    def branch(self, condition: K.Register, then: Block, otherwise: Block) -> None:
        self.block.end = f"br i1 {condition.name}, label %{then.name}, label %{otherwise.name}"

    # conversions

    def name(self, x: Any, kind: K.Scalar) -> str:
        """The LLVM operand of a number or Pack, converted to that kind."""
        if isinstance(x, K.Register):
            return x.name if x.kind is kind else self._converted(x, kind)
        if isinstance(x, bool | int | float):
            if kind is K.FLOAT:
                return K.number(float(x))
            if kind is K.BOOL and isinstance(x, bool):
                return "true" if x else "false"
            if kind is K.INT and not isinstance(x, float):
                if not -(2**63) <= x < 2**63:
                    self.refuse(f"found the integer {x}", "integers of 64 bits")
                return str(int(x))
            if kind.lanes:
                return f"splat (double {K.number(float(x))})"
        self.refuse(f"found {K.describe(x)} where a value of kind {kind} is needed")

    def _converted(self, x: K.Register, kind: K.Scalar) -> str:
        if kind is K.FLOAT and x.kind in (K.INT, K.BOOL):
            return self.address(f"{'sitofp' if x.kind is K.INT else 'uitofp'} {x.kind.llvm} {x.name} to double")
        if kind is K.INT and x.kind is K.BOOL:
            return self.address(f"zext i1 {x.name} to i64")
        if kind.lanes and x.kind in K.NUMBERS:
            return self.repeated(self.name(x, K.FLOAT), kind.llvm, kind.lanes, "double")
        self.refuse(f"found a {x.kind} where a value of kind {kind} is needed")

    def repeated(self, name: str, vector: str, n: int, element: str) -> str:
        """A vector of n times the same."""
        first = self.address(f"insertelement {vector} poison, {element} {name}, i32 0")
        return self.address(f"shufflevector {vector} {first}, {vector} poison, <{n} x i32> zeroinitializer")

    def names_of(self, v: Any, kind: Any) -> list[str]:
        """The registers of a value, converted to a kind that holds it. Of a Missing value they are never read."""
        if isinstance(v, K.Missing):
            return ["poison"] * len(K.llvm_types(kind))
        if isinstance(kind, tuple):
            return [name for x, k in zip(v, kind, strict=True) for name in self.names_of(x, k)]
        if isinstance(kind, K.Scalar):
            return [self.name(v, kind)]
        return [] if isinstance(kind, K.Constant | K.Missing) else [v.data, v.record]

    # where paths meet

    def meet(self, paths: list[tuple[Block, Any]]) -> Any:
        """The value behind open blocks, each with its value: instructions then go into a block that follows all of them."""
        if len(paths) < 2:
            self.block, v = paths[0] if paths else (None, K.Missing())
            return v
        kind = K.kind_of(paths[0][1])
        for _, v in paths[1:]:
            kind = K.join(kind, K.kind_of(v))
        target, rows = self.new_block(), []
        for block, v in paths:
            self.block = block
            rows.append(self.names_of(v, kind))
            self.jump(target)
        self.start(target)
        blocks = [block for block, _ in paths]
        return K.made_of(kind, iter([self.chosen(ty, blocks, row) for ty, row in zip(K.llvm_types(kind), zip(*rows))]))

    def chosen(self, ty: str, blocks: list[Block], names: tuple[str, ...]) -> str:
        """One register for those of several blocks."""
        if len(set(names)) == 1:
            return names[0]
        name = self.new()
        self.block.phis.append(f"{name} = phi {ty} " + ", ".join([f"[ {x}, %{b.name} ]" for x, b in zip(names, blocks)]))
        return name

    def meet_names(self, paths: list[tuple[Block, dict[str, Any]]]) -> dict[str, Any]:
        """The variables behind open blocks, each with its variables."""
        if len(paths) < 2:
            self.block, names = paths[0] if paths else (None, {})
            return names
        first, missing = paths[0][1], K.Missing()
        names = dict.fromkeys(n for _, names in paths for n in names)  # in order: the code must not depend on hashes
        differ = [n for n in names if not all(names.get(n, paths) is first.get(n) for _, names in paths)]
        values = self.meet([(block, tuple([names.get(n, missing) for n in differ])) for block, names in paths])
        return names | first | dict(zip(differ, values))

    # the whole function

    def text(self, head: str) -> str:
        self.blocks[0].lines[:0] = self.allocations
        lines = [*(f"@SELF.{k} = internal constant {x}" for k, x in enumerate(self.arrays)), head + " {"]
        for b in self.blocks:
            lines += [b.name + ":", *b.phis, *b.lines, b.end]
        parts = [text.replace("@SELF.part(", f"@SELF.part{k}(") for k, text in enumerate(self.parts)]
        return "\n".join([*parts, *lines, "}"])
