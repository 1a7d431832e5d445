"""A chain of equal links, of any length and any joint kinds: the yardstick of scaling measurements and of tests."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from freeflyer.errors import InputError
from freeflyer.model import (
    JOINT_KINDS, JOINT_SIZES, Description, Joint, Link, Model, Site, build, choice, instances, positive, whole_number,
)
from freeflyer.robots._parts import capsule, floating_joint, translation

AXES = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # y, x, z, y, ...
PITCH = 0.02  # advance of helical joints, m/rad
MOST_LINKS = 100_000  # to build as many takes minutes
SPEED, EFFORT = 10.0, 100.0  # rad/s and m/s; Nm and N


def chain(n: int = 6, joints: str | Iterable[str] = "revolute", base: str = "fixed", length: float = 0.1,
          mass: float = 0.5) -> Model:
    """Model of a hanging chain of n joints and n + 1 equal capsules.

    Axes alternate y, x, z. Links are link_0 ... link_n, joints joint_1 ... joint_n; site tip is the end of the last link. All
    joints that move are actuated.

    Args:
        n: Number of joints, 1 to 100000.
        joints: One kind of joint, as in Joint, or several that repeat along the chain.
        base: "fixed" or "free". link_0 stays, or floats: 6 more velocities.
        length: Length of a capsule between its joints, m.
        mass: Mass of a capsule, kg."""
    n = whole_number("n", n, 1, MOST_LINKS)
    kinds = instances("joints", joints, str, "'revolute'")
    if not kinds:
        raise InputError(f"joints is empty: give one joint kind or several of {', '.join(JOINT_KINDS)}.")
    for kind in kinds:
        choice("joints", kind, JOINT_KINDS)
    choice("base", base, ("fixed", "free"))
    length, mass = positive("length", length), positive("mass", mass)
    inertia = capsule(mass, 0.2 * length, (0.0, 0.0, 0.0), (0.0, 0.0, -length))
    links = tuple(Link(f"link_{i}", inertia) for i in range(n + 1))
    moving = tuple(_joint(i, kinds[(i - 1) % len(kinds)], length) for i in range(1, n + 1))
    root = (floating_joint("link_0"),) if base == "free" else ()
    return build(Description(f"chain_{n}", links, root + moving, sites=(Site("tip", f"link_{n}", translation(z=-length)),),
        actuated=tuple(j.name for j in moving if j.kind != "fixed")))


def _joint(i: int, kind: str, length: float) -> Joint:
    nv = JOINT_SIZES[kind][1]
    reach = {"revolute": np.pi, "helical": np.pi, "prismatic": 0.5 * length}.get(kind)
    return Joint(f"joint_{i}", kind, f"link_{i - 1}", f"link_{i}", translation(z=-length), AXES[(i - 1) % 3], AXES[i % 3],
        pitch=PITCH if kind == "helical" else 0.0, lower=() if reach is None else (-reach,),
        upper=() if reach is None else (reach,), velocity=(SPEED,) * nv, effort=(EFFORT,) * nv)
