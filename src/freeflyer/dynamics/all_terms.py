"""Many quantities of one state from one compiled pass, for control loops: the terms of the equations of motion and of frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.centroidal import massless
from freeflyer.dynamics.closed import motion, multiply, velocity_map
from freeflyer.dynamics.evaluate import Arrays, evaluate, write_results
from freeflyer.dynamics.frame_sets import Frames, FrameSet, frames_of
from freeflyer.dynamics.loads import Expressed, expression
from freeflyer.errors import InputError
from freeflyer.kernels import entries as E
from freeflyer.model import Model, explain, gravity_rows
from freeflyer.text import shown_short


@dataclass(frozen=True, eq=False, repr=False, slots=True)
@shown_short
class AllTerms:
    """Terms of the equations of motion and motions of k frames, as `all_terms` returns them; they are views of one array.

    Leading axes are the state's; centroidal quantities are in world axes, motions of frames as `expressed`."""

    _arrays: tuple[np.ndarray, ...]  # M, (bias; gravity), A, J, (com; momentum; bias), (k, 16) poses, (k, 12) motions, (6 k, nv)
    _fields: ClassVar[tuple[str, ...]] = (
        "mass_matrix", "bias_forces", "gravity_forces", "center_of_mass", "center_of_mass_jacobian", "centroidal_momentum",
        "centroidal_momentum_matrix", "centroidal_bias", "poses", "velocities", "bias_accelerations", "jacobians")

    @property
    def mass_matrix(self) -> np.ndarray:
        """(..., nv, nv), kg, kg m, kg m^2: M, symmetric, armature included."""
        return self._arrays[0]

    @property
    def centroidal_momentum_matrix(self) -> np.ndarray:
        """(..., 6, nv): A, with A v the momentum about the centre of mass, kg m/s and kg m^2/s."""
        return self._arrays[2]

    @property
    def center_of_mass_jacobian(self) -> np.ndarray:
        """(..., 3, nv): J, with J v the velocity of the centre of mass, m/s."""
        return self._arrays[3]

    @property
    def bias_forces(self) -> np.ndarray:
        """(..., nv), N, N m: Coriolis, centrifugal and gravity forces."""
        return self._arrays[1][..., 0, :]

    @property
    def gravity_forces(self) -> np.ndarray:
        """(..., nv), N, N m: the forces that hold the robot at rest."""
        return self._arrays[1][..., 1, :]

    @property
    def center_of_mass(self) -> np.ndarray:
        """(..., 3), m, in the world."""
        return self._arrays[4][..., :3]

    @property
    def centroidal_momentum(self) -> np.ndarray:
        """(..., 6): linear momentum and angular momentum about the centre of mass, in world axes."""
        return self._arrays[4][..., 3:9]

    @property
    def centroidal_bias(self) -> np.ndarray:
        """(..., 6): rate of the centroidal momentum while no joint accelerates."""
        return self._arrays[4][..., 9:]

    @property
    def poses(self) -> np.ndarray:
        """(..., k, 4, 4): poses of the frames in the world."""
        return self._arrays[5].reshape(*self._arrays[5].shape[:-1], 4, 4)

    @property
    def velocities(self) -> np.ndarray:
        """(..., k, 6): twists [linear; angular] of the frames."""
        return self._arrays[6][..., :6]

    @property
    def bias_accelerations(self) -> np.ndarray:
        """(..., k, 6): Jdot v, the rates of the twists while no joint accelerates."""
        return self._arrays[6][..., 6:]

    @property
    def jacobians(self) -> np.ndarray:
        """(..., k, 6, nv): twists of the frames for each velocity coordinate."""
        *lead, rows, nv = self._arrays[7].shape
        return self._arrays[7].reshape(*lead, rows // 6, 6, nv)


def all_terms(model: Model, q: ArrayLike, v: ArrayLike, *, frames: Frames = (), expressed: Expressed = "body",
              gravity: ArrayLike | None = None, out: AllTerms | None = None) -> AllTerms:
    """Terms of the equations of motion, centroidal quantities and motions of frames at one state, from one compiled pass.

    Faster than all of these quantities computed one by one; for two or three of them their own functions are faster.

    Args:
        frames: A name, names or a `frame_set`: their poses, velocities, Jacobians and bias accelerations are stacked."""
    try:
        if not model.mass > 0.0:
            raise massless(model)
        named = frames_of(model, frames)
        g, option = model._gravity if gravity is None else gravity, expression(expressed)
        if out is not None and not isinstance(out, AllTerms):
            raise InputError(f"out must be an earlier AllTerms, got {type(out).__name__}")
        given = None if out is None else out._arrays
        if model.reduction:
            found = write_results(given, _closed_terms(model, q, v, named, option, g))
        else:
            found = _terms(model, q, v, named, option, g, given)
        return out or AllTerms(found)
    except Exception as error:
        explain(error, all_terms, locals())
        raise


def _terms(model: Model, q: ArrayLike, v: ArrayLike, frames: FrameSet, option: int, gravity: ArrayLike,
           out: Arrays | None = None) -> Arrays:
    """The arrays of `AllTerms` in the velocities of all joints."""
    found: Arrays | None = E.ALL_TERMS.call(frames.handle, q, v, gravity, option, out)
    if found is not None:
        return found
    return evaluate(E.ALL_TERMS, model, (q, v, gravity_rows(gravity)), ("q", "v", "gravity"), (option,), out, frames)


def _closed_terms(model: Model, q: ArrayLike, u: ArrayLike, frames: FrameSet, option: int, gravity: ArrayLike) -> Arrays:
    """In independent velocities: columns are those of u, bias accelerations include J gamma, bias forces G^T M gamma."""
    v, gamma = motion(model, q, u)
    M, forces, A, Jc, centroidal, poses, motions, J = _terms(model, q, v, frames, option, gravity)
    G = velocity_map(model, q)
    forces, centroidal, motions = forces.copy(), centroidal.copy(), motions.copy()
    forces[..., 0, :] += multiply(M, gamma)
    centroidal[..., 9:] += multiply(A, gamma)
    motions[..., 6:] += multiply(J, gamma).reshape(*motions.shape[:-1], 6)
    M = np.swapaxes(G, -1, -2) @ M @ G
    return 0.5 * (M + np.swapaxes(M, -1, -2)), forces @ G, A @ G, Jc @ G, centroidal, poses, motions, J @ G
