"""Chapter 4: tables and pictures of the hopping legs."""

from __future__ import annotations

from typing import Any

import numpy as np

from freeflyer.plots.style import BLUE, GREY, ORANGE, new_figure, styled
from freeflyer.tables import Table
from freeflyer_papers.decoupling.hopping import COMMANDED, HOPS, UNACTUATED, HoppingResult, spring_in_flight
from freeflyer_papers.hopping.hopping import HopRun
from freeflyer_papers.hopping.pictures import basin_figure, hop_figure, hop_strip
from freeflyer_papers.hopping.settings import EXPERIMENTS, ROBOTS, start_of


def tables(r: HoppingResult) -> list[Table]:
    """Settings and starts, statements, commands, energy, beyond the thesis."""
    return [robots(), floors(), settings(), starts(), seen(r), commands(r), energy(r), beyond(r)]


def robots() -> Table:
    rows = [(f"{kind}, {link.name}", f"{link.inertia.mass:g}") for kind, make in ROBOTS.items()
        for link in make().description.links if link.inertia.mass > 0.0]  # fmt: skip
    return Table("Tables 4.4, 4.5, 4.9, 4.10: masses (kg); links of 0.12 m, masses of thigh and shank in their middle",
        ("leg", "kg"), rows, (1,))  # fmt: skip


def floors() -> Table:
    s = EXPERIMENTS["revolute-I"].settings
    rows = [(axis, f"{s.floor_stiffness:g}", f"{s.floor_damping:g}") for axis in "xz"]
    return Table("Tables 4.6 and 4.11: the floor (N/m, N s/m)", ("direction", "K", "D"), rows, (1, 2))


def settings() -> Table:
    rows = []
    for name, x in EXPERIMENTS.items():
        s = x.settings
        energy = f"{s.energy:.4f}" if s.energy_gain else "-"
        rows.append((name, f"{s.radial_gain:g}/{s.radial_damping:g}", f"{s.polar_gain:g}/0", f"{s.energy_gain:g}", f"{s.length:g}",
            energy))
    note = ("K_E of revolute-III to VI is 20 in Table 4.12 and 10 in the text of Experiment III. With 10, VI has its printed "
        "start's energy, speed at the apex and external work; with 20 it is faster and higher. E_des of the revolute leg is "
        "the printed 2.8382 J; its own tables give 2.8645 J. The prismatic leg starts 5.66 mm shorter than r_des: its 2.9047 "
        "J are gravity alone, with the spring the start has 2.940 J.")
    return Table("Tables 4.8 and 4.12: gains and commands", ("experiment", "K_r/D_r", "K_p/D_p", "K_E", "r_des (m)", "E_des (J)"),
        rows, (3, 4, 5), note)


def starts() -> Table:
    rows = []
    for name, x in EXPERIMENTS.items():
        q, _ = start_of(x, ROBOTS[x.robot]())
        rows.append((name, *(f"{value:.4f}" for value in (*q, *x.body_velocity))))
    return Table("Tables 4.7 and 4.13: starts (m, rad, trunk's axes)", ("experiment", "o_x", "o_y", "theta", "q1", "v_x", "v_y",
        "omega", "q1'"),
                 rows, tuple(range(1, 9)), 'The second "EXP VI" of Table 4.13 is IV.')  # fmt: skip


def seen(r: HoppingResult) -> Table:
    rows = [(s.experiment, s.figure, s.thesis, s.seen, s.reason) for s in r.statements]
    return Table("Figs 4.3 to 4.17: what the thesis says, and what was seen", ("experiment", "Fig", "the thesis", "seen", "why"),
        rows)


def commands(r: HoppingResult) -> Table:
    rows = [(f"{command:+.0f}", *ends) for command, ends in r.commands]
    falls = {command for command, ends in r.commands if all(end.startswith("fallen") for end in ends)}
    hops = {command for command, ends in r.commands if not any(end.startswith("fallen") for end in ends)}
    words = [", ".join(f"{x:+.0f}" for x in sorted(chosen)) or "none" for chosen in (falls, hops)]
    return Table("Commands of the polar controller other than zero", ("command (deg)", *COMMANDED), rows, (0,),
        "The thesis: commands of 2 to 3 deg give large angular momenta in flight and unstable gaits; it does not say of which "
        f"sign, nor from which start. Here {words[0]} deg fall from all three starts, {words[1]} deg hop on for 20 s from all of "
        f"them. Speeds are means of the last {HOPS} hops.")  # fmt: skip


def energy(r: HoppingResult) -> Table:
    rows = [(w.what, f"{w.thesis:.2f}", f"{w.ours:.2f}") for w in r.works]
    note = ("The thesis takes its last line as what is left of external and joint work after losses at touch-down and in the "
        "damper. But the joint's work is what remains behind the damper, which lies in the controller: all of external and "
        "joint work is lost on the floor.")
    return Table("Experiment VI, energy of 20 s (J)", ("what", "thesis", "here"), rows, (1, 2), note)


def beyond(r: HoppingResult) -> Table:
    rows = [("prismatic-I", f"hops before 10 deg, tilted by {tilt:g} rad first", str(hops)) for tilt, hops in r.noise]
    for name, gait in r.gaits:
        sizes = ", ".join(f"{x:.2f}" for x in np.abs(gait.multipliers)[:3])
        rows.append((name, "gait: mean speed (m/s), period (s), largest Floquet multipliers",
            f"{gait.stride / gait.period:+.3f}, {gait.period:.3f}, {sizes}"))
    rows += [(name, "under controller III", ended) for name, ended in r.locked]
    rows += [("revolute, radial control alone", f"{UNACTUATED} random starts and gains: {what}", str(count))
             for what, count in r.alone]
    rows += [("revolute-V", f"starts of the map: {what}", f"{100 * share:.1f} %") for what, share in r.basin_shares]
    return Table("Beyond the thesis", ("experiment", "what", "found"), rows)


FIGURES = {"prismatic-I": "fig4_3", "prismatic-II": "fig4_4", "prismatic-III": "fig4_5", "revolute-I": "fig4_8",
    "revolute-II": "fig4_9", "revolute-III": "fig4_10", "revolute-IV": "fig4_11", "revolute-V": "fig4_12",
    "revolute-VI": "fig4_13_4_14"}  # fmt: skip


@styled
def pictures(r: HoppingResult) -> dict[str, Any]:
    """Figures by name."""
    runs, basins = r.drawn.runs, r.drawn.basins
    drawn = {f"{figure}_{name.replace('-', '_')}": hop_figure(runs[name]) for name, figure in FIGURES.items()}
    six = runs["revolute-VI"]
    begin, cycle = six.named("apex")[-2].t, r.gaits[0][1].period
    return drawn | {
        "fig4_15_4_16_revolute_VI_zoom": hop_figure(six, six.t[-1] - 1.5),
        "fig4_17_cycle": hop_strip(six, count=10, begin=begin, period=cycle),
        "fig4_1_4_2_prismatic": hop_strip(runs["prismatic-III"], count=9, period=0.6),
        "fig4_6_revolute": hop_strip(runs["revolute-IV"], count=2, period=0.1),
        "fig4_5_spring_energy": spring_energy(runs["prismatic-III"]), "fig4_7_tuning": tuning(r),
        "basins": basin_figure(basins)}  # fmt: skip


def spring_energy(run: HopRun) -> Any:
    """Fig 4.5: mean energy of the radial spring in each flight."""
    energy = 1e3 * spring_in_flight(run)
    figure, axes = new_figure(6.0, 3.0)
    axes.plot(np.arange(1, len(energy) + 1), energy, "o-", color=BLUE, ms=4)
    axes.set(xlabel="flight", ylabel="mean energy (mJ)", title=f"Fig 4.5: radial spring in flight, {run.experiment}")
    axes.set_ylim(0.0, 1.1 * energy.max())
    return figure


def tuning(r: HoppingResult) -> Any:
    """Fig 4.7, and the turn that the momentum means."""
    figure, axes = new_figure(6.0, 3.2)
    knee = np.degrees(r.tuning.knee)
    axes.plot(knee, 1e3 * r.tuning.momentum, color=BLUE, label="angular momentum")
    axes.axvline(102.0, color=GREY, ls=":", label="the thesis's choice")
    axes.set(xlabel="knee angle at the start (deg)", ylabel="angular momentum (mN m s)", title="Fig 4.7: behind the first lift-off")
    other = axes.twinx()
    other.plot(knee, np.degrees(r.tuning.turn), color=ORANGE)
    other.set_ylabel("locked leg's turn (deg/s)", color=ORANGE)
    other.spines["right"].set_visible(True)
    axes.legend(fontsize=7)
    return figure
