"""The command line: its commands, and how errors reach the user."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from freeflyer.cli.bench import bench
from freeflyer.cli.check import check
from freeflyer.cli.control import control
from freeflyer.cli.demo import demo
from freeflyer.cli.estimate import estimate
from freeflyer.cli.export import export
from freeflyer.cli.info import info
from freeflyer.cli.linearize import linearize
from freeflyer.cli.loops import loops
from freeflyer.cli.report import report
from freeflyer.cli.streams import INTERRUPTED, exit_with
from freeflyer.cli.warm import warm
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
            from freeflyer.cli.words import with_options

            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            show_error(with_options(str(error), command.params if command else ()))
            raise typer.Exit(2) from None


app = typer.Typer(
    cls=Commands, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
    help="Dynamics, analysis and control of floating-base robots.",
)  # fmt: skip


def _version(value: bool) -> None:
    if value:
        typer.echo(f"freeflyer {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    context: typer.Context = None,  # type: ignore[assignment]
) -> None:
    """Dynamics, analysis and control of floating-base robots."""
    if debug:
        context.meta["freeflyer.debug"] = True


COMMANDS = {  # in the order of --help
    "Robot": (info, check, report, loops, linearize, export),
    "Control": (control, estimate),
    "Tools": (demo, bench, warm),
}
for panel, commands in COMMANDS.items():
    for command in commands:
        app.command(rich_help_panel=panel)(command)
for found in entry_points(group="freeflyer.commands"):  # of other packages: freeflyer_papers has two
    app.command(found.name, rich_help_panel="Papers")(found.load())
