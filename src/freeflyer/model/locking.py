"""Locking joints in a description: followers, couplings, motors and loops that it touches."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from freeflyer.errors import InputError
from freeflyer.model.description import WORLD, Coupling, Description, Joint, Loop, MujocoJoint, without_joints
from freeflyer.model.placements import joint_transform, rigid_groups
from freeflyer.model.readers.mjcf.names import CHAINS, group_name
from freeflyer.spatial import se3
from freeflyer.tolerances import RIGID_LOOP_GAP, SAME_POSITION


def lock(description: Description, positions: dict[str, np.ndarray]) -> Description:
    """The description with these joints fixed at these positions (nq each), and with what follows from that."""
    positions = _with_followers(description, positions)
    fixed = {name: joint_transform(description.joint(name), x) for name, x in positions.items()}
    joints = (Joint(j.name, "fixed", j.parent, j.child, j.placement @ fixed[j.name]) if j.name in fixed else j
              for j in description.joints)
    after = replace(description, joints=tuple(joints), keyframes=without_joints(description.keyframes, positions),
        couplings=tuple(c for c in description.couplings if not _is_settled(c, positions)),
        actuated=tuple(name for name in description.actuated if name not in positions),
        mujoco=_place_mujoco_joints(description, positions))
    _check_motors(description, after)
    return replace(after, loops=open_loops(after))


def leader(description: Description, name: str) -> tuple[Joint, float, float]:
    """(the joint whose coordinate that of this name shares, ratio, offset): itself, 1 and 0 where it mimics none."""
    joint, ratio, offset = description.joint(name), 1.0, 0.0
    while joint.mimic is not None:
        ratio, offset = ratio * joint.mimic.ratio, offset + ratio * joint.mimic.offset
        joint = description.joint(joint.mimic.joint)
    return joint, ratio, offset


def complete_followers(description: Description, placed: Mapping[str, tuple[float, ...]]) -> dict[str, tuple[float, ...]]:
    """The positions, with those of joints that mimic others as these put them."""
    found = dict(placed)
    for joint in description.joints:
        if joint.mimic is not None:
            head, ratio, offset = leader(description, joint.name)
            found[joint.name] = (ratio * (placed.get(head.name) or head.initial or (0.0,))[0] + offset,)
    return found


def _with_followers(description: Description, positions: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Adds the joints that mimic the locked ones, at the positions that implies."""
    out = dict(positions)
    for joint in description.joints:
        if joint.mimic is None:
            continue
        head, ratio, offset = leader(description, joint.name)
        if head.name in positions:
            implied = ratio * positions[head.name] + offset
            given = positions.get(joint.name, implied)
            if np.abs(given - implied).max() > SAME_POSITION:
                raise InputError(f"joint {joint.name!r} mimics {head.name!r}, whose position "
                    f"{_format_position(positions[head.name])} puts it at {_format_position(implied)}, not "
                    f"{_format_position(given)}: leave it out, or give positions that agree.", joint=joint.name, leader=head.name)
            out[joint.name] = implied
        elif joint.name in positions:
            raise InputError(f"joint {joint.name!r} mimics {head.name!r} and has no position of its own: lock {head.name!r}, "
                f"which locks both ({joint.name} = {ratio:g} * {head.name} + {offset:g}).", joint=joint.name, leader=head.name)
    return out


def _place_mujoco_joints(description: Description, positions: dict[str, np.ndarray]) -> tuple[MujocoJoint, ...]:
    """MuJoCo's joints, which split kinds that it lacks into several, the locked ones at these positions."""
    found: dict[str, tuple[float, ...]] = {}
    for joint in description.joints:
        if joint.name in positions:
            x = tuple(float(value) for value in positions[joint.name])
            parts = len(CHAINS.get(joint.kind, ()))
            found |= {group_name(joint.name, joint.kind, k): x[k : k + 1] for k in range(parts)} or {joint.name: x}
    return tuple(replace(j, position=found[j.name]) if j.name in found else j for j in description.mujoco)


def _is_settled(coupling: Coupling, positions: dict[str, np.ndarray]) -> bool:
    """Whether locking made a coupling a fact; an error where it contradicts it or locks only one of its joints."""
    one, two = coupling.joint1 in positions, coupling.joint2 in positions
    constant = coupling.joint2 == ""
    if not one and not two:
        return False
    rule = f"coupling {coupling.name!r} makes {coupling.joint1!r} "
    rule += "a constant" if constant else f"a function of {coupling.joint2!r}"
    if not two and not constant:
        raise InputError(f"{rule}: lock both or none (only {coupling.joint1!r} was named).", coupling=coupling.name)
    driver = 0.0 if constant else float(positions[coupling.joint2][0])
    implied = float(np.polynomial.polynomial.polyval(driver, coupling.coefficients))
    if not one:
        raise InputError(f"{rule}: lock {coupling.joint1!r} too, at {implied:.9g}.", coupling=coupling.name, position=implied)
    given = float(positions[coupling.joint1][0])
    if abs(given - implied) > SAME_POSITION:
        raise InputError(f"{rule}: that is {implied:.9g} here, not {given:.9g}.", coupling=coupling.name)
    return True


def _check_motors(before: Description, after: Description) -> None:
    """An empty list of motors would mean that every joint has one."""
    if not before.actuated or after.actuated:
        return
    moving = [j for j in after.joints if j.kind != "fixed"]
    passive = [j.name for j in moving if not (j.parent == WORLD and j.kind in ("free", "planar"))]
    if passive:
        raise InputError(f"this locks every actuated joint and leaves passive ones free ({', '.join(passive[:6])}): a "
            "description without motors means the same as one where every joint has one. Keep a motor, or lock these too.",
            passive=passive)


def open_loops(description: Description) -> tuple[Loop, ...]:
    """Loops that still hold something: one between two frames of the same rigid body is closed for good, or never."""
    groups = rigid_groups(description)
    frames = groups | {s.name: (groups[s.link][0], groups[s.link][1] @ s.placement) for s in description.sites}
    return tuple(loop for loop in description.loops if not _rigid(loop, frames))


def _rigid(loop: Loop, frames: dict[str, tuple[str, np.ndarray]]) -> bool:
    (top_a, X_a), (top_b, X_b) = frames[loop.frame_a], frames[loop.frame_b]
    if top_a != top_b:
        return False
    X_ab = se3.inverse(X_a) @ X_b
    gap = np.concatenate([X_ab[:3, 3], se3.log(X_ab)[3:]]) * np.array(loop.mask)
    if np.abs(gap).max() > RIGID_LOOP_GAP:
        raise InputError(f"these positions make both ends of loop {loop.name!r} rigid while it is open by "
            f"{np.abs(gap).max():.3g} (m or rad; at most {RIGID_LOOP_GAP:g}): lock the joints at a configuration that closes the "
            "loops.", loop=loop.name, gap=gap)
    return True


def _format_position(position: np.ndarray) -> str:
    return ", ".join(f"{x:.9g}" for x in np.atleast_1d(position))
