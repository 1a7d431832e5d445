"""Parts of a closed robot: its sub-mechanisms with joints, constraints and freedom; one limb of it as a robot of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics import leading_axes
from freeflyer.errors import InputError
from freeflyer.linkages.assembly import independent_or_all
from freeflyer.linkages.partition import partition
from freeflyer.linkages.refusals import check_closed, condition, rank, singular_values
from freeflyer.linkages.rows import Structure, constraint_jacobian, structure, support
from freeflyer.model import Block, Model, Partition, lock_joints, one_row, public, refuse_no_model, row
from freeflyer.tables import Table
from freeflyer.text import short_repr
from freeflyer.tolerances import FACTOR_RANK_RATIO

MAX_COMBINED_TIES = 3  # ties that are tried together when a block is taken apart; with more it is left whole


@dataclass(frozen=True)
class Mechanism:
    """Sub-mechanism of a closed robot. Counts are of velocity coordinates, rows and freedoms.

    Attributes:
        name, loops, actuated, dependent: Its motors, or its loops; its loops and couplings; joints of its motors, and those that
            follow.
        driven_by: Joints of other sub-mechanisms in its loops.
        passive, touched: Passive coordinates that it owns; those in its loops, others' included.
        constraints, rows, redundancy: Independent rows, all rows, and the difference.
        mobility, gruebler: passive + motors - constraints; the same with all rows.
        free, strokes: Joints that nothing determines; (n, 2) array, limits of the motors' coordinates, m or rad.
        singularity, condition: 1 / condition: zero at a fold; an upper bound on how far dependent joints outrun the motors
            (Block)."""

    __repr__ = short_repr

    name: str
    loops: tuple[str, ...]
    actuated: tuple[str, ...]
    dependent: tuple[str, ...]
    driven_by: tuple[str, ...]
    passive: int
    touched: int
    constraints: int
    rows: int
    redundancy: int
    mobility: int
    gruebler: int
    free: tuple[str, ...]
    strokes: np.ndarray
    singularity: float
    condition: float


@dataclass(frozen=True)
class Mechanisms:
    """All sub-mechanisms of a robot at one posture, and its totals. `str` of it is a table.

    Attributes:
        q: (nq,) array, the posture.
        rows, rank, motors, passive, base: Constraint rows; coordinates that the loops take away; velocity coordinates of each
            kind.
        free, condition: Joints that nothing determines, those outside of loops included; the worst block's condition number."""

    __repr__ = short_repr

    robot: str
    q: np.ndarray
    parts: tuple[Mechanism, ...]
    rows: int
    rank: int
    motors: int
    passive: int
    base: int
    free: tuple[str, ...]
    condition: float

    def __str__(self) -> str:
        t = self.table()
        lines = [t.columns, *t.rows]
        widths = [max(len(line[k]) for line in lines) for k in range(len(t.columns))]
        table = ["  ".join(x.ljust(w) if k == 0 else x.rjust(w) for k, (x, w) in enumerate(zip(line, widths))) for line in lines]
        return "\n".join([t.title, *table])

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def table(self) -> Table:
        """A row for each sub-mechanism, under the totals of the robot; passive coordinates are counted as in the Kangaroo paper."""
        total = f"{self.robot}: rank {self.rank} of {self.rows} rows, {self.motors} motors, {self.passive} passive coordinates"
        columns = ("sub-mechanism", "active", "passive", "constraints", "rows", "Gruebler", "mobility", "singularity", "condition")
        note = ("Brackets hold all passive coordinates in its loops. Gruebler is the mobility by the count of rows. Singularity is "
            "1 / condition: 0 is singular.")
        rows = [(m.name, str(len(m.strokes)), f"{m.passive} ({m.touched})", str(m.constraints), str(m.rows), str(m.gruebler),
                 str(m.mobility), f"{m.singularity:.2g}", f"{m.condition:.3g}") for m in self.parts]
        return Table(total, columns, rows, range(1, len(columns)), note)


@public
def mechanisms(model: Model, q: ArrayLike | None = None) -> Mechanisms:
    """Sub-mechanisms of a closed robot with their joints, constraints, freedom and nearness to singularities.

    Source: Kangaroo paper, Table II. A block of the split (Block) falls into groups whose loops can be solved one after the
    other. Kangaroo's knee moves by itself; its ankle needs the knee joint's position, but drives none of its joints."""
    model = model.tree
    split, s = partition(model, q), structure(model)
    J = constraint_jacobian(model, split.q)
    parts = tuple(m for block in split.blocks for m in _parts(model, s, split, J, block))
    return Mechanisms(model.name, split.q, parts, model.constraint_rows[0], split.rank, len(s.actuated), len(s.passive),
                      len(s.base), _joints(s, split.free), split.condition)


def _joints(s: Structure, coordinates: np.ndarray) -> tuple[str, ...]:
    return tuple(dict.fromkeys(s.owner[j] for j in coordinates))


def _parts(model: Model, s: Structure, split: Partition, J: np.ndarray, block: Block) -> Iterator[Mechanism]:
    taken: set[int] = set()
    for rows, ties, dependent in _join_to_motors(s, list(_order_of_solution(s, J, block))):
        touched = np.unique(np.concatenate([s.coordinates[k] for k in ties]))
        others = np.intersect1d(np.setdiff1d(block.dependent, dependent), touched)
        motors = np.intersect1d(np.setdiff1d(touched, list(taken)), s.actuated)
        free = np.intersect1d(np.setdiff1d(touched, list(taken)), split.free)
        taken |= set(touched.tolist())
        passive = np.intersect1d(touched, s.passive)
        own = len(dependent) + len(free)
        every = sum(len(s.rows[k]) for k in ties)
        worst = condition(model, split.q, J, rows, dependent)
        loops = tuple(s.names[k] for k in ties)
        yield Mechanism(name=", ".join(_joints(s, motors)) or ", ".join(loops[:2]) + (", ..." if len(loops) > 2 else ""),
            loops=loops, actuated=_joints(s, motors), dependent=_joints(s, dependent), driven_by=_joints(s, others),
            passive=own, touched=len(passive), constraints=len(rows), rows=every, redundancy=every - len(rows),
            mobility=own + len(motors) - len(rows), gruebler=own + len(motors) - every, free=_joints(s, free),
            strokes=np.stack([model.position_lower[motors], model.position_upper[motors]], axis=1),
            singularity=1.0 / worst, condition=worst)


Group = tuple[np.ndarray, list[int], np.ndarray]


def _join_to_motors(s: Structure, groups: list[Group]) -> list[Group]:
    """Groups joined to sub-mechanisms that have motors: one without goes to its only driver, or takes the drivers whose joints
    serve nothing else (of an ankle: its two rods and levers, not the knee that other groups lean on, too)."""
    k = 0
    while k < len(groups):
        drivers = _drivers(s, groups, k)
        if not _motors(s, groups, k) and drivers:
            alone = [d for d in drivers if all(d not in _drivers(s, groups, i) for i in range(len(groups)) if i != k)]
            joined = {k, *(drivers if len(drivers) == 1 else alone)}
            if len(joined) > 1:
                rows, ties, dependent = (np.concatenate([groups[i][part] for i in sorted(joined)]) for part in range(3))
                merged = (np.sort(rows), sorted(ties.tolist()), np.sort(dependent))
                at = min(joined) if len(drivers) == 1 else k + 1 - len(joined)
                groups = [g for i, g in enumerate(groups) if i not in joined]
                groups.insert(at, merged)
                k = 0
                continue
        k += 1
    return groups


def _drivers(s: Structure, groups: list[Group], k: int) -> list[int]:
    """Groups whose dependent coordinates are in the loops of group k."""
    touched = np.concatenate([s.coordinates[i] for i in groups[k][1]])
    return [i for i, g in enumerate(groups) if i != k and len(np.intersect1d(g[2], touched))]


def _motors(s: Structure, groups: list[Group], k: int) -> bool:
    """Whether group k has motors that no group before it has."""
    before = [s.coordinates[i] for g in groups[:k] for i in g[1]]
    touched = np.concatenate([s.coordinates[i] for i in groups[k][1]])
    return bool(len(np.setdiff1d(np.intersect1d(touched, s.actuated), np.concatenate([np.empty(0, np.int64), *before]))))


def _order_of_solution(s: Structure, J: np.ndarray, block: Block) -> Iterator[Group]:
    """(rows, ties, dependent coordinates) of groups that can be solved one after the other, each with those before it.

    A group of ties is complete when its rows determine every dependent coordinate in its loops that is still unknown."""
    ties = [k for k, name in enumerate(s.names) if name in block.loops]
    columns = {k: np.intersect1d(s.coordinates[k], block.dependent) for k in ties}
    unknown = set(block.dependent.tolist())
    while ties:
        group = next(_complete(s, J, block, ties, columns, unknown), tuple(ties))
        dependent = np.array(sorted(set().union(*(columns[k].tolist() for k in group)) & unknown), dtype=np.int64)
        every = np.concatenate([s.rows[k] for k in group])
        rows = np.intersect1d(every, block.rows)
        if len(rows) != len(dependent):  # rows chosen elsewhere stand for some of these: keep what is left together
            group, dependent = tuple(ties), np.array(sorted(unknown), dtype=np.int64)
            rows = np.intersect1d(np.concatenate([s.rows[k] for k in group]), block.rows)
        yield rows, list(group), dependent
        unknown -= set(dependent.tolist())
        ties = [k for k in ties if k not in group]


def _complete(s: Structure, J: np.ndarray, block: Block, ties: list[int], columns: dict[int, np.ndarray],
              unknown: set[int]) -> Iterator[tuple[int, ...]]:
    """Groups of ties that determine the unknowns in their loops, the smallest first, with ties that add nothing new."""
    for size in range(1, min(MAX_COMBINED_TIES, len(ties)) + 1):
        for group in combinations(ties, size):
            new = sorted(set().union(*(columns[k].tolist() for k in group)) & unknown)
            if not new:
                continue
            every = np.concatenate([s.rows[k] for k in group])
            A = J[np.ix_(every, new)]
            if rank(A, FACTOR_RANK_RATIO * singular_values(J[block.all_rows])[0]) == len(new):
                yield tuple(k for k in ties if k in group or not set(columns[k].tolist()) & (unknown - set(new)))


@public
def extract_limb(model: Model, frame: str, q: ArrayLike | None = None) -> Model:
    """Limb of a robot: only the joints that move `frame` relative to the base, and those that loops tie to them.

    Args:
        q: (nq,) array, closed posture at which the base and all other joints are fixed; by default the file's posture, assembled.
    Returns: Model. Frames and joint names stay; its loops are closed if those of `model` are.
    Raises: LinkageError for an open posture; InputError if nothing but the base moves the frame."""
    whole, model = model, model.tree
    model.frame(frame)
    posture = partition(model).q if q is None else one_row(model, "q", q, "q")
    if q is not None:
        check_closed(model, posture, independent_or_all(model), "a limb keeps the posture of the joints that are locked")
    s = structure(model)
    base = set(s.base.tolist())
    kept, grown, tied = set[int](), support(model, frame) - base, [set(c.tolist()) - base for c in s.coordinates]
    while grown != kept:
        kept, grown = grown, grown.union(*(c for c in tied if c & grown))
    if not kept:
        raise InputError(f"no joint but the base moves frame {frame!r}: it is no limb", frame=frame)
    still = [j.name for j in model.joints if j.mimic is None and not set(range(j.iv, j.iv + j.nv)) & kept]
    return whole.like(lock_joints(model, still, posture)) if still else whole


@public
def extract_configuration(part: Model, whole: Model, q: np.ndarray) -> np.ndarray:
    """Configuration (..., part.nq) of a part, its entries taken from that of the whole robot.

    Args:
        part, whole: The part's joints are those of the same names in the whole robot (extract_limb)."""
    refuse_no_model(whole, "extract_configuration", "second")
    q = row(whole, "q", q, "q")
    out = np.empty((*q.shape[:-1], part.nq))
    for here, there in _shared(part, whole):
        out[..., here] = q[..., there]
    return out


@public
def embed_configuration(part: Model, whole: Model, q_part: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Configuration (..., nq) of the whole robot, the entries of a part's joints replaced by those of the part.

    Args:
        part, whole: See extract_configuration.
        q_part: (..., part.nq) array, configuration of the part."""
    refuse_no_model(whole, "embed_configuration", "second")
    q_part, q = row(part, "q_part", q_part, "q"), row(whole, "q", q, "q")
    lead = leading_axes((q_part, q), (1, 1), ("q_part", "q"))
    out = np.broadcast_to(q, (*lead, whole.nq)).copy()
    for here, there in _shared(part, whole):
        out[..., there] = q_part[..., here]
    return out


def _shared(part: Model, whole: Model) -> list[tuple[slice, slice]]:
    """Where each joint of a part stands in the configurations of the part and of the whole robot."""
    found = []
    for joint in part.joints:
        other = whole.joint(joint.name)
        if joint.nq != other.nq:
            raise InputError(
                f"joint {joint.name!r} has {joint.nq} position coordinates in {part.name!r} ({joint.kind}) and {other.nq} in "
                f"{whole.name!r} ({other.kind}): the one is no part of the other", joint=joint.name)
        found.append((slice(joint.iq, joint.iq + joint.nq), slice(other.iq, other.iq + other.nq)))
    return found
