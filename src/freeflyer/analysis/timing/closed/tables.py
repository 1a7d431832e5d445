"""The table of a closed robot: constraint rows and constrained dynamics."""

from __future__ import annotations

from freeflyer.analysis.timing.results import ClosedTimings
from freeflyer.tables import Table
from freeflyer.text import microseconds as us


def closed_table(robot: str, c: ClosedTimings) -> Table:
    """The rows, below each the functions of the peers and their differences; errors by softness in the note."""
    compared = any(row.peers for row in c.rows)
    columns = ["loops closed", "us a call", "us a state", *(("beside", "us a call", "faster", "agrees to") if compared else ())]
    rows = []
    for row in c.rows:
        line = [row.quantity, us(row.call), us(row.batch)]
        if not row.peers:
            rows.append([*line, *(("", "-", "-", "-") if compared else ())])
        for p in row.peers:
            faster = "-" if p.call is None else f"{p.call / row.call:.1f}x"
            agrees = "-" if p.difference is None else f"{p.difference:.0e}"
            rows.append([*line, f"{p.peer}: {p.means}", us(p.call), faster, agrees])
            line = ["", "", ""]
    size = f"nu {c.nu}, {c.constraints} rows of rank {c.rank}, open by {c.residual:.1e}"
    title = f"{robot}, loops closed: {size}; batches of {c.batch_size}"
    parts = [f"medians of {c.blocks} blocks of calls"]
    parts += ["agreement at one state, relative to the largest entry"] if compared else []
    parts += c.notes
    if c.softness:
        faded = ", ".join(f"{gap:.1e} at {1.0 - x:g}" for x, gap in c.softness)
        parts += [f"the equalities of a peer are soft; its accelerations miss the rigid ones by impedance: {faded}"]
    return Table(title, columns, rows, [k for k in range(1, len(columns)) if k != 3], "; ".join(parts))
