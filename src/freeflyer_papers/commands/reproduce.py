"""`freeflyer reproduce`: a paper's tables and figures, computed again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from freeflyer.cli.options import DebugOption, JsonOption, make_folder, option
from freeflyer.cli.output import output, print_table, status, table, write_json
from freeflyer.errors import InputError
from freeflyer.files import write_atomically

KeyArgument = Annotated[str | None, typer.Argument(metavar="KEY", help="The paper; without one, the list of them.",
    show_default=False)]  # fmt: skip
FolderOption = Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER",
    help="Where pictures and numbers go; made if it is not there.")]  # fmt: skip

RobotOption = Annotated[Path | None, option("--robot", metavar="FILE", help="The robot's file, where a paper has one.")]
PeerOption = Annotated[Path | None, option("--peer", metavar="FILE", help="The robot to compare with (TALOS).")]

AllOption = Annotated[bool, option("--all", help="Every paper, and one page of them all: FOLDER/index.html.")]


def reproduce(
    key: KeyArgument = None, folder: FolderOption = Path("reproduced"), robot: RobotOption = None, peer: PeerOption = None,
    everything: AllOption = False, json: JsonOption = None, debug: DebugOption = False,
) -> None:  # fmt: skip
    """Compute a paper's tables and figures, beside its numbers: tables here, pictures and a JSON file in FOLDER."""
    from time import perf_counter

    import freeflyer_papers as papers

    out, start = output(json), perf_counter()
    if everything:
        for word, value in ((f"the key {key!r}", key), ("--robot", robot), ("--peer", peer)):
            if value is not None:
                raise InputError(f"--all takes every paper as it is, without {word}: leave one of them out")
        make_folder(folder)
        _reproduce_all(out, folder, json)
        return
    if key is None:
        rows = [(key, papers.reproduction(key).paper) for key in papers.names()]
        out.print(table("papers that can be reproduced: freeflyer reproduce KEY", ("key", "paper"), rows))
        return
    paper = papers.reproduction(key)
    given = {name: file for name, file in (("robot", robot), ("peer", peer)) if file is not None}
    refuse_options(paper, given)
    make_folder(folder)
    with status("starting") as progress:
        result = paper.compute(progress, **given)
        progress(0.0, "drawing")
        pictures = _save(paper.pictures(result), folder, key)
    for shown in paper.tables(result):
        print_table(out, shown)
    numbers = folder / f"{key}.json"
    write_json(numbers, f"reproduce {key}", result)
    write_json(json, f"reproduce {key}", result)
    wrote = ", ".join([str(numbers), *(p.name for p in pictures)])
    out.print(f"{perf_counter() - start:.1f} s. Wrote {wrote}", soft_wrap=True)


def _reproduce_all(out: Any, folder: Path, json: Path | None) -> None:
    """Every paper's files, one page of them all, and a line each; exit code 1 where one failed."""
    from freeflyer_papers.page import Outcome, outcomes, page

    done: list[Outcome] = []
    images: dict[str, dict[str, bytes]] = {}
    with status("starting") as progress:
        for x in outcomes(progress):
            done.append(x)
            paths = _save(x.pictures or {}, folder, x.key)
            images[x.key] = {name: path.read_bytes() for name, path in zip(x.pictures or {}, paths)}
            if not x.failure:
                write_json(folder / f"{x.key}.json", f"reproduce {x.key}", x.result)
            write_atomically(folder / "index.html", page(done, images))  # of what there is: kept if a later one is interrupted
    rows = [(x.key, f"{x.seconds:.0f}", str(len(x.tables)), str(len(x.pictures or ())), x.failure or "done") for x in done]
    out.print(table("papers reproduced", ("key", "seconds", "tables", "pictures", ""), rows, (1, 2, 3)))
    out.print(f"wrote {folder / 'index.html'}", soft_wrap=True)
    write_json(json, "reproduce --all", {x.key: x.result if not x.failure else {"failure": x.failure} for x in done})
    if any(x.failure for x in done):
        raise typer.Exit(1)


def refuse_options(paper: Any, given: dict[str, Path]) -> None:
    """Errors: InputError for files that this paper has no use for."""
    strange = [name for name in given if name not in paper.options]
    if strange:
        takes = " and ".join(f"--{name}" for name in paper.options) or "no files"
        raise InputError(f"reproduce {paper.key} has no option --{strange[0]}: it takes {takes}", option=strange[0])


def _save(figures: Any, folder: Path, key: str) -> list[Path]:
    """Writes the figures as PNG files."""
    from freeflyer.plots.files import save_png

    return [save_png(figure, folder / f"{key}_{name}.png") for name, figure in figures.items()]
