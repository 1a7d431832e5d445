"""The base b and the joints q of a floating robot: velocities v = (nu_b, qdot), nu_b the base's twist in its own axes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.equations import mass_matrix
from freeflyer.dynamics.frames import frame_jacobian, frame_pose
from freeflyer.errors import InputError
from freeflyer.kernels.model import layout as L
from freeflyer.model.inputs import finite_array
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.spatial import se3
from freeflyer.text import short_repr

BASE = 6  # velocities of the base
b, joints = slice(0, BASE), slice(BASE, None)


class Blocks(NamedTuple):
    """Blocks of a matrix (..., nv, nv) in base and joint velocities, as `blocks` returns them.

    Attributes:
        b: (..., 6, 6) array.
        bq: (..., 6, n) array.
        qb: (..., n, 6) array.
        q: (..., n, n) array.

    Examples:
        >>> model = ff.robots.space_manipulator()
        >>> M = ff.decoupling.blocks(model, ff.mass_matrix(model, model.neutral))
        >>> M.b.shape, M.bq.shape, M.qb.shape, M.q.shape
        ((6, 6), (6, 7), (7, 6), (7, 7))
    """

    b: np.ndarray
    bq: np.ndarray
    qb: np.ndarray
    q: np.ndarray

    def __repr__(self) -> str:
        return short_repr(self)


@public
def blocks(model: Model, matrix: ArrayLike) -> Blocks:
    """Blocks M_bb, M_bq, M_qb, M_qq of a mass or Coriolis matrix of a floating robot: (2.50), (3.38).

    Args:
        matrix: (..., nv, nv) array.
    Returns: Blocks. Views.
    Raises: InputError for a robot that does not float, and for other shapes.

    Examples:
        >>> model = ff.robots.space_manipulator()
        >>> C = ff.decoupling.coriolis_matrix(model, model.neutral, np.ones(model.nv), "hamel")
        >>> ff.decoupling.blocks(model, C).bq.shape
        (6, 7)
    """
    check_floating(model)
    A = finite_array("matrix", matrix)
    if A.shape[-2:] != (model.nv, model.nv):
        raise InputError(f"matrix must have shape (..., {model.nv}, {model.nv}) for {model.name!r}, got {A.shape}")
    return Blocks(A[..., b, b], A[..., b, joints], A[..., joints, b], A[..., joints, joints])


def floats(model: Model) -> bool:
    """Whether one free joint on the world carries the whole robot, and no loop ties it to the world."""
    T = model.topology
    body = L.HEADER + L.BODY_INTS
    alone = T[L.N_BODIES] > 0 and T[body + L.KIND] == L.FLOATING and T[body + L.LAST_BODY] == T[L.N_BODIES]
    return bool(alone and model.joints[0].nv == BASE and not tied_to_world(model))


def tied_to_world(model: Model) -> bool:
    """Whether a loop of a closed model has one of its frames on the world."""
    if not model.reduction:
        return False
    fixed = frame_bodies(model)
    return any(0 in (fixed[loop.frame_a], fixed[loop.frame_b]) for loop in model.loops)


def frame_bodies(model: Model) -> dict[str, int]:
    """The body of every frame; 0 is the world."""
    T = model.topology
    return {name: int(T[T[L.FRAMES_AT] + k]) for k, name in enumerate(model.frame_names)}


def check_floating(model: Model) -> None:
    """InputError for a robot that does not float on one free joint."""
    if floats(model):
        return
    if tied_to_world(model):
        raise InputError(
            f"a loop of {model.name!r} is tied to the world: its base is not free, so that its equations do not decouple",
            model=model.name,
        )
    roots = [j for j in model.joints if j.kind == "free"]
    found = "; ".join(f"{j.name!r} ({j.kind})" for j in model.joints[:3]) or "no moving joint"
    hint = "several trees stand on the world" if roots and model.joints[0].kind == "free" else f"its first joints are {found}"
    raise InputError(
        f"{model.name!r} does not float: decoupling needs one free joint on the world that carries the whole robot, but {hint}. "
        'Load it with base="free": freeflyer.load(file, base="free"), or load(model.description, base="free")',
        model=model.name,
    )  # fmt: skip


def base_map(M: np.ndarray) -> np.ndarray:
    """[1, N] (..., 6, nv), N = M_bb^-1 M_bq, from the mass matrix: nu_b + N qdot is the locked velocity, (3.66)."""
    return np.linalg.solve(M[..., b, b], M[..., b, :])


def base_pose(model: Model, q: ArrayLike) -> np.ndarray:
    """H_ib (..., 4, 4)."""
    return frame_pose(model, q, model.joints[0].child)


def base_map_of(model: Model, q: ArrayLike) -> np.ndarray:
    """`base_map` at q."""
    check_floating(model)
    return base_map(mass_matrix(model, q))


def frame_from_base(model: Model, q: ArrayLike, frame: str) -> np.ndarray:
    """H_jb (..., 4, 4) of a frame of the robot."""
    return se3.inverse(frame_pose(model, q, frame)) @ base_pose(model, q)


class LinkJacobian(NamedTuple):
    """Link twist Jacobian of a frame, as `link_jacobian` returns it.

    Attributes:
        A_jb: (..., 6, 6) array, adjoint from the base's axes to the frame's.
        J_jq: (..., 6, n) array, twist of the frame relative to the base for each joint velocity, in the frame's axes.

    Examples:
        >>> model = ff.robots.space_manipulator()
        >>> J = ff.decoupling.link_jacobian(model, model.neutral, "end_effector")
        >>> J.A_jb.shape, J.J_jq.shape
        ((6, 6), (6, 7))
    """

    A_jb: np.ndarray
    J_jq: np.ndarray

    def __repr__(self) -> str:
        return short_repr(self)


@public
def link_jacobian(model: Model, q: ArrayLike, frame: str) -> LinkJacobian:
    """Link twist Jacobian (2.23), (2.39) of a frame j: nu_j = A_jb nu_b + J_jq qdot, twists in the axes of their frames.

    Raises: InputError for a robot that does not float.

    Examples:
        >>> model = ff.robots.space_manipulator()
        >>> q, v = model.neutral, np.ones(model.nv)
        >>> J = ff.decoupling.link_jacobian(model, q, "end_effector")
        >>> bool(np.allclose(J.A_jb @ v[:6] + J.J_jq @ v[6:], ff.frame_velocity(model, q, v, "end_effector")))
        True
    """
    check_floating(model)
    J = frame_jacobian(model, q, frame)
    return LinkJacobian(J[..., b], J[..., joints])
