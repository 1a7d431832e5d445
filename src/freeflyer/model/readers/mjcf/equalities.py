"""MuJoCo's equality constraints as loops, mimic joints and couplings; its keyframes as named postures, without velocities."""

from dataclasses import replace
from math import comb

import mujoco
import numpy as np

from freeflyer.model.description import POINT, WELD, Coupling, Description, Joint, Keyframe, Loop, Mimic, MujocoJoint, Site
from freeflyer.model.placements import placement, pose_at
from freeflyer.model.readers.mjcf.bodies import is_link_site
from freeflyer.model.readers.mjcf.compiling import Compiled
from freeflyer.model.readers.mjcf.names import TO_OURS, joint_of
from freeflyer.model.readers.mjcf.tree import VettedFile
from freeflyer.model.readers.safe_file import numbers
from freeflyer.model.validate import ONE_DOF
from freeflyer.text import unique_name
from freeflyer.tolerances import ZERO_QUATERNION_LENGTH

CONNECT, WELDED, JOINT = range(3)  # mjtEq


def read_equalities(description: Description, compiled: Compiled) -> Description:
    m, notes = compiled.model, compiled.file.notes
    found = _Found(description, compiled)
    taken = {m.equality(e).name for e in range(m.neq)}
    for e in range(m.neq):
        kind = int(m.eq_type[e])
        what = {CONNECT: "connect", WELDED: "weld", JOINT: "joint"}.get(kind, "other")
        name = m.equality(e).name or unique_name(f"{what}_{e}", taken)
        if not m.eq_active0[e]:
            notes.append(f"equality {name!r} is switched off in the file: ignored")
        elif kind in (CONNECT, WELDED):
            found.add_loop(e, name)
        elif kind == JOINT:
            found.add_joint_equality(e, name)
        else:
            notes.append(f"equality {name!r} ties neither bodies nor joints: ignored")
    return replace(description, sites=tuple(found.sites.values()), loops=tuple(found.loops), couplings=tuple(found.couplings),
        joints=tuple(found.joints.values()))


class _Found:
    """Additions of the equalities to a description, one at a time."""

    def __init__(self, description: Description, compiled: Compiled) -> None:
        self.m, self.bodies, self.joint_names, self.notes = compiled.model, compiled.bodies, compiled.joints, compiled.file.notes
        self.sites = {s.name: s for s in description.sites}
        self.joints = {j.name: j for j in description.joints}
        self.frames = {x.name for x in description.links} | set(self.sites)
        self.loops: list[Loop] = []
        self.couplings: list[Coupling] = []

    def add_loop(self, e: int, name: str) -> None:
        m = self.m
        mask = POINT if m.eq_type[e] == CONNECT else WELD
        data, ids = m.eq_data[e], (int(m.eq_obj1id[e]), int(m.eq_obj2id[e]))
        if m.eq_objtype[e] == mujoco.mjtObj.mjOBJ_SITE:
            a, b = (self._site_frame(s) for s in ids)
        else:
            poses = (pose_at(data[:3]), pose_at(data[3:6]))
            if mask is WELD:  # body2's frame at `anchor`, body1's at the relative pose
                poses = (placement(data[3:6], data[6:10]), pose_at(data[:3]))
            a, b = (self._new_site(f"{name}/{end}", self.bodies[i], X) for end, i, X in zip("ab", ids, poses))
        if mask is WELD and data[10] == 0.0:
            mask = POINT
            self.notes.append(f"weld {name!r} has torquescale 0, so that it holds a point only")
        self.loops.append(Loop(name, a, b, mask))

    def _new_site(self, name: str, link: str, X: np.ndarray) -> str:
        name = unique_name(name, self.frames)
        self.sites[name] = Site(name, link, X)
        return name

    def _site_frame(self, s: int) -> str:
        name, body = self.m.site(s).name, self.bodies[self.m.site_bodyid[s]]
        if is_link_site(self.m, s, self.bodies):
            return body
        return name if name in self.sites else f"{name}/site"  # renamed where a link has its name

    def add_joint_equality(self, e: int, name: str) -> None:
        """q1 - ref1 = a0 + a1 (q2 - ref2) + ...: a mimic where it is linear and q1 depends on nothing else yet."""
        m, names = self.m, self.joint_names
        first, second = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
        ref1 = float(m.qpos0[m.jnt_qposadr[first]])
        if second < 0:
            held = ref1 + float(m.eq_data[e][0])
            self.notes.append(f"equality {name!r} holds joint {names[first]!r} at {held:g}: kept as a coupling only")
            self.couplings.append(Coupling(name, names[first], "", (held,)))
            return
        c = _about_zero(m.eq_data[e][:5], float(m.qpos0[m.jnt_qposadr[second]]))
        c[0] += ref1
        one, two = self.joints.get(names[first]), self.joints.get(names[second])
        linear = not np.any(c[2:]) and c[1] != 0.0
        if linear and one is not None and two is not None and _may_follow(one, two, self.joints):
            self.joints[one.name] = replace(one, mimic=Mimic(two.name, float(c[1]), float(c[0])))
            return
        pair = f"{names[first]!r} and {names[second]!r}"
        self.notes.append(f"equality {name!r} of joints {pair} is no plain mimic: kept as a coupling only")
        coefficients = tuple(float(x) for x in np.trim_zeros(c, "b")) or (0.0,)
        self.couplings.append(Coupling(name, names[first], names[second], coefficients))


def _about_zero(a: np.ndarray, ref: float) -> np.ndarray:
    """Coefficients in x of a polynomial that is given in x - ref."""
    c, ref = np.zeros(len(a)), np.float64(ref)  # unlike a float, it overflows to infinity
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


def read_keyframes(description: Description, file: VettedFile) -> Description:
    """The description with the file's keyframes. One without a name is called by its number, "0" the first; one without qpos stands
    as the file draws it; one for another number of joints is left out, with a note. Quaternions become unit ones, as MuJoCo makes
    them. Errors: FileError for what are no finite numbers."""
    nq = sum(j.nq for j in description.mujoco)
    taken = {name for name, _ in file.keyframes if name}
    found: list[Keyframe] = []
    for k, (given, text) in enumerate(file.keyframes):
        name = given or unique_name(str(k), taken)
        if text is None:
            found.append(Keyframe(name))
            continue
        if (count := len(text.split())) != nq:
            file.notes.append(f"keyframe {name[:80]!r} is not read: it has {count} positions, and the robot {nq}")
            continue
        qpos = numbers(text, (nq,), f"{file.where}, keyframe {name[:80]!r}")
        found.append(Keyframe(name, _keyframe_positions(description, qpos)))
    return replace(description, keyframes=tuple(found))


def _keyframe_positions(description: Description, qpos: tuple[float, ...]) -> tuple[tuple[str, tuple[float, ...]], ...]:
    joints = description.joint_by_name
    found: dict[str, tuple[float, ...]] = {}
    first = 0
    for joint in description.mujoco:
        name, _ = joint_of(joint.name, joints)
        values = tuple(qpos[first + k] for k in TO_OURS[joint.kind])
        found[name] = found.get(name, ()) + _unit(joint, values)  # parts of one joint come in the order of its coordinates
        first += joint.nq
    return tuple(found.items())


def _unit(joint: MujocoJoint, values: tuple[float, ...]) -> tuple[float, ...]:
    if joint.kind not in ("free", "ball"):
        return values
    norm = float(np.linalg.norm(values[-4:]))
    if norm < ZERO_QUATERNION_LENGTH:
        return (*values[:-4], 0.0, 0.0, 0.0, 1.0)
    turn = values[-4:] if norm == 1.0 else tuple(x / norm for x in values[-4:])
    return values[:-4] + turn
