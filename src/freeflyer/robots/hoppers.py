"""The two planar hopping legs of the decoupling thesis (chapter 4): point masses on a base that moves in the x-z plane."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freeflyer.model.build import build
from freeflyer.model.description import ROOT_JOINT, WORLD, Description, Inertia, Joint, Link, Site
from freeflyer.model.model import Model
from freeflyer.model.recorded_states import Keyframe
from freeflyer.robots._parts import positive, translation

NORMAL = np.array([0.0, -1.0, 0.0])  # of the plane whose first axis is the world's x, and whose second is its z
ALONG = np.array([1.0, 0.0, 0.0])
TRUNK, FOOT, LEG_START = 0.957, 0.050, 0.114  # tables 4.5 and 4.7
THIGH_TRUNK, THIGH, SHANK, LENGTH = 0.835, 0.122, 0.050, 0.12  # tables 4.9 and 4.10
KNEE_START, PITCH_START = 1.7802, -2.5174  # table 4.13
HEIGHT, GRAVITY = 0.3, 9.8  # tables 4.7 and 4.13; m/s^2 of the energy of table 4.8


def prismatic_hopper(*, trunk: float = TRUNK, foot: float = FOOT, gravity: float = GRAVITY) -> Model:
    """Model of a hopping leg in the plane: a trunk and a foot, both point masses, and a prismatic joint between them, nv = 4.

    Joint `root_joint` is planar, q[:3] = (x, z, angle) and v[:3] their rates in the world; at angle 0 the leg points along x, and
    the angle turns x towards z. These are o_ib and theta_ib of the thesis, where v_b is the velocity of o_ib in the trunk's axes.
    Joint `leg` moves the link `foot`, whose frame is site `foot_point`, along the trunk's x. q[3] is the leg's length, and the mass
    matrix is singular at length 0. Keyframe `start` is table 4.7. Joints have no limits.

    Source: M. Feurstein, "Formulation of Decoupled Dynamics for Efficient Control of Floating Base Robots", thesis, TU Munich,
    2021, tables 4.4, 4.5 and 4.7.

    Args:
        trunk, foot: Masses, kg.
        gravity: Along -z, m/s^2.
    Raises: InputError for masses and accelerations that are not above zero.

    Examples:
        >>> model = ff.robots.prismatic_hopper()
        >>> print(f"{ff.potential_energy(model, model.keyframes['start']):.4f} J")     # E of table 4.8
        2.9047 J
    """
    return build(prismatic_hopper_description(trunk, foot, gravity))


def prismatic_hopper_description(trunk: float = TRUNK, foot: float = FOOT, gravity: float = GRAVITY) -> Description:
    links = (_point("trunk", trunk), _point("foot", foot))
    leg = Joint("leg", "prismatic", "trunk", "foot", axis=ALONG)
    start = (("root_joint", (0.0, HEIGHT, -np.pi / 2.0)), ("leg", (LEG_START,)))
    return _hopper("prismatic_hopper", links, (leg,), Site("foot_point", "foot"), start, gravity)


def revolute_hopper(
    *, trunk: float = THIGH_TRUNK, thigh: float = THIGH, shank: float = SHANK, length: float = LENGTH, gravity: float = GRAVITY
) -> Model:
    """Model of a hopping leg in the plane: a trunk on a thigh, a knee and a shank, all point masses, nv = 4.

    Joint `root_joint` is planar, q[:3] = (x, z, angle) and v[:3] their rates in the world, of the thigh's upper end: at angle 0 the
    thigh points along x, and the angle turns x towards z. Joint `knee`, q[3], turns the same way. The links `trunk` and `thigh` are
    welded, base b of the thesis; site `foot_point` is the shank's lower end. Keyframe `start` is that of experiments I to IV.
    Joints have no limits.

    Source: as `prismatic_hopper`, tables 4.9, 4.10 and 4.13.

    Args:
        trunk: Mass at the upper end of the thigh, kg.
        thigh, shank: Masses in the middle of each, kg.
        length: Length of the thigh and of the shank, m.
        gravity: Along -z, m/s^2.
    Raises: InputError for masses, lengths and accelerations that are not above zero.

    Examples:
        >>> model = ff.robots.revolute_hopper()
        >>> foot = ff.frame_pose(model, model.keyframes["start"], "foot_point")[:3, 3]
        >>> print(f"{np.linalg.norm(foot - ff.center_of_mass(model, model.keyframes['start'])):.4f} m")     # r_cf(0) of table 4.12
        0.1411 m
    """
    return build(revolute_hopper_description(trunk, thigh, shank, length, gravity))


def revolute_hopper_description(
    trunk: float = THIGH_TRUNK, thigh: float = THIGH, shank: float = SHANK, length: float = LENGTH, gravity: float = GRAVITY
) -> Description:
    length = positive("length", length, "m")
    links = (_point("trunk", trunk), _point("thigh", thigh, length / 2.0), _point("shank", shank, length / 2.0))
    hip = Joint("hip", "fixed", "trunk", "thigh")
    knee = Joint("knee", "revolute", "thigh", "shank", translation(x=length), NORMAL)
    start = (("root_joint", (0.0, HEIGHT, PITCH_START)), ("knee", (KNEE_START,)))
    foot = Site("foot_point", "shank", translation(x=length))
    return _hopper("revolute_hopper", links, (hip, knee), foot, start, gravity)


def _point(link: str, mass: float, along: float = 0.0) -> Link:
    """A point mass on the link's x axis."""
    return Link(link, Inertia(positive(link, mass, "kg"), np.array([along, 0.0, 0.0])))


def _hopper(name: str, links: tuple[Link, ...], joints: tuple[Joint, ...], foot: Site,
            start: Sequence[tuple[str, tuple[float, ...]]], gravity: float) -> Description:  # fmt: skip
    base = Joint(ROOT_JOINT, "planar", WORLD, links[0].name, axis=NORMAL)
    return Description(
        name, links, (base, *joints), (foot,), actuated=(joints[-1].name,), keyframes=(Keyframe("start", tuple(start)),),
        gravity=(0.0, 0.0, -positive("gravity", gravity, "m/s^2")),
    )  # fmt: skip
