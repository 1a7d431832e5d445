"""The project's own rules, checked: style, types of the public layer, arrows between rooms, sizes of files."""

import ast
import json
import os
import pytest
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
WRONG = """
model.no_such_attribute
ff.no_such_function
ff.mass_matrix(model)
ff.robots.make(3)
ff.frame_jacobian(model, q, "left_sole", "sideways")
ff.spatial.quaternion.normalise(q)
""".strip()  # one error a line


def run(*command: str) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def tool(name: str) -> str:
    return str(Path(sys.executable).parent / name)


def test_style_and_sizes() -> None:
    run(tool("ruff"), "check", "--no-cache", "src", "tests")
    run(tool("lint-imports"), "--no-cache")
    # Without docstrings, which say what each argument of a public function is
    for path in sorted((ROOT / "src").rglob("*.py")):
        text = path.read_text()
        if (lines := text.count("\n")) > 400:
            documented = (x for x in ast.walk(ast.parse(text)) if isinstance(x, ast.Module | ast.ClassDef | ast.FunctionDef))
            texts = [node.body[0] for node in documented if ast.get_docstring(node) is not None]
            assert lines - sum(text.end_lineno - text.lineno for text in texts) <= 400, path


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_types(checker: str, tmp_path: Path) -> None:
    """The package has no errors; the Python of the README, as a user's own file beside it, those planted below it alone."""
    wrong, user = WRONG.splitlines(), tmp_path / "user.py"
    code = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)).splitlines()
    user.write_text("\n".join([*code, *wrong]))
    settings = {**tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pyright"], "extraPaths": [str(ROOT / "src")],
                "include": [str(ROOT / "src" / "freeflyer"), str(user)],
                "exclude": [str(ROOT / "src" / "freeflyer" / "kernels")]}  # fmt: skip
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = {
        "mypy": ("mypy", "--config-file", ROOT / "pyproject.toml", "--cache-dir", ROOT / ".mypy_cache",
                 ROOT / "src" / "freeflyer", user),
        "basedpyright": ("basedpyright", "--pythonpath", sys.executable),
    }[checker]
    done = subprocess.run([tool(command[0]), *map(str, command[1:])], cwd=tmp_path, capture_output=True, text=True, timeout=600,
                          env={**os.environ, "MYPYPATH": str(ROOT / "src")})  # fmt: skip
    found = [line for line in done.stdout.splitlines() if re.search(r"\berror:", line)]
    lines = [int(m[1]) for line in found if (m := re.search(r"user\.py:(\d+)", line))]
    assert len(lines) == len(found), done.stdout
    assert {*lines} == {len(code) + 1 + k for k in range(len(wrong))}, done.stdout + done.stderr
