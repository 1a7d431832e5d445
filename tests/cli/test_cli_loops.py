"""`freeflyer loops`: the table, the JSON, and robots that have none."""

import pytest
from command import arm, run, run_json


def test_kangaroo_s_table(models_folder):
    path = models_folder / "kangaroo" / "kangaroo.xml"
    result, data = run_json("loops", path)
    assert result.exit_code == 0
    parts = data["mechanisms"]["parts"]
    assert sorted((len(p["strokes"]), p["passive"], p["constraints"]) for p in parts) == sorted(
        2 * [(1, 2, 2), (2, 8, 8), (1, 6, 6), (2, 14, 14)]
    )
    assert data["mechanisms"]["rank"] == 60
    assert data["independent_gap"] < 1e-12
    shown = run("loops", path).stdout
    assert "rank 60 of 84 rows" in shown
    assert "leg_left_length_motor" in shown


def test_a_yaml_file_brings_the_loops(models_folder):
    folder = models_folder / "five_bar"
    result = run("loops", folder / "robot.urdf", "--base", "fixed", "--loops", folder / "robot.yaml")
    assert result.exit_code == 0
    assert "rank 3 of 3 rows" in result.stdout


@pytest.mark.parametrize("words", ["has no loops", "--loops FILE"])
def test_a_tree_has_none(tmp_path, words):
    path = tmp_path / "arm.urdf"
    path.write_text(arm())
    result = run("loops", path)
    assert result.exit_code == 2
    assert words in result.output


def test_pictures_are_drawn_into_a_folder(models_folder, tmp_path):
    five_bar = models_folder / "five_bar"
    folder = tmp_path / "new" / "pictures"
    result = run("loops", five_bar / "robot.urdf", "--base", "fixed", "--loops", five_bar / "robot.yaml", "-o", folder)
    assert result.exit_code == 0, result.output
    names = {"robot", "transmission", "singularity"}
    assert {path.name for path in folder.iterdir()} == {f"{name}.{kind}" for name in names for kind in ("png", "svg")}
    assert all(name in result.stdout for name in names)


def test_a_folder_that_cannot_be_is_refused_first(models_folder, tmp_path):
    (tmp_path / "taken").write_text("a file")
    result = run("loops", models_folder / "kangaroo" / "kangaroo.xml", "-o", tmp_path / "taken")
    assert result.exit_code == 2
    assert "there is a file of that name" in result.stderr
    assert "rank 60" not in result.stdout
