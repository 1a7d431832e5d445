"""Validation of descriptions: names, tree, joints, loops, numbers and inertias; each error contains its remedy."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from freeflyer import tolerances as T
from freeflyer.errors import DescriptionError, InputError, unknown_name
from freeflyer.model.description import JOINT_KINDS, JOINT_SIZES, PER_COORDINATE, WORLD, Description, Inertia, Joint
from freeflyer.model.inputs import check_shape, choice, explain_gravity, finite_array
from freeflyer.model.placements import group_inertias, rigid_groups
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
            check_joint(joint)
    _check_mimics(description)
    _check_frames(description)
    _check_motors(description)
    _check_keyframes(description)
    gravity = np.asarray(description.gravity)
    if gravity.size == 1 and gravity.dtype.kind in "iuf":
        raise DescriptionError(f"gravity {explain_gravity(gravity)}", value=description.gravity)
    check_vector(description.gravity, (3,), "gravity (m/s^2)")
    for link in description.links:
        with _about(link=link.name):
            check_inertia(link.name, link.inertia)
    harmless = check_eigenvalues(description) if inertias == "strict" else ()
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
    d = description
    parts: dict[str, tuple[Any, ...]] = {
        "link": d.links, "joint": d.joints, "frame (link or site)": (*d.links, *d.sites), "loop": d.loops, "coupling": d.couplings,
        "keyframe": d.keyframes}
    for kind, named in parts.items():
        seen: set[str] = set()
        part = kind if kind != "frame (link or site)" else "site"
        for name in (x.name for x in named):
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
    roots = [*description.roots, *([WORLD] if WORLD in description.joints_below else [])]
    reached = {*roots, *(joint.child for joint in description.below(roots))}
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
            check_vector((j.mimic.ratio, j.mimic.offset), (2,), f"ratio and offset of the mimic joint {j.name!r}")
        for one in (j, joints[j.mimic.joint]):
            if one.kind not in ONE_DOF:
                raise DescriptionError(f"joint {j.name!r} mimics {j.mimic.joint!r}, but {one.name!r} is {one.kind}: mimic ties "
                    f"two joints of one coordinate each ({', '.join(ONE_DOF)})", joint=j.name)
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
    link_of = {name: name for name in (*description.link_by_name, WORLD)}
    for s in description.sites:
        _check_known("link", s.link, (*description.link_by_name, WORLD), f"site {s.name!r}", site=s.name)
        with _about(site=s.name):
            check_placement(s.placement, f"placement of site {s.name!r}")
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
                if joints[name].kind not in ONE_DOF:
                    raise DescriptionError(f"{who}: {name!r} is {joints[name].kind}, not of one coordinate", joint=name)
            if not c.coefficients:
                raise DescriptionError(f"{who} has no coefficients: give its polynomial's, constant first")
            check_vector(c.coefficients, (len(c.coefficients),), f"coefficients of coupling {c.name!r}")


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
                check_position(position, kind, what)


ONE_DOF = ("revolute", "continuous", "prismatic", "helical")
WITH_AXIS = (*ONE_DOF, "cylindrical", "planar", "universal")


def check_vector(value: object, shape: tuple[int, ...], what: str) -> np.ndarray:
    """The value as an array of finite numbers of that shape."""
    try:
        return check_shape(what, finite_array(what, value, T.LARGEST_NUMBER), shape)
    except InputError as error:
        raise DescriptionError(str(error)) from None


def check_placement(X: object, what: str) -> None:
    X = check_vector(X, (4, 4), what)
    R = X[:3, :3]
    off, det = np.abs(R.T @ R - np.eye(3)).max(), np.linalg.det(R)
    if off > T.ROTATION_ROUNDING or det < 0.0 or tuple(X[3]) != (0.0, 0.0, 0.0, 1.0):
        raise DescriptionError(f"{what} is no rigid placement: |R'R - 1| = {off:.1e}, det R = {det:.3g}, last row "
            f"{X[3].tolist()}; expected R'R = 1 within {T.ROTATION_ROUNDING:g}, det R = 1 and [0, 0, 0, 1]: make the rotation R "
            "orthonormal")


def check_joint(j: Joint) -> None:
    who = f"{j.kind} joint {j.name!r}"
    check_placement(j.placement, f"placement of joint {j.name!r}")
    axis = check_vector(j.axis, (3,), f"axis of joint {j.name!r}")
    axis2 = check_vector(j.axis2, (3,), f"axis2 of joint {j.name!r}")
    length = np.linalg.norm(axis)
    if j.kind in WITH_AXIS and length < T.MIN_AXIS_LENGTH:
        raise DescriptionError(f"{who} has the axis {axis.tolist()}: a direction needs a length")
    if j.kind == "universal" and np.linalg.norm(np.cross(axis, axis2)) <= T.PARALLEL_SINE * length * np.linalg.norm(axis2):
        raise DescriptionError(f"{who} has parallel axes {axis.tolist()} and {axis2.tolist()}: give two directions")
    check_vector(j.pitch, (), f"pitch of joint {j.name!r} (m/rad)")
    if j.kind == "helical" and j.pitch == 0.0:
        raise DescriptionError(f"{who} has pitch 0 m/rad: make it revolute, or give its advance per radian")
    for name in PER_COORDINATE:
        _check_per_coordinate(j, name, JOINT_SIZES[j.kind][1])
    if bool(j.lower) != bool(j.upper):
        raise DescriptionError(f"{who} has only one of lower and upper: give both, infinite where there is none")
    for low, high in zip(j.lower, j.upper):
        if low > high or low == np.inf or high == -np.inf:
            raise DescriptionError(f"{who} has lower {low:g} above upper {high:g}: correct them")
    for what, position in (("initial position", j.initial), ("spring reference", j.spring_reference)):
        if position:
            check_position(position, j.kind, f"{what} of {who}")


def check_position(position: object, kind: str, what: str) -> None:
    q = check_vector(position, JOINT_SIZES[kind][:1], what)
    norm = float(np.linalg.norm(q[-4:]))
    if kind in ("spherical", "free") and abs(norm - 1.0) > T.GIVEN_UNIT_ERROR:
        raise DescriptionError(f"{what} has a quaternion of length {norm:.3g}: expected 1")


def _check_per_coordinate(j: Joint, name: str, nv: int) -> None:
    """A tuple of joint `j` that holds one number per velocity coordinate, or none."""
    values, what = getattr(j, name), f"{name} of joint {j.name!r}"
    if not isinstance(values, (tuple, list)) or len(values) not in (0, nv):
        got = f"{len(values)} numbers" if isinstance(values, (tuple, list)) else repr(values)
        raise DescriptionError(f"{what} holds {got}: a {j.kind} joint takes {nv} of them, or () for none")
    for x in values:
        if not isinstance(x, (int, float, np.floating, np.integer)) or x != x:
            raise DescriptionError(f"{what} is {values!r}: expected {nv} numbers")
        if name in ("lower", "upper"):
            continue  # infinite: unlimited
        if x < 0.0 and name != "stiffness":  # a spring may push away from where it is at rest
            raise DescriptionError(f"{what} is {x:g}: expected zero or more; check the sign")
        if abs(float(x)) > T.LARGEST_NUMBER and name not in ("velocity", "effort"):
            raise DescriptionError(f"{what} is {x:g}: expected at most {T.LARGEST_NUMBER:g} in SI units")


def check_inertia(name: str, inertia: Inertia) -> None:
    mass = float(check_vector(inertia.mass, (), f"mass of link {name!r}"))
    if mass < 0.0:
        raise DescriptionError(f"link {name!r} has the mass {mass:g} kg: expected zero or more", link=name)
    _check_not_tiny(name, "mass", mass, "kg")
    check_vector(inertia.com, (3,), f"centre of mass of link {name!r}")
    J = check_vector(inertia.rotational, (3, 3), f"rotational inertia of link {name!r}")
    if np.abs(J - J.T).max() > T.INERTIA_EIGENVALUE_ROUNDING * np.abs(J).max():
        raise DescriptionError(f"rotational inertia of link {name!r} is not symmetric: {J.tolist()}", link=name)
    _check_not_tiny(name, "rotational inertia", float(np.abs(J).max()), "kg m^2")


def _check_not_tiny(name: str, what: str, size: float, unit: str) -> None:
    if 0.0 < size < T.SMALLEST_INERTIA:
        raise DescriptionError(f"link {name!r} has the {what} {size:g} {unit}: expected 0, or at least {T.SMALLEST_INERTIA:g} "
            f"{unit}, below which products of inertias vanish in double precision. Check the units, or write 0 for a link "
            "without mass", link=name, size=size)


def check_eigenvalues(description: Description) -> tuple[str, ...]:
    """Links whose rotational inertia has a negative eigenvalue that does not matter; DescriptionError for one that does.

    Such a link does not matter where the sum with the links that fixed joints weld to it is positive, for only the sum moves."""
    J = np.stack([link.inertia.rotational for link in description.links]).astype(float)
    bad = [description.links[k].name for k in np.flatnonzero(_below_zero(J))]
    if not bad:
        return ()
    places = rigid_groups(description)
    welded = group_inertias(description, places)
    names = tuple([name for name in bad if _below_zero(welded[places[name][0]].rotational[None])[0]])
    if not names:
        return tuple(bad)
    values = np.linalg.eigvalsh(description.link(names[0]).inertia.rotational)
    more = f" (and those of {len(names) - 1} more: {', '.join(names[1:6])})" if names[1:] else ""
    raise DescriptionError(f"rotational inertia of link {names[0]!r}{more} has the negative eigenvalue {values[0]:.4g} kg m^2, its "
        f"three being {', '.join(f'{x:.4g}' for x in values)}: no body has that. Correct the file, or load it unchanged with "
        'inertias="as-is"', links=names, eigenvalues=tuple(values.tolist()))


def _below_zero(J: np.ndarray) -> np.ndarray:
    """Which of the inertias (n, 3, 3) have an eigenvalue below zero by more than rounding."""
    eigenvalues = np.linalg.eigvalsh(J)  # ascending
    return eigenvalues[:, 0] < -T.INERTIA_EIGENVALUE_ROUNDING * np.abs(eigenvalues).max(axis=1) - T.NEGLIGIBLE_INERTIA
