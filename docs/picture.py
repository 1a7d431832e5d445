"""Draws docs/picture.png: the built-in humanoid squats in MuJoCo under whole-body control, and Kangaroo's leg retracts.

Run: python docs/picture.py kangaroo.xml
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import freeflyer as ff
from freeflyer.linkages import Keep, extract_limb, follow
from freeflyer.plots.figures import new_figure
from freeflyer.plots.files import save_png
from freeflyer.plots.film import film_strip
from freeflyer.plots.view import View
from freeflyer.sim.run import digest


def squat() -> Any:
    """Three postures of a squat, with the forces under the feet."""
    run = ff.control.run_scenario("squat", "humanoid", depth=0.25)
    return film_strip(run.stance.model, run.run, times=(0.75, 1.15, 1.5), feet=run.stance.feet, width=9.0)


def leg(path: str) -> Any:
    """Kangaroo's left leg along the stroke of its length motor: the ankle's motors keep the foot flat, the hip's rest."""
    whole = ff.load(path, base="fixed")
    foot = next(foot for foot in ff.contacts.feet_from_file(ff.close_loops(whole), path) if "left" in foot.frame)
    limb = extract_limb(whole, foot.frame)
    level = Keep(foot.frame, "left_hip_roll", (0, 0, 0, 1, 1, 1))
    ankle = ("leg_left_4_motor", "leg_left_5_motor")
    found = follow(limb, "leg_left_length_motor", np.linspace(0.0, 0.08, 9), keep=[level], release=ankle)
    d = limb.description
    links = tuple(link if link.name.startswith("left_") else ff.Link(link.name) for link in d.links)  # not drawn
    bare, q = ff.build(replace(d, links=links)), found.q[::4]
    rest = np.zeros((len(q), bare.nv))
    run = ff.sim.Run(found.values[::4], q, rest, rest, robot=bare.name, digest=digest(bare))
    figure = film_strip(bare, run, len(q), feet=[foot], view=View(-65.0, 10.0), width=9.0)
    axes = figure.axes[0]
    for line in [line for line in axes.lines if line.get_zorder() > 10.0]:  # the centre of mass, which is that of the leg alone
        line.remove()
    for text, stroke in zip(axes.texts, found.values[::4]):
        text.set_text(f"{1000.0 * stroke:.0f} mm")
    return figure


def pixels(figure: Any) -> np.ndarray:
    """(rows, columns, 3) in 0 to 1."""
    figure.set_dpi(150)
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3] / 255.0


def beside(*pictures: np.ndarray) -> Any:
    """A figure of pictures side by side, their lower edges on one line."""
    height = max(len(x) for x in pictures)
    rows = np.hstack([np.vstack([np.ones((height - len(x), x.shape[1], 3)), x]) for x in pictures])
    figure, axes = new_figure(rows.shape[1] / 150.0, height / 150.0)
    figure.set_layout_engine("none")
    axes.set_position((0.0, 0.0, 1.0, 1.0))
    axes.axis("off")
    axes.imshow(rows)
    return figure


if __name__ == "__main__":
    save_png(beside(pixels(squat()), pixels(leg(sys.argv[1]))), Path(__file__).with_name("picture.png"))
