"""The README's Python runs as it stands, and what it links to exists."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
WRONG = """
model.no_such_attribute
ff.no_such_function
ff.mass_matrix(model)
ff.robots.make(3)
ff.frame_jacobian(model, q, "left_sole", "sideways")
ff.spatial.quaternion.normalise(q)
""".strip()  # one error a line


def type_errors(checker: str, code: str, folder: Path) -> list[str]:
    """What a type checker reports of a user's own file, in which freeflyer is a library: one line an error."""
    tools, source = Path(sys.executable).parent, str(ROOT / "src")
    (folder / "user.py").write_text(code)
    (folder / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "standard", "extraPaths": [source]}))
    command = {
        "mypy": ("mypy", "--strict", "--config-file=", "--cache-dir=/dev/null", "--follow-imports=silent", "user.py"),
        "basedpyright": ("basedpyright", "--pythonpath", sys.executable),
    }[checker]
    done = subprocess.run(
        [str(tools / command[0]), *command[1:]], cwd=folder, capture_output=True, text=True, timeout=300,
        env={**os.environ, "MYPYPATH": source},
    )  # fmt: skip
    found = [line for line in done.stdout.splitlines() if re.search(r"\berror:", line)]
    assert done.returncode == bool(found), done.stdout + done.stderr
    return found


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_a_users_mistakes_are_the_only_type_errors(checker: str, tmp_path: Path) -> None:
    code, wrong = "\n".join(BLOCKS).splitlines(), WRONG.splitlines()
    found = type_errors(checker, "\n".join(code + wrong), tmp_path)
    lines = {int(m[1]) for line in found if (m := re.search(r"user\.py:(\d+)", line))}
    assert lines == {len(code) + 1 + k for k in range(len(wrong))}, found


def test_python_blocks_run() -> None:
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), {})
    assert len([line for line in BLOCKS[0].splitlines() if line.strip()]) <= 14


def test_links_exist() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", TEXT):
        assert (ROOT / target).is_file(), target


def test_commands_named_exist() -> None:
    from typer.main import get_command

    from freeflyer.cli.app import app

    known = set(get_command(app).commands)  # type: ignore[attr-defined]
    named = set(re.findall(r"^    freeflyer (\w+)", TEXT, re.MULTILINE))
    assert named <= known
