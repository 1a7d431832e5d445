"""A planar robot with a floating base as its tables: frames (decoupling thesis, tables 4.1 and 4.2) and masses (4.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import sympy as sp

from freeflyer.errors import InputError, check_name, format_value
from freeflyer.model import choice, public, whole_number
from freeflyer.symbolic.routines import formula
from freeflyer.symbolic.variables import Variables
from freeflyer_papers.planar.poses import Pose

BASE = "base"
References = ("base", "world")


class Frame(NamedTuple):
    """Row of table 4.1: where a frame stands in the frame before it, m and rad; `parent` by default that of the row above."""

    name: str
    x: sp.Expr | float  # a prismatic joint along x has its variable here
    y: sp.Expr | float
    angle: sp.Expr | float  # a revolute joint has its variable here
    parent: str | None = None


class Mass(NamedTuple):
    """Row of table 4.3: a mass (kg) on a frame or the "base"; its centre there (m), and the inertia about it, kg m^2."""

    frame: str
    mass: sp.Expr | float
    x: sp.Expr | float = 0
    y: sp.Expr | float = 0
    inertia: sp.Expr | float = 0


@dataclass(frozen=True)
class PlanarRobot:
    """A robot of the plane whose base floats, made by `freeflyer_papers.planar.robot`: frames, each after its parent, masses, and
    gravity downwards, along -y, m/s^2."""

    variables: Variables
    frames: tuple[Frame, ...]
    masses: tuple[Mass, ...]
    gravity: sp.Expr

    @property
    def joints(self) -> tuple[sp.Symbol, ...]:
        """Symbols of the joint variables."""
        return self.variables.position[3:]

    @property
    def mass(self) -> sp.Expr:
        """Total mass, kg."""
        return sp.Add(*(m.mass for m in self.masses))


@public
def variables(n: int) -> Variables:
    """Symbols of the state of a planar robot with n joints.

    Args:
        n: Number of joint variables.
    Returns: Variables. Position (o_x, o_y, theta, q1, ..., qn) of the base in the world and of the joints. Velocity (v_x,
    v_y, omega, qdot1, ...), the base's in its own axes; acceleration, its rate.

    Examples:
        >>> freeflyer_papers.planar.variables(2).position
        (o_x, o_y, theta, q1, q2)
    """
    whole_number("n, the number of joints,", n, 0)
    names = [f"{k}" for k in range(1, n + 1)]
    position = sp.symbols(["o_x", "o_y", "theta", *(f"q{k}" for k in names)], real=True)
    velocity = sp.symbols(["v_x", "v_y", "omega", *(f"qdot{k}" for k in names)], real=True)
    acceleration = sp.symbols(["vdot_x", "vdot_y", "omegadot", *(f"qddot{k}" for k in names)], real=True)
    c, s = sp.cos(position[2]), sp.sin(position[2])
    rates = sp.eye(3 + n)
    rates[:2, :2] = sp.Matrix([[c, -s], [s, c]])
    return Variables(tuple(position), tuple(velocity), tuple(acceleration), sp.ImmutableMatrix(rates))


@public
def robot(variables: Variables, frames: Iterable[Frame | Sequence[object]], masses: Iterable[Mass | Sequence[object]], *,
          gravity: sp.Expr | float) -> PlanarRobot:  # fmt: skip
    """Planar robot with a floating base, given by its tables.

    Args:
        variables: `freeflyer_papers.planar.variables(n)`, whose joint variables stand in the rows.
        frames: iterable of rows (name, x, y, angle), Table 4.1; with a fifth entry, the frame before, if that is not the row above.
            A row of a fixed frame, as a foot, has no variable.
        masses: iterable of rows (frame, mass, x, y, inertia), Table 4.3.
        gravity: Along -y, m/s^2.

    Raises: InputError for frames of one name, rows of other lengths, velocities in the tables, joint variables that move nothing,
    and robots without mass. UnknownNameError for frames that are not there, or stand below.

    Examples:
        >>> import sympy
        >>> m, M, g = sympy.symbols("m M g", positive=True)
        >>> state = freeflyer_papers.planar.variables(1)
        >>> frames, masses = [("tip", state.position[3], 0, 0)], [("base", M, 0, 0, 0), ("tip", m, 0, 0, 0)]
        >>> slider = freeflyer_papers.planar.robot(state, frames, masses, gravity=g)
        >>> freeflyer_papers.planar.potential_energy(slider)
        g*m*q1*sin(theta) + g*o_y*(M + m)
    """
    if not isinstance(variables, Variables) or len(variables.position) != len(variables.velocity) or len(variables.position) < 3:
        raise InputError("variables must be made by freeflyer_papers.planar.variables(n), n the number of joints")
    moving = {*variables.velocity, *variables.acceleration, *variables.position[:3]}
    rows, known = [], [BASE]
    for given in frames:
        frame = _frame(given, known[-1])
        _refuse(moving, f"frame {frame.name!r}", frame.x, frame.y, frame.angle)
        if frame.name in known:
            raise InputError(f"two frames are named {frame.name!r}", frame=frame.name)
        check_name("frame above this row", frame.parent, known)
        rows.append(frame)
        known.append(frame.name)
    weights = []
    for entry in masses:
        on, *numbers = _fields("masses", entry, Mass._fields)
        mass = Mass(on, *(formula(f"{k} of a mass on {on!r}", x) for k, x in zip(Mass._fields[1:], numbers)))
        _refuse({*moving, *variables.position}, f"a mass of frame {mass.frame!r}", mass.mass, mass.x, mass.y, mass.inertia)
        check_name("frame", mass.frame, known)
        weights.append(mass)
    if sp.Add(*(m.mass for m in weights)) == 0:
        raise InputError("a robot needs masses: there are none, or their sum is zero")
    idle = set(variables.position[3:]) - _symbols(*(x for row in rows for x in (row.x, row.y, row.angle)))
    if idle:
        raise InputError(f"joint variables that stand in no frame: {', '.join(sorted(map(str, idle)))}")
    return PlanarRobot(variables, tuple(rows), tuple(weights), formula("gravity", gravity))


@public
def frame_pose(robot: PlanarRobot, frame: str, *, reference: Literal["base", "world"] = "base") -> Pose:
    """Pose of a frame in the base or in the world.

    Args:
        frame: "base", or the name of a Frame.
        reference: "base" or "world".

    Examples:
        >>> freeflyer_papers.planar.frame_pose(freeflyer_papers.planar.revolute_hopper(), "foot").origin
        Matrix([
        [l*cos(q1) + l],
        [    l*sin(q1)]])
    """
    check_robot(robot)
    choice("reference", reference, References)
    rows = {row.name: row for row in robot.frames}
    check_name("frame", frame, [BASE, *rows])
    path = []
    while frame != BASE:
        path.append(rows[frame])
        frame = str(rows[frame].parent)
    x, y, theta = robot.variables.position[:3]
    pose = Pose(theta, sp.Matrix([x, y])) if reference == "world" else Pose(sp.S.Zero, sp.zeros(2, 1))
    for row in reversed(path):
        pose = pose @ Pose(row.angle, sp.Matrix([row.x, row.y]))
    return pose


def check_robot(robot: object) -> None:
    """InputError for anything that is no PlanarRobot."""
    if not isinstance(robot, PlanarRobot):
        raise InputError(f"robot must be a PlanarRobot, made by freeflyer_papers.planar.robot, got {type(robot).__name__}")


def _frame(given: object, above: str) -> Frame:
    row = Frame(*_fields("frames", given, ("name", "x", "y", "angle"), 5))
    if not isinstance(row.name, str) or not row.name or row.name == BASE:
        raise InputError(f"a frame needs a name of its own, other than 'base', got {format_value(row.name)}")
    x, y, angle = (formula(f"{k} of frame {row.name!r}", getattr(row, k)) for k in ("x", "y", "angle"))
    return Frame(row.name, x, y, angle, above if row.parent is None else row.parent)


def _fields(what: str, given: object, names: tuple[str, ...], length: int = 0) -> list[Any]:
    row = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else []
    if len(row) not in (len(names), length):
        raise InputError(f"a row of {what} is ({', '.join(names)}), got {format_value(given)}")
    return row


def _symbols(*formulas: sp.Expr | float) -> set[sp.Basic]:
    return set().union(*(sp.sympify(x).free_symbols for x in formulas))


def _refuse(symbols: set[sp.Symbol], what: str, *formulas: sp.Expr | float) -> None:
    found = symbols & _symbols(*formulas)
    if found:
        raise InputError(f"{what} must not depend on {', '.join(sorted(map(str, found)))}")


@public
def prismatic_hopper() -> PlanarRobot:
    """Prismatic hopping leg: point masses m_01 on the base and m_11 on the foot, q1 the leg's length (tables 4.4 and 4.5).

    Returns: PlanarRobot with symbols m_01, m_11 and g; `ff.robots.prismatic_hopper` is the leg in numbers."""
    state, (trunk, foot, g) = variables(1), sp.symbols("m_01 m_11 g", positive=True)
    frames = [("1", state.position[3], 0, 0), ("foot", 0, 0, 0)]
    return robot(state, frames, [("base", trunk, 0, 0, 0), ("1", foot, 0, 0, 0)], gravity=g)


@public
def revolute_hopper() -> PlanarRobot:
    """Revolute hopping leg: trunk m_01 and thigh m_02 on the base, shank m_11 after the knee q1 (tables 4.9 and 4.10).

    Returns: PlanarRobot with symbols m_01, m_02, m_11, l (of thigh and shank) and g; `ff.robots.revolute_hopper` is the leg in
    numbers.

    Examples:
        >>> robot = freeflyer_papers.planar.revolute_hopper()
        >>> freeflyer_papers.planar.mass_matrix(robot)[3, 3]
        l**2*m_11/4
    """
    state, (trunk, thigh, shank, l, g) = variables(1), sp.symbols("m_01 m_02 m_11 l g", positive=True)
    frames = [("1", l, 0, state.position[3]), ("foot", l, 0, 0)]
    masses = [("base", trunk, 0, 0, 0), ("base", thigh, l / 2, 0, 0), ("1", shank, l / 2, 0, 0)]
    return robot(state, frames, masses, gravity=g)
