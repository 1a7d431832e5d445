"""Commands about the library: `bench`, `warm`, and `demo`, which takes all built-in robots through it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

import freeflyer as ff
from freeflyer.cli import options as opt
from freeflyer.cli.output import console, output, print_table, status, table, write_json
from freeflyer.errors import FileError, InputError
from freeflyer.files import check_target
from freeflyer.progress import Progress, part_of
from freeflyer.text import microseconds as us, number

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from freeflyer.analysis.timing.measured import Bench
    from freeflyer.analysis.timing.runner import Effort
    from freeflyer.report.reporting import Tour

Part = StrEnum("Part", ["robots", "batches", "scaling", "simulation", "control", "start"])  # tables of a benchmark
RobotsArgument = Annotated[list[str] | None, typer.Argument(metavar="[ROBOT ...]",
    help="Robots to time; the usual ones if none is named.", show_default=False)]  # fmt: skip
PartsOption = Annotated[list[Part] | None, typer.Option("--part", help="Only this table; may be repeated.",
    show_default="all without ROBOT, else robots")]  # fmt: skip
PlotOption = Annotated[Path | None, opt.option("--plot", metavar="FILE.png", help="Draw times and scaling.")]
BatchOption = Annotated[int, typer.Option("--batch", min=8, help="States in a batch.")]
ThreadsOption = Annotated[int, typer.Option("--threads", min=1, help="Threads of the second batch run.")]
BlocksOption = Annotated[int, typer.Option("--blocks", min=3, help="Blocks of calls whose median counts.")]
SpecializeOption = Annotated[bool, typer.Option("--specialize", help="Also code for each robot alone (freeflyer.specialize).")]


def bench(
    robots: RobotsArgument = None, parts: PartsOption = None, plot: PlotOption = None, batch: BatchOption = 4096,
    threads: ThreadsOption = 2, blocks: BlocksOption = 15, specialize: SpecializeOption = False, base: opt.BaseOption = None,
    loops: opt.LoopsOption = None, json: opt.JsonOption = None,
    peers: Annotated[bool, typer.Option("--peers", hidden=True)] = False, debug: opt.DebugOption = False,
) -> None:  # fmt: skip
    """Time each algorithm for one state and for a batch; short batches; scaling with size; control; first calls."""
    if peers:
        raise InputError("timings beside other libraries are in the repository: run `python -m benchmarks` there, without --peers")
    parts = parts or ([Part.robots] if robots else list(Part))
    run_bench(robots, parts, plot, batch, threads, blocks, specialize, base, loops, json)


def run_bench(
    robots: list[str] | None, parts: Collection[str], plot: Path | None, batch: int, threads: int, blocks: int,
    specialize: bool, base: Any, loops: Path | None, json: Path | None,
    more: Callable[[Bench, list[ff.Model], Effort, Progress], Bench] | None = None,
) -> None:  # fmt: skip
    """Measure and show; `more` adds to the result."""
    from freeflyer.analysis.timing.measured import measure
    from freeflyer.analysis.timing.runner import Effort

    if plot is not None:
        check_target(plot, (".png",), overwrite=True)
    named = [opt.load_robot(name, base, loops) for name in robots or []]  # before the long work: a wrong name fails at once
    out = output(json)
    with status() as progress:
        effort = Effort(batch=batch, blocks=blocks, threads=threads, specialize=specialize)
        result = measure(parts, named, effort, progress)
        result = more(result, named, effort, progress) if more else result
    out.print(result.conditions(), soft_wrap=True)
    for shown in result.tables():
        print_table(out, shown)
    if plot is not None:
        from freeflyer.report.bench import draw
        from freeflyer.plots.files import save_png

        save_png(draw(result), plot)
        out.print(f"drew {plot}")
    write_json(json, "bench", result)


def warm(
    functions: Annotated[str | None, typer.Option(help="Names of functions, separated by commas; or loads, loops, closed, "
        "estimation. All if left out.")] = None, debug: opt.DebugOption = False,
) -> None:  # fmt: skip
    """Compile functions on all cores and keep them in the cache, so that first calls take milliseconds."""
    from freeflyer.cli import warming

    names = None if functions is None else [name.strip() for name in functions.split(",") if name.strip()]
    start = perf_counter()
    with status("compiling") as progress:
        count = warming.warm(names, part_of(progress, "compiling"))
    made = f"{count} functions compiled in {perf_counter() - start:.1f} s"
    console().print(made if count else "nothing to do: all of them are in the cache")


SHOWN = "humanoid"  # whose report is written
COMPILED = (
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "inverse_mass_matrix", "coriolis_matrix", "gravity_forces",
    "centroidal_momentum_matrix", "centroidal_momentum", "centroidal_bias", "center_of_mass", "integrate",
    "kinetic_energy", "potential_energy", "frame_pose", "frame_jacobian")  # fmt: skip


def demo(
    output_file: opt.OutputOption = Path("freeflyer-demo.html"), overwrite: opt.ReplaceOption = False, json: opt.JsonOption = None,
    debug: opt.DebugOption = False,
) -> None:  # fmt: skip
    """Take the built-in robots through dynamics, momentum and batches, and write a report of the humanoid."""
    from freeflyer.cli import warming
    from freeflyer.plots.controlled import run_strip
    from freeflyer.plots.files import save_png
    from freeflyer.report.page import refuse_to_replace
    from freeflyer.report.reporting import tour

    refuse_to_replace(output_file, overwrite)
    picture = output_file.with_name(f"{output_file.stem}-squat.png")
    if picture.exists() and not (overwrite or output_file.exists()):  # beside a report of ours it is ours, too
        raise FileError(f"{str(picture)!r} is there already: give another name by --output, or --overwrite", path=str(picture))
    start, out = perf_counter(), output(json)
    with status("compiling: only the first run does") as progress:
        warming.warm(COMPILED, part_of(progress, "compiling: only the first run does"))
        rows = []
        for name in ff.robots.names():
            progress(0.0, f"{name}: inverse and forward dynamics, momentum, a batch")
            rows.append(tour(ff.robots.make(name)))
        out.print(_table(rows))
        result = ff.report.report(ff.robots.make(SHOWN), progress=progress)
        squatting = ff.control.run_scenario(
            "squat", ff.robots.make(SHOWN), dt=2e-3, duration=2.5, progress=part_of(progress, f"the {SHOWN} squats"))
    written = ff.report.write_report(result, output_file, overwrite)
    write_json(json, "demo", rows)
    save_png(run_strip(squatting), picture)
    verdict = "falls" if squatting.fell else "stands, and squats by 20 cm under control"
    out.print(f"The {SHOWN} {verdict}: {picture.resolve()}", soft_wrap=True)
    out.print(f"{perf_counter() - start:.1f} s. The report of the {SHOWN}: {written.resolve()}", soft_wrap=True)


def _table(rows: list[Tour]) -> Any:
    columns = ("robot", "nq", "nv", "mass kg", "com z m", "FD(ID(a)) - a", "A v - h", "ID us a call", "ID us a state",
        "FD us a state")  # fmt: skip
    cells = [(r.robot, str(r.nq), str(r.nv), number(r.mass), number(float(r.com[2]), 3), f"{r.round_trip:.0e}", f"{r.momentum:.0e}",
        us(r.inverse_dynamics_call), us(r.inverse_dynamics_batch), us(r.forward_dynamics_batch)) for r in rows]  # fmt: skip
    return table(f"built-in robots; batches of {rows[0].batch_size} random states", columns, cells, range(1, len(columns)))
