"""`freeflyer linearize`: what is found, held and steered, files in and out, and what is refused. The README's commands run,
with the results that it describes."""

import freeflyer as ff
import json
import numpy as np
import pytest
from command import arm, json_of, printed, run_json, written
from freeflyer import robots
from freeflyer.cli.app import app
from typer.testing import CliRunner


def test_a_hovering_robot_is_held_and_steered(tmp_path):
    data = json_of("linearize", "aerial_manipulator")
    model = robots.aerial_manipulator()
    assert data["held"] == "held by the inputs alone"
    assert (data["states"], data["rank"], data["uncontrollable"]) == (20, 20, [])
    thrust = sum(u for name, u in zip(data["inputs"], data["u"], strict=True) if name.startswith("rotor_"))
    assert thrust == pytest.approx(9.81 * model.mass)
    found = ff.linearize(model, np.array(data["q"]), np.zeros(10), ff.gravity_forces(model, np.array(data["q"])))
    np.testing.assert_allclose(data["A"], found.A, atol=1e-9)
    values = np.linalg.eigvals(found.A)
    assert max(re for re, _ in data["poles"]) == pytest.approx(values.real.max(), abs=1e-3)
    assert all(re < 0 for re, _ in data["closed"])
    assert sum(m["count"] for m in data["modes"]) == 20
    assert data["mass_condition"] > 1


def test_what_a_study_leaves_out_is_said(tmp_path):
    limit = '<limit lower="0.5" upper="2" velocity="5" effort="50"/><dynamics damping="0.1"/>'
    notes = json_of("linearize", written(tmp_path, arm(limit=limit)), "--base", "fixed")["notes"]
    assert [note.rpartition(" ")[2] for note in notes] == ["elbow", "elbow"], notes
    assert "outside the limits" in notes[0]
    assert "left out (freeflyer.passive_forces)" in notes[1]


def test_robots_in_the_air():
    shown = printed("linearize", "humanoid:dof=20")
    words = " ".join(shown.split())
    weight = 9.81 * robots.humanoid(dof=20).mass
    assert f"held from outside, as by a hoist or the ground: base z translation {weight:.4g} N" in words
    assert "out of reach: base z translation, base rotation about z" in words
    assert "no regulator: no choice of the 20 inputs holds this posture" in words
    _, data = run_json("linearize", "space_manipulator")
    base = ["x translation", "y translation", "z translation", "rotation about x", "rotation about y", "rotation about z"]
    assert data["uncontrollable"] == data["unstabilizable"] == [f"base {d}" for d in base]
    assert (data["rank"], data["distance"]) == (14, 0)
    _, steered = run_json("linearize", "space_manipulator", "--wrench", "satellite")
    assert steered["rank"] == 26
    assert steered["distance"] > 1e-4
    assert steered["refusal"] == ""
    _, pushed = run_json("linearize", "space_manipulator", "--thruster", "*_panel_tip", "--thruster", "satellite")
    assert pushed["inputs"][-3:] == ["left_panel_tip", "right_panel_tip", "satellite"]
    assert "base x translation" in pushed["uncontrollable"]  # all of them push along z
    result, data = run_json("linearize", "kangaroo_like", "--no-search")
    assert (result.exit_code, len(data["coordinates"])) == (0, 18)
    assert "loops are closed" in result.stdout


def test_postures_and_search(tmp_path):
    robot = written(tmp_path, arm())
    posture = written(tmp_path, "shoulder: 0.3\nelbow: -0.5\n", "posture.yaml")
    _, data = run_json("linearize", robot, "--base", "fixed", "--at", posture)
    assert data["q"] == [0.3, -0.5]
    assert data["u"] == pytest.approx(list(ff.gravity_forces(ff.load(robot, base="fixed"), [0.3, -0.5])))
    assert data["moved"] == 0
    posture = written(tmp_path, "root_joint: {rpy: [0.2, 0.1, 0]}\n", "tilted.yaml")
    _, data = run_json("linearize", "aerial_manipulator", "--at", posture)
    assert data["moved"] == pytest.approx(0.223, abs=0.03)
    assert "nearest found" in data["found"]
    _, still = run_json("linearize", "aerial_manipulator", "--at", posture, "--no-search")
    assert still["moved"] == 0
    assert "base y translation" in still["held"]


@pytest.mark.slow
def test_pictures_and_recovery(tmp_path):
    folder = tmp_path / "out"
    shown = printed("linearize", "aerial_manipulator", "-o", folder, "--recovery", "--bandwidth", 4, "--json", tmp_path / "x.json")
    for name in ("poles", "recovery"):
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert b"<svg" in (folder / f"{name}.svg").read_bytes()[:1000]
        assert str(folder / f"{name}.png") in shown.replace("\n", "")
    back = json.loads((tmp_path / "x.json").read_text())["data"]["recovery"]
    assert (back["pitches"], back["group_recovers"]) == ([60, 100, 120, 150], [True] * 4)
    assert back["euler_recovers"] == [True, True, True, False]
    assert "comes back" in shown
    assert "is lost" in shown


def test_the_linearisation_of_the_readme_has_a_regulator() -> None:
    shown = CliRunner().invoke(app, ["linearize", "space_manipulator", "--wrench", "satellite"]).output
    assert "the inputs steer 26 of 26 states" in shown
    assert "regulator of 2 rad/s" in shown
    shown = CliRunner().invoke(app, ["linearize", "space_manipulator"]).output
    assert "no regulator" in shown
    assert "--wrench FRAME" in shown
