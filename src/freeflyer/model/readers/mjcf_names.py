"""Names under which MJCF holds what it has no elements for; the reader and the writer share them."""

from __future__ import annotations

import re

# Kinds that MuJoCo lacks: the joints that make them up, outermost first, named "joint/kind/0" and so on.
CHAINS = {"cylindrical": ("slide", "hinge"), "universal": ("hinge", "hinge"), "planar": ("slide", "slide", "hinge")}
GROUPED = re.compile(r"(.+)/(cylindrical|universal|planar)/([012])", re.DOTALL)
# A custom numeric "freeflyer:velocity:joint" holds a field of Joint; a custom text "freeflyer:fixed:body" names the
# fixed joint that carries the body, "freeflyer:link:body/joint" the massless link between two joints of a body.
CUSTOM = "freeflyer:"
CUSTOM_FIELDS = ("lower", "upper", "velocity", "effort", "initial")
CUSTOM_NAMES = ("fixed", "link")


def hidden_link(body: str, joint: str) -> str:
    """The massless link after `joint`, where more joints follow in the same body."""
    return f"{body}/{joint}"


def hidden_joint(body: str) -> str:
    """The fixed joint from the anchor of a body's last joint to the body's frame."""
    return f"{body}/anchor"


def link_site(link: str) -> str:
    """The site that stands for a link's own frame at the end of a loop."""
    return f"{link}/frame"


def group_name(joint: str, kind: str, k: int) -> str:
    """The k-th MuJoCo joint of a joint of a kind of CHAINS."""
    return f"{joint}/{kind}/{k}"


def unique_name(name: str, taken: set[str]) -> str:
    """The name, with a number behind it where it is taken; from now on it is."""
    k, free = 2, name
    while free in taken:
        free, k = f"{name}_{k}", k + 1
    taken.add(free)
    return free
