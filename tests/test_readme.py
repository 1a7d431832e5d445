"""The README's Python runs as it stands, and what it links to exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_python_blocks_run() -> None:
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), {})
    assert len([line for line in BLOCKS[0].splitlines() if line.strip()]) <= 14


def test_links_and_commands_exist() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", TEXT):
        assert (ROOT / target).is_file(), target
    from freeflyer.cli.app import app
    from typer.main import get_command
    known = set(get_command(app).commands)  # type: ignore[attr-defined]
    named = set(re.findall(r"^    freeflyer (\w+)", TEXT, re.MULTILINE))
    assert named <= known
