"""The README's Python runs as it stands, and what it links to exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL))
def test_python_blocks_run(block: str) -> None:
    exec(compile(block, "README.md", "exec"), {})


def test_twelve_lines() -> None:
    first = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)[0]
    assert len([line for line in first.splitlines() if line.strip()]) <= 14


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)#:]+)\)", TEXT))
def test_links_exist(target: str) -> None:
    assert (ROOT / target).is_file()


def test_commands_named_exist() -> None:
    from typer.main import get_command

    from freeflyer.cli.app import app

    known = set(get_command(app).commands)  # type: ignore[attr-defined]
    named = set(re.findall(r"^    freeflyer (\w+)", TEXT, re.MULTILINE))
    assert named <= known
