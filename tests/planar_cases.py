"""Planar robots in formulas, beside the models of the same robots in space."""

import freeflyer as ff
import freeflyer_papers
import numpy as np
import sympy as sp
from closeness import fresh
from dataclasses import dataclass
from freeflyer_papers.planar.chain import PlanarRobot

planar = freeflyer_papers.planar
NORMAL = np.array([0.0, -1.0, 0.0])  # of the plane (x, z) of a model, whose angles turn x towards z


@dataclass(frozen=True)
class Case:
    """A planar robot, numbers of its constants, its model with a free base, and a map P (6 + n, 3 + n) of planar velocities."""

    robot: PlanarRobot
    values: dict[sp.Symbol, float]
    model: ff.Model

    @property
    def P(self) -> np.ndarray:
        n = len(self.robot.joints)
        P = np.zeros((6 + n, 3 + n))
        P[0, 0] = P[2, 1] = 1.0
        P[4, 2] = -1.0
        P[6:, 3:] = np.eye(n)
        return P

    def q(self, position: np.ndarray) -> np.ndarray:
        """The model's configuration."""
        x, y, theta = position[:3]
        return np.r_[x, 0.0, y, 0.0, -np.sin(theta / 2.0), 0.0, np.cos(theta / 2.0), position[3:]]

    def number(self, x, state: dict[sp.Symbol, float]) -> np.ndarray:
        """A formula at a state."""
        at = {**self.values, **state}
        entries, shape = (list(x), x.shape) if isinstance(x, sp.MatrixBase) else ([x], ())
        used = sorted(set().union(*(e.free_symbols for e in entries)), key=str)
        return np.array(sp.lambdify(used, entries, "math")(*(at[s] for s in used)), float).reshape(shape)

    def state(self, k: int = 0) -> tuple[dict[sp.Symbol, float], np.ndarray, np.ndarray, np.ndarray]:
        """Numbers of the symbols of a random state; position, velocity and acceleration."""
        v = self.robot.variables
        rows = fresh("planar state", k).uniform(-2.0, 2.0, (3, len(v.position)))
        symbols = (*v.position, *v.velocity, *v.acceleration)
        return dict(zip(symbols, map(float, rows.reshape(-1)))), *rows


def pose(x: float, y: float, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0.0, -s, x], [0.0, 1.0, 0.0, 0.0], [s, 0.0, c, y], [0.0, 0.0, 0.0, 1.0]])


def point(mass: float, x: float, y: float, inertia: float) -> ff.Inertia:
    return ff.Inertia(mass, np.array([x, 0.0, y]), inertia * np.eye(3))


def random_case(k: int, joints: int | None = None, line: bool = True) -> Case:
    """A random tree (or a chain, `line`) of revolute and prismatic joints, one or two masses on each frame."""
    rng = fresh("planar robot", k)
    n = int(rng.integers(1, 4)) if joints is None else joints
    state = planar.variables(n)
    frames, masses, links, welds = [], [], [ff.Link("base")], []
    moving = [ff.Joint("root", "free", "world", "base")]
    for i, q in enumerate(state.position[3:], 1):
        x, y, angle = (sp.Rational(int(m), 8) for m in rng.integers(-8, 9, 3))
        parent = f"f{i - 1}" if i > 1 and (line or rng.random() < 0.5) else "base"
        turning = bool(rng.random() < 0.6)
        frames.append((f"f{i}", *((x, y, q + angle) if turning else (x + q, y, angle)), parent))
        X = pose(float(x), float(y), float(angle)) if turning else pose(float(x), float(y), 0.0)
        links.append(ff.Link(f"f{i}"))
        if turning:
            moving.append(ff.Joint(f"j{i}", "revolute", parent, f"f{i}", X, NORMAL))
        else:  # slides along the parent's x, then stands at its angle
            links.append(ff.Link(f"s{i}"))
            moving.append(ff.Joint(f"j{i}", "prismatic", parent, f"s{i}", X, np.array([1.0, 0.0, 0.0])))
            moving.append(ff.Joint(f"t{i}", "fixed", f"s{i}", f"f{i}", pose(0.0, 0.0, float(angle))))
    for i, frame in enumerate(["base", *(name for name, *_ in frames)]):
        for k_ in range(int(rng.integers(1, 3))):
            m, I = (sp.Rational(int(u), 8) for u in rng.integers(1, 17, 2))
            x, y = (sp.Rational(int(u), 8) for u in rng.integers(-8, 9, 2))
            masses.append((frame, m, x, y, I))
            links.append(ff.Link(f"m{i}_{k_}", point(*map(float, (m, x, y, I)))))
            welds.append(ff.Joint(f"w{i}_{k_}", "fixed", frame, f"m{i}_{k_}"))
    g = sp.Symbol("g", positive=True)
    robot = planar.robot(state, frames, masses, gravity=g)
    d = ff.Description(f"planar_{k}", tuple(links), (*moving, *welds), gravity=(0.0, 0.0, -9.5))
    return Case(robot, {g: 9.5}, ff.build(d))


def hopper_case(name: str) -> Case:
    """One of the two hopping legs, base afloat in space."""
    robot = getattr(planar, name)()
    names = {"m_01": 0.957, "m_11": 0.05, "g": 9.8} if name == "prismatic_hopper" else {
        "m_01": 0.835, "m_02": 0.122, "m_11": 0.05, "l": 0.12, "g": 9.8}  # fmt: skip
    formulas = [robot.gravity, *(x for m in robot.masses for x in (m.mass, m.x, m.y))]
    constants = {s: names[str(s)] for s in set().union(*(sp.sympify(x).free_symbols for x in formulas))}
    d = getattr(ff.robots, name)().description
    base = ff.Joint("root_joint", "free", "world", d.links[0].name)
    return Case(robot, constants, ff.build(ff.Description(d.name, d.links, (base, *d.joints[1:]), d.sites, gravity=d.gravity)))
