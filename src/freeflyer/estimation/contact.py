"""Contact wrenches of a robot at rest from its motors' forces. papers/000, section VI-B, (43)-(46).

    tau - g_a - J_m^T g_u = -J_cm^T F

The sought forces at points are those of the least sum of squares that explain the motors: the pseudo-inverse is that of
minimum norm. Wrenches of rigid feet span them, so only as many unknowns are solved for as the feet can feel: 12 for two
soles, from 12 motors, whatever the number of points, and the wrenches do not depend on how points share them.
`method="balanced"` also uses the six equations of the base, exactly: what the base needs, the feet give; motors then count
by least squares of their forces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.closed import refusals
from freeflyer.dynamics.closed.closing import q_of_v
from freeflyer.dynamics.closed.errors import LinkageError
from freeflyer.dynamics.closed.linkage import linkage
from freeflyer.dynamics.frames import frame_pose
from freeflyer.errors import InputError
from freeflyer.estimation.feet import Foot, checked_feet, point_basis
from freeflyer.estimation.sensing import block_lists
from freeflyer.kernels import estimator as K
from freeflyer.model.first_argument import of_model
from freeflyer.model.inputs import check_configuration, real_array, row
from freeflyer.model.model import Model

DETERMINED = 1e-8  # smallest singular value of the motors' view of the feet, relative to the largest


@dataclass(frozen=True, eq=False)
class ContactModel:
    """What the posture q (nq,) says of the feet: the update before the estimation.

    motors (n,): gravity forces at the motors, N or N m. A (n, k): motor forces for each unknown; base, base_view: the
    same of the six base equations. spread (3c, k), resultant (6f, k): point forces and wrenches for each unknown.
    poses (f, 4, 4): of the feet's frames.
    """

    model: Model
    feet: tuple[Foot, ...]
    q: np.ndarray
    motors: np.ndarray
    A: np.ndarray
    base: np.ndarray
    base_view: np.ndarray
    spread: np.ndarray
    resultant: np.ndarray
    poses: np.ndarray


@dataclass(frozen=True, slots=True)
class ContactEstimate:
    """Forces of the ground on the robot: wrenches (f, 6), [force; torque] at the feet's frames, in their axes; forces (c, 3)
    at their points, likewise. N, N m."""

    wrenches: np.ndarray
    forces: np.ndarray


@of_model
def contact_model(model: Model, q: ArrayLike, feet: Sequence[Foot] | None = None) -> ContactModel:
    """Gravity and the feet as motors and base feel them at q (nq,). Feet: those named `..._sole` if None."""
    x = np.array(row(model, "q", q, "q"), order="C")
    if x.ndim != 1:
        raise InputError(f"contact_model takes one posture (nq = {model.nq},), got shape {x.shape}", shape=x.shape)
    check_configuration(model, "q", x, "q")
    if not model.description.actuated:
        raise InputError(f"{model.name!r} does not say which joints have motors: nothing tells what its feet feel")
    standing = checked_feet(model, feet)
    split = linkage(model)
    acting = np.array([model.joint(n).iv for n in model.actuated], dtype=np.int64)
    blocks = block_lists(split, acting, q_of_v(model))
    frames = np.array([len(standing), *(model.frame(f.frame) for f in standing)], np.int64)
    handed = np.empty((1 + 6 * len(standing)) * model.nv)
    quality = K.held_forces_of(model.handle, blocks, frames, x, handed)
    if not quality > 0.0:
        ranked = [b for b in split.blocks if b.rank]
        raise refusals.singular_posture(model, ranked[round(-1.0 - quality)].loops, np.empty(0, np.int64))
    forces = handed.reshape(-1, model.nv)
    bases = [point_basis(np.asarray(f.points, dtype=float)) for f in standing]
    spread, resultant = _diagonal([b[0] for b in bases]), _diagonal([b[1] for b in bases])
    view = forces[1:].T @ resultant
    return ContactModel(
        model, standing, x, forces[0, acting].copy(), np.ascontiguousarray(view[acting]), forces[0, split.base],
        view[split.base], spread, resultant, np.array([frame_pose(model, x, f.frame) for f in standing]),
    )  # fmt: skip


def contact_wrenches(contacts: ContactModel, tau: ArrayLike, method: str = "motors") -> ContactEstimate:
    """The wrenches that explain the motors' forces tau (n,), in the order of `model.actuated`. Errors: LinkageError where
    they do not tell the wrenches; InputError for wrong shapes and numbers."""
    c = contacts
    t = tau if type(tau) is np.ndarray and tau.dtype == np.float64 and tau.flags.c_contiguous else real_array("tau", tau).copy()
    n, k = c.A.shape
    if t.shape != (n,):
        raise InputError(f"tau has shape {t.shape}, expected ({n},): a force for each of {refusals.listed(c.model.actuated)}")
    forces, wrenches = np.empty((c.spread.shape[0] // 3, 3)), np.empty((len(c.feet), 6))
    if method == "motors" and n == k:
        ratio = K.contact_solve(
            c.A.reshape(-1), c.spread.reshape(-1), c.resultant.reshape(-1), c.motors, t, forces.reshape(-1), wrenches.reshape(-1)
        )
        if ratio > 0.0 and np.isfinite(wrenches).all():
            return ContactEstimate(wrenches, forces)
    if not np.isfinite(t).all():
        at = int(np.flatnonzero(~np.isfinite(t))[0])
        raise InputError(f"tau[{at}] (joint {c.model.actuated[at]!r}) is {t[at]}: every entry must be finite")
    if method == "motors":
        y = _told_by_motors(c, c.motors - t)
    elif method == "balanced":
        y = _balanced(c, c.motors - t)
    else:
        raise InputError(f"method must be 'motors' or 'balanced', got {method!r}", method=method)
    return ContactEstimate((c.resultant @ y).reshape(-1, 6), (c.spread @ y).reshape(-1, 3))


def _told_by_motors(c: ContactModel, b: np.ndarray) -> np.ndarray:
    """Least squares with more motors than unknowns, minimum norm with fewer; never of lower rank than either allows."""
    y, _, _, values = np.linalg.lstsq(c.A, b, rcond=None)
    if values[-1] <= DETERMINED * values[0]:
        raise _undetermined(c)
    return y


def _balanced(c: ContactModel, b: np.ndarray) -> np.ndarray:
    if not len(c.base):
        raise InputError(f"the base of {c.model.name!r} is fixed: it has no equations to use; take method='motors'")
    k, m = c.A.shape[1], len(c.base)
    values = np.linalg.svd(np.vstack([c.A, c.base_view]), compute_uv=False)
    if len(values) < k or values[-1] <= DETERMINED * values[0] or np.linalg.matrix_rank(c.base_view) < m:
        raise _undetermined(c)
    K_ = np.block([[c.A.T @ c.A, c.base_view.T], [c.base_view, np.zeros((m, m))]])
    return np.linalg.solve(K_, np.concatenate([c.A.T @ b, c.base]))[:k]


def _undetermined(c: ContactModel) -> LinkageError:
    return LinkageError(
        f"the motors of {c.model.name!r} do not tell the wrenches at {refusals.listed(f.frame for f in c.feet)} in this posture "
        "(a stretched leg, or more feet than motors feel): name fewer feet, or move",
        feet=tuple(f.frame for f in c.feet),
    )  # fmt: skip


def _diagonal(blocks: list[np.ndarray]) -> np.ndarray:
    made = np.zeros((sum(b.shape[0] for b in blocks), sum(b.shape[1] for b in blocks)))
    i = j = 0
    for b in blocks:
        made[i : i + b.shape[0], j : j + b.shape[1]] = b
        i, j = i + b.shape[0], j + b.shape[1]
    return made
