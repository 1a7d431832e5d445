"""One self-contained HTML page from a Report. Every name that comes from a robot passes `esc`."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import partial
from importlib import resources
from pathlib import Path

from freeflyer.analysis.checks.findings import SEVERITIES, findings_table, identities_table
from freeflyer.analysis.facts import joints_table, loops_table, tree_lines
from freeflyer.errors import FileError
from freeflyer.files import check_target, write_atomically
from freeflyer.linkages.submechanisms import Mechanism
from freeflyer.model import public
from freeflyer.plots.files import inline_svg
from freeflyer.report import figures
from freeflyer.report.linkage import transmissions as draw_transmissions
from freeflyer.report.reporting import Report
from freeflyer.tables import Table, esc, html_table
from freeflyer.text import count, microseconds, number

SHOWN_PER_CODE = 8  # sentences of one kind; the rest are counted
TAGS = {"holds": "ok", "fails": "error"}  # colours
MARK = '<meta name="generator" content="freeflyer report">'


def page(r: Report) -> str:
    """The whole page."""
    mass, momentum = _matrices(r)
    narrow = [_robot(r), _masses(r), mass, momentum, _tree(r), _conditioning(r), _fall(r), _timings(r)]
    wide = [_identities(r), _joints(r), _mechanisms(r), _transmissions(r), _loops(r)]
    header = f'<div class="soft">freeflyer {esc(r.version)} report, {esc(r.created)}</div>\n{_facts(r)}'
    body = f'{_findings(r)}\n<div class="columns">\n{"".join(narrow)}\n</div>\n{"".join(wide)}\n{_footer(r)}'
    return document(esc(r.robot), "freeflyer report", MARK, header, body)


def document(title: str, maker: str, mark: str, header: str, body: str, style: str = "") -> str:
    """A page on its own, which asks for nothing from anywhere. header: text below the title."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{mark}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{title} - {maker}</title>
<style>
{(resources.files("freeflyer.report") / "style.css").read_text(encoding="utf-8")}{style}</style>
</head>
<body>
<main>
<header>
<h1>{title}</h1>
{header}
</header>
{body}
</main>
</body>
</html>
"""


def _section(title: str, about: str, body: str) -> str:
    about = f'<p class="about">{about}</p>' if about else ""
    return f"<section>\n<h2>{title}</h2>\n{about}{body}\n</section>\n"


def _table(t: Table, cells: Sequence[Callable[[str], str]]) -> str:
    """A table of text, the cells of each column made HTML by a function."""
    return f'<div class="scroll">{html_table(t, cells)}</div>'


def _code(name: str) -> str:
    return f"<code>{esc(name, 200)}</code>"


def _tag(word: str) -> str:
    """A severity, or whether a law holds, in its colour."""
    return f'<span class="tag {TAGS.get(word, word)}">{word}</span>' if word else ""


def _facts(r: Report) -> str:
    o = r.overview
    moving = "kg" if abs(o.mass - o.total_mass) <= 1e-9 * o.total_mass else "kg moving"
    facts = [
        (number(o.mass, 6), moving), (str(o.nq), "positions nq"), (str(o.nv), "velocities nv"),
        *([(str(o.independent), "independent velocities")] if o.independent < o.nv else []), (esc(o.base), "base"),
        (str(len(o.links)), "links"), (str(len(o.joints)), "moving joints"), (str(len(o.actuated)), "actuated joints"),
        (str(len(o.loops)), "loops"), (", ".join(number(x) for x in o.gravity), "gravity, m/s²")]  # fmt: skip
    cards = "".join(f'<div class="fact"><b>{value}</b><span>{what}</span></div>' for value, what in facts)
    return f'<div class="facts">{cards}</div>'


def _robot(r: Report) -> str:
    if not r.picture:
        return ""
    within = "" if r.overview.loops else ", moved within the limits of joints"
    about = f"Links at the neutral posture{within}, those without shapes round and as heavy over their joints"
    about += "; below in the colour of the motors that move them." if r.linkages else "."
    shown = f'<img class="shaded" alt="{esc(r.robot)}" src="data:image/png;base64,{b64encode(r.picture).decode()}">'
    return _section("Robot", about, shown + r.views.decode())


def _mechanisms(r: Report) -> str:
    if r.linkages is None:
        return _omitted_section(r, "linkages", "Sub-mechanisms") if "linkages" in r.omitted else ""
    found = r.linkages.mechanisms
    t = found.table()
    rows = [(*row, _strokes(m)) for row, m in zip(t.rows, found.parts, strict=True)]
    with_strokes = Table("", (*t.columns, "strokes of the motors, m or rad"), rows, t.numeric)
    return _section("Sub-mechanisms", f"{esc(t.title)}. {t.note}", _table(with_strokes, [*[esc] * len(t.columns), str]))


def _strokes(m: Mechanism) -> str:
    named = zip(m.actuated, m.strokes, strict=False) if len(m.actuated) == len(m.strokes) else []
    return "<br>".join(f"{_code(name)} {number(a, 3)}…{number(b, 3)}" for name, (a, b) in named)


def _transmissions(r: Report) -> str:
    if r.linkages is None or not r.linkages.transmissions:
        return ""
    about = "What each motor moves over its stroke (dotted: its ends), the others at rest: joints of its sub-mechanism."
    figure = inline_svg(partial(draw_transmissions, r.linkages), "transmission")
    return _section("Transmission", about, figure)


def _tree(r: Report) -> str:
    lines = []
    for guides, link in tree_lines(r.overview.links):
        joint = f"{esc(link.joint, 60)} <i>({esc(link.joint_kind)})</i> → " if link.joint else ""
        mass = f"  <i>{number(link.mass)} kg</i>" if link.mass else ""
        lines.append(f"<i>{guides}</i>{joint}<b>{esc(link.name, 60)}</b>{mass}")
    about = "Joint (kind) → link. Only branches indent: a link drawn straight below another is carried by it."
    return _section("Tree", about, '<div class="scroll"><pre class="tree">' + "\n".join(lines) + "</pre></div>")


def _masses(r: Report) -> str:
    o = r.overview
    heavy = count(sum(link.mass > 0 for link in o.links), "link")
    about = f"{number(o.total_mass, 6)} kg over {heavy} with mass, in tree order."
    return _section("Mass distribution", about, inline_svg(partial(figures.mass_distribution, o), "mass"))


def _findings(r: Report) -> str:
    counts = ", ".join(count(r.check.count(s), s) for s in SEVERITIES)
    if not r.check.findings:
        return _section("Findings", "", '<p class="ok">Nothing was found wrong.</p>')
    table = findings_table(r.check.findings, SHOWN_PER_CODE)
    return _section("Findings", f"{counts}.", _table(table, [_tag, _code, esc]))


def _omitted_section(r: Report, part: str, title: str) -> str:
    return _section(title, "", f'<p class="soft">Not computed: {esc(r.omitted.get(part, "unknown reason"))}</p>')


def _matrices(r: Report) -> tuple[str, str]:
    m = r.matrices
    if m is None:
        return _omitted_section(r, "matrices", "Mass matrix"), ""
    about = f"At a random posture near neutral; {100 * m.sparsity:.0f} % of the entries vanish (left empty)."
    mass = _section("Mass matrix", about, inline_svg(partial(figures.mass_matrix, m), "M"))
    about = "Maps velocities to linear (p) and angular (L) momentum about the centre of mass, world axes; SI units."
    figure = inline_svg(partial(figures.momentum_matrix, m), "A")
    return mass, _section("Centroidal momentum matrix", about, figure)


def _conditioning(r: Report) -> str:
    if r.conditioning is None:
        return _omitted_section(r, "conditioning", "Conditioning")
    about = ("Condition number of the mass matrix over random postures, as it stands and with units taken out "
        "(M<sub>ij</sub>/√(M<sub>ii</sub> M<sub>jj</sub>)). Solving with M loses that many digits.")  # fmt: skip
    return _section("Conditioning", about, inline_svg(partial(figures.conditioning, r.conditioning), "cond"))


def _fall(r: Report) -> str:
    if r.fall is None:
        return _omitted_section(r, "free fall", "Energy in free fall")
    about = (f"{number(r.fall.duration)} s without torques from a random motion: the total energy should stay. The integrator is "
        "of order 4: half the step must leave a sixteenth of the drift or less, until rounding shows.")  # fmt: skip
    return _section("Energy in free fall", about, inline_svg(partial(figures.energy_drift, r.fall), "fall"))


def _timings(r: Report) -> str:
    t = r.timings
    if t is None:
        return _omitted_section(r, "timings", "Timings")
    columns = 4 if any(x.batch_threads is not None for x in t.rows) else 3  # 3 on a single core
    heads = ("function", "µs a call", "µs a state, 1 thread", f"{t.threads} threads")[:columns]
    rows = [(x.algorithm, *map(microseconds, (x.call, x.batch, x.batch_threads)))[:columns] for x in t.rows]
    open_loops = " Of the tree, its loops open." if r.overview.loops else ""
    about = (f"From Python, arguments checked; batches of {t.batch_size} states. Medians of {t.blocks} blocks on "
        f"{esc(r.machine.cpu)}, {count(r.machine.cores, 'core')}.{open_loops}")  # fmt: skip
    return _section("Timings", about, _table(Table("", heads, rows, range(1, columns)), [_code, *[esc] * (columns - 1)]))


def _joints(r: Report) -> str:
    t = joints_table(r.overview.joints)
    return _section("Joints", "Coordinates and limits, SI units and radians; ∞: none given.", _table(t, [_code, *[esc] * 10]))


def _loops(r: Report) -> str:
    if not r.overview.loops:
        return ""
    about = "Closed in the matrices, the conditioning, the fall and the identities; timings are of the tree, its loops open."
    if any(f.code == "loops-not-closed" for f in r.check.findings):
        about = "They cannot be closed (see Findings): all sections are of the tree, its loops open."
    return _section("Loops", about, _table(loops_table(r.overview.loops), [_code] * 3 + [esc] * 2))


def _identities(r: Report) -> str:
    if not r.check.identities:
        return ""
    about = "Evaluated at random states; residuals are relative to the largest entry."
    return _section("Identities", about, _table(identities_table(r.check.identities), [_code, esc, esc, esc, _tag]))


def _footer(r: Report) -> str:
    m = r.machine
    versions = ", ".join(f"{esc(k)} {esc(v)}" for k, v in m.versions.items())
    facts = (m.cpu, count(m.cores, "core"), m.architecture, m.system, f"Python {m.python}")
    return f"<footer>{', '.join(esc(x) for x in facts)}; {versions}</footer>"


@public
def write_report(result: Report, path: str | Path, overwrite: bool = False) -> Path:
    """Report as one self-contained HTML page, written to a file.

    Args:
        path: File; its name ends in .html. A page of this function is replaced.
        overwrite: Whether a file of another kind may be replaced.
    Raises: FileError for such a file without `overwrite`, another ending, a folder, and a file that cannot be written.

    Examples:
        >>> result = ff.report.report(ff.robots.chain(3, joints="fixed"))
        >>> path = ff.report.write_report(result, "chain.html")
        >>> path.name, "<title>chain_3 - freeflyer report</title>" in path.read_text()
        ('chain.html', True)
    """
    path = Path(path)
    refuse_to_replace(path, overwrite)
    write_atomically(path, page(result))
    return path


def refuse_to_replace(path: Path, overwrite: bool = False) -> None:
    """Errors: FileError for a name that does not end in .html, and where a report would replace a file of another kind."""
    check_target(path, (".html", ".htm"), overwrite=True)
    if not overwrite and path.exists() and not is_report(path):
        raise FileError(f"{str(path)!r} exists and is not a freeflyer report: choose another name, or replace it with "
            "overwrite=True", path=str(path))  # fmt: skip


def is_report(path: Path) -> bool:
    """Whether a file is a page written by `write_report`, or empty."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(1024)
    return not head or MARK.encode() in head
