"""What a robot consists of, as rows: links, joints, loops, totals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from freeflyer.checks.geometry import links_in_tree_order
from freeflyer.model.base import ORIGINS, base_kind
from freeflyer.model.description import Description
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.studies.tables import joints_table, loops_table, totals
from freeflyer.tables import html_tables
from freeflyer.text import short_repr, visible


@dataclass(frozen=True)
class LinkRow:
    """A link in tree order: mass kg, com (3,) m in its frame, inertia (3, 3) kg m^2 about com, share of all mass."""

    name: str
    parent: str | None
    joint: str | None
    joint_kind: str | None
    depth: int
    mass: float
    share: float
    com: np.ndarray
    rotational: np.ndarray


@dataclass(frozen=True)
class JointRow:
    """A moving joint: its coordinates (iq, nq, iv, nv) and limits (nv,), SI; inf where none is given."""

    name: str
    kind: str
    parent: str
    child: str
    actuated: bool
    mimics: str | None
    nq: int
    nv: int
    iq: int
    iv: int
    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray
    armature: np.ndarray
    damping: np.ndarray
    friction: np.ndarray


@dataclass(frozen=True)
class LoopRow:
    name: str
    frame_a: str
    frame_b: str
    mask: tuple[int, ...]
    kind: str
    rows: int


@dataclass(frozen=True)
class Overview:
    """The facts of a robot; `base` is how its root moves: free, planar, fixed ...; `base_origin` in words where that
    comes from (empty: not from a file).

    `mass` (kg) is what moves; `total_mass` counts links fixed to the world too. `independent`: velocities, of nv, that loops leave
    free, where they are closed.
    """

    __repr__ = short_repr

    name: str
    base: str
    base_origin: str
    nq: int
    nv: int
    independent: int
    mass: float
    total_mass: float
    gravity: np.ndarray
    actuated: tuple[str, ...]
    links: tuple[LinkRow, ...]
    joints: tuple[JointRow, ...]
    loops: tuple[LoopRow, ...]
    sites: int
    notes: tuple[str, ...]

    def _repr_html_(self) -> str:
        loops = [loops_table(self.loops)] if self.loops else []
        return html_tables(f"{visible(self.name)}  {totals(self)}", [joints_table(self.joints), *loops])


@public
def overview(model: Model) -> Overview:
    """Collect the facts of a model; nothing is computed but sums."""
    d, independent = model.description, model.nv
    model = model.tree
    mimics = {j.name: j.mimic.joint for j in d.joints if j.mimic is not None}
    actuated = set(model.actuated)
    joints = tuple(
        _joint_row(model, j, mimics.get(j.name), j.name in actuated) for j in model.joints if j.kind != "fixed"
    )
    return Overview(
        name=model.name,
        base=base_kind(d),
        base_origin=ORIGINS.get(d.base, ""),
        nq=model.nq,
        nv=model.nv,
        independent=independent,
        mass=float(model.mass),
        total_mass=float(sum(link.inertia.mass for link in d.links)),
        gravity=np.array(model.gravity, dtype=float),
        actuated=tuple(model.actuated),
        links=_link_rows(d),
        joints=joints,
        loops=tuple(
            LoopRow(x.name, x.frame_a, x.frame_b, tuple(x.mask), loop_kind(x.mask), sum(x.mask)) for x in model.loops
        ),
        sites=len(d.sites),
        notes=tuple(d.notes),
    )


def loop_kind(mask: tuple[int, ...]) -> str:
    """A word for the usual masks, the tied directions otherwise."""
    words: dict[tuple[int, ...], str] = {
        (1, 1, 1, 0, 0, 0): "point",
        (1, 1, 1, 1, 1, 0): "hinge",
        (1, 1, 1, 1, 1, 1): "weld",
    }
    directions = ("x", "y", "z", "rx", "ry", "rz")
    return words.get(tuple(mask)) or " ".join(d for d, on in zip(directions, mask, strict=True) if on)


def _link_rows(d: Description) -> tuple[LinkRow, ...]:
    total = sum(link.inertia.mass for link in d.links) or 1.0
    rows = []
    for link, joint, depth in links_in_tree_order(d):
        rows.append(
            LinkRow(
                name=link.name,
                parent=joint.parent if joint else None,
                joint=joint.name if joint else None,
                joint_kind=joint.kind if joint else None,
                depth=depth,
                mass=link.inertia.mass,
                share=link.inertia.mass / total,
                com=link.inertia.com,
                rotational=link.inertia.rotational,
            )
        )
    return tuple(rows)


def _joint_row(model: Model, joint: Any, mimics: str | None, actuated: bool) -> JointRow:
    part = slice(joint.iv, joint.iv + joint.nv)
    return JointRow(
        name=joint.name, kind=joint.kind, parent=joint.parent, child=joint.child, actuated=actuated, mimics=mimics,
        nq=joint.nq, nv=joint.nv, iq=joint.iq, iv=joint.iv,
        lower=model.position_lower[part], upper=model.position_upper[part], velocity=model.velocity_limit[part],
        effort=model.effort_limit[part], armature=model.armature[part], damping=model.damping[part],
        friction=model.friction[part],
    )  # fmt: skip
