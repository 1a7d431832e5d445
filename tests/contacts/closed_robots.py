"""Robots with loops for the tests: made by code (every kind of loop, on every kind of joint), and those of the shared models."""

import freeflyer as ff
import numpy as np
from dataclasses import dataclass, replace
from freeflyer.model.description import JOINT_SIZES
from functools import cache
from pathlib import Path

POINT, HINGE, WELD = (1, 1, 1, 0, 0, 0), (1, 1, 1, 1, 1, 0), (1, 1, 1, 1, 1, 1)
SHARED = ("kangaroo", "cassie", "five_bar", "battobot")  # of the folder of models
R, P, H, S, C, U = "revolute", "prismatic", "helical", "spherical", "cylindrical", "universal"

# name: (base, kinds of the joints of each branch, (branch and link, branch and link, mask) of each loop, motors)
RECIPES = {"point": ("free", ((R, R, R), (R, R, R)), (((0, 3), (1, 3), POINT),), ("j00", "j01", "j02")),
           "hinge": ("free", ((R, P, R, H), (R, R, R, R)), (((0, 4), (1, 4), HINGE),), ("j00", "j01")),
           "weld": ("free", ((S, R), (S, P, R)), (((0, 2), (1, 3), WELD),), ("j01",)),
           "slider": ("free", ((R, R, R), (R, S)), (((0, 3), (1, 2), (1, 1, 0, 1, 1, 1)),), ("j00",)),
           "cylinder": ("fixed", ((R, R, P), (U, R)), (((0, 3), (1, 2), (0, 1, 1, 0, 1, 1)),), ("j00",)),
           "turn": ("fixed", ((R, R, R), (R, R, R)), (((0, 3), (1, 3), (1, 1, 1, 0, 1, 0)),), ("j00", "j01")),
           "nested": ("free", ((R, R, R, R), (R, R), (C, R)), (((0, 2), (1, 2), POINT), ((0, 4), (2, 2), POINT)), ("j00", "j02")),
           "held": ("free", ((S, R, R), (R,)), (((0, 3), None, POINT),), ("j01",))}  # fmt: skip


@dataclass(frozen=True, eq=False)
class State:
    """A closed posture q (nq,), and u, u_dot (nu,)."""

    q: np.ndarray
    u: np.ndarray
    u_dot: np.ndarray


def _pose(rng: np.random.Generator, reach: float) -> np.ndarray:
    X = np.eye(4)
    Q, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    X[:3, :3], X[:3, 3] = Q * np.sign(np.linalg.det(Q)), reach * rng.standard_normal(3)
    return X


def _inertia(rng: np.random.Generator) -> ff.Inertia:
    A = rng.standard_normal((3, 3))
    I = A @ A.T
    return ff.Inertia(rng.uniform(0.5, 2.0), 0.1 * rng.standard_normal(3),
        0.02 * (np.trace(I) * np.eye(3) - I) + 0.01 * np.eye(3))  # fmt: skip


def _armature(rng: np.random.Generator, kind: str) -> tuple[float, ...]:
    """Of floating and ball joints alone: another number for each coordinate."""
    return tuple(rng.uniform(0.0, 0.3, JOINT_SIZES[kind][1])) if kind in ("free", "spherical") else ()


def _site(description: ff.Description, name: str, link: str, X_W: np.ndarray) -> ff.Description:
    """The description with a site that lies at X_W while all joints are at zero."""
    X_WL = (ff.frame_pose(ff.build(description), ff.neutral(ff.build(description)),
        link) if link != "world" else np.eye(4))  # fmt: skip
    return replace(description, sites=(*description.sites, ff.Site(name, link, np.linalg.inv(X_WL) @ X_W)))


@cache
def made(name: str) -> ff.Model:
    """The robot of that recipe; its zero posture is closed."""
    base, branches, loops, motors = RECIPES[name]
    rng = np.random.default_rng(sum(map(ord, name)))
    rotors = np.random.default_rng(1)
    links, joints = [ff.Link("hull", _inertia(rng))], [ff.Joint("base", base, "world", "hull",
        armature=_armature(rotors, base))]  # fmt: skip
    for b, kinds in enumerate(branches):
        parent = "hull"
        for k, kind in enumerate(kinds):
            child = f"l{b}{k + 1}"
            links.append(ff.Link(child, _inertia(rng)))
            joints.append(ff.Joint(f"j{b}{k}", kind, parent, child, _pose(rng, 0.4), pitch=0.1, armature=_armature(rotors, kind)))
            parent = child
    d = ff.Description(name, (*links, ff.Link("world")), tuple(joints), actuated=motors)
    for n, (a, b, mask) in enumerate(loops):
        model = ff.build(d)
        link_b = f"l{b[0]}{b[1]}" if b else "world"
        X = _pose(rng, 0.1)
        X[:3, 3] += ff.frame_pose(model, ff.neutral(model), f"l{a[0]}{a[1]}")[:3, 3]
        d = _site(_site(d, f"a{n}", f"l{a[0]}{a[1]}", X), f"b{n}", link_b, X)
        d = replace(d, loops=(*d.loops, ff.Loop(f"loop{n}", f"a{n}", f"b{n}", mask)))
    return ff.build(d)


@cache
def coupled() -> ff.Model:
    """A chain on a free base whose third joint follows a cubic of the first, with a mimic joint inside a loop besides."""
    d = made("point").description
    follower = replace(d.joint("j12"), name="extra", parent="hull", child="l9")
    d = replace(d, name="coupled", links=(*d.links, ff.Link("l9", d.link("l13").inertia)), joints=(*d.joints, follower),
                couplings=(ff.Coupling("cubic", "extra", "j00", (0.1, 0.7, -0.4, 0.9)),), actuated=("j00", "j01"))  # fmt: skip
    return ff.build(d.with_joint(replace(d.joint("j11"), mimic=ff.Mimic("j10", -0.6, 0.0))))


def robots() -> list[str]:
    """Names for `robot`."""
    return [*RECIPES, "coupled"]


def robot(name: str) -> ff.Model:
    """One made by code."""
    return coupled() if name == "coupled" else made(name)


@cache
def shared(folder: Path, name: str) -> ff.Model:
    """kangaroo, cassie, five_bar or battobot of the shared models."""
    here = folder / name
    if (here / "robot.urdf").exists():
        return ff.load(here / "robot.urdf", loops=here / "robot.yaml", base="fixed" if name == "five_bar" else "free")
    return ff.load(here / f"{name}.xml")


def state(model: ff.Model, rng: np.random.Generator, amplitude: float = 0.1) -> State:
    """A closed state off the assembled posture."""
    split = ff.linkages.partition(model)
    nu = len(split.independent)
    q = ff.integrate(ff.close_loops(model), np.array(split.q), amplitude * rng.uniform(-1.0, 1.0, nu))
    return State(q, rng.standard_normal(nu), rng.standard_normal(nu))


@dataclass(frozen=True, eq=False)
class Reference:
    """G (nv, nu), gamma (nv,) and v, a (nv,) of a state, by dense solves."""

    G: np.ndarray
    gamma: np.ndarray
    v: np.ndarray
    a: np.ndarray


def reference(model: ff.Model, s: State) -> Reference:
    split = ff.linkages.partition(model)
    rows, dependent, independent = split.rows, split.dependent, split.independent
    J = ff.linkages.constraint_jacobian(model, s.q)[rows]
    G = np.zeros((model.nv, len(independent)))
    G[independent] = np.eye(len(independent))
    G[dependent] = -np.linalg.solve(J[:, dependent], J[:, independent])
    gamma = np.zeros(model.nv)
    gamma[dependent] = -np.linalg.solve(J[:, dependent], ff.linkages.constraint_bias(model, s.q, G @ s.u)[rows])
    return Reference(G, gamma, G @ s.u, G @ s.u_dot + gamma)


