"""A model's tree as text."""

from __future__ import annotations

from freeflyer.model.description import WORLD, Joint
from freeflyer.model.model import Model


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
