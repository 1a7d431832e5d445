"""`freeflyer bench`: timings of the installed library."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freeflyer.cli.options import BaseOption, DebugOption, JsonOption, LoopsOption, load_robot

if TYPE_CHECKING:
    from collections.abc import Callable

    from freeflyer.analysis.timing.measured import Bench, Peers
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
BatchOption = Annotated[int, typer.Option("--batch", min=8, help="States in a batch.")]
ThreadsOption = Annotated[int, typer.Option("--threads", min=1, help="Threads of the second batch run.")]
BlocksOption = Annotated[int, typer.Option("--blocks", min=3, help="Blocks of calls whose median counts.")]


def bench(
    robots: RobotsArgument = None, parts: PartsOption = None, plot: PlotOption = None, batch: BatchOption = 4096,
    threads: ThreadsOption = 2, blocks: BlocksOption = 15, base: BaseOption = None, loops: LoopsOption = None,
    json: JsonOption = None, peers: Annotated[bool, typer.Option("--peers", hidden=True)] = False, debug: DebugOption = False,
) -> None:  # fmt: skip
    """Time each algorithm for one state and for a batch; short batches; scaling with size; solvers; control; first calls."""
    if peers:
        from freeflyer.errors import InputError

        raise InputError("timings beside other libraries are in the repository: run `python -m benchmarks` there, without --peers")
    run_bench(robots, parts, plot, batch, threads, blocks, base, loops, json)


def wanted_parts(robots: list[str] | None, parts: list[Part] | None) -> list[Part]:
    """The parts asked for; else the robots named, or all parts."""
    return parts or ([Part.robots] if robots else list(Part))


def run_bench(
    robots: list[str] | None, parts: list[Part] | None, plot: Path | None, batch: int, threads: int, blocks: int,
    base: Any, loops: Path | None, json: Path | None, peers: Peers | None = None,
    more: Callable[[Bench, Progress], Bench] | None = None,
) -> None:  # fmt: skip
    """Measure, beside peers if some are given, and show; `more` adds to the result."""
    from freeflyer.analysis.timing.measured import measure
    from freeflyer.analysis.timing.robots import robot_of_file
    from freeflyer.analysis.timing.runner import Effort
    from freeflyer.cli.output import output, print_table, write_json
    from freeflyer.cli.progress import status

    if plot is not None:
        _refuse_plot(plot)
    loaded = [load_robot(name, base, loops) for name in robots or []]  # before the long work: a wrong name fails at once
    named = [robot_of_file(robot.model, robot.path) for robot in loaded]
    out = output(json)
    with status() as progress:
        effort = Effort(batch=batch, blocks=blocks, threads=threads)
        result = measure(wanted_parts(robots, parts), named, effort, progress, peers)
        result = more(result, progress) if more else result
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
