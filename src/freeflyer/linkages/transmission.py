"""Transmission between motors and selected passive joints, motions and forces in both directions; postures by these joints.

As many passive coordinates as motors are selected by P. With A = P J_m square, J_m = -J_u^-1 J_a,

    motors = A^-1 joints                motor forces = A^T joint forces

Both keep power. Other independent coordinates (the base, springs, motors that were left out) rest or move as given by `others`;
they never take part in the inverse. Source: Kangaroo paper, eqs. (20)-(23)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics import leading_axes, motion, reduction_of, velocity_map
from freeflyer.errors import AssemblyError, InputError, LinkageError
from freeflyer.linkages.closing import close_loops, has_loops, step_closed
from freeflyer.linkages.closure import check_range, q_of_v
from freeflyer.linkages.partition import partition
from freeflyer.linkages.refusals import list_names, smallest_values
from freeflyer.linkages.rows import structure
from freeflyer.linkages.sweeping import motion_map
from freeflyer.model import Model, Partition, check_size, name_list, public, remembered
from freeflyer.tolerances import MIN_SINGULAR_VALUE, SELECTED_JOINT_STEP, SELECTED_POSITION_TOLERANCE


@dataclass(frozen=True, eq=False)
class Transmission:
    """Transmission of a closed robot between n motors and n selected joints, at one posture or a batch.

    Attributes:
        jacobian, q: (..., n, n) array P J_m, velocities of the joints for those of the motors, m/s and rad/s; (..., nq), the
            postures."""

    joints: tuple[str, ...]
    motors: tuple[str, ...]
    jacobian: np.ndarray
    q: np.ndarray
    _model: Model = field(repr=False)
    _chosen: Selection = field(repr=False)
    _map: np.ndarray = field(repr=False)  # G (..., nv of the tree, nu)

    @public
    def bias(self, u: ArrayLike) -> np.ndarray:
        """Accelerations (..., n) of the joints while no independent joint accelerates, P J_mdot u, m/s^2 and rad/s^2."""
        return motion(self._model, self.q, u, names=("q", "u", "u_dot"))[1][..., self._chosen.coordinates]

    @public
    def velocities(self, velocities: ArrayLike, *, others: ArrayLike | None = None) -> np.ndarray:
        """Velocities (..., n) of the motors that give the joints these velocities, m/s and rad/s: Kangaroo paper, eq. (22).

        Args:
            velocities: (..., n) array of the joints, m/s and rad/s.
            others: (..., nu - n) array, velocities of all other independent coordinates, in tree order; without them they rest.
        Raises: LinkageError for joints that do not determine the motors, with their names."""
        wanted, u = self._per_joint("velocities", velocities), self._others("others", others)
        leading_axes((self.q, wanted, u), (1, 1, 1), ("q", "velocities", "others"))
        return self._solve(self.jacobian, wanted - self._moved_by(u))

    @public
    def accelerations(self, velocities: ArrayLike, accelerations: ArrayLike, *, others: ArrayLike | None = None,
                      others_rates: ArrayLike | None = None) -> np.ndarray:
        """Accelerations (..., n) of the motors that give the joints these at these velocities: (P J_m)^-1 (qddot - P J_mdot u).

        Args:
            velocities, accelerations: (..., n) array of the joints, m/s and rad/s, m/s^2 and rad/s^2.
            others, others_rates: (..., nu - n) array, of all other independent coordinates, in tree order; without them zero."""
        rest, rest_rates = self._others("others", others), self._others("others_rates", others_rates)
        wanted, moving = self._per_joint("accelerations", accelerations), self.velocities(velocities, others=others)
        leading_axes((moving, wanted, rest, rest_rates), (1,) * 4, ("q and velocities", "accelerations", "others", "others_rates"))
        u = np.zeros((*np.broadcast_shapes(moving.shape[:-1], rest.shape[:-1]), self._model.nv))
        u[..., self._chosen.motor_columns], u[..., self._chosen.other_columns] = moving, rest
        return self._solve(self.jacobian, wanted - self.bias(u) - self._moved_by(rest_rates))

    @public
    def forces(self, forces: ArrayLike) -> np.ndarray:
        """Forces (..., n) at the motors that do what these forces (..., n) do at the joints: A^T tau, Kangaroo paper, eq. (20).

        They do the same power in every motion of the motors; at independent joints that are not in `motors` act reduce_forces."""
        wanted = self._per_joint("forces", forces)
        leading_axes((self.q, wanted), (1, 1), ("q", "forces"))
        return np.einsum("...ji,...j->...i", self.jacobian, wanted)

    @public
    def joint_forces(self, forces: ArrayLike) -> np.ndarray:
        """Forces (..., n) at the joints that do what these forces (..., n) of the motors do: A^-T tau, Kangaroo paper, eq. (23)."""
        wanted = self._per_joint("forces", forces)
        leading_axes((self.q, wanted), (1, 1), ("q", "forces"))
        return self._solve(self.jacobian.swapaxes(-1, -2), wanted)

    def _solve(self, A: np.ndarray, b: np.ndarray) -> np.ndarray:
        check_determined(self._model.tree, self._chosen, self.jacobian)
        return np.linalg.solve(A, b[..., None])[..., 0]

    def _moved_by(self, u: np.ndarray) -> np.ndarray:
        """Velocities of the joints (..., n) while the others move by u (..., nu - n)."""
        G = self._map[..., self._chosen.coordinates[:, None], self._chosen.other_columns]
        return np.einsum("...ij,...j->...i", G, u)

    def _per_joint(self, name: str, x: ArrayLike) -> np.ndarray:
        return check_size(name, x, len(self._chosen.coordinates), "one for each selected coordinate: " + list_names(self.joints))

    def _others(self, name: str, x: ArrayLike | None) -> np.ndarray:
        if x is None:
            return np.zeros(len(self._chosen.other_columns))
        owner = structure(self._model.tree).owner
        rest = [owner[i] for i in self._chosen.split.independent[self._chosen.other_columns]]
        whose = f": those of {list_names(rest)}" if rest else ""
        return check_size(name, x, len(rest), f"all independent coordinates but the motors'{whose}")


@public
def transmission(model: Model, q: ArrayLike, joints: Sequence[str], motors: Sequence[str] | None = None) -> Transmission:
    """Transmission between motors and selected passive joints: their Jacobian, and motions and forces in both directions.

    Rows and columns are in the order in which joints and motors are named.

    Raises: InputError for a model without loops, a name given twice, and another number of coordinates than the motors have. Also
    for a selected joint that has a motor, is the base or is determined by no loop.
    Source: Kangaroo paper, eqs. (20)-(23)."""
    chosen, p = select(model.tree, joints, motors), close_loops(model.tree)
    G = velocity_map(p, q)
    A = np.ascontiguousarray(G[..., chosen.coordinates[:, None], chosen.motor_columns])
    return Transmission(chosen.joints, chosen.motors, A, np.array(q, float), p, chosen, G)


@dataclass(frozen=True, eq=False)
class Selection:
    """Passive joints that stand for motors. joints, motors: names. coordinates (n,): velocity coordinates of the joints in the
    order in which they were named. motor_columns (n,), other_columns (nu - n,): places of the motors and of all else among the
    independent velocities (nu,) of `split`."""

    joints: tuple[str, ...]
    motors: tuple[str, ...]
    coordinates: np.ndarray
    motor_columns: np.ndarray
    other_columns: np.ndarray
    split: Partition


def select(model: Model, joints: Sequence[str], motors: Sequence[str] | None = None) -> Selection:
    """The selection P of (21): passive `joints` with as many coordinates as `motors` (without them: as all motors) have.

    Errors: UnknownNameError; InputError for a model without loops, a name given twice, a joint that has a motor, is the base or
    that no loop determines, a motor that is none, or another number of coordinates than the motors have."""
    return _select(model, name_list("joints", joints), None if motors is None else name_list("motors", motors))


def check_determined(model: Model, chosen: Selection, A: np.ndarray) -> None:
    """LinkageError for P J_m (..., n, n) that is singular somewhere, with the motors that the selected joints leave free."""
    values = smallest_values(A)
    if values.size == 0 or values.min() > MIN_SINGULAR_VALUE:
        return
    index = tuple(int(k) for k in np.unravel_index(int(np.argmin(values)), values.shape))
    left, _, right = np.linalg.svd(A[index])
    owner = structure(model).owner
    tied = [owner[j] for j, x in zip(chosen.coordinates, left[:, -1]) if abs(x) > 1e-3]
    loose = [owner[j] for j, x in zip(chosen.split.independent[chosen.motor_columns], right[-1]) if abs(x) > 1e-3]
    where = f" at posture {', '.join(map(str, index))} of the batch" if index else ""
    raise LinkageError(
        f"the selected joints do not determine the motors{where}: {list_names(loose)} can move while all of them are at rest, as "
        f"the velocities of {list_names(tied)} depend on each other or on no motor. Select for each motor a joint of its sub-"
        "mechanism (freeflyer.linkages.mechanisms lists them), or leave the singular posture",
        motors=tuple(dict.fromkeys(loose)), joints=tuple(dict.fromkeys(tied)), index=index, smallest=float(values[index]))


@remembered
def _select(model: Model, joints: tuple[str, ...], motors: tuple[str, ...] | None) -> Selection:
    if not has_loops(model):
        raise InputError(f"model {model.name!r} has no loops: none of its joints follows motors", model=model.name)
    p = close_loops(model)
    chosen_motors = model.actuated if motors is None else motors
    for kind, names in (("joints", joints), ("motors", chosen_motors)):
        for name in names:
            model.joint(name)
            if names.count(name) > 1:
                raise InputError(f"{kind} names {name!r} {names.count(name)} times: name each joint once", joint=name)
    for name in chosen_motors:
        if name not in model.actuated:
            raise InputError(f"{name!r} is no motor; motors: {list_names(model.actuated, 16)}", joint=name)
    coordinates = [_coordinates(model, p, name) for name in joints]
    selected = np.array([i for c in coordinates for i in c], np.int64)
    moving = np.array([i for n in chosen_motors for i in _range(model, n)], np.int64)
    if len(selected) != len(moving):
        some = "the motors" if motors is None else f"the motors {list_names(motors)}"
        sizes = f"{len(joints)} joints" + (f" with {len(selected)} coordinates" if len(joints) != len(selected) else "")
        raise InputError(
            f"{sizes} selected for {some}, which have {len(moving)}: P J_m is {len(selected)} x {len(moving)} and has an "
            f"inverse only if it is square. Select {len(moving)} passive coordinates, or name the motors to answer (motors=)",
            selected=len(selected), motors=len(moving))
    if not len(moving):
        raise InputError(f"no motors are named, or {model.name!r} has none: nothing to invert", model=model.name)
    columns = np.searchsorted(reduction_of(p).split.independent, moving)
    rest = np.setdiff1d(np.arange(p.nv), columns)
    return Selection(joints, chosen_motors, selected, columns, rest, reduction_of(p).split)


def _range(model: Model, name: str) -> range:
    info = model.joint(name)
    return range(info.iv, info.iv + info.nv)


def _coordinates(model: Model, p: Model, name: str) -> range:
    s, at = structure(model), _range(model, name)
    if not len(at) or model.joint(name).mimic is not None:
        raise InputError(f"joint {name!r} has no coordinate of its own (it is fixed, or follows another)", joint=name)
    if name in model.actuated:
        raise InputError(
            f"joint {name!r} has a motor: select passive joints, and name the motors that should answer (motors=) to leave it out",
            joint=name)
    if at[0] in s.base:
        raise InputError(f"joint {name!r} is the base: select passive joints", joint=name)
    free = [i for i in at if i in reduction_of(p).split.free]
    if free:
        what = "it" if len(free) == len(at) else f"{len(free)} of its {len(at)} coordinates"
        raise InputError(f"no loop determines {what}: joint {name!r} does not follow the motors and cannot stand for them",
                         joint=name)
    return at


NEWTON_STEPS = 8  # of Newton's method towards each step's end


@public
def selected_posture(model: Model, joints: Sequence[str], positions: ArrayLike, q: ArrayLike | None = None, *,
                     motors: Sequence[str] | None = None, limits: bool = True) -> np.ndarray:
    """Closed postures with the selected passive joints at given positions; all other independent coordinates rest.

    Continuation as in the Kangaroo paper, eq. (22). Each step moves the selected joints, the motors by (P J_m)^-1, and all other
    joints by the closed steps of a sweep. So the assembly mode of the start is kept, and the way ends at singularities.

    Args:
        positions: (..., n) array of the selected joints, rad or m.
        limits: Motors must stay within their strokes and selected joints within their stops.
    Returns: (..., nq) array, closed postures.
    Raises: InputError as transmission, for a ball, and with `limits` for positions beyond a stop or a stroke. LinkageError for a
    start that is open or singular, or joints that do not determine the motors. AssemblyError for a position that is not
    reached."""
    model = model.tree
    chosen = select(model, joints, motors)
    start = partition(model, q).q  # refuses open and singular postures
    place = q_of_v(model)[chosen.coordinates]
    if (place < 0).any():
        ball = next(n for n in chosen.joints if model.joint(n).nq != model.joint(n).nv)
        raise InputError(f"joint {ball!r} ({model.joint(ball).kind}) has no position of one number a coordinate", joint=ball)
    wanted = check_size("positions", positions, len(place), f"one for each of {list_names(joints)}")
    targets = wanted.reshape(-1, len(place))
    cure = "take a position within its range, or pass limits=False"
    if limits:
        check_range(model, chosen.coordinates, targets, "joint {!r} has its target", cure)
    p = close_loops(model)
    check_determined(model, chosen, _selected(p, chosen, start[None])[0])
    found, reached = _continue_to(p, chosen, place, start, targets)
    if not reached.all():
        at = int(np.argmin(reached))
        where = f" (target {at} of {len(targets)})" if len(targets) > 1 else ""
        got = ", ".join(f"{n} {x:.4g} of {y:.4g}" for n, x, y in zip(chosen.joints, found[at, place], targets[at]))
        raise AssemblyError(
            f"{model.name!r} does not reach the target positions{where} without crossing a singularity; it gets to {got} (rad "
            "or m). Take nearer targets, or start from a posture in the assembly mode that you mean (q=)", index=at,
            q=found[at], joints=chosen.joints)
    if limits:
        moving = np.setdiff1d(chosen.split.independent[chosen.motor_columns], np.flatnonzero(q_of_v(model) < 0))
        check_range(model, moving, found[:, q_of_v(model)[moving]], "motor {!r} would have to stand", cure)
    return found.reshape(*wanted.shape[:-1], model.nq)


def _continue_to(p: Model, chosen: Selection, place: np.ndarray, start: np.ndarray,
                 targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(q (n, nq), reached (n,)): the postures at targets (n, k), or where continuation ended."""
    q, reached = np.repeat(start[None], len(targets), axis=0), np.ones(len(targets), bool)
    count = max(1, int(np.ceil(np.abs(targets - start[place]).max(initial=0.0) / SELECTED_JOINT_STEP)))
    signs = np.linalg.slogdet(_selected(p, chosen, q))[0]  # of det P J_m
    for s in np.arange(1, count + 1) / count:
        wanted = start[place] + s * (targets - start[place])
        for _ in range(NEWTON_STEPS):
            miss = wanted - q[:, place]
            far = np.flatnonzero(reached & (np.abs(miss).max(axis=1) > SELECTED_POSITION_TOLERANCE))
            if not len(far):
                break
            A = _selected(p, chosen, q[far])
            regular = smallest_values(A) > MIN_SINGULAR_VALUE
            reached[far[~regular]] = False
            far, A = far[regular], A[regular]
            du = np.zeros((len(far), p.nv))
            du[:, chosen.motor_columns] = np.linalg.solve(A, miss[far][..., None])[..., 0]
            moved, fine = step_closed(p, q[far], du)
            q[far[fine]] = moved[fine]
            reached[far[~fine]] = False
        reached &= np.abs(wanted - q[:, place]).max(axis=1) <= SELECTED_POSITION_TOLERANCE
        on = np.flatnonzero(reached)
        reached[on] = np.linalg.slogdet(_selected(p, chosen, q[on]))[0] == signs[on]
    return q, reached


def _selected(p: Model, chosen: Selection, q: np.ndarray) -> np.ndarray:
    """P J_m (n, k, k)."""
    return motion_map(p.tree, reduction_of(p).split, q)[:, chosen.coordinates[:, None], chosen.motor_columns]
