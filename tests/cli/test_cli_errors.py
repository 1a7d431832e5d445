"""What goes wrong ends as one sentence on stderr and exit code 2, on full disks and ASCII terminals, too."""

import os
import pytest
import shlex
import subprocess
import sys
from command import COMMANDS, arm, refusal, run, written
from freeflyer.cli.app import with_options
from freeflyer.errors import FreeflyerError
from pathlib import Path
from processes import FREEFLYER, RUN, python

REFUSED = {  # command: words of what it says
    "info humanoidd": ("humanoidd", "humanoid"), "info no/such.urdf": ("no/such.urdf", "humanoid"), "info .": ("folder",),
    "info humanoid:dof": ("dof=20",), "info humanoid:legs=3": ("legs",), "info humanoid:dof=7": ("dof",),
    "info humanoid --base fixed": ("--base",), "info humanoid --json .": ("folder",), f"info {'w' * 1000}": ("(1000 characters)",),
    "loops arm.urdf": ("has no loops", "--loops FILE"), "report humanoid -o .": ("folder",), "bench chain --plot x.svg": (".png",),
    "bench chain --peers": ("python -m benchmarks",),
    "linearize humanoidd": ("humanoid",), "linearize humanoid --at nowhere.yaml": ("nowhere.yaml",),
    "linearize humanoid --wrench tail": ("tail", "frame"), "linearize humanoid --thruster nozzle_*": ("nozzle_*",),
    "linearize aerial_manipulator --bandwidth 0": ("bandwidth",), "linearize aerial_manipulator --bandwidth nan": ("bandwidth",),
    "linearize chain --bandwidth 1e300": ("error: --bandwidth must be a number from 1e-20",),
    "linearize humanoid --recovery": ("base z translation",), "linearize chain --recovery": ("free joint",),
    "report humanoid -o notes.txt": ("must end in .html",), "report humanoid -o none/a.html": ("there is no folder", "/none"),
    "check no_robot --json none/a.json": ("there is no folder", "/none"),  # before the robot is read
    "linearize chain -o /dev/null/x": ("folder",), "linearize chain --json .": ("folder",),
    "linearize space_manipulator --wrench satellite --wrench satellite": ("twice",),
    "hop revolute-VII": ("revolute-VI",), "hop prismatic-I --set energy_gain": ("NAME=VALUE",),
    "hop prismatic-I --set gain_of_energy=1": ("gain_of_energy",),
    "hop prismatic-I --duration -1": ("error: --duration must be a positive number, got -1.0",),
    "hop revolute-III --set duration=3": ("no setting is named 'duration'",),
    f"hop revolute-III --set {'w' * 1000}=3": ("(1000 characters)",),
    "estimate humanoid": ("has no loops",), "estimate kangaroo_like --rigid left_kneee": ("left_knee",),
    "estimate kangaroo_like --encoder left_kneee": ("left_knee",), "estimate kangaroo_like --view": ("--swing",),
    "estimate kangaroo_like --frequency 0.5": ("--swing",), "export chain --controller x.yaml --batch": ("--controller exports",),
    "export chain --controller x.yaml --specialize": ("--controller exports",),
    "estimate kangaroo_like --swing --amplitude -0.1": ("--amplitude must be a positive",),
    "estimate kangaroo_like --swing --frequency 0": ("--frequency must be a positive",),
    "estimate kangaroo_like --noise inf": ("error: --noise must be a number of 0 or more, got inf",),
    "estimate kangaroo_like -o /dev/null": ("cannot write into the folder",),
    "view chain --image x.png --elevation nan": ("--elevation",), "view chain --image x.png --run none.npz": ("none.npz",),
    "view chain --image x.png --run none.npz --keyframe home": ("--keyframe",), "view chain --gif x.gif": ("--run",),
    "view chain --keyframe home": ("keyframe",), "view no_robot": ("no_robot",), "view chain --run none.npz": ("none.npz",),
    "view chain --image /no/such/folder/x.png": ("written",), "view chain --layers ghosts --image x.png": ("ghosts",),
    "view chain --host nowhere.invalid": ("host",), "control stand --pushes 2 --view": ("--pushes",),
    "export chain --functions mass_matix": ("mass_matrix", "body_poses"), "export chain --functions ''": ("name the functions",),
    "export chain --cpu hasswell": ("haswell", "native"), "export chain -o .": ("error: the folder '.' is not empty",),
    "export kangaroo_like --functions coriolis_matrix": ("closed models",),
    "control dance": ("dance",), "control squat --robot no_such_robot": ("no_such_robot",),
    "control stand --hand left_palm": ("--hand belongs to the scenario reach",),
    "control squat --pushes 3": ("--pushes and --boundary belong to the scenario stand",),
    "control stand --velocity-noise 1e308": ("error: --velocity-noise holds 1e+308",),
    "control stand --dt 0": ("error: --dt must be a positive number, got 0.0",),
    f"control stand --solver {'w' * 1000}": ("(1000 characters)",), "control squat --feet left_palm": ("its sole's sides",),
    "control squat --feet nose --sole 0.2x0.1": ("nose",), "control squat --sole 0.2x0.1": ("--feet names",),
    "control squat --feet left_sole --sole wide": ("LENGTHxWIDTH",), "control squat --steps 3": ("belongs to the scenario walk",),
    "control squat --speed 0.3": ("belongs to the scenario walk",), "control walk --pushes 2": ("--pushes",),
    "control stand --pushes 2 --compare --duration 1": ("--pushes and --boundary take no --compare, --duration",),
    "control stand --boundary 4 --solver daqp": ("--pushes and --boundary take no --solver",),
    "control stand --processes 2": ("--processes share the pushes",),
    "control squat --compare --formulation reduced": ("--compare runs the full and the reduced",),
}  # fmt: skip


@pytest.mark.parametrize("command", REFUSED, ids=lambda command: command[:60])
def test_what_is_refused_is_one_sentence_and_leaves_no_file(command, tmp_path, monkeypatch):
    written(tmp_path, arm())
    monkeypatch.chdir(tmp_path)
    said = refusal(*shlex.split(command))
    assert all(word in said for word in REFUSED[command]), said
    assert [p.name for p in tmp_path.iterdir()] == ["arm.urdf"]


def test_broken_files_are_one_sentence(tmp_path):
    assert refusal("info", written(tmp_path, arm()[:200])).startswith("error: ")
    assert "\x1b" not in refusal("info", "\x1b[2Jhumanoid")


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
    ("report", "there already: pass overwrite=True to replace it", "there already: pass --overwrite to replace it"),
    ("info", "as it is (base=None), 'humanoid:dof=20'", "as it is (--base file), 'humanoid:dof=20'"),
    ("info", "seed= is unknown here", "seed= is unknown here"),
])  # fmt: skip
def test_sentences_name_options_in_place_of_arguments(command, python, shown):
    assert with_options(python, COMMANDS[command].params) == shown


STOPPED = """
import os, signal, sys
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
    in_extension = STOPPED.replace("os.kill(os.getpid(), signal.SIGINT)", "raise ImportError('no init') from KeyboardInterrupt()")
    for before in (STOPPED, in_extension) if module == "typer" else (STOPPED,):
        done = freeflyer("info", "chain", before=before.format(name=module))
        assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"interrupted\n")


@pytest.mark.slow
def test_a_closed_pipe_is_no_error():
    with subprocess.Popen([*FREEFLYER, "info", "humanoid"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


def test_every_name_that_warm_takes_stands_for_entries_that_there_are():
    from freeflyer.cli.warming import USES, required_functions

    assert all(USES.values())
    assert all(required_functions([name]) for name in USES)
