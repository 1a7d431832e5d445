"""`freeflyer control`: a robot under whole-body control in MuJoCo or on our ground, its numbers and pictures."""

from __future__ import annotations

from contextlib import suppress
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import freeflyer as ff
from freeflyer.cli.options import DebugOption, FolderOption, JsonOption, LoopsOption, ViewOption, load_robot, make_folder, option
from freeflyer.cli.output import Pictures, console, draw_all, output, status, table, write_json
from freeflyer.cli.view import play_run
from freeflyer.errors import InputError, format_value
from freeflyer.text import listed, number, visible

if TYPE_CHECKING:
    from rich.console import Console

ScenarioName = StrEnum("ScenarioName", ["stand", "squat", "reach", "lift", "walk", "swing", "all"])
SCENARIOS = tuple(str(name) for name in ScenarioName if str(name) != "all")
PlantName = StrEnum("PlantName", ["mujoco", "freeflyer", "both"])
FormulationName = StrEnum("FormulationName", [("full", "full"), ("reduced", "reduced"), ("three_step", "three-step")])
RobotOption = Annotated[str, typer.Option("--robot", metavar="ROBOT", help="A URDF or MJCF file, or a built-in robot.")]
FeetOption = Annotated[str | None, option("--feet", metavar="NAMES",
    help="Frames of the feet, separated by commas.", show_default="found by name or in the file")]  # fmt: skip
SoleOption = Annotated[str | None, option("--sole", metavar="LENGTHxWIDTH",
    help="Sides of these feet, m, around their origins; or `point`.")]  # fmt: skip
FileOption = Annotated[Path | None, option("--plant-file", metavar="FILE", help="The robot's MJCF file, which MuJoCo simulates "
    "with its own shapes.", show_default="what we write, balls under the feet")]  # fmt: skip
StepsOption = Annotated[int | None, option("--steps", min=2,
    help="walk: number of steps, with a gait or speeds of each foot.", show_default="10, or for 10 s")]  # fmt: skip
StepLengthOption = Annotated[float | None, option("--step-length", help="walk: step, m.",
    show_default="0.2, less for smaller robots")]  # fmt: skip
GaitOption = Annotated[str | None, option("--gait", metavar="NAME",
    help="walk: crawl or trot of four feet, walk of two.", show_default="trot of four")]  # fmt: skip
SpeedOption = Annotated[float | None, option("--speed", help="walk: forward, m/s.")]
LateralOption = Annotated[float | None, option("--lateral", help="walk: to the left, m/s.")]
TurningOption = Annotated[float | None, option("--turning", help="walk: turning rate to the left, rad/s.")]
HandOption = Annotated[str | None, option("--hand", metavar="FRAME", help="The hand that reaches.")]
PushesOption = Annotated[int | None, option("--pushes", min=1, help="stand: number of random pushes, each from rest.")]
BoundaryOption = Annotated[int | None, option("--boundary", metavar="DIRECTIONS", min=3,
    help="stand: number of directions in which the impulse is sought at which it falls.")]  # fmt: skip


def control(
    scenario: Annotated[ScenarioName, typer.Argument(help="Motion of the robot.", show_default=False)],
    robot: RobotOption = "humanoid",
    feet: FeetOption = None, sole: SoleOption = None, loops: LoopsOption = None, plant_file: FileOption = None,
    hand: HandOption = None, steps: StepsOption = None, step_length: StepLengthOption = None,
    gait: GaitOption = None, speed: SpeedOption = None, lateral: LateralOption = None, turning: TurningOption = None,
    formulation: Annotated[FormulationName, typer.Option("--formulation", help="Unknowns of the programs.")] = FormulationName.full,
    compare: Annotated[bool, typer.Option("--compare", help="Full and reduced formulation, errors side by side.")] = False,
    plant: Annotated[PlantName, typer.Option("--plant", help="MuJoCo, our rigid ground, or both side by side.")] = PlantName.mujoco,
    solver: Annotated[str, typer.Option("--solver", help="active-set, or a solver of quadratic programs.")] = "active-set",
    weighted: Annotated[bool, typer.Option("--weighted", help="Weights in place of strict levels of tasks.")] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of pushes and noise.")] = 0,
    dt: Annotated[float, typer.Option("--dt", help="Control period, s.")] = 1e-3,
    duration: Annotated[float | None, typer.Option("--duration", help="Time of the run, s.", show_default="the scenario's")] = None,
    delay: Annotated[float, typer.Option("--delay", min=0.0, help="Age of the measured state, s.")] = 0.0,
    position_noise: Annotated[float, typer.Option("--position-noise", min=0.0, help="Standard deviation, m and rad.")] = 0.0,
    velocity_noise: Annotated[float, typer.Option("--velocity-noise", min=0.0, help="Standard deviation, m/s and rad/s.")] = 0.0,
    pushes: PushesOption = None, boundary: BoundaryOption = None,
    processes: Annotated[int, typer.Option("--processes", min=1, help="Processes that share the pushes.")] = 1,
    folder: FolderOption = None, view: ViewOption = False, json: JsonOption = None, debug: DebugOption = False,
) -> None:  # fmt: skip
    """Control a robot on its feet: standing under pushes, squatting, reaching, lifting feet, walking, swinging, or all."""
    out = output(json)
    walking = {"steps": steps, "step_length": step_length, "gait": gait, "speed": speed, "lateral": lateral, "turning": turning}
    given = {"hand": ("reach", hand), **{name: ("walk", value) for name, value in walking.items()}}
    for name, (owner, value) in given.items():
        if value is not None and str(scenario) not in (owner, "all"):
            raise typer.BadParameter(f"--{name.replace('_', '-')} belongs to the scenario {owner}")
    studied = pushes is not None or boundary is not None
    if studied and scenario is not ScenarioName.stand:
        raise typer.BadParameter("--pushes and --boundary belong to the scenario stand")
    alone = {"--view": view, "--compare": compare, "--weighted": weighted, "--solver": solver != "active-set",
             "--duration": duration is not None, "--plant-file": plant_file is not None}  # fmt: skip
    if studied and any(alone.values()):
        raise typer.BadParameter(f"--pushes and --boundary take no {listed([k for k, x in alone.items() if x])}")
    if processes > 1 and not studied:
        raise typer.BadParameter("--processes share the pushes of --pushes and --boundary")
    if compare and formulation is not FormulationName.full:
        raise typer.BadParameter("--compare runs the full and the reduced formulation: leave out --formulation")
    plants: Any = ("mujoco", "freeflyer") if plant is PlantName.both else (plant.value,)
    formulations: Any = ("full", "reduced") if compare else (formulation.value,)
    if compare and len(plants) > 1:
        raise typer.BadParameter("--compare and --plant both are two comparisons: ask for one at a time")
    exact = delay == position_noise == velocity_noise == 0.0
    sensing = None if exact else ff.sim.Sensing(position_noise, velocity_noise, delay, seed)
    make_folder(folder)
    with status(f"{robot}: a posture on its feet"):
        standing = standing_robot(robot, feet, sole, loops, plant_file)
    on = [f"{visible(foot.name)} ({foot.kind})" for foot in standing.feet]
    where_it_stands = f"{visible(standing.model.name)} stands on {listed(on)}"
    if studied:
        studies = []
        for where in plants:
            options = {"formulation": formulation.value, "dt": dt, "sensing": sensing, "plant": where, "processes": processes}
            studies.append(push_study(out, standing, pushes, boundary, seed, folder, options))
        out.print(where_it_stands, soft_wrap=True)
        write_json(json, "control", studies[0] if len(studies) == 1 else {"studies": studies})
        return
    found: list[ff.control.ControlRun] = []
    refused: dict[str, str] = {}
    for name in SCENARIOS if scenario is ScenarioName.all else [str(scenario)]:
        for form, where in product(formulations, plants):
            extra = {key: value for key, (owner, value) in given.items() if owner == name and value is not None}
            try:
                with status(f"{robot}: {name} under control, {form}, {where}") as progress:
                    found.append(ff.control.run_scenario(
                        name, standing.model, q=standing.q, feet=standing.feet, formulation=form, solver=solver, path=plant_file,
                        weighted=weighted, seed=seed, dt=dt, duration=duration, sensing=sensing, plant=where, progress=progress,
                        **extra))  # fmt: skip
                    progress(0.0, "drawing")
                    draw_all(out, folder, pictures(found[-1]))
            except InputError as error:
                if scenario is not ScenarioName.all or not found:
                    raise
                refused[name] = str(error)
                break
    out.print(where_it_stands, soft_wrap=True)
    out.print(_table(found[0]) if len(found) == 1 else _comparison(found, "formulation" if compare else "plant")
              if compare or len(plants) > 1 else _overview(found))
    for name, why in refused.items():
        out.print(f"{name} is refused: {why}", soft_wrap=True)
    for result in found:
        title = "" if len(found) == 1 else f"{result.scenario} ({result.formulation}, {result.plant}): "
        out.print(f"{title}{verdict(result)}", soft_wrap=True)
    write_json(json, "control", summary(found[0]) if len(found) == 1 else {"runs": [summary(r) for r in found], "refused": refused})
    if view:
        play_run(out, found[-1])


def pictures(result: ff.control.ControlRun) -> Pictures:
    """Film strip and figure of a run."""
    from freeflyer.plots.controlled import run_figure, run_strip

    name = f"{result.scenario}_{result.robot}_{result.formulation}" + "_ground" * (result.plant != "mujoco")
    return {f"{name}_strip": lambda: run_strip(result), name: lambda: run_figure(result)}


def summary(result: ff.control.ControlRun) -> dict[str, Any]:
    """Numbers of the table."""
    import numpy as np

    later = result.solve_times[1:] if len(result.solve_times) > 1 else result.solve_times
    times = 1e6 * np.percentile(later, [50.0, 99.9, 100.0])
    return {
        "scenario": result.scenario, "robot": result.robot, "formulation": result.formulation, "plant": result.plant,
        "fell": result.fell,
        "lost": result.lost, "stopped": result.stopped, "duration": float(result.run.t[-1]),
        "cycles": len(result.solve_times), "statuses": dict(result.statuses),
        "largest_errors": {name: error._asdict() for name, error in result.largest_errors().items()},
        "largest_torque": float(np.abs(result.tau).max()), "solve_time_first": 1e6 * float(result.solve_times[0]),
        "solve_time_median": float(times[0]), "solve_time_99_9": float(times[1]),
        "solve_time_largest": float(times[2])}  # fmt: skip


def verdict(result: ff.control.ControlRun) -> str:
    """Whether the robot stands and keeps its tasks."""
    failure = result.run.failure or ""
    if failure and not failure.endswith("the robot fell"):
        return f"the run ended {failure}"
    if result.fell:
        return f"it fell after {result.run.t[-1]:.2f} s"
    errors = result.largest_errors()
    stopped = f"; at their limits: {', '.join(result.stopped)}" if result.stopped else ""
    lost = [f"{name} ({errors[name].m:.2g} m, {errors[name].rad:.2g} rad)" for name in result.lost]
    return (f"it stands, but loses {', '.join(lost)}" if lost else "it stands and keeps its tasks") + stopped


def _by_unit(result: ff.control.ControlRun) -> list[tuple[str, str, float]]:
    """Task, unit and largest error of each."""
    return [(name, unit, error) for name, e in result.largest_errors().items() for unit, error in e._asdict().items() if error]


def _table(result: ff.control.ControlRun) -> Any:
    s = summary(result)
    rows = [(f"largest error of {name}", number(e, 3), unit) for name, unit, e in _by_unit(result)]
    rows.append(("largest torque", number(s["largest_torque"]), "N m or N"))
    rows += [(f"cycles {status}", str(count), "") for status, count in s["statuses"].items()]
    rows.append(("the first cycle, which loads code", number(s["solve_time_first"]), "us"))
    rows.append(("a later cycle, median", number(s["solve_time_median"]), "us"))
    rows.append(("a later cycle, 99.9 % are below", number(s["solve_time_99_9"]), "us"))
    rows.append(("a later cycle, longest", number(s["solve_time_largest"]), "us"))
    title = f"{result.robot}: {result.scenario}, {result.formulation} formulation, {s['duration']:g} s"
    return table(title, ("what", "value", "unit"), rows, (1,))


def _overview(found: list[ff.control.ControlRun]) -> Any:
    """Of several runs: how they end, the largest errors of each task, the longest cycle."""
    rows = []
    for r in found:
        first = (r.scenario, "fell" if r.fell else "lost tasks" if r.lost else "kept tasks")
        cycle = number(1e-3 * summary(r)["solve_time_largest"], 3)
        for k, (task, e) in enumerate(r.largest_errors().items()):
            errors = [number(x, 3) if x else "" for x in e]
            rows.append((*first, task, *errors, cycle) if k == 0 else ("", "", task, *errors, ""))
    titles = ("scenario", "end", "largest error of", "m", "rad", "longest cycle, ms")
    return table(f"{found[0].robot}: {found[0].formulation} formulation", titles, rows, (3, 4, 5))


def _comparison(found: list[ff.control.ControlRun], by: str) -> Any:
    """Errors of two formulations or plants side by side, with their ratio."""
    forms = list(dict.fromkeys(getattr(r, by) for r in found))
    rows = []
    for name in dict.fromkeys(r.scenario for r in found):
        first, second = ({(task, unit): e for task, unit, e in _by_unit(r)} for r in found if r.scenario == name)
        for (task, unit), e in first.items():
            other = second.get((task, unit), 0.0)
            rows.append((name, task, unit, number(e, 3), number(other, 3), number(other / e, 4)))
    return table(f"{found[0].robot}: tracking errors", ("scenario", "largest error of", "unit", *forms, "ratio"), rows, (3, 4, 5))


def push_study(out: Console, robot: ff.control.Standing, pushes: int | None, directions: int | None, seed: int, folder: Path | None,
               options: dict[str, Any]) -> dict[str, Any]:  # fmt: skip
    """Prints the results, draws them into a folder, and returns the numbers."""
    import numpy as np


    found: dict[str, Any] = {"robot": robot.model.name, "mass": robot.model.mass, "plant": options["plant"]}
    impulses, fell = np.zeros((0, 2)), np.zeros(0, bool)
    boundary = None
    if pushes is not None:
        impulses = ff.control.random_pushes(robot, pushes, seed=seed)
        with status(f"{robot.model.name}: {pushes} pushes") as progress:
            fell = ~ff.control.survives_push(robot, impulses, progress=progress, **options)
        size = np.linalg.norm(impulses, axis=1)
        where, mass = options["plant"], robot.model.mass
        out.print(f"{where}: {fell.sum()} of {pushes} pushes lost; impulses up to {size.max():.1f} N s on {mass:.1f} kg")
        found |= {"impulses": impulses.tolist(), "fell": fell.tolist()}
    if directions is not None:
        angles = 2.0 * np.pi * np.arange(directions) / directions
        with status(f"{robot.model.name}: where it falls") as progress:
            boundary = ff.control.push_boundary(robot, angles, progress=progress, **options)
        rows = [(*(number(x, 3) for x in (np.degrees(a), low, high, limit)), number(low / limit, 2))
            for a, low, high, limit in zip(angles, boundary.borne, boundary.lost, boundary.limits)]  # fmt: skip
        titles = ("direction (deg)", "borne (N s)", "lost (N s)", "capture point (N s)", "share")
        title = f"{robot.model.name}, {robot.model.mass:.1f} kg: pushes for 0.1 s on the base"
        out.print(table(title, titles, rows, tuple(range(5))))
        found |= {"angles": angles.tolist(), "borne": boundary.borne.tolist(), "lost": boundary.lost.tolist(),
                  "limits": boundary.limits.tolist()}  # fmt: skip
    if folder is not None:
        from freeflyer.plots.controlled import push_figure

        draw_all(out, folder, {
            f"pushes_{robot.model.name}" + "_ground" * (options["plant"] != "mujoco"):
                lambda: push_figure(robot.model.mass, boundary, impulses, fell)})  # fmt: skip
    return found


def standing_robot(name: str, feet: str | None, sole: str | None, loops: Path | None,
                   plant: Path | None = None) -> ff.control.Standing:
    """The robot that --robot means on its feet: those of --feet, or of frames ..._sole, or of the colliding shapes in the file that
    MuJoCo simulates or in its own."""
    robot = load_robot(name, None, loops)
    model, path = _without_springs(robot, plant), plant or robot.description.file or None
    if sole is not None and feet is None:
        raise InputError("--sole gives the size of the feet that --feet names: give both")
    return ff.control.stand_on_feet(model, None if feet is None else _named_feet(model, feet, sole, path), path=path)


def _without_springs(robot: ff.Model, plant: Path | None) -> ff.Model:
    """The robot with closed loops, joints locked that springs drive and no motors: a cycle cannot choose forces of the ground that
    have to go through springs."""
    from freeflyer.control.inputs import unactuated_coordinates, velocity_places
    from freeflyer.model import reference_posture

    model = ff.close_loops(robot)
    free = set(velocity_places(model)[unactuated_coordinates(model)].tolist())
    sprung = {j.name for j in model.tree.description.joints if any(j.stiffness)}
    names = [j.name for j in model.tree.joints if j.iv in free and j.nv == 1 and j.name in sprung]
    if not names:
        return model
    if plant is not None:
        raise InputError(f"springs alone drive {', '.join(names)} of {model.name!r}, which control takes as rigid: its own file "
            "cannot be the plant. Leave --plant-file out")  # fmt: skip
    console(stderr=True).print(f"springs alone drive {', '.join(names)}: they are locked", soft_wrap=True)
    return ff.close_loops(ff.lock_joints(model.tree, names, reference_posture(model.tree)))


def _named_feet(model: ff.Model, feet: str, sole: str | None, path: Path | str | None) -> list[ff.contacts.Contact]:
    """Contacts at frames: points, rectangles, or with the corners that the model names or the shapes that the file has."""
    from freeflyer.contacts.sets.tables import corners_of

    names = feet.split(",")
    for name in names:
        model.frame(name)
    if sole is not None:
        return [ff.contacts.point(name) if sole == "point" else ff.contacts.surface(name, size=_sides(sole)) for name in names]
    known = {name: ff.contacts.surface(name) for name in names if len(corners_of(model, name)) > 2}
    if path is not None and len(known) < len(names):
        with suppress(InputError):  # a file without shapes that collide, or without its meshes
            known = {foot.frame: foot for foot in ff.contacts.feet_from_file(model, path)} | known
    for name in names:
        if name not in known:
            found = f" ({listed(list(known), 4)})" if known else ""
            raise InputError(f"the foot {name!r} has no size: there are no frames {name}_* at its corners, and it is no foot of "
                f"the file{found}. Give its sole's sides, m, such as --sole 0.2x0.1, or --sole point")  # fmt: skip
    return [known[name] for name in names]


def _sides(text: str) -> list[float]:
    try:
        length, width = (float(word) for word in text.split("x"))
    except ValueError:
        raise InputError(f"--sole must be LENGTHxWIDTH in m, such as 0.2x0.1, or point, got {format_value(text)}") from None
    return [length, width]
