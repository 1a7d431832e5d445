"""Ground that a robot stands, slides and rolls on, and the points by which it touches it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from freeflyer.contacts.description import Contact, Rolling
from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.contacts.sets.tables import surface_points
from freeflyer.errors import InputError, format_value
from freeflyer.kernels.compiler.calls.running import handle, with_table
from freeflyer.kernels.model.layout import N_PATH, PATH_AT, SET_HEADER, TABLE_AT
from freeflyer.kernels.sim import layout as G
from freeflyer.model.frozen import frozen_array
from freeflyer.model.inputs import finite_array, instances, number
from freeflyer.model.model import Model

Heights = Callable[[float, float], float]


@dataclass(frozen=True, eq=False)
class Ground:
    """Ground below a robot, rigid, with Coulomb friction.

    Args:
        height: Of the surface, m: a number for a level plane; a function of x and y (m); or (x, y, heights), an evenly spaced grid,
            heights (len(x), len(y)), bilinear between its points and level beyond them.
        friction: Coefficient, for contacts that have none of their own.
        restitution: Share of the approach velocity with which points bounce back, 0 to 1; slow approaches come to rest.
    Raises: InputError for other numbers, and for grids that are not even.

    Examples:
        >>> ground = ff.sim.Ground(height=lambda x, y: 0.1 * x, friction=0.5)
        >>> ground.friction
        0.5
    """

    height: Any = 0.0
    friction: float = 0.8
    restitution: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "friction", number("friction", self.friction, 0.0))
        object.__setattr__(self, "restitution", number("restitution", self.restitution, 0.0, 1.0))
        if isinstance(self.height, tuple | list):
            object.__setattr__(self, "height", _grid(self.height))
        elif not callable(self.height):
            object.__setattr__(self, "height", number("height", self.height))


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


class Point(NamedTuple):
    """A point that may touch: of which contact, its frame, kind, place in the frame's axes, radius and axis, friction, restitution."""

    name: str
    frame: str
    kind: int
    place: np.ndarray
    radius: float
    axis: np.ndarray
    friction: float
    restitution: float


def touching_points(model: Model, contacts: Sequence[Contact | Rolling], ground: Ground) -> list[Point]:
    """The points of contacts: corners of surfaces, ends of lines, balls and edges of discs."""
    found, none = [], np.zeros(3)
    for c in contacts:
        model.frame(c.frame)
        if isinstance(c, Rolling):
            kind, axis = (G.BALL, none) if c.axis is None else (G.DISC, c.axis)
            found.append(Point(c.name, c.frame, kind, none, c.radius, axis, ground.friction, ground.restitution))
            continue
        friction = ground.friction if c.friction is None else c.friction
        for place in surface_points(model, c):
            found.append(Point(c.name, c.frame, G.TIP, place, 0.0, none, friction, ground.restitution))
    return found


@dataclass(frozen=True, eq=False)
class GroundModel:
    """A tree with what holds it and what it may touch, as compiled code reads them.

    constraints: the set that holds besides; its loops are those of the tree."""

    model: Model
    constraints: ConstraintSet
    points: Sequence[Point]
    ground: Ground
    limits: bool = True

    @cached_property
    def limited(self) -> list[tuple[int, int]]:
        """(place in v, place in q) of the coordinates with limits."""
        m = self.model
        single = [j for j in m.joints if j.nv == 1 and j.nq == 1] if self.limits else []
        return [(j.iv, j.iq) for j in single if np.isfinite(m.position_lower[j.iv]) or np.isfinite(m.position_upper[j.iv])]

    @cached_property
    def dry(self) -> list[int]:
        """Coordinates with dry friction."""
        return np.flatnonzero(self.model.friction > 0.0).tolist()

    @cached_property
    def table(self) -> Any:
        """(topology, parameters, handle, numbers of kept impulses)."""
        m, held = self.model, self.constraints.table
        own = held.topology[int(held.topology[TABLE_AT]) :]
        header, rest = own[:SET_HEADER].copy(), own[SET_HEADER:]
        grid = self.ground.height if isinstance(self.ground.height, tuple) else None
        surface = G.GIVEN if callable(self.ground.height) else G.LEVEL if grid is None else G.GRID
        numbers = [held.parameters]
        places = [len(held.parameters)]
        for more in (
            np.concatenate([[*p.place, p.radius, *p.axis, p.friction, p.restitution] for p in self.points] or [np.zeros(0)]),
            np.array([(m.position_lower[iv], m.position_upper[iv]) for iv, _ in self.limited]).ravel(),
            m.friction[self.dry],
            np.zeros(0) if grid is None else np.concatenate([[grid[0][0], grid[1][0], grid[0][1] - grid[0][0],
                grid[1][1] - grid[1][0]], grid[2].ravel()]),
        ):  # fmt: skip
            numbers.append(np.asarray(more, float))
            places.append(places[-1] + len(numbers[-1]))
        rows, points, limited, dry = held.rows, len(self.points), len(self.limited), len(self.dry)
        kept = rows + limited + dry + 3 * points
        settings = G.PLANES + (G.PLANE_FLOATS * points if surface == G.GIVEN else 0) + kept
        most = rows + limited + dry + 3 * points
        at = SET_HEADER + G.GROUND_HEADER
        lists = [x for p in self.points for x in (m.frame(p.frame), p.kind)], [x for pair in self.limited for x in pair], self.dry
        starts = np.cumsum([at, *map(len, lists)]).tolist()
        path = starts[-1]
        sizes = (settings, kept, points, 0)
        header[G.N_SETTINGS : G.N_SETTINGS + 4] = sizes
        shift = path + m.nv - SET_HEADER - int(header[N_PATH])
        header[[11, 13, 15]] += shift
        rest = rest[int(header[N_PATH]) :]
        header[N_PATH], header[PATH_AT] = m.nv, path
        more = (most, limited, dry, surface, *starts[:3], *places[:4], *((0, 0) if grid is None else map(len, grid[:2])))
        table = np.concatenate([header, more, *lists, np.arange(m.nv)[::-1], rest]).astype(np.int64)
        base = held.topology[: int(held.topology[TABLE_AT])]
        topology, parameters = frozen_array(with_table(base, G.GROUND, table)), frozen_array(np.concatenate(numbers))
        return topology, parameters, handle(topology, parameters), kept, settings
