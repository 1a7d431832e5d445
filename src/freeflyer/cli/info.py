"""`freeflyer info`: tree, masses, joints, loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from freeflyer.cli.options import BaseOption, DebugOption, JsonOption, LoopsOption, RobotArgument, load_robot

if TYPE_CHECKING:
    from rich.text import Text

    from freeflyer.studies.facts import JointRow, Overview


def info(
    robot: RobotArgument,
    base: BaseOption = None,
    loops: LoopsOption = None,
    json: JsonOption = None,
    debug: DebugOption = False,
) -> None:
    """Show what a robot consists of: its tree with masses, its joints with limits, its loops."""
    from freeflyer.cli.output import output, write_json
    from freeflyer.studies.facts import overview

    result = overview(load_robot(robot, base, loops).model)
    out = output(json)
    out.print(_head(result))
    for line in _tree(result):
        out.print(line, soft_wrap=True)
    out.print()
    out.print(_joints(result))
    if result.loops:
        out.print(_loops(result))
    for note in result.notes:
        from freeflyer.cli.output import name

        out.print(name(f"note: {note}", "cyan", 2000), soft_wrap=True)
    write_json(json, "info", result)


def _head(o: Overview) -> Text:
    from rich.text import Text

    from freeflyer.cli.output import name
    from freeflyer.text import count

    origin = f" ({o.base_origin})" if o.base_origin else ""
    facts = (
        f"  {o.base} base{origin}, nq {o.nq}, nv {o.nv}, {_mass(o)}, {count(len(o.links), 'link')}, "
        f"{count(len(o.joints), 'moving joint')}, {len(o.actuated)} actuated, {count(len(o.loops), 'loop')}"
    )
    return Text.assemble(name(o.name, "bold"), facts)


def _mass(o: Overview) -> str:
    """The mass that moves, and the total where a part is fixed."""
    from freeflyer.text import number

    still = "" if abs(o.total_mass - o.mass) <= 1e-9 * o.total_mass else f" moving of {number(o.total_mass, 6)} kg"
    return f"{number(o.mass, 6)} kg{still}"


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


def _joints(o: Overview) -> Any:
    from freeflyer.cli.output import table

    columns = ("joint", "kind", "q", "v", "position", "velocity", "effort", "armature", "damping", "friction", "")
    return table("joints (SI units, radians)", columns, [_joint(j) for j in o.joints], numeric=range(2, 10))


def _joint(j: JointRow) -> tuple[str, ...]:
    from freeflyer.text import number

    def listed(values: Any) -> str:
        shown = [number(x, 3) for x in values]
        return shown[0] if len(set(shown)) == 1 else " ".join(shown)

    limits = [f"{number(a, 3)}…{number(b, 3)}" for a, b in zip(j.lower, j.upper, strict=True)]
    role = f"follows {j.mimics}" if j.mimics else "" if j.actuated else "passive"
    return (
        j.name, j.kind, _span(j.iq, j.nq), _span(j.iv, j.nv), limits[0] if len(set(limits)) == 1 else " ".join(limits),
        *(listed(x) for x in (j.velocity, j.effort, j.armature, j.damping, j.friction)), role,
    )  # fmt: skip


def _span(first: int, size: int) -> str:
    return "" if size == 0 else str(first) if size == 1 else f"{first}…{first + size - 1}"


def _loops(o: Overview) -> Any:
    from freeflyer.cli.output import table

    rows = [(x.name, x.frame_a, x.frame_b, x.kind, str(x.rows)) for x in o.loops]
    return table(
        "loops (functions in tree coordinates cut them; see freeflyer loops)",
        ("loop", "ties", "to", "kind", "rows"),
        rows,
        (4,),
    )
