"""`freeflyer reproduce`: a paper's tables and figures, computed again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from freeflyer.cli.options import DebugOption, JsonOption

KeyArgument = Annotated[
    str | None, typer.Argument(metavar="KEY", help="The paper; without one, the list of them.", show_default=False)
]
FolderOption = Annotated[
    Path,
    typer.Option("--output", "-o", metavar="FOLDER", help="Where pictures and numbers go; made if it is not there."),
]


RobotOption = Annotated[
    Path | None, typer.Option("--robot", metavar="FILE", help="The robot's file, where a paper has one.", show_default=False)
]
PeerOption = Annotated[
    Path | None, typer.Option("--peer", metavar="FILE", help="The robot to compare with (TALOS).", show_default=False)
]


def reproduce(
    key: KeyArgument = None, folder: FolderOption = Path("reproduced"), robot: RobotOption = None, peer: PeerOption = None,
    json: JsonOption = None, debug: DebugOption = False,
) -> None:  # fmt: skip
    """Compute a paper's tables and figures, beside its numbers: tables here, pictures and a JSON file in FOLDER."""
    from time import perf_counter

    from freeflyer import papers
    from freeflyer.cli.output import output, print_table, write_json
    from freeflyer.cli.progress import status

    out, start = output(json), perf_counter()
    if key is None:
        out.print(_list(papers))
        return
    paper = papers.reproduction(key)
    given = {name: file for name, file in (("robot", robot), ("peer", peer)) if file is not None}
    refuse_options(paper, given)
    make_folder(folder)
    with status("starting") as progress:
        result = paper.compute(progress, **given)
        progress(0.0, "drawing")
        pictures = _save(paper.pictures(result), folder, key)
    for table in paper.tables(result):
        print_table(out, table)
    numbers = folder / f"{key}.json"
    write_json(numbers, f"reproduce {key}", result)
    write_json(json, f"reproduce {key}", result)
    wrote = ", ".join([str(numbers), *(p.name for p in pictures)])
    out.print(f"{perf_counter() - start:.1f} s. Wrote {wrote}", soft_wrap=True)


def refuse_options(paper: Any, given: dict[str, Path]) -> None:
    """Errors: InputError for files that this paper has no use for."""
    from freeflyer.errors import InputError

    strange = [name for name in given if name not in paper.options]
    if strange:
        takes = " and ".join(f"--{name}" for name in paper.options) or "no files"
        raise InputError(f"reproduce {paper.key} has no option --{strange[0]}: it takes {takes}", option=strange[0])


def make_folder(folder: Path) -> None:
    """Creates the folder, before any long work. Errors: FileError where that cannot be."""
    from freeflyer.errors import FileError

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "there is a file of that name" if folder.is_file() else error.strerror or str(error)
        raise FileError(f"cannot write into the folder {str(folder)!r}: {reason}", path=str(folder)) from error


def _list(papers: Any) -> Any:
    from freeflyer.cli.output import table

    rows = [(key, papers.reproduction(key).paper) for key in papers.names()]
    return table("papers that can be reproduced: freeflyer reproduce KEY", ("key", "paper"), rows)


def _save(figures: Any, folder: Path, key: str) -> list[Path]:
    """Writes the figures as PNG files."""
    from freeflyer.plots.files import save_png

    return [save_png(figure, folder / f"{key}_{name}.png") for name, figure in figures.items()]
