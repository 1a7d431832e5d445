"""Decoupled equations of motion of a floating robot: decoupling thesis, section 3.3 and appendix A.1."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.decoupling.base import BASE, FORMS, Form, b, base_map, check_floating, coriolis_matrix, joints
from freeflyer.decoupling.momenta import Map, checked_map
from freeflyer.dynamics import mass_matrix
from freeflyer.dynamics.evaluate import evaluate, leading_axes
from freeflyer.errors import InputError, format_value
from freeflyer.kernels import entries as E
from freeflyer.model import Model, explain, finite_row, public
from freeflyer.text import shown_short
from freeflyer.tolerances import CONSERVED_RATIO

ENTRIES = {"hamel": E.DECOUPLED_HAMEL, "passive": E.DECOUPLED_PASSIVE}
MapLike = ArrayLike | Map | tuple[ArrayLike, ArrayLike] | None


@shown_short
class Decoupled(NamedTuple):
    """Decoupled equations of motion M_T d(v_x, v_y)/dt + C_T (v_x, v_y) = T^-T tau, as `decouple` returns them.

    v_x = T_x (nu_b + M_bb^-1 M_bq qdot), v_y = T_y qdot. The blocks are properties, views of these arrays: M_x, C_x (..., 6, 6),
    M_y, C_y (..., n, n), C_xy (..., 6, n), C_yx (..., n, 6); so are the transform T and its rate T_rate.

    Attributes:
        mass_matrix, coriolis_matrix: (..., nv, nv) array, M_T, symmetric, with blocks M_x and M_y on its diagonal; C_T.
        base_map, base_map_rate: (..., 6, nv) array, the first rows of T, [T_x, T_x M_bb^-1 M_bq], and their rate of change.
        joint_map, joint_map_rate: (..., n, n) array or None, T_y and its rate; None for the unit matrix, and for zero."""

    mass_matrix: np.ndarray
    coriolis_matrix: np.ndarray
    base_map: np.ndarray
    base_map_rate: np.ndarray
    joint_map: np.ndarray | None = None
    joint_map_rate: np.ndarray | None = None

    @property
    def M_x(self) -> np.ndarray:
        return self.mass_matrix[..., b, b]

    @property
    def M_y(self) -> np.ndarray:
        return self.mass_matrix[..., joints, joints]

    @property
    def C_x(self) -> np.ndarray:
        return self.coriolis_matrix[..., b, b]

    @property
    def C_xy(self) -> np.ndarray:
        """(..., 6, n): zero in the Hamel form."""
        return self.coriolis_matrix[..., b, joints]

    @property
    def C_yx(self) -> np.ndarray:
        return self.coriolis_matrix[..., joints, b]

    @property
    def C_y(self) -> np.ndarray:
        return self.coriolis_matrix[..., joints, joints]

    @property
    def T(self) -> np.ndarray:
        """(..., nv, nv), the transform (3.80): (v_x, v_y) = T v, and tau = T^T (F_x, F_y)."""
        n = self.mass_matrix.shape[-1] - BASE
        return _whole(self.base_map, np.eye(n) if self.joint_map is None else self.joint_map)

    @property
    def T_rate(self) -> np.ndarray:
        """(..., nv, nv), the rate of change of T: (A.3)."""
        n = self.mass_matrix.shape[-1] - BASE
        return _whole(self.base_map_rate, np.zeros((n, n)) if self.joint_map_rate is None else self.joint_map_rate)


def _whole(top: np.ndarray, joint: np.ndarray) -> np.ndarray:
    lead = np.broadcast_shapes(top.shape[:-2], joint.shape[:-2])
    T = np.zeros((*lead, top.shape[-1], top.shape[-1]))
    T[..., b, :], T[..., joints, joints] = top, joint
    return T


def decouple(model: Model, q: ArrayLike, v: ArrayLike, *, T_x: MapLike = None, T_y: MapLike = None,
             form: Form = "hamel") -> Decoupled:
    """Equations of motion in v_x = T_x (nu_b + M_bb^-1 M_bq qdot) and v_y = T_y qdot, whose mass matrix is block-diagonal.

    Decoupling thesis, eqs. (3.77), (3.80), (A.4), (A.5). The paper's (A.4a) has T_x^-1 and T_x^-T the wrong way round, its (3.84)
    lacks the sign of -C_xy^T, and Propositions 3.3.1 and 3.3.2 disagree about T_y. Here the term is -M_y Tdot_y T_y^-1, as in
    (A.5d). Without maps a tree is one compiled call in the forms "hamel" and "passive". If joints share a coordinate, or loops
    are closed, q are the independent velocities.

    Args:
        T_x: (..., 6, 6) array or tuple, constant, or a tuple (T_x, its rate), as frame_map and momentum_map return it. None: the
            unit matrix; v_x is then the locked velocity in the base's axes.
        T_y: (..., n, n) array or tuple, the same of the joints.
        form: "hamel", "newton-euler" or "passive". Which Coriolis matrix is transformed, as in coriolis_matrix. "hamel": C_xy =
            0, Proposition 3.3.1. The others are passive: C_xy = -C_yx^T, Mdot_T = C_T + C_T^T. Proposition 3.3.2 is about
            "newton-euler", (3.82); "passive" is faster.
    Raises: InputError also for singular maps."""
    try:
        found = _decoupled(model, q, v, form)
        return found if T_x is None and T_y is None else _mapped(found, T_x, T_y)
    except Exception as error:
        explain(error, decouple, locals())
        raise


def _decoupled(model: Model, q: ArrayLike, v: ArrayLike, form: Form) -> Decoupled:
    """For T_x = 1, T_y = 1."""
    if not isinstance(form, str) or form not in FORMS:
        raise InputError(f"form must be 'hamel', 'newton-euler' or 'passive', got {format_value(form)}", form=form)
    if model.reduction or form not in ENTRIES:
        check_floating(model)
        return _by_blocks(model, q, v, form)
    entry = ENTRIES[form]
    found = entry.call(model.handle, q, v, None)
    if found is None:
        check_floating(model)
        found = evaluate(entry, model, (q, v), ("q", "v"))
    if found[2].size and found[2].item(0) != 1.0:  # [1, N]; the compiled code leaves zeros where nothing floats
        check_floating(model)
    return Decoupled(*found)


def _by_blocks(model: Model, q: ArrayLike, v: ArrayLike, form: Form) -> Decoupled:
    """(A.4), (A.5) of any mass and Coriolis matrix."""
    v = finite_row(model, "v", v, "u")
    M, C = mass_matrix(model, q), coriolis_matrix(model, q, v, form)
    P = coriolis_matrix(model, q, v) if form == "hamel" else C
    rate = P + np.swapaxes(P, -1, -2)
    top = base_map(M)
    N = top[..., joints]
    NT, n = np.swapaxes(N, -1, -2), model.nv - BASE
    R = rate[..., b, joints] - rate[..., b, b] @ N
    W = C[..., b, joints] - C[..., b, b] @ N
    top_rate = np.zeros(np.broadcast_shapes(top.shape, R.shape[:-2] + top.shape[-2:]))
    top_rate[..., joints] = np.linalg.solve(M[..., b, b], R)
    M_T, C_T = np.zeros_like(C), np.zeros_like(C)
    M_y = M[..., joints, joints] - M[..., joints, b] @ N
    M_T[..., b, b], M_T[..., joints, joints] = M[..., b, b], 0.5 * (M_y + np.swapaxes(M_y, -1, -2))
    C_T[..., b, b] = C[..., b, b]
    C_T[..., b, joints] = np.zeros((BASE, n)) if form == "hamel" else W - R  # Proposition 3.3.1
    C_T[..., joints, b] = C[..., joints, b] - NT @ C[..., b, b]
    C_T[..., joints, joints] = C[..., joints, joints] - C[..., joints, b] @ N - NT @ W
    top = np.concatenate([np.broadcast_to(np.eye(BASE), (*N.shape[:-1], BASE)), N], -1)
    return Decoupled(M_T, C_T, np.broadcast_to(top, top_rate.shape).copy(), top_rate)


def _mapped(d: Decoupled, T_x: Any, T_y: Any) -> Decoupled:
    """(3.77) with diag(T_x, T_y)."""
    n = d.mass_matrix.shape[-1] - BASE
    x = Map(np.eye(BASE), np.zeros((BASE, BASE))) if T_x is None else checked_map("T_x", T_x, BASE)
    y = None if T_y is None else checked_map("T_y", T_y, n)
    given = {"the mass matrix": d.mass_matrix, "T_x": x.matrix, "the rate of T_x": x.rate}
    given |= {} if y is None else {"T_y": y.matrix, "the rate of T_y": y.rate}
    lead = leading_axes(list(given.values()), [2] * len(given), list(given))
    whole, rate = np.zeros((*lead, n + BASE, n + BASE)), np.zeros((*lead, n + BASE, n + BASE))
    whole[..., b, b], rate[..., b, b] = np.linalg.inv(x.matrix), x.rate
    whole[..., joints, joints] = np.eye(n) if y is None else np.linalg.inv(y.matrix)
    if y is not None:
        rate[..., joints, joints] = y.rate
    back = np.swapaxes(whole, -1, -2)
    M = back @ d.mass_matrix @ whole
    M = 0.5 * (M + np.swapaxes(M, -1, -2))
    C = back @ d.coriolis_matrix @ whole - M @ rate @ whole
    top_rate = x.rate @ d.base_map + x.matrix @ d.base_map_rate
    return Decoupled(M, C, x.matrix @ d.base_map, top_rate, None if y is None else y.matrix, None if y is None else y.rate)


@shown_short
class Invariance(NamedTuple):
    """Coupling of the base's equation to the joints, as `invariance` returns it.

    Attributes:
        residual, coupling: (..., 6) array, C_x v_x + C_xy v_y, and C_xy v_y alone.
        invariant, decoupled: (...) bool array; whether they are zero to rounding. If invariant, v_x does not change without
            forces."""

    residual: np.ndarray
    coupling: np.ndarray
    invariant: np.ndarray
    decoupled: np.ndarray


@public
def invariance(model: Model, q: ArrayLike, v: ArrayLike, *, T_x: MapLike = None, T_y: MapLike = None,
               form: Form = "hamel") -> Invariance:
    """Test whether C_x v_x + C_xy v_y = 0 (invariance), or C_xy v_y = 0 alone (decoupling), in decoupled equations.

    Source: decoupling thesis, section 1.3.1 and (3.85)."""
    d = decouple(model, q, v, T_x=T_x, T_y=T_y, form=form)
    v = finite_row(model, "v", v, "u")
    y = np.einsum("...ij,...j->...i", d.T, v)
    own, coupling = np.einsum("...ij,...j->...i", d.C_x, y[..., b]), np.einsum("...ij,...j->...i", d.C_xy, y[..., joints])
    # what the terms are made of, before they cancel: forces of inertia on the base, in the coordinates of v_x
    plain, length = _decoupled(model, q, v, form), np.linalg.norm
    inverse = length(np.linalg.inv(d.base_map[..., b]), axis=(-2, -1))
    forces = length(plain.M_x, axis=(-2, -1)) * length(plain.base_map @ v[..., None], axis=(-2, -1)) * length(v, axis=-1)
    rate = length(d.M_x, axis=(-2, -1)) * length(d.base_map_rate, axis=(-2, -1)) * length(v, axis=-1)
    size = inverse * (forces + length(plain.C_xy, axis=(-2, -1)) * length(v, axis=-1)) + rate
    residual = own + coupling
    return Invariance(residual, coupling, length(residual, axis=-1) <= CONSERVED_RATIO * size,
        length(coupling, axis=-1) <= CONSERVED_RATIO * size)
