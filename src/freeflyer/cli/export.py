"""`freeflyer export`: a robot's dynamics as a C library."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from freeflyer.cli.options import BaseOption, DebugOption, JsonOption, LoopsOption, RobotArgument, load_robot

USUAL = "inverse_dynamics,forward_dynamics,mass_matrix"


def _list(value: bool) -> None:
    if value:
        from freeflyer.export.functions import CLOSED_FUNCTIONS, FUNCTIONS

        for function in FUNCTIONS.values():
            typer.echo(f"{function.name:38} {function.summary}")
        typer.echo(f"\nof robots whose loops are closed: {', '.join(CLOSED_FUNCTIONS)}")
        raise typer.Exit


FunctionsOption = Annotated[
    str, typer.Option("--functions", metavar="NAME,...", help="What to export; 'all' for everything, see --list.")
]
FolderOption = Annotated[
    Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to; made if it is not there.")
]
CpuOption = Annotated[
    str, typer.Option("--cpu", metavar="CPU", help="The CPU to compile for: native, x86-64-v3, aarch64, aarch64:cortex-a72, ...")
]
BatchOption = Annotated[bool, typer.Option("--batch", help="Functions of many states at a time, too.")]
PrefixOption = Annotated[
    str | None,
    typer.Option("--prefix", metavar="NAME", help="Beginning of C names. [default: the robot's]", show_default=False),
]
ControllerOption = Annotated[
    Path | None,
    typer.Option(
        "--controller", metavar="FILE", show_default=False,
        help="Export the whole-body controller of a YAML file (tasks, contacts, limits), at the robot's stance.",
    ),
]
OverwriteOption = Annotated[bool, typer.Option("--overwrite", help="Replace files in a FOLDER that is not empty.")]
ListOption = Annotated[
    bool, typer.Option("--list", callback=_list, is_eager=True, help="Print what can be exported and stop.")
]


def export(
    robot: RobotArgument, functions: FunctionsOption = USUAL, folder: FolderOption = Path("exported"), cpu: CpuOption = "native",
    batch: BatchOption = False, prefix: PrefixOption = None, overwrite: OverwriteOption = False, listed: ListOption = False,
    controller: ControllerOption = None, base: BaseOption = None, loops: LoopsOption = None, json: JsonOption = None,
    debug: DebugOption = False,
) -> None:  # fmt: skip
    """Write a C library with header, constants, object code and example: no Python where it runs.

    Loops are closed: v, a and tau are then the independent ones."""
    from freeflyer.cli.output import output, status, write_json
    from freeflyer.export import export as write
    from freeflyer.linkages.closing import close_loops

    loaded = load_robot(robot, base, loops)
    model = close_loops(loaded.model)
    if controller is not None:
        made = _controller(controller, model, loaded.path, folder, cpu, prefix, overwrite)
        _show(output(json), made)
        write_json(json, "export", made)
        return
    with status() as progress:
        made = write(
            model, folder, functions, cpu=cpu, batch=batch, prefix=prefix, overwrite=overwrite, progress=progress
        )
    _show(output(json), made)
    write_json(json, "export", made)


def _controller(file: Path, model: Any, path: Path | None, folder: Path, cpu: str, prefix: str | None, overwrite: bool) -> Any:
    """The controller of a file, at the posture in which the robot stands."""
    from freeflyer.cli.output import status
    from freeflyer.control.stance_file import read_problem
    from freeflyer.control.standing import stand_on_feet
    from freeflyer.export import export_controller

    stance = stand_on_feet(model, path=path)
    with status() as progress:
        problem = read_problem(file, stance.model, stance.q)
        return export_controller(problem, folder, stance.q, cpu=cpu, prefix=prefix, overwrite=overwrite, progress=progress)


def _show(out: Any, made: Any) -> None:
    from freeflyer.cli.output import COLOURS
    from freeflyer.text import count

    what = f"{count(len(made.functions), 'function')} for {made.cpu}"
    out.print(f"wrote {made.folder.resolve()}: {what}, in {', '.join(made.files)}", soft_wrap=True)
    for note in made.notes:
        out.print(note, style=COLOURS["note"], soft_wrap=True)
