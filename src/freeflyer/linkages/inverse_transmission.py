"""Inverse transmission: motor velocities, accelerations and forces for given motions of, and forces at, selected passive joints.

papers/000, (20)-(23). As many passive coordinates as motors are selected by P (21). With P J_m square, J_m = -J_u^-1 J_a,

    qdot = P theta_u_dot               motors = (P J_m)^-1 qdot                          (22)
    tau = J_m^T P^T tau_selected       tau_selected = (J_m^T P^T)^-1 tau                 (23)

Both directions keep power, tau . motors = tau_selected . qdot. What else is independent (the base, springs, motors that were left
out) rests or moves as given by `others`; it never takes part in the inverse."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import InputError
from freeflyer.linkages.closed.calls import motion, velocity_map
from freeflyer.linkages.closed.closing import close_loops
from freeflyer.linkages.graph import structure
from freeflyer.linkages.refusals import list_names
from freeflyer.linkages.selection import Selection, check_determined, select
from freeflyer.model.inputs import real_array
from freeflyer.model.model import Model
from freeflyer.model.public import public


@public
def selected_jacobian(model: Model, q: ArrayLike, joints: Sequence[str], motors: Sequence[str] | None = None) -> np.ndarray:
    """Jacobian P J_m: velocities of the selected joints for those of the motors.

    Args:
        q: (..., nq) array, closed.
        joints: Passive joints that the loops determine, with as many coordinates as the motors.
        motors: By default all, in the order of model.actuated.
    Returns: (..., n, n) array, rows and columns in the order in which joints and motors are named; m/s and rad/s, for each motor's
    velocity of one.

    Raises:
        InputError: For a model without loops, a name given twice, a selected joint that has a motor, is the base or is determined
            by no loop, a motor that is none, and another number of coordinates than the motors have.
        LinkageError: In open and singular postures of the loops.

    Examples:
        >>> robot = ff.robots.kangaroo_like()
        >>> ankle = ["left_ankle_pitch", "left_ankle_roll"]
        >>> motors = ["left_ankle_outer_motor", "left_ankle_inner_motor"]
        >>> np.round(ff.linkages.selected_jacobian(robot, robot.neutral, ankle, motors), 1).tolist()  # rad/m
        [[14.3, 14.3], [20.6, -20.6]]
    """
    model = model.tree
    chosen = select(model, joints, motors)
    return _select_rows(chosen, velocity_map(close_loops(model), q))


@public
def motor_velocities(
    model: Model, q: ArrayLike, joints: Sequence[str], velocities: ArrayLike, *, motors: Sequence[str] | None = None,
    others: ArrayLike | None = None,
) -> np.ndarray:  # fmt: skip
    """Velocities of the motors that give the selected joints the wanted velocities, (..., n), m/s and rad/s.

    Args:
        model, q, joints: As in selected_jacobian.
        velocities: (..., n) array of the selected joints, m/s and rad/s.
        motors: As in selected_jacobian.
        others: (..., nu - n) array, velocities of all other independent coordinates, in tree order; without them they rest.

    Raises:
        UnknownNameError, InputError: As selected_jacobian; InputError as well for wrong shapes, NaN and infinities.
        LinkageError: Where the selected joints do not determine the motors, with their names; in open and singular postures.
    Source: papers/000 (22).

    Examples:
        >>> robot = ff.robots.kangaroo_like()
        >>> ankle = ["left_ankle_pitch", "left_ankle_roll"]
        >>> motors = ["left_ankle_outer_motor", "left_ankle_inner_motor"]
        >>> rates = ff.linkages.motor_velocities(robot, robot.neutral, ankle, [0.3, 0.0], motors=motors)
        >>> np.round(rates, 4).tolist()  # m/s: pitch moves both alike
        [0.0105, 0.0105]
    """
    model = model.tree
    chosen, p = select(model, joints, motors), close_loops(model)
    u = _check_others(model, chosen, "others", others)
    wanted = _check_requested(chosen, "velocities", velocities)
    G = velocity_map(p, q)
    _fit(("q", G, 2), ("velocities", wanted, 1), ("others", u, 1))
    return _solve(model, chosen, _select_rows(chosen, G), wanted - _rows(chosen, G, u))


@public
def motor_accelerations(
    model: Model, q: ArrayLike, joints: Sequence[str], velocities: ArrayLike, accelerations: ArrayLike, *,
    motors: Sequence[str] | None = None, others: ArrayLike | None = None, others_rates: ArrayLike | None = None,
) -> np.ndarray:  # fmt: skip
    """Accelerations of the motors that give the selected joints the wanted accelerations at their velocities.

    (P J_m)^-1 (qddot - P J_mdot u): papers/000 (22), differentiated.

    Args:
        model, q, joints: As in selected_jacobian.
        velocities, accelerations: (..., n) array of the selected joints, m/s and rad/s, m/s^2 and rad/s^2.
        motors: As in selected_jacobian.
        others, others_rates: (..., nu - n) array, velocities and accelerations of all other independent coordinates, in tree order;
            without them zero.
    Returns: (..., n) array, m/s^2 and rad/s^2.
    Raises: UnknownNameError, InputError, LinkageError as motor_velocities.

    Examples:
        >>> robot = ff.robots.kangaroo_like()
        >>> ankle = ["left_ankle_pitch", "left_ankle_roll"]
        >>> motors = ["left_ankle_outer_motor", "left_ankle_inner_motor"]
        >>> q = ff.linkages.selected_posture(robot, ankle, [0.3, 0.0], motors=motors)
        >>> a = ff.linkages.motor_accelerations(robot, q, ankle, [1.0, 0.0], [0.0, 0.0], motors=motors)
        >>> np.round(a, 3).tolist()  # m/s^2 at a constant rate of 1 rad/s: the transmission's ratio changes
        [-0.012, -0.012]
    """
    model = model.tree
    chosen, p = select(model, joints, motors), close_loops(model)
    u, u_dot = _check_others(model, chosen, "others", others), _check_others(model, chosen, "others_rates", others_rates)
    wanted = _check_requested(chosen, "accelerations", accelerations)
    rates = motor_velocities(model, q, joints, velocities, motors=motors, others=others)
    _fit(("q and velocities", rates, 1), ("accelerations", wanted, 1), ("others", u, 1), ("others_rates", u_dot, 1))
    whole = np.zeros((*np.broadcast_shapes(rates.shape[:-1], u.shape[:-1]), p.nv))
    whole[..., chosen.motor_columns], whole[..., chosen.other_columns] = rates, u
    drift = motion(p, q, whole)[1][..., chosen.coordinates]
    G = velocity_map(p, q)
    return _solve(model, chosen, _select_rows(chosen, G), wanted - drift - _rows(chosen, G, u_dot))


@public
def motor_forces(
    model: Model, q: ArrayLike, joints: Sequence[str], forces: ArrayLike, *, motors: Sequence[str] | None = None
) -> np.ndarray:
    """Forces at the motors that do what given forces do at the selected joints, (..., n), N and N m.

    J_m^T P^T tau: papers/000 (20). They do the same power in every motion of the motors; on independent joints that are not in
    `motors` act reduce_forces.

    Args:
        model, q, joints: As in selected_jacobian.
        forces: (..., n) array at the selected joints, N and N m.
        motors: As in selected_jacobian.
    Raises: UnknownNameError, InputError, LinkageError as selected_jacobian; InputError as well for wrong shapes, NaN and
    infinities.

    Examples:
        >>> robot = ff.robots.kangaroo_like()
        >>> ankle = ["left_ankle_pitch", "left_ankle_roll"]
        >>> motors = ["left_ankle_outer_motor", "left_ankle_inner_motor"]
        >>> forces = ff.linkages.motor_forces(robot, robot.neutral, ankle, [100.0, 0.0], motors=motors)
        >>> np.round(forces).astype(int).tolist()  # N for 100 N m of pitch
        [1429, 1429]
    """
    model = model.tree
    wanted, A = _check_requested(select(model, joints, motors), "forces", forces), selected_jacobian(model, q, joints, motors)
    _fit(("q", A, 2), ("forces", wanted, 1))
    found: np.ndarray = np.einsum("...ji,...j->...i", A, wanted)
    return found


@public
def selected_forces(
    model: Model, q: ArrayLike, joints: Sequence[str], forces: ArrayLike, *, motors: Sequence[str] | None = None
) -> np.ndarray:
    """Forces at the selected joints that do what given forces of the motors do, (..., n), N and N m.

    (J_m^T P^T)^-1 tau: papers/000 (23).

    Args:
        model, q, joints: As in selected_jacobian.
        forces: (..., n) array of the motors, N and N m.
        motors: As in selected_jacobian.
    Raises: UnknownNameError, InputError, LinkageError as motor_velocities.

    Examples:
        >>> robot = ff.robots.kangaroo_like()
        >>> ankle = ["left_ankle_pitch", "left_ankle_roll"]
        >>> motors = ["left_ankle_outer_motor", "left_ankle_inner_motor"]
        >>> torques = ff.linkages.selected_forces(robot, robot.neutral, ankle, [1000.0, 1000.0], motors=motors)
        >>> np.round(torques).astype(int).tolist()  # N m of pitch and roll for 1000 N at each motor
        [70, 0]
    """
    model = model.tree
    chosen = select(model, joints, motors)
    wanted, A = _check_requested(chosen, "forces", forces), selected_jacobian(model, q, joints, motors)
    _fit(("q", A, 2), ("forces", wanted, 1))
    return _solve(model, chosen, A, wanted, transposed=True)


def _select_rows(chosen: Selection, G: np.ndarray) -> np.ndarray:
    part: np.ndarray = G[..., chosen.coordinates[:, None], chosen.motor_columns]
    return part


def _rows(chosen: Selection, G: np.ndarray, u: np.ndarray) -> np.ndarray:
    """What the selected joints do (..., n) when the others move by u (..., nu - n)."""
    found: np.ndarray = np.einsum("...ij,...j->...i", G[..., chosen.coordinates[:, None], chosen.other_columns], u)
    return found


def _check_requested(chosen: Selection, name: str, x: ArrayLike) -> np.ndarray:
    return _finite(name, x, len(chosen.coordinates), "one for each selected coordinate: " + list_names(chosen.joints))


def _check_others(model: Model, chosen: Selection, name: str, x: ArrayLike | None) -> np.ndarray:
    if x is None:
        return np.zeros(len(chosen.other_columns))
    owner = structure(model).owner
    rest = [owner[i] for i in chosen.split.independent[chosen.other_columns]]
    whose = f": those of {list_names(rest)}" if rest else ""
    return _finite(name, x, len(rest), f"all independent coordinates but the motors'{whose}")


def _finite(name: str, x: ArrayLike, n: int, what: str) -> np.ndarray:
    array = real_array(name, x)
    if not array.ndim or array.shape[-1] != n:
        raise InputError(f"{name} has shape {array.shape}, expected (..., {n}), {what}", name=name, shape=array.shape, expected=n)
    if not np.isfinite(array).all():
        at = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        raise InputError(f"{name}{list(at)} is {array[at]}: every entry must be finite", name=name, index=at)
    return array


def _fit(*arrays: tuple[str, np.ndarray, int]) -> None:
    """InputError unless the batch axes broadcast; each array comes with the number of its own axes."""
    try:
        np.broadcast_shapes(*(x.shape[: x.ndim - own] for _, x, own in arrays))
    except ValueError:
        shown = ", ".join(f"{name} {x.shape[: x.ndim - own]}" for name, x, own in arrays)
        raise InputError(f"the leading (batch) axes do not broadcast together: {shown}") from None


def _solve(model: Model, chosen: Selection, A: np.ndarray, b: np.ndarray, transposed: bool = False) -> np.ndarray:
    check_determined(model, chosen, A)
    A = A.swapaxes(-1, -2) if transposed else A
    found: np.ndarray = np.linalg.solve(A, b[..., None])[..., 0]
    return found
