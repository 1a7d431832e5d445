"""The command line: its commands, and how errors reach the user."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.metadata import entry_points
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from freeflyer.cli.control import control
from freeflyer.cli.robot import check, export, info, loops, report
from freeflyer.cli.linearize import linearize
from freeflyer.cli.options import DebugOption
from freeflyer.cli.streams import INTERRUPTED, exit_with
from freeflyer.cli.tools import bench, demo, warm
from freeflyer.cli.view import view
from freeflyer.errors import FreeflyerError
from freeflyer.version import __version__


class Commands(TyperGroup):
    """Commands whose FreeflyerErrors end as one sentence on stderr and exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command; `--debug` lets the traceback through."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            exit_with("interrupted", INTERRUPTED)
        except FreeflyerError as error:
            if ctx.meta.get("freeflyer.debug"):
                raise
            from freeflyer.cli.output import show_error
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            show_error(with_options(str(error), command.params if command else ()))
            raise typer.Exit(2) from None


app = typer.Typer(cls=Commands, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
    help="Dynamics, analysis and control of floating-base robots.")  # fmt: skip


def _version(value: bool) -> None:
    if value:
        typer.echo(f"freeflyer {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True,
        help="Print the version and stop.")] = False,
    debug: DebugOption = False,
) -> None:  # fmt: skip
    """Dynamics, analysis and control of floating-base robots."""


in_order = {
    "Robot": (info, check, report, view, loops, linearize, export), "Control": (control,), "Tools": (demo, bench, warm)
}  # fmt: skip
for panel, commands in in_order.items():
    for command in commands:
        app.command(rich_help_panel=panel)(command)
for found in entry_points(group="freeflyer.commands"):  # of other packages, such as freeflyer_papers
    app.command(found.name, rich_help_panel="Papers")(found.load())

OPTIONS = {"base=None": "--base file"}  # arguments whose option has another name
ARGUMENT = re.compile(r"(?<![\w.-])([a-z_]\w*)=(None|True|\.\.\.)?(?![\w\"'\[({=])")


def with_options(text: str, parameters: Iterable[Any]) -> str:
    """The sentence; `(rigid=)` and `rigid must be` become `(--rigid)` and `--rigid must be` if the command has that option. An
    argument in parentheses of its own that it lacks is left out."""
    options: dict[str, str] = {p.name: max(p.opts, key=len) for p in parameters if p.opts[0].startswith("-")}
    options |= {name: options[other] for name, other in OPTIONS.items() if other in options}

    def option(found: re.Match[str]) -> str:
        if found[0] in OPTIONS and found[1] in options:
            return OPTIONS[found[0]]
        known = options.get(found[1])
        return found[0] if known is None else f"{known} ..." if found[2] == "..." else known

    text = re.sub(r" \(([a-z_]\w*)=\)", lambda found: found[0] if found[1] in options else "", text)
    text = ARGUMENT.sub(option, text)
    return re.sub(r"^(\w+)(?= (?:must|has|holds|is|cannot) )", lambda found: options.get(found[1]) or found[0], text)
