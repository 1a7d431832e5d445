"""The base b and the joints q of a floating robot: velocities v = (nu_b, qdot), nu_b the base's twist in its own axes. Coriolis
matrices in three forms; that of the Newton-Euler equations, decoupling thesis, eq. (3.41), is the passive one of (3.82)-(3.83):

    sum_j J_j^T (Lambda_j Jdot_j + Psi_j J_j),        Psi_j = Lambda_j a_j - a_j^T Lambda_j skew.

In world axes about one fixed point, where the columns S of J_j have the rates V x S and Jdot_j of the body's axes is Sdot - a_j
S, this is sum_j S^T (Lambda_j Sdot - a_j^T Lambda_j S)."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics import (
    body_twist, equations, frame_jacobian, frame_pose, mass_matrix, motion, project_coriolis, quaternion_blocks, run)
from freeflyer.errors import InputError
from freeflyer.kernels import entries as E
from freeflyer.kernels.model import layout as L
from freeflyer.model import Model, choice, finite_row, public, shaped
from freeflyer.spatial import inertia, se3
from freeflyer.text import shown_short

BASE = 6  # velocities of the base
b, joints = slice(0, BASE), slice(BASE, None)


@shown_short
class Blocks(NamedTuple):
    """Blocks of a matrix (..., nv, nv) in base and joint velocities, as `blocks` returns them.

    Attributes:
        b, bq, qb, q: (..., 6, 6), (..., 6, n), (..., n, 6) and (..., n, n) array."""

    b: np.ndarray
    bq: np.ndarray
    qb: np.ndarray
    q: np.ndarray


@public
def blocks(model: Model, matrix: ArrayLike) -> Blocks:
    """Blocks M_bb, M_bq, M_qb, M_qq, views, of a mass or Coriolis matrix of a floating robot: (2.50), (3.38)."""
    check_floating(model)
    A = shaped("matrix", matrix, ("...", model.nv, model.nv))
    return Blocks(A[..., b, b], A[..., b, joints], A[..., joints, b], A[..., joints, joints])


def floats(model: Model) -> bool:
    """Whether one free joint on the world carries the whole robot, and no loop ties it to the world."""
    T = model.topology
    body = L.HEADER + L.BODY_INTS
    alone = T[L.N_BODIES] > 0 and T[body + L.KIND] == L.FLOATING and T[body + L.LAST_BODY] == T[L.N_BODIES]
    return bool(alone and model.joints[0].nv == BASE and not tied_to_world(model))


def tied_to_world(model: Model) -> bool:
    if not model.reduction:
        return False
    T = model.topology
    body = {name: int(T[T[L.FRAMES_AT] + k]) for k, name in enumerate(model.frame_names)}  # of every frame; 0 is the world
    return any(0 in (body[loop.frame_a], body[loop.frame_b]) for loop in model.loops)


def check_floating(model: Model) -> None:
    if floats(model):
        return
    if tied_to_world(model):
        raise InputError(f"a loop of {model.name!r} is tied to the world: its base is not free, so that its equations do not "
            "decouple", model=model.name)
    roots = [j for j in model.joints if j.kind == "free"]
    found = "; ".join(f"{j.name!r} ({j.kind})" for j in model.joints[:3]) or "no moving joint"
    hint = "several trees stand on the world" if roots and model.joints[0].kind == "free" else f"its first joints are {found}"
    raise InputError(
        f"{model.name!r} does not float: decoupling needs one free joint on the world that carries the whole robot, but {hint}. "
        'Load it with base="free": freeflyer.load(file, base="free"), or load(model.description, base="free")', model=model.name)


def base_map(M: np.ndarray) -> np.ndarray:
    """[1, N] (..., 6, nv), N = M_bb^-1 M_bq, from the mass matrix: nu_b + N qdot is the locked velocity, (3.66)."""
    return np.linalg.solve(M[..., b, b], M[..., b, :])


def base_pose(model: Model, q: ArrayLike) -> np.ndarray:
    """H_ib (..., 4, 4)."""
    return frame_pose(model, q, model.joints[0].child)


def base_map_of(model: Model, q: ArrayLike) -> np.ndarray:
    check_floating(model)
    return base_map(mass_matrix(model, q))


@shown_short
class LinkJacobian(NamedTuple):
    """Link twist Jacobian of a frame, as `link_jacobian` returns it.

    Attributes:
        A_jb, J_jq: (..., 6, 6) and (..., 6, n) array, in the frame's axes: adjoint from the base's axes; twist of the frame
            relative to the base for each joint velocity."""

    A_jb: np.ndarray
    J_jq: np.ndarray


@public
def link_jacobian(model: Model, q: ArrayLike, frame: str) -> LinkJacobian:
    """Link twist Jacobian (2.23), (2.39) of a frame j: nu_j = A_jb nu_b + J_jq qdot, twists in the axes of their frames."""
    check_floating(model)
    J = frame_jacobian(model, q, frame)
    return LinkJacobian(J[..., b], J[..., joints])


def newton_euler_coriolis(model: Model, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    T, P = model.topology, model.parameters
    n = int(T[L.N_BODIES])
    body = T[L.HEADER : L.HEADER + L.BODY_INTS * (n + 1)].reshape(n + 1, L.BODY_INTS)
    number = P[L.BODIES : L.BODIES + L.BODY_FLOATS * (n + 1)].reshape(n + 1, L.BODY_FLOATS)
    column = T[T[L.COLUMNS_AT] : T[L.COORDINATES_AT]].reshape(-1, L.COLUMN_INTS)
    of, coordinate = column[:, L.COLUMN_BODY], column[:, L.COORDINATE]
    poses, motions, columns = run(E.ALL_MOTIONS, model, (q, v), ("q", "v"))
    p = poses[..., 9:] - poses[..., 1:2, 9:]  # from the first body's origin
    V = _at_origin(motions[..., :6], p)  # (..., n + 1, 6)
    S = _at_origin(columns, p[..., of, :])
    rates = np.einsum("...cij,...cj->...ci", se3.ad(V[..., of, :]), S)
    spread = (coordinate[:, None] == np.arange(model.nv)).astype(float)
    C = np.zeros((*S.shape[:-2], model.nv, model.nv))
    for j in range(1, n + 1):
        moved = (of <= j) & (body[of, L.LAST_BODY] >= j)  # the columns that move body j
        J = np.einsum("c,...ci,cv->...iv", moved, S, spread)
        Jdot = np.einsum("c,...ci,cv->...iv", moved, rates, spread)
        R = poses[..., j, :9].reshape(*poses.shape[:-2], 3, 3)
        Lambda = _inertia(number[j], R, p[..., j, :])
        turned = np.swapaxes(se3.ad(V[..., j, :]), -1, -2) @ Lambda
        C += np.swapaxes(J, -1, -2) @ (Lambda @ Jdot - turned @ J)
    return C + _armature(model, np.asarray(v, float))


def _at_origin(V: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Motions at points p as motions at the origin."""
    return np.concatenate([V[..., :3] + np.cross(p, V[..., 3:]), V[..., 3:]], -1)


def _inertia(number: np.ndarray, R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Lambda (..., 6, 6) in world axes about the point from which p leads to the body's origin."""
    turned = R @ number[L.INERTIA + inertia.SYMMETRIC] @ np.swapaxes(R, -1, -2)
    return inertia.matrix(number[L.MASS], p + R @ number[L.COM : L.COM + 3], turned)


def _armature(model: Model, v: np.ndarray) -> np.ndarray:
    """A a - a^T A of joints whose coordinates do not commute: armature A moves as an inertia in the child's axes."""
    C = np.zeros((*v.shape[:-1], model.nv, model.nv))
    for at, part in quaternion_blocks(model):
        a = np.diag(model.armature[at]) @ se3.ad(body_twist(v[..., at]))[..., part, part]
        C[..., at, at] = a - np.swapaxes(a, -1, -2)
    return C


Form = Literal["passive", "hamel", "newton-euler"]
FORMS: tuple[Form, ...] = ("passive", "hamel", "newton-euler")


@public
def coriolis_matrix(model: Model, q: ArrayLike, v: ArrayLike, form: Form = "passive") -> np.ndarray:
    """Coriolis matrix C (..., nv, nv) with C v = bias - gravity forces, in one of three forms; for any robot.

    Proposition 3.1.1: C v is the same in all. For a closed model it is G^T (C G + M Gdot), with v = G u. The rows of the base are
    those of its own Hamel equations. "hamel" and "passive" are compiled, "newton-euler" is written to be read.

    Args:
        form: "passive", "hamel" or "newton-euler". "hamel": decoupling thesis, eq. (3.39), the only one that decouples the base.
            "newton-euler": (3.41), which (3.82) takes for the passive one: Mdot = C + C^T. "passive": as
            freeflyer.coriolis_matrix, Mdot = C + C^T also, of the robot as a cloud of particles."""
    if form != "newton-euler":
        choice("form", form, FORMS)
        return equations.coriolis_matrix(model, q, v, form)
    v = finite_row(model, "v", v, "u")
    if not model.reduction:
        return newton_euler_coriolis(model, q, v)
    C = newton_euler_coriolis(model.tree, q, motion(model, q, v)[0])
    return project_coriolis(model, q, v, C, equations.mass_matrix(model.tree, q))
