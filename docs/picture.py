"""Draws docs/picture.png: the built-in humanoid squats in MuJoCo under whole-body control, and Kangaroo's leg retracts.

Run: python docs/picture.py kangaroo.xml
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import freeflyer as ff
from freeflyer.linkages import Keep, extract_limb, follow
from freeflyer.model.visuals.reading import visuals
from freeflyer.plots.camera import camera_around
from freeflyer.plots.raster import render
from freeflyer.plots.scene import overlay, robot_pieces
from freeflyer.viewer.motions import motion
from freeflyer.plots.picture import png

HEIGHT = 520  # pixels
TIMES = (0.05, 1.1, 1.5)  # s, of the squat
LONGEST = 0.09  # m, stroke of the leg's motor


def corners(model: ff.Model, postures: np.ndarray) -> np.ndarray:
    """All that is drawn of a robot at postures (n, nq)."""
    return np.vstack([p.mesh.vertices for q in postures for p in robot_pieces(model, q)])


def squat() -> np.ndarray:
    """Three postures of a squat, with the forces under the feet."""
    m = motion(ff.control.run_scenario("squat", "humanoid", depth=0.3))
    shots = [m.at(int(np.searchsorted(m.t, t)), [0]) for t in TIMES]
    camera = camera_around(corners(m.model, np.array([q[0] for q, _ in shots])), azimuth=-55.0, aspect=0.62)
    return np.hstack([ff.viewer.picture(m.model, q[0], width=round(0.62 * HEIGHT), height=HEIGHT, layers=["com"], forces=forces[0],
        feet=m.feet, camera=camera, floor=0.0) for q, forces in shots])  # fmt: skip


def leg(path: str) -> np.ndarray:
    """Kangaroo's left leg along the stroke of its length motor: the ankle's motors keep the foot flat, the hip's rest."""
    whole = ff.load(path, base="fixed")
    foot = next(foot for foot in ff.contacts.feet_from_file(ff.close_loops(whole), path) if "left" in foot.frame)
    limb = extract_limb(whole, foot.frame)
    level = Keep(foot.frame, "left_hip_roll", (0, 0, 0, 1, 1, 1))
    ankle = ("leg_left_4_motor", "leg_left_5_motor")
    found = follow(limb, "leg_left_length_motor", np.linspace(0.0, LONGEST, 9), keep=[level], release=ankle)
    own = [shape.link.startswith("left_") for shape in visuals(limb).shapes]
    shots = [[piece for piece, left in zip(robot_pieces(limb, q), own) if left] for q in found.q[::4]]
    drawn = np.vstack([piece.mesh.vertices for pieces in shots for piece in pieces])
    camera = camera_around(drawn, azimuth=-65.0, aspect=0.62)
    return np.hstack([render(pieces + overlay(limb, q, ["loops"]), camera, round(0.62 * HEIGHT), HEIGHT, float(drawn[:, 2].min()))
        for pieces, q in zip(shots, found.q[::4])])  # fmt: skip


if __name__ == "__main__":
    Path(__file__).with_name("picture.png").write_bytes(png(np.hstack([squat(), leg(sys.argv[1])])))
