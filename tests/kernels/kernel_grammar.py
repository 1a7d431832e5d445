"""The grammar of kernel sources, and a checker that answers with one sentence for each violation.

A module, named by its place below `kernels`, is one of three: kernels (most), PRIMITIVES (the lowest functions, whose compiled
meaning is in meanings), or PYTHON (it compiles, calls, lists or runs kernels). Marked functions of all obey the rules of
arguments; those of the first kind also reach buffers through load and store alone, so that one text runs on every scalar.
Whatever else is no kernel, the compiler refuses (test_refused_kernels.py).
"""

import ast
import sys

MARKS = {"kernel", "inlined", "primitive"}
PRIMITIVES = {"backend", "model.poses"}  # backend makes the marks, too
COMPILING = {"compiler.object_code"}  # may import llvmlite
PYTHON = {"entries", "plain", "entry", "plain_primitives", "model.layout", "compiler.entry_code",
          "compiler.adapter", "compiler.call_layout", "compiler.calls.python_calls", "compiler.calls.running"}  # fmt: skip
PACKAGES = {"numpy"}
COMPILERS = {"llvmlite"}
BUFFERS = {"topology", "parameters", "work"}  # and whatever a function loads from or stores to


def violations(source: str, module: str) -> list[str]:
    """What breaks the grammar in the source of the kernel module of that name."""
    tree = ast.parse(source)
    found = [] if ast.get_docstring(tree) else [f"{module} has no docstring"]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found += _imports(node, module)
        if isinstance(node, ast.FunctionDef):
            found += _function(node, module)
    if not is_python(module):
        found += _unmarked(tree, module)
    return found


def is_python(module: str) -> bool:
    """Whether a module holds ordinary Python, besides functions with marks."""
    return module in PYTHON or module.split(".")[0] in ("compiler", "frontend", "meanings")


def _name(node: ast.expr) -> str:
    """`mark` of mark, mark(...), marks.mark and marks.mark(...)."""
    if isinstance(node, ast.Call):
        return _name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _decorators(function: ast.FunctionDef) -> set[str]:
    return {_name(d) for d in function.decorator_list}


def _imports(node: ast.Import | ast.ImportFrom, module: str) -> list[str]:
    relative = isinstance(node, ast.ImportFrom) and node.level > 0
    names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    allowed = PACKAGES | (COMPILERS if module in COMPILING else set()) | set(sys.stdlib_module_names) | {"__future__"}
    wrong = [n for n in names if n.split(".")[0] not in allowed and not f"{n}.".startswith("freeflyer.kernels.")]
    return [f"{module} imports {n or '.'}" for n in (names if relative else wrong)]


def _function(node: ast.FunctionDef, module: str) -> list[str]:
    where, decorators = f"{module}.{node.name}", _decorators(node)
    found = []
    if not is_python(module) and decorators - MARKS:
        found.append(
            f"{where} has the decorator {min(decorators - MARKS)}: only {', '.join(sorted(MARKS))} are known here"
        )
    if "primitive" in decorators and module not in PRIMITIVES and module != "planted":
        found.append(f"{where} is a primitive outside of {sorted(PRIMITIVES)}")
    if not decorators & MARKS:
        return found
    a = node.args
    if len(node.decorator_list) > 1:
        found.append(f"{where} has more than one decorator")
    if a.defaults or a.kw_defaults:
        found.append(f"{where} has default arguments")
    if a.vararg or a.kwarg or a.kwonlyargs or a.posonlyargs:
        found.append(f"{where} has arguments that are not plain positional ones")
    names = [x.arg for x in a.args]
    if "topology" in names[1:]:
        found.append(f"{where} takes topology, but not first")
    if "parameters" in names and names[:2] != ["topology", "parameters"] and "topology" in names:
        found.append(f"{where} takes parameters, but not next to topology")
    return found if is_python(module) or "primitive" in decorators else found + _body(node, where)


def _body(function: ast.FunctionDef, where: str) -> list[str]:
    statements = function.body[1:] if ast.get_docstring(function) else function.body
    calls = [n for n in ast.walk(function) if isinstance(n, ast.Call) and n.args]
    buffers = BUFFERS | {_name(c.args[0]) for c in calls if _name(c).startswith(("load", "store", "accumulate"))}
    found = []
    for node in (n for statement in statements for n in ast.walk(statement)):

        if isinstance(node, ast.Name) and node.id == "math" and not where.startswith("math.trig."):
            found.append(f"{where} uses math, which knows floats only")
        if isinstance(node, ast.Subscript):
            base = getattr(node.value, "id", "")
            if not isinstance(node.ctx, ast.Load) or base in buffers:
                found.append(f"{where} reaches into {base or 'a buffer'} without load or store")

    return found


def _unmarked(tree: ast.Module, module: str) -> list[str]:
    """Functions that are not compiled may only serve to make constants when the module is imported."""
    plain = {n.name for n in tree.body if isinstance(n, ast.FunctionDef) and not _decorators(n)}
    plain -= MARKS | {"mark"} if module == "backend" else set()
    compiled = [n for n in tree.body if isinstance(n, ast.FunctionDef) and _decorators(n)]
    used = {n.id for f in compiled for n in ast.walk(f) if isinstance(n, ast.Name)}
    found = [f"{module}.{name} is not compiled, but compiled code uses it" for name in sorted(plain & used)]
    return found + [f"{module}.{name} is neither compiled nor private" for name in sorted(plain) if name[0] != "_"]
