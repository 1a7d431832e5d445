"""A model in a few lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freeflyer.model.base import describe_base

if TYPE_CHECKING:
    from freeflyer.model.model import Model

SHOWN = 6  # names of keyframes in a summary


def summary(model: Model) -> str:
    """A few lines: sizes, masses, how the base came about, loops, keyframes, notes. `freeflyer info` draws the tree."""
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
