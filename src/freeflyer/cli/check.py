"""`freeflyer check`: checks of a robot's description and of the laws of its dynamics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freeflyer.cli.options import (
    BaseOption,
    DebugOption,
    JsonOption,
    LoopsOption,
    RobotArgument,
    SeedOption,
    load_robot,
)

if TYPE_CHECKING:
    from freeflyer.analysis.checks.checking import Check


def check(
    robot: RobotArgument, base: BaseOption = None, loops: LoopsOption = None, json: JsonOption = None,
    seed: SeedOption = 0,
    everything: Annotated[bool, typer.Option("--all", help="List every finding, however many are alike.")] = False,
    debug: DebugOption = False,
) -> None:  # fmt: skip
    """Check inertias, units, limits, loops, and the laws of dynamics at random states; exit code 1 on errors."""
    from freeflyer.analysis.checks.checking import check as run
    from freeflyer.cli.output import output, write_json

    result = run(load_robot(robot, base, loops, inertias="as-is").model, seed=seed)
    out = output(json)
    out.print(_identities(result))
    if result.findings:
        out.print(_findings(result, everything))
    out.print(_verdict(result))
    write_json(json, "check", result)
    if result.has_errors:
        raise typer.Exit(1)


def _identities(result: Check) -> Any:
    from rich.text import Text

    from freeflyer.analysis.checks.findings import identities_table
    from freeflyer.cli.output import printed

    colours = {"holds": "green", "fails": "bold red"}
    return printed(identities_table(result.identities), lambda row: (*row[:-1], Text(row[-1], colours[row[-1]])))


def _findings(result: Check, everything: bool) -> Any:
    from rich.text import Text

    from freeflyer.analysis.checks.findings import SHOWN_PER_CODE, findings_table
    from freeflyer.cli.output import COLOURS, name, printed

    def coloured(row: Sequence[str]) -> Sequence[Any]:
        severity, subject, sentence = row
        if severity:
            return Text(severity, COLOURS[severity]), name(subject, longest=200), sentence
        return "", name(subject, "dim"), Text(f"{sentence} (--all lists them)", "dim")

    return printed(findings_table(result.findings, None if everything else SHOWN_PER_CODE), coloured)


def _verdict(result: Check) -> Any:
    from rich.text import Text

    return Text(result.verdict(), "bold red" if result.has_errors else "bold green")
