"""`freeflyer hop`: experiments, settings, pictures and what is refused."""

import numpy as np
import pytest
from command import json_of, run
from freeflyer.cli import output


def test_slow_work_says_in_a_pipe_how_far_it_is(monkeypatch, capsys):
    monkeypatch.setattr(output, "QUIET", 0.0)
    with output.status() as progress:
        progress(np.float64(0.25), "hopping")
    assert "hopping: 25%" in capsys.readouterr().err


@pytest.mark.slow
def test_an_experiment_with_pictures(tmp_path):
    data = json_of("hop", "prismatic-III", "--duration", 0.6, "-o", tmp_path / "hop")
    assert data["events"]["touch-down"] >= 1
    assert data["time"] == pytest.approx(0.6)
    drawn = {path.suffix for path in (tmp_path / "hop").iterdir()}
    assert ".png" in drawn


def test_without_an_experiment_they_are_listed():
    result = run("hop")
    assert result.exit_code == 0
    assert "prismatic-I" in result.output
    assert "revolute-VI" in result.output


@pytest.mark.parametrize(("arguments", "words"), [
    (("hop", "revolute-VII"), "revolute-VI"), (("hop", "prismatic-I", "--set", "energy_gain"), "NAME=VALUE"),
    (("hop", "prismatic-I", "--set", "gain_of_energy=1"), "gain_of_energy"),
    (("hop", "prismatic-I", "--duration", "-1"), "error: --duration must be a positive number, got -1.0"),
    (("hop", "revolute-III", "--set", "duration=3"), "no setting is named 'duration'"),
    (("hop", "revolute-III", "--set", "w" * 1000 + "=3"), "(1000 characters)"),
])  # fmt: skip
def test_what_is_refused(arguments, words):
    result = run(*arguments)
    assert result.exit_code != 0
    assert words in result.output
