"""The table of a closed robot: constraint rows and constrained dynamics beside Pinocchio and MuJoCo."""

from __future__ import annotations

from typing import Any

from freeflyer.analysis.bench.results import ClosedTimings, PeerTiming
from freeflyer.analysis.text import microseconds as us
from freeflyer.analysis.text import visible
from freeflyer.cli.output import table


def show(out: Any, robot: str, c: ClosedTimings) -> None:
    """Print the rows, what the peers were asked, and how MuJoCo's softness fades."""
    names = list(dict.fromkeys(p.peer for row in c.rows for p in row.peers))
    columns = ["loops closed", "us a call", "us a state"]
    for name in names:
        columns += [f"{name}: call", "faster", "agrees to"]
    rows = []
    for row in c.rows:
        line = [row.quantity, us(row.call), us(row.batch)]
        for name in names:
            line += _peer(next((p for p in row.peers if p.peer == name), None), row.call)
        rows.append(line)
    size = f"nu {c.nu}, {c.constraints} rows of rank {c.rank}, open by {c.residual:.1e}"
    title = f"{robot}, loops closed: {size}; batches of {c.batch_size}"
    out.print(table(title, columns, rows, numeric=range(1, len(columns))))
    parts = [f"medians of {c.blocks} blocks; accelerations are compared at one state, relative to the largest"]
    means = dict.fromkeys((row.quantity, p.peer, p.means) for row in c.rows for p in row.peers)
    parts += [f"{quantity} by {peer}: {what}" for quantity, peer, what in means]
    parts += [visible(note, 400) for note in c.notes]
    out.print("; ".join(parts), soft_wrap=True)
    if c.softness:
        faded = ", ".join(f"{gap:.1e} at {1.0 - x:g}" for x, gap in c.softness)
        out.print(f"MuJoCo's equalities are soft; its accelerations miss the rigid ones by impedance: {faded}", soft_wrap=True)
    out.print()


def _peer(p: PeerTiming | None, ours: float) -> list[str]:
    if p is None:
        return ["-", "-", "-"]
    faster = "-" if p.call is None else f"{p.call / ours:.1f}x"
    return [us(p.call), faster, "-" if p.difference is None else f"{p.difference:.0e}"]
