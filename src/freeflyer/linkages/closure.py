"""Closing postures: which coordinates may move, and the compiled solver that moves them (kernels/linkages/assembly.py)."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from freeflyer.dynamics import get_threads, run_chunks
from freeflyer.errors import InputError
from freeflyer.kernels.compiler.calls.running import Result, batch, table_handle
from freeflyer.kernels.entries import CLOSE_POSTURE
from freeflyer.kernels.entry import OK
from freeflyer.kernels.linkages import assembly as K
from freeflyer.kernels.model.layout import PLAN
from freeflyer.linkages.rows import groups, structure
from freeflyer.model import Model, Partition, check_configuration
from freeflyer.tolerances import LIMIT_TOLERANCE

STEPS = 100
STATES_UNTIL_INTERRUPT = 256  # that one call closes
SMALL_BATCH = 16  # postures for which threads are not worth while


class Closing(namedtuple("Closing", "q residual steps")):
    """q (n, nq): the least open postures; residual (n, r) there, m and rad; steps (n,) taken."""


_plans: WeakKeyDictionary[Model, dict[bytes, Any]] = WeakKeyDictionary()


def plan_for(model: Model, movable: np.ndarray, rows: np.ndarray | None) -> Any:
    """The handle of the model with the plan (kernels/linkages/assembly.py) by which the coordinates `movable` (n,) close what rows
    they can; remembered."""
    plans = _plans.setdefault(model, {})
    key = np.asarray(movable, np.int64).tobytes() + b"|" + (b"" if rows is None else np.asarray(rows, np.int64).tobytes())
    if key not in plans:
        if len(plans) > 64:
            plans.clear()
        plans[key] = table_handle(model.topology, model.parameters, PLAN, _plan(model, {int(j) for j in movable}, rows))
    return plans[key]


def _plan(model: Model, movable: set[int], rows: np.ndarray | None) -> np.ndarray:
    s = structure(model)
    kept = [here if rows is None else np.intersect1d(here, rows) for here in s.rows]
    touched = {k: set(c.tolist()) & movable for k, c in enumerate(s.coordinates)}
    ties = [k for k, c in touched.items() if c and len(kept[k])]
    found = [[ties[k] for k in group] for group in groups([touched[k] for k in ties])]
    place, group_of_q, largest = q_of_v(model), np.full(model.nq, -1), 1
    records, data, data_at = list[int](), list[int](), K.PLAN_HEADER + K.GROUP_INTS * len(found)
    for g, members in enumerate(found):
        columns = sorted(set().union(*(touched[k] for k in members)))
        largest = max(largest, len(columns))
        for joint in model.joints:
            if joint.nv and set(range(joint.iv, joint.iv + joint.nv)) & set(columns):
                group_of_q[joint.iq : joint.iq + joint.nq] = g
        first_coordinate = data_at + len(data)
        data += columns
        tie_records = []
        for k in members:
            tie_records += [data_at + len(data), len(kept[k]), len(touched[k]), data_at + len(data) + len(kept[k])]
            data += kept[k].tolist()
            data += [x for j in sorted(touched[k]) for x in (j, columns.index(j))]
        records += [len(columns), first_coordinate, len(members), data_at + len(data)]
        data += tie_records
    group_of_q_at = data_at + len(data)
    header = [len(found), K.PLAN_HEADER, group_of_q_at, group_of_q_at + model.nq, largest]
    return np.array([*header, *records, *data, *group_of_q, *place], np.int64)


def q_of_v(model: Model) -> np.ndarray:
    """(nv,): the entry of q that a velocity coordinate is the rate of; -1 for those of free and spherical joints."""
    place = np.full(model.nv, -1)
    for joint in model.joints:
        if joint.nq == joint.nv:
            place[joint.iv : joint.iv + joint.nv] = np.arange(joint.iq, joint.iq + joint.nq)
    return place


def position_limits(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """(lower, upper) (nq,): limits of the entries of q, infinite for free and spherical joints."""
    lower, upper = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
    place = q_of_v(model)
    lower[place[place >= 0]], upper[place[place >= 0]] = model.position_lower[place >= 0], model.position_upper[place >= 0]
    return lower, upper


def check_range(model: Model, coordinates: Sequence[int] | np.ndarray, x: np.ndarray, said: str, cure: str,
                slack: float = LIMIT_TOLERANCE) -> None:
    """InputError for positions x (..., k) of velocity coordinates (k,) beyond their limits by more than `slack`, m or rad. `said`
    begins its sentence, {!r} the joint's name; `cure` ends it."""
    low, high = model.position_lower[coordinates], model.position_upper[coordinates]
    beyond = np.argwhere((x < low - slack) | (x > high + slack))
    if not len(beyond):
        return
    *at, k = (int(i) for i in beyond[0])
    joint = next(j for j in model.joints if j.iv <= coordinates[k] < j.iv + j.nv)
    value, unit = float(x[*at, k]), "m" if joint.kind == "prismatic" else "rad"
    where = f" in posture {at[0]} of {len(x)}" if at and len(x) > 1 else ""
    between = f"{low[k]:g} to {high[k]:g}"
    raise InputError(f"{said.format(joint.name)} at {value:.6g} {unit}{where}, outside of its range {between}: {cure}",
        joint=joint.name, position=value, lower=float(low[k]), upper=float(high[k]), index=tuple(at))


def close(model: Model, q: np.ndarray, movable: Iterable[int] | np.ndarray, limits: bool = True,
          rows: np.ndarray | None = None, enough: float = 3e-9, steps: int = STEPS) -> Closing:
    """The least open postures that the coordinates `movable` reach from q (n, nq), within their limits if `limits`.

    Levenberg's steps end where nothing more can be won: at closure, or, where rounded digits leave redundant loops no exact one,
    at the least squares of the residual. `rows` (m,): those to close, all if None; `enough`: see the kernel. Results do not
    depend on the number of threads."""
    check_configuration(model, "q", q, "q")
    given = np.array(q, np.float64, order="C")
    n, (rows_of_all, _) = len(given), model.constraint_rows
    plan = plan_for(model, np.sort(np.asarray(movable, np.int64)), rows)
    lower = model.position_lower if limits else np.full(model.nv, -np.inf)
    upper = model.position_upper if limits else np.full(model.nv, np.inf)
    inputs = given, np.array(lower), np.array(upper), np.array([enough, float(steps)])
    made = np.empty_like(given), np.empty((n, rows_of_all)), np.empty((n, 1))

    def run(start: int, stop: int) -> Result:
        return batch(CLOSE_POSTURE, plan, inputs, (), made, start, stop)

    for status, _ in run_chunks(run, n, 4, get_threads() if n >= SMALL_BATCH else 1, STATES_UNTIL_INTERRUPT):
        if status != OK:
            raise InputError(f"the loops of {model.name!r} could not be closed: numbers overflowed during the iterations")
    return Closing(made[0], made[1], made[2][:, 0].astype(np.int64))


def close_split(tree: Model, split: Partition, q: np.ndarray) -> Closing:
    """Postures (n, nq) with the independent rows closed to the last digit by the dependent coordinates, without limits."""
    return close(tree, q, split.dependent, limits=False, rows=split.rows)


def closed_posture(model: Model, q: np.ndarray) -> np.ndarray:
    """Postures (..., nq) of a closed model with the motors and the base of q, whose loops may be open: MuJoCo's give way."""
    return close_split(model.tree, model.reduction.split, q.reshape(-1, q.shape[-1])).q.reshape(q.shape) if model.reduction else q
