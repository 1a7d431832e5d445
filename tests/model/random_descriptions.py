"""Random robots as hypothesis draws them, with everything that a Description can hold, in names and numbers of every kind."""

import freeflyer as ff
import numpy as np
from freeflyer.model.description import JOINT_KINDS, WORLD, joint_sizes
from freeflyer.model.validate import ONE_DOF, WITH_AXIS
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

NUMBERS = st.floats(-1e6, 1e6).map(lambda x: x if abs(x) > 1e-90 else 0.0)  # smaller inertias are refused
POSITIVE = NUMBERS.map(abs)
LIMITS = st.one_of(POSITIVE, st.just(np.inf))
ANGLES = st.one_of(st.floats(-4.0, 4.0), st.sampled_from([0.0, np.pi / 2.0, -np.pi / 2.0, np.pi]))
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=6)
NAMES = TEXT.filter(lambda name: name.isprintable() and name.strip() and name != WORLD)


@st.composite
def placements(draw: st.DrawFn) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3] = Rotation.from_euler("xyz", draw(st.tuples(ANGLES, ANGLES, ANGLES))).as_matrix()
    X[:3, 3] = vector(draw, NUMBERS, 3)
    return X


def vector(draw: st.DrawFn, numbers: st.SearchStrategy[float], n: int) -> tuple[float, ...]:
    return draw(st.tuples(*[numbers] * n))


def directions(draw: st.DrawFn) -> np.ndarray:
    """Two of them, not parallel."""
    x = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).standard_normal((2, 3))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def position(draw: st.DrawFn, kind: str) -> tuple[float, ...]:
    q = np.array(vector(draw, st.floats(-9.0, 9.0), joint_sizes(kind)[0]))
    if kind in ("spherical", "free"):
        q[-4:] += 1e-3 if not q[-4:].any() else 0.0
        q[-4:] /= np.abs(q[-4:]).max()
        q[-4:] /= np.linalg.norm(q[-4:])
    return tuple(q.tolist())


def link(draw: st.DrawFn, name: str) -> ff.Link:
    if draw(st.booleans()):
        return ff.Link(name)
    a, b, c, d, e, f = vector(draw, NUMBERS, 6)
    J = np.array([[a, b, c], [b, d, e], [c, e, f]])
    return ff.Link(name, ff.Inertia(draw(POSITIVE), np.array(vector(draw, NUMBERS, 3)), J))


def joint(draw: st.DrawFn, name: str, parent: str, child: str, leaders: list[ff.Joint]) -> ff.Joint:
    kind = draw(st.sampled_from(JOINT_KINDS))
    nv = joint_sizes(kind)[1]
    given = {}
    fields = {"velocity": LIMITS, "effort": LIMITS, "armature": POSITIVE, "damping": POSITIVE, "friction": POSITIVE,
              "stiffness": NUMBERS}  # fmt: skip
    for field, numbers in fields.items():
        given[field] = vector(draw, numbers, nv if draw(st.booleans()) else 0)
    if draw(st.booleans()):
        given["upper"] = vector(draw, LIMITS, nv)
        given["lower"] = tuple(-x for x in vector(draw, LIMITS, nv))
    for field in ("initial", "spring_reference"):
        given[field] = position(draw, kind) if draw(st.booleans()) else ()
    if kind in WITH_AXIS:
        given["axis"], second = directions(draw)
    if kind == "universal":
        given["axis2"] = second
    if kind == "helical":
        given["pitch"] = draw(NUMBERS) or 0.5
    if kind in ONE_DOF and leaders and draw(st.booleans()):
        given["mimic"] = ff.Mimic(draw(st.sampled_from(leaders)).name, draw(NUMBERS), draw(NUMBERS))
    return ff.Joint(name, kind, parent, child, draw(placements()), **given)


@st.composite
def descriptions(draw: st.DrawFn, most: int = 5) -> ff.Description:
    """A robot of up to `most` links, with or without a joint to the world."""
    n = draw(st.integers(1, most))
    name, *names = draw(st.lists(NAMES, min_size=n + 4, max_size=n + 4, unique=True))
    (site, loop, key), names = names[:3], names[3:]
    links, joints = [link(draw, one) for one in names], []
    for k in range(0 if draw(st.booleans()) else 1, n):
        leaders = [j for j in joints if j.kind in ONE_DOF]
        parent = draw(st.sampled_from(names[:k])) if k else WORLD
        joints.append(joint(draw, f"{names[k]} joint", parent, names[k], leaders))
    single, moving = ([j.name for j in joints if j.kind in kinds] for kinds in (ONE_DOF, JOINT_KINDS[1:]))
    frame, mask = draw(st.sampled_from(names)), draw(st.tuples(*[st.integers(0, 1)] * 6).filter(any))
    others = [one for one in names if one != frame]
    positions = [(j.name, position(draw, j.kind)) for j in joints if j.kind != "fixed" and draw(st.booleans())]
    coefficients = tuple(draw(st.lists(NUMBERS, min_size=1, max_size=11)))
    return ff.Description(name, tuple(links), tuple(joints), sites=(ff.Site(site, frame, draw(placements())),),
                       loops=tuple(ff.Loop(loop, site, other, mask) for other in others[:1]),
                       couplings=tuple(ff.Coupling("coupling", one, single[-1], coefficients) for one in single[:1]),
                       actuated=tuple(moving[: draw(st.integers(0, len(moving)))]), gravity=vector(draw, NUMBERS, 3),
                       keyframes=(ff.Keyframe(key, tuple(positions)),))  # fmt: skip
