"""Which joints a humanoid of a given number of degrees of freedom has.

Every humanoid has the 20 joints of CORE: two legs of 6 and two arms of 4. More come from two lists each for the lower and the upper
half of the range: SINGLES, on the body's middle plane, then PAIRS, one on each side.

    20..33  SINGLES[:5]: waist_yaw, waist_pitch, waist_roll, neck_yaw, neck_pitch      one more at 21, 22, ... 25
            PAIRS[:4]:   clavicle_yaw, forearm_yaw, wrist_pitch, wrist_roll            one pair more at 26, 28, 30, 32
    34..45  SINGLES[5:]: neck_roll, chest_pitch                                        one more at 34, 35
            PAIRS[4:]:   thumb, index, middle, ring, little                            one pair more at 36, 38, ... 44

Where the number is even and pairs have begun, the last single of that half (neck_pitch, chest_pitch) rests, because a pair counts
for two: so every robot is left-right symmetric. At 33 the arms have 8 joints, the waist 3, the head 2. Legs never change, so that
all growth lies in the chains that no contact constrains (reduced whole-body control paper, section 5.3)."""

from __future__ import annotations

from freeflyer.robots._check import whole

SIDES = ("left", "right")
LOWEST, HIGHEST = 20, 45
CORE = (
    "hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll",
    "shoulder_pitch", "shoulder_roll", "upper_arm_yaw", "elbow",
)  # fmt: skip
SINGLES = ("waist_yaw", "waist_pitch", "waist_roll", "neck_yaw", "neck_pitch", "neck_roll", "chest_pitch")
PAIRS = (
    "clavicle_yaw", "forearm_yaw", "wrist_pitch", "wrist_roll",
    "thumb", "index", "middle", "ring", "little",
)  # fmt: skip


def moving_joints(dof: int) -> frozenset[str]:
    """Names of the `dof` joints that move, e.g. "left_knee" and "waist_yaw"; all others of the robot are fixed."""
    dof = whole("dof", dof, LOWEST, HIGHEST)
    if dof <= 33:
        singles, pairs = _share(dof - 20, 5)
    else:
        singles, pairs = _share(dof - 33, 2)
        singles, pairs = singles + 5, pairs + 4
    both = CORE + PAIRS[:pairs]
    return frozenset(SINGLES[:singles]) | {f"{side}_{name}" for side in SIDES for name in both}


def _share(count: int, singles: int) -> tuple[int, int]:
    """Splits `count` joints into singles, of which there are `singles`, and pairs beyond them."""
    if count <= singles:
        return count, 0
    pairs = (count - singles + 1) // 2
    return count - 2 * pairs, pairs
