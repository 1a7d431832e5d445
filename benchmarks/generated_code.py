"""Code for one robot beside C code that CasADi generates from the same formulas, of one state, both called by one C loop.

CasADi records the plain kernels on its own symbols, finds common terms, and writes a C function of straight-line code; the C
compiler translates it with -O3 for this machine. Wheels of Pinocchio hold no code generator of their own (pinocchio.casadi)."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

import freeflyer as ff
from freeflyer.analysis.timing.algorithms import example_urdf
from freeflyer.analysis.timing.results import time_interleaved
from freeflyer.kernels import entries as E, plain
from freeflyer.kernels.compiler.calls import python_calls
from freeflyer.kernels.compiler.calls.running import function_for
from freeflyer.kernels.entry import Entry
from freeflyer.model.model import Model
from freeflyer.progress import Progress
from freeflyer.tables import Table
from freeflyer.text import microseconds as us

ENTRIES = {"inverse_dynamics": E.RNEA, "forward_dynamics": E.ABA, "mass_matrix": E.CRBA, "gravity_forces": E.GRAVITY}
CALLS = 500  # of a function, by the C loop
LOOPS = """
#include <stdint.h>
typedef int (*generated)(const double **, double **, long long *, double *, int);
typedef int64_t (*entry)(const void *, const void *, const void *, const void *, const void *, const void *, void *, void *);
void run_generated(generated f, long n, const double **a, double **r, long long *i, double *w)
{ for (long k = 0; k < n; ++k) f(a, r, i, w, 0); }
void run_entry(entry f, long n, const void **x)
{ for (long k = 0; k < n; ++k) f(x[0], x[1], x[2], x[3], x[4], x[5], (void *)x[6], (void *)x[7]); }
"""


@dataclass(frozen=True)
class GeneratedTiming:
    """us a state: general code, code for the robot, CasADi's; s to make the last two; the largest difference, relative."""

    robot: str
    function: str
    general: float
    special: float
    generated: float
    special_seconds: float
    generated_seconds: float
    difference: float


def generated_times(progress: Progress) -> tuple[GeneratedTiming, ...]:
    """Of a Panda arm, if example-robot-data is installed, and the humanoid; none without CasADi or a C compiler."""
    compiler = shutil.which("clang") or shutil.which("gcc")
    try:
        import casadi
    except ImportError:
        return ()
    if compiler is None:
        return ()
    panda = example_urdf("panda.urdf")
    robots = [*([ff.load(panda)] if panda else []), ff.robots.make("humanoid")]
    with TemporaryDirectory() as folder:
        return tuple(row for model in robots for row in _of_robot(casadi, compiler, Path(folder), model, progress))


def _of_robot(casadi: Any, compiler: str, folder: Path, model: Model, progress: Progress) -> Iterator[GeneratedTiming]:
    loops = _compiled(compiler, folder, "loops", LOOPS)
    rng, q = np.random.default_rng(0), ff.random_configuration(model, np.random.default_rng(0))
    for name, unshared in ENTRIES.items():
        entry = E.SHARED_FORWARD_DYNAMICS if unshared is E.ABA and model.shared_coordinates else unshared
        progress(0.0, f"{model.name}: code of {name}")
        inputs = [q, *rng.standard_normal((len(entry.inputs) - 1, model.nv))]
        start = perf_counter()
        fast = ff.specialize(model, [name])
        special_seconds, start = perf_counter() - start, perf_counter()
        library, function = _generated(casadi, compiler, folder, f"{model.name}_{entry.name}", entry, model, inputs)
        generated_seconds = perf_counter() - start
        expected = getattr(ff, name)(model, *inputs)
        out, made = np.empty((3, expected.size)), []
        arguments = (ctypes.c_void_p * (len(inputs) + 8))(*map(_pointer, inputs))
        results = (ctypes.c_void_p * 8)(_pointer(out[2]))
        integers, numbers = (ctypes.c_longlong * max(function.sz_iw(), 1))(), (ctypes.c_double * max(function.sz_w(), 1))()
        address = ctypes.cast(getattr(library, f"{model.name}_{entry.name}"), ctypes.c_void_p)
        for k, robot in enumerate((model, fast)):
            made.append(_entry_call(loops, entry, robot, inputs, out[k]))
        made.append(partial(loops.run_generated, address, ctypes.c_long(CALLS), arguments, results, integers, numbers))
        general, special, generated = (t / CALLS for t in time_interleaved(made, 25, 4e-3))
        error = max(float(np.abs(x - expected.ravel()).max() / np.abs(expected).max()) for x in out)
        yield GeneratedTiming(model.name, name, general, special, generated, special_seconds, generated_seconds, error)


def _pointer(x: np.ndarray) -> int:
    return int(x.ctypes.data)


def _entry_call(loops: Any, entry: Entry, model: Model, inputs: list[np.ndarray], out: np.ndarray) -> Any:
    """Runs an entry's own function, or the model's, CALLS times."""
    topology, parameters = python_calls.model_record(model.handle)
    scratch, where = np.empty(1_000_000), np.zeros(3, np.int64)
    rows, made = np.array([_pointer(x) for x in inputs]), np.array([_pointer(out)])
    options = np.zeros(1, np.int64)
    sizes = np.array([scratch.size, 1, *(x.size for x in inputs), out.size])
    kept = (rows, options, made, sizes, scratch, where)
    words = (ctypes.c_void_p * 8)(topology, parameters, *map(_pointer, kept))
    address = ctypes.cast(function_for(entry, model.handle, False), ctypes.c_void_p)
    return lambda: (loops.run_entry(address, ctypes.c_long(CALLS), words), kept)


def _generated(casadi: Any, compiler: str, folder: Path, name: str, entry: Entry, model: Model,
               inputs: list[np.ndarray]) -> tuple[Any, Any]:  # fmt: skip
    """(library, CasADi's function) of an entry on a model."""
    symbols = [casadi.SX.sym(f"x{k}", x.size) for k, x in enumerate(inputs)]
    rows = [[_Symbol(casadi, s[i]) for i in range(x.size)] for s, x in zip(symbols, inputs)]
    found = plain.run(entry.name, model, *rows)
    scalars = [x.sx if isinstance(x, _Symbol) else x for x in found.ravel()]
    function = casadi.Function(name, symbols, [casadi.cse(casadi.vertcat(*scalars))])
    generator = casadi.CodeGenerator(f"{name}.c")
    generator.add(function)
    return _compiled(compiler, folder, name, generator.dump()), function


class _Symbol:
    """CasADi's scalar with the methods that plain kernels call."""

    def __init__(self, casadi: Any, sx: Any) -> None:
        self.casadi, self.sx = casadi, sx

    def _made(self, sx: Any) -> _Symbol:
        return _Symbol(self.casadi, sx)

    def __add__(self, other: Any) -> _Symbol:
        return self._made(self.sx + _sx(other))

    def __sub__(self, other: Any) -> _Symbol:
        return self._made(self.sx - _sx(other))

    def __rsub__(self, other: Any) -> _Symbol:
        return self._made(_sx(other) - self.sx)

    def __mul__(self, other: Any) -> _Symbol:
        return self._made(self.sx * _sx(other))

    def __truediv__(self, other: Any) -> _Symbol:
        return self._made(self.sx / _sx(other))

    def __rtruediv__(self, other: Any) -> _Symbol:
        return self._made(_sx(other) / self.sx)

    def __neg__(self) -> _Symbol:
        return self._made(-self.sx)

    def sin(self) -> _Symbol:
        return self._made(self.casadi.sin(self.sx))

    def cos(self) -> _Symbol:
        return self._made(self.casadi.cos(self.sx))

    def sqrt(self) -> _Symbol:
        return self._made(self.casadi.sqrt(self.sx))

    __radd__, __rmul__ = __add__, __mul__


def _sx(x: Any) -> Any:
    return x.sx if isinstance(x, _Symbol) else float(x)


def _compiled(compiler: str, folder: Path, name: str, text: str) -> Any:
    """The loaded library of a C source."""
    (folder / f"{name}.c").write_text(text)
    command = [compiler, "-O3", "-march=native", "-fPIC", "-shared", f"{name}.c", "-o", f"{name}.so", "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / f"{name}.so"))


def generated_table(rows: tuple[GeneratedTiming, ...]) -> Table:
    columns = ("robot", "function", "general us", "own code", "CasADi", "faster", "own code s", "CasADi and C s", "agree to")
    cells = [(r.robot, r.function, us(r.general), us(r.special), us(r.generated), f"{r.generated / r.special:.2f}x",
              f"{r.special_seconds:.1f}", f"{r.generated_seconds:.1f}", f"{r.difference:.0e}") for r in rows]  # fmt: skip
    return Table("one state, called from C: code for one robot beside CasADi's", columns, cells, range(2, len(columns)))
