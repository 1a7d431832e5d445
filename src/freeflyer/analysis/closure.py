"""How far open each loop is: the gap between its two frames, in the directions that the loop ties."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import freeflyer as ff
from freeflyer.analysis.findings import Finding
from freeflyer.model.public import public

CLOSED = 1e-6  # m or rad: what the rounding of a file's digits may leave open


@dataclass(frozen=True)
class Gap:
    """`position` (m) and `angle` (rad) by which a loop is open, counting only its tied directions."""

    loop: str
    frame_a: str
    frame_b: str
    position: float
    angle: float

    @property
    def is_closed(self) -> bool:
        return self.position <= CLOSED and self.angle <= CLOSED


@public
def loop_gaps(model: Any, q: np.ndarray) -> tuple[Gap, ...]:
    """The gap of every loop of the model at q (nq,).

    m and rad. Errors: as freeflyer.frame_pose.
    """
    return tuple(
        _gap(loop, ff.frame_pose(model, q, loop.frame_a), ff.frame_pose(model, q, loop.frame_b)) for loop in model.loops
    )


def _gap(loop: Any, X_WA: np.ndarray, X_WB: np.ndarray) -> Gap:
    X_AB = np.linalg.inv(X_WA) @ X_WB
    mask = np.asarray(loop.mask, dtype=float)
    open_by = np.concatenate([X_AB[:3, 3], rotation_vector(X_AB[:3, :3])]) * mask
    return Gap(
        loop.name, loop.frame_a, loop.frame_b, float(np.linalg.norm(open_by[:3])), float(np.linalg.norm(open_by[3:]))
    )


def rotation_vector(R: np.ndarray) -> np.ndarray:
    """Axis times angle (3,) of a rotation matrix (3, 3), the angle within [0, pi]."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(R).as_rotvec()


def loop_findings(model: Any) -> Iterator[Finding]:
    """Loops that the neutral posture leaves open, and what the tree functions do about loops."""
    if not model.loops:
        return
    for gap in loop_gaps(model, ff.neutral(model)):
        if not gap.is_closed:
            angle = f" and {gap.angle:.3g} rad" if gap.angle > CLOSED else ""
            sentence = (
                f"at the neutral posture it is open by {gap.position * 1e3:.4g} mm{angle} between {gap.frame_a!r} and "
                f"{gap.frame_b!r}: assemble the linkage before trusting numbers there"
            )
            yield Finding("warning", "open-loop", gap.loop, sentence, {"position": gap.position, "angle": gap.angle})
    count = len(model.loops)
    yield Finding(
        "note", "loops-not-enforced", model.name,
        f"{count} loop constraint{'s are' if count > 1 else ' is'} present; functions of this model (mass_matrix, "
        "inverse_dynamics, forward_dynamics ...) describe the robot with its loops open; those of "
        "freeflyer.close_loops(model) enforce them",
        {"loops": float(count)},
    )  # fmt: skip
