"""Entries match their table, and every primitive has its meanings; what is no kernel, the compiler refuses."""

import ast
import freeflyer.kernels
import importlib
import inspect
import pytest
from freeflyer.kernels import plain_primitives
from freeflyer.kernels.backend import PRIMITIVE, mark
from freeflyer.kernels.compiler.frontend.functions import MEANINGS
from freeflyer.kernels.entries import ENTRIES
from freeflyer.kernels.entry import OPTIONS, kernel_function
from pathlib import Path

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
