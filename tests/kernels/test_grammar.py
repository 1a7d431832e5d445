"""Kernel sources obey their grammar (see kernel_grammar), and the checker finds what is planted against it."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from kernel_grammar import EXTENDING, OURS, PYTHON, violations
from kernel_samples import ENTRIES

import freeflyer.kernels
from freeflyer.kernels import plain

FOLDER = Path(freeflyer.kernels.__file__).parent
FILES = {path.stem: path for path in sorted(FOLDER.rglob("*.py")) if path.stem != "__init__"}


def test_modules_are_those_that_the_grammar_knows():
    assert set(FILES) >= EXTENDING | PYTHON
    assert len(set(FILES) - EXTENDING - PYTHON) >= 12


@pytest.mark.parametrize("module", [name for name in FILES if FILES[name].stat().st_size])
def test_module_obeys(module):
    assert violations(FILES[module].read_text(), module) == []


@pytest.mark.parametrize("name", ENTRIES)
def test_entry_s_kernel_takes_topology_and_parameters_and_one_argument_each(name):
    entry = ENTRIES[name]
    names = list(inspect.signature(entry.function.py_func).parameters)
    assert names[:2] == ["topology", "parameters"]
    assert len(names) == 2 + len(entry.inputs) + entry.options + len(entry.output_axes)
    assert [len(shape) for shape in plain.OUTPUTS[name]] == list(entry.output_axes)
    assert inspect.getdoc(entry.function.py_func), "the docstring says what comes out, and its shape"


HEAD = '"""A module."""\nfrom freeflyer.kernels.compiler._jit import kernel, inlined\n'
PLANTED = [
    ("x = 1", "has no docstring"),
    (HEAD + "import scipy", "imports scipy"),
    (HEAD + "from scipy.linalg import lapack", "imports scipy.linalg"),
    (HEAD + "from freeflyer.model import Model", "imports freeflyer.model"),
    (HEAD + "from freeflyer.errors import InputError", "imports freeflyer.errors"),
    (HEAD + "def f():\n    import sympy", "imports sympy"),
    (HEAD + "from . import memory", "imports ."),
    (HEAD + "import numba\n@numba.njit\ndef f(x):\n    return x", "Numba's own decorator"),
    (HEAD + "from numba import njit\n@njit(fastmath=True)\ndef f(x):\n    return x", "Numba's own decorator"),
    (HEAD + "from numba import vectorize\n@vectorize\ndef f(x):\n    return x", "Numba's own decorator"),
    (HEAD + "@overload(f)\ndef _(x):\n    return x", "extends Numba outside"),
    (HEAD + "@intrinsic\ndef f(t, x):\n    return x", "extends Numba outside"),
    (HEAD + "@kernel\n@inlined\ndef f(x):\n    return x", "more than one decorator"),
    (HEAD + "@kernel\ndef f(x, y=1):\n    return x", "default arguments"),
    (HEAD + "@kernel\ndef f(x, *, y=None):\n    return x", "default arguments"),
    (HEAD + "@kernel\ndef f(*x):\n    return x", "not plain positional"),
    (HEAD + "@kernel\ndef f(**x):\n    return x", "not plain positional"),
    (HEAD + "@kernel\ndef f(*, x):\n    return x", "not plain positional"),
    (HEAD + "@inlined\ndef f(x, /):\n    return x", "not plain positional"),
    (HEAD + "@kernel\ndef f(q, topology):\n    return q", "takes topology, but not first"),
    (HEAD + "@kernel\ndef f(topology, q, parameters):\n    return q", "takes parameters, but not next to topology"),
    (HEAD + "@kernel\ndef f(q):\n    return np.zeros(3)", "only `workspace` allocates"),
    (HEAD + "@kernel\ndef f(q):\n    return [q, q]", "uses List"),
    (HEAD + "@kernel\ndef f(q):\n    return [x for x in q]", "uses ListComp"),
    (HEAD + "@kernel\ndef f(q):\n    return {1: q}", "uses Dict"),
    (HEAD + "@kernel\ndef f(q):\n    return sum(x for x in q)", "uses GeneratorExp"),
    (HEAD + "@kernel\ndef f(q):\n    return lambda x: x", "uses Lambda"),
    (HEAD + "@kernel\ndef f(q):\n    def g(x):\n        return x\n    return g(q)", "uses FunctionDef"),
    (HEAD + "@kernel\ndef f(q):\n    try:\n        return q\n    finally:\n        q", "uses Try"),
    (HEAD + "@kernel\ndef f(q):\n    assert q", "uses Assert"),
    (HEAD + "@kernel\ndef f(q):\n    raise ValueError", "uses Raise"),
    (HEAD + "@kernel\ndef f(q, x):\n    q[0] = x", "reaches into q without load or store"),
    (HEAD + "@kernel\ndef f(q, x):\n    q[0] += x", "reaches into q without load or store"),
    (HEAD + "@kernel\ndef f(topology):\n    return topology[0]", "reaches into topology without load"),
    (HEAD + "@kernel\ndef f(J, i):\n    return load(J, i) + J[i]", "reaches into J without load"),
    (HEAD + "@kernel\ndef f(work, i):\n    return work[i + 1]", "reaches into work without load"),
    (HEAD + "@kernel\ndef f(q):\n    return math.sin(q)", "uses math, which knows floats only"),
    (HEAD + "@kernel\ndef f(q):\n    return float(q)", "calls float"),
    (HEAD + "@kernel\ndef f(q):\n    return sum(q)", "calls sum"),
    (HEAD + "@kernel\ndef f(q):\n    return print(q)", "calls print"),
    (HEAD + "@kernel\ndef f(q):\n    return q + 1j", "holds the constant 1j"),
    (HEAD + "@kernel\ndef f(q):\n    return 'left'", "holds the constant 'left'"),
    (
        HEAD + "def _g(x):\n    return x\n@kernel\ndef f(q):\n    return _g(q)",
        "not compiled, but compiled code uses it",
    ),
    (HEAD + "def g(x):\n    return x", "neither compiled nor private"),
]


@pytest.mark.parametrize(("source", "sentence"), PLANTED, ids=[sentence for _, sentence in PLANTED])
def test_planted_violation_is_found(source, sentence):
    assert any(sentence in found for found in violations(source, "planted")), violations(source, "planted")


def test_what_is_allowed_is_not_reported():
    source = HEAD + (
        "import math\n"
        "def _constants(n: int) -> tuple:\n    return tuple([1.0 / math.factorial(k) for k in range(n)])\n"
        "SERIES = _constants(3)\n"
        "@inlined\ndef g(R, k):\n    return R[k], R[:2], SERIES[0]\n"
        "@kernel\ndef f(topology, parameters, q, out):\n"
        '    """out (1,): a number."""\n'
        "    for i in range(load_int(topology, 0)):\n        x, y, z = g((1.0, 2.0, 3.0), 0)\n"
        "        store(out, i, min(i, 3) * load(q, i) + x)\n"
    )
    assert violations(source, "planted") == []


def test_extending_modules_may_teach_numba_and_python_ones_may_index():
    teach = '"""A module."""\n@overload(f)\ndef _(x):\n    return lambda x: x\n'
    assert violations(teach, "memory") == []
    assert violations('"""A module."""\ndef run(x):\n    return x[0]', "plain") == []
    assert violations('"""A module."""\n@kernel\ndef f(x, y=1):\n    return x', "memory") != []


def test_decorators_are_those_of_jit():
    from freeflyer.kernels.compiler import _jit

    assert all(callable(getattr(_jit, name)) for name in OURS)
