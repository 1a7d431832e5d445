"""Bodies, joints and sites of a compiled MuJoCo model as links, joints and sites; kinds that MJCF splits are put together again."""

from dataclasses import replace
from typing import Any

import mujoco
import numpy as np

from freeflyer.model.description import JOINT_SIZES, PER_COORDINATE, POSITIONS, UNLIMITED, Description, Inertia, Joint, Link, Site
from freeflyer.model.placements import placement, pose_at, turn_about, turn_z_to
from freeflyer.model.readers.mjcf import names as N
from freeflyer.model.readers.mjcf.compiling import Compiled, Drive
from freeflyer.text import unique_name
from freeflyer.tolerances import EQUAL_AXES_ROUNDING, EQUAL_BOUNDS_ROUNDING

KINDS = {N.FREE: "free", N.BALL: "spherical", N.SLIDE: "prismatic", N.HINGE: "continuous"}


def read_model(compiled: Compiled) -> Description:
    m, bodies, notes = compiled.model, compiled.bodies, compiled.file.notes
    links: list[Link] = []
    joints: list[Joint] = []
    taken = set(bodies), set(compiled.joints)  # names of links and joints: those made here differ
    for b in range(1, m.nbody):
        mine = range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b])
        steps = [_step(compiled, j) for j in mine]
        X = placement(m.body_pos[b], m.body_quat[b])
        chain, hidden = _chain(steps, X, bodies[m.body_parentid[b]], bodies[b], compiled.file.names, *taken)
        links += [Link(name) for name in hidden]
        links.append(Link(bodies[b], _inertia(m, b)))
        joints += chain
    actuated = _actuated_joints(joints, compiled.drives, notes)
    links, joints = regroup(links, joints)
    return Description(name=m.names[: m.names.index(b"\0")].decode("utf-8", "replace") or "robot", links=tuple(links),
        joints=tuple(joints), sites=_sites(m, bodies), actuated=actuated, gravity=_gravity(m, notes),
        mujoco=N.layout(m, compiled.bodies, compiled.joints))


def _inertia(m: Any, b: int) -> Inertia:
    if not m.body_mass[b] and not m.body_inertia[b].any():
        return Inertia()
    R = placement(np.zeros(3), m.body_iquat[b])[:3, :3]
    J = (R * m.body_inertia[b]) @ R.T
    return Inertia(float(m.body_mass[b]), m.body_ipos[b].copy(), 0.5 * (J + J.T))


def _step(compiled: Compiled, j: int) -> tuple[Joint, np.ndarray]:
    """What a MuJoCo joint becomes, its placement what `ref` adds to it; where (3,) it is anchored in its body's frame."""
    m, name, notes = compiled.model, compiled.joints[j], compiled.file.notes
    kind, adr, dof = int(m.jnt_type[j]), int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
    limited = bool(m.jnt_limited[j])
    our_kind = "revolute" if kind == N.HINGE and limited else KINDS[kind]
    drive = compiled.drives.get(m.joint(j).name, Drive())
    nv = JOINT_SIZES[our_kind][1]
    values: dict[str, Any] = {}
    for field, array, extra in (
        ("armature", m.dof_armature, drive.armature), ("damping", m.dof_damping, drive.damping),
        ("friction", m.dof_frictionloss, 0.0)
    ):
        x = tuple(float(v) + (extra if nv == 1 else 0.0) for v in array[dof : dof + nv])
        if any(x):
            values[field] = x
    anchor, turn, axis = np.zeros(3), np.eye(4), np.array([0.0, 0.0, 1.0])
    if kind == N.FREE:
        drawn = N.position(kind, m.qpos0[adr:])
        if any(drawn[:6]):
            values["initial"] = drawn
    if kind in (N.SLIDE, N.HINGE):
        axis, ref = m.jnt_axis[j].copy(), float(m.qpos0[adr])
        turn = pose_at(-ref * axis) if kind == N.SLIDE else turn_about(axis, -ref)
        if ref:
            values["initial"] = (ref,)
        if limited:
            values["lower"], values["upper"] = ((float(x),) for x in m.jnt_range[j])
        effort = min(_bound(m, j, name, notes), drive.effort if drive.count else np.inf)
        if np.isfinite(effort):
            values["effort"] = (effort,)
    elif kind == N.BALL and limited:
        notes.append(f"ball joint {name!r}: its cone limit is ignored")
    if kind in (N.BALL, N.HINGE):
        anchor = m.jnt_pos[j].copy()
    if m.jnt_stiffness[j]:
        values["stiffness"] = (float(m.jnt_stiffness[j]),) * nv
        rest = N.position(kind, m.qpos_spring[adr:])
        if rest != N.NEUTRAL[N.KINDS[kind]]:
            values["spring_reference"] = rest
    sizes = {"initial": JOINT_SIZES[our_kind][0]}
    values |= {f: v for f, v in compiled.file.fields.get(name, {}).items() if len(v) == sizes.get(f, nv)}
    return Joint(name, our_kind, "", "", turn, axis, **values), anchor


def _bound(m: Any, j: int, name: str, notes: list[str]) -> float:
    """The joint's own force limit (actuatorfrcrange), where it is symmetric."""
    if not m.jnt_actfrclimited[j]:
        return np.inf
    low, high = (float(x) for x in m.jnt_actfrcrange[j])
    if high > 0.0 and abs(low + high) <= EQUAL_BOUNDS_ROUNDING * high:
        return high
    notes.append(f"joint {name!r}: its force range {low:g} to {high:g} is not symmetric, and no effort limit is kept")
    return np.inf


def _chain(steps: list[tuple[Joint, np.ndarray]], X: np.ndarray, parent: str, body: str, names: dict[tuple[str, str], str],
           taken_links: set[str], taken_joints: set[str]) -> tuple[list[Joint], list[str]]:
    """The joints from `parent` to `body`, which rests at X, and the massless links between them.

    A joint turns about its anchor p: body pose = X p1 J1(q1) (-p1) p2 J2(q2) (-p2) ...; so each link but the last sits at its
    joint's anchor, and where the last anchor is not the body's origin, a fixed joint leads from it to the body."""
    if not steps:
        name = names.get(("fixed", body), f"{body}_fixed")
        return [Joint(unique_name(name, taken_joints), "fixed", parent, body, X)], []
    if steps[0][0].kind == "free":
        return [replace(steps[0][0], parent=parent, child=body)], []
    joints, hidden = [], []
    at = np.zeros(3)
    for k, (joint, anchor) in enumerate(steps):
        last = k == len(steps) - 1 and not anchor.any()
        between = N.hidden_link(body, joint.name)
        child = body if last else unique_name(names.get(("link", between), between), taken_links)
        P = (X if k == 0 else np.eye(4)) @ pose_at(anchor - at) @ joint.placement
        joints.append(replace(joint, parent=parent, child=child, placement=P))
        hidden += [] if last else [child]
        parent, at = child, anchor
    if at.any():
        joints.append(Joint(unique_name(f"{body}/anchor", taken_joints), "fixed", parent, body, pose_at(-at)))
    return joints, hidden


def _sites(m: Any, bodies: tuple[str, ...]) -> tuple[Site, ...]:
    sites = []
    taken = set(bodies)
    for s in range(m.nsite):
        name, body = m.site(s).name, bodies[m.site_bodyid[s]]
        if name and not is_link_site(m, s, bodies):
            X = placement(m.site_pos[s], m.site_quat[s])
            sites.append(Site(unique_name(name if name not in taken else f"{name}/site", taken), body, X))
    return tuple(sites)


def is_link_site(m: Any, s: int, bodies: tuple[str, ...]) -> bool:
    """Whether site s is the one by which the writer names a link's own frame."""
    plain = not m.site_pos[s].any() and abs(m.site_quat[s][0]) == 1.0
    return plain and m.site(s).name == N.link_site(bodies[m.site_bodyid[s]])


def _actuated_joints(joints: list[Joint], drives: dict[str, Drive], notes: list[str]) -> tuple[str, ...]:
    """Joints with as many actuators as coordinates, in the order of the file's actuators."""
    kinds = {j.name: j.kind for j in joints}
    names: dict[str, None] = {}
    for name, drive in drives.items():
        if name not in kinds:
            continue
        if drive.count < JOINT_SIZES[kinds[name]][1]:
            notes.append(f"{kinds[name]} joint {name!r} has only {drive.count} actuators: not counted as actuated")
            continue
        match = N.GROUPED.fullmatch(name)
        names[match[1] if match and f"{match[1]}/{match[2]}/0" in drives else name] = None
    return tuple(names)


def _gravity(m: Any, notes: list[str]) -> tuple[float, float, float]:
    if m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY:
        notes.append("the file switches gravity off")
        return (0.0, 0.0, 0.0)
    x, y, z = (float(g) for g in m.opt.gravity)
    return (x, y, z)


def regroup(links: list[Link], joints: list[Joint]) -> tuple[list[Link], list[Joint]]:
    """Links and joints with those chains put back together that the writer made of a kind which MuJoCo lacks."""
    joints, result = list(joints), []
    while joints:
        match = N.GROUPED.fullmatch(joints[0].name)
        name, kind = (match[1], match[2]) if match else ("", "")
        parts = joints[: len(N.CHAINS.get(kind, ()))]
        if not match or [j.name for j in parts] != [f"{name}/{kind}/{k}" for k in range(len(parts))]:
            result.append(joints.pop(0))
            continue
        del joints[: len(parts)]
        axes: list[np.ndarray] = []
        P = np.eye(4)  # placement of the parts together, and their axes in the frame to which it leads
        for part in reversed(parts):
            axes.insert(0, P[:3, :3].T @ part.axis)
            P = part.placement @ P
        axis, axis2 = (axes[0], axes[1]) if kind == "universal" else (axes[-1], np.array([0.0, 1.0, 0.0]))
        if kind == "planar" and np.abs(turn_z_to(axis)[:, :2].T - axes[:2]).max() > EQUAL_AXES_ROUNDING:
            result += parts
            continue
        hidden = {p.child for p in parts[:-1]}
        links = [x for x in links if x.name not in hidden]
        fields: dict[str, Any] = {
            f: tuple((getattr(p, f) or (UNLIMITED.get(f, 0.0),))[0] for p in parts) for f in (*PER_COORDINATE, *POSITIONS)
            if any(getattr(p, f) for p in parts)}
        result.append(Joint(name, kind, parts[0].parent, parts[-1].child, P, axis=axis, axis2=axis2, **fields))
    return links, result
