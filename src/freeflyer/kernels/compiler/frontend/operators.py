"""Expressions: names, tuples, arithmetic, comparisons, conditions.

What is known while code is written is computed by Python itself; the rest becomes instructions. Integers have 64 bits and wrap
around; by zero, // and % give 0 and / gives infinity or NaN. Everything else is as in Python, but for the rounding of floats.
"""

import ast
import builtins
import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any

from freeflyer.kernels.compiler.frontend import kinds as K
from freeflyer.kernels.compiler.frontend.instructions import Instructions

PYTHON: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
    ast.BitXor: operator.xor, ast.RShift: operator.rshift, ast.LShift: operator.lshift,
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_, ast.Invert: operator.inv,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip
SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^", ast.RShift: ">>", ast.LShift: "<<", ast.Pow: "**", ast.MatMult: "@",
}  # fmt: skip
FLOATS = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
INTS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor"}
COMPARED = {ast.Eq: ("eq", "oeq"), ast.NotEq: ("ne", "une"), ast.Lt: ("slt", "olt"), ast.LtE: ("sle", "ole"),
            ast.Gt: ("sgt", "ogt"), ast.GtE: ("sge", "oge")}  # fmt: skip
NO_EFFECT = {ast.Add: 0, ast.Sub: 0, ast.Mult: 1, ast.FloorDiv: 1, ast.RShift: 0, ast.LShift: 0}  # as right operand


def scalar_kind(x: Any) -> K.Scalar | None:
    """The kind of a number or Pack; None for anything else."""
    return x.kind if isinstance(x, K.Register) and (x.kind in K.NUMBERS or x.kind.lanes) else K.OF_PYTHON.get(type(x))


def known(x: Any) -> bool:
    """Whether Python can compute with a value now: numbers, and tuples, whose entries may be registers."""
    return type(x) in K.OF_PYTHON or isinstance(x, tuple)


def usable(x: Any) -> bool:
    """Whether compiled code may name a value that Python holds."""
    if isinstance(x, tuple):
        return all(map(usable, x))
    return x is None or type(x) in K.OF_PYTHON or callable(x) or isinstance(x, ModuleType)


class Operators(Instructions):
    """Expressions, but for calls."""

    def value(self, e: ast.expr) -> Any:
        meaning = EXPRESSIONS.get(type(e))
        if meaning is None:
            self.refuse(f"found {type(e).__name__}", "numbers, names, tuples, entries of tuples, operators, comparisons, and calls")
        return meaning(self, e)

    def _constant(self, e: ast.Constant) -> Any:
        if e.value is not None and type(e.value) not in K.OF_PYTHON:
            self.refuse(f"found the constant {e.value!r}", "integers, floats, True, False, None")
        return e.value

    def variable(self, name: str) -> Any:
        scope = self.scope
        if name in scope.names:
            v = scope.names[name]
            if isinstance(v, K.Missing):
                self.refuse(f"{name} {v.why}", "names that have a value of one kind on every path")
            return v
        source = scope.source
        for names in (source.cells, source.globals, vars(builtins)) if name not in source.locals else ():
            if name in names:
                if not usable(names[name]):
                    self.refuse(f"found {name}, a {type(names[name]).__name__}", "numbers, tuples of them, functions and modules")
                return names[name]
        self.refuse(f"{name} has no value here", "names that are assigned before, on every path")

    def _attribute(self, e: ast.Attribute) -> Any:
        owner = self.value(e.value)
        if not isinstance(owner, ModuleType) or not hasattr(owner, e.attr):
            self.refuse(f"found the attribute {e.attr} of {K.describe(owner)}", "names of modules")
        return getattr(owner, e.attr)

    def values(self, expressions: list[ast.expr]) -> list[Any]:
        """The values of expressions, of which starred tuples give several."""
        found: list[Any] = []
        for e in expressions:
            v = self.value(e.value if isinstance(e, ast.Starred) else e)
            if isinstance(e, ast.Starred) and not isinstance(v, tuple):
                self.refuse(f"found * before {K.describe(v)}", "* before a tuple")
            found += v if isinstance(e, ast.Starred) else [v]
        return found

    def _subscript(self, e: ast.Subscript) -> Any:
        v = self.value(e.value)
        if isinstance(e.slice, ast.Slice):
            ends = [self.value(x) if x is not None else None for x in (e.slice.lower, e.slice.upper, e.slice.step)]
            if not isinstance(v, tuple) or not all(x is None or type(x) is int for x in ends):
                self.refuse(f"found a slice of {K.describe(v)}", "slices of tuples with constant ends")
            return v[slice(*ends)]
        return self.entry(v, self.value(e.slice))

    def entry(self, v: Any, k: Any) -> Any:
        """Entry k of a tuple or of a buffer of integers."""
        if not isinstance(v, tuple):
            return self.write(K.INT, f"load i64, ptr {self.integer_address(v, k)}, align 8")
        if type(k) is int:
            if not -len(v) <= k < len(v):
                self.refuse(f"found entry {k} of a tuple of {len(v)}")
            return v[k]
        return self._entry_by_register(v, k)

    def integer_address(self, v: Any, k: Any) -> str:
        if not isinstance(v, K.Register) or v.kind is not K.INTEGERS:
            self.refuse(f"found an entry of {K.describe(v)}", "entries of tuples; of buffers by load and store")
        return self.address(f"getelementptr inbounds i64, ptr {v.name}, i64 {self.name(k, K.INT)}")

    def _entry_by_register(self, v: tuple[Any, ...], k: Any) -> Any:
        """Entry k is known when the code runs: from the end if it is negative, the last one if there is no such."""
        kind = K.kind_of(v[0]) if v else K.Missing()
        for x in v:
            kind = K.in_registers(K.join(kind, K.kind_of(x)))
        types = K.llvm_types(kind)
        if not types:
            self.refuse(f"found an entry of {K.describe(v)} by an index that is not constant", "tuples of values of one kind")
        at, names = self.name(k, K.INT), self.names_of(v[-1], kind)
        for n, x in enumerate(v[:-1]):
            same = [self.address(f"icmp eq i64 {at}, {m}") for m in (n, n - len(v))]
            chosen = self.address(f"or i1 {same[0]}, {same[1]}")
            pairs = zip(types, self.names_of(x, kind), names)
            names = [self.address(f"select i1 {chosen}, {ty} {this}, {ty} {other}") for ty, this, other in pairs]
        return K.made_of(kind, iter(names))

    # arithmetic

    def binary(self, op: type[ast.operator], a: Any, b: Any) -> Any:
        """a op b."""
        if known(a) and known(b):
            return self.folded(op, a, b)
        x, y = scalar_kind(a), scalar_kind(b)
        if x is None or y is None or (x.lanes and y.lanes and x is not y):
            self.refuse(f"found {K.describe(a)} {SIGNS[op]} {K.describe(b)}", "operators between numbers, or Packs of one size")
        if x.lanes or y.lanes or x is K.FLOAT or y is K.FLOAT or op is ast.Div:
            kind = x if x.lanes else y if y.lanes else K.FLOAT
            if op not in FLOATS:
                self.refuse(f"found {K.describe(a)} {SIGNS[op]} {K.describe(b)}", "+ - * / of floats and Packs")
            return self.write(kind, f"{FLOATS[op]} {self.flags}{kind.llvm} {self.name(a, kind)}, {self.name(b, kind)}")
        return self._of_integers(op, a, b)

    def folded(self, op: type, *values: Any) -> Any:
        if op not in PYTHON:
            self.refuse(f"found the operator {op.__name__}", "+ - * / // % & | ^ << >>, comparisons")
        try:
            return PYTHON[op](*values)
        except Exception as error:
            self.refuse(f"{' and '.join(map(K.describe, values))}: {error}")

    def _of_integers(self, op: type[ast.operator], a: Any, b: Any) -> Any:
        if type(b) is int and NO_EFFECT.get(op) == b and scalar_kind(a) is K.INT:
            return a
        if type(a) is int and scalar_kind(b) is K.INT and (op, a) in ((ast.Add, 0), (ast.Mult, 1), (ast.Mult, 0)):
            return b if (op, a) != (ast.Mult, 0) else 0
        if op in (ast.BitAnd, ast.BitOr, ast.BitXor) and scalar_kind(a) is K.BOOL and scalar_kind(b) is K.BOOL:
            return self.write(K.BOOL, f"{INTS[op]} i1 {self.name(a, K.BOOL)}, {self.name(b, K.BOOL)}")
        x, y = self.name(a, K.INT), self.name(b, K.INT)
        if op in INTS:
            return self.write(K.INT, f"{INTS[op]} i64 {x}, {y}")
        if op is ast.FloorDiv or op is ast.Mod:
            return self._divided(op, x, y, b)
        if op is not ast.RShift and op is not ast.LShift:
            self.refuse(f"found {K.describe(a)} {SIGNS[op]} {K.describe(b)}", "+ - * / // % & | ^ << >> of integers")
        if type(b) is int and not 0 <= b < 64:
            self.refuse(f"found a shift by {b}", "shifts by 0 to 63")
        if type(b) is int:
            return self.write(K.INT, f"{'ashr' if op is ast.RShift else 'shl'} i64 {x}, {y}")
        inside = self.address(f"icmp ult i64 {y}, 64")  # as in Python, all bits are shifted out by more
        y = self.address(f"select i1 {inside}, i64 {y}, i64 63")
        if op is ast.RShift:
            return self.write(K.INT, f"ashr i64 {x}, {y}")
        return self.write(K.INT, f"select i1 {inside}, i64 {self.address(f'shl i64 {x}, {y}')}, i64 0")

    def _divided(self, op: type[ast.operator], x: str, y: str, b: Any) -> K.Register:
        """Rounded down, as in Python; of 0 and -1 the processor's own division would end the process."""
        if type(b) is int and b > 0 and b & (b - 1) == 0:
            return self.write(K.INT, f"and i64 {x}, {b - 1}" if op is ast.Mod else f"ashr i64 {x}, {b.bit_length() - 1}")
        special = self.address(f"icmp ult i64 {self.address(f'add i64 {y}, 1')}, 2")
        safe = self.address(f"select i1 {special}, i64 1, i64 {y}")
        quotient, rest = self.address(f"sdiv i64 {x}, {safe}"), self.address(f"srem i64 {x}, {safe}")
        signs = self.address(f"icmp slt i64 {self.address(f'xor i64 {rest}, {safe}')}, 0")
        down = self.address(f"and i1 {self.address(f'icmp ne i64 {rest}, 0')}, {signs}")
        if op is ast.Mod:
            return self.write(K.INT, f"add i64 {rest}, {self.address(f'select i1 {down}, i64 {safe}, i64 0')}")
        quotient = self.address(f"add i64 {quotient}, {self.address(f'sext i1 {down} to i64')}")
        return self.write(K.INT, f"select i1 {special}, i64 {self.address(f'mul i64 {x}, {y}')}, i64 {quotient}")

    def _unary(self, e: ast.UnaryOp) -> Any:
        op = type(e.op)
        if op is ast.Not:
            c = self.condition(e.operand)
            return self.write(K.BOOL, f"xor i1 {c.name}, true") if isinstance(c, K.Register) else not c
        v = self.value(e.operand)
        if known(v):
            return self.folded(op, v)
        kind = scalar_kind(v)
        if kind is None or op is ast.Invert:
            self.refuse(f"found {'~' if op is ast.Invert else '-'} before {K.describe(v)}", "- and + before numbers and Packs")
        if op is ast.UAdd and kind is not K.BOOL:
            return v
        if kind in (K.BOOL, K.INT):
            return self.binary(ast.Sub if op is ast.USub else ast.Add, 0, K.Register(K.INT, self.name(v, K.INT)))
        return self.negated(v)

    def negated(self, x: K.Register) -> K.Register:
        return self.write(x.kind, f"fneg {self.flags}{x.kind.llvm} {x.name}")

    # comparisons and conditions

    def _compare(self, e: ast.Compare) -> Any:
        """a < b < c is a < b and b < c, where c is computed only if a < b."""
        left, steps = self.value(e.left), []

        def step(op: type[ast.cmpop], right: ast.expr) -> Callable[[], Any]:
            def compare() -> Any:
                nonlocal left
                a, left = left, self.value(right)
                return self.compared(op, a, left)

            return compare

        steps = [step(type(op), right) for op, right in zip(e.ops, e.comparators)]
        return steps[0]() if len(steps) == 1 else self.short_circuit(steps, False)

    def compared(self, op: type[ast.cmpop], a: Any, b: Any) -> Any:
        if type(a) in K.OF_PYTHON and type(b) in K.OF_PYTHON:
            return self.folded(op, a, b)
        x, y = scalar_kind(a), scalar_kind(b)
        if x not in K.NUMBERS or y not in K.NUMBERS or op not in COMPARED:
            self.refuse(f"found a comparison of {K.describe(a)} and {K.describe(b)}",
                        "< <= > >= == != of two numbers; of Packs select_less and all_below")  # fmt: skip
        signed, ordered = COMPARED[op]
        if K.FLOAT in (x, y):
            return self.write(K.BOOL, f"fcmp {self.flags}{ordered} double {self.name(a, K.FLOAT)}, {self.name(b, K.FLOAT)}")
        return self.write(K.BOOL, f"icmp {signed} i64 {self.name(a, K.INT)}, {self.name(b, K.INT)}")

    def condition(self, e: ast.expr) -> Any:
        """Whether an expression is true: a bool that is known, or one in a register."""
        if isinstance(e, ast.BoolOp):
            return self.short_circuit([lambda x=x: self.condition(x) for x in e.values], isinstance(e.op, ast.Or))
        return self.truth(self.value(e))

    def truth(self, v: Any) -> Any:
        if type(v) in K.OF_PYTHON:
            return bool(v)
        kind = scalar_kind(v)
        if kind not in K.NUMBERS:
            self.refuse(f"found {K.describe(v)} as a condition", "numbers and comparisons as conditions")
        if kind is K.BOOL:
            return v
        return self.write(K.BOOL, f"icmp ne i64 {v.name}, 0" if kind is K.INT else f"fcmp une double {v.name}, {K.number(0.0)}")

    def _boolop(self, e: ast.BoolOp) -> Any:
        def operand(x: ast.expr) -> Any:
            v = self.value(x)
            if scalar_kind(v) is not K.BOOL:
                self.refuse(f"found {K.describe(v)} beside 'and' or 'or', whose value is one of the operands", "comparisons")
            return v

        return self.short_circuit([lambda x=x: operand(x) for x in e.values], isinstance(e.op, ast.Or))

    def short_circuit(self, operands: list[Callable[[], Any]], stop: bool) -> Any:
        """The first operand that is `stop`, else the last: those behind it are not computed."""
        paths = []
        for k, operand in enumerate(operands):
            c = operand()
            if k == len(operands) - 1 or c is stop:
                paths.append((self.block, c))
                break
            if isinstance(c, K.Register):
                end, more = self.new_block(), self.new_block()
                self.branch(c, *((end, more) if stop else (more, end)))
                self.blocks.append(end)
                paths.append((end, stop))
                self.start(more)
        return self.meet(paths)

    def _ifexp(self, e: ast.IfExp) -> Any:
        c = self.condition(e.test)
        if not isinstance(c, K.Register):
            return self.value(e.body if c else e.orelse)
        then, otherwise, paths = self.new_block(), self.new_block(), []
        self.branch(c, then, otherwise)
        for block, x in ((then, e.body), (otherwise, e.orelse)):
            self.start(block)
            v = self.value(x)
            paths.append((self.block, v))
        made = self.meet(paths)
        if isinstance(made, K.Missing):
            self.refuse(f"the conditional expression {made.why}", "values of one kind on both paths")
        return made

    def _generated(self, e: ast.GeneratorExp) -> tuple[Any, ...]:
        """The entries of tuple(... for ...): one for each entry of a tuple."""
        outer, self.scope.names, made = self.scope.names, dict(self.scope.names), []
        values = self.value(e.generators[0].iter)
        if not isinstance(values, tuple) or len(e.generators) > 1 or e.generators[0].ifs:
            self.refuse(f"found a generator over {K.describe(values)}", "one loop over range(...) that is known, or over a tuple")
        for x in values:
            self.assign(e.generators[0].target, x)  # of ControlFlow
            made.append(self.value(e.elt))
        self.scope.names = outer
        return tuple(made)

    def _call(self, e: ast.Call) -> Any:
        if e.keywords:
            self.refuse(f"found the keyword argument {e.keywords[0].arg}", "arguments by position")
        function = self.value(e.func)
        if function is tuple and len(e.args) == 1 and isinstance(e.args[0], ast.GeneratorExp):
            return self._generated(e.args[0])
        arguments = self.values(e.args)
        statement, self.scope.node = self.scope.node, e
        made = self.call(function, arguments)  # of Functions
        self.scope.node = statement
        return made


EXPRESSIONS: dict[type, Callable[..., Any]] = {
    ast.Constant: Operators._constant, ast.Name: lambda walk, e: walk.variable(e.id), ast.Attribute: Operators._attribute,
    ast.Tuple: lambda walk, e: tuple(walk.values(e.elts)), ast.Subscript: Operators._subscript, ast.Call: Operators._call,
    ast.BinOp: lambda walk, e: walk.binary(type(e.op), walk.value(e.left), walk.value(e.right)), ast.UnaryOp: Operators._unary,
    ast.Compare: Operators._compare, ast.BoolOp: Operators._boolop, ast.IfExp: Operators._ifexp,
}  # fmt: skip
