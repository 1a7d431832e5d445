"""The code of docs/ prints what its pages show; the site builds with strict links and takes nothing from the network."""

import ast
import contextlib
import doctest
import freeflyer as ff
import io
import linecache
import numpy as np
import os
import pytest
import re
import shutil
import subprocess
import sys
from cli import command
from collections.abc import Callable
from freeflyer.model.description import JOINT_KINDS
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from public_names import ROOMS, public_names
from robots_on_disk import MODELS
from typing import Any, NamedTuple

DOCS = Path(__file__).parents[2] / "docs"
FENCE = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INSTALLS = ("pip install ", "git clone ", "cd ", "python -m venv ", ". ", "pytest", "ruff ", "mkdocs ")  # lines of `sh` begin so
SAME = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class Block(NamedTuple):
    """One fenced block: its language, the title beside it, and where it begins."""

    language: str
    title: str
    text: str
    line: int


def pages() -> list[Path]:
    return sorted(DOCS.rglob("*.md"))


def name_of(page: Path) -> str:
    return Path(os.path.relpath(page, DOCS)).as_posix()


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [Block(m[1], m[2] or "", m[3], text[: m.start()].count("\n") + 1) for m in FENCE.finditer(text)]


def indented(page: Path) -> list[str]:
    """Blocks that are set apart by four spaces alone."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    found = re.findall(r"(?:^    .*\n|^\n)+", text, re.MULTILINE)
    return [re.sub("^    ", "", block, flags=re.MULTILINE).strip("\n") for block in found if block.strip()]


def run_page(page: Path, folder: Path) -> dict[str, Any]:
    """The names that the page's Python leaves, and under "printed" what it printed, block by block."""
    names: dict[str, Any] = {"__name__": "__main__", "printed": []}
    printed = ""
    for block in blocks(page):
        where = f"{name_of(page)}, line {block.line}"
        if block.title == "Output":
            assert doctest.OutputChecker().check_output(block.text, printed, SAME), f"{where}: printed was\n{printed}"
        elif block.title:
            (folder / block.title).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            printed = run_python(block, where, names)
            names["printed"].append(printed)
        elif block.language == "bash":
            printed = run_shell(block, where, folder)
        elif block.language == "sh":
            assert all(line.startswith(INSTALLS) for line in block.text.splitlines() if line), where
        else:
            assert block.language == "text", f"{where}: a block of {block.language!r} takes a title, the name of its file"
    return names


def run_python(block: Block, where: str, names: dict[str, Any]) -> str:
    shown = io.StringIO()
    text, file = "\n" * block.line + block.text, where.replace(",", "")
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)  # where the text of kernels is looked for
    with contextlib.redirect_stdout(shown):
        exec(compile(text, file, "exec"), names)
    return shown.getvalue()


def run_shell(block: Block, where: str, folder: Path) -> str:
    """Standard output of a shell that finds `freeflyer` and this Python first."""
    tools = folder / ".tools"
    tools.mkdir(exist_ok=True)
    commands = {"freeflyer": '-c "from freeflyer.cli import main; main()" "$@"', "python": '"$@"'}
    for name, arguments in commands.items():
        (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments}\n')
        (tools / name).chmod(0o755)
    environment = os.environ | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", block.text], cwd=folder, env=environment, capture_output=True,
        text=True, timeout=400)  # fmt: skip
    assert done.returncode == 0, f"{where}\n{done.stdout}{done.stderr}"
    return done.stdout


NEEDS = {"reduced_control.md": "tocabi/tocabi.urdf"}  # files of FREEFLYER_MODELS that stand beside the reader's code
EXTRAS = {"beyond_one_machine.md": "distributed", "viewer.md": "viser"}  # packages that only a page's code needs
LEAVES = {"walking.md": "squat.png"}  # pictures that a page's code draws
COMMANDS = ("freeflyer ", "pip ", "python ", "git ", "cc ")
SYMBOLIC = ("l**2*m_11*cos(q1) + l**2*(m_02 + 5*m_11)/4 g*l*m_11*cos(q1 + theta)/2", "0.4905*m*sin(q1)*cos(q0)",
    "void hopper(const double *q, const double *v, ", "<freeflyer.symbolic.Routine: q, v, a, m -> tau (9,), ")  # fmt: skip


def constrained_motion(names: dict[str, Any], shown: list[str]) -> bool:
    assert float(shown[0].split()[0]) == pytest.approx(0.4)
    assert shown[1].startswith("3 [")
    assert "root_joint sideways" in shown[2]
    assert "'row 1' depends on rows before it and contradicts them by 0.5" in shown[3]
    assert "10 rows for 9 freedoms" in shown[3]
    assert float(shown[4]) < 1e-12
    carried, weight = map(float, shown[5].split()[-2:])
    assert carried == pytest.approx(weight, rel=1e-6)
    return bool(np.isfinite(names["found"].slack[:4]).all())


def dual_quaternions(names: dict[str, Any], shown: list[str]) -> bool:
    s, ds, m, g = 0.3, 1.0, 2.0, 9.81
    slope = m * 0.1 * np.cos(s) * -0.1 * np.sin(s) * ds**2  # of the kinetic energy (0.01 + m (0.1 cos s)^2) s'^2 / 2
    return np.isclose(names["force"], slope + m * g * 0.1 * np.cos(s), rtol=1e-12)


CLAIMS: dict[str, Callable[[dict[str, Any], list[str]], bool]] = {  # of names and printed text that no block "Output" shows
    "whole_body_control.md": lambda names, shown: names["solution"].status == "solved" and not names["run"].fell,
    "hopping.md": lambda names, _: names["gait"].stable and names["forward"].failure is None and names["forward"].q[-1, 0] > 0.5,
    "symbolic.md": lambda names, shown: all(said in "".join(shown) for said in SYMBOLIC),
    "constrained_motion.md": constrained_motion, "dual_quaternions.md": dual_quaternions,
}  # fmt: skip


def runs(page: Path) -> bool:
    return any(block.language != "text" for block in blocks(page))


@pytest.mark.slow
@pytest.mark.parametrize("page", filter(runs, pages()), ids=name_of)
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if name_of(page) in EXTRAS:
        pytest.importorskip(EXTRAS[name_of(page)])
    compiles = any(block.text.startswith("cc ") or "\ncc " in block.text for block in blocks(page))
    if compiles and (sys.platform != "linux" or shutil.which("cc") is None):
        pytest.skip("the commands are for Linux with a C compiler")
    if needed := NEEDS.get(name_of(page)):
        source = MODELS / needed
        if not source.is_file():
            pytest.skip(f"no {needed} in {MODELS}: set FREEFLYER_MODELS")
        (tmp_path / source.name).symlink_to(source)
    names = run_page(page, tmp_path)
    assert name_of(page) not in CLAIMS or CLAIMS[name_of(page)](names, names["printed"])
    if picture := LEAVES.get(name_of(page)):
        assert (tmp_path / picture).stat().st_size > 10_000


@pytest.mark.parametrize("page", [*pages(), DOCS.parent / "README.md"], ids=name_of)
def test_code_and_commands(page: Path) -> None:
    """So that it runs: a block that is indented alone is no Python with calls or assignments, and, in docs/, no command."""
    if page in pages():
        check_fences(page)
    named = re.findall(r"(?:`|^(?: {4})?)freeflyer ([a-z]+)(?=[ `\n])", page.read_text(), re.MULTILINE)
    assert set(named) <= set(command.COMMANDS)


def check_fences(page: Path) -> None:
    assert sum(line.lstrip().startswith("```") for line in page.read_text().splitlines()) == 2 * len(blocks(page)), "other fences"
    for text in indented(page):
        assert not any(line.startswith(COMMANDS) for line in text.splitlines()), text
        try:
            tree = ast.parse(text)
        except SyntaxError:
            continue
        assert not any(isinstance(node, ast.Call | ast.Assign | ast.Import) for node in ast.walk(tree)), text


def test_the_page_of_conventions_names_every_joint_kind_and_functions_that_exist() -> None:
    text = (Path(__file__).parents[2] / "docs" / "conventions.md").read_text()
    assert all(kind in text for kind in JOINT_KINDS)
    words = (w.strip(".();") for w in text.replace("`", " ").replace(",", " ").split() if w.startswith("spatial."))
    for _, module, function in (w.split(".")[:3] for w in words if w.count(".") > 1):
        assert function in getattr(ff.spatial, module).__all__, (module, function)


ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
SHORT = {"squat.py": ("0.2",), "many_falls.py": ("64",)}  # arguments with which they take less time


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_an_example_runs(script: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-W", "error::RuntimeWarning", str(script), *SHORT.get(script.name, ())], cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True, text=True, timeout=300)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert re.search(r"\d", done.stdout)
    assert not re.search(r"\b(?:nan|inf)\b", done.stdout)
    assert f"python examples/{script.name}" in script.read_text()


NEEDED = ("mkdocs", "material", "mkdocstrings", "latex2mathml")
LOADED = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data"}  # unasked
NO_NETWORK = """
import runpy, socket, sys
def refuse(*arguments, **options):
    raise RuntimeError("the build of the site asks the network")
socket.socket.connect = socket.socket.connect_ex = refuse
socket.getaddrinfo = refuse
sys.argv = ["mkdocs", "build", "--strict", "--site-dir", sys.argv[1]]
runpy.run_module("mkdocs", run_name="__main__")
"""


class Page(HTMLParser):
    """What a page loads from elsewhere, and the equations that stand in it as text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.outside: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        source = given.get(LOADED.get(tag, ""), "") or ""
        if re.match(r"(?:\w+:)?//", source) and given.get("rel") != "canonical":
            self.outside.append(source)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    absent = [name for name in NEEDED if find_spec(name) is None]
    if absent:
        pytest.skip(f'no {absent[0]}: pip install ".[docs]"')
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run([sys.executable, "-c", NO_NETWORK, str(folder)], cwd=ROOT, capture_output=True, text=True,
                          timeout=300, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"})  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.slow
def test_pages(site: Path) -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        assert (site / page.relative_to(ROOT / "docs").with_suffix(".html")).is_file()
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        assert Page(page.read_text()).outside == [], page.name
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(?:\w+:)?//", sheet.read_text()), sheet.name
    text = (site / "theory" / "linearization.html").read_text()
    assert text.count('display="block"') == text.count('<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">') > 2
    body = re.sub(r"<(pre|code|script|style|math)\b.*?</\1>", "", text, flags=re.DOTALL)
    assert "$" not in body
    assert "\\" not in body


@pytest.mark.slow
def test_the_reference(site: Path) -> None:
    for room in ROOMS:
        page = (site / "reference" / f"{room or 'index'}.html").read_text()
        for name in (name for name in public_names() if name.rpartition(".")[0] == room):
            assert f'id="freeflyer.{name}"' in page, name
    # With their defaults: 'rtol, atol: ...' would have none
    text = (site / "reference" / "sim.html").read_text()
    simulate = text[text.index('id="freeflyer.sim.simulate"') :]
    for name, default in (("rtol", "1e-08"), ("atol", "1e-10")):
        row = re.search(rf"<code>{name}</code>.*?</tr>", simulate, re.DOTALL)
        assert row
        assert f"<code>{default}</code>" in row[0]
