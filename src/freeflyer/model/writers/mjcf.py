"""Description to MJCF. What MuJoCo cannot hold exactly is refused; what it has no element for is written into `<custom>`.

The body tree has one body for a link, and for a chain of joints that ends in it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from math import comb

import numpy as np

from freeflyer.errors import DescriptionError
from freeflyer.model.description import JOINT_SIZES, PER_COORDINATE, POINT, WELD, WORLD, Coupling, Description, Inertia, Joint
from freeflyer.model.locking import complete_followers
from freeflyer.model.placements import joint_transform, pose_at, quaternion, screws, turn_about
from freeflyer.model.readers.mjcf.names import CHAINS, CUSTOM, MOTIONS, NEUTRAL, TO_MUJOCO, group_name, hidden_link, link_site
from freeflyer.model.readers.safe_file import MAX_DEPTH, Element
from freeflyer.model.validate import WITH_AXIS
from freeflyer.model.writers.xml_out import add, append_filled, description_of, finish, refuse, text
from freeflyer.spatial import se3
from freeflyer.tolerances import FLAT_BODY_ROUNDING, INERTIA_EIGENVALUE_ROUNDING, NEGLIGIBLE_INERTIA


@dataclass(frozen=True)
class Motion:
    """One MuJoCo joint: the k-th of `joint`, which comes after `before` (4, 4); drawn at coordinate `ref`."""

    joint: Joint
    k: int
    type: str
    axis: np.ndarray
    before: np.ndarray
    ref: float = 0.0

    @property
    def name(self) -> str:
        return group_name(self.joint.name, self.joint.kind, self.k) if self.joint.kind in CHAINS else self.joint.name

    @property
    def drawn(self) -> np.ndarray:
        """(4, 4) displacement at which the file draws it."""
        if self.type == "hinge":
            return turn_about(self.axis, self.ref)
        return pose_at(self.ref * self.axis) if self.type == "slide" else np.eye(4)


class Tree:
    """Fills `worldbody`; `custom` collects what has no place in the bodies."""

    def __init__(self, description: Description, worldbody: Element) -> None:
        self.links, self.below = description.link_by_name, description.joints_below
        self.sites: dict[str, list[tuple[str, np.ndarray]]] = {}
        for site in description.sites:
            self.sites.setdefault(site.link, []).append((site.name, site.placement))
        ends = dict.fromkeys(f for loop in description.loops for f in (loop.frame_a, loop.frame_b))
        for name in ends:
            if name in self.links or name == WORLD:
                self.sites.setdefault(name, []).append((link_site(name), np.eye(4)))
        self.custom = add(None, "custom")
        self.motions: list[Motion] = []  # in the order of qpos
        self._add_sites(worldbody, WORLD)
        stack = [(worldbody, j) for j in reversed(self.below.get(WORLD, ()))]
        while stack:
            parent, joint = stack.pop()
            element, link = self._add_body(parent, self._chain(joint))
            stack += [(element, j) for j in reversed(self.below.get(link, ()))]

    def _chain(self, joint: Joint) -> list[Joint]:
        """`joint` and those that follow it through massless links to which nothing else is tied."""
        chain = [joint]
        while joint.kind not in ("fixed", "free"):
            link, after = self.links[joint.child], self.below.get(joint.child, ())
            massless = not link.inertia.mass and not np.any(link.inertia.rotational)
            if len(after) != 1 or link.name in self.sites or not massless or after[0].kind == "free":
                break
            if after[0].kind == "fixed" and link.name != hidden_link(after[0].child, joint.name):
                break
            joint = after[0]
            chain.append(joint)
        return chain

    def _add_body(self, parent: Element, chain: list[Joint]) -> tuple[Element, str]:
        link = chain[-1].child
        motions, tail = _motions(chain)
        X = tail  # pose of the body in the frame before each motion, from the last to the first
        anchors = []
        for motion in reversed(motions):
            anchors.append(se3.inverse(X))
            X = motion.before @ motion.drawn @ X
        if chain[0].kind == "free" and chain[0].initial:
            X = joint_transform(chain[0], np.array(chain[0].initial))
        body = add(parent, "body", name=link, **_pose(X))
        for motion, A in zip(motions, reversed(anchors)):
            self._add_joint(body, motion, A)
            self.motions.append(motion)
            self._name_hidden(motion, A, link)
        if len(chain) == 1 and chain[0].kind == "fixed" and chain[0].name != f"{link}_fixed":
            add(self.custom, "text", name=f"{CUSTOM}fixed:{link}", data=chain[0].name)
        _add_inertial(body, self.links[link].inertia, link)
        self._add_sites(body, link)
        return body, link

    def _name_hidden(self, motion: Motion, A: np.ndarray, body: str) -> None:
        """Keeps the name of the link after a motion, where the reader will put that link's frame in the same place."""
        child, hidden = motion.joint.child, hidden_link(body, motion.name)
        last = motion.k == len(MOTIONS[motion.joint.kind]) - 1
        if child in (body, hidden) or not last or not np.array_equal(A[:3, :3], np.eye(3)):
            return
        if motion.type != "slide" or not A[:3, 3].any():
            add(self.custom, "text", name=f"{CUSTOM}link:{hidden}", data=child)

    def _add_sites(self, body: Element, link: str) -> None:
        for name, X in self.sites.get(link, []):
            add(body, "site", name=name, **_pose(X))

    def _add_joint(self, body: Element, motion: Motion, A: np.ndarray) -> None:
        """A: the motion's frame in the body's, where the file draws them."""
        element = add(body, "joint", name=motion.name, type=motion.type)
        if motion.type in ("hinge", "ball") and np.any(A[:3, 3]):
            element.set("pos", text(A[:3, 3]))
        if motion.type in ("hinge", "slide"):
            element.set("axis", text(A[:3, :3] @ motion.axis))
        if motion.ref:
            element.set("ref", text([motion.ref]))
        for field in PER_COORDINATE:
            values = getattr(motion.joint, field)
            if motion.type in ("hinge", "slide"):
                values = values[motion.k : motion.k + 1]
            if values:
                self._set(element, motion, field, tuple(float(x) for x in values))
        if motion.type == "ball" and motion.joint.initial:
            self._keep(motion.name, "initial", motion.joint.initial)

    def _set(self, element: Element, motion: Motion, field: str, values: tuple[float, ...]) -> None:
        name, scalar, joint, k = motion.name, motion.type in ("hinge", "slide"), motion.joint, motion.k
        if field in ("armature", "damping", "friction", "stiffness"):
            if min(values) != max(values):
                raise refuse(f"{field} {values} of joint {motion.joint.name!r}", "MuJoCo has one number for all its coordinates",
                    "make them equal")
            element.set("frictionloss" if field == "friction" else field, text(values[:1]))
            if field == "stiffness" and any(values):
                _set_spring_reference(element, motion)
        elif np.isinf(values).all():
            return  # unlimited
        elif np.isinf(values).any() or (field in ("lower", "upper") and np.isinf(joint.lower[k]) != np.isinf(joint.upper[k])):
            raise refuse(f"{field} {values} of joint {motion.joint.name!r}", "MuJoCo's ranges have two finite ends",
                "give both ends, or none")
        elif scalar and field == "effort" and values[0] > 0.0:
            element.set("actuatorfrcrange", text((-values[0], values[0])))
        elif scalar and field in ("lower", "upper") and motion.joint.lower[motion.k] < motion.joint.upper[motion.k]:
            element.set("range", text((motion.joint.lower[motion.k], motion.joint.upper[motion.k])))
        else:
            self._keep(name, field, values)

    def _keep(self, name: str, field: str, values: tuple[float, ...]) -> None:
        add(self.custom, "numeric", name=f"{CUSTOM}{field}:{name}", data=text(values))


def _set_spring_reference(element: Element, motion: Motion) -> None:
    """`springref` of a joint with one coordinate. Springs of ball joints are at rest at the identity in MuJoCo, those of free
    joints where the file draws them."""
    joint = motion.joint
    if motion.type in ("hinge", "slide"):
        if joint.spring_reference and joint.spring_reference[motion.k]:
            element.set("springref", text([joint.spring_reference[motion.k]]))
        return
    neutral = NEUTRAL[motion.type]
    rest = (joint.initial or neutral) if motion.type == "free" else neutral
    if tuple(joint.spring_reference or neutral) != tuple(rest):
        raise refuse(f"spring_reference {joint.spring_reference} of joint {joint.name!r}", f"in MuJoCo the spring of a "
            f"{motion.type} joint is at rest at {tuple(rest)}", "take that, or write URDF (to_urdf)")


def _motions(chain: list[Joint]) -> tuple[list[Motion], np.ndarray]:
    """The MuJoCo joints of a chain, and the placement (4, 4) of the link after the last of them."""
    motions = []
    before = np.eye(4)
    for joint in chain:
        before = before @ joint.placement
        axes = [axis for axis, _, _ in screws(joint)] if joint.kind in WITH_AXIS else [joint.axis]
        for k, (kind, axis) in enumerate(zip(MOTIONS.get(joint.kind, ()), axes)):
            ref = joint.initial[k] if joint.initial and kind in ("hinge", "slide") else 0.0
            motions.append(Motion(joint, k, kind, axis, before, ref))
            before = np.eye(4)
    return motions, before


def _pose(X: np.ndarray) -> dict[str, str]:
    pose = {}
    if np.any(X[:3, 3]):
        pose["pos"] = text(X[:3, 3])
    if not np.array_equal(X[:3, :3], np.eye(3)):
        pose["quat"] = text(quaternion(X[:3, :3]))
    return pose


def _add_inertial(body: Element, inertia: Inertia, link: str) -> None:
    J = np.asarray(inertia.rotational, float)
    if not inertia.mass and not J.any():
        return
    moments, axes = np.linalg.eigh(J)
    rounding = INERTIA_EIGENVALUE_ROUNDING * moments[2] + NEGLIGIBLE_INERTIA
    if moments[0] < -rounding or moments[0] + moments[1] < moments[2] - rounding:
        shown = ", ".join(f"{m:.4g}" for m in moments)
        raise refuse(f"link {link!r}", f"its principal moments are {shown} kg m^2, and in MuJoCo two sum to the third or more",
            "correct the inertia, merge fixed links (merge_fixed), or write URDF (to_urdf)")
    moments = np.maximum(moments, 0.0)
    if moments[2] <= (moments[0] + moments[1]) * (1.0 + FLAT_BODY_ROUNDING):  # a flat body, but for rounding: MuJoCo takes none
        moments[2] = min(moments[2], moments[0] + moments[1])
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    frame = {"pos": text(inertia.com), "quat": text(quaternion(axes))}
    add(body, "inertial", frame, mass=text([inertia.mass]), diaginertia=text(moments))


def to_mjcf(robot: object, path: str | os.PathLike[str] | None = None, overwrite: bool = False) -> str:
    """MJCF text of a robot, also written to a file. Features that MuJoCo lacks are refused, with the name and the reason.

    The robot reads back the same, to rounding, with two exceptions. An unlimited revolute joint becomes continuous. A massless
    link between two joints becomes a second joint of the next body, and its frame is not kept. Cylindrical, universal and planar
    joints become several joints of one body. Mimic joints and loops become MuJoCo's equalities, which are soft.

    Raises: DescriptionError for helical joints, loops other than point and weld, couplings of a degree above 4, and robots
    without a base. Also for springs of ball and free joints with another rest position, and free joints off the world's own
    frame. MuJoCo also refuses moving bodies without mass and inertias that break the triangle inequality. Other errors are those
    of to_urdf."""
    description = description_of(robot)
    _check(description)
    root = add(None, "mujoco", model=description.name or "robot")
    add(root, "compiler", angle="radian", autolimits="true")
    add(root, "option", gravity=text(description.gravity))
    tree = Tree(description, add(root, "worldbody"))
    _add_equalities(root, description, tree)
    _add_motors(root, description)
    _add_keyframes(root, description, tree)
    append_filled(root, tree.custom)
    content = finish(root, None, overwrite)
    _compile(content, root)
    return finish(root, path, overwrite)


def _check(description: Description) -> None:
    if description.roots:
        raise refuse(f"MJCF of {description.name!r}", f"link {description.roots[0]!r} is not tied to the world",
            'choose a base: freeflyer.model.load.with_base(description, "free")')
    for j in description.joints:
        if j.kind == "helical":
            raise refuse(f"helical joint {j.name!r}", "MuJoCo has none, and a hinge tied to a slide by an equality is soft",
                "write URDF instead (to_urdf)")
        if j.kind == "free" and (j.parent != WORLD or not np.array_equal(j.placement, np.eye(4))):
            raise refuse(f"free joint {j.name!r}", "MuJoCo's moves in the world's own frame only", "tie it to the world, with "
                "the identity as placement")
    for loop in description.loops:
        if tuple(loop.mask) not in (POINT, WELD):
            raise refuse(f"loop {loop.name!r} with mask {tuple(loop.mask)}", "MuJoCo ties points (connect) and poses (weld)",
                "write URDF instead (to_urdf)")
    for c in description.couplings:
        if len(c.coefficients) > 5:
            raise refuse(f"coupling {c.name!r}", "MuJoCo's polynomials end at degree 4", "lower the degree")


def _compile(content: str, root: Element) -> None:
    import mujoco

    ends = (element for element in root.iter("body") if element.find("body") is None)
    depth = max((sum(1 for _ in element.iterancestors()) + 2 for element in ends), default=0)
    if depth > MAX_DEPTH:
        raise DescriptionError(f"MJCF would nest {depth} elements; MuJoCo reads {MAX_DEPTH}: write URDF (to_urdf)")
    try:
        mujoco.MjSpec.from_string(content).compile()
    except Exception as error:
        words = " ".join(str(error).split())[:300]
        cure = "give the named body a mass and an inertia that a body can have" if "inertia" in words else "change it"
        raise DescriptionError(f"MuJoCo refuses the robot: {words}; {cure}, or write URDF (to_urdf)") from None


def _add_equalities(root: Element, description: Description, tree: Tree) -> None:
    block = add(None, "equality")
    for loop in description.loops:
        ends = [link_site(f) if f == WORLD or f in tree.links else f for f in (loop.frame_a, loop.frame_b)]
        tag = "connect" if tuple(loop.mask) == POINT else "weld"
        add(block, tag, name=loop.name, site1=ends[0], site2=ends[1])
    joints = description.joint_by_name
    couplings = [
        Coupling(f"{j.name}/mimic", j.name, j.mimic.joint, (j.mimic.offset, j.mimic.ratio)) for j in description.joints
        if j.mimic is not None]
    for c in (*couplings, *description.couplings):
        ref1, ref2 = ((joints[n].initial or (0.0,))[0] if n else 0.0 for n in (c.joint1, c.joint2))
        a = [sum(comb(n, k) * f * ref2 ** (n - k) for n, f in enumerate(c.coefficients) if n >= k) for k in range(5)]
        a[0] -= ref1
        element = add(block, "joint", name=c.name, joint1=c.joint1, polycoef=text(a))
        if c.joint2:
            element.set("joint2", c.joint2)
    append_filled(root, block)


def _add_keyframes(root: Element, description: Description, tree: Tree) -> None:
    block = add(None, "keyframe")
    for key in description.keyframes:
        placed = complete_followers(description, dict(key.positions))
        qpos: list[float] = []
        for motion in tree.motions:
            joint = motion.joint
            if motion.type in ("hinge", "slide"):
                qpos.append((placed.get(joint.name) or joint.initial or (0.0,) * (motion.k + 1))[motion.k])
            else:
                x = placed.get(joint.name) or joint.initial or NEUTRAL[motion.type]
                qpos += [x[k] for k in TO_MUJOCO[motion.type]]
        add(block, "key", name=key.name, qpos=text(qpos))
    append_filled(root, block)


def _add_motors(root: Element, description: Description) -> None:
    block = add(None, "actuator")
    for name in description.actuated:
        kind = description.joint(name).kind
        for k in range(JOINT_SIZES[kind][1]):
            gear = {"gear": text(np.eye(6)[k])} if kind in ("free", "spherical") else {}
            add(block, "motor", gear, joint=group_name(name, kind, k) if kind in CHAINS else name)
    append_filled(root, block)
