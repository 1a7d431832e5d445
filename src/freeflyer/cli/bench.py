"""`freeflyer bench`: timings, beside Pinocchio where it is installed."""

from __future__ import annotations

from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freeflyer.cli.options import BaseOption, DebugOption, JsonOption, LoopsOption, load_robot

if TYPE_CHECKING:
    from freeflyer.analysis.timing.measured import Bench
    from freeflyer.analysis.timing.results import RobotTimings
    from freeflyer.progress import Progress


class Part(StrEnum):
    """The tables of a benchmark."""

    robots = "robots"
    batches = "batches"
    scaling = "scaling"
    simulation = "simulation"
    solvers = "solvers"
    control = "control"
    start = "start"


RobotsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[ROBOT ...]", help="Robots to time; the usual ones if none is named.", show_default=False),
]
PartsOption = Annotated[
    list[Part] | None,
    typer.Option("--part", help="Only this table; may be repeated.", show_default="all without ROBOT, else robots"),
]
PlotOption = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE.png", help="Draw ratios and scaling.", show_default=False)
]
PeersOption = Annotated[
    bool,
    typer.Option("--peers", help="Time Pinocchio (MuJoCo where loops are closed, TSID and pink for control) beside us, in turns."),
]


def bench(
    robots: RobotsArgument = None, peers: PeersOption = False, parts: PartsOption = None, plot: PlotOption = None,
    batch: Annotated[int, typer.Option("--batch", min=8, help="States in a batch.")] = 4096,
    threads: Annotated[int, typer.Option("--threads", min=1, help="Threads of the second batch run.")] = 2,
    blocks: Annotated[int, typer.Option("--blocks", min=3, help="Blocks of calls whose median counts.")] = 15,
    base: BaseOption = None, loops: LoopsOption = None, json: JsonOption = None, debug: DebugOption = False,
) -> None:  # fmt: skip
    """Time each algorithm for one state and for a batch; short batches; scaling with size; solvers; control; first calls."""
    from freeflyer.analysis.timing.runner import Effort
    from freeflyer.cli.output import output, print_table, write_json
    from freeflyer.cli.progress import status

    if plot is not None:
        _refuse_plot(plot)
    wanted = set(parts or ([Part.robots] if robots else list(Part)))
    named = [
        _bench_robot(name, base, loops) for name in robots or []
    ]  # before the long work: a wrong name fails at once
    out = output(json)
    with status() as progress:
        result = _run(named, wanted, peers, Effort(batch=batch, blocks=blocks, threads=threads), progress)
    out.print(result.conditions(), soft_wrap=True)
    for shown in result.tables():
        print_table(out, shown)
    if plot is not None:
        from freeflyer.plots.bench import save

        save(result, plot)
        out.print(f"drew {plot}")
    write_json(json, "bench", result)


def _refuse_plot(path: Path) -> None:
    from freeflyer.errors import FileError

    if path.suffix.lower() != ".png":
        raise FileError(f"--plot writes PNG pictures: give a name that ends in .png, not {str(path)!r}", path=str(path))
    if not path.absolute().parent.is_dir():
        raise FileError(f"the folder of {str(path)!r} does not exist", path=str(path))


def _bench_robot(name: str, base: Any, loops: Path | None) -> Any:
    from freeflyer.analysis.timing.robots import robot_of_file

    robot = load_robot(name, base, loops)
    return robot_of_file(robot.model, robot.path)


def _run(named: list[Any], wanted: set[Part], peers: bool, effort: Any, progress: Progress) -> Bench:
    from freeflyer.analysis.timing.batches import batches
    from freeflyer.analysis.timing.clock import floor
    from freeflyer.analysis.timing.control_cycles import control_times
    from freeflyer.analysis.timing.hierarchies import hierarchy_times
    from freeflyer.analysis.timing.machine import machine
    from freeflyer.analysis.timing.measured import Bench
    from freeflyer.analysis.timing.robots import default_robots
    from freeflyer.analysis.timing.runner import NAMES, time_robot
    from freeflyer.analysis.timing.scaling import SIZES, scaling
    from freeflyer.analysis.timing.solvers import solver_times
    from freeflyer.analysis.timing.start import start_times
    from freeflyer.analysis.timing.steps import step_times

    timings: tuple[RobotTimings, ...] = ()
    least = floor() if Part.robots in wanted else None
    if Part.robots in wanted:
        listed = named or default_robots()
        timings = tuple(
            time_robot(c.model, urdf=c.urdf, mjcf=c.mjcf, with_peer=peers, effort=effort, progress=progress) for c in listed
        )
    grown = scaling(SIZES, peers, progress) if Part.scaling in wanted else ()
    start = start_times(NAMES, progress) if Part.start in wanted else None
    short = batches(named or islice(default_robots(), 1), peers, effort, progress) if Part.batches in wanted else ()
    moved = (
        step_times(named or islice(default_robots(), 1), peers, effort.blocks, progress) if Part.simulation in wanted else ()
    )
    programs = solver_times(effort.blocks, effort.block_seconds, progress) if Part.solvers in wanted else ()
    levels = hierarchy_times(progress) if Part.solvers in wanted else ()
    cycles = control_times(peers, progress) if Part.control in wanted else None
    return Bench(machine(), least, timings, short, grown, start, moved, programs, levels, cycles)
