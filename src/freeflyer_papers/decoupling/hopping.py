"""Chapter 4 of the thesis: all experiments of both hopping legs, the tuning curve, and what lies beyond the thesis."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import numpy as np

import freeflyer as ff
from freeflyer.progress import Progress
from freeflyer_papers.hopping.batch import hop_basins, hop_ends, hop_start
from freeflyer_papers.hopping.gaits import HopGait, hop_gait
from freeflyer_papers.hopping.hopping import HopRun, hop
from freeflyer_papers.hopping.settings import EXPERIMENTS, legs
from freeflyer_papers.registry import Drawn

TILTED = np.radians(10.0)
KNEES = np.radians(np.arange(86.0, 127.0, 1.0))
NOISES = (1e-13, 1e-10, 1e-8, 1e-6, 1e-4)
ANGLES, HEIGHTS, SPEEDS = np.radians(np.linspace(-30.0, 66.0, 13)), np.linspace(0.22, 0.36, 8), np.linspace(-0.5, 0.9, 5)

FORWARD: dict[str, Any] = {"polar_gain": 6.0, "polar_damping": 1.9, "angle": -0.08, "energy_gain": 13.0,
    "radial_damping": 47.0, "radial_gain": 1400.0, "energy": 2.47}  # fmt: skip
COMMANDS = (-3.0, -2.0, -1.0, 1.0, 2.0, 3.0)  # deg
COMMANDED = ("revolute-IV", "revolute-V", "revolute-VI")  # of the same gains; their starts differ
HOPS = 5  # over which speeds are means
UNACTUATED = 256  # starts and gains of the search for gaits by radial control alone


class Statement(namedtuple("Statement", "experiment figure thesis seen reason", defaults=("",))):
    """What the thesis says of an experiment, what was seen, and why it differs where it does."""


class Works(namedtuple("Works", "what thesis ours")):
    """Energy of experiment VI over 20 s, J: the thesis's number, ours, and what it is."""


class Tuning(namedtuple("Tuning", "knee momentum turn")):
    """Fig 4.7, over first knee angles (rad): angular momentum (N m s) behind the first lift-off, and the turn (rad/s) that it means
    for the locked leg."""


class HoppingResult(namedtuple("HoppingResult",
    "statements works tuning noise gaits locked alone commands basin_shares drawn")):  # fmt: skip
    """statements: beside the figures. noise: first tilt (rad) and hops of prismatic-I before 10 deg. commands: of the polar
    controller (deg), and how each of COMMANDED ends. drawn: runs by experiment, and the map of gaits."""


def compute(progress: Progress) -> HoppingResult:
    """All of chapter 4; about a minute."""
    runs: dict[str, HopRun] = {}
    for k, name in enumerate(EXPERIMENTS):
        progress(k / len(EXPERIMENTS), "hopping experiments")
        runs[name] = hop(name)
    progress(0.0, "Fig 4.7")
    tuning, noise = tune(), tilt_noise()
    progress(0.0, "periodic gaits")
    settled = hop("revolute-IV", duration=20.0).named("apex")[-1]
    gaits: tuple[tuple[str, HopGait], ...] = (("revolute-VI", hop_gait("revolute-VI")),
        ("revolute-IV", hop_gait("revolute-IV", q=settled.q, v=settled.v)))
    q, v = hop_start(ff.robots.prismatic_hopper(), angle=0.024, height=0.23, speed=0.35)
    forward = hop("prismatic-III", q=q, v=v, duration=15.0, **FORWARD).named("apex")[-1]
    gaits = (*gaits, ("prismatic, forward", hop_gait("prismatic-III", q=forward.q, v=forward.v, **FORWARD)))
    progress(0.0, "gaits by radial control alone")
    alone = search_radial()
    locked = tuple((name, hop(name, controller="III").ended) for name in EXPERIMENTS if not name.endswith("-I"))
    basins = hop_basins("revolute-V", angle=ANGLES, height=HEIGHTS, speed=SPEEDS, progress=progress)
    shares = [("falls", basins.share(-1)), ("neither in 20 s", basins.share(-2))]
    shares += [(f"gait {k}: {g[1, 0]:+.3f} m/s at the apex", basins.share(k)) for k, g in enumerate(basins.gaits)]
    return HoppingResult(statements(runs, tuning, noise, gaits), works(runs["revolute-VI"]), tuning, noise, gaits, locked,
        alone, commands(), tuple(shares), Drawn(runs=runs, basins=basins))  # fmt: skip


def tune() -> Tuning:
    """Experiment I from other knee angles, the foot below the centre of mass, the trunk at 0.3 m, the spring at rest."""
    model = ff.robots.revolute_hopper()
    q = np.tile(model.keyframes["start"], (len(KNEES), 1))
    q[:, 3] = KNEES
    leg = legs(model, q)
    q[:, 2] -= leg.angle
    ends = hop_ends("revolute-I", q, np.zeros(4), duration=2.0, length=leg.length, apexes=1)
    momentum = -ff.centroidal_momentum(model, ends.q, ends.v)[:, 4]
    inertia = -ff.centroidal_momentum_matrix(model, ends.q)[:, 4, 2]
    return Tuning(KNEES, momentum, momentum / inertia)


def tilt_noise() -> tuple[tuple[float, int], ...]:
    """How many hops prismatic-I makes before it has tilted by 10 degrees, for first tilts."""
    found = []
    for tilt in NOISES:
        q = np.array(ff.robots.prismatic_hopper().keyframes["start"])
        q[2] += tilt
        run = hop("prismatic-I", q=q)
        over = np.abs(run.leg.angle) > TILTED
        end = run.t[int(np.argmax(over))] if over.any() else run.t[-1]
        found.append((tilt, sum(e.t < end for e in run.named("lift-off"))))
    return tuple(found)


def search_radial() -> tuple[tuple[str, int], ...]:
    """How runs under radial control alone end, of random starts and gains of springs and dampers; and the most apexes of one."""
    rng = np.random.default_rng(0)
    angle, height, speed, turn = (rng.uniform(*x, UNACTUATED) for x in ((-0.4, 0.6), (0.22, 0.34), (-0.5, 1.2), (-1.5, 1.5)))
    q, v = hop_start(ff.robots.revolute_hopper(), angle=angle, height=height, speed=speed)
    v[:, 2] = turn
    ranges = {"energy_gain": (0.0, 15.0), "radial_damping": (5.0, 60.0), "stance_damping": (0.0, 5.0), "radial_gain": (1e3, 4e3)}
    gains: dict[str, Any] = {name: rng.uniform(*x, UNACTUATED) for name, x in ranges.items()}
    ends = hop_ends("revolute-IV", q, v, duration=5.0, controller="I", repeated=1e-3, fallen_height=0.06, tolerance=1e-5, **gains)
    outcomes, counts = np.unique(ends.outcome, return_counts=True)
    found = [(str(outcome), int(count)) for outcome, count in zip(outcomes, counts, strict=True)]
    return (*found, ("most apexes of a run", int(ends.apexes.max())))


def commands() -> tuple[tuple[float, tuple[str, ...]], ...]:
    """How runs of 20 s end under commanded angles other than zero: the time of a fall, or the mean speed of the last hops."""
    found = []
    for command in COMMANDS:
        runs = [hop(name, duration=20.0, angle=np.radians(command)) for name in COMMANDED]
        ends = [f"{mean_speed(run):+.3f} m/s" if run.ended.startswith("to ") else run.ended for run in runs]
        found.append((command, tuple(ends)))
    return tuple(found)


def mean_speed(run: HopRun) -> float:
    """Speed of the trunk over the last HOPS hops, from apex to apex, m/s."""
    apexes = run.named("apex")
    first, last = apexes[-1 - min(HOPS, len(apexes) - 1)], apexes[-1]
    return float((last.q[0] - first.q[0]) / (last.t - first.t))


def spring_in_flight(run: HopRun) -> np.ndarray:
    """Mean energy of the radial spring in each flight between two stances, J."""
    found = []
    for begin, end in _flights(run):
        part = (run.t >= begin.t) & (run.t <= end.t)
        found.append(np.trapezoid(run.radial_energy[part], run.t[part]) / (end.t - begin.t))
    return np.array(found)


def _flights(run: HopRun) -> Iterator[tuple[ff.sim.Occurrence, ff.sim.Occurrence]]:
    """Lift-off and next touch-down around each apex that has both."""
    for apex in run.named("apex"):
        before = [e for e in run.named("lift-off") if e.t < apex.t]
        after = [e for e in run.named("touch-down") if e.t > apex.t]
        if before and after:
            yield before[-1], after[0]


def works(run: HopRun) -> tuple[Works, ...]:
    energy = run.energy
    floor = -energy.floor[-1]
    return (Works("external work, in", 7.15, energy.external[-1]), Works("joint work, in", 4.65, energy.joint[-1]),
        Works("losses at touch-down, out", 2.9, -energy.touch_down[-1]),
        Works("radial damper, out", 5.9, -energy.radial_damper[-1]),
        Works("floor after touch-down, less the radial damper", 3.0, floor + energy.radial_damper[-1]))  # fmt: skip


def flight_turns(run: HopRun) -> np.ndarray:
    """By how much the leg turns from each lift-off that has an apex to the next touch-down, deg."""
    angles = [[float(legs(run.model, e.q).angle) for e in ends] for ends in _flights(run)]
    return np.array([np.degrees(end - begin) for begin, end in angles])


def statements(runs: dict[str, HopRun], tuning: Tuning, noise: tuple[tuple[float, int], ...], gaits: tuple[tuple[str, HopGait],
    ...]) -> tuple[Statement, ...]:
    """Beside Figs 4.3 to 4.17."""
    turns = {name: flight_turns(runs[name]) for name in EXPERIMENTS}
    first_turns = ", ".join(f"{x:+.0f}" for x in turns["revolute-II"][:5])
    rest = [e.t for e in runs["prismatic-II"].named("lift-off")]
    kept = runs["prismatic-III"]
    total = kept.energy.mechanical + kept.radial_energy
    at_apexes = np.interp([e.t for e in kept.named("apex")], kept.t, total)
    hops = dict(noise)
    spring = 1e3 * spring_in_flight(kept)
    short = 1e3 * (kept.settings.length - kept.leg.length[0])
    speeds = {name: f"mean of the last {HOPS} hops {mean_speed(runs[name]):+.4f} m/s" for name in COMMANDED}
    least = np.degrees(tuning.knee[int(np.argmin(np.abs(tuning.momentum)))])
    at_102 = float(np.interp(np.radians(102.0), tuning.knee, tuning.momentum) / np.abs(tuning.momentum).min() - 1.0)
    six = gaits[0][1]
    stretch = float(1e3 * (runs["revolute-VI"].leg.length.max() - runs["revolute-VI"].settings.length))
    downs = len([t for t in np.diff([e.t for e in runs["revolute-VI"].named("touch-down")]) if t > 0.05]) + 1
    each = -1e3 * runs["revolute-VI"].energy.touch_down[-1] / downs
    losses = -1e3 * np.diff(runs["revolute-VI"].energy.touch_down)
    first = float(np.median(np.sort(losses)[-downs:]))
    return (
        Statement("prismatic-I", "4.3", "tilts after 7 hops, by simulation noise",
            f"{hops[1e-8]} hops from a tilt of 1e-8 rad, {hops[1e-13]} from 1e-13",
                  "exactly upright it hops on: nothing disturbs it"),
        Statement("prismatic-II", "4.4", "at rest after 12 jumps", f"{len(rest)} lift-offs, the last at {rest[-1]:.2f} s"),
        Statement("prismatic-III", "4.5", "holds E0 = 2.9047 J, the initial energy",
            f"kinetic, gravity and radial spring: {at_apexes.min():.4f} to {at_apexes.max():.4f} J at apexes",
            f"at the start gravity alone is {kept.energy.mechanical[0]:.4f} J; with the radial spring, {short:.2f} mm short, it is "
            f"{total[0]:.4f} J. The thesis leaves open which of them it regulates; here it is the sum, commanded 2.9047 J"),
        Statement("prismatic-III", "4.5", "the mean spring energy in flight rises slightly from hop to hop",
            f"{spring[0]:.1f}, {spring[1]:.1f}, {spring[2]:.1f} mJ, then to {spring[-1]:.1f} mJ",
            "it rises in the first flights and stays"),
        Statement("revolute", "4.7", "angular momentum least at q1 = 102 deg",
            f"least at {least:.0f} deg, {100 * at_102:.1f} % more at 102 deg",
                  "the curve is flat there: what the start leaves open (the gains, the spring's length) moves its lowest point"),
        Statement("revolute-I", "4.8", "turns by about 30 deg in its first flight, then jumps away",
                  f"{turns['revolute-I'][0]:.1f} deg; {runs['revolute-I'].ended}"),
        Statement("revolute-II", "4.9", "drifts forward, angular momentum of alternating sign",
                  f"turns {first_turns} deg; {runs['revolute-II'].q[-1, 0]:+.2f} m in 6 s"),
        Statement("revolute-III", "4.10", "keeps its energy, alternating signs",
            f"{len(turns['revolute-III'])} hops, {runs['revolute-III'].ended}",
                  "undamped, the knee swings in flight, and each touch-down meets it in another phase"),
        Statement("revolute-IV", "4.11", "turns by about 3 deg in flight; settles at a small negative speed",
                  f"at most {np.abs(turns['revolute-IV'][1:]).max():.1f} deg after the first; {speeds['revolute-IV']}",
                  f"the first flight turns by {turns['revolute-IV'][0]:.0f} deg, as in I: it settles tilted"),
        Statement("revolute-V", "4.12", "settles on a gait of lower energy", f"{speeds['revolute-V']}, "
                  f"{runs['revolute-V'].energy.mechanical[0]:.3f} to {runs['revolute-V'].energy.mechanical[-1]:.3f} J"),
        Statement("revolute-VI", "4.13-4.16", "stationary; spring 9 mm too long at lift-off",
            f"{speeds['revolute-VI']}; {stretch:.1f} mm"),
        Statement("revolute-VI", "4.14", "45 mJ lost at each touch-down (2.9 J are 64 of them)",
                  f"{first:.0f} mJ at the first impact of a hop, {each:.0f} mJ with all of them; {downs} hops",
                  "the foot bounces; each impact counts as a plastic one"),
        Statement("revolute-VI", "4.17", "a hopping cycle", f"{six.period:.3f} s, {1e3 * six.stride:.0f} mm"))  # fmt: skip
