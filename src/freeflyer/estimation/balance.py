"""Centres of pressure and the zero-moment point from contact wrenches; forces from motor torques."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import InputError
from freeflyer.estimation.contact import ContactEstimate, ContactModel
from freeflyer.model.inputs import finite_array
from freeflyer.model.public import public


@public
def world_wrenches(contacts: ContactModel, estimate: ContactEstimate) -> np.ndarray:
    """(f, 6): each foot's wrench in world axes, its torque about the world's origin.

    N and N m. Errors: InputError for what is no contact model and no estimate.
    """
    return in_world(contacts.poses, estimate.wrenches)


def in_world(poses: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
    """Wrenches (..., 6) at frames with the poses (..., 4, 4), in the frames' axes: in world axes, about the world's origin."""
    R, p = poses[..., :3, :3], poses[..., :3, 3]
    force, torque = np.einsum("...ij,...j->...i", R, wrenches[..., :3]), np.einsum("...ij,...j->...i", R, wrenches[..., 3:])
    return np.concatenate([force, torque + np.cross(p, force)], axis=-1)


@public
def pressure_centers(contacts: ContactModel, estimate: ContactEstimate, height: float = 0.0) -> np.ndarray:
    """(f, 3): each foot's centre of pressure on the level ground at this height, m; NaN where a foot does not press.

    Errors: as world_wrenches; InputError for a height that is no finite number.
    """
    ground = float(finite_array("height", height))
    return np.array([_center(w, ground) for w in world_wrenches(contacts, estimate)])


@public
def zero_moment_point(contacts: ContactModel, estimate: ContactEstimate, height: float = 0.0) -> np.ndarray:
    """(3,): where the sum of all contact wrenches has no horizontal moment, on the level ground at this height.

    In m; NaN where nothing presses. Errors: as pressure_centers.
    """
    return _center(world_wrenches(contacts, estimate).sum(axis=0), float(finite_array("height", height)))


def _center(w: np.ndarray, height: float) -> np.ndarray:
    f, m = w[:3], w[3:]
    if not f[2] > 0.0:
        return np.full(3, np.nan)
    return np.array([(f[0] * height - m[1]) / f[2], (f[1] * height + m[0]) / f[2], height])


@public
def screw_force(torque: ArrayLike, lead: ArrayLike, efficiency: float = 0.95) -> np.ndarray:
    """Axial force (N) of a ball screw from its motor's torque (N m) and its lead (m a turn). papers/000 (47).

    Errors: InputError for what is not finite, leads that are not positive, efficiencies outside of (0, 1].
    """
    turning, rise = finite_array("torque", torque), finite_array("lead", lead)
    if not 0.0 < efficiency <= 1.0 or not (rise > 0.0).all():
        raise InputError(f"efficiency must lie in (0, 1] and lead above 0 m, got {efficiency!r} and {lead!r}")
    return turning * 2.0 * np.pi * efficiency / rise


@public
def low_pass(x: ArrayLike, rate: float, cutoff: float = 5.0) -> np.ndarray:
    """x (n, ...) sampled at `rate` (Hz), through a second-order Butterworth filter, at rest at its first sample.

    Rate and cutoff in Hz. Errors: InputError for what is not finite, and for a cutoff that is not below half the rate.
    """
    from scipy.signal import butter, sosfilt, sosfilt_zi

    y = finite_array("x", x)
    if not 0.0 < cutoff < 0.5 * rate:
        raise InputError(f"cutoff must lie between 0 and half the rate {rate:g} Hz, got {cutoff!r}")
    sections = butter(2, cutoff, fs=rate, output="sos")
    begin = sosfilt_zi(sections).reshape(1, 2, *(1,) * (y.ndim - 1)) * y[0]
    return np.asarray(sosfilt(sections, y, axis=0, zi=begin)[0])
