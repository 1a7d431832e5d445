"""One pass over the tree, many answers: poses, velocities, Jacobians, momentum at one state (or a batch of states)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.evaluate import evaluate
from freeflyer.dynamics.frames import Expressed, expression
from freeflyer.kernels import entries as E
from freeflyer.kernels.model import layout as L
from freeflyer.model.model import Model
from freeflyer.model.public import public


@dataclass(frozen=True, eq=False)
class Kinematics:
    """State of all bodies; leading axes (...) are those of q and v. Bodies: 0 is the world, then depth-first.

    poses (..., bodies, 12): rotation row by row, position; motions (..., bodies, 12): velocity and angular velocity of the
    origin, then their rates at zero joint acceleration; columns (..., columns, 6): motion directions at their body's origin.
    All in world axes.
    """

    model: Model
    q: np.ndarray
    v: np.ndarray
    poses: np.ndarray
    motions: np.ndarray
    columns: np.ndarray

    def _frame(self, frame: str) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
        """(body, rotation, position, offset from the body's origin in world axes) of a frame."""
        model, k = self.model, self.model.frame(frame)
        body = int(model.topology[model.topology[L.FRAMES_AT] + k])
        at = model.topology[L.PLACEMENTS_AT] + L.PLACEMENT_FLOATS * k
        P, p = model.parameters[at : at + 9].reshape(3, 3), model.parameters[at + 9 : at + 12]
        R = self.poses[..., body, :9].reshape(*self.poses.shape[:-2], 3, 3)
        offset = R @ p
        return body, R @ P, self.poses[..., body, 9:] + offset, offset

    def frame_pose(self, frame: str) -> np.ndarray:
        """X_WF (..., 4, 4)."""
        _, R, p, _ = self._frame(frame)
        X = np.zeros((*p.shape[:-1], 4, 4))
        X[..., :3, :3], X[..., :3, 3], X[..., 3, 3] = R, p, 1.0
        return X

    def frame_velocity(self, frame: str, expressed: Expressed = "body") -> np.ndarray:
        """Twist (..., 6) of a frame."""
        kind = expression(expressed)
        body, R, p, offset = self._frame(frame)
        w = self.motions[..., body, 3:6]
        l = self.motions[..., body, :3] + np.cross(w, offset)
        return np.concatenate(_express(kind, R, p, l, w), axis=-1)

    def frame_bias_acceleration(self, frame: str, expressed: Expressed = "body") -> np.ndarray:
        """Jdot v (..., 6) of a frame."""
        kind = expression(expressed)
        body, R, p, offset = self._frame(frame)
        m = self.motions[..., body, :]
        w, dw = m[..., 3:6], m[..., 9:]
        l = m[..., :3] + np.cross(w, offset)
        a = m[..., 6:9] + np.cross(dw, offset) + np.cross(w, np.cross(w, offset))
        if kind == 0:
            a = a - np.cross(w, l)
        if kind == 2:
            return np.concatenate([a + np.cross(l, w) + np.cross(p, dw), dw], axis=-1)
        return np.concatenate(_express(kind, R, p, a, dw), axis=-1)

    def frame_jacobian(self, frame: str, expressed: Expressed = "body") -> np.ndarray:
        """J (..., 6, nv) of a frame."""
        kind, t = expression(expressed), self.model.topology
        body, R, p, _ = self._frame(frame)
        J = np.zeros((*p.shape[:-1], 6, self.model.nv))
        while body > 0:
            at = L.HEADER + L.BODY_INTS * body
            first = int(t[at + L.FIRST_COLUMN])
            r = p - self.poses[..., body, 9:]
            for c in range(first, first + int(t[at + L.COLUMN_COUNT])):
                l, w = self.columns[..., c, :3], self.columns[..., c, 3:]
                j = t[t[L.COLUMNS_AT] + L.COLUMN_INTS * c + L.COORDINATE]
                J[..., j] += np.concatenate(_express(kind, R, p, l + np.cross(w, r), w), axis=-1)
            body = int(t[at + L.PARENT])
        return J

    @property
    def center_of_mass(self) -> np.ndarray:
        """c (..., 3)."""
        return np.einsum("b,...bi->...i", self._masses, self._com()[0]) / self.model.mass

    @property
    def center_of_mass_velocity(self) -> np.ndarray:
        """(..., 3), world axes."""
        return np.einsum("b,...bi->...i", self._masses, self._com()[1]) / self.model.mass

    @property
    def centroidal_momentum(self) -> np.ndarray:
        """[linear; angular about the centre of mass] (..., 6)."""
        c, l = self._com()
        p = self._masses[:, None] * l
        x = c - self.center_of_mass[..., None, :]
        angular = (np.cross(x, p) + self._spins()).sum(axis=-2)
        return np.concatenate([p.sum(axis=-2), angular], axis=-1)

    @property
    def kinetic_energy(self) -> np.ndarray:
        """T (...), armature included."""
        _, l = self._com()
        w = self.motions[..., 3:6]
        twice = np.einsum("b,...bi,...bi->...", self._masses, l, l) + np.einsum("...bi,...bi->...", w, self._spins())
        return 0.5 * (twice + np.einsum("j,...j,...j->...", self.model.armature, self.v, self.v))

    def _parameters(self, first: int, count: int) -> np.ndarray:
        t, n = self.model.parameters, self.poses.shape[-2]
        return t[L.BODIES : L.BODIES + n * L.BODY_FLOATS].reshape(n, L.BODY_FLOATS)[:, first : first + count]

    @property
    def _masses(self) -> np.ndarray:
        return self._parameters(L.MASS, 1)[:, 0]

    def _com(self) -> tuple[np.ndarray, np.ndarray]:
        """Position and velocity (..., bodies, 3) of the bodies' centres of mass."""
        R = self.poses[..., :9].reshape(*self.poses.shape[:-1], 3, 3)
        c = np.einsum("...bij,bj->...bi", R, self._parameters(L.COM, 3))
        return self.poses[..., 9:] + c, self.motions[..., :3] + np.cross(self.motions[..., 3:6], c)

    def _spins(self) -> np.ndarray:
        """I w (..., bodies, 3) about the bodies' centres of mass."""
        xx, xy, xz, yy, yz, zz = self._parameters(L.INERTIA, 6).T
        I = np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=-1).reshape(-1, 3, 3)
        R = self.poses[..., :9].reshape(*self.poses.shape[:-1], 3, 3)
        return np.einsum("...bij,bjk,...blk,...bl->...bi", R, I, R, self.motions[..., 3:6])


def _express(kind: int, R: np.ndarray, p: np.ndarray, l: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A vector pair given at the frame's origin in world axes, as body, mixed or world expression has it."""
    if kind == 0:
        return np.einsum("...ji,...j->...i", R, l), np.einsum("...ji,...j->...i", R, w)
    return (l if kind == 1 else l + np.cross(p, w)), w


@public
def kinematics(model: Model, q: ArrayLike, v: ArrayLike | None = None) -> Kinematics:
    """Poses, velocities and motion columns of all bodies in one pass; v (..., nv) is zero where not given.

    q (..., nq), v in m/s and rad/s. Errors: InputError for wrong shapes, NaN, infinities and quaternions of other than unit length.
    """
    v = model._zero if v is None else v
    shapes = (model.body_rows, model.body_rows, model.column_rows)
    poses, motions, directions = map(np.empty, shapes)
    if not E.ALL_MOTIONS.status(model.handle, q, v, poses, motions, directions):
        return Kinematics(model, np.array(q), np.array(v), poses, motions, directions)
    poses, motions, directions = evaluate(E.ALL_MOTIONS, model, (q, v), ("q", "v"), shapes)
    lead = poses.shape[:-2]
    q = np.broadcast_to(np.array(q, float), (*lead, model.nq))
    v = np.broadcast_to(np.array(v, float), (*lead, model.nv))
    return Kinematics(model, q, v, poses, motions, directions)
