"""Computed torques in decoupled velocities: external and internal motion of a floating robot, neither disturbing the other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

import freeflyer as ff
from freeflyer.decoupling.orientation import coordinate_owners
from freeflyer.model import SMALLEST, Model, instance, one_row, set_fields, set_numbers, shaped
from freeflyer.model.validate import ONE_DOF


@dataclass(frozen=True, eq=False)
class DecoupledController:
    """Controller of the external motion (centre of mass, locked angular velocity) and the joints, neither disturbing the other.

    The equations are `M_x a_x + C_x v_x = F_x` and `M_y a_y + C_yx v_x + C_y v_y = F_y`. Here v_x is the locked velocity at the
    centre of mass in world axes, and v_y = qdot. The forces are those of the accelerations a = a_ref + 2 w (v_ref - v) + w^2
    (x_ref - x); the locked angular velocity has no position. The base is taken to have a wrench of six components, as of
    thrusters.

    Args:
        model: A floating robot whose joints have one coordinate each.
        center: Position of the centre of mass, world axes, m.
        posture: Reference of the joints' coordinates, m and rad.
        external_bandwidth, internal_bandwidth: w of either motion, rad/s.
        spin: (3,) array, locked angular velocity wanted, world axes, rad/s.
    Source: decoupling thesis, Proposition 3.3.1 with T_x = A_cb of (3.95)."""

    model: Model
    center: ff.control.Reference
    posture: ff.control.Reference
    external_bandwidth: float = 2.0
    internal_bandwidth: float = 2.0
    spin: ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        instance("model", self.model, Model)
        owners = coordinate_owners(self.model)[6:]
        kinds = {j.name: j.kind for j in self.model.tree.joints}
        wrong = [name for name in owners if kinds[name] not in ONE_DOF]
        if wrong:
            raise ff.InputError(f"joint {wrong[0]!r} is {kinds[wrong[0]]}: this controller is for joints of one coordinate, "
                f"{', '.join(ONE_DOF)}", joint=wrong[0])  # fmt: skip
        set_numbers(self, external_bandwidth=SMALLEST, internal_bandwidth=SMALLEST)
        set_fields(self, spin=shaped("spin", self.spin, (3,)))
        q, v = self.model.neutral, self.model._zero
        for name, size in (("center", 3), ("posture", len(owners))):
            reference = instance(name, getattr(self, name), ff.control.Reference, "control.MinimumJerkReference")  # type: ignore[type-abstract]
            found = np.shape(reference(0.0).target)
            if found != (size,):
                raise ff.InputError(f"{name} must be a reference of ({size},) numbers for this robot, got {found}", shape=found)
        ff.decoupling.decouple(self.model, q, v)  # refuses robots that do not float

    @cached_property
    def _places(self) -> np.ndarray:
        """Entries of q of the joints."""
        return np.array([self.model.joint(name).iq for name in coordinate_owners(self.model)[6:]], int)

    def tau_at(self, t: float, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Generalised forces (nv,), N and N m, the first six a wrench on the base in its axes, at the time t (s) and a state."""
        q, v = one_row(self.model, "q", q, "q"), one_row(self.model, "v", v, "u")
        d = ff.decoupling.decouple(self.model, q, v, T_x=ff.decoupling.frame_map(self.model, q, v))
        T = d.T
        y = T @ v
        acceleration = np.concatenate([
            _answer(self.center(t), ff.center_of_mass(self.model, q), y[:3], self.external_bandwidth),
            2.0 * self.external_bandwidth * (np.asarray(self.spin) - y[3:6]),
            _answer(self.posture(t), q[self._places], y[6:], self.internal_bandwidth)])  # fmt: skip
        return T.T @ (d.mass_matrix @ acceleration + d.coriolis_matrix @ y) + ff.gravity_forces(self.model, q)


def _answer(reference: ff.control.TargetMotion, x: np.ndarray, rate: np.ndarray, w: float) -> np.ndarray:
    """Acceleration that follows a reference, errors decaying with bandwidth w, critically damped."""
    return reference.acceleration + 2.0 * w * (reference.velocity - rate) + w**2 * (reference.target - x)
