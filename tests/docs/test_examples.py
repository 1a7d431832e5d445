"""The scripts of examples/ run, in an empty folder, and print finite numbers."""

import os
import pytest
import re
import subprocess
import sys
from pathlib import Path

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
SHORT = {"squat.py": ("0.2",), "many_falls.py": ("64",)}  # arguments with which they take less time


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_an_example_runs(script: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-W", "error::RuntimeWarning", str(script), *SHORT.get(script.name, ())],
                          cwd=tmp_path, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True,
                          text=True, timeout=300)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert re.search(r"\d", done.stdout)
    assert not re.search(r"\b(?:nan|inf)\b", done.stdout)
    assert f"python examples/{script.name}" in script.read_text()


def test_errors_of_the_peer_example_are_those_of_rounding(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(ROOT / "examples" / "beside_pinocchio.py")], cwd=tmp_path, capture_output=True,
                          text=True, timeout=300, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})  # fmt: skip
    errors = [float(x) for x in re.findall(r"\d\.\de[-+]\d+", done.stdout)]
    assert len(errors) == 5
    assert max(errors) < 1e-11, done.stdout
