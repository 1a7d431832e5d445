"""Arguments and options that commands share, and the robot they lead to."""

from __future__ import annotations

import os
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

import freeflyer as ff
from freeflyer.errors import FileError, InputError, format_value, unknown_name

option = partial(typer.Option, show_default=False)

Base = StrEnum("Base", ["free", "fixed", "planar", "file"])  # how the root link of a file's robot is held; file: as in the file


def _keep_traceback(context: typer.Context, value: bool) -> None:
    if value:
        context.find_root().meta["freeflyer.debug"] = True


def _check_target(value: Path | None) -> Path | None:
    """Errors: FileError for a file that cannot be written, before any long work."""
    if value is not None and str(value) != "-":
        from freeflyer.files import refuse_existing

        refuse_existing(value, overwrite=True)
    return value


RobotArgument = Annotated[str, typer.Argument(metavar="ROBOT", help="A URDF or MJCF file, or a built-in robot.",
    show_default=False)]  # fmt: skip
BaseOption = Annotated[Base | None, option("--base",
    help="How the root of a file's robot is held.", show_default="free for URDF, as in the file for MJCF")]  # fmt: skip
LoopsOption = Annotated[Path | None, option("--loops", metavar="FILE", help="A YAML file with the loop constraints.")]
JsonOption = Annotated[Path | None, option("--json", metavar="FILE", callback=_check_target,
    help="Write the numbers as JSON too; '-' for stdout.")]  # fmt: skip
DebugOption = Annotated[bool, option("--debug", help="Show the traceback of an error.", callback=_keep_traceback, is_eager=True)]
FolderOption = Annotated[Path | None, option("--output", "-o", metavar="FOLDER", help="Write the pictures there, PNG and SVG.")]
OutputOption = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The page to write.")]
ReplaceOption = Annotated[bool, typer.Option("--overwrite", help="Replace FILE even if it is not one of our reports.")]
ViewOption = Annotated[bool, typer.Option("--view", help="Play the run in the browser, until Ctrl-C.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of the random states.")]


def load_robot(name: str, base: Base | None = None, loops: Path | None = None, inertias: str = "strict") -> ff.Model:
    """The robot that a ROBOT argument means: a file that exists, else a built-in robot, as in `humanoid:dof=20`."""
    from freeflyer.model.load import AUTO

    path = Path(name)
    if os.path.isfile(name):  # False also for names that no file can have
        held = None if base is Base.file else str(base or AUTO)
        return ff.load(path, base=held, loops=loops, inertias=inertias)
    (kind, _, options), built_in = name.partition(":"), ff.robots.names()
    if kind in built_in:
        if base is not None or loops is not None:
            raise InputError(
                f"--base and --loops are for robots read from files; the built-in robot {kind!r} brings its own. "
                f"Options of a built-in robot follow its name, as in 'humanoid:dof=20' or 'chain:n=50,base=free'.")
        return ff.robots.make(kind, **_options(name, options))
    if os.path.isdir(name):
        raise FileError(f"{name!r} is a folder: give the URDF or MJCF file in it", path=name)
    if path.suffix or len(path.parts) > 1:
        raise FileError(f"there is no file {format_value(name, 200)}; built-in robots are {', '.join(built_in)}", path=name)
    raise unknown_name("built-in robot", name, built_in, "No file of that name exists either.")


def _options(name: str, text: str) -> dict[str, object]:
    """Options of a built-in robot from 'key=value,key=value'."""
    found: dict[str, object] = {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if not equals or not key:
            raise InputError(f"in {name!r}, {part!r} is no option: options look like dof=20, separated by commas")
        found[key] = _number(value)
    return found


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def make_folder(folder: Path | None) -> None:
    """Creates a folder, if one is given, before any long work. Errors: FileError where that cannot be."""
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "there is a file of that name" if Path(folder or "").is_file() else error.strerror or str(error)
        raise FileError(f"cannot write into the folder {str(folder)!r}: {reason}", path=str(folder)) from error
