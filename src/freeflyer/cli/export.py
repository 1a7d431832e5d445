"""`freeflyer export`: a robot's dynamics as a C library."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from freeflyer.cli.options import BaseOption, DebugOption, JsonOption, LoopsOption, RobotArgument, load_robot, option

USUAL = "inverse_dynamics,forward_dynamics,mass_matrix"


def _list(value: bool) -> None:
    if value:
        from freeflyer.export.functions import CLOSED_FUNCTIONS, FUNCTIONS

        for function in FUNCTIONS.values():
            typer.echo(f"{function.name:38} {function.summary}")
        typer.echo(f"\nof robots whose loops are closed: {', '.join(CLOSED_FUNCTIONS)}")
        raise typer.Exit


FunctionsOption = Annotated[str, typer.Option("--functions", metavar="NAME,...",
    help="What to export; 'all' for everything, see --list.")]  # fmt: skip
FolderOption = Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to; made if it is not there.")]
CpuOption = Annotated[str, typer.Option("--cpu", metavar="CPU",
    help="The CPU to compile for: native, x86-64-v3, aarch64, aarch64:cortex-a72, ...")]  # fmt: skip
BatchOption = Annotated[bool, typer.Option("--batch", help="Functions of many states at a time, too.")]
PrefixOption = Annotated[str | None, option("--prefix", metavar="NAME", help="Beginning of C names. [default: the robot's]")]
ControllerOption = Annotated[Path | None, option("--controller", metavar="FILE",
    help="Export the whole-body controller of a YAML file (tasks, contacts, limits), at the robot's stance.")]  # fmt: skip
OverwriteOption = Annotated[bool, typer.Option("--overwrite", help="Replace files in a FOLDER that is not empty.")]
SpecializeOption = Annotated[bool, typer.Option("--specialize",
    help="Code for this robot alone where that is possible (freeflyer.specialize).")]  # fmt: skip
ListOption = Annotated[bool, typer.Option("--list", callback=_list, is_eager=True, help="Print what can be exported and stop.")]


def export(
    robot: RobotArgument, functions: FunctionsOption = USUAL, folder: FolderOption = Path("exported"), cpu: CpuOption = "native",
    batch: BatchOption = False, prefix: PrefixOption = None, overwrite: OverwriteOption = False, listed: ListOption = False,
    controller: ControllerOption = None, specialize: SpecializeOption = False, base: BaseOption = None, loops: LoopsOption = None,
    json: JsonOption = None, debug: DebugOption = False,
) -> None:  # fmt: skip
    """Write a C library with header, constants, object code and example: no Python where it runs.

    Loops are closed: v, a and tau are then the independent ones."""
    from freeflyer.cli.output import COLOURS, output, status, write_json
    from freeflyer.control.stance_file import read_problem
    from freeflyer.control.standing import stand_on_feet
    from freeflyer.dynamics.specialized import specializable, specialize as special
    from freeflyer.export import export as write, export_controller
    from freeflyer.export.functions import select_functions
    from freeflyer.linkages.closing import close_loops
    from freeflyer.text import count

    loaded = load_robot(robot, base, loops)
    model = close_loops(loaded.model)
    same = {"cpu": cpu, "prefix": prefix, "overwrite": overwrite}
    made: Any
    if specialize:
        possible = specializable(model)
        model = special(model, [f.name for f in select_functions(functions, model) if f.name in possible])
    if controller is None:
        with status() as progress:
            made = write(model, folder, functions, batch=batch, progress=progress, **same)  # type: ignore[arg-type]
    else:
        stance = stand_on_feet(model, path=loaded.path)  # the posture of the controller of a file
        with status() as progress:
            problem = read_problem(controller, stance.model, stance.q)
            made = export_controller(problem, folder, stance.q, progress=progress, **same)  # type: ignore[arg-type]
    out, what = output(json), f"{count(len(made.functions), 'function')} for {made.cpu}"
    out.print(f"wrote {made.folder.resolve()}: {what}, in {', '.join(made.files)}", soft_wrap=True)
    for note in made.notes:
        out.print(note, style=COLOURS["note"], soft_wrap=True)
    write_json(json, "export", made)
