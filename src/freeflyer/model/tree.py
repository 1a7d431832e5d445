"""A model's tree as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freeflyer.model.base import describe_base
from freeflyer.model.description import WORLD, Joint

if TYPE_CHECKING:
    from freeflyer.model.model import Model

SHOWN = 6  # names of keyframes in a summary


def summary(model: Model) -> str:
    """A few lines: sizes, masses, how the base came about, loops, keyframes, notes. `draw` has the tree."""
    d, moving = model.description, len(model.joints)
    lines = [
        f"{model.name}: nq {model.nq}, nv {model.nv}, {moving} moving joint{'s' * (moving != 1)}, {len(model.actuated)} actuated, "
        f"{model.mass:.6g} kg moving",
        f"base: {describe_base(d)}",
    ]
    if model.loops or d.couplings:
        tied = f"{len(model.loops)} loops" + (f", {len(d.couplings)} couplings" if d.couplings else "")
        closed = f"closed (nv {model.tree.nv} with open ones)"
        how = "open (freeflyer.close_loops closes them)" if model.reduction is None else closed
        lines.append(f"{tied}: {how}")
    if d.keyframes:
        more = f", ... ({len(d.keyframes)} in all)" if len(d.keyframes) > SHOWN else ""
        lines.append(f"keyframes: {', '.join(k.name for k in d.keyframes[:SHOWN])}{more}")
    if d.notes:
        lines.append(f"notes of the reader: {len(d.notes)} (model.description.notes)")
    return "\n".join(lines)


def draw(model: Model) -> str:
    """Head line with sizes, then one line per link: the joint that carries it, its kind and the link's mass."""
    description = model.description
    carried: dict[str, list[Joint]] = {}
    for joint in description.joints:
        carried.setdefault(joint.parent, []).append(joint)
    masses = {link.name: link.inertia.mass for link in description.links}
    loops = f", {len(model.loops)} loops" if model.loops else ""
    lines = [f"{model.name}: nq {model.nq}, nv {model.nv}, {len(model.actuated)} actuated, {model.mass:.6g} kg{loops}"]
    roots = [WORLD, *description.roots] if WORLD in carried or WORLD in masses else list(description.roots)
    stack = [(name, "", True, "") for name in reversed(roots)]
    while stack:
        name, indent, last, label = stack.pop()
        branch = "" if not label else ("└─ " if last else "├─ ")
        mass = f"  {masses[name]:.4g} kg" if masses.get(name) else ""
        lines.append(f"{indent}{branch}{label}{name}{mass}")
        below = carried.get(name, [])
        inner = indent + ("" if not label else ("   " if last else "│  "))
        for k in range(len(below) - 1, -1, -1):
            joint = below[k]
            kind = joint.kind if joint.mimic is None else f"{joint.kind}, mimics {joint.mimic.joint}"
            stack.append((joint.child, inner, k == len(below) - 1, f"{joint.name} ({kind}) → "))
    return "\n".join(lines)
