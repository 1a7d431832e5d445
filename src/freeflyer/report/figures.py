"""Pictures of results. Each function takes a result and draws it; none computes."""

from __future__ import annotations

from typing import Any

import numpy as np

from freeflyer.analysis.facts import ROUNDING, Conditioning, Matrices, Overview
from freeflyer.analysis.flight import FallStudy
from freeflyer.plots.style import BLUE, GREEN as GREEN, GREY, ORANGE, SERIES, label, new_figure, styled

MOST_BARS, MOST_NAMES = 30, 60
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@styled
def mass_distribution(result: Overview) -> Any:
    """Bars of the links' masses in tree order, kg.

    Of more than 30 links with mass the lightest are only counted."""
    heavy = [link for link in result.links if link.mass > 0]
    kept = {link.name for link in sorted(heavy, key=lambda link: -link.mass)[:MOST_BARS]}
    rows = [(label(link.name, 32), link.mass) for link in heavy if link.name in kept]
    others = [link.mass for link in heavy if link.name not in kept]
    figure, axes = new_figure(6.4, 0.6 + 0.19 * max(len(rows), 3))
    names, masses = [r[0] for r in rows], [r[1] for r in rows]
    at = np.arange(len(rows))
    axes.bar_label(axes.barh(at, masses, color=BLUE, height=0.75), fmt="{:.3g}", padding=3, fontsize=7)
    axes.set_yticks(at, names, fontsize=7.5)
    hidden = f"; {len(others)} lighter links weigh {sum(others):.3g} kg together" if others else ""
    axes.set(ylim=(len(rows) - 0.4, -0.6), xlim=(0, 1.12 * max(masses, default=1.0)), xlabel=f"mass (kg){hidden}")
    return figure


@styled
def mass_matrix(result: Matrices) -> Any:
    """Mass matrix as an image of log10 |M_ij|; entries below 1e-14 of the largest, rounding, stay empty."""
    names = result.coordinates
    first = [i for i, name in enumerate(names) if i == 0 or names[i - 1] != name]  # of each joint
    figure, axes = new_figure(6.4, 5.0)
    _magnitude(figure, axes, result.mass_matrix, "log10 |M|  (kg, kg m, kg m²)")
    if len(first) <= MOST_NAMES:
        axes.set_yticks(first, [label(names[i], 26) for i in first], fontsize=6)
    return figure


@styled
def momentum_matrix(result: Matrices) -> Any:
    """Centroidal momentum matrix as an image of log10 |A_ij|, linear rows first; empty as in mass_matrix."""
    figure, axes = new_figure(6.4, 1.9)
    _magnitude(figure, axes, result.momentum_matrix, "log10 |A|", aspect="auto")
    axes.set_yticks(range(6), ["px", "py", "pz", "Lx", "Ly", "Lz"])
    return figure


def _magnitude(figure: Any, axes: Any, matrix: np.ndarray, title: str, aspect: str = "equal") -> None:
    size = np.abs(matrix)
    top = size.max() if size.size else 0.0
    shown = np.ma.masked_less_equal(size, ROUNDING * top)
    image = axes.imshow(np.ma.log10(shown), cmap="viridis", interpolation="none", aspect=aspect)
    axes.spines[["top", "right"]].set_visible(True)
    figure.colorbar(image, ax=axes, label=title, shrink=0.9)
    axes.set_xlabel("velocity coordinate")


@styled
def conditioning(result: Conditioning) -> Any:
    """Histogram of the condition number of M over random postures, as it stands and with units taken out."""
    figure, axes = new_figure(6.4, 2.6)
    for values, what, colour in ((result.condition, "M", BLUE), (result.unit_free, "M without units", ORANGE)):
        finite = np.log10(values[np.isfinite(values)])
        if len(finite):
            span = max(float(np.ptp(finite)), 0.05)
            bins = np.linspace(finite.min() - 0.02 * span, finite.max() + 0.02 * span, 25)
            axes.hist(finite, bins=bins, color=colour, alpha=0.8, label=f"{what}: median {10 ** np.median(finite):.3g}")
    lost = int(np.sum(~np.isfinite(result.condition)))
    axes.set(xlabel="log10 of the condition number" + (f"  ({lost} singular postures not shown)" if lost else ""),
        ylabel=f"postures of {len(result.condition)}")  # fmt: skip
    if lost < len(result.condition):
        axes.legend(fontsize=8)
    return figure


@styled
def energy_drift(result: FallStudy) -> Any:
    """Energy drift in free fall: over time at each step size, and its worst value against the step, beside order 4."""
    figure, panels = new_figure(6.4, 2.9, columns=2, grid=True)
    left, right = panels
    floor = 1e-17
    for run, colour in zip(result.runs, SERIES, strict=False):
        left.semilogy(run.time[1:], np.maximum(run.drift[1:], floor), color=colour, lw=1.2, label=f"{run.dt * 1e3:.3g} ms")
    left.set(xlabel="time (s)", ylabel="|energy drift| / kinetic energy")
    left.legend(fontsize=7, ncols=3, loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False)  # above: curves fill the axes
    steps = np.array([r.dt for r in result.runs])
    worst = np.array([max(r.worst, floor) if np.isfinite(r.worst) else np.nan for r in result.runs])
    order = f", order {result.order:.2f}" if np.isfinite(result.order) else ""
    right.loglog(steps * 1e3, worst, "o-", color=BLUE, ms=4, lw=1.2, label=f"measured{order}")
    if np.any(np.isfinite(worst)):
        first = int(np.argmax(np.isfinite(worst)))
        right.loglog(steps * 1e3, worst[first] * (steps / steps[first]) ** 4, "--", color=GREY, lw=1, label="order 4")
    right.set_xticks(steps * 1e3, [f"{1e3 * h:.3g}" for h in steps])
    right.minorticks_off()
    right.set_xlabel("step (ms)")
    right.legend(fontsize=7)
    for axes in panels:  # decades as plain text: matplotlib's parser of formulas takes longer than the rest of the figure
        axes.yaxis.set_major_formatter(lambda value, _: "10" + f"{np.log10(value):.0f}".translate(SUPERSCRIPTS))
    return figure
