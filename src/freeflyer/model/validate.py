"""Validation of descriptions: names, tree, joints, loops and inertias; each error contains its remedy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from freeflyer.errors import DescriptionError, unknown_name
from freeflyer.model import validate_numbers as N
from freeflyer.model.description import JOINT_KINDS, WORLD, Description, joint_sizes
from freeflyer.model.inputs import choice, explain_gravity
from freeflyer.text import listed


def validate(description: Description, inertias: str = "strict") -> Description:
    """The same description, if it is one connected robot of finite numbers; else a DescriptionError.

    `inertias="strict"` refuses rotational inertias with a negative eigenvalue; "as-is" takes them unchanged. A link that fixed
    joints weld to others is checked with them, and gets a note where only the sum is physical. Inertias that only break the
    triangle inequality pass: real files are full of them. Time is linear in the number of links."""
    choice("inertias", inertias, ("strict", "as-is"))
    if all(link.name == WORLD for link in description.links):
        raise DescriptionError(f"the robot {description.name!r} has no link: a robot needs one at least")
    _check_names(description)
    _check_tree(description)
    for joint in description.joints:
        with _about(joint=joint.name):
            N.check_joint(joint)
    _check_mimics(description)
    _check_frames(description)
    _check_motors(description)
    _check_keyframes(description)
    gravity = np.asarray(description.gravity)
    if gravity.size == 1 and gravity.dtype.kind in "iuf":
        raise DescriptionError(f"gravity {explain_gravity(gravity)}", value=description.gravity)
    N.check_vector(description.gravity, (3,), "gravity (m/s^2)")
    for link in description.links:
        with _about(link=link.name):
            N.check_inertia(link.name, link.inertia)
    harmless = N.check_eigenvalues(description) if inertias == "strict" else ()
    if not harmless:
        return description
    note = f"negative rotational inertia of {listed(harmless)}: harmless, as the sum with the links welded to it is positive"
    return description if note in description.notes else replace(description, notes=(*description.notes, note))


@contextmanager
def _about(**part: str) -> Iterator[None]:
    """Adds to the data of errors inside which part of the description they are about."""
    try:
        yield
    except DescriptionError as error:
        error.data = {**part, **error.data}
        raise


def _check_names(description: Description) -> None:
    links = [x.name for x in description.links]
    for kind, names in (
        ("link", links), ("joint", [x.name for x in description.joints]),
        ("frame (link or site)", links + [x.name for x in description.sites]),
        ("loop", [x.name for x in description.loops]), ("coupling", [x.name for x in description.couplings]),
        ("keyframe", [x.name for x in description.keyframes])
    ):
        seen: set[str] = set()
        part = kind if kind != "frame (link or site)" else "site"
        for name in names:
            if not isinstance(name, str) or not name.strip() or not name.isprintable():
                raise DescriptionError(f"a {kind} has the name {name!r}: expected printable, non-empty text", name=name)
            if name in seen:
                data = {"name": name, part: name}
                raise DescriptionError(f"two {kind}s are named {name!r}: names must differ; rename one", **data)
            seen.add(name)
    if any(s.name == WORLD for s in description.sites):
        raise DescriptionError(f"a site is named {WORLD!r}, the name of the fixed world: rename it", name=WORLD)


def _check_known(kind: str, name: object, known: Iterable[str], who: str, **part: str) -> None:
    if not isinstance(name, str) or name not in known:
        error = unknown_name(kind, name, known)
        raise DescriptionError(f"{who}: {error}", **part, **error.data)


def _check_tree(description: Description) -> None:
    links = dict.fromkeys([x.name for x in description.links] + [WORLD])
    parent: dict[str, str] = {}
    carrier: dict[str, str] = {}
    below: dict[str, list[str]] = {}
    for j in description.joints:
        if j.kind not in JOINT_KINDS:
            raise DescriptionError(f"joint {j.name!r} has kind {j.kind!r}; known kinds: {', '.join(JOINT_KINDS)}", joint=j.name)
        _check_known("link", j.parent, links, f"parent of joint {j.name!r}", joint=j.name)
        _check_known("link", j.child, links, f"child of joint {j.name!r}", joint=j.name)
        if j.child == WORLD:
            raise DescriptionError(f"joint {j.name!r} moves {WORLD!r}, which is fixed: swap its parent and child", joint=j.name)
        if j.child in carrier:
            raise DescriptionError(f"link {j.child!r} has two parents: {parent[j.child]!r} (joint {carrier[j.child]!r}) and "
                f"{j.parent!r} (joint {j.name!r}); keep one joint and close the linkage with a loop", link=j.child,
                joints=(carrier[j.child], j.name))
        carrier[j.child], parent[j.child] = j.name, j.parent
        below.setdefault(j.parent, []).append(j.child)
    roots = [*description.roots, *([WORLD] if below.get(WORLD) else [])]
    reached: set[str] = set()
    stack = list(roots)
    while stack:
        reached.add(name := stack.pop())
        stack += below.get(name, [])
    lost = next((x.name for x in description.links if x.name not in reached and x.name != WORLD), None)
    if lost is not None:
        circle = _circle(lost, parent)
        shown = " <- ".join(circle[:12]) + (f" <- ... ({len(circle) - 1} links)" if len(circle) > 12 else "")
        raise DescriptionError(f"the joints run in a cycle, link by link {shown}: cut it at one joint and close it with a loop",
            links=tuple(circle), joints=tuple(carrier[name] for name in circle[1:]))
    if len(roots) > 1:
        shown = listed([repr(r) for r in roots])
        raise DescriptionError(f"the links are disconnected: {shown} have no parent, and a robot has one root; join the parts "
            f"(by a fixed joint, for one), tie each to the link {WORLD!r}, or delete the links that are not used",
            roots=tuple(roots))


def _circle(start: str, parent: dict[str, str]) -> list[str]:
    """The links of the cycle above `start`, the first repeated at the end."""
    place: dict[str, int] = {}
    way = [start]
    while way[-1] not in place:
        place[way[-1]] = len(way) - 1
        way.append(parent[way[-1]])
    return way[place[way[-1]] :]


def _check_mimics(description: Description) -> None:
    joints = description.joint_by_name
    for j in description.joints:
        if j.mimic is None:
            continue
        _check_known("joint", j.mimic.joint, joints, f"mimic of joint {j.name!r}", joint=j.name)
        with _about(joint=j.name):
            N.check_vector((j.mimic.ratio, j.mimic.offset), (2,), f"ratio and offset of the mimic joint {j.name!r}")
        for one in (j, joints[j.mimic.joint]):
            if one.kind not in N.ONE_DOF:
                raise DescriptionError(f"joint {j.name!r} mimics {j.mimic.joint!r}, but {one.name!r} is {one.kind}: mimic ties "
                    f"two joints of one coordinate each ({', '.join(N.ONE_DOF)})", joint=j.name)
    settled: set[str] = set()
    for j in description.joints:
        way, seen = [j.name], {j.name}
        while way[-1] not in settled and (m := joints[way[-1]].mimic) is not None:
            way.append(m.joint)
            if m.joint in seen:
                raise DescriptionError(f"mimic joints follow each other in a cycle: {' -> '.join(way[:20])}; free one",
                    joints=tuple(way))
            seen.add(m.joint)
        settled |= seen


def _check_frames(description: Description) -> None:
    links = dict.fromkeys([x.name for x in description.links] + [WORLD])
    link_of = {name: name for name in links}
    for s in description.sites:
        _check_known("link", s.link, links, f"site {s.name!r}", site=s.name)
        with _about(site=s.name):
            N.check_placement(s.placement, f"placement of site {s.name!r}")
        link_of[s.name] = s.link
    for loop in description.loops:
        with _about(loop=loop.name):
            who, mask = f"loop {loop.name!r}", loop.mask
            for name in (loop.frame_a, loop.frame_b):
                _check_known("frame", name, link_of, who)
            if (link := link_of[loop.frame_a]) == link_of[loop.frame_b]:
                words = f"{who} ties {loop.frame_a!r} to {loop.frame_b!r}, both of link {link!r}: a loop joins two links"
                raise DescriptionError(words)
            if not isinstance(mask, (tuple, list)) or len(mask) != 6 or any(m not in (0, 1) for m in mask) or not any(mask):
                raise DescriptionError(f"{who} has the mask {mask!r}: expected six of 0 and 1 for x y z rx ry rz, not all 0")


def _check_motors(description: Description) -> None:
    joints = description.joint_by_name
    seen: set[str] = set()
    for name in description.actuated:
        _check_known("joint", name, joints, "actuated joints", actuated=name)
        if joints[name].kind == "fixed":
            raise DescriptionError(f"actuated joint {name!r} is fixed: a motor needs a joint that moves", joint=name)
        if name in seen:
            raise DescriptionError(f"actuated joint {name!r} is listed twice: name each joint once", joint=name)
        seen.add(name)
    for c in description.couplings:
        who = f"coupling {c.name!r}"
        with _about(coupling=c.name):
            for name in (c.joint1, c.joint2) if c.joint2 != "" else (c.joint1,):  # "": joint1 is held at a constant
                _check_known("joint", name, joints, who)
                if joints[name].kind not in N.ONE_DOF:
                    raise DescriptionError(f"{who}: {name!r} is {joints[name].kind}, not of one coordinate", joint=name)
            if not c.coefficients:
                raise DescriptionError(f"{who} has no coefficients: give its polynomial's, constant first")
            N.check_vector(c.coefficients, (len(c.coefficients),), f"coefficients of coupling {c.name!r}")


def _check_keyframes(description: Description) -> None:
    joints = description.joint_by_name
    for key in description.keyframes:
        for entry in key.positions:
            if not isinstance(entry, tuple) or len(entry) != 2:
                raise DescriptionError(f"keyframe {key.name!r} holds {entry!r}: expected (joint, position)", keyframe=key.name)
            name, position = entry
            _check_known("joint", name, joints, f"keyframe {key.name!r}", keyframe=key.name)
            kind = joints[name].kind
            with _about(keyframe=key.name):
                what = f"keyframe {key.name!r}: the position of {kind} joint {name!r}"
                N.check_position(position, kind, joint_sizes(kind)[0], what)
