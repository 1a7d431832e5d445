"""The README's commands run, with the results that it describes."""

from freeflyer.cli.app import app
from typer.testing import CliRunner


def test_the_linearisation_of_the_readme_has_a_regulator() -> None:
    shown = CliRunner().invoke(app, ["linearize", "space_manipulator", "--wrench", "satellite"]).output
    assert "the inputs steer 26 of 26 states" in shown
    assert "regulator of 2 rad/s" in shown
    shown = CliRunner().invoke(app, ["linearize", "space_manipulator"]).output
    assert "no regulator" in shown
    assert "--wrench FRAME" in shown
