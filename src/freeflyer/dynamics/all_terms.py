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
from freeflyer.model.public import explain
from freeflyer.text import short_repr


class AllTerms(NamedTuple):
    """Terms of the equations of motion and motions of k frames, as `all_terms` returns them; leading axes are the state's.

    The other quantities are properties, views of these arrays: bias_forces, gravity_forces, center_of_mass, centroidal_momentum,
    centroidal_bias, poses, velocities, bias_accelerations, jacobians.

    Attributes:
        mass_matrix: (..., nv, nv) array, M, symmetric, armature included; kg, kg m, kg m^2.
        forces: (..., 2, nv) array, bias forces and gravity forces, N and N m.
        centroidal_momentum_matrix: (..., 6, nv) array, A: A v is the momentum about the centre of mass, in world axes, kg m/s and
            kg m^2/s.
        center_of_mass_jacobian: (..., 3, nv) array, J: J v is the velocity of the centre of mass, in world axes, m/s.
        centroidal: (..., 15) array, centre of mass, m; momentum, kg m/s and kg m^2/s; its rate while no joint accelerates, N and N
            m; world axes.
        frame_poses: (..., k, 16) array, poses of the frames in the world, 4 x 4, row by row.
        frame_motions: (..., k, 12) array, twists [linear; angular] of the frames, m/s and rad/s, and their rates while no joint
            accelerates, as `expressed`.
        frame_jacobians: (..., 6 k, nv) array, Jacobians of the frames, one below the other.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> feet = ff.frame_set(model, "front_left_foot", "front_right_foot")
        >>> terms = ff.all_terms(model, model.neutral, np.ones(model.nv), frames=feet)
        >>> terms.frame_jacobians.shape, terms.jacobians.shape
        ((12, 18), (2, 6, 18))
        >>> bool(np.allclose(terms.jacobians @ np.ones(model.nv), terms.velocities))
        True
    """

    mass_matrix: np.ndarray
    forces: np.ndarray
    centroidal_momentum_matrix: np.ndarray
    center_of_mass_jacobian: np.ndarray
    centroidal: np.ndarray
    frame_poses: np.ndarray
    frame_motions: np.ndarray
    frame_jacobians: np.ndarray

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


def all_terms(model: Model, q: ArrayLike, v: ArrayLike, *, frames: FrameSet | None = None, expressed: Expressed = "mixed",
              gravity: ArrayLike | None = None, out: AllTerms | None = None) -> AllTerms:  # fmt: skip
    """Terms of the equations of motion, centroidal quantities and motions of frames at one state, from one compiled pass.

    Faster than all of these quantities computed one by one; for two or three of them their own functions are faster.

    Args:
        frames: A `frame_set` of the model: its poses, velocities, Jacobians and bias accelerations are stacked.
        expressed: "mixed", "body" or "world", of these motions, as in frame_jacobian, but "mixed" where it is not given.
        out: An earlier result for as many states and frames: its arrays are overwritten, and it is returned.
    Returns: AllTerms of the state's leading axes.
    Raises: InputError as inverse_dynamics; for a frame set of another model, and for a robot without mass.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> q, v = model.neutral, np.zeros(model.nv)
        >>> feet = ff.frame_set(model, "front_left_foot", "front_right_foot")
        >>> terms = ff.all_terms(model, q, v, frames=feet)
        >>> terms.mass_matrix.shape, terms.bias_forces.shape, terms.jacobians.shape
        ((18, 18), (18,), (2, 6, 18))
        >>> terms = ff.all_terms(model, q, v, frames=feet, out=terms)  # the next step of a control loop, in the same memory
    """
    try:
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
    except Exception as error:
        explain(error, all_terms, locals())
        raise


def terms_of(model: Model, q: ArrayLike, v: ArrayLike, frames: FrameSet, option: int, gravity: ArrayLike,
             out: tuple[np.ndarray, ...] | None = None) -> tuple[np.ndarray, ...]:  # fmt: skip
    """The arrays of `AllTerms` in the velocities of all joints."""
    found: tuple[np.ndarray, ...] | None = E.ALL_TERMS.call(frames.handle, q, v, gravity, option, out)
    if found is not None:
        return found
    return evaluate(E.ALL_TERMS, model, (q, v, gravity_rows(gravity)), ("q", "v", "gravity"), (option,), out, frames)
