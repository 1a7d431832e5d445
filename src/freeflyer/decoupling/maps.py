"""Maps T_x, T_y of velocities with their rates: decoupling thesis, eqs. (3.80), (3.95)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.decoupling.base import b, base_pose, check_floating
from freeflyer.decoupling.momenta import CENTER, moving_frame
from freeflyer.dynamics.equations import coriolis_matrix, mass_matrix
from freeflyer.errors import InputError
from freeflyer.model.inputs import finite_array, finite_row
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.spatial import se3
from freeflyer.text import short_repr
from freeflyer.tolerances import SINGULAR_MAP


class Map(NamedTuple):
    """A matrix that maps velocities, and its rate of change, for `decouple`.

    Attributes:
        matrix: (..., k, k) array.
        rate: (..., k, k) array.

    Examples:
        >>> model = ff.robots.space_manipulator()
        >>> q, v = model.neutral, np.ones(model.nv)
        >>> A = ff.decoupling.frame_map(model, q, v)
        >>> d = ff.decoupling.decouple(model, q, v, T_x=A)
        >>> d.C_xy.shape
        (6, 7)
    """

    matrix: np.ndarray
    rate: np.ndarray

    def __repr__(self) -> str:
        return short_repr(self)


@public
def frame_map(model: Model, q: ArrayLike, v: ArrayLike, *, frame: str = CENTER) -> Map:
    """A_cb and its rate A_cb a_cb: with it as T_x, v_x is the locked velocity in the axes of a frame c, at its origin.

    Args:
        frame: See locked_velocity; the default is the centre of mass in world axes.
    Returns: Map of twists [linear; angular].
    Raises: InputError, UnknownNameError as locked_velocity.
    Source: decoupling thesis, eq. (3.95).

    Examples:
        >>> model = ff.robots.space_manipulator()
        >>> q, v = model.neutral, np.ones(model.nv)
        >>> A = ff.decoupling.frame_map(model, q, v)
        >>> locked = A.matrix @ ff.decoupling.locked_velocity(model, q, v)
        >>> bool(np.allclose(locked[:3], ff.center_of_mass_velocity(model, q, v)))
        True
    """
    check_floating(model)
    v = finite_row(model, "v", v, "u")
    A, a_cb = _adjoint_and_bracket(model, q, v, frame)
    return Map(A, A @ a_cb)


@public
def momentum_map(model: Model, q: ArrayLike, v: ArrayLike, *, frame: str = CENTER) -> Map:
    """A_cb^-T M_bb and its rate: with it as T_x, v_x is the total momentum in a frame c.

    Args:
        frame: See locked_velocity; the default is the centre of mass in world axes.
    Returns: Map of twists of the base to momenta [linear; angular].
    Raises: InputError, UnknownNameError as locked_velocity.
    Source: decoupling thesis, Propositions 3.3.1 and 3.3.2: in frames in which the momentum is conserved, C_x v_x + C_xy v_y
    vanishes. In the Hamel form C_x itself vanishes for the frame "world" alone: about the centre of mass Adot_cb = A_cb a_ib
    does not hold.

    Examples:
        >>> model = ff.robots.space_manipulator()
        >>> q, v = model.neutral, np.ones(model.nv)
        >>> d = ff.decoupling.decouple(model, q, v, T_x=ff.decoupling.momentum_map(model, q, v))
        >>> h = (d.T @ v)[:6]
        >>> bool(np.allclose(h, ff.centroidal_momentum(model, q, v))), bool(np.allclose(d.C_x @ h, 0.0))
        (True, True)
    """
    check_floating(model)
    v = finite_row(model, "v", v, "u")
    A, a_cb = _adjoint_and_bracket(model, q, v, frame)
    M, C = mass_matrix(model, q)[..., b, b], coriolis_matrix(model, q, v)[..., b, b]
    dual = np.swapaxes(np.linalg.inv(A), -1, -2)
    return Map(dual @ M, dual @ (C + np.swapaxes(C, -1, -2) - np.swapaxes(a_cb, -1, -2) @ M))


def _adjoint_and_bracket(model: Model, q: ArrayLike, v: np.ndarray, frame: str) -> tuple[np.ndarray, np.ndarray]:
    """A_cb, and a_cb of the base's twist relative to frame c, in the base's axes."""
    X_WC, twist = moving_frame(model, q, v, frame)
    A = se3.adjoint(se3.inverse(X_WC) @ base_pose(model, q))
    relative = v[..., b] - np.linalg.solve(A, twist[..., None])[..., 0]
    return A, se3.ad(relative)


def checked_map(name: str, given: Any, k: int) -> Map:
    """A map of `decouple`: its matrix (..., k, k), or a tuple (matrix, rate); a matrix alone is constant."""
    pair = given if isinstance(given, tuple) else (given, None)
    if len(pair) != 2:
        raise InputError(f"{name} must be a matrix or the tuple (matrix, its rate), got a tuple of {len(pair)}")
    T = _square(name, pair[0], k)
    rate = np.zeros((k, k)) if pair[1] is None else _square(f"the rate of {name}", pair[1], k)
    if k and T.size:
        # a unit of its own for each row and column: what is left is no matter of units
        size = np.maximum(np.abs(T).max(-1, keepdims=True), np.finfo(float).tiny)
        even = T / size
        across = np.maximum(np.abs(even).max(-2, keepdims=True), np.finfo(float).tiny)
        condition = float(np.max(np.linalg.cond(even / across)))
        if not condition < SINGULAR_MAP:
            raise InputError(
                f"{name} is singular (condition number {condition:.1e} with rows and columns of length 1): v_x and v_y must "
                "determine the velocities. Choose rows that do not depend on each other", condition=condition,
            )  # fmt: skip
    return Map(T, rate)


def _square(name: str, x: Any, k: int) -> np.ndarray:
    A = finite_array(name, x)
    if A.shape[-2:] != (k, k):
        raise InputError(f"{name} must have shape (..., {k}, {k}), got {A.shape}", shape=A.shape)
    return A
