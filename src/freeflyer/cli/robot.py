"""Commands about a robot: `info`, `check` and `report`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freeflyer.cli import options as opt

if TYPE_CHECKING:
    from rich.text import Text

    from freeflyer.analysis.facts import Overview


def info(
    robot: opt.RobotArgument, base: opt.BaseOption = None, loops: opt.LoopsOption = None, json: opt.JsonOption = None,
    debug: opt.DebugOption = False
) -> None:
    """Show what a robot consists of: its tree with masses, its joints with limits, its loops."""
    from rich.text import Text

    from freeflyer.analysis.facts import joints_table, loops_table, overview, totals
    from freeflyer.cli.output import name, output, printed, write_json

    result = overview(opt.load_robot(robot, base, loops).model)
    out = output(json)
    out.print(Text.assemble(name(result.name, "bold"), f"  {totals(result)}"))
    for line in _tree(result):
        out.print(line, soft_wrap=True)
    out.print()
    out.print(printed(joints_table(result.joints)))
    if result.loops:
        out.print(printed(loops_table(result.loops)))
    for note in result.notes:
        out.print(name(f"note: {note}", "cyan", 2000), soft_wrap=True)
    write_json(json, "info", result)


def _tree(o: Overview) -> list[Text]:
    from rich.text import Text

    from freeflyer.cli.output import name
    from freeflyer.report.tree import tree_lines
    from freeflyer.text import number

    lines = []
    for line in tree_lines(o.links):
        link, text = line.link, Text(line.guides, style="dim")
        if link.joint is not None:
            text.append_text(name(link.joint)).append(f" ({link.joint_kind})", "dim").append(" → ", "dim")
        text.append_text(name(link.name, "dim" if link.joint_kind == "fixed" else "bold cyan"))
        if link.mass:
            text.append(f"  {number(link.mass)} kg").append(f"  {100 * link.share:.1f} %", "dim")
        lines.append(text)
    return lines


def check(
    robot: opt.RobotArgument, base: opt.BaseOption = None, loops: opt.LoopsOption = None, json: opt.JsonOption = None,
    seed: opt.SeedOption = 0,
    everything: Annotated[bool, typer.Option("--all", help="List every finding, however many are alike.")] = False,
    debug: opt.DebugOption = False,
) -> None:  # fmt: skip
    """Check inertias, units, limits, loops, and the laws of dynamics at random states; exit code 1 on errors."""
    from rich.text import Text

    from freeflyer.analysis.checks.checking import check as run
    from freeflyer.analysis.checks.findings import SHOWN_PER_CODE, findings_table, identities_table
    from freeflyer.cli.output import COLOURS, name, output, printed, write_json

    result = run(opt.load_robot(robot, base, loops, inertias="as-is").model, seed=seed)
    out, colours = output(json), {"holds": "green", "fails": "bold red"}

    def coloured(row: Sequence[str]) -> Sequence[Any]:
        severity, subject, sentence = row
        if severity:
            return Text(severity, COLOURS[severity]), name(subject, longest=200), sentence
        return "", name(subject, "dim"), Text(f"{sentence} (--all lists them)", "dim")

    out.print(printed(identities_table(result.identities), lambda row: (*row[:-1], Text(row[-1], colours[row[-1]]))))
    if result.findings:
        out.print(printed(findings_table(result.findings, None if everything else SHOWN_PER_CODE), coloured))
    out.print(Text(result.verdict(), "bold red" if result.has_errors else "bold green"))
    write_json(json, "check", result)
    if result.has_errors:
        raise typer.Exit(1)


def report(
    robot: opt.RobotArgument, output_file: opt.OutputOption = Path("report.html"), base: opt.BaseOption = None,
    loops: opt.LoopsOption = None, json: opt.JsonOption = None, seed: opt.SeedOption = 0, force: opt.ForceOption = False,
    debug: opt.DebugOption = False
) -> None:
    """Write a page with tree, masses, matrices, conditioning, energy drift, timings and findings."""
    from freeflyer.cli.output import output, status, write_json
    from freeflyer.report.page import refuse_to_replace, write_report
    from freeflyer.report.reporting import report as compute

    refuse_to_replace(output_file, force)
    model = opt.load_robot(robot, base, loops).model
    with status() as progress:
        result = compute(model, seed=seed, progress=progress)
    written = write_report(result, output_file, force)
    write_json(json, "report", result)
    output(json).print(f"wrote {written.resolve()} ({written.stat().st_size / 1024:.0f} kB)", soft_wrap=True)
