"""Pictures of hopping: the panels of the thesis's figures, a film strip, an animation, and a map of gaits."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import freeflyer as ff
from freeflyer.plots.style import BLUE, GREEN, GREY, ORANGE, SERIES, new_figure, styled
from freeflyer_papers.hopping.batch import HopBasins
from freeflyer_papers.hopping.hopping import HopRun
from freeflyer_papers.hopping.settings import FOOT, legs

FRAMES_A_SECOND = 50  # of the motion; half as many are shown
ROUND_OFF = 1e-9  # in the units that are drawn: smaller values are zero but for rounding
GROUND = "#d0d5da"


@styled
def hop_figure(run: HopRun, begin: float = 0.0) -> Any:
    """Figure of a hopping run: path and heights, momenta, energies, leg and its rates, the floor's forces, and works by port.

    Args:
        begin: The part of the run from then on is shown, s.
    Raises: InputError for a part without two steps.

    Examples:
        >>> from freeflyer_papers.hopping.pictures import hop_figure
        >>> figure = hop_figure(freeflyer_papers.hopping.hop("prismatic-II", duration=0.5))
        >>> len([axes for axes in figure.axes if axes.get_ylabel()])
        11
        >>> bool(figure.axes[6].lines[0].get_ydata().any())  # it hops on the spot
        False
    """
    shown = run.t >= begin
    if shown.sum() < 2:
        raise ff.InputError(f"the part from {begin:g} s on holds less than two steps of a run to {run.t[-1]:g} s")
    figure, panels = new_figure(9.6, 9.2, 4, 2, sharex=True)
    t, leg, energy = run.t[shown], run.leg, run.energy
    _curves(panels[0, 0], t, "height (m)", {"centre of mass": leg.center[shown, 1], "foot": leg.foot[shown, 1]})
    p = run.linear_momentum[shown]
    _curves(panels[0, 1], t, "momentum (N s)", {"horizontal": p[:, 0], "vertical": p[:, 1]})
    _second(panels[0, 1], t, "angular momentum (N m s)", run.angular_momentum[shown])
    parts = {"kinetic + gravity": energy.mechanical[shown], "with radial spring": (energy.mechanical + run.radial_energy)[shown]}
    _curves(panels[1, 0], t, "energy (J)", parts | {"radial spring": run.radial_energy[shown]})
    _curves(panels[1, 1], t, "angle of the leg (deg)", {"centre of mass to foot": np.degrees(leg.angle[shown])})
    _second(panels[1, 1], t, "its length (mm)", 1e3 * leg.length[shown])
    F = run.floor_forces[shown]
    _curves(panels[2, 0], t, "floor's force (N)", {"horizontal": F[:, 0], "vertical": F[:, 1]})
    _curves(panels[2, 1], t, "leg's turning (deg/s)", {"leg": np.degrees(run.leg_rates[shown, 1])})
    _second(panels[2, 1], t, "its lengthening (m/s)", run.leg_rates[shown, 0])
    _curves(panels[3, 0], t, "trunk's path along x (m)", {"trunk": run.q[shown, 0]})
    works = {name: getattr(energy, name)[shown] - getattr(energy, name)[shown][0] for name in
             ("external", "joint", "touch_down", "floor", "radial_damper")}  # fmt: skip
    _curves(panels[3, 1], t, "work into the robot (J)", {name.replace("_", " "): x for name, x in works.items()})
    for axes in panels.flat:
        _shade(axes, run, t[0], t[-1])
    for axes in panels[3]:
        axes.set_xlabel("time (s)")
    figure.suptitle(f"{run.experiment}: {run.ended}", fontsize=11)
    return figure


def _curves(axes: Any, t: np.ndarray, label: str, curves: dict[str, np.ndarray]) -> None:
    for (name, y), colour in zip(curves.items(), SERIES, strict=False):
        axes.plot(t, np.where(np.abs(y) < ROUND_OFF, 0.0, y), color=colour, lw=1.0, label=name)
    axes.set_ylabel(label)
    if len(curves) > 1:
        axes.legend(fontsize=7, loc="upper left", ncols=len(curves), bbox_to_anchor=(0.0, 1.17), columnspacing=1.0)


def _second(axes: Any, t: np.ndarray, label: str, y: np.ndarray) -> None:
    """A curve with an axis of its own on the right."""
    right = axes.twinx()
    right.plot(t, np.where(np.abs(y) < ROUND_OFF, 0.0, y), color=GREEN, lw=1.0)
    right.set_ylabel(label, color=GREEN)
    right.spines["right"].set_visible(True)


def _shade(axes: Any, run: HopRun, begin: float, end: float) -> None:
    """Marks stance where it can be seen."""
    if end - begin > 3.0:
        return
    edges = np.flatnonzero(np.diff(run.stance.astype(int)))
    bounds = [begin, *run.t[edges + 1], end]
    for a, b in pairwise(bounds):
        k = np.searchsorted(run.t, 0.5 * (a + b))
        if a >= begin and b <= end and run.stance[min(k, len(run.stance) - 1)]:
            axes.axvspan(a, b, color=GREY, alpha=0.18, lw=0)


@styled
def hop_strip(run: HopRun, *, count: int = 9, begin: float = 0.0, period: float = np.inf) -> Any:
    """Film strip of a hopping run: the leg at several times, the paths of foot and centre of mass.

    Args:
        count: Postures, evenly spread.
        begin, period: Where the strip begins, and its length, s; by default the whole run.
    Raises: InputError for fewer than two postures.

    Examples:
        >>> from freeflyer_papers.hopping.pictures import hop_strip
        >>> figure = hop_strip(freeflyer_papers.hopping.hop("revolute-VI", duration=0.5), period=0.4)
        >>> figure.axes[0].get_xlabel()
        'a posture every 0.05 s'
    """
    if count < 2:
        raise ff.InputError(f"count must be at least 2, got {count}")
    times = np.linspace(begin, min(begin + period, run.t[-1]), count)
    q, every = run.at(times), times[1] - times[0]
    points = leg_points(run, q)
    width = max(0.16, 0.16 - np.abs(np.diff(q[:, 0])).min()) if count > 1 else 0.2
    back = q[-1, 0] - q[0, 0] < -0.01 * width  # upright legs drift by rounding
    places = q[:, 0] + width * np.arange(count) * (-1.0 if back else 1.0)
    figure, axes = new_figure(9.6, 2.4)
    axes.axhline(0.0, color=GROUND, lw=2.0)
    for k in range(count):
        moved = points[k] + np.array([places[k] - q[k, 0], 0.0])
        draw_leg(axes, moved)
        axes.text(moved[0, 0], -0.035, f"{times[k] - times[0]:.2f} s", ha="center", va="top", fontsize=7)
    axes.set(xlabel=f"a posture every {every:.2g} s", ylabel="z (m)", aspect="equal", xticks=[])
    axes.set_ylim(-0.06, max(0.02, points[..., 1].max()) + 0.04)
    axes.set_title(f"{run.experiment}, from {times[0]:.2f} s; postures are set apart by {width:.2f} m", fontsize=9)
    return figure


def leg_points(run: HopRun, q: np.ndarray) -> np.ndarray:
    """Points (k, n, 2): trunk, joints in order, foot; then the centre of mass."""
    model = run.model
    names = [n for n in (*model.link_names[1:], FOOT) if n in model.frame_names]
    poses = ff.all_terms(model, q, np.zeros_like(q), frames=ff.frame_set(model, *names)).poses[..., :3, 3][..., [0, 2]]
    center = legs(model, q).center
    return np.concatenate([q[:, None, :2], poses, center[:, None]], axis=1)


def draw_leg(axes: Any, points: np.ndarray) -> list[Any]:
    """Artists of one posture."""
    (links,) = axes.plot(*points[:-1].T, "-o", color=BLUE, lw=2.0, ms=2.5)
    (trunk,) = axes.plot(*points[0], "o", color=BLUE, ms=10)
    (center,) = axes.plot(*points[-1], "+", color=ORANGE, ms=8, mew=1.5)
    return [links, trunk, center]


def hop_animation(run: HopRun, path: Path, *, begin: float = 0.0) -> Path:
    """GIF file of a hopping run, at half its speed.

    Args:
        path: Path of the file, ending in .gif.
        begin: The part of the run from then on is shown, s.
    Raises: InputError for another ending, and for a part without length.

    Examples:
        >>> from pathlib import Path
        >>> from freeflyer_papers.hopping import hop, hop_animation
        >>> hop_animation(hop("revolute-VI", duration=0.2), Path("hop.gif")).stat().st_size > 1000
        True
    """
    from matplotlib.animation import FuncAnimation, PillowWriter

    last = run.t[-1]
    if Path(path).suffix != ".gif" or not last > begin:
        raise ff.InputError(f"an animation needs a .gif and a part of the run to {last:g} s: got {path}, from {begin} s on")
    count = max(2, round((last - begin) * FRAMES_A_SECOND))
    times = np.linspace(begin, last, count)
    q = run.at(times)
    points = leg_points(run, q)
    figure, axes = new_figure(4.8, 3.4)
    axes.axhline(0.0, color=GROUND, lw=2.0)
    axes.set(ylim=(-0.05, max(0.1, points[..., 1].max()) + 0.05), aspect="equal", xlabel="x (m)", ylabel="z (m)")
    axes.plot(*legs(run.model, q).center.T, color=ORANGE, lw=0.6, alpha=0.7)
    artists = draw_leg(axes, points[0])
    title = axes.set_title(" ")
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # which would place everything again in each frame

    def show(k: int) -> list[Any]:
        for artist, part in zip(artists, (points[k, :-1], points[k, :1], points[k, -1:]), strict=True):
            artist.set_data(*part.T)
        axes.set_xlim(points[k, 0, 0] - 0.3, points[k, 0, 0] + 0.3)
        title.set_text(f"{run.experiment}, {times[k]:.2f} s")
        return [*artists, title]

    FuncAnimation(figure, show, frames=count).save(str(path), writer=PillowWriter(fps=FRAMES_A_SECOND // 2), dpi=80)
    return Path(path)


@styled
def basin_figure(basins: HopBasins, columns: int = 5) -> Any:
    """Map of the gaits on which hopping settles: a panel for each of some speeds, angles across, heights up.

    Args:
        columns: Panels; speeds are evenly spread.

    Examples:
        >>> from freeflyer_papers.hopping import basin_figure, hop_basins
        >>> basins = hop_basins("revolute-V", angle=[0.0, 0.5], height=[0.3, 0.31], speed=[0.0], duration=1.0)
        >>> len(basin_figure(basins).axes)
        1
    """
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.patches import Patch

    count = len(basins.gaits)
    shown = np.unique(np.linspace(0, len(basins.speed) - 1, min(columns, len(basins.speed))).round().astype(int))
    colours = ["#ffffff", "#d7dbe0", *(SERIES * (1 + count // len(SERIES)))[:count]]
    figure, panels = new_figure(2.1 * len(shown) + 1.0, 2.9, columns=len(shown))
    for axes, k in zip(np.atleast_1d(panels), shown, strict=True):
        axes.pcolormesh(np.degrees(basins.angle), basins.height, basins.gait[:, :, k].T, cmap=ListedColormap(colours),
                        norm=BoundaryNorm(np.arange(-2.5, count + 0.5), len(colours)), shading="nearest")  # fmt: skip
        axes.set_title(f"{basins.speed[k]:.2f} m/s", fontsize=9)
        axes.set_xlabel("angle (deg)")
        axes.label_outer()
    np.atleast_1d(panels)[0].set_ylabel("height of the trunk (m)")
    names = ["falls", *(f"gait {k}: {g[1, 0]:+.3f} m/s, trunk at {g[0, 1]:.3f} m, at the apex" for k, g in enumerate(basins.gaits))]
    handles = [Patch(facecolor=c, edgecolor=GREY, label=n) for c, n in zip(colours[1:], names, strict=True)]
    if (basins.gait == -2).any():
        handles.append(Patch(facecolor=colours[0], edgecolor=GREY, label="neither"))
    figure.legend(handles=handles, loc="outside lower center", ncols=min(4, len(handles)), fontsize=7)
    return figure
