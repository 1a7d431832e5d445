"""`freeflyer demo`: every built-in robot through the pipeline, and a report about the humanoid."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from freeflyer.cli.options import DebugOption, ForceOption, JsonOption, OutputOption

if TYPE_CHECKING:
    from freeflyer.report.tour import Tour

SHOWN = "humanoid"  # whose report is written
COMPILED = (
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "inverse_mass_matrix", "coriolis_matrix", "gravity_forces",
    "centroidal_momentum_matrix", "centroidal_momentum", "centroidal_bias", "center_of_mass", "integrate",
    "kinetic_energy", "potential_energy", "frame_pose", "frame_jacobian",
)  # fmt: skip


def demo(
    output_file: OutputOption = Path("freeflyer-demo.html"), force: ForceOption = False, json: JsonOption = None,
    debug: DebugOption = False,
) -> None:  # fmt: skip
    """Take the built-in robots through dynamics, momentum and batches, and write a report of the humanoid."""
    from freeflyer import robots
    from freeflyer.cli.output import output, write_json
    from freeflyer.cli.progress import status
    from freeflyer.control.running import run_scenario
    from freeflyer.dynamics.warming import warm
    from freeflyer.errors import FileError
    from freeflyer.plots.controlled import run_strip
    from freeflyer.plots.files import save_png
    from freeflyer.progress import part_of
    from freeflyer.report.reporting import report
    from freeflyer.report.tour import tour
    from freeflyer.report.writing import refuse_to_replace, write_report

    refuse_to_replace(output_file, force)
    picture = output_file.with_name(f"{output_file.stem}-squat.png")
    if picture.exists() and not (force or output_file.exists()):  # beside a report of ours it is ours, too
        raise FileError(f"{str(picture)!r} is there already: give another name by --output, or --force", path=str(picture))
    start, out = perf_counter(), output(json)
    with status("compiling: only the first run does") as progress:
        warm(COMPILED, part_of(progress, "compiling: only the first run does"))
        rows = []
        for name in robots.names():
            progress(0.0, f"{name}: inverse and forward dynamics, momentum, a batch")
            rows.append(tour(robots.make(name)))
        out.print(_table(rows))
        result = report(robots.make(SHOWN), progress=progress)
        squatting = run_scenario("squat", robots.make(SHOWN), dt=2e-3, duration=2.5, progress=part_of(progress,
            f"the {SHOWN} squats"))
    written = write_report(result, output_file, force)
    write_json(json, "demo", rows)
    save_png(run_strip(squatting), picture)
    verdict = "falls" if squatting.fell else "stands, and squats by 20 cm under control"
    out.print(f"The {SHOWN} {verdict}: {picture.resolve()}", soft_wrap=True)
    out.print(f"{perf_counter() - start:.1f} s. The report of the {SHOWN}: {written.resolve()}", soft_wrap=True)


def _table(rows: list[Tour]) -> Any:
    from freeflyer.cli.output import table
    from freeflyer.text import microseconds as us, number

    columns = (
        "robot",
        "nq",
        "nv",
        "mass kg",
        "com z m",
        "FD(ID(a)) - a",
        "A v - h",
        "ID us a call",
        "ID us a state",
        "FD us a state",
    )
    cells = [
        (r.robot, str(r.nq), str(r.nv), number(r.mass), number(float(r.com[2]), 3),
         f"{r.round_trip:.0e}", f"{r.momentum:.0e}",
         us(r.inverse_dynamics_call), us(r.inverse_dynamics_batch), us(r.forward_dynamics_batch))
        for r in rows
    ]  # fmt: skip
    return table(
        f"built-in robots; batches of {rows[0].batch_size} random states", columns, cells, range(1, len(columns))
    )
