"""Run the command line, or another program, in this process, and small URDF texts to run it on."""

import json
from freeflyer.cli.app import app
from pathlib import Path
from typer import Typer
from typer.main import get_command
from typer.testing import CliRunner
from typing import Any

COMMANDS = get_command(app).commands  # type: ignore[attr-defined]
INERTIA = '<inertia ixx="{0}" iyy="{1}" izz="{2}" ixy="0" ixz="0" iyz="0"/>'
LIMIT = '<limit lower="-2" upper="2" velocity="5" effort="50"/>'


def run(*arguments: object, program: Typer = app):
    """The result of `freeflyer ARGUMENTS`: exit_code, stdout, stderr."""
    return CliRunner().invoke(program, [str(a) for a in arguments])


def run_json(*arguments: object, program: Typer = app):
    """(result, the data of the JSON document that the command puts on stdout)."""
    result = run(*arguments, "--json", "-", program=program)
    return result, json.loads(result.stdout)["data"]


def printed(*arguments: object) -> str:
    """What a command prints that ends well."""
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def refusal(*arguments: object) -> str:
    """What a command says that is refused, in one sentence on stderr, before it prints anything but what JSON repeats."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == "" or "--json" in arguments
    sentence = result.stderr.partition("error: ")[2]
    assert sentence.count("\n") == (sentence != "")  # words of typer's own stand in a frame
    return " ".join(result.stderr.split())


def json_of(*arguments: object) -> dict[str, Any]:
    """The data of the JSON document of a command that ends well."""
    result, data = run_json(*arguments)
    assert result.exit_code == 0, result.output
    return data


def arm(robot: str = "arm", mass: object = 2, moments=(0.02, 0.02, 0.01), limit: str = LIMIT, tip: str = "lower") -> str:
    """A two-link arm; the arguments change its last link and joint."""
    sound = f'<inertial><origin xyz="0 0 0.1"/><mass value="2"/>{INERTIA.format(0.02, 0.02, 0.01)}</inertial>'
    last = f'<inertial><origin xyz="0 0 0.1"/><mass value="{mass}"/>{INERTIA.format(*moments)}</inertial>' if mass else ""
    joint = ('<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><origin xyz="0 0 {3}"/>'
             '<axis xyz="0 1 0"/>{4}</joint>')  # fmt: skip
    return (f'<?xml version="1.0"?><robot name="{robot}"><link name="base">{sound}</link><link name="upper">{sound}</link>'
        f'<link name="{tip}">{last}</link>{joint.format("shoulder", "base", "upper", 0.2, LIMIT)}'
        f"{joint.format('elbow', 'upper', tip, 0.3, limit)}</robot>")  # fmt: skip


def written(folder: Path, text: str, name: str = "arm.urdf") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
