"""Functions as syntax trees."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable
from functools import cache
from typing import Any


class KernelError(TypeError):
    """A kernel is not part of the language that is compiled. The message says where, what was found and what is allowed."""


class Source:
    """A function's syntax tree, and the names that it reaches. `locals`: names that it sets anywhere.

    Errors: KernelError for parameters that are not plain names, and if the text is not where Python says.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        code = function.__code__
        self.name, self.file, self.line = function.__name__, code.co_filename, code.co_firstlineno
        tree = definition(function)
        if tree is None:
            raise KernelError(f"{self.file}:{self.line}: the text of {self.name} is not there: kernels stand in a file, "
                              "as it was when it was imported, or in a notebook")
        a = tree.args
        if a.vararg or a.kwarg or a.kwonlyargs or a.posonlyargs or a.defaults:
            raise KernelError(f"{self.file}:{self.line}, in {self.name}: parameters must be plain names without defaults")
        self.body = tree.body if isinstance(tree, ast.FunctionDef) else [ast.copy_location(ast.Return(tree.body), tree.body)]
        self.globals, self.parameters = function.__globals__, [x.arg for x in a.args]
        self.cells = dict(zip(code.co_freevars, (c.cell_contents for c in function.__closure__ or ())))
        self.locals = written(*self.body) | set(self.parameters)


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
