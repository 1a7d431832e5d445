"""Which compiled entries a public function uses, and compiling them before they are needed."""

from __future__ import annotations

from collections.abc import Iterable

from freeflyer.errors import check_name
from freeflyer.export.functions import FUNCTIONS
from freeflyer.kernels.compiler.ahead import Function, compile_ahead
from freeflyer.kernels.compiler.build import PYTHON
from freeflyer.kernels.compiler.calls.running import batch_lanes
from freeflyer.kernels.entries import ENTRIES, SHARED
from freeflyer.kernels.model.layout import PLAN, PROGRAMS, SETS, SYSTEMS
from freeflyer.progress import Progress, no_progress

# of models without loops; "loads": of calls with wrenches or gravity; "closed" and "estimation" are what robots with loops use
USES: dict[str, tuple[str, ...]] = {k: tuple(e.name for e in (f.entry, SHARED.get(f.entry)) if e) for k, f in FUNCTIONS.items()} | {
    "coriolis_matrix": ("coriolis", "hamel"), "decouple": ("decoupled_passive", "decoupled_hamel"), "all_terms": ("all_terms",),
    "constraint sets": tuple(name for name, entry in ENTRIES.items() if entry.table in (SETS, SYSTEMS)),
    "quadratic programs": tuple(name for name, entry in ENTRIES.items() if entry.table == PROGRAMS),
    "loads": tuple(name for name in ENTRIES if name.startswith("loaded_")) + ("given_gravity", "potential_energy_under"),
    "loops": ("constraint_residual", "constraints", "constraint_bias", "close_posture"),
    "closed": tuple(name for name, entry in ENTRIES.items() if entry.closed and not entry.one_by_one),
    "estimation": tuple(k for k, entry in ENTRIES.items() if entry.one_by_one and entry.table not in (SETS, PLAN, PROGRAMS))}


def warm(functions: Iterable[str] | None = None, progress: Progress = no_progress) -> int:
    """Compiles, on all cores, the code that these public functions need and the cache does not hold; all functions if None.

    functions: names of freeflyer's functions; "constraint sets" for those that take `constraints=`; "quadratic programs" for the
    solvers' answers; "loads" for calls with `external=` or `gravity=`; "loops", "closed" and "estimation" for all that robots
    with loops use. Returns how many compiled functions were made, those for one state and those for batches counted apart."""
    return compile_ahead(compiled_functions(ENTRIES) if functions is None else required_functions(functions), progress=progress)


def required_functions(functions: Iterable[str]) -> list[Function]:
    names: dict[str, None] = {}
    for function in functions:
        check_name("function", function, tuple(USES))
        names |= dict.fromkeys(USES[function])
    return compiled_functions(names)


def compiled_functions(names: Iterable[str]) -> list[Function]:
    """The functions of these entries: those of one state, then those of Packs, with which they share few kernels."""
    entries = [ENTRIES[name] for name in names]
    batches: list[Function] = [(e, batch_lanes(e)) for e in reversed(entries) if not e.one_by_one]
    return [(name, 1) for name in PYTHON] + [(e, n) for e in entries for n in ((1, 8) if e.one_by_one else (1,))] + batches
