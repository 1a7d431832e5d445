"""`freeflyer check` and `freeflyer linearize`."""

import freeflyer as ff
import json
import numpy as np
import pytest
from command import LIMIT, arm, json_of, printed, refusal, run, run_json, written

def findings(folder, text):
    result, data = run_json("check", written(folder, text), "--base", "fixed")
    return result.exit_code, [(f["severity"], f["code"], f["subject"]) for f in data["findings"]]


def test_a_sound_robot_passes(tmp_path):
    assert findings(tmp_path, arm()) == (0, [])
    shown = printed("check", written(tmp_path, arm()))
    assert "0 errors" in shown
    assert "holds" in shown
    short, long = run("check", "chain:n=30"), run("check", "chain:n=30", "--all")
    assert short.exit_code == long.exit_code == 0
    assert len(long.stdout) >= len(short.stdout)
    _, data = run_json("check", "chain", "--seed", "3")
    assert all(0 <= law["residual"] <= law["tolerance"] and law["holds"] for law in data["identities"])


@pytest.mark.parametrize(("text", "code", "severity", "subject"), [
    (arm(moments=(0.01, 0.01, 0.05)), "triangle-inequality", "error", "lower"),
    (arm(limit=LIMIT.replace("2", "90", 1).replace('upper="2"', 'upper="90"')), "limits-in-degrees", "warning", "elbow"),
])  # fmt: skip
def test_a_planted_defect_is_found(tmp_path, text, code, severity, subject):
    exit_code, found = findings(tmp_path, text)
    assert (severity, code, subject) in found
    assert exit_code == (1 if severity == "error" else 0)


def test_an_open_loop_is_found(tmp_path):
    loops = written(tmp_path, "closed_loop: [[lower, base]]\ntype: ['3d']\nname_mot: [shoulder]\n", "loops.yaml")
    result, data = run_json("check", written(tmp_path, arm()), "--base", "fixed", "--loops", loops)
    assert result.exit_code == 1  # the elbow does not reach the base: the loop cannot be closed
    (gap,) = [f for f in data["findings"] if f["code"] == "open-loop"]
    assert gap["values"]["position"] == pytest.approx(0.5)


def test_kangaroo_s_table(models_folder):
    path = models_folder / "kangaroo" / "kangaroo.xml"
    data = json_of("loops", path)
    parts = data["mechanisms"]["parts"]
    assert sorted((len(p["strokes"]), p["passive"],
        p["constraints"]) for p in parts) == sorted(2 * [(1, 2, 2), (2, 8, 8), (1, 6, 6), (2, 14, 14)])  # fmt: skip
    assert data["mechanisms"]["rank"] == 60
    assert data["independent_gap"] < 1e-12
    shown = run("loops", path).stdout
    assert "rank 60 of 84 rows" in shown
    assert "leg_left_length_motor" in shown
    folder = models_folder / "five_bar"
    shown = printed("loops", folder / "robot.urdf", "--base", "fixed", "--loops", folder / "robot.yaml")
    assert "rank 3 of 3 rows" in shown


def test_pictures_go_into_a_folder(models_folder, tmp_path):
    five_bar = models_folder / "five_bar"
    folder = tmp_path / "new" / "pictures"
    shown = printed("loops", five_bar / "robot.urdf", "--base", "fixed", "--loops", five_bar / "robot.yaml", "-o", folder)
    names = {"robot", "transmission", "singularity"}
    assert {path.name for path in folder.iterdir()} == {f"{name}.{kind}" for name in names for kind in ("png", "svg")}
    assert all(name in shown for name in names)
    (tmp_path / "taken").write_text("a file")
    said = refusal("loops", models_folder / "kangaroo" / "kangaroo.xml", "-o", tmp_path / "taken")
    assert "there is a file of that name" in said


@pytest.mark.parametrize("name", ff.robots.names())
def test_every_built_in_robot_is_shown(name):
    shown = printed("info", name)
    model = ff.robots.make(name)
    assert f"nv {model.nv}" in shown
    assert all(link in shown for link in model.link_names)


def test_bases_of_robots(tmp_path):
    _, data = run_json("info", "humanoid:dof=20")
    assert data["nv"] == 26
    _, data = run_json("info", "chain:n=4,base=free")
    assert (data["base"], data["nv"]) == ("free", 10)
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    path = tmp_path / "arm.xml"
    bodies = f'<body name="a">{inertial}<body name="b"><joint/>{inertial}</body></body>'
    path.write_text(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    assert "fixed base (as in the file), nq 1" in run("info", str(path)).stdout
    assert "free base (chosen), nq 8" in run("info", str(path), "--base", "free").stdout
    _, data = run_json("info", str(path))
    assert (data["base"], data["base_origin"]) == ("fixed", "as in the file")
    path = written(tmp_path, arm())
    sizes = {base: run_json("info", path, "--base", base)[1]["nv"] for base in ("free", "fixed", "planar")}
    assert (sizes, run_json("info", path)[1]["base"]) == ({"free": 8, "fixed": 2, "planar": 5}, "free")
    path = written(tmp_path, arm(robot="[red]bad[/red]", tip="[bold]tip[/nonsense]"))
    shown = printed("info", path)
    assert "[red]bad[/red]" in shown
    assert "[bold]tip[/nonsense]" in shown


@pytest.mark.parametrize("command", ["info", "linearize"])
def test_the_name_alone_is_bold(command, monkeypatch):
    for key, value in {"FORCE_COLOR": "1", "TERM": "xterm", "NO_COLOR": ""}.items():
        monkeypatch.setenv(key, value)
    name, _, more = printed(command, "humanoid").partition("\n")[0].partition("\x1b[0m")
    assert (name, more[:2]) == ("\x1b[1mhumanoid_33", "  ")


def test_json_of_a_robot(tmp_path):
    result, data = run_json("info", "humanoid")
    assert (result.exit_code, (data["nq"], data["nv"], len(data["actuated"]))) == (0, (40, 39, 33))
    assert (
        sum(link["mass"] for link in data["links"]) == pytest.approx(data["mass"]) == pytest.approx(data["total_mass"])
    )
    knee = next(j for j in data["joints"] if j["name"] == "left_knee")
    assert knee["upper"][0] > knee["lower"][0]
    assert data["joints"][0]["lower"] == [None] * 6  # none given: no number
    assert "left_knee" in result.stderr  # the table gives way to the data
    path = tmp_path / "info.json"
    path.write_text("x" * 10**6)
    assert run("info", "chain", "--json", path).exit_code == 0
    document = json.loads(path.read_text())
    assert document["command"] == "info"
    assert document["freeflyer"]
    assert [p.name for p in tmp_path.iterdir()] == ["info.json"]


def test_a_hovering_robot_is_held_and_steered():
    data = json_of("linearize", "aerial_manipulator")
    model = ff.robots.aerial_manipulator()
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
    weight = 9.81 * ff.robots.humanoid(dof=20).mass
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
