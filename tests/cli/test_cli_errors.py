"""What goes wrong ends as one sentence on stderr and exit code 2; `--debug` shows where. Full disks, terminals limited to ASCII
and Ctrl-C during the imports end without tracebacks."""

import os
import pytest
import subprocess
import sys
import typer
from command import arm, run, written
from freeflyer.cli.app import app, with_options
from freeflyer.errors import FreeflyerError
from pathlib import Path
from processes import python


@pytest.mark.parametrize(("arguments", "words"), [
    (["info", "humanoidd"], ["humanoidd", "humanoid"]), (["info", "no/such.urdf"], ["no/such.urdf", "humanoid"]),
    (["info", "."], ["folder"]), (["info", "humanoid:dof"], ["dof=20"]), (["info", "humanoid:legs=3"], ["legs"]),
    (["info", "humanoid:dof=7"], ["dof"]), (["info", "humanoid", "--base", "fixed"], ["--base"]),
    (["info", "humanoid", "--json", "."], ["folder"]), (["report", "humanoid", "-o", "."], ["folder"]),
    (["bench", "chain", "--plot", "x.svg"], [".png"]),
    (["linearize", "chain", "--bandwidth", "1e300"], ["error: --bandwidth must be a number from 1e-20"]),
    (["info", "w" * 1000], ["(1000 characters)"]),
])  # fmt: skip
def test_errors_are_one_sentence(arguments, words):
    result = run(*arguments)
    assert result.exit_code == 2
    message = result.stderr[result.stderr.index("error: ") :]
    assert message.count("\n") == 1
    assert "Traceback" not in result.output
    assert all(word in message for word in words)


def test_broken_files_are_one_sentence(tmp_path):
    result = run("info", written(tmp_path, arm()[:200]))
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.output
    result = run("info", "\x1b[2Jhumanoid")
    assert result.exit_code == 2
    assert "\x1b" not in result.output


@pytest.mark.parametrize("place", ["before", "after"])
def test_debug_lets_the_traceback_through(place):
    arguments = ["--debug", "info", "nobody"] if place == "before" else ["info", "nobody", "--debug"]
    result = run(*arguments)
    assert isinstance(result.exception, FreeflyerError)


def test_version_help_and_unknown_commands():
    assert (run("dance").exit_code, run("info", "humanoid", "--sideways").exit_code) == (2, 2)
    from importlib import metadata
    assert run("--version").stdout == f"freeflyer {metadata.version('freeflyer')}\n"
    shown = run("--help").stdout
    assert all(command in shown for command in ("info", "check", "report", "bench", "reproduce", "demo"))
    heavy = ("matplotlib", "mujoco", "sympy")
    code = f"import sys, freeflyer.cli.app\nprint([m for m in {heavy} if m in sys.modules])"
    done = python(code)
    assert done.stdout.strip() == "[]"


COMMANDS = typer.main.get_command(app).commands


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_each_default_that_is_a_word(name, monkeypatch):
    """A help text in brackets would be taken for markup and vanish."""
    monkeypatch.setenv("COLUMNS", "400")
    shown = run(name, "--help").stdout
    for option in COMMANDS[name].params:
        assert "[" not in (getattr(option, "help", None) or "")
        if isinstance(getattr(option, "show_default", None), str):
            assert f"[default: ({option.show_default})]" in shown


@pytest.mark.parametrize(("command", "python", "shown"), [
    ("estimate", "measure one (also=) or take it as rigid (rigid=)", "measure one or take it as rigid (--rigid)"),
    ("control", "give a hand, hand=..., or q=...", "give a hand, --hand ..., or q=..."),
    ("control", "position_noise must be a number", "--position-noise must be a number"),
    ("report", "there already: pass overwrite=True to replace it", "there already: pass --force to replace it"),
    ("info", "as it is (base=None), 'humanoid:dof=20'", "as it is (--base file), 'humanoid:dof=20'"),
    ("info", "seed= is unknown here", "seed= is unknown here"),
])  # fmt: skip
def test_sentences_name_options_in_place_of_arguments(command, python, shown):
    assert with_options(python, COMMANDS[command].params) == shown


RUN = "from freeflyer_command import main; main()"
STOPPED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background ignores it, and its children inherit that
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
"""
ASCII = [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")


def freeflyer(*arguments: str, before: str = "", stdout=subprocess.PIPE, stderr=subprocess.PIPE, **environment: str):
    command = [sys.executable, "-c", before + RUN, *arguments]
    return subprocess.run(command, stdout=stdout, stderr=stderr, env={**os.environ, **environment}, timeout=300, check=False)


@pytest.mark.slow
@needs_full
@pytest.mark.parametrize("arguments", [["info", "chain"], ["info", "chain", "--json", "-"], ["--version"], ["--help"]], ids=str)
def test_a_full_disk_is_one_sentence(arguments):
    with open("/dev/full", "w") as full:
        done = freeflyer(*arguments, stdout=full)
    assert done.returncode == 2
    assert done.stderr.decode().splitlines()[-1] == "error: cannot read or write the output: No space left on device"
    assert b"Traceback" not in done.stderr


@pytest.mark.slow
@needs_full
def test_an_error_that_cannot_be_written_is_an_exit_code():
    with open("/dev/full", "w") as full:
        done = freeflyer("info", "nobody", stderr=full)
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.slow
@pytest.mark.parametrize("environment", ASCII, ids=["PYTHONIOENCODING", "LANG=C"])
def test_ascii_terminals_get_ascii(environment):
    done = freeflyer("info", "kangaroo_like", **environment)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    text = done.stdout.decode("ascii")
    assert "->" in text
    assert "\\u" not in text
    done = freeflyer("info", "hümanoid", **environment)
    assert done.returncode == 2
    assert "no built-in robot is named" in done.stderr.decode("ascii")


@pytest.mark.slow
@pytest.mark.parametrize("module", ["numpy", "freeflyer.model.build", "typer", "freeflyer.cli.app"])
def test_an_interrupt_during_the_imports_is_one_word(module):
    done = freeflyer("info", "chain", before=STOPPED.format(name=module))
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"interrupted\n")


@pytest.mark.slow
def test_a_closed_pipe_is_no_error():
    command = [sys.executable, "-c", RUN, "info", "humanoid"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


def test_every_name_that_warm_takes_stands_for_entries_that_there_are():
    from freeflyer.cli.warming import USES, required_functions

    assert all(required_functions([name]) for name in USES)
