"""The tables of an overview: joints and loops."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from freeflyer.tables import Table
from freeflyer.text import count, number

if TYPE_CHECKING:
    from freeflyer.analysis.facts import JointRow, LoopRow, Overview


def totals(o: Overview) -> str:
    """Base, sizes, mass and counts in one line."""
    origin = f" ({o.base_origin})" if o.base_origin else ""
    total = "" if abs(o.total_mass - o.mass) <= 1e-9 * o.total_mass else f" moving of {number(o.total_mass, 6)} kg"
    return (
        f"{o.base} base{origin}, nq {o.nq}, nv {o.nv}, {number(o.mass, 6)} kg{total}, {count(len(o.links), 'link')}, "
        f"{count(len(o.joints), 'moving joint')}, {len(o.actuated)} actuated, {count(len(o.loops), 'loop')}"
    )


def joints_table(joints: Iterable[JointRow]) -> Table:
    """Coordinates and limits; one number where those of all coordinates of a joint are equal."""
    columns = ("joint", "kind", "q", "v", "position", "velocity", "effort", "armature", "damping", "friction", "")
    return Table("joints (SI units, radians)", columns, [_joint(j) for j in joints], range(2, 10))


def loops_table(loops: Iterable[LoopRow]) -> Table:
    """What each loop ties to what, and how many rows it has."""
    rows = [(x.name, x.frame_a, x.frame_b, x.kind, str(x.rows)) for x in loops]
    title = "loops (functions in tree coordinates cut them; see freeflyer loops)"
    return Table(title, ("loop", "ties", "to", "kind", "rows"), rows, (4,))


def _joint(j: JointRow) -> tuple[str, ...]:
    position = [f"{number(a, 3)}…{number(b, 3)}" for a, b in zip(j.lower, j.upper, strict=True)]
    others = [[number(x, 3) for x in values] for values in (j.velocity, j.effort, j.armature, j.damping, j.friction)]
    role = f"follows {j.mimics}" if j.mimics else "" if j.actuated else "passive"
    return (j.name, j.kind, _span(j.iq, j.nq), _span(j.iv, j.nv), *map(_once, (position, *others)), role)


def _once(texts: list[str]) -> str:
    """One text for all, or each."""
    return texts[0] if len(set(texts)) == 1 else " ".join(texts)


def _span(first: int, size: int) -> str:
    return "" if size == 0 else str(first) if size == 1 else f"{first}…{first + size - 1}"
