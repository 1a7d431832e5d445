"""Edits: each takes a Model and returns a new one, made from an edited description. The old one stays as it is. Loops that are
closed (freeflyer.close_loops) stay closed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import InputError, unknown_name
from freeflyer.model.build import compile_description
from freeflyer.model.description import WORLD, Inertia, Joint, Link, Site
from freeflyer.model.inputs import gravity_vector, real_array, shaped
from freeflyer.model.locking import leader, lock, open_loops
from freeflyer.model.model import JointInfo, Model
from freeflyer.model.placements import group_inertias, join, rigid_groups, transform
from freeflyer.model.public import public
from freeflyer.model.validate import validate
from freeflyer.spatial import consistency


@public
def lock_joints(model: Model, joints: Mapping[str, ArrayLike] | Iterable[str], configuration: ArrayLike | None = None) -> Model:
    """Model with some joints fixed; their links stay, their limits do not, and the other velocities keep their order.

    Joints that mimic a locked one are locked where that puts them. Loops that become rigid are dropped if they are closed, within
    1e-5 m and rad.

    Args:
        joints: Name -> position, m or rad, or names alone, with the positions of `configuration`. A position is a number, or the
            joint's nq entries. These are a quaternion x, y, z, w of a spherical joint, position and quaternion of a free one.
    Raises: InputError for positions that are not of the joint's size, given twice or at odds with a mimic joint. Also for joints
    that are fixed already, and for a coupling with only one joint locked. Also for a loop left open, and all motors locked while
    passive joints move."""
    return model.like(compile_description(lock(model.description, _positions(model, joints, configuration))))


@public
def merge_fixed(model: Model) -> Model:
    """Model with links behind fixed joints merged into the link that carries them; their frames stay, as sites of that link.

    Coordinates and dynamics are the same. A link that is fixed to the world stays a link of its own. An open loop between two
    frames of one rigid body is refused, a closed one is dropped."""
    description = model.description
    where = rigid_groups(description, with_world=False)
    inertias = group_inertias(description, where)
    links = tuple(Link(x.name, inertias[x.name]) for x in description.links if where[x.name][0] == x.name)
    kept = [j for j in description.joints if where[j.child][0] == j.child]
    joints = tuple(replace(j, parent=where[j.parent][0], placement=where[j.parent][1] @ j.placement) for j in kept)
    sites = [Site(s.name, where[s.link][0], where[s.link][1] @ s.placement) for s in description.sites]
    sites += [Site(x.name, *where[x.name]) for x in description.links if where[x.name][0] != x.name]
    loops = open_loops(description)
    return model.like(compile_description(replace(description, links=links, joints=joints, sites=tuple(sites), loops=loops)))


@public
def attach_payload(model: Model, link: str, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike | None = None,
                   name: str | None = None) -> Model:
    """Model with a body fixed to one of its links or sites, in whose frame the body is given.

    Args:
        mass, com: kg, above zero; (3,) array, centre of mass, m, by default the frame's origin.
        inertia: (3, 3) array, about the centre of mass, kg m^2; by default that of a point mass.
        name: Of a link of its own, fixed by joint `<name>_joint`; without it the payload adds to the link's inertia."""
    body = _payload(mass, com, inertia)
    description = model.description
    site = next((s for s in description.sites if s.name == link), None)
    target, X = (site.link, site.placement) if site else (link, np.eye(4))
    if target not in model.link_names or target == WORLD:
        frames = [f for f in model.frame_names if f != WORLD]
        raise unknown_name("link or site", link, frames, "A payload is fixed to a link of the robot.")
    if name is None:
        carrier = description.link(target)
        heavier = description.with_link(replace(carrier, inertia=join(carrier.inertia, transform(body, X))))
        return model.like(compile_description(heavier))
    joint = Joint(f"{name}_joint", "fixed", target, name, X)
    for new, taken in ((name, model.frame_names), (joint.name, [j.name for j in description.joints])):
        if new in taken:
            raise InputError(f"the name {new!r} is used in {model.name!r}: choose another for the payload.", name=new)
    links, joints = (*description.links, Link(name, body)), (*description.joints, joint)
    return model.like(compile_description(validate(replace(description, links=links, joints=joints), inertias="as-is")))


@public
def with_gravity(model: Model, gravity: ArrayLike) -> Model:
    """Model of the same robot in another gravity (3,)."""
    return model.like(compile_description(replace(model.description, gravity=gravity_vector(gravity))))


def _positions(model: Model, joints: Mapping[str, ArrayLike] | Iterable[str],
               configuration: ArrayLike | None) -> dict[str, np.ndarray]:
    if isinstance(joints, Mapping):
        if configuration is not None:
            raise InputError("positions came twice: give {name: position}, or names and a configuration, not both.")
        return {name: _position(model, name, value) for name, value in joints.items()}
    q = model.neutral if configuration is None else shaped("configuration", configuration, (model.nq,), f", of {model.name!r}")
    return {name: _entries(model, name, q) for name in ([joints] if isinstance(joints, str) else joints)}


def _position(model: Model, name: str, value: ArrayLike) -> np.ndarray:
    info = _moving(model, name)
    size = info.nq if info.mimic is None else model.joint(leader(model.description, name)[0].name).nq
    what = f"the position of {info.kind} joint {name!r}"
    return np.array(shaped(what, np.atleast_1d(real_array(what, value)), (size,)))


def _entries(model: Model, name: str, q: np.ndarray) -> np.ndarray:
    """A joint's own position in the configuration q; a follower's is its leader's times ratio plus offset."""
    info = _moving(model, name)
    if info.mimic is None:
        return q[info.iq : info.iq + info.nq]
    head, ratio, offset = leader(model.description, name)
    return ratio * _entries(model, head.name, q) + offset


def _moving(model: Model, name: str) -> JointInfo:
    if any(j.name == name and j.kind == "fixed" for j in model.description.joints):
        raise InputError(f"joint {name!r} of {model.name!r} is fixed already.", joint=name)
    return model.joint(name)


def _payload(mass: float, com: ArrayLike, inertia: ArrayLike | None) -> Inertia:
    given = {"mass": (mass, ()), "com": (com, (3,)), "inertia": (np.zeros((3, 3)) if inertia is None else inertia, (3, 3))}
    m, c, I = (np.array(shaped(f"the payload's {what}", value, shape)) for what, (value, shape) in given.items())
    found = consistency.check(m, c, I)
    if not found:
        reasons = "; ".join(r.text for r in found.reasons if r.name != "flat")
        raise InputError(f"no body has this mass and inertia about its com: {reasons}.", mass=float(m), inertia=I)
    return Inertia(float(m), c, I)
