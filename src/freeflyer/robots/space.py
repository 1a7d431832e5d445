"""A satellite with an arm, floating free of gravity: its momentum stays what it is, whatever the arm does."""

from __future__ import annotations

from freeflyer.model.build import build
from freeflyer.model.description import Description, Inertia, Link, Site
from freeflyer.model.model import Model
from freeflyer.robots._parts import floating_joint, serial_arm, translation
from freeflyer.robots._solids import box, join
from freeflyer.robots.arms import arm_segments

BODY_SIZE, BODY_MASS = (1.2, 1.0, 1.0), 400.0
PANEL_SIZE, PANEL_MASS = (1.0, 2.4, 0.04), 18.0
GAP = 0.2  # between body and panel (m)
ARM = arm_segments(7, 2.2, 45.0, 80.0)


def space_manipulator() -> Model:
    """Model of a satellite with two solar panels and an arm of seven joints in zero gravity: nv = 13, 481 kg.

    Link `satellite` (frame in the middle of its body) floats, and panels stretch out along y. The arm grows from its front
    face along z of site `arm_mount`, which is x of the satellite. Only the arm is actuated.

    Examples:
        >>> model = ff.robots.space_manipulator()
        >>> q, v, tau = model.neutral, np.zeros(13), np.r_[np.zeros(6), np.ones(7)]     # motors of the arm alone
        >>> a = ff.forward_dynamics(model, q, v, tau)
        >>> print(f"{np.abs(ff.centroidal_momentum_rate(model, q, v, a)).max():.6f}")     # keep the momentum
        0.000000
    """
    return build(space_manipulator_description())


def space_manipulator_description() -> Description:
    front = translation(x=BODY_SIZE[0] / 2.0)
    front[:3, :3] = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]  # z turned to x
    arm_links, arm_joints, arm_sites = serial_arm("satellite", front, ARM)
    tips = {side: s * (BODY_SIZE[1] / 2.0 + GAP + PANEL_SIZE[1]) for side, s in (("left", 1.0), ("right", -1.0))}
    sites = (
        Site("arm_mount", "satellite", front),
        *(Site(f"{side}_panel_tip", "satellite", translation(y=y)) for side, y in tips.items()),
        *arm_sites,
    )
    base = floating_joint("satellite")
    return Description(
        "space_manipulator", (Link("satellite", _satellite()), *arm_links), (base, *arm_joints), sites,
        actuated=tuple(j.name for j in arm_joints), gravity=(0.0, 0.0, 0.0),
    )  # fmt: skip


def _satellite() -> Inertia:
    y = BODY_SIZE[1] / 2.0 + GAP + PANEL_SIZE[1] / 2.0
    panels = (box(PANEL_MASS, PANEL_SIZE, (0.0, s * y, 0.0)) for s in (1.0, -1.0))
    return join(box(BODY_MASS, BODY_SIZE), *panels)
