"""Kernels of closed linkages as plain Python: the same numbers as compiled, one state or a Pack, and symbols."""

import freeflyer as ff
import numpy as np
import pytest
from closed_robots import robot, state
from closeness import close, fresh, refused
from fractions import Fraction
from freeflyer import linkages
from freeflyer.kernels import entries, plain
from freeflyer.kernels.compiler.calls import running
from freeflyer.kernels.entry import Entry

ENTRIES = {name: entry for name, entry in entries.ENTRIES.items() if entry.closed and not (entry.one_by_one or entry.table)}


def inputs(model: ff.Model, entry: Entry, s) -> list[np.ndarray]:
    """One row for each letter: the state's, and a second one of the same kind."""
    v = linkages.expand_motion(model, s.q, s.u, s.u_dot)[0]
    pools = {"q": [s.q, linkages.partition(model).q], "u": [s.u, s.u_dot], "v": [v, np.cos(np.arange(model.nv))]}
    return [pools[letter].pop(0) for letter in entry.inputs]


def shapes(model: ff.Model, entry: Entry) -> tuple[tuple[int, ...], ...]:
    return entry.shapes(ff.close_loops(model).topology)[len(entry.inputs) :]


@pytest.mark.parametrize("row_step", [1, 8])
@pytest.mark.parametrize("name", ENTRIES)
def test_plain_is_as_compiled(name: str, row_step: int) -> None:
    model = robot("nested")
    s, entry = state(model, fresh(20), 0.04), ENTRIES[name]
    rows = [0.01 * x if name.endswith("_closed") and k else x for k, x in enumerate(inputs(model, entry, s))]
    outputs = [np.full(shape, np.nan) for shape in shapes(model, entry)]
    assert running.state(entry, ff.close_loops(model).handle, *map(np.ascontiguousarray, rows), *outputs)[0] == 0
    found = plain.run(name, ff.close_loops(model), *rows, row_step=row_step)
    for plainly, compiled in zip(found if isinstance(found, tuple) else (found,), outputs, strict=True):
        close(plainly.astype(float), compiled, 1e-11)


def test_symbols_and_what_is_missing() -> None:
    sympy = pytest.importorskip("sympy")
    model = robot("point")
    s = state(model, fresh(24), 0.0)
    u = sympy.symbols(f"u0:{len(s.u)}")
    q = [sympy.Float(float(x), 30) for x in s.q]
    v, _ = plain.run("projected_motion", ff.close_loops(model), q, list(u), [0] * len(u))
    J = np.array([[float(sympy.diff(x, y)) for y in u] for x in v])
    close(J[linkages.partition(model).dependent], linkages.mapping_jacobian(model, s.q), 1e-12)
    refused(ValueError, "close_loops", lambda: plain.run("projected_mass", model, np.array(linkages.partition(model).q)))
    refused(LookupError, "projected_mass", plain.run, "projected_masses", model)
    with pytest.raises(ValueError, match="9 scalars"):
        plain.run("projected_inverse_dynamics", ff.close_loops(model), linkages.partition(model).q, [0] * 9, [Fraction(0)] * 3)
