"""Problems of whole-body control that several tests take."""

from functools import lru_cache

import numpy as np

import freeflyer as ff
from freeflyer import control

FEET = [ff.contacts.surface("left_sole", friction=0.7), ff.contacts.surface("right_sole", friction=0.7)]


@lru_cache(maxsize=4)
def humanoid(joints=33):
    model = ff.robots.humanoid(joints)
    return model, ff.robots.standing_posture(model)


def standing_state(rng, size=0.05, joints=33):
    """(model, q, v): a humanoid near its standing posture, its feet at rest."""
    model, q = humanoid(joints)
    feet = ff.ConstraintSet(model, contacts=FEET)
    v = size * rng.standard_normal(model.nv)
    return model, q, ff.project_velocity(model, q, v, constraints=feet)


def standing_problem(model, q, *, contacts=FEET, limits=None, drop=0.05, **more):
    """All of Table 1 of the reduced whole-body control paper: torque limits, contacts, cones, acceleration limits, centre of mass
    and pelvis, a hand."""
    tasks = [
        control.CenterOfMassTask(ff.center_of_mass(model, q) - [0.0, 0.0, drop], level=1),
        control.FrameOrientationTask("pelvis", np.eye(3), level=1),
        control.FramePoseTask("left_palm", ff.frame_pose(model, q, "left_palm"), level=2),
    ]
    limits = [control.TorqueLimits(), control.AccelerationLimits(300.0)] if limits is None else limits
    return control.WholeBodyProblem(model, tasks, contacts, limits, **more)


def check_physics(problem, q, v, solution, rng=None, tolerance=1e-9):
    """Independent of how it was found: inverse dynamics under the contact forces needs these torques and no others."""
    model = problem.model
    external = {c.frame: np.zeros(6) for c in problem.constraints.contacts}
    for c in problem.constraints.contacts:
        external[c.frame] = external[c.frame] + solution.forces[c.name]
    tau = ff.inverse_dynamics(model, q, v, solution.a, external=external)
    motors = control.joint_inputs(model).joints
    weight = 9.81 * model.mass
    size = weight + np.abs(tau).max()
    assert np.abs(tau - motors @ solution.tau).max() <= tolerance * size
    J, bias = problem.constraints.jacobian(q), problem.constraints.bias(q, v)
    assert np.abs(J @ solution.a + bias).max(initial=0.0) <= tolerance * (1.0 + np.abs(J) @ np.abs(solution.a)).max(initial=0.0)
