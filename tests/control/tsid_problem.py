"""The quadratic program of TSID 1.7 to 1.10 for the problem of `benchmarks.standing`, in NumPy.

Variables x = (a, f): a (nv,) the derivative of v, the base's in body axes; f (2 x 4 x 3): a force on the robot in each corner of
each sole, in the axes of the foot's frame. A foot's wrench there is T f, T (6, 12) with a block [1; hat(p)] for each corner p.

Minimum of 1/2 x^T H x + g^T x with H = sum w A^T A + 1e-8 1, g = -sum w A^T b: half of sum w |A x - b|^2 + 1e-8 |x|^2, over

  com       A = J_com (3, nv)                   b = -K e - D J v - Jdot v,  e = c - c*, world axes
  pelvis    A = rows 3 to 5 of the mixed J      the same, e = log3(R R*^T)
  hand      A = mixed J (6, nv)                 the same, e = (p - p*, log3(R R*^T)): not log6
  posture   A = [0 1] (nv - 6, nv)              b = -K (q - q*) - D v, of the joints
  force     A = diag(1, 1, 1e-3, 2, 2, 2) T     b = 0; one for each foot. Its weight is the first argument after the contact of
                                                addRigidContact (w_forceRef in TSID's examples)

K the stiffness, D = 2 sqrt(K). A weight multiplies the square once; masked rows are left out. These are freeflyer's tasks of the
same names: b is task.command less task.bias. Constraints, exactly:

  base      first six rows of M a + h = sum_feet J_F^T T f              J_F the body Jacobian of the foot
  contacts  J_F a = b as for the hand, in the foot's axes               a cost only if addRigidContact is given level 1
  friction  in each corner |f_x| <= mu f_z and |f_y| <= mu f_z: a pyramid with faces at +-x, +-y
  normal    least <= sum of the four f_z <= most: of the foot, not of a corner
  torque    -torque <= last nv - 6 rows of (M a + h - sum_feet J_F^T T f) <= torque
  joints    max(-a_max, (-v_max - v) / dt) <= a <= min(a_max, (v_max - v) / dt)

Jdot v is classical: its linear rows are the acceleration of the origin, not of the spatial motion, in the foot's axes too.
"""

import freeflyer as ff
import numpy as np
from benchmarks.standing import FORCE_ROWS, Standing, motion_tasks
from freeflyer import control
from typing import NamedTuple

REGULARIZATION = 1e-8  # of TSID, on the diagonal of H
NO_LIMIT = 1e10  # TSID's infinity
# of the pyramid: f . (face * (1, 1, mu)) <= 0
FACES = np.array([[0.0, -1.0, -1.0], [0.0, 1.0, -1.0], [1.0, 0.0, -1.0], [-1.0, 0.0, -1.0]])


class Program(NamedTuple):
    """Minimum of 1/2 x^T H x + g^T x with E x = e and lower <= C x <= upper."""

    H: np.ndarray
    g: np.ndarray
    E: np.ndarray
    e: np.ndarray
    C: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def program(p: Standing, q: np.ndarray, v: np.ndarray) -> Program:
    """The quadratic program at one state."""
    n, feet = p.model.nv, len(p.feet)
    H, g = REGULARIZATION * np.eye(n + 12 * feet), np.zeros(n + 12 * feet)
    for name, task in motion_tasks(p).items():
        A, b = rows(p, task, q, v)
        H[:n, :n] += p.weights[name] * A.T @ A
        g[:n] -= p.weights[name] * A.T @ b
    A = np.kron(np.eye(feet), np.diag(FORCE_ROWS) @ generator(p))
    H[n:, n:] += p.weights["force"] * A.T @ A
    dynamics, h = equations(p, q, v)
    held = [contact(p, q, v, k) for k in range(feet)]
    E = np.vstack([dynamics[:6], np.hstack([np.vstack([A for A, _ in held]), np.zeros((6 * feet, 12 * feet))])])
    slow, fast = np.maximum(-p.acceleration, (-p.velocity - v[6:]) / p.dt), np.minimum(p.acceleration, (p.velocity - v[6:]) / p.dt)
    normal = np.kron(np.ones((1, 4)), [[0.0, 0.0, 1.0]])
    foot = np.vstack([np.kron(np.eye(4), FACES * (1.0, 1.0, p.friction)), normal])
    C = np.vstack([np.hstack([np.zeros((17 * feet, n)), np.kron(np.eye(feet), foot)]), dynamics[6:], np.eye(n + 12 * feet)[6:n]])
    above, below = (np.tile(np.append(np.full(16, x), limit), feet) for x, limit in ((-NO_LIMIT, p.least), (0.0, p.most)))
    lower, upper = np.concatenate([above, -p.torque - h[6:], slow]), np.concatenate([below, p.torque - h[6:], fast])
    return Program(H, g, E, np.concatenate([-h[:6], *(b for _, b in held)]), C, lower, upper)


def equations(p: Standing, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(nv, nv + 24) matrix A and h (nv,): A x + h are the generalised forces of the motors, zero for the base."""
    terms = ff.all_terms(p.model, q, v)
    pull = [ff.frame_jacobian(p.model, q, foot, "body").T @ generator(p) for foot in p.feet]
    return np.hstack([terms.mass_matrix, *(-x for x in pull)]), terms.bias_forces


def generator(p: Standing) -> np.ndarray:
    """T (6, 12): the wrench of a sole's point forces about the origin of its frame."""
    return np.hstack([np.vstack([np.eye(3), np.cross(np.eye(3), corner)]) for corner in p.corners])


def rows(p: Standing, task: control.Task, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A, b: A a = b is wanted."""
    return task.jacobian(p.model, q), task.command(p.model, q, v) - task.bias(p.model, q, v)


def contact(p: Standing, q: np.ndarray, v: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """A, b of a foot in its own axes: it goes back to its place."""
    task = control.FramePoseTask(p.feet[k], p.places[k], stiffness=p.stiffness["contact"])
    back = np.kron(np.eye(2), ff.frame_pose(p.model, q, p.feet[k])[:3, :3].T)
    A, b = rows(p, task, q, v)
    return back @ A, back @ b
