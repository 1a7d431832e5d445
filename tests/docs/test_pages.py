"""The code of every page of docs/ runs as it stands, and what it prints is what the page shows."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

import pytest
from page_blocks import Block, blocks, indented, name_of, pages, run_page
from robots_on_disk import MODELS

ELSEWHERE = {"export.md": "export/test_export_command.py"}  # pages whose blocks another file runs
NEEDS = {"reduced_control.md": "tocabi/tocabi.urdf"}  # files of FREEFLYER_MODELS that stand beside the reader's code
LEAVES = {"walking.md": "squat.png"}  # pictures that a page's code draws
COMMANDS = ("freeflyer ", "pip ", "python ", "git ", "cc ")


def runs(page: Path) -> bool:
    return name_of(page) not in ELSEWHERE and any(block.language != "text" for block in blocks(page))


@pytest.mark.parametrize("page", filter(runs, pages()), ids=name_of)
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if any(block.text.startswith("cc ") or "\ncc " in block.text for block in blocks(page)) and shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    if needed := NEEDS.get(name_of(page)):
        source = MODELS / needed
        if not source.is_file():
            pytest.skip(f"no {needed} in {MODELS}: set FREEFLYER_MODELS")
        (tmp_path / source.name).symlink_to(source)
    run_page(page, tmp_path)
    if picture := LEAVES.get(name_of(page)):
        assert (tmp_path / picture).stat().st_size > 10_000


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_code_is_fenced(page: Path) -> None:
    """So that it runs: a block that is indented alone is no Python with calls or assignments, and no command."""
    if name_of(page) in ELSEWHERE:
        return
    assert sum(line.lstrip().startswith("```") for line in page.read_text().splitlines()) == 2 * len(blocks(page)), "other fences"
    for text in indented(page):
        assert not any(line.startswith(COMMANDS) for line in text.splitlines()), text
        try:
            tree = ast.parse(text)
        except SyntaxError:
            continue
        assert not any(isinstance(node, ast.Call | ast.Assign | ast.Import) for node in ast.walk(tree)), text


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_commands_named_exist(page: Path) -> None:
    from typer.main import get_command

    from freeflyer.cli.app import app

    known = set(get_command(app).commands)  # type: ignore[attr-defined]
    text = page.read_text()
    named = re.findall(r"(?:`|^(?: {4})?)freeflyer ([a-z]+)(?=[ `\n])", text, re.MULTILINE)
    assert set(named) <= known


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("```python\n1 / 0\n```\n", ZeroDivisionError),
        ("```python\nprint(1)\n```\n\n```text title=\"Output\"\n2\n```\n", AssertionError),
        ("```bash\nfalse\n```\n", AssertionError),
        ("```sh\nfreeflyer demo\n```\n", AssertionError),
        ("```c\nint x;\n```\n", AssertionError),
    ],
)  # fmt: skip
def test_what_fails_is_seen(text: str, error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    monkeypatch.setattr("page_blocks.DOCS", tmp_path)
    with pytest.raises(error):
        run_page(page, tmp_path)


def test_names_files_and_output_pass_from_block_to_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```text title=\"a.txt\"\nhello\n```\n\n```python\nx = open('a.txt').read()\n```\n\n```python\nprint(x)\n```\n\n"
        "```text title=\"Output\"\nhel...\n```\n\n```bash\ncat a.txt\n```\n\n```text title=\"Output\"\nhello\n```\n"
    )
    monkeypatch.setattr("page_blocks.DOCS", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run_page(page, tmp_path)["x"] == "hello\n"
    assert blocks(page)[0] == Block("text", "a.txt", "hello\n", 1)
