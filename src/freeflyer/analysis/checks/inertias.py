"""Are the links physically possible, and are their numbers in kg, m and kg m^2?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from freeflyer import tolerances as tol
from freeflyer.analysis.checks.findings import Finding, Severity
from freeflyer.analysis.checks.laws import random_states, scale_to_unit_diagonal
from freeflyer.decoupling.orientation import coordinate_owners
from freeflyer.dynamics import mass_matrix
from freeflyer.model import WORLD, Description, Inertia, Joint, Link, Model, group_inertias, rigid_groups


def inertia_findings(description: Description) -> Iterator[Finding]:
    """Everything that can be said about masses and inertias without moving the robot."""
    scale, groups = reach(description), rigid_groups(description)
    welded = group_inertias(description, groups)
    if scale > tol.LARGEST_REACH:
        yield Finding("warning", "long-robot", description.name,
            f"the robot reaches {scale:.4g} m from its root: are lengths given in millimetres?", {"reach": scale})  # fmt: skip
    for link in description.links:
        if link.name == WORLD:
            continue
        largest = float(np.abs(link.inertia.rotational).max())
        if link.inertia.mass > 0:
            yield from _mass_unit(link)
            yield from _triangle(link, welded[groups[link.name][0]])
            yield from _inertia_unit(link, scale)
            yield from _far_centre(link, scale)
        elif largest > 0:
            yield Finding("error", "inertia-without-mass", link.name,
                f"it has no mass but an inertia of {largest:.3g} kg m^2: something that turns heavily must weigh",
                {"inertia": largest})  # fmt: skip
    yield from _massless(description)


def _mass_unit(link: Link) -> Iterator[Finding]:
    mass = link.inertia.mass
    if mass > tol.HEAVIEST_LINK:
        sentence = f"it weighs {mass:.4g} kg, as much as a truck: is the mass given in grams?"
        yield Finding("warning", "mass-unit", link.name, sentence, {"mass": mass})
    elif mass < tol.LIGHTEST_LINK:
        sentence = f"it weighs {mass:.3g} kg, less than a grain of sand: a placeholder, or another unit?"
        yield Finding("warning", "mass-unit", link.name, sentence, {"mass": mass})


def _triangle(link: Link, welded: Inertia) -> Iterator[Finding]:
    """Principal moments of a real body are positive, and none is larger than the other two together.

    welded: the inertia of all links that fixed joints weld to it."""
    moments = np.linalg.eigvalsh(link.inertia.rotational)
    how, excess = _excess(moments)
    if excess <= tol.NEGLIGIBLE_INERTIA:
        return
    largest = float(moments[2])
    severity: Severity
    if excess <= tol.FILE_INERTIA_ROUNDING * largest:
        severity, why = "warning", "by rounding"
    elif _excess(np.linalg.eigvalsh(welded.rotational))[1] <= tol.NEGLIGIBLE_INERTIA:
        severity, why = "warning", "but the sum with the links welded to it is positive"
    else:
        severity, why = "error", "no mass distribution has this inertia"
    what = "a negative one" if how == "negative-inertia" else "the largest exceeds the sum of the others"
    values = {"smallest": float(moments[0]), "middle": float(moments[1]), "largest": largest}
    listed = ", ".join(f"{x:.4g}" for x in moments)
    yield Finding(severity, how, link.name, f"its principal moments are {listed} kg m^2: {what} ({why})", values)


def _excess(moments: np.ndarray) -> tuple[str, float]:
    """(violated condition, by how much) for principal moments (3,), ascending; a plate or a rod is just within."""
    if moments[0] < -tol.INERTIA_ROUNDING * abs(moments[2]):
        return "negative-inertia", float(-moments[0])
    excess = float(moments[2] - moments[0] - moments[1])
    return "triangle-inequality", excess if excess > tol.INERTIA_ROUNDING * moments[2] else 0.0


def _inertia_unit(link: Link, scale: float) -> Iterator[Finding]:
    """Compare the radius of gyration with the size of the robot: units of inertia are wrong by 1e3 or 1e6."""
    gyration = float(np.sqrt(max(np.trace(link.inertia.rotational), 0.0) / 2 / link.inertia.mass))
    values = {"gyration_radius": gyration, "robot_reach": scale}
    limit = max(3 * scale, 0.5) if scale > 0 else 10.0
    if gyration > limit:
        sentence = (f"its inertia is that of {link.inertia.mass:.3g} kg spread {gyration:.3g} m away from its centre, on a "
            f"robot that reaches {scale:.3g} m: is it given in kg mm^2 or g m^2?")  # fmt: skip
        yield Finding("warning", "inertia-unit", link.name, sentence, values)
    elif gyration < tol.POINT_MASS_RADIUS:
        yield Finding("note", "point-mass", link.name, "it has mass but no rotational inertia to speak of: a point mass",
            values)  # fmt: skip
    elif gyration < tol.MIN_GYRATION_RADIUS and link.inertia.mass > tol.LIGHT_MASS:
        sentence = (f"its inertia is that of {link.inertia.mass:.3g} kg within {gyration * 1e3:.2g} mm of its centre: "
            "a placeholder, or another unit?")  # fmt: skip
        yield Finding("warning", "inertia-unit", link.name, sentence, values)


def _far_centre(link: Link, scale: float) -> Iterator[Finding]:
    distance = float(np.linalg.norm(link.inertia.com))
    others = scale - distance  # what the rest of the robot spans, if this centre of mass is what sets the reach
    if distance > 10.0 or (distance > 0.5 and distance > 3 * max(others, 0.2)):
        sentence = f"its centre of mass lies {distance:.4g} m from its frame: is it given in millimetres, or in another frame?"
        yield Finding("warning", "far-centre", link.name, sentence, {"distance": distance})


def _massless(description: Description) -> Iterator[Finding]:
    """Links that carry no mass at all: frames when fixed, trouble when they move freely at the end of a branch."""
    order, below = list(links_in_tree_order(description)), description.joints_below
    above, carried = {link.name: joint for link, joint, _ in order}, {link.name: link.inertia.mass for link, *_ in order}
    for link, joint, _ in reversed(order):
        if joint is not None:
            carried[joint.parent] += carried[link.name]
    for link in description.links:
        joint = above.get(link.name)
        if carried[link.name] > 0 or link.name == WORLD or joint is None or joint.kind == "fixed":
            continue
        outermost = not any(j.kind != "fixed" for j in below.get(link.name, ()))
        if joint.mimic is not None or not outermost:
            continue
        if joint.armature and min(joint.armature) > 0:
            sentence = f"it and all it carries have no mass; only the armature of joint {joint.name!r} resists motion"
            yield Finding("note", "massless-leaf", link.name, sentence)
        else:
            sentence = (f"it and all it carries have no mass, yet joint {joint.name!r} moves it: the mass matrix is singular; "
                "give it a mass, fix the joint, or give the joint an armature")
            yield Finding("error", "massless-leaf", link.name, sentence)


def links_in_tree_order(description: Description) -> Iterator[tuple[Link, Joint | None, int]]:
    """(link, the joint that carries it or None, depth), depth first in file order, without recursion."""
    below, links = description.joints_below, description.link_by_name
    roots = [links[name] for name in description.roots]
    if WORLD in links or WORLD in below:
        roots.insert(0, links.get(WORLD, Link(WORLD)))
    stack: list[tuple[Link, Joint | None, int]] = [(root, None, 0) for root in reversed(roots)]
    while stack:
        link, joint, depth = stack.pop()
        yield link, joint, depth
        stack.extend((links[j.child], j, depth + 1) for j in reversed(below.get(link.name, ())))


def reach(description: Description) -> float:
    """The longest path from a root to a link or a centre of mass, in m: the scale that lengths are judged by."""
    distance = {WORLD: 0.0}
    longest = 0.0
    for link, joint, _ in links_in_tree_order(description):
        step = float(np.linalg.norm(joint.placement[:3, 3])) if joint else 0.0
        distance[link.name] = (distance[joint.parent] if joint else 0.0) + step
        com = float(np.linalg.norm(link.inertia.com)) if link.inertia.mass > 0 else 0.0
        longest = max(longest, distance[link.name] + com)
    return longest


def singular_findings(model: Model, seed: int = 0) -> Iterator[Finding]:
    """Joints without inertia at a random posture, where accidents of the neutral one don't show."""
    if model.nv == 0:
        return
    M = mass_matrix(model, random_states(model, 1, seed).q[0])
    names = coordinate_owners(model)
    if not np.all(np.isfinite(M)):
        yield Finding("error", "mass-matrix-not-finite", model.name,
            "its mass matrix has entries that are not finite numbers")  # fmt: skip
        return
    diagonal = np.diagonal(M)
    free = diagonal <= tol.MIN_DIAGONAL_RATIO * diagonal.max()
    for name in dict.fromkeys(names[i] for i in np.flatnonzero(free)):
        inertia = float(min(diagonal[i] for i in range(model.nv) if names[i] == name))
        sentence = f"nothing resists its motion (inertia {inertia:.3g}): the mass matrix is singular; add mass or armature"
        yield Finding("error", "no-inertia", name, sentence, {"inertia": inertia})
    rest = np.flatnonzero(~free)
    if not len(rest):
        return
    values, vectors = np.linalg.eigh(scale_to_unit_diagonal(M[np.ix_(rest, rest)]))
    if values[0] <= tol.MIN_EIGENVALUE:
        strongest = rest[np.argsort(-np.abs(vectors[:, 0]))[:4]]
        moved = ", ".join(dict.fromkeys(repr(names[i]) for i in strongest))
        sentence = (f"its mass matrix is singular: moving {moved} together meets no inertia "
            f"(smallest eigenvalue {values[0]:.2g} of the unit-free matrix)")  # fmt: skip
        yield Finding("error", "singular-mass-matrix", model.name, sentence, {"eigenvalue": float(values[0])})
