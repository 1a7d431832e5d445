"""How the base of a robot moves, in words, and where that comes from."""

from __future__ import annotations

from freeflyer.model.description import WORLD, Description

ORIGINS = {"chosen": "chosen", "default": "the default, as the file does not define it", "file": "as in the file"}


def base_kind(description: Description) -> str:
    """How the first root of the robot is held: the kind of the joint between it and the world."""
    kinds = [j.kind for j in description.joints if j.parent == WORLD]
    if not kinds:
        return "fixed"
    return kinds[0] if len(kinds) == 1 or len(set(kinds)) == 1 else "several (" + ", ".join(dict.fromkeys(kinds)) + ")"


def describe_base(description: Description) -> str:
    """The same with its origin: "free (chosen)", "fixed (as in the file)"."""
    origin = ORIGINS.get(description.base)
    return base_kind(description) + (f" ({origin})" if origin else "")
