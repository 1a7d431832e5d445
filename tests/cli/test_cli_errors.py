"""What goes wrong ends as one sentence on stderr and exit code 2; `--debug` shows where."""


import pytest
import typer
from command import arm, run, written
from freeflyer.cli.app import app, with_options
from freeflyer.errors import FreeflyerError
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
    assert run("dance").exit_code == 2
    assert run("info", "humanoid", "--sideways").exit_code == 2
    from importlib import metadata
    assert run("--version").stdout == f"freeflyer {metadata.version('freeflyer')}\n"
    shown = run("--help").stdout
    assert all(command in shown for command in ("info", "check", "report", "bench", "reproduce", "demo"))
    heavy = ("matplotlib", "mujoco", "sympy")
    code = f"import sys, freeflyer.cli.app\nprint([m for m in {heavy} if m in sys.modules])"
    done = python(code)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("command", "python", "shown"), [
    ("estimate", "measure one (also=) or take it as rigid (rigid=)", "measure one or take it as rigid (--rigid)"),
    ("control", "give a hand, hand=..., or q=...", "give a hand, --hand ..., or q=..."),
    ("control", "position_noise must be a number", "--position-noise must be a number"),
    ("report", "there already: pass overwrite=True to replace it", "there already: pass --force to replace it"),
    ("info", "as it is (base=None), 'humanoid:dof=20'", "as it is (--base file), 'humanoid:dof=20'"),
    ("info", "seed= is unknown here", "seed= is unknown here"),
])  # fmt: skip
def test_sentences_name_options_in_place_of_arguments(command, python, shown):
    assert with_options(python, typer.main.get_command(app).commands[command].params) == shown


def test_every_name_that_warm_takes_stands_for_entries_that_there_are():
    from freeflyer.cli.warming import USES, required_functions

    assert all(required_functions([name]) for name in USES)
