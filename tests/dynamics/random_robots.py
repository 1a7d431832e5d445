"""Random trees: every joint kind, branches, mimic joints, any placement and axis, inertias of real bodies; also as hypothesis
draws them, at random states: small numbers and a seed, so that a failure shrinks and repeats."""

import freeflyer as ff
import numpy as np
from dataclasses import dataclass
from freeflyer.model.description import JOINT_SIZES, WORLD, Description, Inertia, Joint, Link, Mimic, Site
from hypothesis import settings, strategies as st

ONE_DOF = ("revolute", "continuous", "prismatic", "helical")
KINDS = (*ONE_DOF, "fixed", "spherical", "cylindrical", "planar", "universal", "free")
BASES = ("free", "fixed", "planar", "two free")
SPECIAL_AXES = np.vstack([np.eye(3), -np.eye(3)])  # where turning the axis to z has cases


def random_description(rng: np.random.Generator, n: int, kinds: tuple[str, ...] = KINDS, base: str = "free",
                       mimics: float = 0.3, armature: bool = True) -> Description:  # fmt: skip
    """n joints beyond the base, of random kinds, each on a random link before it.

    `mimics` is the share of one-DoF joints that follow another, which may lie anywhere: earlier or later in the tree, on
    the way to the root, itself a follower. Files list joints in any order: so does this.
    """
    links, joints = [Link("link_0", random_inertia(rng))], []
    if base != "fixed":
        kind = "planar" if base == "planar" else "free"
        placement = np.eye(4) if rng.random() < 0.5 else random_placement(rng)
        rotors = random_armature(rng.spawn(1)[0], kind) if armature else ()
        joints.append(Joint("base", kind, WORLD, "link_0", placement, random_axis(rng), armature=rotors))
    else:
        joints.append(Joint("base", "fixed", WORLD, "link_0", random_placement(rng)))
    if base == "two free":
        links.append(Link("other", random_inertia(rng)))
        placement = random_placement(rng)
        rotors = random_armature(rng.spawn(1)[0], "free") if armature else ()
        joints.append(Joint("other_base", "free", WORLD, "other", placement, armature=rotors))
    for i in range(1, n + 1):
        parent = links[-1 if rng.random() < 0.6 else rng.integers(len(links))].name
        links.append(Link(f"link_{i}", random_inertia(rng)))
        joints.append(random_joint(rng, f"joint_{i}", str(rng.choice(kinds)), parent, f"link_{i}", armature))
    sites = tuple(Site(f"site_{i}", links[rng.integers(len(links))].name, random_placement(rng)) for i in range(2))
    order = rng.permutation(len(joints))
    description = Description("random", tuple(links), tuple(joints[k] for k in order), sites)
    return with_mimics(rng, description, mimics) if mimics else description


def random_robot(rng: np.random.Generator, n: int, kinds: tuple[str, ...] = KINDS, base: str = "free",
                 mimics: float = 0.3, armature: bool = True) -> ff.Model:  # fmt: skip
    return ff.load(random_description(rng, n, kinds, base, mimics, armature), base=None)


def random_joint(rng: np.random.Generator, name: str, kind: str, parent: str, child: str, armature: bool = True) -> Joint:
    axis = random_axis(rng)
    rotors = random_armature(rng, kind) if armature else ()
    return Joint(name, kind, parent, child, random_placement(rng), axis, axis2=second_axis(rng, axis), armature=rotors,
                 pitch=float(rng.choice([-0.3, 0.2])) if kind == "helical" else 0.0)  # fmt: skip


def random_armature(rng: np.random.Generator, kind: str) -> tuple[float, ...]:
    """Another number for each velocity coordinate, or none for half of all joints."""
    nv = JOINT_SIZES[kind][1]
    return tuple(rng.uniform(0.0, 0.1, nv)) if nv and rng.random() < 0.5 else ()


def with_mimics(rng: np.random.Generator, description: Description, share: float) -> Description:
    """Some one-DoF joints follow others, without cycles: each may follow those before it in a random order."""
    able = [j for j in description.joints if j.kind in ONE_DOF]
    order = rng.permutation(len(able))
    for k in range(1, len(able)):
        joint = description.joint(able[order[k]].name)
        if rng.random() < share:
            leader = able[order[rng.integers(k)]].name
            ratio = float(rng.choice([-1.5, -0.4, 0.7, 1.0, 2.0]))
            mimic = Mimic(leader, ratio, float(rng.uniform(-0.5, 0.5)))
            description = description.with_joint(Joint(**{**vars(joint), "mimic": mimic}))
    return description


def random_inertia(rng: np.random.Generator) -> Inertia:
    """A cloud of eight point masses: any mass and centre, physically consistent by construction."""
    m, p = rng.uniform(0.05, 0.3, 8), 0.3 * rng.standard_normal((8, 3)) + 0.1 * rng.standard_normal(3)
    com = m @ p / m.sum()
    d = p - com
    return Inertia(float(m.sum()), com, np.einsum("i,ij,ij->", m, d, d) * np.eye(3) - np.einsum("i,ij,ik->jk", m, d, d))


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    Q, R = np.linalg.qr(rng.standard_normal((3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.linalg.det(Q)


def random_placement(rng: np.random.Generator) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = random_rotation(rng), 0.3 * rng.standard_normal(3)
    return X


def random_axis(rng: np.random.Generator) -> np.ndarray:
    if rng.random() < 0.4:
        return SPECIAL_AXES[rng.integers(6)].copy()
    axis = rng.standard_normal(3)
    return axis / np.linalg.norm(axis)


def second_axis(rng: np.random.Generator, axis: np.ndarray) -> np.ndarray:
    """Of a universal joint: at a right angle to the first, or at 30 degrees or more."""
    other = np.cross(axis, random_rotation(rng)[0])
    other /= np.linalg.norm(other)
    return other if rng.random() < 0.5 else 0.8 * other + 0.6 * axis


few = settings(max_examples=40)


@dataclass(frozen=True, repr=False)
class Case:
    """A robot and a state: q (nq,), and v, a, tau (nv,) of order 1 (SI units, radians)."""

    label: str
    model: ff.Model
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    rng: np.random.Generator

    def _repr_pretty_(self, printer: object, cycle: bool) -> None:
        printer.text(self.label)  # how to make it again, instead of all its numbers

    def __repr__(self) -> str:
        return self.label

    @property
    def links(self) -> list[str]:
        """Those that move."""
        return [name for name in self.model.link_names if ff.frame_jacobian(self.model, self.q, name).any()]


@st.composite
def cases(draw: st.DrawFn, kinds: tuple[str, ...] = KINDS, bases: tuple[str, ...] = BASES, most: int = 9) -> Case:
    """A robot of up to `most` joints beyond its base."""
    base = draw(st.sampled_from(bases))
    n = draw(st.integers(1 if base == "fixed" else 0, most))
    mimics, armature, seed = draw(st.booleans()), draw(st.booleans()), draw(st.integers(0, 2**32 - 1))
    return case(seed, n, kinds, base, 0.4 if mimics else 0.0, armature)


def case(seed: int, n: int, kinds: tuple[str, ...] = KINDS, base: str = "free", mimics: float = 0.4,
         armature: bool = True) -> Case:  # fmt: skip
    rng = np.random.default_rng(seed)
    model = random_robot(rng, n, kinds, base, mimics, armature)
    while model.nv == 0:  # all joints fixed, to a fixed base
        model = random_robot(rng, n, kinds, base, mimics, armature)
    v, a, tau = rng.standard_normal((3, model.nv))
    label = f"case({seed}, {n}, {kinds}, {base!r}, {mimics}, {armature})"
    return Case(label, model, ff.random_configuration(model, rng), v, a, tau, rng)
