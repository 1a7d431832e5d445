"""Table III: equivalent inertia at the left sole and centroidal angular momentum, against TALOS."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path

import numpy as np

import freeflyer as ff
from freeflyer.progress import Progress
from freeflyer.tables import Table
from freeflyer_papers.kangaroo.robots import HOME_LENGTH, Kangaroo, home_posture, talos

PAPER = ((3.6, 4.1, 4.6), (11.4, 4.9, 3.6), (2.6, 2.7, 2.0))  # chi linear, chi angular, gamma
LENGTHS = (HOME_LENGTH, 0.005, 0.01, 0.02, 0.04)  # m: the posture compared, and how much the answer depends on it
FITTED_LENGTH = 0.0125  # m: with the middle of the foot's box as the sole's origin, all nine indices come near the paper's

WORDS = {HOME_LENGTH: ", home posture", FITTED_LENGTH: ", origin in the middle of the foot"}


class Comparison(namedtuple("Comparison",
    "robot mass lengths inertia momentum com peer peer_mass peer_inertia peer_momentum")):  # fmt: skip
    """lengths (n,): m of the length motors; the last is FITTED_LENGTH, with the middle of the foot as the sole's origin, others
    with the point below the ankle. inertia (n, 6): column norms of (31). momentum (n, 3): of the base's angular columns of (33), kg
    m^2. com (n, 3): m, from the base. peer: its name ("" for none), with the same numbers (6,), (3,)."""

    @property
    def chi(self) -> np.ndarray:
        """(32) at each length (n, 6)."""
        return self.peer_inertia / self.inertia

    @property
    def gamma(self) -> np.ndarray:
        """(34) at each length (n, 3)."""
        return self.peer_momentum / self.momentum


def compute(robot: Kangaroo, progress: Progress, peer: Path | None = None) -> Comparison:
    """The robot in its home posture and with shorter legs, and TALOS where its file is given."""
    progress(0.0, "Table III: inertia at the sole, angular momentum")
    found = []
    lengths = (*LENGTHS, FITTED_LENGTH)
    for length in lengths:
        q = home_posture(robot, length)
        frame = robot.left.foot_middle if length == FITTED_LENGTH else robot.left.sole
        com = ff.center_of_mass(robot.model, q) - ff.frame_pose(robot.model, q, robot.model.joints[0].child)[:3, 3]
        found.append((*_norms(robot.model, frame, q), _base_axes(robot.model, q) @ com))
    inertia, momenta, com = (np.array(x) for x in zip(*found))
    none = np.full(6, np.nan)
    name, mass, other, turning = "", float("nan"), none, none[:3]
    if peer is not None:
        model, q = talos(peer)
        name, mass = Path(peer).name, model.mass
        other, turning = _norms(model, "left_sole_link", q)
    return Comparison(robot.source, robot.model.mass, np.array(lengths), inertia, momenta, com, name, mass, other, turning)


def tables(r: Comparison) -> list[Table]:
    """The indices, and the column norms that they come from."""
    nine = [x for part in PAPER for x in part]
    numbers = [("paper", "", *(f"{x:.1f}" for x in nine))] if r.peer else []
    for k, length in enumerate(r.lengths):
        chosen = WORDS.get(float(length), ", leg shorter")
        if r.peer:
            numbers.append(("ours" + chosen, f"{length:g}", *(f"{x:.1f}" for x in (*r.chi[k], *r.gamma[k]))))
        else:
            numbers.append((r.robot + chosen, f"{length:g}", *(f"{x:.3g}" for x in (*r.inertia[k], *r.momentum[k]))))
    if r.peer:
        k = int(np.flatnonzero(r.lengths == HOME_LENGTH)[0])
        numbers.append((f"norms: {r.robot}", f"{HOME_LENGTH:g}", *(f"{x:.3g}" for x in (*r.inertia[k], *r.momentum[k]))))
        numbers.append((f"norms: {r.peer}", "", *(f"{x:.3g}" for x in (*r.peer_inertia, *r.peer_momentum))))
    what = "chi" if r.peer else "|Lambda|"
    columns = ("", "length m", *(f"{what} lin {d}" for d in "xyz"), *(f"{what} ang {d}" for d in "xyz"),
               *(f"{'gamma' if r.peer else '|A|'} {d}" for d in "xyz"))  # fmt: skip
    fitted = ""
    if r.peer:
        off = float(np.abs(np.hstack([r.chi[-1], r.gamma[-1]]) / nine - 1.0).max())
        fitted = ("The paper gives neither posture nor origin of the sole. They can be chosen so that all nine indices agree "
            f"within {100.0 * off:.1f} %: the origin in the middle of the foot's box, 35 mm before the ankle, and the leg "
            f"{1e3 * FITTED_LENGTH:g} mm shorter. ")
    note = fitted + ("Elsewhere Kangaroo's posture is the keyframe `home` of the public model: length motors at 0.0004 of 0.15 "
        "m, ankle motors at -0.001 m, the others at zero, loops closed: a rule, no fit to the indices. The rows below it show "
        "how much these depend on the legs' length. TALOS: half sitting (hip -0.411, knee 0.859, ankle -0.448 rad), arms and "
        "head weightless, as Fig 17 leaves them out. Columns of Lambda mix kg, kg m and kg m^2 (the paper's definition), so "
        "angular chi depends on the sole's origin and on how level it stands. gamma takes the base's angular columns.")
    if not r.peer:
        note = "No TALOS given (--peer talos_full_v2.urdf): norms of columns instead of indices. " + note
    return [Table("Table III: against TALOS", columns, numbers, tuple(range(1, 11)), note)]


EPSILON = 1e-5  # of the Kangaroo paper, Table III


def _norms(model: ff.Model, frame: str, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Norms of the columns of the inertia at a frame (6,), and of the base's angular columns of the angular momentum (3,)."""
    turning = _base_axes(model, q) @ angular_momentum(model, q)[:, 3:6]
    return np.linalg.norm(cartesian_inertia(model, frame, q), axis=0), np.linalg.norm(turning, axis=0)


def cartesian_inertia(model: ff.Model, frame: str, q: np.ndarray, epsilon: float = EPSILON) -> np.ndarray:
    """Equivalent inertia (31) at a frame, its base held: (6, 6) [linear; angular], along the base's axes at the frame's origin, kg,
    kg m, kg m^2. q (nq,): loops closed; trees work too."""
    limb = ff.linkages.extract_limb(model, frame, q)
    part, x = ff.close_loops(limb), ff.linkages.extract_configuration(limb, model, q)
    J = np.kron(np.eye(2), _base_axes(model, q)) @ ff.frame_jacobian(part, x, frame, expressed="mixed")
    return np.linalg.inv(J @ np.linalg.solve(ff.mass_matrix(part, x), J.T) + epsilon * np.eye(6))


def angular_momentum(model: ff.Model, q: np.ndarray) -> np.ndarray:
    """The angular part of the centroidal momentum matrix, world axes: (3, nu), of the independent velocities, kg m^2 (times 1/m for
    motors that slide), of a robot with a free base at q (nq,)."""
    return ff.centroidal_momentum_matrix(ff.close_loops(model), q)[3:]


def _base_axes(model: ff.Model, q: np.ndarray) -> np.ndarray:
    """(3, 3): from the world's axes to those of the base."""
    return ff.frame_pose(model, q, model.joints[0].child)[:3, :3].T
