"""`freeflyer linearize`: equilibrium, poles, controllability; and recovery from any attitude."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import freeflyer as ff
from freeflyer.cli import options as opt
from freeflyer.cli.output import draw_all, name, output, table, write_json
from freeflyer.errors import unknown_name
from freeflyer.text import number, visible

if TYPE_CHECKING:
    from freeflyer.analysis.linearization import LinearStudy, Recovery

MOST_MODES = 24  # rows of the table

AtOption = Annotated[Path | None, opt.option("--at", metavar="FILE.yaml",
    help="Where joints stand, as in 'knee: 0.4'.", show_default="neutral")]  # fmt: skip
ThrusterOption = Annotated[list[str] | None, opt.option("--thruster", metavar="FRAME",
    help="A thruster along the frame's z axis, as in 'nozzle_*'; may be repeated.")]  # fmt: skip
WrenchOption = Annotated[list[str] | None, opt.option("--wrench", metavar="FRAME",
    help="Force and torque on a frame as inputs; may be repeated.")]  # fmt: skip


def linearize(
    robot: opt.RobotArgument, at: AtOption = None, folder: opt.FolderOption = None, thrusters: ThrusterOption = None,
    wrenches: WrenchOption = None,
    search: Annotated[bool, typer.Option(help="Search an equilibrium near the posture if the inputs don't hold it.")] = True,
    bandwidth: Annotated[float, typer.Option("--bandwidth", help="Bandwidth of the regulator, rad/s.")] = 2.0,
    recovery: Annotated[bool, typer.Option("--recovery", help="Let go at large angles, under two regulators.")] = False,
    base: opt.BaseOption = None, loops: opt.LoopsOption = None, json: opt.JsonOption = None, debug: opt.DebugOption = False,
) -> None:  # fmt: skip
    """Linearise a robot about a posture at rest: holding forces, poles, controllable and uncontrollable motions."""
    from freeflyer.analysis.linearization import recovery as recover, study
    from freeflyer.model import read_posture
    from freeflyer.report import poles as figures

    model = ff.close_loops(opt.load_robot(robot, base, loops))
    inputs = _inputs(model, thrusters or [], wrenches or [])
    q = ff.neutral(model) if at is None else read_posture(at, model)
    opt.make_folder(folder)
    result = study(model, q, inputs, search=search, bandwidth=bandwidth)
    out, back, pictures = output(json), None, {"poles": lambda: figures.poles(result)}
    if recovery:
        regulator = ff.control.lqr(model, result.q, inputs, bandwidth=bandwidth)
        back = found = recover(regulator, dt=0.04 / bandwidth, duration=24.0 / bandwidth)
        pictures["recovery"] = lambda: figures.recovery(found)
    _show(out, result)
    if back is not None:
        out.print(_recovery_table(back))
    draw_all(out, folder, pictures)
    write_json(json, "linearize", {"study": result, "recovery": back} if back is not None else result)


def _inputs(model: Any, thrusters: list[str], wrenches: list[str]) -> Any:
    """Motors of the actuated joints, propellers at sites rotor_1 ... where there are any, thrusters and wrenches."""
    inputs = ff.control.joint_inputs(model)
    if "rotor_1" in model.frame_names and not thrusters:
        inputs = inputs + ff.control.rotor_inputs(model)
    named: dict[str, list[float]] = {}
    for pattern in thrusters:
        matching = [f for f in model.frame_names if fnmatchcase(f, pattern)]
        if not matching:
            raise unknown_name("frame", pattern, model.frame_names)
        named |= {f: [0.0, 0.0, 1.0, 0.0, 0.0, 0.0] for f in matching}
    if named:
        inputs = inputs + ff.control.thruster_inputs(model, named)
    for frame in wrenches:
        inputs = inputs + ff.control.wrench_inputs(model, frame)
    return inputs


def _show(out: Any, r: LinearStudy) -> None:
    out.print(name(r.robot, "bold"), f" {r.states} states, {len(r.inputs)} inputs", soft_wrap=True)
    for words in (r.found, r.held):
        out.print(name(words, "", 2000), soft_wrap=True)
    out.print(_modes(r))
    reached = f"the inputs steer {r.rank} of {r.states} states"
    if r.uncontrollable:
        reached += f"; out of reach: {visible(', '.join(r.uncontrollable), 1000)}"
    out.print(name(reached, "green" if r.rank == r.states else "yellow", 2000), soft_wrap=True)
    out.print(f"condition of the mass matrix (unit-free) {number(r.mass_condition)}, of the eigenvectors "
        f"{number(r.eigenvector_condition)}; distance to a pair out of reach {number(r.distance, 3)}", soft_wrap=True)  # fmt: skip
    if r.refusal:
        out.print(name(f"no regulator: {r.refusal}", "yellow", 2000), soft_wrap=True)
        out.print("--wrench FRAME and --thruster FRAME add inputs: freeflyer linearize space_manipulator --wrench satellite")
    else:
        slowest = -float(r.closed[:, 0].max())
        out.print(f"regulator of {r.bandwidth:g} rad/s: its slowest motion decays in {number(1.0 / slowest, 3)} s", soft_wrap=True)
    for note in r.notes:
        out.print(name(f"note: {note}", "cyan", 2000), soft_wrap=True)


def _modes(r: LinearStudy) -> Any:
    rows = [(number(m.real), number(m.imaginary), str(m.count), m.behaviour, number(m.time, 3), number(m.period, 3), m.motion)
        for m in r.modes[:MOST_MODES]]  # fmt: skip
    if len(r.modes) > MOST_MODES:
        rows.append(("", "", "", f"... and {len(r.modes) - MOST_MODES} more modes", "", "", ""))
    columns = ("real 1/s", "imaginary", "count", "behaviour", "time s", "period s", "motion")
    return table("modes, left alone", columns, rows, (0, 1, 2, 4, 5))


def _recovery_table(r: Recovery) -> Any:
    def end(angles: Any, recovers: Any, distances: Any, k: int) -> tuple[str, str]:
        if recovers[k]:
            return "comes back", number(float(distances[:, k].max()), 3)
        return ("is not back yet" if angles[-1, k] < angles[0, k] else "is lost"), "-"

    rows = [
        (number(p), *end(r.group, r.group_recovers, r.group_distance, k), *end(r.euler, r.euler_recovers, r.euler_distance, k))
        for k, p in enumerate(r.pitches)]
    columns = ("pitch deg", "on the group", "strays m", "on roll-pitch-yaw", "strays m")
    return table(f"let go at rest, {number(float(r.time[-1]))} s under the regulator", columns, rows, (0, 2, 4))
