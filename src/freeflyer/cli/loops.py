"""`freeflyer loops`: the sub-mechanisms of a closed robot, their ranks, strokes and nearness to singularities."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from freeflyer.cli import options as opt
from freeflyer.cli.options import option

if TYPE_CHECKING:
    from freeflyer.linkages.submechanisms import Mechanisms

NEAR_SINGULAR = 1e-2  # of 1 / condition
FolderOption = Annotated[Path | None, option("--output", "-o", metavar="FOLDER",
    help="Draw robot, transmission and singularity there.")]  # fmt: skip


@dataclass(frozen=True)
class LoopReport:
    """mechanisms: the table. file_gap: how far open the file's posture is (m or rad), at loop `file_loop`; gap: after assembling,
    all rows; independent_gap: rows that the split uses; iterations: steps that closing took."""

    mechanisms: Mechanisms
    file_gap: float
    file_loop: str
    gap: float
    independent_gap: float
    iterations: int


def loops(
    robot: opt.RobotArgument, base: opt.BaseOption = None, loops: opt.LoopsOption = None, folder: FolderOption = None,
    json: opt.JsonOption = None, debug: opt.DebugOption = False
) -> None:  # fmt: skip
    """Take a closed linkage apart: sub-mechanisms, ranks, strokes, singularities, and how well its loops close."""
    from freeflyer.analysis.linkage import linkages
    from freeflyer.cli.output import draw_all, output, write_json
    from freeflyer.errors import InputError
    from freeflyer.plots import linkage
    from freeflyer.plots.view import bodies

    model = opt.load_robot(robot, base, loops).model
    if not model.constraint_rows[0]:
        raise InputError(f"{model.name!r} has no loops and no couplings: it is a tree. Give its loops with --loops FILE")
    place = None if folder is None else opt.make_folder(folder)
    result = loop_report(model)
    out = output(json)
    out.print(_parts(result.mechanisms))
    out.print(_strokes(result.mechanisms))
    out.print(_closure(result))
    if place is not None:  # the robot by its sub-mechanisms, what its motors move, how far it is from singular
        found = linkages(model)
        shapes = bodies(model.tree, found.mechanisms.q)
        draw_all(out, place, {"robot": lambda: linkage.robot(shapes, found.links),
            "transmission": lambda: linkage.transmissions(found), "singularity": lambda: linkage.nearness(found)})  # fmt: skip
    write_json(json, "loops", result)


def loop_report(model: Any) -> LoopReport:
    """The file's posture, the assembled one, and the sub-mechanisms there."""
    import numpy as np

    from freeflyer.linkages import assemble, mechanisms
    from freeflyer.linkages.closure import file_posture
    from freeflyer.linkages.rows import constraint_loops, constraint_residual

    gap = np.abs(constraint_residual(model, file_posture(model)))
    found = assemble(model)
    worst = constraint_loops(model)[int(np.argmax(gap))]
    return LoopReport(mechanisms(model), float(gap.max()), worst, float(found.gap), float(found.independent_gap),
        int(found.iterations))  # fmt: skip


def _parts(result: Mechanisms) -> Any:
    from rich.text import Text

    from freeflyer.cli.output import name, table

    rows = []
    for m in result.parts:
        cells = result.cells(m)
        near = Text(cells[6], "yellow" if m.singularity < NEAR_SINGULAR else "")
        rows.append((name(m.name), *cells[1:5], str(m.gruebler), cells[5], near, cells[7]))
    columns = ("sub-mechanism", "active", "passive (in its loops)", "constraints", "rows", "mobility by count of rows", "mobility",
               "from singular (0)", "condition")  # fmt: skip
    return table(result.table().title, columns, rows, tuple(range(1, 9)))


def _strokes(result: Mechanisms) -> Any:
    import numpy as np

    from freeflyer.cli.output import name, table

    rows = [(name(joint), f"{low:g} .. {high:g}" if np.isfinite([low, high]).any() else "no limits") for m in result.parts
        for joint, (low, high) in zip(m.actuated, m.strokes) if len(m.actuated) == len(m.strokes)]  # fmt: skip
    return table("strokes of the motors (m or rad)", ("joint", "range"), rows)


def _closure(result: LoopReport) -> Any:
    from rich.text import Text

    from freeflyer.text import visible

    free = result.mechanisms.free
    lines = [
        f"the file's posture is open by {result.file_gap:.2g} (m or rad), most at {visible(result.file_loop)}; assembled in "
        f"{result.iterations} steps to {result.independent_gap:.1e} in independent rows, {result.gap:.1e} in all",
        f"nothing determines: {visible(', '.join(free), 400)}" if free else "every passive joint in a loop follows the motors",
    ]
    return Text("\n".join(lines))
