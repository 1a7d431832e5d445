"""Many quantities of one state from one compiled pass, for control loops: the terms of the equations of motion and of frames."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.centroidal import massless
from freeflyer.dynamics.evaluate import evaluate
from freeflyer.dynamics.frame_sets import FrameSet, cached_frame_set
from freeflyer.dynamics.frames import Expressed, expression
from freeflyer.errors import InputError
from freeflyer.kernels import entries as E
from freeflyer.model.gravity import gravity_rows
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.text import short_repr


class AllTerms(NamedTuple):
    """What `all_terms` returns. Every quantity is a view of one of these arrays; leading axes are those of the state."""

    mass_matrix: np.ndarray
    """M (..., nv, nv), symmetric, armature included."""
    forces: np.ndarray
    """(..., 2, nv): bias forces and gravity forces."""
    centroidal_momentum_matrix: np.ndarray
    """A (..., 6, nv): A v is the momentum about the centre of mass, in world axes."""
    center_of_mass_jacobian: np.ndarray
    """(..., 3, nv)"""
    centroidal: np.ndarray
    """(..., 15): centre of mass, momentum, its rate while no joint accelerates."""
    frame_poses: np.ndarray
    """(..., k, 16)"""
    frame_motions: np.ndarray
    """(..., k, 12): velocities and bias accelerations."""
    frame_jacobians: np.ndarray
    """(..., 6 k, nv)"""

    def __repr__(self) -> str:
        return short_repr(self)

    @property
    def bias_forces(self) -> np.ndarray:
        """(..., nv), N, N m: Coriolis, centrifugal and gravity forces."""
        return self.forces[..., 0, :]

    @property
    def gravity_forces(self) -> np.ndarray:
        """(..., nv), N, N m: what holds the robot at rest."""
        return self.forces[..., 1, :]

    @property
    def center_of_mass(self) -> np.ndarray:
        """(..., 3), m, in the world."""
        return self.centroidal[..., :3]

    @property
    def centroidal_momentum(self) -> np.ndarray:
        """(..., 6): linear momentum and angular momentum about the centre of mass, in world axes."""
        return self.centroidal[..., 3:9]

    @property
    def centroidal_bias(self) -> np.ndarray:
        """(..., 6): rate of the centroidal momentum while no joint accelerates."""
        return self.centroidal[..., 9:]

    @property
    def poses(self) -> np.ndarray:
        """(..., k, 4, 4): poses of the frames in the world."""
        return self.frame_poses.reshape(*self.frame_poses.shape[:-1], 4, 4)

    @property
    def velocities(self) -> np.ndarray:
        """(..., k, 6): twists [linear; angular] of the frames."""
        return self.frame_motions[..., :6]

    @property
    def bias_accelerations(self) -> np.ndarray:
        """(..., k, 6): Jdot v, the rates of the twists while no joint accelerates."""
        return self.frame_motions[..., 6:]

    @property
    def jacobians(self) -> np.ndarray:
        """(..., k, 6, nv): twists of the frames for each velocity coordinate."""
        *lead, rows, nv = self.frame_jacobians.shape
        return self.frame_jacobians.reshape(*lead, rows // 6, 6, nv)


@public
def all_terms(model: Model, q: ArrayLike, v: ArrayLike, *, frames: FrameSet | None = None, expressed: Expressed = "mixed",
              gravity: ArrayLike | None = None, out: AllTerms | None = None) -> AllTerms:  # fmt: skip
    """The terms of the equations of motion, centroidal quantities and motions of frames at (q (..., nq), v (..., nv)).

    frames: a `frame_set` of the model; its poses, velocities, Jacobians and bias accelerations are stacked. expressed: of these, as
    in freeflyer.frame_jacobian, but "mixed" where it is not given. gravity (..., 3), m/s^2, replaces the model's. out: an earlier
    result for as many states and frames; its arrays are overwritten and it is returned. Faster than asking for three of the
    quantities one by one.
    Errors: as inverse_dynamics; InputError for a frame set of another model, and for a robot without mass.

        feet = ff.frame_set(model, "left_sole", "right_sole")
        terms = ff.all_terms(model, q, v, frames=feet)
        terms.mass_matrix, terms.bias_forces, terms.jacobians
    """
    if not model.mass > 0.0:
        raise massless(model)
    if frames is None:
        frames = cached_frame_set(model, ())
    elif type(frames) is not FrameSet:
        raise InputError(f"frames must be a frame_set of the model, got {type(frames).__name__}")
    elif not frames.belongs_to(model):
        raise InputError(f"the frame set {frames.names} is of another model: make one of this model")
    g, option = model._gravity if gravity is None else gravity, expression(expressed)
    if out is not None and not isinstance(out, AllTerms):
        raise InputError(f"out must be an earlier AllTerms, got {type(out).__name__}")
    given = None if out is None else tuple(out)
    if model.reduction:
        return model.reduction.functions.all_terms(model, q, v, frames, option, g, out)
    found = terms_of(model, q, v, frames, option, g, given)
    return out or AllTerms._make(found)


def terms_of(model: Model, q: ArrayLike, v: ArrayLike, frames: FrameSet, option: int, gravity: ArrayLike,
             out: tuple[np.ndarray, ...] | None = None) -> tuple[np.ndarray, ...]:  # fmt: skip
    """The arrays of `AllTerms` in the velocities of all joints."""
    found: tuple[np.ndarray, ...] | None = E.ALL_TERMS.call(frames.handle, q, v, gravity, option, out)
    if found is not None:
        return found
    return evaluate(E.ALL_TERMS, model, (q, v, gravity_rows(gravity)), ("q", "v", "gravity"), (option,), out, frames)
