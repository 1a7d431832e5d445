"""`freeflyer check`: checks of a robot's description and of the laws of its dynamics."""

from __future__ import annotations

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
    from freeflyer.checks.checking import Check

SHOWN_PER_CODE = 5


def check(
    robot: RobotArgument, base: BaseOption = None, loops: LoopsOption = None, json: JsonOption = None,
    seed: SeedOption = 0,
    everything: Annotated[bool, typer.Option("--all", help="List every finding, however many are alike.")] = False,
    debug: DebugOption = False,
) -> None:  # fmt: skip
    """Check inertias, units, limits, loops, and the laws of dynamics at random states; exit code 1 on errors."""
    from freeflyer.checks.checking import check as run
    from freeflyer.cli.output import output, write_json

    result = run(load_robot(robot, base, loops, inertias="as-is").model, seed)
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

    from freeflyer.cli.output import table

    rows = [
        (
            x.law,
            x.meaning,
            f"{x.residual:.1e}",
            f"{x.tolerance:.0e}",
            Text("holds", "green") if x.holds else Text("fails", "bold red"),
        )
        for x in result.identities
    ]
    return table(
        "identities at random states (relative residuals)",
        ("law", "meaning", "residual", "tolerance", ""),
        rows,
        (2, 3),
    )


def _findings(result: Check, everything: bool) -> Any:
    from rich.text import Text

    from freeflyer.cli.output import COLOURS, name, table

    rows: list[tuple[Any, ...]] = []
    seen: dict[str, int] = {}
    for f in result.findings:
        seen[f.code] = seen.get(f.code, 0) + 1
        if everything or seen[f.code] <= SHOWN_PER_CODE:
            rows.append((Text(f.severity, COLOURS[f.severity]), name(f.subject), f.sentence))
    for code, n in seen.items():
        if not everything and n > SHOWN_PER_CODE:
            rows.append(
                (
                    Text("", ""),
                    Text(code, "dim"),
                    Text(f"... and {n - SHOWN_PER_CODE} more like this (--all lists them)", "dim"),
                )
            )
    return table("findings", ("severity", "subject", "finding"), rows)


def _verdict(result: Check) -> Any:
    from rich.text import Text

    from freeflyer.checks.findings import SEVERITIES
    from freeflyer.text import count, visible

    counts = ", ".join(count(result.count(s), s) for s in SEVERITIES)
    return Text(f"{visible(result.robot)}: {counts}", "bold red" if result.has_errors else "bold green")
