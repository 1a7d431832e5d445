"""`freeflyer export` on the command line, the page about it, and CMake."""

import json
import os
import pytest
import re
import shutil
import subprocess
import sys
from c_program import needs_cc, run
from freeflyer.cli.app import app
from freeflyer.cli.robot import USUAL
from freeflyer.export import functions
from pathlib import Path
from typer.testing import CliRunner

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "export.md"


def export(*arguments: object):
    return CliRunner().invoke(app, ["export", *(str(a) for a in arguments)])


def test_the_list_and_the_page_s_table():
    result = export("--list")
    assert result.exit_code == 0
    of_trees, of_closed = result.stdout.split("\n\n")
    assert [line.split()[0] for line in of_trees.splitlines()] == list(functions.FUNCTIONS)
    assert of_closed.strip().endswith(", ".join(functions.CLOSED_FUNCTIONS))
    assert tuple(USUAL.split(",")) == functions.USUAL
    from typer.main import get_command
    command = get_command(app).commands["export"]  # type: ignore[attr-defined]
    shared = {"--list", "--base", "--loops", "--json", "--debug", "--output", "--help"}
    options = {name for p in command.params for name in p.opts if name.startswith("--")} - shared
    assert options == set(re.findall(r"^\| `(--[a-z]+)`", PAGE.read_text(), re.MULTILINE))


def test_a_folder_and_its_json(tmp_path):
    result = export("chain:n=3", "--functions", "mass_matrix", "-o", tmp_path / "c", "--prefix", "arm", "--json", "-")
    assert result.exit_code == 0, result.stderr
    data = json.loads(result.stdout)["data"]
    assert data["functions"] == ["arm_mass_matrix"]
    assert all((tmp_path / "c" / file).is_file() for file in data["files"])
    assert "1 function for" in result.stderr


@pytest.mark.parametrize(("arguments", "words"), [(["chain", "--functions", "mass_matix"], ["mass_matrix", "body_poses"]),
                                                  (["chain", "--functions", ""], ["name the functions"]),
                                                  (["chain", "--cpu", "hasswell"], ["haswell", "native"]),
                                                  (["kangaroo_like", "--functions", "coriolis_matrix"], ["closed models"]),
                                                  (["chain", "-o", "."], ["error: the folder '.' is not empty"])])  # fmt: skip
def test_errors_are_one_sentence(tmp_path, monkeypatch, arguments, words):
    (tmp_path / "mine.txt").write_text("")
    monkeypatch.chdir(tmp_path)
    result = export(*arguments)
    assert result.exit_code == 2
    message = result.stderr[result.stderr.index("error: ") :]
    assert message.count("\n") == 1
    assert all(word in message for word in words)
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


@needs_cc
@pytest.mark.skipif(sys.platform != "linux", reason="the page's commands are for Linux")
def test_the_page_s_commands_and_program_run(tmp_path):
    text = PAGE.read_text()
    (tmp_path / "stand.c").write_text(re.findall(r"```c\n(.*?)```", text, re.DOTALL)[0])
    (tmp_path / "stance.yaml").write_text(re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)[0])
    (tmp_path / "freeflyer").write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -c "from freeflyer.cli import main; main()" "$@"\n'
    )
    (tmp_path / "freeflyer").chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    said = []
    for command in re.findall(r"^    (.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE):
        done = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, command + done.stdout + done.stderr
        said.append(done.stdout)
    assert said[2].count("same bits") == 3
    assert re.search(r"the base carries \d+\.\d+ N; the foot stands 0\.\d+ m below it\n", "".join(said))
    assert said[-1].startswith("status 0, torques off by 0.0e+00")


@needs_cc
@pytest.mark.skipif(shutil.which("cmake") is None, reason="there is no CMake")
def test_cmake_builds_the_libraries_and_the_example(tmp_path):
    assert export("chain:n=3", "--functions", "mass_matrix", "-o", tmp_path, "--prefix", "arm").exit_code == 0
    for library in ("libarm.a", "libarm.so"):
        (tmp_path / library).unlink()
    run("cmake", "-S", ".", "-B", "build", folder=tmp_path)
    run("cmake", "--build", "build", folder=tmp_path)
    assert {"libarm.a", "libarm.so"} <= {p.name for p in (tmp_path / "build").iterdir()}
    assert "same bits" in run(tmp_path / "build" / "arm_example", folder=tmp_path)
