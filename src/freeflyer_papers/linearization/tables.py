"""The tables of `freeflyer reproduce linearization`, from a result."""

from __future__ import annotations

from freeflyer.tables import Table
from freeflyer.text import microseconds, number
from freeflyer_papers.linearization.cost import exponent
from freeflyer_papers.linearization.results import LinearizationResult

MEANING = {
    "SF": "singularity-free", "MB": "moving base", "RF": "recursive formulation", "ED": "exact derivatives",
}  # fmt: skip


def tables(result: LinearizationResult) -> tuple[Table, ...]:
    """Table 1, Fig 5 and cost."""
    return _approaches(result), _requirements(result), _differences(result), _counts(result), _costs(result)


def _approaches(r: LinearizationResult) -> Table:
    rows = []
    for a in r.approaches:
        paper = "SF MB RF ED" if a is r.approaches[0] else "-"
        yes = ("no", "yes")
        rows.append((
            a.name, paper, f"{yes[a.singularity_free]}: {number(a.worst, 2)}", f"{yes[a.moving_base]}: {number(a.base, 2)}",
            number(a.operations, 3), f"{yes[a.exact]}: {number(a.typical, 2)}",
        ))  # fmt: skip
    columns = (
        "approach", "paper claims", "SF: worst error over pitches", "MB: error of base rows", "RF: operations an entry",
        "ED: typical error",
    )  # fmt: skip
    return Table(
        f"Table 1, for the approaches that run here: {'; '.join(f'{k} {v}' for k, v in MEANING.items())}",
        columns,
        rows,
        range(2, 6),
        f"operations on a chain of {r.counts[-1].bodies} bodies; the marks of the paper's other rows are pictures, not text",
    )


def _requirements(r: LinearizationResult) -> Table:
    rows = []
    for c in r.checks:
        verdict = "comparison" if c.holds is None else "holds" if c.holds else "FAILS"
        bound = "-" if c.bound is None else number(c.bound, 2)
        rows.append((c.requirement, "yes", c.what, number(c.value, 3), bound, verdict))
    return Table(
        f"the four requirements, executed on a robot like that of Fig 4 ({r.bodies} bodies, nv {r.nv}, joints at 0.3)",
        ("requirement", "paper", "ours: what is measured", "value", "at most", ""), rows, (3, 4),
        "errors are relative to the largest entry, against complex steps through other algorithms",
    )  # fmt: skip


def _differences(r: LinearizationResult) -> Table:
    rows = [
        (f"{d.kind} differences", number(float(d.delta[d.best]), 2), number(float(d.maximal[d.best]), 2),
         number(float(d.average[d.best]), 2), number(d.fall, 3), number(d.rise, 3), str(d.evaluations))
        for d in r.differences
    ]  # fmt: skip
    rows.append(("geometric linearisation paper, Tables 5-9", "-", number(r.exact_error, 2), "-", "-", "-", "1"))
    columns = (
        "linearisation by",
        "best step",
        "maximal error",
        "average error",
        "slope falling",
        "rising",
        "evaluations",
    )
    return Table(
        "Fig 5: error of geometric finite differences over steps from 1e-1 to 1e-12", columns, rows, range(1, 7),
        "the paper's curves, one-sided or central, fall with the step until round-off rises; its text gives no numbers. "
        "The error of the tables is against complex steps",
    )  # fmt: skip


def _counts(r: LinearizationResult) -> Table:
    rows = [
        (str(c.bodies), str(c.eidamb_as_printed), str(c.eidamb), number(c.eidamb / c.bodies), str(c.entries), str(c.derivatives),
         number(c.derivatives / c.entries), number(c.by_shape_through_wrenches / c.by_shape, 3))
        for c in r.counts
    ]  # fmt: skip
    columns = (
        "bodies",
        "Table 4 as printed",
        "without F",
        "a body",
        "entries",
        "Tables 5-8: operations",
        "an entry",
        "as printed / short",
    )
    return Table(
        "operations counted on chains, 6x6 matrices taken as full", columns, rows, range(8),
        "Table 4 as printed fills a table F of wrenches, quadratic on a chain; its results do not need it, and without it Table "
        "4 is linear, exactly. Tables 5 to 8 are quadratic in the bodies, so an entry costs ever closer to a constant. The last "
        "column: Table 6 through the wrenches F, as printed, over its short form for the same entries",
    )  # fmt: skip


def _costs(r: LinearizationResult) -> Table:
    rows = [
        (str(c.bodies), str(c.nv), microseconds(c.tables), microseconds(c.differences), microseconds(c.compiled),
         f"{c.differences / c.compiled:.3g}x", f"{1e3 * c.compiled / (3 * c.nv**2):.2f}")
        for c in r.costs
    ]  # fmt: skip
    columns = ("bodies", "nv", "tables, NumPy us", "differences us", "compiled us", "faster", "ns an entry")
    powers = (
        f"{name} bodies^{p:.2f}"
        for name, field in (("tables", "tables"), ("differences", "differences"), ("compiled", "compiled"))
        if (p := exponent(r.costs, field)) is not None
    )
    return Table(
        "cost of all derivatives of the inverse dynamics: chains on a floating base", columns, rows, range(7),
        f"from 20 bodies on: {', '.join(powers)}; differences are one-sided, of the compiled inverse dynamics in batches, and "
        f"good to half the digits. One thread; medians of interleaved calls on {r.machine}",
    )  # fmt: skip
