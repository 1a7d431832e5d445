"""Description to MJCF. What MuJoCo cannot hold exactly is refused; what it has no element for is written into <custom>."""

from __future__ import annotations

import os
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from freeflyer.errors import DescriptionError
from freeflyer.model.description import POINT, WELD, WORLD, Coupling, Description, joint_sizes
from freeflyer.model.locking import complete_followers
from freeflyer.model.readers.mjcf.names import CHAINS, TO_MUJOCO, group_name, link_site
from freeflyer.model.readers.safe_file import MAX_DEPTH
from freeflyer.model.writers.mjcf_bodies import Tree
from freeflyer.model.writers.xml_out import add, append_filled, description_of, finish, refuse, text

if TYPE_CHECKING:
    from lxml.etree import _Element

UNITS = {"free": 6, "spherical": 3}


def to_mjcf(robot: object, path: str | os.PathLike[str] | None = None, overwrite: bool = False) -> str:
    """MJCF text of a robot, also written to a file. Features that MuJoCo lacks are refused, with the name and the reason.

    The robot reads back the same, to rounding, with two exceptions. An unlimited revolute joint becomes continuous. A massless
    link between two joints becomes a second joint of the next body, and its frame is not kept. Cylindrical, universal and planar
    joints become several joints of one body. Mimic joints and loops become MuJoCo's equalities, which are soft.

    Raises: DescriptionError for helical joints, loops other than point and weld, couplings of a degree above 4, and robots
    without a base. Also for springs of ball and free joints with another rest position, and free joints off the world's own
    frame. MuJoCo also refuses moving bodies without mass and inertias that break the triangle inequality. Other errors are those
    of to_urdf."""
    description = description_of(robot)
    _check(description)
    root = add(None, "mujoco", model=description.name or "robot")
    add(root, "compiler", angle="radian", autolimits="true")
    add(root, "option", gravity=text(description.gravity))
    tree = Tree(description, add(root, "worldbody"))
    _add_equalities(root, description, tree)
    _add_motors(root, description)
    _add_keyframes(root, description, tree)
    append_filled(root, tree.custom)
    content = finish(root, None, overwrite)
    _compile(content, root)
    return finish(root, path, overwrite)


def _check(description: Description) -> None:
    if description.roots:
        raise refuse(f"MJCF of {description.name!r}", f"link {description.roots[0]!r} is not tied to the world",
            'choose a base: freeflyer.model.load.with_base(description, "free")')
    for j in description.joints:
        if j.kind == "helical":
            raise refuse(f"helical joint {j.name!r}", "MuJoCo has none, and a hinge tied to a slide by an equality is soft",
                "write URDF instead (to_urdf)")
        if j.kind == "free" and (j.parent != WORLD or not np.array_equal(j.placement, np.eye(4))):
            raise refuse(f"free joint {j.name!r}", "MuJoCo's moves in the world's own frame only", "tie it to the world, with "
                "the identity as placement")
    for loop in description.loops:
        if tuple(loop.mask) not in (POINT, WELD):
            raise refuse(f"loop {loop.name!r} with mask {tuple(loop.mask)}", "MuJoCo ties points (connect) and poses (weld)",
                "write URDF instead (to_urdf)")
    for c in description.couplings:
        if len(c.coefficients) > 5:
            raise refuse(f"coupling {c.name!r}", "MuJoCo's polynomials end at degree 4", "lower the degree")


def _compile(content: str, root: _Element) -> None:
    import mujoco

    depth = 0
    for element in root.iter("body"):
        if not len(element.findall("body")):
            depth = max(depth, sum(1 for _ in element.iterancestors()) + 2)
    if depth > MAX_DEPTH:
        raise DescriptionError(f"MJCF would nest {depth} elements; MuJoCo reads {MAX_DEPTH}: write URDF (to_urdf)")
    try:
        mujoco.MjSpec.from_string(content).compile()
    except Exception as error:
        words = " ".join(str(error).split())[:300]
        cure = "give the named body a mass and an inertia that a body can have" if "inertia" in words else "change it"
        raise DescriptionError(f"MuJoCo refuses the robot: {words}; {cure}, or write URDF (to_urdf)") from None


def _add_equalities(root: _Element, description: Description, tree: Tree) -> None:
    block = add(None, "equality")
    links = {x.name for x in description.links} | {WORLD}
    for loop in description.loops:
        ends = [link_site(f) if f in links else f for f in (loop.frame_a, loop.frame_b)]
        tag = "connect" if tuple(loop.mask) == POINT else "weld"
        add(block, tag, name=loop.name, site1=ends[0], site2=ends[1])
    joints = description.joint_by_name
    couplings = [
        Coupling(f"{j.name}/mimic", j.name, j.mimic.joint, (j.mimic.offset, j.mimic.ratio)) for j in description.joints
        if j.mimic is not None
    ]
    for c in (*couplings, *description.couplings):
        ref1, ref2 = ((joints[n].initial or (0.0,))[0] if n else 0.0 for n in (c.joint1, c.joint2))
        a = [sum(comb(n, k) * f * ref2 ** (n - k) for n, f in enumerate(c.coefficients) if n >= k) for k in range(5)]
        a[0] -= ref1
        element = add(block, "joint", name=c.name, joint1=c.joint1, polycoef=text(a))
        if c.joint2:
            element.set("joint2", c.joint2)
    append_filled(root, block)


def _add_keyframes(root: _Element, description: Description, tree: Tree) -> None:
    block = add(None, "keyframe")
    for key in description.keyframes:
        placed = complete_followers(description, dict(key.positions))
        qpos: list[float] = []
        for motion in tree.motions:
            joint = motion.joint
            if motion.type in ("hinge", "slide"):
                qpos.append((placed.get(joint.name) or joint.initial or (0.0,) * (motion.k + 1))[motion.k])
            else:
                first = 0 if motion.type == "free" else 3
                x = placed.get(joint.name) or joint.initial or (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)[first:]
                qpos += [x[k] for k in TO_MUJOCO[motion.type]]
        add(block, "key", name=key.name, qpos=text(qpos))
    append_filled(root, block)


def _add_motors(root: _Element, description: Description) -> None:
    block = add(None, "actuator")
    kinds = {j.name: j.kind for j in description.joints}
    for name in description.actuated:
        kind = kinds[name]
        if kind in UNITS:
            for gear in np.eye(UNITS[kind], 6):
                add(block, "motor", joint=name, gear=text(gear))
        else:
            n = joint_sizes(kind)[1]
            for k in range(n):
                add(block, "motor", joint=group_name(name, kind, k) if kind in CHAINS else name)
    append_filled(root, block)
