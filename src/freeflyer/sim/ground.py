"""Ground that a robot stands, slides and rolls on, and the points by which it touches it."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from freeflyer.contacts import ConstraintSet, Contact, Rolling, path, surface_points, widen
from freeflyer.dynamics.frames import frame_pose
from freeflyer.errors import InputError, format_value
from freeflyer.kernels.compiler.calls.running import handle, with_table
from freeflyer.kernels.model.layout import FRAMES_AT, N_PATH, PATH_AT, SET_HEADER, TABLE_AT
from freeflyer.kernels.sim import layout as G
from freeflyer.model import LARGEST, SMALLEST, Model, choice, finite_array, frozen_array, number


@dataclass(frozen=True, eq=False)
class Ground:
    """Ground below a robot, with Coulomb friction.

    Args:
        height: Height of the surface, m; a number for a level plane, (...,) numbers for one below each robot of a batch, a function
            of x and y (m), or (x, y, heights). The last is an evenly spaced grid with heights (len(x), len(y)), bilinear between
            its points and level beyond them.
        friction: float or (...,) array, coefficient, for contacts that have none of their own.
        restitution: float or (...,) array, share of the approach velocity with which points bounce back from rigid ground, 0 to 1;
            slow approaches come to rest.
        kind: "rigid", "compliant", "viscoelastic" or "soft". Compliant ground has a spring and damper below each point, which push
            and never pull. Viscoelastic ground has them along tangents, too, bounded by friction: the floor of the decoupling
            thesis, (4.13) to (4.15). Soft ground asks for the accelerations that MuJoCo's contacts ask for.
        stiffness, damping: float or (...,) array, spring and damper of compliant and viscoelastic ground, N/m, N s/m.
        time_constant, damping_ratio: float or (...,) array, of soft ground, s and share: the numbers of MuJoCo's solref.
        impedance: float or (...,) array, of soft ground, the number of MuJoCo's solimp.
            Arrays (...,) hold a number for each robot of a batch; their axes are the leading axes of q and v.
    Raises: InputError for other numbers, those that another kind of ground has, and grids that are not even.

    Examples:
        >>> ground = ff.sim.Ground(height=lambda x, y: 0.1 * x, friction=0.5)
        >>> ground.friction
        0.5
    """

    height: Any = 0.0
    friction: Any = 0.8
    restitution: Any = 0.0
    kind: str = "rigid"
    stiffness: Any = 5e4
    damping: Any = 5e2
    time_constant: Any = 0.02
    damping_ratio: Any = 1.0
    impedance: Any = 0.9

    def __post_init__(self) -> None:
        choice("kind", self.kind, KINDS)
        for name, (least, most) in NUMBERS.items():
            object.__setattr__(self, name, each(name, getattr(self, name), least, most))
            kinds = KINDS_OF.get(name, tuple(KINDS))
            if self.kind not in kinds and np.any(getattr(self, name) != getattr(Ground, name)):
                raise InputError(f"{name} is a number of {' and '.join(kinds)} ground, and this one is {self.kind}: give another "
                                 f"kind=, or leave {name}= out")  # fmt: skip
        if isinstance(self.height, tuple | list) and any(np.ndim(x) for x in self.height):
            object.__setattr__(self, "height", _grid(self.height))
        elif not callable(self.height):
            object.__setattr__(self, "height", each("height", self.height))

    @property
    def yielding(self) -> tuple[Any, Any, Any]:
        """Spring, damper and share of the gain, as compiled steps take them; a soft ground's by MuJoCo's formulas of solref."""
        if self.kind != "soft":
            return (0.0, 0.0, 0.0) if self.kind == "rigid" else (self.stiffness, self.damping, 0.0)
        d, t, ratio = self.impedance, self.time_constant, self.damping_ratio
        return 1.0 / (d * t * ratio) ** 2, 2.0 / (d * t), (1.0 - d) / d

    def of_each(self) -> dict[str, np.ndarray]:
        """Numbers (...,) of each robot by name."""
        return {name: x for name in (*NUMBERS, "height") if isinstance(x := getattr(self, name), np.ndarray)}


KINDS = {"rigid": G.RIGID, "compliant": G.COMPLIANT, "viscoelastic": G.VISCOELASTIC, "soft": G.SOFT}
NUMBERS = {
    "stiffness": (SMALLEST, LARGEST), "damping": (0.0, LARGEST), "friction": (0.0, LARGEST), "restitution": (0.0, 1.0),
    "time_constant": (1e-6, LARGEST), "damping_ratio": (SMALLEST, LARGEST), "impedance": (1e-4, 0.9999),
}
KINDS_OF = {  # whose numbers they are
    "restitution": ("rigid",), "stiffness": ("compliant", "viscoelastic"), "damping": ("compliant", "viscoelastic"),
    "time_constant": ("soft",), "damping_ratio": ("soft",), "impedance": ("soft",),
}


def _grid(given: Sequence[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if len(given) != 3:
        raise InputError(f"a grid of heights is (x, y, heights), got {len(given)} values")
    x, y, z = (frozen_array(finite_array(name, a)) for name, a in zip(("x", "y", "heights"), given))
    for name, a in (("x", x), ("y", y)):
        steps = np.diff(a) if a.ndim == 1 else np.zeros(0)
        if len(steps) < 1 or not steps.min() > 0.0 or np.ptp(steps) > 1e-9 * np.abs(a).max():
            raise InputError(f"{name} of a grid must be two or more values, rising in even steps, got {format_value(a)}")
    if z.shape != (len(x), len(y)):
        raise InputError(f"heights must have shape {(len(x), len(y))}, for the x and y of the grid, got {z.shape}")
    return x, y, z


def each(name: str, x: Any, least: float = -LARGEST, most: float = LARGEST) -> Any:
    """x as a float, or as an array (...,) of such numbers, one for each robot."""
    x = finite_array(name, x) if isinstance(x, list | tuple) else x  # lists may be ragged
    if np.ndim(x) == 0:
        return number(name, x, least, most)
    found = np.array(finite_array(name, x))
    for k in np.flatnonzero((found < least) | (found > most))[:1]:
        number(f"{name}[{', '.join(map(str, np.unravel_index(k, found.shape)))}]", float(found.flat[k]), least, most)
    found.flags.writeable = False
    return found


def check_each(name: str, shape: tuple[int, ...], lead: tuple[int, ...]) -> None:
    """InputError for leading axes of a number that are not those of q and v."""
    if len(shape) > len(lead) or any(a not in (1, b) for a, b in zip(reversed(shape), reversed(lead))):
        raise InputError(
            f"{name} is given for robots {shape}, but q and v have leading axes {lead}: give one for all, or one for each of these",
            name=name, shape=shape, expected=lead)  # fmt: skip


SAME_PLACE = 1e-9  # m: points nearer than that are one
OF_GROUND = -1.0  # friction or restitution of points that have none of their own


class Point(namedtuple("Point", "name frame kind place radius axis friction restitution")):
    """A point that may touch: its contact and frame, kind, place in the frame's axes, radius and axis, friction, restitution."""


def touching_points(model: Model, contacts: Sequence[Contact | Rolling]) -> list[Point]:
    """The points of contacts: corners of surfaces, ends of lines, balls and edges of discs."""
    found, none = [], np.zeros(3)
    for c in contacts:
        model.frame(c.frame)
        if isinstance(c, Rolling):
            kind, axis = (G.BALL, none) if c.axis is None else (G.DISC, c.axis)
            found.append(Point(c.name, c.frame, kind, none, c.radius, axis, OF_GROUND, OF_GROUND))
            continue
        friction = OF_GROUND if c.friction is None else c.friction
        for place in surface_points(model, c):
            found.append(Point(c.name, c.frame, G.TIP, place, 0.0, none, friction, OF_GROUND))
    return found


def refuse_held(held: ConstraintSet, contacts: Sequence[Contact | Rolling]) -> None:
    """InputError for contacts with points that what holds keeps from moving: forces of the two could not be told apart."""
    model = held.model
    holding: tuple[Contact | Rolling, ...] = (*held.contacts, *held.rolling)

    def placed(c: Contact | Rolling) -> tuple[int, np.ndarray]:
        """The body of a contact, and its points (c, 3) in the world at the neutral configuration."""
        X, body = frame_pose(model, model.neutral, c.frame), model.topology[model.topology[FRAMES_AT] + model.frame(c.frame)]
        points = surface_points(model, c) if isinstance(c, Contact) else np.zeros((1, 3))
        return int(body), points @ X[:3, :3].T + X[:3, 3]

    fixed = [(c.name, *placed(c)) for c in holding]
    for c in contacts if fixed else ():
        body, points = placed(c)
        for name, other, at in fixed:
            if body == other:
                axes, sizes, _ = np.linalg.svd((at - at[0]).T)
                along = axes[:, : int((sizes > SAME_PLACE).sum())] if len(at) > 1 else np.zeros((3, 0))
                away = points - at[0] - (points - at[0]) @ along @ along.T
                if along.shape[1] > 1 or np.linalg.norm(away, axis=1).min() < SAME_PLACE:
                    raise InputError(f"contact {c.name!r} may touch the ground, and {name!r} of constraints= holds it in place: "
                                     "leave it out of contacts=, or out of the constraints", name=c.name, held=name)  # fmt: skip


class Problem(namedtuple("Problem", "topology parameters handle settings kept")):
    """A tree with what holds it and what it may touch, for compiled code; sizes of its settings and of the forces in them."""

    def of_steps(self, samples: int, between: int) -> Problem:
        """For calls of several steps: how many samples, and steps from one to the next."""
        topology = np.array(self.topology)
        at = int(topology[TABLE_AT])
        topology[at + G.N_TAKEN], topology[at + G.N_BETWEEN] = samples, between
        return self._replace(topology=frozen_array(topology), handle=handle(topology, self.parameters))


def make_problem(held: ConstraintSet, points: Sequence[Point], ground: Ground) -> Problem:
    """held: the set that also holds, with the loops of its tree. Points of equal names are those of one contact."""
    m, lists, numbers = held.model, [], [held.table.parameters]
    single = [j for j in m.joints if j.nv == 1 and j.nq == 1]
    limited = [j for j in single if np.isfinite(m.position_lower[j.iv]) or np.isfinite(m.position_upper[j.iv])]
    dry = np.flatnonzero(m.friction > 0.0)
    surface, grid, sizes = G.LEVEL, (), (0, 0)
    if isinstance(ground.height, tuple):
        x, y, z = ground.height
        surface, sizes, grid = G.GRID, (len(x), len(y)), (x[0], y[0], x[1] - x[0], y[1] - y[0], *z.ravel())
    elif callable(ground.height):
        surface = G.GIVEN
    names = list(dict.fromkeys(p.name for p in points))
    lasts = [max(path(m, p.frame), default=-1) for p in points]
    lists += [[n for p, last in zip(points, lasts) for n in (m.frame(p.frame), p.kind, last, names.index(p.name))],
              [n for j in limited for n in (j.iv, j.iq)], [*dry]]  # fmt: skip
    numbers += [
        np.array([(*p.place, p.radius, *p.axis, p.friction, p.restitution) for p in points]).ravel(),
        np.array([(m.position_lower[j.iv], m.position_upper[j.iv]) for j in limited]).ravel(), m.friction[dry], np.array(grid),
    ]  # fmt: skip
    kept = len(limited) + len(dry) + 3 * len(points)
    settings = G.PLANES + (G.PLANE_FLOATS * len(points) if surface == G.GIVEN else 0) + kept
    at = np.cumsum([SET_HEADER + G.GROUND_HEADER, *map(len, lists)]).tolist()
    places = np.cumsum(list(map(len, numbers)))[:4].tolist()
    header = len(points), 1, len(limited), len(dry), surface, *at[:3], *places, *sizes, KINDS[ground.kind]
    more = (*header, *(n for x in lists for n in x), *range(m.nv - 1, -1, -1))
    table = widen(held.table, (settings, kept, len(names), 1), more).numbers
    table[N_PATH], table[PATH_AT] = m.nv, at[3]
    topology, parameters = frozen_array(with_table(m.topology, G.GROUND, table)), frozen_array(np.concatenate(numbers))
    return Problem(topology, parameters, handle(topology, parameters), settings, kept)
