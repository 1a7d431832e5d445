"""`freeflyer info`: what it shows, what it writes."""

import json

import pytest
from command import arm, run, run_json, written

from freeflyer import robots


@pytest.mark.parametrize("name", robots.names())
def test_every_built_in_robot_is_shown(name):
    result = run("info", name)
    assert result.exit_code == 0
    model = robots.make(name)
    assert f"nv {model.nv}" in result.stdout
    assert all(link in result.stdout for link in model.link_names)


def test_options_of_a_built_in_robot():
    _, data = run_json("info", "humanoid:dof=20")
    assert data["nv"] == 26
    _, data = run_json("info", "chain:n=4,base=free")
    assert (data["base"], data["nv"]) == ("free", 10)


def test_the_base_and_where_it_comes_from(tmp_path):
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    path = tmp_path / "arm.xml"
    bodies = f'<body name="a">{inertial}<body name="b"><joint/>{inertial}</body></body>'
    path.write_text(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    assert "fixed base (as in the file), nq 1" in run("info", str(path)).stdout
    assert "free base (chosen), nq 8" in run("info", str(path), "--base", "free").stdout
    _, data = run_json("info", str(path))
    assert (data["base"], data["base_origin"]) == ("fixed", "as in the file")


def test_the_json_holds_the_numbers_of_the_table():
    result, data = run_json("info", "humanoid")
    assert result.exit_code == 0
    assert (data["nq"], data["nv"], len(data["actuated"])) == (40, 39, 33)
    assert (
        sum(link["mass"] for link in data["links"]) == pytest.approx(data["mass"]) == pytest.approx(data["total_mass"])
    )
    knee = next(j for j in data["joints"] if j["name"] == "left_knee")
    assert knee["upper"][0] > knee["lower"][0]
    assert data["joints"][0]["lower"] == [None] * 6  # none given: no number
    assert "left_knee" in result.stderr  # the table gives way to the data


def test_the_json_file_is_replaced_whole(tmp_path):
    path = tmp_path / "info.json"
    path.write_text("x" * 10**6)
    assert run("info", "chain", "--json", path).exit_code == 0
    document = json.loads(path.read_text())
    assert document["command"] == "info"
    assert document["freeflyer"]
    assert [p.name for p in tmp_path.iterdir()] == ["info.json"]


def test_the_base_of_a_file_is_chosen(tmp_path):
    path = written(tmp_path, arm())
    sizes = {base: run_json("info", path, "--base", base)[1]["nv"] for base in ("free", "fixed", "planar")}
    assert sizes == {"free": 8, "fixed": 2, "planar": 5}
    assert run_json("info", path)[1]["base"] == "free"


def test_markup_in_names_is_shown_and_never_obeyed(tmp_path):
    path = written(tmp_path, arm(robot="[red]bad[/red]", tip="[bold]tip[/nonsense]"))
    result = run("info", path)
    assert result.exit_code == 0
    assert "[red]bad[/red]" in result.stdout
    assert "[bold]tip[/nonsense]" in result.stdout
