"""Commands about a robot: `info`, `check`, `report`, `loops`, the sub-mechanisms of a closed one, and `export`, a C library."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import freeflyer as ff
from freeflyer.cli import options as opt
from freeflyer.cli.output import COLOURS, draw_all, name, output, printed, status, table, warnings_on, write_json
from freeflyer.errors import InputError
from freeflyer.text import count, number, visible

if TYPE_CHECKING:
    from freeflyer.linkages.submechanisms import Mechanisms


def info(
    robot: opt.RobotArgument, base: opt.BaseOption = None, loops: opt.LoopsOption = None, json: opt.JsonOption = None,
    debug: opt.DebugOption = False
) -> None:
    """Show the parts of a robot: its tree with masses, its joints with limits, its loops."""
    from rich.text import Text

    from freeflyer.analysis.facts import joints_table, loops_table, totals, tree_lines

    result = ff.analysis.overview(opt.load_robot(robot, base, loops))
    out = output(json)
    out.print(name(result.name, "bold"), f" {totals(result)}")
    for guides, link in tree_lines(result.links):
        text = Text(guides, style="dim")
        if link.joint is not None:
            text.append_text(name(link.joint)).append(f" ({link.joint_kind})", "dim").append(" → ", "dim")
        text.append_text(name(link.name, "dim" if link.joint_kind == "fixed" else "bold cyan"))
        if link.mass:
            text.append(f"  {number(link.mass)} kg").append(f"  {100 * link.share:.1f} %", "dim")
        out.print(text, soft_wrap=True)
    out.print()
    out.print(printed(joints_table(result.joints)))
    if result.loops:
        out.print(printed(loops_table(result.loops)))
    for note in result.notes:
        out.print(name(f"note: {note}", "cyan", 2000), soft_wrap=True)
    write_json(json, "info", result)


def check(
    robot: opt.RobotArgument, base: opt.BaseOption = None, loops: opt.LoopsOption = None, json: opt.JsonOption = None,
    seed: opt.SeedOption = 0,
    everything: Annotated[bool, typer.Option("--all", help="List every finding, however many are alike.")] = False,
    debug: opt.DebugOption = False,
) -> None:  # fmt: skip
    """Check inertias, units, limits, loops, and the laws of dynamics at random states; exit code 1 on errors."""
    from freeflyer.analysis.checks.findings import SHOWN_PER_CODE, findings_table, identities_table

    result = ff.analysis.check(opt.load_robot(robot, base, loops, inertias="as-is"), seed=seed)
    out, colours = output(json), {"holds": "green", "fails": "bold red"}

    def coloured(row: Sequence[str]) -> Sequence[Any]:
        severity, subject, sentence = row
        if severity:
            return name(severity, COLOURS[severity]), name(subject, longest=200), sentence
        return "", name(subject, "dim"), name(f"{sentence} (--all lists them)", "dim")

    out.print(printed(identities_table(result.identities), lambda row: (*row[:-1], name(row[-1], colours[row[-1]]))))
    if result.findings:
        out.print(printed(findings_table(result.findings, None if everything else SHOWN_PER_CODE), coloured))
    out.print(name(result.verdict(), "bold red" if result.has_errors else "bold green", 200))
    write_json(json, "check", result)
    if result.has_errors:
        raise typer.Exit(1)


def report(
    robot: opt.RobotArgument, output_file: opt.OutputOption = Path("report.html"), base: opt.BaseOption = None,
    loops: opt.LoopsOption = None, json: opt.JsonOption = None, seed: opt.SeedOption = 0, overwrite: opt.ReplaceOption = False,
    debug: opt.DebugOption = False
) -> None:
    """Write a page with tree, masses, matrices, conditioning, energy drift, timings and findings."""
    from freeflyer.report.page import refuse_to_replace

    refuse_to_replace(output_file, overwrite)
    model = opt.load_robot(robot, base, loops)
    with warnings_on(output(json)), status() as progress:
        result = ff.report.report(model, seed=seed, progress=progress)
    written = ff.report.write_report(result, output_file, overwrite)
    write_json(json, "report", result)
    output(json).print(f"wrote {written.resolve()} ({written.stat().st_size / 1024:.0f} kB)", soft_wrap=True)


NEAR_SINGULAR = 1e-2  # of 1 / condition


class LoopReport(namedtuple("LoopReport", "mechanisms file_gap file_loop gap independent_gap iterations")):
    """mechanisms: the table. file_gap: how far open the file's posture is (m or rad), at loop `file_loop`; gap: after assembling,
    all rows; independent_gap: rows that the split uses; iterations: steps that closing took."""


def loops(
    robot: opt.RobotArgument, base: opt.BaseOption = None, loops: opt.LoopsOption = None, folder: opt.FolderOption = None,
    json: opt.JsonOption = None, debug: opt.DebugOption = False
) -> None:  # fmt: skip
    """Take a closed linkage apart: sub-mechanisms, ranks, strokes, singularities, and how well its loops close."""
    from freeflyer.report import linkage

    model = opt.load_robot(robot, base, loops)
    if not model.constraint_rows[0]:
        raise InputError(f"{model.name!r} has no loops and no couplings: it is a tree. Give its loops with --loops FILE")
    opt.make_folder(folder)
    result = loop_report(model)
    out = output(json)
    parts = result.mechanisms.table()

    def coloured(row: Sequence[str]) -> Sequence[Any]:  # in yellow how far a mechanism is from singular where that is near
        return (*row[:-2], name(row[-2], "yellow" if float(row[-2]) < NEAR_SINGULAR else ""), row[-1])

    out.print(printed(parts, coloured), f"{parts.note}\n", sep="", soft_wrap=True)
    out.print(_strokes(result.mechanisms))
    free = visible(", ".join(result.mechanisms.free), 400)
    out.print(f"the file's posture is open by {result.file_gap:.2g} (m or rad), most at {visible(result.file_loop)}; assembled in "
        f"{result.iterations} steps to {result.independent_gap:.1e} in independent rows, {result.gap:.1e} in all")  # fmt: skip
    out.print(f"nothing determines: {free}" if free else "every passive joint in a loop follows the motors")
    if folder is not None:  # the robot by its sub-mechanisms, what its motors move, how far it is from singular
        found = ff.analysis.linkages(model)
        draw_all(out, folder, {"robot": lambda: linkage.robot(model.tree, found.mechanisms.q, found.links),
            "transmission": lambda: linkage.transmissions(found), "singularity": lambda: linkage.nearness(found)})  # fmt: skip
    write_json(json, "loops", result)


def loop_report(model: Any) -> LoopReport:
    """The file's posture, the assembled one, and the sub-mechanisms there."""
    import numpy as np

    from freeflyer.model import file_posture
    from freeflyer.linkages.rows import constraint_loops

    gap = np.abs(ff.linkages.constraint_residual(model, file_posture(model)))
    found = ff.linkages.assemble(model)
    worst = constraint_loops(model)[int(np.argmax(gap))]
    return LoopReport(ff.linkages.mechanisms(model), float(gap.max()), worst, float(found.gap), float(found.independent_gap),
        int(found.iterations))  # fmt: skip


def _strokes(result: Mechanisms) -> Any:
    import numpy as np

    rows = [(name(joint), f"{low:g} .. {high:g}" if np.isfinite([low, high]).any() else "no limits") for m in result.parts
        for joint, (low, high) in zip(m.actuated, m.strokes) if len(m.actuated) == len(m.strokes)]  # fmt: skip
    return table("strokes of the motors (m or rad)", ("joint", "range"), rows)


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
LibraryOption = Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to; made if it is not there.")]
CpuOption = Annotated[str, typer.Option("--cpu", metavar="CPU",
    help="The CPU to compile for: native, x86-64-v3, aarch64, aarch64:cortex-a72, ...")]  # fmt: skip
BatchOption = Annotated[bool, typer.Option("--batch", help="Functions of many states at a time, too.")]
PrefixOption = Annotated[str | None, opt.option("--prefix", metavar="NAME", help="Prefix of C names.", show_default="the robot's")]
ControllerOption = Annotated[Path | None, opt.option("--controller", metavar="FILE",
    help="Export the whole-body controller of a YAML file (tasks, contacts, limits), at the robot's stance.")]  # fmt: skip
OverwriteOption = Annotated[bool, typer.Option("--overwrite", help="Replace files in a FOLDER that is not empty.")]
SpecializeOption = Annotated[bool, typer.Option("--specialize",
    help="Code for this robot alone where that is possible (freeflyer.specialize).")]  # fmt: skip
ListOption = Annotated[bool, typer.Option("--list", callback=_list, is_eager=True, help="Print what can be exported and stop.")]


def export(
    robot: opt.RobotArgument, functions: FunctionsOption = USUAL, folder: LibraryOption = Path("exported"),
    cpu: CpuOption = "native", batch: BatchOption = False, prefix: PrefixOption = None, overwrite: OverwriteOption = False,
    listed: ListOption = False, controller: ControllerOption = None, specialize: SpecializeOption = False,
    base: opt.BaseOption = None, loops: opt.LoopsOption = None, json: opt.JsonOption = None, debug: opt.DebugOption = False,
) -> None:  # fmt: skip
    """Write a C library with header, constants, object code and example: no Python where it runs.

    Loops are closed: v, a and tau are then the independent ones."""
    from freeflyer.dynamics import specializable
    from freeflyer.export.functions import select_functions

    if controller is not None and (batch or specialize or functions != USUAL):
        raise typer.BadParameter("--controller exports one function as it is: leave out --functions, --batch and --specialize")
    model = ff.close_loops(opt.load_robot(robot, base, loops))
    file = model.description.file or None
    same = {"cpu": cpu, "prefix": prefix, "overwrite": overwrite}
    if specialize:
        possible = specializable(model)
        with status() as progress:
            wanted = [f.name for f in select_functions(functions, model) if f.name in possible]
            model = ff.specialize(model, wanted, progress=progress)
    made: Any
    if controller is None:
        with status() as progress:
            made = ff.export.export(model, folder, functions, batch=batch, progress=progress, **same)  # type: ignore[arg-type]
    else:
        stance = ff.control.stand_on_feet(model, path=file)  # the posture of the controller of a file
        with status() as progress:
            problem = ff.control.read_problem(controller, stance.model, stance.q)
            made = ff.export.export_controller(problem, folder, stance.q, progress=progress, **same)  # type: ignore[arg-type]
    out, what = output(json), f"{count(len(made.functions), 'function')} for {made.cpu}"
    out.print(f"wrote {made.folder.resolve()}: {what}, in {', '.join(made.files)}", soft_wrap=True)
    for note in made.notes:
        out.print(note, style=COLOURS["note"], soft_wrap=True)
    write_json(json, "export", made)
