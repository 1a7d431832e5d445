"""What is not part of the language of kernels is refused: where it stands, what was found, what is allowed, who called; entries
match their table, and every primitive has its meanings."""

import ast
import freeflyer.kernels
import importlib
import inspect
import math
import numpy as np
import pytest
from compiled_parts import compiled, from_text, integers, numbers, packs
from freeflyer.kernels import plain_primitives
from freeflyer.kernels.backend import PRIMITIVE, fma, kernel, load, load_int, mark, select_less, store
from freeflyer.kernels.compiler.frontend.functions import MEANINGS
from freeflyer.kernels.compiler.frontend.instructions import KernelError
from freeflyer.kernels.entries import ENTRIES
from freeflyer.kernels.entry import OPTIONS, kernel_function
from pathlib import Path


@kernel
def deep(x):
    return [x]


def between(x):
    return deep(x) + 1.0


def itself(x):
    return itself(x)


@kernel
def other(x):
    return one(x)


def rest(x, *others):
    return x


@kernel
def one(x):
    return other(x)


NAMES = {"math": math, "np": np, "load": load, "store": store, "load_int": load_int, "fma": fma, "select_less": select_less,
         "deep": deep, "between": between, "itself": itself, "one": one, "rest": rest, "NUMPY": np.float64(3.0),
         "LIST": [1.0, 2.0], "TEXT": "text"}  # fmt: skip
HOSTILE = [  # bodies of f(x, i, b, p, t): a float, an int, a buffer of numbers, one of Packs, one of integers
    ("if x > 0.0:\n  y = 1.0\nreturn y", "y has no value on one of the paths that lead here"),
    ("for k in range(i):\n  y = 1.0\nreturn y", "y has no value on one of the paths"),
    ("for k in range(i):\n  pass\nreturn k", "k has no value on one of the paths"),
    ("while i > 0:\n  y = i\n  i -= 1\nreturn y", "y has no value here"), ("return y", "y has no value here"),
    ("y = y + 1.0\nreturn y", "y has no value here"),
    ("if x > 0.0:\n  y = (x, x)\nelse:\n  y = (x, x, x)\nreturn y[0]", "is a tuple of 2 on one path and a tuple of 3 on another"),
    ("if x > 0.0:\n  y = (x, x)\nelse:\n  y = x\nreturn y", "is a tuple of 2 on one path and a float on another"),
    ("y = x\nfor k in range(i):\n  y = (y, y)\nreturn 1.0", "y is a float on one path and a tuple of 2 on another"),
    ("if x > 0.0:\n  y = x\nelse:\n  y = (x, x)\nreturn 1.0", None),
    ("y = b if x > 0.0 else t\nreturn load(y, 0)", "the conditional expression is a buffer of numbers on one path"),
    ("y = math.sin if x > 0.0 else math.cos\nreturn y(x)", "the conditional expression is"),
    ("if x > 0.0:\n  return x\nreturn (x, x)", "is a float on one path and a tuple of 2 on another"),
    ("return [x, x]", "found List"),
    ("return sum((x, x))", "found a call of"),
    ("return sum(x for k in (1, 2))", "found GeneratorExp"), ("return tuple(x for k in range(i))[0]", "found range of int"),
    ("return tuple(x for k in (1, 2) if k > 1)[0]", "found a generator over a tuple of 2"),
    ("return tuple(k for k in x)[0]", "found a generator over float"),
    ("for a, c in zip((1, 2), x):\n  pass\nreturn x", "found zip of a tuple of 2, float"),
    ("for k, a in enumerate(i):\n  pass\nreturn x", "found enumerate of int"),
    ("return fma(a=x, b=x, c=x)", "found the keyword argument a"),
    ("return np.sin(x)", "sin, which has no compiled meaning"), ("return x(1.0)", "found a call of float"),
    ("return between(x)", "found List"), ("return itself(x)", "itself calls itself"), ("return one(x)", "calls itself"),
    ("return fma(x, x)", "takes 3 arguments, got 2"), ("return between(x, x)", "between takes 1 arguments, got 2"),
    ("return rest()", "rest takes 1 arguments, got 0"),
    ("return 'text'", "found the constant 'text'"), ("return 1j", "found the constant 1j"), ("return TEXT", "found TEXT, a str"),
    ("return x + NUMPY", "found NUMPY, a float64"), ("return x + LIST[0]", "found LIST, a list"),
    ("return b[0]", "found an entry of buffer of numbers"), ("b[0] = x\nreturn x", "found an entry of buffer of numbers"),
    ("t[0:2] = 1\nreturn x", "found an assignment to Subscript"), ("x.real = 1.0\nreturn x", "found an assignment to Attribute"),
    ("return x.real", "found the attribute real of float"), ("return math.no", "found the attribute no"),
    ("x, y = x\nreturn x", "found float for 2 names"), ("x, *y = (x, x)\nreturn x", "found an assignment to Starred"),
    ("return fma(*x)", "found * before float"), ("t[0] += 1\nreturn x", "found an operator and = behind Subscript"),
    ("return (x, x)[2]", "found entry 2 of a tuple of 2"), ("return (x, (x, x))[i]", "by an index that is not constant"),
    ("return (x, x)[0:i]", "found a slice of a tuple of 2"),
    ("return load(b, x)", "found a float where a value of kind int is needed"),
    ("return load(x, 0)", "a buffer of numbers or Packs here"), ("return load_int(b, 0)", "found an entry of buffer of numbers"),
    ("return x // 2", "found float // the constant 2"), ("return x % 2.0", "found float % the constant 2.0"),
    ("return x << 1", "found float << the constant 1"), ("return i << 64", "found a shift by 64"),
    ("return i ** 2", "found int ** the constant 2"), ("return 1 << -1", "negative shift count"), ("return 1 // 0", "by zero"),
    ("return i + 2**70", "found the operator Pow"), ("return i + (1 << 70)", "found the integer"),
    ("return ~i", "found ~ before int"), ("return x and x", "beside 'and' or 'or', whose value is one of the operands"),
    ("return i or 3", "beside 'and' or 'or'"), ("return x if load(p, 0) else x", "found Pack of 8 as a condition"),
    ("return x if load(p, 0) > 1.0 else x", "found a comparison of Pack of 8 and the constant 1.0"),
    ("return x if b else x", "found buffer of numbers as a condition"),
    ("return x if (x, x) == (x, x) else x", "found a comparison of a tuple of 2"),
    ("return x if x is None else x", "found a comparison of float"),
    ("return x if i in (1, 2) else x", "found a comparison of int"),
    ("return load(p, 0) + (x,)", "found Pack of 8 + a tuple of 1"), ("for k in x:\n  pass\nreturn x", "found a loop over float"),
    ("for k in range(x):\n  pass\nreturn x", "found range of float"),
    ("for k in range(stop=3):\n  pass\nreturn x", "found range of"),
    ("for k in range(0, i, 0):\n  pass\nreturn x", "found range of"),
    ("for k in range(i):\n  pass\nelse:\n  x = 2.0\nreturn x", "found else after a loop"),
    ("while i > 0:\n  i -= 1\nelse:\n  x = 2.0\nreturn x", "found else after a loop"),
    ("with b:\n  pass\nreturn x", "found With"), ("y: float = x\nreturn y", "found AnnAssign"),
    ("return (y := x)", "found NamedExpr"),
    ("return min(x)", "found min of float"), ("return max((x, x))", "found max of a tuple of 2"),
    ("return abs(b)", "found abs of buffer of numbers"), ("return len(b)", "found len of buffer of numbers"),
    ("return select_less(load(p, 0), x, (x,), x)", "numbers, and Packs of one size"),
    ("while True:\n  i += 1", "it never returns"),
]  # fmt: skip
ARGUMENTS = (1.5, 2, numbers(np.zeros(8)), packs(np.zeros(8)), integers(np.zeros(3)))


@pytest.mark.parametrize(("body", "sentence"), HOSTILE, ids=[body for body, _ in HOSTILE])
def test_what_is_no_kernel_is_refused(body, sentence):
    f = compiled(from_text("def f(x, i, b, p, t):\n" + "".join(f"    {line}\n" for line in body.splitlines()), **NAMES))
    if sentence is None:  # a name of no kind is no error where nothing reads it
        f(*ARGUMENTS)
        return
    with pytest.raises(KernelError) as found:
        f(*ARGUMENTS)
    assert sentence in str(found.value)
    assert "<text" in str(found.value), "the place is missing"


@pytest.mark.parametrize("head", ["def f(x=1.0):", "def f(*, x):", "def f(x, /):", "def f(**x):"])
def test_parameters_are_plain_names(head):
    with pytest.raises(KernelError, match="parameters must be plain names without defaults"):
        compiled(from_text(f"{head}\n    return 1.0\n"))(2.0)


def test_the_chain_of_calls_is_named():
    with pytest.raises(KernelError) as found:
        compiled(from_text("def f(x):\n    y = 2.0\n    return between(y) + x\n", **NAMES))(1.0)
    lines = str(found.value).splitlines()
    assert "in deep: found List; allowed: numbers, names, tuples, entries of tuples, operators" in lines[0]
    assert "test_refused_kernels.py" in lines[0]
    assert lines[1].startswith("  called from ")
    assert lines[1].endswith("in between")
    assert lines[2].endswith(":3, in f")


FOLDER = Path(freeflyer.kernels.__file__).parent
PRIMITIVES = ("backend", "model.poses")  # the modules of the lowest functions
FILES = {".".join(path.relative_to(FOLDER).with_suffix("").parts): path for path in sorted(FOLDER.rglob("*.py"))}
INPUTS = {"q": ("q",), "v": ("v", "a", "tau", "dv"), "u": ("u", "v", "tau", "du"),
          "m": ("positions", "rates", "system", "linear", "accelerations", "problem"), "f": ("tau", "rates"), "g": ("g",),
          "w": ("wrenches",), "s": ("settings",)}  # fmt: skip


def names_of(kernel, loaded):
    """Parameters of a kernel; of one by `with_loads`, those of the function that it calls, as far as the kernel has them. Last,
    whether it takes more."""
    names = dict(inspect.signature(kernel).parameters)
    more = [x for x in names if names[x].kind is inspect.Parameter.VAR_POSITIONAL]
    given = ("count", "g", "wrenches", "expressed")[: 1 if loaded else 4] if hasattr(kernel, "__wrapped__") else ()
    return [x for x in names if x not in (*given, *more)], bool(more)


def parameters_of(entry):
    """Those of its kernel; of two stages, what the first takes and the second makes, the tables between them left out."""
    kernel, loaded = kernel_function(entry.source), "w" in entry.inputs
    if not hasattr(kernel, "stages"):
        return names_of(kernel, loaded)
    (first, _), (second, _) = (names_of(x, loaded) for x in kernel.stages[:2])
    count = 2 + entry.input_count + len(entry.options)
    tables = len(first) - count
    assert second[: 2 + tables] == [*first[:2], *first[count:]]
    return first[:count] + second[2 + tables :], False


@pytest.mark.parametrize("name", ENTRIES)
def test_the_kernel_of_an_entry_matches_the_table(name):
    entry = ENTRIES[name]
    assert entry.name == name
    names, more = parameters_of(entry)
    assert names[:2] == ["topology", "parameters"]
    own, count = 2 + len(entry.inputs), 2 + entry.input_count
    for letter, parameter in zip(entry.inputs, names[2:own]):
        assert parameter.startswith(INPUTS[letter]), (letter, parameter)
    assert tuple(names[count : count + len(entry.options)]) == entry.options
    assert set(entry.options) <= set(OPTIONS)
    size = count + len(entry.options) + len(entry.outputs)
    assert len(names) == size or (more and len(names) < size)
    kernel = kernel_function(entry.source)
    for function in (kernel, *getattr(kernel, "stages", ())[1:2]):
        assert inspect.getdoc(function), "the docstring gives the result and its shape"


def primitives() -> dict[str, object]:
    """All primitives, by module and name."""
    modules = {name: importlib.import_module(f"freeflyer.kernels.{name}") for name in PRIMITIVES}
    return {f"{module.rpartition('.')[2]}.{name}": f for module, of in modules.items() for name,
            f in vars(of).items() if mark(f) == PRIMITIVE and f.__module__ == of.__name__}  # fmt: skip


def test_every_primitive_has_its_meanings():
    assert len(primitives()) > 30
    importlib.import_module("freeflyer.kernels.compiler.meanings")
    assert {name for name, f in primitives().items() if f not in MEANINGS} == set()
    # It is replaced, or its Python text is right for one number; some are met by batches alone
    replaced = {f"{f.__module__.rpartition('.')[2]}.{f.__name__}" for f in plain_primitives.replacements(8)}
    one_number = {f"backend.{name}" for name in ("like", "lane", "with_lane", "lanes", "rint", "integer", "times_zero", "turned",
                                                  "taken", "release")}
    one_number |= {f"poses.{name}" for name in ("vector", "plus", "times", "vector_product", "entries", "load_vector",
                                                "store_vector")}
    batches = {f"backend.{name}" for name in ("blend", "pack_lanes", "as_numbers", "block_to_packs", "packs_to_block")}
    assert set(primitives()) - replaced == one_number | batches


def test_llvmlite_is_imported_where_code_is_compiled_and_loaded_alone():
    importing = {
        module for module, path in FILES.items() for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [x.name for x in node.names])
        if name.split(".")[0] in ("numba", "llvmlite")
    }  # fmt: skip
    assert importing == {"compiler.object_code"}
