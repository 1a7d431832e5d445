"""The arms that mobile, space and flying robots carry, segment by segment."""

from __future__ import annotations

from freeflyer.robots._parts import Motor, Segment

# how the joints turn, from the mount to the tool
TURNS = {
    3: ("yaw", "pitch", "pitch"),
    4: ("yaw", "pitch", "pitch", "pitch"),
    6: ("yaw", "pitch", "pitch", "yaw", "pitch", "yaw"),
    7: ("yaw", "pitch", "yaw", "pitch", "yaw", "pitch", "yaw"),
}  # fmt: skip
LENGTHS = {  # of each segment, as parts of the arm's length
    3: (0.10, 0.45, 0.45),
    4: (0.10, 0.40, 0.35, 0.15),
    6: (0.14, 0.36, 0.14, 0.18, 0.08, 0.10),
    7: (0.14, 0.18, 0.18, 0.16, 0.16, 0.08, 0.10),
}  # fmt: skip


def arm_segments(dof: int, length: float, mass: float, effort: float) -> tuple[Segment, ...]:
    """An arm of 3, 4, 6 or 7 joints: `length` (m) when straight, `mass` (kg), `effort` (Nm) of the first motor.

    Segments get thinner, lighter per metre and weaker towards the tool."""
    lengths = LENGTHS[dof]
    taper = [1.0 - 0.7 * i / (dof - 1) for i in range(dof)]  # 1 at the mount, 0.3 at the tool
    total = sum(part * t for part, t in zip(lengths, taper))
    return tuple(
        Segment(
            turn,
            length * part,
            mass * part * t / total,
            Motor(-2.9, 2.9, 2.5 / t, effort * t**2, 0.004 * effort * t**2),
            0.06 * length * t,
        )
        for turn, part, t in zip(TURNS[dof], lengths, taper)
    )
