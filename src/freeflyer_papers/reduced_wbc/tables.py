"""Result, tables and pictures of the reproduction."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from freeflyer.plots.style import BLUE, GREEN, GREY, ORANGE, new_figure, styled
from freeflyer.tables import Table
from freeflyer.text import microseconds as us, number
from freeflyer_papers.reduced_wbc.cycles import METHODS, REPEATS, SAME, TOLERANCES, WAYS, Timing, agree, saving
from freeflyer_papers.reduced_wbc.two_programs import VARIABLES

# us of Table 3: total mean, total largest, dynamics, LQP 1, LQP 2
PAPER_TIMES = {("double", "conventional"): (2176, 2473, None, None, None), ("double", "reduced"): (981, 1203, 34, 579, 273),
    ("single", "conventional"): (1834, 2119, None, None, None), ("single", "reduced"): (613, 811, 36, 243, 270)}  # fmt: skip
BOUND = 1e-9  # of the weight
PAPER_SIZES = {20: (754, 571), 45: (4081, 1319)}  # us, Fig 5: conventional, proposed


def tables(r: ReducedResult) -> tuple[Table, ...]:
    """Tables 1 and 2, Table 3 with its savings, Fig 5, OSQP alone, Fig 4, and the dynamics of the base."""
    return _counts(r), _times(r), _savings(r), _sizes(r), _alone(r), _tracking(r), _base(r)


def _counts(r: ReducedResult) -> Table:
    by = {(c.support, c.program, c.rows): c for c in r.counts}
    rows = []
    for c in [c for c in r.counts if c.support == "double"]:
        other = by["single", c.program, c.rows]
        kind = "" if c.rows == VARIABLES else "equations" if c.equations else "inequalities"
        levels = [str(level or "") for level in (c.paper_level, c.level)]
        rows.append((c.program, c.rows, kind, *levels, c.formula, *map(str, (c.paper, c.ours, other.paper, other.ours))))
    columns = ("program", "rows", "", "level: paper", "ours", "paper", "double: paper", "ours", "single: paper", "ours")
    return Table(f"Tables 1 and 2: rows counted in the programs that are solved, {r.robot}", columns, rows, range(3, 10),
        "Two-sided limits count twice. Cones: ours are the 16 exact facets of a rectangular sole with four edges of friction in "
        "each corner, the paper takes 10 rows. m is n_r of Table 2, the joints of the constraint chain and 6; the six centroidal "
        "coordinates have no motors and no limits, so ours are fewer. "
        "In LQP 2 limits come before the centroidal accelerations, what they take from them returns to LQP 1.")  # fmt: skip


def _times(r: ReducedResult) -> Table:
    rows: list[tuple[str, ...]] = []
    for t in r.times:
        paper = PAPER_TIMES[t.support, t.method]
        rows.append((t.support, t.method, t.way, us(t.mean), us(t.largest), us(t.terms), us(t.dynamics or None), us(t.first),
            us(t.second or None), f"{t.programs:g}", *(str(x) if x else "-" for x in paper)))  # fmt: skip
    columns = ("support", "method", "solver", "mean us", "largest", "terms", "reduced dynamics", "LQP (1)", "LQP 2",
        "programs", "paper: mean", "largest", "dynamics", "LQP 1", "LQP 2")  # fmt: skip
    rows += _absent(r, 2, len(columns))
    return Table(f"Table 3: time of a control cycle, {r.robot}", columns, rows, range(3, 15),
        f"{r.times[0].cycles} states of a sway about the posture, the methods in turn, processor time of the thread. Terms of the "
        "state are the same in both methods; the paper does not say whether its totals hold them. OSQP by qpsolvers: each call "
        "from Python builds sparse matrices, splits two-sided rows in two, solves to 1e-9, not to OSQP's default of 1e-3, and "
        "checks the answer. Its own times are in the table of OSQP alone. The paper's times are C++ on an Intel Core i7-10700; "
        f"ours are Python on {r.machine}.")  # fmt: skip


def _absent(r: ReducedResult, at: int, columns: int) -> list[tuple[str, ...]]:
    """A row for each way whose solver is not installed, its name in column `at`."""
    ways = [way for way in WAYS if way.name not in {t.way for t in r.times}]
    return [_absent_row(way.name, way.solver, at, columns) for way in ways]


def _absent_row(name: str, package: str, at: int, columns: int) -> tuple[str, ...]:
    cells = ["-"] * columns
    cells[at : at + 2] = name, f"not installed: pip install {package}"
    return tuple(cells)


def _groups(timings: tuple[Timing, ...]) -> list[tuple[Timing, ...]]:
    """Both methods of each robot, support and way."""
    keys = list(dict.fromkeys((t.way, t.support, t.joints) for t in timings))
    return [tuple([t for t in timings if (t.way, t.support, t.joints) == key]) for key in keys]


def _savings(r: ReducedResult) -> Table:
    rows: list[tuple[str, ...]] = []
    for pair in _groups(r.times):
        paper = [PAPER_TIMES[pair[0].support, method][0] for method in ("conventional", "reduced")]
        rows.append((pair[0].support, pair[0].way, _percent(1.0 - paper[1] / paper[0]), _percent(saving(pair, "mean")),
            _percent(saving(pair, "solving"))))  # fmt: skip
    columns = ("support", "solver", "paper %", "ours: cycle %", "programs %")
    rows += _absent(r, 1, len(columns))
    return Table("Table 3: saving of the reduced method in the cycles above", columns, rows, range(2, 5),
        "Negative: it takes longer. Programs: LQP 1 and 2 against the conventional program, with each call's cost in Python. The "
        "two parts solve more programs, so they pay it more often. WholeBodyProblem.solve is one call with the terms of the "
        "state. It "
        "eliminates the accelerations of all joints, and a program over the contact forces is left, whose size the reduction does "
        "not change.")  # fmt: skip


def _alone(r: ReducedResult) -> Table:
    found = [("Table 3", t, r.times) for t in r.solver_times] + [("Fig 5", t, r.sizes) for t in r.solver_sizes]
    rows: list[tuple[str, ...]] = []
    for (where, full, timings), (_, reduced, _) in zip(found[::2], found[1::2]):
        key = full.support, full.joints, WAYS[0].name
        above = [x for x in timings if (x.support, x.joints, x.way) == key]
        said = [PAPER_TIMES[full.support, name][0] for name in METHODS] if where == "Table 3" else PAPER_SIZES.get(full.joints)
        pair = full, reduced
        rows.append((where, full.support, str(full.joints), f"{full.tolerance:g}",
            *(f"{us(x.setup)} + {us(x.solve)}" for x in pair), _percent(saving(pair, "total")),
            _percent(saving(pair, "solve")), _percent(saving(above, "mean")),
            _percent(1.0 - said[1] / said[0]) if said else "-"))  # fmt: skip
    columns = ("of", "support", "joints", "tolerance", "conventional: setup + solve us", "reduced: setup + solve us",
        "saving %", "of solve %", "of cycles above %", "paper %")  # fmt: skip
    if not rows:
        rows.append(_absent_row("OSQP", "osqp", 0, len(columns)))
    unsolved, states = sum(t.unsolved for _, t, _ in found), max((t.states for _, t, _ in found), default=0)
    return Table("OSQP alone, on the programs of the cycles", columns, rows, range(2, 10),
        f"Table 3: {r.robot}; Fig 5: our humanoid; {states} states each. OSQP's own times by its own clock, the least of {REPEATS} "
        "of each program; sums over the programs of a cycle, five and nine of them. They hold no Python, no qpsolvers, no terms of "
        "the state. Rows of two sides are one row. Tolerances are absolute and relative; "
        f"{f'{unsolved} programs were NOT' if unsolved else 'all programs were'} solved to them. The last program of each cascade, "
        "the acceleration energy, is none of the paper's.")  # fmt: skip


def _percent(x: float) -> str:
    return f"{100.0 * x:.1f}"


def _sizes(r: ReducedResult) -> Table:
    rows: list[tuple[str, ...]] = []
    for pair in _groups(r.sizes):
        full, reduced = pair
        paper = PAPER_SIZES.get(full.joints)
        said = ("-", "-", "-") if paper is None else (str(paper[0]), str(paper[1]), _percent(1.0 - paper[1] / paper[0]))
        rows.append((full.way, str(full.joints), us(full.solving), us(reduced.solving), _percent(saving(pair, "solving")),
            *said))  # fmt: skip
    columns = ("solver", "joints", "conventional us", "LQP 1 + 2 us", "saving %", "paper: conventional", "LQP 1 + 2",
        "saving %")  # fmt: skip
    rows += _absent(r, 0, len(columns))
    return Table("Fig 5: time against joints that no contact needs, our humanoid in double support", columns, rows, range(1, 8),
        f"{r.sizes[0].cycles} states each, from Python, as in Table 3; without the terms of the state and the reduced dynamics, "
        "as in the paper, but of WholeBodyProblem.solve whole cycles. The hand's position is the task: of 20 joints an arm has "
        "four.")  # fmt: skip


def _tracking(r: ReducedResult) -> Table:
    rows = []
    for x in r.runs:
        center, hand, turn = x.largest
        state = "fell" if x.fell else "stands"
        cells = (number(1e3 * center), number(1e3 * hand), number(np.degrees(turn), 3), f"{x.torque:.1f}", f"{x.solved:.1%}", state)
        rows.append((x.method, *cells))
    columns = ("method", "centre of mass mm", "hand mm", "hand deg", "torque N m", "cycles solved", "")
    word = "within" if agree(r.runs) else "NOT within"
    return Table(f"Fig 4: largest tracking errors in double support in MuJoCo, {r.robot}", columns, rows, range(1, 6),
        f"Both methods are {word} {SAME:.0%} of each other; the paper gives curves of similar size and no numbers. Joint damping "
        "in a robot's file, which the controller does not know, makes most of the error. Below the tasks of Table 1 a posture "
        "holds what they leave free; errors that the second cannot reduce are rows of the first: both give the same torques.")


def _base(r: ReducedResult) -> Table:
    rows: list[tuple[str, ...]] = []
    for way in dict.fromkeys(t.way for t in r.times):
        for method in ("conventional", "reduced"):
            some = [t for t in (*r.times, *r.sizes) if t.way == way and t.method == method]
            worst = max(t.base for t in some)
            rows.append((method, way, str(sum(t.cycles for t in some)), str(sum(t.again for t in some)), f"{worst:.1e}",
                "holds" if worst < BOUND else "FAILS"))  # fmt: skip
    columns = ("method", "solver", "cycles", "LQP 1 again", "largest row / weight", f"below {BOUND:g}")
    rows += _absent(r, 1, len(columns))
    return Table("the dynamics of the base, M a + h - J^T F, in the combined solution (not in the paper)",
        columns, rows, range(2, 5),
        "M a + h by inverse dynamics, which shares no code with the solution; all cycles of Table 3 and Fig 5.")  # fmt: skip


class ReducedResult(namedtuple("ReducedResult", "robot counts times sizes solver_times solver_sizes runs machine")):
    """counts: Tables 1 and 2. times: Table 3. sizes: Fig 5, the same for our humanoid with more and more joints. runs: Fig 4.
    solver_times, solver_sizes: OSQP alone, for the robots of times and sizes; empty if it is not installed."""


COLOURS = {"conventional": ORANGE, "reduced": BLUE}


@styled
def pictures(result: ReducedResult) -> dict[str, Any]:
    """Figures by name."""
    return {"table3_times": times(result), "fig4_tracking": tracking(result), "fig5_joints": sizes(result)}


def times(r: ReducedResult) -> Any:
    """Table 3 as bars: parts of a cycle, for each solver, beside the paper's."""
    ways = list(dict.fromkeys(t.way for t in r.times))
    figure, panels = new_figure(9.6, 3.4, columns=1 + len(ways))
    parts = (("terms", GREY, "terms of the state; in the paper, what it does not name"),
        ("dynamics", GREEN, "reduced dynamics"), ("first", ORANGE, "LQP, LQP 1"), ("second", BLUE, "LQP 2"))  # fmt: skip
    rows = list(PAPER_TIMES)
    labels = [f"{support},\n{method}" for support, method in rows]
    for axes, way in zip(panels, ways):
        some = {(t.support, t.method): t for t in r.times if t.way == way}
        for k, key in enumerate(rows):
            left = 0.0
            for field, colour, what in parts:
                width = 1e-3 * getattr(some[key], field)
                axes.barh(k, width, left=left, color=colour, label=what if k == 0 else None)
                left += width
        axes.set(title=way.replace(", ", ",\n"), xlabel="ms a cycle")
    paper = panels[-1]
    for k, key in enumerate(rows):
        mean, _, *known = PAPER_TIMES[key]
        shares = [x or 0 for x in known]
        split = [(mean - sum(shares), GREY if sum(shares) else ORANGE), *zip(shares, (GREEN, ORANGE, BLUE))]
        left = 0.0
        for width, colour in split:
            paper.barh(k, 1e-3 * width, left=left, color=colour)
            left += 1e-3 * width
    paper.set(title="OSQP,\nthe paper's", xlabel="ms a cycle")
    for k, axes in enumerate(panels):
        axes.set_yticks(range(len(rows)), labels if k == 0 else [""] * len(rows))
        axes.invert_yaxis()
        axes.grid(True, axis="x")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, fontsize=7)
    return figure


def tracking(r: ReducedResult) -> Any:
    """Fig 4: errors of both methods over time."""
    figure, panels = new_figure(8.4, 3.2, columns=2, grid=True)
    for x, width, line in zip(r.runs, (3.5, 1.2), ("-", "--")):
        for axes, e in zip(panels, (x.center, x.hand)):
            axes.plot(x.t, 1e3 * e, line, color=COLOURS[x.method], lw=width, label=x.method, alpha=0.5 if width > 2.0 else 1.0)
    for axes, what in zip(panels, ("centre of mass", "hand")):
        axes.set(xlabel="time (s)", ylabel="error (mm)", title=f"Fig 4: {what}")
        axes.set_ylim(bottom=0.0)
        axes.legend(fontsize=7)
    return figure


def sizes(r: ReducedResult) -> Any:
    """Fig 5: time against joints, with the saving in percent: cycles of each solver, and OSQP alone."""
    ways = list(dict.fromkeys(t.way for t in r.sizes))
    panels = [(way, [(t.method, t.joints, t.solving) for t in r.sizes if t.way == way]) for way in ways]
    if r.solver_sizes:
        alone = [(t.method, t.joints, t.total) for t in r.solver_sizes if t.tolerance == TOLERANCES[0]]
        panels.append((f"OSQP alone, tolerance {TOLERANCES[0]:g}", alone))
    figure, all_axes = new_figure(9.6, 3.8, columns=len(panels), grid=True, squeeze=False)
    for axes, (title, times) in zip(all_axes[0], panels):
        by = {name: {joints: 1e-3 * time for method, joints, time in times if method == name} for name in COLOURS}
        for k, (name, colour) in enumerate(COLOURS.items()):
            label = "reduced: LQP 1 + LQP 2" if name == "reduced" else name
            axes.plot(list(by[name]), list(by[name].values()), "o-", color=colour, ms=4, label=label)
            if "alone" in title:
                axes.plot(list(PAPER_SIZES), [1e-3 * x[k] for x in PAPER_SIZES.values()], "x", color=colour, ms=6,
                          label=f"{label}, the paper's")  # fmt: skip
        for joints, full in by["conventional"].items():
            reduced = by["reduced"][joints]
            axes.annotate(f"{100.0 * (1.0 - reduced / full):.0f} %", (joints, max(full, reduced)), xytext=(0, 6),
                          textcoords="offset points", ha="center", fontsize=7, zorder=5,
                          bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5})  # fmt: skip
        axes.set(title=title.replace(", ", ",\n"), xlabel="joints", ylabel="ms a cycle; above: saving")
        axes.set_ylim(0.0, 1.15 * axes.get_ylim()[1])
    handles, names = all_axes[0, -1].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, fontsize=7)
    return figure
