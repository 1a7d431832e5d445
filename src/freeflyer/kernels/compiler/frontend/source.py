"""Functions as syntax trees, and which names are needed after each branch and loop."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable
from functools import cache
from typing import Any

Names = frozenset[str]
STATEMENTS = "assignments, calls, if, for, while, break, continue, return and pass"


class KernelError(TypeError):
    """A kernel is not part of the language that is compiled. The message says where, what was found and what is allowed."""


class Source:
    """A function's syntax tree, the names that it reaches, and the names that are needed after its statements.

    `locals`: names that it sets anywhere. `after[s]`: names needed after statement s. `again[s]`: needed when loop s begins again.
    `set_in[s]`: set in loop s.
    Errors: KernelError for statements and parameters that are not part of the language.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        code = function.__code__
        self.name, self.file, self.line = function.__name__, code.co_filename, code.co_firstlineno
        tree = definition(function)
        if tree is None:
            raise KernelError(f"{self.file}:{self.line}: the text of {self.name} is not to be found there; has the file changed?")
        self.body = tree.body if isinstance(tree, ast.FunctionDef) else [ast.copy_location(ast.Return(tree.body), tree.body)]
        self.globals, self.parameters = function.__globals__, [a.arg for a in tree.args.args]
        self.cells = dict(zip(code.co_freevars, (c.cell_contents for c in function.__closure__ or ())))
        a = tree.args
        if a.vararg or a.kwarg or a.kwonlyargs or a.posonlyargs or a.defaults:
            raise KernelError(f"{self.file}:{self.line}, in {self.name}: parameters must be plain names without defaults")
        self.locals = frozenset(self.parameters).union(*map(written, self.body))
        self.after: dict[ast.stmt, Names] = {}
        self.again: dict[ast.stmt, Names] = {}
        self.set_in: dict[ast.stmt, Names] = {}
        self._needed_before(self.body, frozenset(), None, None)

    def _needed_before(self, body: list[ast.stmt], after: Names, at_break: Names | None, at_continue: Names | None) -> Names:
        """Names that are needed before these statements, if `after` are needed behind them."""
        needed = after
        for s in reversed(body):
            self.after[s] = needed
            if isinstance(s, ast.Return):
                needed = read(s)
            elif isinstance(s, ast.If):
                then = self._needed_before(s.body, needed, at_break, at_continue)
                needed = then | self._needed_before(s.orelse, needed, at_break, at_continue) | read(s.test)
            elif isinstance(s, ast.For | ast.While):
                needed = self._needed_before_loop(s, needed)
            elif isinstance(s, ast.Break) and at_break is not None:
                needed = at_break
            elif isinstance(s, ast.Continue) and at_continue is not None:
                needed = at_continue
            elif isinstance(s, ast.AugAssign):
                needed = needed | read(s) | written(s)
            elif isinstance(s, ast.Assign):
                needed = (needed - written(s)) | read(s)
            elif isinstance(s, ast.Expr | ast.Pass):
                needed = needed | read(s)
            else:
                self._refuse(s, type(s).__name__)
        return needed

    def _needed_before_loop(self, s: ast.For | ast.While, needed: Names) -> Names:
        if s.orelse:
            self._refuse(s.orelse[0], "else after a loop")
        target = written(s.target) if isinstance(s, ast.For) else frozenset()
        head = read(s.iter if isinstance(s, ast.For) else s.test)
        again = first = needed | (frozenset() if isinstance(s, ast.For) else head)
        while True:  # until the loop's end needs no more than its begin
            wider = first | (self._needed_before(s.body, again, needed, again) - target)
            if wider == again:
                break
            again = wider
        self.again[s], self.set_in[s] = again, target.union(*map(written, s.body))
        return again | head

    def _refuse(self, node: ast.stmt, found: str) -> None:
        raise KernelError(f"{self.file}:{node.lineno}, in {self.name}: found {found}; a kernel consists of {STATEMENTS}")


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
    """All functions of a file."""
    return [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef | ast.Lambda)]


@cache
def read(node: ast.AST) -> Names:
    return frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))


@cache
def written(node: ast.AST) -> Names:
    return frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


@cache
def size(node: ast.AST) -> int:
    """How many nodes a syntax tree has."""
    return sum(1 for _ in ast.walk(node))
