"""`freeflyer report`: one self-contained HTML page about a robot."""

from __future__ import annotations

from pathlib import Path

from freeflyer.cli.options import (
    BaseOption,
    DebugOption,
    ForceOption,
    JsonOption,
    LoopsOption,
    OutputOption,
    RobotArgument,
    SeedOption,
    load_robot,
)


def report(
    robot: RobotArgument, output_file: OutputOption = Path("report.html"), base: BaseOption = None,
    loops: LoopsOption = None, json: JsonOption = None, seed: SeedOption = 0, force: ForceOption = False,
    debug: DebugOption = False
) -> None:
    """Write a page with tree, masses, matrices, conditioning, energy drift, timings and findings."""
    from freeflyer.cli.output import output, write_json
    from freeflyer.cli.progress import status
    from freeflyer.report.reporting import report as compute
    from freeflyer.report.writing import refuse_to_replace, write_report

    refuse_to_replace(output_file, force)
    model = load_robot(robot, base, loops).model
    with status() as progress:
        result = compute(model, seed=seed, progress=progress)
    written = write_report(result, output_file, force)
    write_json(json, "report", result)
    output(json).print(f"wrote {written.resolve()} ({written.stat().st_size / 1024:.0f} kB)", soft_wrap=True)
