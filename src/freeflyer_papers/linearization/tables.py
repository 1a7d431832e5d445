"""Tables and pictures of the reproduction."""

from __future__ import annotations

from typing import Any

import numpy as np

from freeflyer.plots.style import BLUE, GREEN, GREY, ORANGE, PRINT_INK, WHITE, blank_figure, new_figure, style
from freeflyer.tables import Table
from freeflyer.text import microseconds, number
from freeflyer_papers.linearization.requirements import exponent
from freeflyer_papers.linearization.robot import SHAPE, LinearizationResult

MEANING = {"SF": "singularity-free", "MB": "moving base", "RF": "recursive formulation", "ED": "exact derivatives"}


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
            number(a.operations, 3), f"{yes[a.exact]}: {number(a.typical, 2)}"))  # fmt: skip
    columns = ("approach", "paper claims", "SF: worst error over pitches", "MB: error of base rows",
        "RF: operations an entry", "ED: typical error")  # fmt: skip
    return Table(f"Table 1, for the approaches that run here: {'; '.join(f'{k} {v}' for k, v in MEANING.items())}", columns, rows,
        range(2, 6), f"operations on a chain of {r.counts[-1].bodies} bodies; the marks of the paper's other rows are pictures, "
        "not text")  # fmt: skip


def _requirements(r: LinearizationResult) -> Table:
    rows = []
    for c in r.checks:
        verdict = "comparison" if c.holds is None else "holds" if c.holds else "FAILS"
        bound = "-" if c.bound is None else number(c.bound, 2)
        rows.append((c.requirement, "yes", c.what, number(c.value, 3), bound, verdict))
    return Table(f"the four requirements, executed on a robot like that of Fig 4 ({r.bodies} bodies, nv {r.nv}, joints at 0.3)",
        ("requirement", "paper", "ours: what is measured", "value", "at most", ""), rows, (3, 4),
        "errors are relative to the largest entry, against complex steps through other algorithms")  # fmt: skip


def _differences(r: LinearizationResult) -> Table:
    rows = [
        (f"{d.kind} differences", number(float(d.delta[d.best]), 2), number(float(d.maximal[d.best]), 2),
         number(float(d.average[d.best]), 2), number(d.fall, 3), number(d.rise, 3), str(d.evaluations))
        for d in r.differences]  # fmt: skip
    rows.append(("geometric linearisation paper, Tables 5-9", "-", number(r.exact_error, 2), "-", "-", "-", "1"))
    columns = ("linearisation by", "best step", "maximal error", "average error", "slope falling", "rising", "evaluations")
    return Table("Fig 5: error of geometric finite differences over steps from 1e-1 to 1e-12", columns, rows, range(1, 7),
        "the paper's curves, one-sided or central, fall with the step until round-off rises; its text gives no numbers. "
        "The error of the tables is against complex steps")  # fmt: skip


def _counts(r: LinearizationResult) -> Table:
    rows = [(str(c.bodies), str(c.eidamb_as_printed), str(c.eidamb), number(c.eidamb / c.bodies), str(c.entries),
        str(c.derivatives), number(c.derivatives / c.entries), number(c.by_shape_through_wrenches / c.by_shape, 3))
        for c in r.counts]  # fmt: skip
    columns = ("bodies", "Table 4 as printed", "without F", "a body", "entries", "Tables 5-8: operations", "an entry",
        "as printed / short")  # fmt: skip
    return Table("operations counted on chains, 6x6 matrices taken as full", columns, rows, range(8),
        "Table 4 as printed fills a table F of wrenches, quadratic on a chain; its results do not need it, and without it Table "
        "4 is linear, exactly. Tables 5 to 8 are quadratic in the bodies, so an entry costs ever closer to a constant. The last "
        "column: Table 6 through the wrenches F, as printed, over its short form for the same entries")  # fmt: skip


def _costs(r: LinearizationResult) -> Table:
    rows = [(str(c.bodies), str(c.nv), microseconds(c.tables), microseconds(c.differences), microseconds(c.compiled),
        f"{c.differences / c.compiled:.3g}x", f"{1e3 * c.compiled / (3 * c.nv**2):.2f}") for c in r.costs]  # fmt: skip
    columns = ("bodies", "nv", "tables, NumPy us", "differences us", "compiled us", "faster", "ns an entry")
    powers = (f"{name} bodies^{p:.2f}" for name, field in (("tables", "tables"), ("differences", "differences"),
        ("compiled", "compiled")) if (p := exponent(r.costs, field)) is not None)  # fmt: skip
    return Table("cost of all derivatives of the inverse dynamics: chains on a floating base", columns, rows, range(7),
        f"from 20 bodies on: {', '.join(powers)}; differences are one-sided, of the compiled inverse dynamics in batches, and "
        f"good to half the digits. One thread; medians of interleaved calls on {r.machine}")  # fmt: skip


YELLOW, RED = "#d9a514", "#c8453b"
COLOURS = {"revolute": GREEN, "prismatic": RED, "helical": BLUE}  # as in the paper's figure


def pictures(result: LinearizationResult) -> dict[str, Any]:
    """Figures by name."""
    with style(WHITE | {"grid.color": "#e3e5e8"}, PRINT_INK):  # 3D axes support no transparent grid
        drawn = {"fig4_robot": robot(result)}
    with style(WHITE, PRINT_INK):
        return drawn | {"table1_requirements": requirements(result), "fig5_differences": differences(result),
            "cost": cost(result)}  # fmt: skip


def robot(r: LinearizationResult) -> Any:
    """Fig 4: joints coloured by kind, (a) at zero, (b) at 0.3 on the turned base."""
    from matplotlib.lines import Line2D
    from matplotlib.ticker import MaxNLocator

    figure = blank_figure(8.4, 4.2)
    titles = ("(a) reference", "(b) perturbed: every joint at 0.3 m or rad")
    for k, (segments, title) in enumerate(zip(r.skeletons, titles, strict=True)):
        axes: Any = figure.add_subplot(1, 2, k + 1, projection="3d")
        base = segments[0, 0]
        for (kind, parent, *_), (joint, end) in zip(SHAPE, segments[1:], strict=True):
            before = base if parent == 0 else segments[parent, 1]
            axes.plot(*np.array([before, joint]).T, color=GREY, lw=1.0, ls=":")
            axes.plot(*np.array([joint, end]).T, color=GREY, lw=2.5)
            axes.scatter(*joint, color=COLOURS[kind], s=42, depthshade=False)
        axes.scatter(*base, color=YELLOW, marker="s", s=160, depthshade=False)
        axes.set_title(title)
        middle, span = segments.mean(axis=(0, 1)), 0.55 * np.ptp(segments, axis=(0, 1)).max()
        axes.set(xlim=middle[0] + [-span, span], ylim=middle[1] + [-span, span], zlim=middle[2] + [-span, span])
        axes.set_box_aspect((1, 1, 1))
        for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
            axis.set_major_locator(MaxNLocator(4))
        axes.tick_params(labelsize=6, pad=0)
        axes.set_xlabel("x (m)", fontsize=7, labelpad=-6)
        axes.set_ylabel("y (m)", fontsize=7, labelpad=-6)
        axes.set_zlabel("z (m)", fontsize=7, labelpad=-6)
        axes.view_init(38, -66)
    kinds = (("moving base", YELLOW), *COLOURS.items())
    marks = [Line2D([], [], ls="", marker="o", color=colour, label=kind) for kind, colour in kinds]
    figure.legend(handles=marks, loc="outside lower center", ncols=4)
    return figure


def requirements(r: LinearizationResult) -> Any:
    """Left: attitude sweep; right: linear prediction of a motion."""
    figure, (left, right) = new_figure(8.4, 3.2, columns=2, grid=True)
    pitch = np.degrees(r.sweep.pitch)
    left.semilogy(pitch, r.sweep.condition, "-", color=ORANGE, lw=1.2, label="condition of roll, pitch, yaw rates")
    left.semilogy(pitch, r.sweep.error, "o-", color=BLUE, ms=3, lw=1.2, label="error of Tables 5 to 8")
    left.set(xlabel="pitch of the base (deg)", xticks=range(-180, 181, 90), title="SF: no attitude is special")
    left.legend(fontsize=7, loc="center", bbox_to_anchor=(0.5, 0.3))
    p = r.prediction
    right.loglog(p.size, p.remainder, "o", color=BLUE, ms=4, label=f"|motion - prediction|, order {p.order:.2f}")
    right.loglog(p.size, p.remainder[0] * (p.size / p.size[0]) ** 2, "--", color=GREY, lw=1.0, label="order 2")
    right.set(xlabel="size of the perturbation", ylabel=f"remainder after {p.duration:g} s",
        title="MB: (A, B) along a motion")  # fmt: skip
    right.legend(fontsize=7)
    return figure


def differences(r: LinearizationResult) -> Any:
    """Fig 5."""
    figure, axes = new_figure(6.4, 3.8, grid=True)
    for d, colour in zip(r.differences, (BLUE, ORANGE), strict=True):
        axes.loglog(d.delta, d.maximal, "-", color=colour, lw=1.4, label=f"{d.kind}, maximal error")
        axes.loglog(d.delta, d.average, "--", color=colour, lw=1.1, label=f"{d.kind}, average error")
        best = (d.delta[d.best], d.maximal[d.best])
        axes.plot(*best, "o", color=colour, ms=5)
        axes.annotate(f"{best[1]:.1e} at {best[0]:.0e}", best, xytext=(0, 9), textcoords="offset points", ha="center",
                      fontsize=7, bbox={"fc": "white", "ec": "none", "alpha": 0.8, "pad": 1.0})  # fmt: skip
    axes.axhline(r.exact_error, color=GREEN, lw=1.2, label="exact (Tables 5 to 9), maximal error")
    axes.invert_xaxis()
    axes.set(xlabel="step δ (m, rad, m/s, rad/s, N, N m)", ylabel="error / largest entry of the linearisation")
    axes.set_title("Fig 5: geometric finite differences against the exact linearisation")
    axes.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.6, 1.0))
    return figure


def cost(r: LinearizationResult) -> Any:
    """Left: time against size; right: counted operations an entry."""
    figure, (left, right) = new_figure(8.4, 3.4, columns=2, grid=True)
    for field, what, colour in (
        ("tables", "Tables 5 to 8, NumPy", GREEN), ("differences", "one-sided differences, compiled batch", ORANGE),
        ("compiled", "compiled derivatives", BLUE),
    ):  # fmt: skip
        points = [(c.bodies, getattr(c, field)) for c in r.costs if getattr(c, field) is not None]
        left.loglog(*zip(*points, strict=True), "o-", color=colour, ms=3, lw=1.2, label=what)
    left.set(xlabel="bodies", ylabel="µs, all derivatives", title="cost against size (chains)")
    left.set_ylim(top=20.0 * max(c.tables or c.differences for c in r.costs))
    left.legend(fontsize=7, loc="upper left")
    bodies = [c.bodies for c in r.counts]
    right.plot(bodies, [c.derivatives / c.entries for c in r.counts], "o-", color=BLUE, ms=3, label="Tables 5 to 8, an entry")
    printed = [(c.derivatives - c.by_shape + c.by_shape_through_wrenches) / c.entries for c in r.counts]
    right.plot(bodies, printed, "s--", color=ORANGE, ms=3, label="with Table 6 through F, as printed")
    right.set_xticks(bodies, [str(n) for n in bodies])
    right.set(xlabel="bodies", ylabel="operations per entry", title="RF: counted operations")
    right.set_ylim(bottom=0.0)
    right.legend(fontsize=7)
    return figure
