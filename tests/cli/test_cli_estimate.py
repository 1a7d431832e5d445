"""`freeflyer estimate`."""

import pytest
from command import json_of, run, run_json
from freeflyer_papers.estimation import estimators


def test_encoders_and_feet(models_folder):
    arguments = [x for joint in ("left_knee", "right_knee") for x in ("--encoder", joint)]
    result = run("estimate", "kangaroo_like", "--duration", 1.5, "--starts", 3, *arguments)
    assert result.exit_code == 2
    assert "do not determine the positions" in result.stderr
    assert "left_yaw_motor" in result.stderr
    folder = models_folder / "five_bar"
    file = "estimate", folder / "robot.urdf", "--loops", folder / "robot.yaml", "--base", "fixed"
    data = json_of(*file, "--duration", 1.5, "--starts", 2)
    assert set(data) == {"tracking", "calibration"}
    data = json_of("estimate", "kangaroo_like", "--duration", 1.5, "--starts", 0)
    rows = data["tracking"]
    assert list(data) == ["tracking"]
    assert [(r["encoders"], r["alpha"]) for r in rows][::2] == [("ideal", 1.0), ("quantised", 1.0), ("noisy, quantised", 1.0)]
    at = {(r["encoders"], r["alpha"]): r for r in rows}
    assert at["ideal", 1000.0]["passive_rms"] < 1e-5 < at["noisy, quantised", 1000.0]["passive_rms"] < 2e-3
    assert at["ideal", 1000.0]["closure"] < at["ideal", 1.0]["closure"]


@pytest.mark.slow
def test_everything_and_its_pictures(tmp_path, monkeypatch):
    monkeypatch.setattr(estimators, "BLOCKS", 1)
    result, data = run_json("estimate", "kangaroo_like", "--duration", 1.5, "--starts", 5, "--bench", "--swing",
                            "--frequency", 0.5, "--amplitude", 0.03, "-o", tmp_path / "pictures")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert data["calibration"]["right"] == data["calibration"]["starts"] == 5
    assert len(data["calibration"]["encoders"]) == 12
    assert 0.0 < data["times"]["step"] < data["times"]["state_and_torques"]
    assert 0.0 < data["times"]["contact_wrenches"] < data["times"]["contacts"]
    lines = {x["source"]: x for x in data["swing"]["lines"]}
    for source in ("motors", "balanced", "moving"):
        assert lines[source]["weight_error"] < 0.02
        assert lines[source]["inside"] > 0.0
    assert lines["moving"]["zmp"][0][1] < lines["balanced"]["zmp"][0][1]
    drawn = {p.name for p in (tmp_path / "pictures").iterdir()}
    names = ("tracking", "calibration", "swing_stances", "swing_forces", "swing_balance")
    assert drawn == {f"{n}.{kind}" for n in names for kind in ("png", "svg")}


@pytest.mark.parametrize(("arguments", "words"), [
    (("humanoid",), "has no loops"), (("kangaroo_like", "--rigid", "left_kneee"), "left_knee"),
    (("kangaroo_like", "--encoder", "left_kneee"), "left_knee"),
    (("kangaroo_like", "--swing", "--amplitude", -0.1), "--amplitude must be a positive"),
    (("kangaroo_like", "--swing", "--frequency", 0), "--frequency must be a positive"),
    (("kangaroo_like", "--noise", "inf"), "error: --noise must be a number of 0 or more, got inf"),
    (("kangaroo_like", "-o", "/dev/null"), "cannot write into the folder"),
])  # fmt: skip
def test_what_cannot_be_is_refused_before_anything_is_computed(arguments, words):
    result = run("estimate", *arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert "passive state of" not in result.output
