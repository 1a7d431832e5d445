"""MuJoCo's equality constraints as loops, mimic joints and couplings."""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import Any

import numpy as np

from freeflyer.model.description import POINT, WELD, Coupling, Description, Joint, Loop, Mimic, Site
from freeflyer.model.readers.mjcf_model import is_link_site
from freeflyer.model.readers.mjcf_spec import Compiled, fresh
from freeflyer.model.rotations import placement, shift
from freeflyer.model.validate_numbers import ONE_DOF

CONNECT, WELDED, JOINT = range(3)  # mjtEq


def read_equalities(description: Description, compiled: Compiled, notes: list[str]) -> Description:
    """The description with the equalities of the compiled model that are active."""
    m = compiled.model
    taken = {m.equality(e).name for e in range(m.neq)}
    for e in range(m.neq):
        kind = int(m.eq_type[e])
        what = {CONNECT: "connect", WELDED: "weld", JOINT: "joint"}.get(kind, "other")
        name = m.equality(e).name or fresh(f"{what}_{e}", taken)
        if not m.eq_active0[e]:
            notes.append(f"equality {name!r} is switched off in the file: ignored")
        elif kind in (CONNECT, WELDED):
            description = _with_loop(description, compiled, e, name, notes)
        elif kind == JOINT:
            description = _with_joint_equality(description, compiled, e, name, notes)
        else:
            notes.append(f"equality {name!r} ties neither bodies nor joints: ignored")
    return description


def _with_loop(description: Description, compiled: Compiled, e: int, name: str, notes: list[str]) -> Description:
    import mujoco

    m, bodies = compiled.model, compiled.bodies
    mask = POINT if m.eq_type[e] == CONNECT else WELD
    data, ids = m.eq_data[e], (int(m.eq_obj1id[e]), int(m.eq_obj2id[e]))
    if mask is WELD and data[10] == 0.0:
        mask = POINT
        notes.append(f"weld {name!r} has torquescale 0, so that it holds a point only")
    if m.eq_objtype[e] == mujoco.mjtObj.mjOBJ_SITE:
        frames, added = [_site_frame(description, m, s, bodies) for s in ids], ()
    else:
        if m.eq_type[e] == CONNECT:
            poses = (shift(data[:3]), shift(data[3:6]))
        else:  # body2's frame at `anchor`, body1's at the relative pose
            poses = (placement(data[3:6], data[6:10]), shift(data[:3]))
        known = {x.name for x in (*description.links, *description.sites)}
        added = tuple(Site(fresh(f"{name}/{end}", known), bodies[i], X) for end, i, X in zip("ab", ids, poses))
        frames = [s.name for s in added]
    loop = Loop(name, frames[0], frames[1], mask)
    return replace(description, sites=description.sites + added, loops=(*description.loops, loop))


def _site_frame(description: Description, m: Any, s: int, bodies: tuple[str, ...]) -> str:
    """The name under which site s stands in the description."""
    name, body = m.site(s).name, bodies[m.site_bodyid[s]]
    if is_link_site(m, s, bodies):
        return body
    X = placement(m.site_pos[s], m.site_quat[s])
    return next(x.name for x in description.sites if x.link == body and x.name in (name, f"{name}/site") and
                np.array_equal(x.placement, X))  # fmt: skip


def _with_joint_equality(
    description: Description, compiled: Compiled, e: int, name: str, notes: list[str]
) -> Description:
    """q1 - ref1 = a0 + a1 (q2 - ref2) + ...: a mimic where it is linear and q1 depends on nothing else yet."""
    m, names = compiled.model, compiled.joints
    first, second = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    ref1 = float(m.qpos0[m.jnt_qposadr[first]])
    joints = {j.name: j for j in description.joints}
    if second < 0:
        constant = (ref1 + float(m.eq_data[e][0]),)
        notes.append(f"equality {name!r} holds joint {names[first]!r} at {constant[0]:g}: kept as a coupling only")
        return replace(description, couplings=(*description.couplings, Coupling(name, names[first], "", constant)))
    ref2 = float(m.qpos0[m.jnt_qposadr[second]])
    c = _about_zero(m.eq_data[e][:5], ref2)
    c[0] += ref1
    one, two = joints.get(names[first]), joints.get(names[second])
    linear = not np.any(c[2:]) and c[1] != 0.0
    if linear and one is not None and two is not None and _may_follow(one, two, joints):
        return description.with_joint(replace(one, mimic=Mimic(two.name, float(c[1]), float(c[0]))))
    pair = f"{names[first]!r} and {names[second]!r}"
    notes.append(f"equality {name!r} of joints {pair} is no plain mimic: kept as a coupling only")
    coefficients = tuple(float(x) for x in np.trim_zeros(c, "b")) or (0.0,)
    return replace(
        description, couplings=(*description.couplings, Coupling(name, names[first], names[second], coefficients))
    )


def _about_zero(a: np.ndarray, ref: float) -> np.ndarray:
    """Coefficients in x of a polynomial that is given in x - ref."""
    c = np.zeros(len(a))
    for n, factor in enumerate(a):
        for k in range(n + 1):
            c[k] += factor * comb(n, k) * (-ref) ** (n - k)
    return c


def _may_follow(one: Joint, two: Joint, joints: dict[str, Joint]) -> bool:
    if one.mimic is not None or one.kind not in ONE_DOF or two.kind not in ONE_DOF:
        return False
    while two.mimic is not None:
        two = joints[two.mimic.joint]
    return two.name != one.name
