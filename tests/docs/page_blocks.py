"""Code blocks of the pages of docs/, and how they run: as a reader takes them, one after the other, in an empty folder.

    ```python                     runs; the names that it makes stay for the blocks below
    ```text title="Output"        what the block before prints ("..." stands for anything)
    ```xml title="arm.urdf"       a file that the reader writes, of any language
    ```bash                       runs in a shell
    ```sh                         installs something or starts from nothing: does not run, see `INSTALLS`
    ```text                       a drawing
"""

import contextlib
import doctest
import io
import linecache
import os
import re
import subprocess
import sys
from pathlib import Path
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
    return page.relative_to(DOCS).as_posix()


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [Block(m[1], m[2] or "", m[3], text[: m.start()].count("\n") + 1) for m in FENCE.finditer(text)]


def indented(page: Path) -> list[str]:
    """Blocks that are set apart by four spaces alone."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    found = re.findall(r"(?:^    .*\n|^\n)+", text, re.MULTILINE)
    return [re.sub("^    ", "", block, flags=re.MULTILINE).strip("\n") for block in found if block.strip()]


def run_page(page: Path, folder: Path) -> dict[str, Any]:
    """The names that the page's Python leaves, and under "printed" what it printed, block by block.

    Errors: those of its code; AssertionError for other output than is written there."""
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
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.text], cwd=folder, env=environment, capture_output=True, text=True, timeout=400
    )
    assert done.returncode == 0, f"{where}\n{done.stdout}{done.stderr}"
    return done.stdout
