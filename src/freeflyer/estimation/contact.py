"""Contact wrenches of a robot on its feet from its motors' forces, centres of pressure. Kangaroo paper, section VI-B, (43)-(46)."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts import ConstraintSet, Contact, complete_feet, contact_points, express_at, point_basis, widen
from freeflyer.errors import InputError, LinkageError, format_value
from freeflyer.estimation.passive import refuse_state, row_of
from freeflyer.kernels.compiler.calls.running import state, table_handle
from freeflyer.kernels.entries import BALANCED_WRENCHES, CONTACT_UPDATE, MOTOR_WRENCHES
from freeflyer.kernels.entry import OK
from freeflyer.kernels.model.layout import STANDING
from freeflyer.linkages import close_loops, list_names, partition
from freeflyer.model import SMALLEST, Model, choice, finite_array, number, one_row, positive, public, real_array
from freeflyer.text import short_repr
from freeflyer.tolerances import MIN_CONTACT_VIEW_RATIO, MIN_CUTOFF


class Standing(namedtuple("Standing", "model feet handle spread resultant motors base unknowns rest")):
    """The constant data of a robot on its feet. feet; handle: that of the model with the table of the feet, for compiled code.

    spread (3c, k), resultant (6f, k): point forces and wrenches for each unknown, flat. motors (n,), base (m,): their entries of
    v. rest (nv,): zeros."""

    __repr__ = short_repr

    def __reduce__(self) -> Any:
        return make_standing, (self.model, self.feet)


@dataclass(frozen=True, eq=False, slots=True)
class ContactModel:
    """The equations of motors and base that relate contact forces to motor forces at one posture. Made by `contact_model`.

    With y (k,) the coordinates of the contact forces (see spread), motor forces are motors - A y, and base = base_view y.

    Attributes:
        standing: Constants of the posture-independent part, for compiled code.
        q: (nq,) array, configuration of the tree.
        update: (n,) array, posture-dependent part, in the layout of compiled code."""

    standing: Standing
    q: np.ndarray
    update: np.ndarray
    __repr__ = short_repr

    @property
    def model(self) -> Model:
        """The robot, as a tree."""
        return self.standing.model

    @property
    def feet(self) -> tuple[Contact, ...]:
        """Its f feet, their points filled in; c points in all."""
        return self.standing.feet

    @property
    def motors(self) -> np.ndarray:
        """Motor forces (n,) without contacts, N or N m: those of gravity, and of the motion where one was given."""
        return self.update[: len(self.standing.motors)]

    @property
    def A(self) -> np.ndarray:
        """By how much motor forces are smaller (n, k) for each unknown."""
        n, k = len(self.standing.motors), self.standing.unknowns
        return self.update[n : n + n * k].reshape(n, k)

    @property
    def base(self) -> np.ndarray:
        """Generalised forces (m,) that contacts must give on the base, N, N m; m = 0 for a fixed base."""
        at = self._base_at
        return self.update[at : at + len(self.standing.base)]

    @property
    def base_view(self) -> np.ndarray:
        """Generalised forces (m, k) on the base for each unknown."""
        m, k, at = len(self.standing.base), self.standing.unknowns, self._base_at
        return self.update[at + m : at + m + m * k].reshape(m, k)

    @property
    def poses(self) -> np.ndarray:
        """Poses (f, 4, 4) of the feet's frames in the world."""
        return self.update[-16 * len(self.feet) :].reshape(-1, 4, 4)

    @property
    def spread(self) -> np.ndarray:
        """Forces (3c, k) at the points, in the feet's axes, for each unknown: orthonormal columns."""
        return self.standing.spread.reshape(-1, self.standing.unknowns)

    @property
    def resultant(self) -> np.ndarray:
        """Wrenches (6f, k) at the feet's frames, in their axes, for each unknown."""
        return self.standing.resultant.reshape(-1, self.standing.unknowns)

    @property
    def _base_at(self) -> int:
        return len(self.standing.motors) * (1 + self.standing.unknowns)


@dataclass(frozen=True, slots=True)
class ContactEstimate:
    """Forces of the ground on the robot's f feet and their c points.

    Attributes:
        wrenches: (f, 6) array, [force; torque] at the feet's frames, in their axes, N, N m.
        forces: (c, 3) array at the feet's points, in their frames' axes, N: those of the least sum of squares that make the
            wrenches."""

    wrenches: np.ndarray
    forces: np.ndarray


_standing: WeakKeyDictionary[Model, dict[object, Standing]] = WeakKeyDictionary()


def make_standing(model: Model, feet: Sequence[Contact] | None = None) -> Standing:
    """The robot on these feet, on those named `..._sole` if None; remembered for each model and set of feet."""
    known = _standing.setdefault(model, {})
    try:
        key = None if feet is None else tuple((f.frame, contact_points(f).shape, contact_points(f).tobytes()) for f in feet)
        if key in known:
            return known[key]
    except (AttributeError, TypeError):  # points that are no array: checked below
        return _make(model, feet)
    made = _make(model, feet)
    if len(known) > 16:
        known.clear()
    known[key] = made
    return made


def _make(model: Model, feet: Sequence[Contact] | None) -> Standing:
    from scipy.linalg import block_diag

    if not model.description.actuated:
        raise InputError(f"{model.name!r} names no motors: its contact wrenches follow from motor forces")
    standing = complete_feet(model, feet)
    split = partition(model)
    acting = np.array([model.joint(n).iv for n in model.actuated], dtype=np.int64)
    bases = zip(*(point_basis(np.asarray(f.points, dtype=float)) for f in standing))
    spread, resultant = (block_diag(*blocks) for blocks in bases)
    base, unknowns = np.asarray(split.base, dtype=np.int64), spread.shape[1]
    update = (len(acting) + len(base)) * (1 + unknowns) + 16 * len(standing)
    sizes = update, spread.size, len(spread) + len(resultant), resultant.size
    soles = tuple(replace(foot, name=f"{k} {foot.name}") for k, foot in enumerate(standing))  # the same foot may be named twice
    of_set = ConstraintSet(model, contacts=soles, loops=False).table
    table = widen(of_set, sizes, (len(acting), len(base), *acting, *base))
    return Standing(
        model, standing, table_handle(close_loops(model).topology, table.parameters, STANDING, table.numbers), spread.reshape(-1),
        resultant.reshape(-1), acting, base, unknowns, np.zeros(model.nv))


@public
def contact_model(model: Model, q: ArrayLike, feet: Sequence[Contact] | None = None, v: ArrayLike | None = None,
                  a: ArrayLike | None = None) -> ContactModel:
    """The equations of motors and base of a robot on its feet, at one posture, at rest or along a known motion.

    Args:
        v, a: (nv,) array, velocity and acceleration of the tree, if the motion is known; at rest if not given.
    Raises: InputError for robots without motors; LinkageError for singular postures."""
    model = model.tree
    s = make_standing(model, feet)
    x = row_of(model, "q", q, "q").copy()
    u = s.rest if v is None else np.ascontiguousarray(one_row(model, "v", v, "v"))
    w = s.rest if a is None else np.ascontiguousarray(one_row(model, "a", a, "v"))
    n, m, k = len(s.motors), len(s.base), s.unknowns
    out, quality = np.empty((n + m) * (1 + k) + 16 * len(s.feet)), np.empty(1)
    status, _ = state(CONTACT_UPDATE, s.handle, x, u, w, out, quality)
    if status != OK:
        raise refuse_state(model, quality[0], ("q", x, "q"), ("v", u, "v"), ("a", w, "v"))
    return ContactModel(s, x, out)


@public
def contact_wrenches(contacts: ContactModel, tau: ArrayLike, method: str = "motors") -> ContactEstimate:
    """The contact wrenches that explain the motors' forces, Kangaroo paper, section VI-B, (43)-(46).

        tau - g_a - J_m^T g_u = -J_cm^T F

    The forces F at the feet's points are those of the least sum of squares that explain the motors. Wrenches of rigid feet span
    them, so only the unknowns of these wrenches are solved for, 12 for two soles from 12 motors. With more motors than unknowns,
    motor forces are met in least squares; with fewer, the unknowns are those of least norm.

    Args:
        tau: (n,) array, motor forces, N or N m, in the order of `model.actuated`.
        method: "motors" or "balanced". "balanced" also uses the six equations of the base, exactly, so the feet carry its load.
    Raises: LinkageError if the equations do not determine the wrenches; InputError for "balanced" on a fixed base.

    Examples:
        >>> model = ff.robots.kangaroo_like()
        >>> contacts = ff.estimation.contact_model(model, model.neutral)
        >>> tau = contacts.motors - contacts.A @ np.linalg.pinv(contacts.base_view) @ contacts.base  # hold the robot at rest
        >>> for method in ("motors", "balanced"):  # motor forces measured 5 % too large; the weight is 411.6 N
        ...     found = ff.estimation.contact_wrenches(contacts, 1.05 * tau, method)
        ...     print(f"{method}: {found.wrenches[:, 2].sum():.1f} N")
        motors: 430.2 N
        balanced: 411.6 N
    """
    c, s = contacts, contacts.standing
    t = tau if type(tau) is np.ndarray and tau.dtype == np.float64 and tau.flags.c_contiguous else real_array("tau", tau).copy()
    n, k, points = len(s.motors), s.unknowns, s.spread.size // s.unknowns
    if t.shape != (n,):
        raise InputError(f"tau has shape {t.shape}, expected ({n},): a force for each of {list_names(c.model.actuated)}")
    entry = MOTOR_WRENCHES if method == "motors" and n == k else BALANCED_WRENCHES if method == "balanced" and len(s.base) else None
    answer, quality = np.empty(points + 6 * len(s.feet)), np.empty(1)
    if entry is not None and state(entry, s.handle, t, c.update, s.spread, s.resultant, answer, quality)[0] == OK:
        return ContactEstimate(answer[points:].reshape(-1, 6), answer[:points].reshape(-1, 3))
    if not np.isfinite(t).all():
        at = int(np.flatnonzero(~np.isfinite(t))[0])
        raise InputError(f"tau[{at}] (joint {c.model.actuated[at]!r}) is {t[at]}: every entry must be finite")
    if choice("method", method, ("motors", "balanced")) == "balanced":
        if len(c.base):
            raise _undetermined_error(c)
        raise InputError(f"the base of {c.model.name!r} is fixed: it has no equations to use; take method='motors'")
    y, _, _, values = np.linalg.lstsq(c.A, c.motors - t, rcond=None)
    if values[-1] <= MIN_CONTACT_VIEW_RATIO * values[0]:  # of lower rank than the motors or the unknowns allow
        raise _undetermined_error(c)
    return ContactEstimate((c.resultant @ y).reshape(-1, 6), (c.spread @ y).reshape(-1, 3))


def _undetermined_error(c: ContactModel) -> LinkageError:
    return LinkageError(
        f"the motors of {c.model.name!r} do not determine the wrenches at {list_names(f.frame for f in c.feet)} in this "
        "posture (a stretched leg, or too many feet for the motors): name fewer feet, or move", feet=tuple(f.frame for f in c.feet))


@public
def world_wrenches(contacts: ContactModel, estimate: ContactEstimate) -> np.ndarray:
    """The wrenches of the ground on the feet, (f, 6) [force; torque], N, N m, in world axes, about the world's origin."""
    return express_at(contacts.poses, estimate.wrenches, "world")


@public
def pressure_centers(contacts: ContactModel, estimate: ContactEstimate, height: float = 0.0) -> np.ndarray:
    """The centre of pressure of each foot on level ground, (f, 3), m, world axes; NaN where a foot does not press."""
    return pressure_center(world_wrenches(contacts, estimate), float(finite_array("height", height)))


@public
def zero_moment_point(contacts: ContactModel, estimate: ContactEstimate, height: float = 0.0) -> np.ndarray:
    """The zero-moment point (3,), m, world axes: where the sum of all contact wrenches has no horizontal moment, on level ground.

    It is NaN where nothing presses."""
    return pressure_center(world_wrenches(contacts, estimate).sum(axis=0), float(finite_array("height", height)))


def pressure_center(w: np.ndarray, height: float = 0.0) -> np.ndarray:
    """(..., 3) on a level plane, m, of wrenches (..., 6) about the world's origin; NaN where nothing presses."""
    x, y, z = w[..., 0] * height - w[..., 4], w[..., 1] * height + w[..., 3], np.where(w[..., 2] > 0.0, w[..., 2], np.nan)
    return np.stack([x / z, y / z, height * z / z], axis=-1)


@public
def screw_force(torque: ArrayLike, lead: ArrayLike, efficiency: float = 0.95) -> np.ndarray:
    """The axial force of a ball screw from its motor's torque, (...), 2 pi efficiency torque / lead, N; Kangaroo paper, eq. (47).

    Args:
        torque: (...) array of the motor, N m.
        lead: (...) array, m per turn.
        efficiency: Efficiency in (0, 1]."""
    turning, rise = finite_array("torque", torque), finite_array("lead", lead)
    number("efficiency", efficiency, SMALLEST, 1.0)
    if not (rise >= SMALLEST).all():
        raise InputError(f"lead must be positive (m per turn), got {format_value(lead)}")
    return turning * 2.0 * np.pi * efficiency / rise


def check_cutoff(cutoff: float, rate: float) -> None:
    least, most = MIN_CUTOFF * rate, 0.5 * rate
    if not least <= number("cutoff", cutoff) < most:
        raise InputError(f"cutoff must lie between {least:g} Hz and half the rate, {most:g} Hz, got {format_value(cutoff)}")


@public
def low_pass(x: ArrayLike, rate: float, cutoff: float = 5.0) -> np.ndarray:
    """Samples through a second-order Butterworth filter that is at rest at the first of them, (n, ...), in the units of x.

    Args:
        x: (n, ...) array, samples.
        rate: Rate of the samples, Hz.
        cutoff: Hz, below half the rate."""
    from scipy.signal import butter, sosfilt, sosfilt_zi

    y = finite_array("x", x)
    if y.ndim == 0 or not len(y):
        raise InputError(f"x has shape {y.shape}, expected samples (n, ...)", shape=y.shape)
    check_cutoff(cutoff, positive("rate", rate))
    sections = butter(2, cutoff, fs=rate, output="sos")
    begin = sosfilt_zi(sections).reshape(1, 2, *(1,) * (y.ndim - 1)) * y[0]
    return np.asarray(sosfilt(sections, y, axis=0, zi=begin)[0])
