"""Centres of pressure and the zero-moment point from contact wrenches; forces from motor torques."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.wrenches import express_at
from freeflyer.errors import InputError, format_value
from freeflyer.estimation.contact import ContactEstimate, ContactModel
from freeflyer.model.inputs import SMALLEST, finite_array, number, positive
from freeflyer.model.public import public
from freeflyer.tolerances import MIN_CUTOFF


@public
def world_wrenches(contacts: ContactModel, estimate: ContactEstimate) -> np.ndarray:
    """The wrenches of the ground on the feet, (f, 6) [force; torque], N, N m, in world axes, about the world's origin."""
    return express_at(contacts.poses, estimate.wrenches, "world")


@public
def pressure_centers(contacts: ContactModel, estimate: ContactEstimate, height: float = 0.0) -> np.ndarray:
    """The centre of pressure of each foot on level ground, (f, 3), m, world axes; NaN where a foot does not press."""
    ground = float(finite_array("height", height))
    return np.array([pressure_center(w, ground) for w in world_wrenches(contacts, estimate)])


@public
def zero_moment_point(contacts: ContactModel, estimate: ContactEstimate, height: float = 0.0) -> np.ndarray:
    """The zero-moment point (3,), m, world axes: where the sum of all contact wrenches has no horizontal moment, on level ground.

    It is NaN where nothing presses."""
    return pressure_center(world_wrenches(contacts, estimate).sum(axis=0), float(finite_array("height", height)))


def pressure_center(w: np.ndarray, height: float) -> np.ndarray:
    f, m = w[:3], w[3:]
    if not f[2] > 0.0:
        return np.full(3, np.nan)
    return np.array([(f[0] * height - m[1]) / f[2], (f[1] * height + m[0]) / f[2], height])


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
