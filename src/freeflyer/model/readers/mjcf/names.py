"""Names under which MJCF holds what it has no elements for, and the joints of a compiled model in the order of qpos."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from freeflyer.model.description import MujocoJoint
from freeflyer.text import unique_name

# Kinds that MuJoCo lacks: the joints that make them up, outermost first, named "joint/kind/0" and so on.
CHAINS = {"cylindrical": ("slide", "hinge"), "universal": ("hinge", "hinge"), "planar": ("slide", "slide", "hinge")}
MOTIONS = {"revolute": ("hinge",), "continuous": ("hinge",), "prismatic": ("slide",), "spherical": ("ball",), "free": ("free",),
           **CHAINS}
GROUPED = re.compile(r"(.+)/(cylindrical|universal|planar)/([012])", re.DOTALL)
# A custom numeric "freeflyer:velocity:joint" holds a field of Joint; a custom text "freeflyer:fixed:body" names the
# fixed joint that carries the body, "freeflyer:link:body/joint" the massless link between two joints of a body.
CUSTOM = "freeflyer:"
CUSTOM_FIELDS = ("lower", "upper", "velocity", "effort", "initial")
CUSTOM_NAMES = ("fixed", "link")


def hidden_link(body: str, joint: str) -> str:
    """The massless link after `joint`, where more joints follow in the same body."""
    return f"{body}/{joint}"


def link_site(link: str) -> str:
    """The site that stands for a link's own frame at the end of a loop."""
    return f"{link}/frame"


def group_name(joint: str, kind: str, k: int) -> str:
    """The k-th MuJoCo joint of a joint of a kind of CHAINS."""
    return f"{joint}/{kind}/{k}"


def joint_of(name: str, joints: Mapping[str, Any]) -> tuple[str, int]:
    """Our joint that MuJoCo's joint `name` is, or is a part of, and its first coordinate there; "" where there is none."""
    if name in joints:
        return name, 0
    part = GROUPED.fullmatch(name)
    if part and part[1] in joints and joints[part[1]].kind == part[2]:
        return part[1], int(part[3])
    return "", 0


FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
KINDS = ("free", "ball", "slide", "hinge")
# Entries of qpos that make a position here, and the reverse.
TO_OURS = {"free": (0, 1, 2, 4, 5, 6, 3), "ball": (1, 2, 3, 0), "slide": (0,), "hinge": (0,)}
NEUTRAL = {"free": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0), "ball": (0.0, 0.0, 0.0, 1.0), "slide": (0.0,), "hinge": (0.0,)}
TO_MUJOCO = {"free": (0, 1, 2, 6, 3, 4, 5), "ball": (3, 0, 1, 2), "slide": (0,), "hinge": (0,)}


def position(kind: int, qpos: Sequence[float]) -> tuple[float, ...]:
    """The position in our order of a joint whose entries begin `qpos`; kind: MuJoCo's number."""
    return tuple(float(qpos[k]) for k in TO_OURS[KINDS[kind]])


def layout(m: Any, bodies: Sequence[str], joints: Sequence[str]) -> tuple[MujocoJoint, ...]:
    """The joints of a compiled model, each standing where qpos0 has it. bodies, joints: the names of all of them."""
    kinds = [int(kind) for kind in m.jnt_type]
    where = [position(kind, m.qpos0[int(at) :]) for kind, at in zip(kinds, m.jnt_qposadr)]
    return tuple(MujocoJoint(name, KINDS[kinds[j]], bodies[int(m.jnt_bodyid[j])], where[j]) for j, name in enumerate(joints))


def body_names(m: Any) -> tuple[str, ...]:
    """Unnamed bodies become body_3 or the like."""
    names = [m.body(i).name for i in range(m.nbody)]
    taken = set(names)
    return tuple(name or unique_name(f"body_{i}", taken) for i, name in enumerate(names))


def joint_names(m: Any, bodies: Sequence[str]) -> tuple[str, ...]:
    """Unnamed joints are called after their body; an unnamed free joint that is the only one is the root_joint."""
    names = [m.joint(j).name for j in range(m.njnt)]
    taken = set(names)
    unnamed_free = [j for j in range(m.njnt) if m.jnt_type[j] == FREE and not names[j]]
    for j, name in enumerate(names):
        if not name:
            names[j] = unique_name("root_joint" if [j] == unnamed_free else f"{bodies[m.jnt_bodyid[j]]}_joint", taken)
    return tuple(names)
