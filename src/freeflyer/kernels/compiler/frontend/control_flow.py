"""Statements: assignments, branches, loops.

A branch whose condition is known is not written. If paths meet, variables that differ get phis. A loop over a range has a test
before its first turn and one at the end of each turn, so a variable that its body sets has a value after a loop that ran.
"""

import ast
from collections.abc import Callable
from typing import Any

from freeflyer.kernels.compiler.frontend import kinds as K
from freeflyer.kernels.compiler.frontend.instructions import Block, size, written
from freeflyer.kernels.compiler.frontend.operators import Operators, scalar_kind

UNROLLED = 400  # nodes of a syntax tree: a loop of known turns is written turn by turn if all of them have no more
Path = tuple[Block, dict[str, Any]]  # an open block, and the variables there


class ControlFlow(Operators):
    """Statements."""

    def statements(self, body: list[ast.stmt]) -> None:
        for s in body:
            if self.block is None:  # no path leads here
                return
            self.scope.node, meaning = s, STATEMENTS.get(type(s))
            if meaning is None:
                self.refuse(f"found {type(s).__name__}", "assignments, calls, if, for, while, break, continue, return, pass")
            if isinstance(s, ast.For | ast.While) and s.orelse:
                self.refuse("found else after a loop", "loops without else")
            meaning(self, s)

    def _expression(self, s: ast.Expr) -> None:
        if not isinstance(s.value, ast.Constant):  # a docstring
            self.value(s.value)

    def _assign(self, s: ast.Assign) -> None:
        v = self.value(s.value)
        for target in s.targets:
            self.assign(target, v)

    def assign(self, target: ast.expr, v: Any) -> None:
        if isinstance(target, ast.Name):
            self.scope.names[target.id] = v
        elif isinstance(target, ast.Tuple):
            if not isinstance(v, tuple) or len(v) != len(target.elts):
                self.refuse(f"found {K.describe(v)} for {len(target.elts)} names", "a tuple of as many values")
            for t, x in zip(target.elts, v):
                self.assign(t, x)
        elif isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice):
            place = self.integer_address(self.value(target.value), self.value(target.slice))
            self.line(f"store i64 {self.name(v, K.INT)}, ptr {place}, align 8")
        else:
            self.refuse(f"found an assignment to {type(target).__name__}", "assignments to names and tuples of names")

    def _augmented(self, s: ast.AugAssign) -> None:
        if not isinstance(s.target, ast.Name):
            self.refuse(f"found an operator and = behind {type(s.target).__name__}", "such as x += 1 for names")
        before = self.variable(s.target.id)
        self.scope.names[s.target.id] = self.binary(type(s.op), before, self.value(s.value))

    def _return(self, s: ast.Return) -> None:
        v = self.value(s.value) if s.value else None
        self.scope.returns.append((self.block, v))
        self.block = None

    def _if(self, s: ast.If) -> None:
        c, scope = self.condition(s.test), self.scope
        if not isinstance(c, K.Register):
            return self.statements(s.body if c else s.orelse)
        then, otherwise, names, paths = self.new_block(), self.new_block(), scope.names, []
        self.branch(c, then, otherwise)
        for block, body in ((then, s.body), (otherwise, s.orelse)):
            self.start(block)
            scope.names = dict(names)
            self.statements(body)
            paths += self._open_path()
        scope.names = self.meet_names(paths)

    def _open_path(self) -> list[Path]:
        """The path that leads here, if there is one."""
        return [] if self.block is None else [(self.block, self.scope.names)]

    def _leave(self, paths: list[Path]) -> None:
        paths += self._open_path()
        self.block = None

    # loops

    def _for(self, s: ast.For) -> None:
        if isinstance(s.iter, ast.Call) and isinstance(s.iter.func, ast.Name) and self.variable(s.iter.func.id) is range:
            bounds = self._bounds(s.iter)
            if all(type(x) is int and abs(x) < 2**31 for x in bounds) and 0 < len(range(*bounds)) * size(s) <= UNROLLED:
                return self._unrolled(s, tuple(range(*bounds)))
            return self._for_range(s, *bounds)
        values = self.value(s.iter)
        if not isinstance(values, tuple):
            self.refuse(f"found a loop over {K.describe(values)}", "loops over range(...) and over tuples")
        self._unrolled(s, values)

    def _bounds(self, e: ast.Call) -> tuple[Any, ...]:
        given = self.values(e.args) if not e.keywords else []
        first, end, step = {1: (0, *given, 1), 2: (*given, 1), 3: given}.get(len(given), (None, None, None))
        if step == 0 or not all(scalar_kind(x) in (K.INT, K.BOOL) for x in (first, end, step)):
            self.refuse(f"found range of {', '.join(map(K.describe, given))}", "one to three integers, the last other than 0")
        return tuple(x if type(x) is int else K.Register(K.INT, self.name(x, K.INT)) for x in (first, end, step))

    def _is_before(self, i: Any, end: Any, step: Any) -> Any:
        """Whether a range goes on at i. One whose step is 0 when the code runs is empty."""
        if type(step) is int:
            return self.compared(ast.Lt if step > 0 else ast.Gt, i, end)
        up, down = (self.binary(ast.BitAnd, self.compared(op, step, 0), self.compared(op, end, i)) for op in (ast.Gt, ast.Lt))
        return self.binary(ast.BitOr, up, down)

    def _for_range(self, s: ast.For, first: Any, end: Any, step: Any) -> None:
        paths, runs = [], self._is_before(first, end, step)
        if runs is False:
            return
        if isinstance(runs, K.Register):
            before, leave = self.new_block(), self.new_block()
            self.branch(runs, before, leave)
            self.blocks.append(leave)
            paths.append((leave, self.scope.names))
            self.start(before)

        def turn(i: K.Register) -> tuple[Any, Any]:
            self.assign(s.target, i)
            self.statements(s.body)
            self.scope.names = self.meet_names([*self.scope.continues, *self._open_path()])
            if self.block is None:
                return None, None
            more = self.write(K.INT, f"add {'nsw ' if step in (1, -1) else ''}i64 {i.name}, {self.name(step, K.INT)}")
            return more, self._is_before(more, end, step)

        self._loop(s, self.name(first, K.INT), turn, paths)

    def _while(self, s: ast.While) -> None:
        paths: list[Path] = []

        def turn(_: Any) -> tuple[Any, Any]:
            del paths[:]
            c = self.condition(s.test)
            if isinstance(c, K.Register):
                body, leave = self.new_block(), self.new_block()
                self.branch(c, body, leave)
                self.blocks.append(leave)
                paths.append((leave, dict(self.scope.names)))
                self.start(body)
            elif not c:
                self._leave(paths)
            self.statements(s.body)
            self.scope.names = self.meet_names([*self.scope.continues, *self._open_path()])
            return None, True

        self._loop(s, None, turn, paths)

    def _loop(self, s: Any, first: str | None, turn: Callable[[Any], tuple[Any, Any]], paths: list[Path]) -> None:
        """A loop. turn(counter) writes a turn and returns, at its end, the next counter and whether to go on. Variables that a
        turn sets are phis at its begin. Their kinds are not known before a turn is written. So it is written again, with wider
        kinds, until all values fit. `paths`: other paths that lead behind the loop."""
        scope, before, names = self.scope, self.block, self.scope.names
        outer, carried = (scope.breaks, scope.continues), [n for n in names if n in written(s)]
        kinds = tuple([K.in_registers(K.kind_of(names[n])) for n in carried])
        marks = [(x, len(x)) for x in (self.blocks, before.lines, scope.returns, self.allocations)]
        while True:
            start = [] if first is None else [first]
            entering = start + self.names_of(tuple([names[n] for n in carried]), kinds)
            begin = self.new_block()
            self.jump(begin)
            self.start(begin)
            types = ["i64"] * len(start) + K.llvm_types(kinds)
            registers = [self.new() for _ in types]
            left = iter(registers)
            counter = K.Register(K.INT, next(left)) if start else None
            scope.names = names | dict(zip(carried, K.made_of(kinds, left)))
            scope.breaks, scope.continues = [], []
            count, go_on = turn(counter)
            values = tuple([scope.names.get(n) for n in carried]) if self.block is not None else ()
            wider = tuple([K.in_registers(K.join(k, K.kind_of(v))) for k, v in zip(kinds, values)]) or kinds
            if wider == kinds:
                break
            kinds = wider
            for x, length in marks:
                del x[length:]
            self.block = before
        edges = [(before, entering)]
        if self.block is not None:
            returning = ([count.name] if start else []) + self.names_of(values, kinds)
            edges.append((self.block, returning))
            if isinstance(go_on, K.Register):
                leave = self.new_block()
                self.branch(go_on, begin, leave)
                self.blocks.append(leave)
                paths.append((leave, scope.names))
            elif go_on:
                self.jump(begin)
            else:
                paths.append((self.block, scope.names))
                edges.pop()
        for k, (name, ty) in enumerate(zip(registers, types)):
            begin.phis.append(f"{name} = phi {ty} " + ", ".join(f"[ {row[k]}, %{b.name} ]" for b, row in edges))
        paths += scope.breaks
        scope.breaks, scope.continues = outer
        scope.names = self.meet_names(paths)

    def _unrolled(self, s: ast.For, values: tuple[Any, ...]) -> None:
        """A turn for each value."""
        scope = self.scope
        outer, scope.breaks = (scope.breaks, scope.continues), []
        for x in values:
            scope.continues = []
            self.assign(s.target, x)
            self.statements(s.body)
            scope.names = self.meet_names([*scope.continues, *self._open_path()])
            if self.block is None:
                break
        paths = [*scope.breaks, *self._open_path()]
        scope.breaks, scope.continues = outer
        scope.names = self.meet_names(paths)


STATEMENTS: dict[type, Callable[..., None]] = {
    ast.Expr: ControlFlow._expression, ast.Assign: ControlFlow._assign, ast.AugAssign: ControlFlow._augmented,
    ast.Return: ControlFlow._return, ast.If: ControlFlow._if, ast.For: ControlFlow._for, ast.While: ControlFlow._while,
    ast.Break: lambda walk, s: walk._leave(walk.scope.breaks), ast.Continue: lambda walk, s: walk._leave(walk.scope.continues),
    ast.Pass: lambda walk, s: None,
}  # fmt: skip
