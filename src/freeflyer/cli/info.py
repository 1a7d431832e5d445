"""`freeflyer info`: tree, masses, joints, loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freeflyer.cli.options import BaseOption, DebugOption, JsonOption, LoopsOption, RobotArgument, load_robot

if TYPE_CHECKING:
    from rich.text import Text

    from freeflyer.analysis.facts import Overview


def info(
    robot: RobotArgument, base: BaseOption = None, loops: LoopsOption = None, json: JsonOption = None,
    debug: DebugOption = False
) -> None:
    """Show what a robot consists of: its tree with masses, its joints with limits, its loops."""
    from freeflyer.analysis.facts import joints_table, loops_table, overview
    from freeflyer.cli.output import output, printed, write_json

    result = overview(load_robot(robot, base, loops).model)
    out = output(json)
    out.print(_head(result))
    for line in _tree(result):
        out.print(line, soft_wrap=True)
    out.print()
    out.print(printed(joints_table(result.joints)))
    if result.loops:
        out.print(printed(loops_table(result.loops)))
    for note in result.notes:
        from freeflyer.cli.output import name

        out.print(name(f"note: {note}", "cyan", 2000), soft_wrap=True)
    write_json(json, "info", result)


def _head(o: Overview) -> Text:
    from rich.text import Text

    from freeflyer.analysis.facts import totals
    from freeflyer.cli.output import name

    return Text.assemble(name(o.name, "bold"), f"  {totals(o)}")


def _tree(o: Overview) -> list[Text]:
    from rich.text import Text

    from freeflyer.cli.output import name
    from freeflyer.report.tree import tree_lines
    from freeflyer.text import number

    lines = []
    for line in tree_lines(o.links):
        link, text = line.link, Text(line.guides, style="dim")
        if link.joint is not None:
            text.append_text(name(link.joint)).append(f" ({link.joint_kind})", "dim").append(" → ", "dim")
        text.append_text(name(link.name, "dim" if link.joint_kind == "fixed" else "bold cyan"))
        if link.mass:
            text.append(f"  {number(link.mass)} kg").append(f"  {100 * link.share:.1f} %", "dim")
        lines.append(text)
    return lines
