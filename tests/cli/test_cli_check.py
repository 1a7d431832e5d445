"""`freeflyer check`: exit codes and planted defects, through a file."""

import pytest
from command import INERTIA, LIMIT, arm, run, run_json, written


def findings(folder, text):
    result, data = run_json("check", written(folder, text), "--base", "fixed")
    return result.exit_code, [(f["severity"], f["code"], f["subject"]) for f in data["findings"]]


def test_a_sound_robot_passes(tmp_path):
    assert findings(tmp_path, arm()) == (0, [])
    result = run("check", written(tmp_path, arm()))
    assert result.exit_code == 0
    assert "0 errors" in result.stdout
    assert "holds" in result.stdout


@pytest.mark.parametrize(("text", "code", "severity", "subject"), [
    (arm(moments=(0.01, 0.01, 0.05)), "triangle-inequality", "error", "lower"),
    (arm(moments=(-0.01, 0.02, 0.02)), "negative-inertia", "error", "lower"),
    (arm(mass=0), "massless-leaf", "error", "lower"),
    (arm(mass=5e4, moments=(500, 500, 500)), "mass-unit", "warning", "lower"),
    (
        arm(limit=LIMIT.replace("2", "90", 1).replace('upper="2"', 'upper="90"')),
        "limits-in-degrees",
        "warning",
        "elbow",
    ),
])  # fmt: skip
def test_a_planted_defect_is_found(tmp_path, text, code, severity, subject):
    exit_code, found = findings(tmp_path, text)
    assert (severity, code, subject) in found
    assert exit_code == (1 if severity == "error" else 0)


def test_an_open_loop_is_found(
    tmp_path,
):
    inertial = f'<inertial><mass value="1"/>{INERTIA.format(0.01, 0.01, 0.01)}</inertial>'
    ends = '<parent link="base"/><child link="rod"/>'
    text = arm().replace("</robot>", "") + (
        f'<link name="rod">{inertial}</link><joint name="swing" type="revolute">{ends}<origin xyz="0.1 0 0"/>{LIMIT}'
        "</joint></robot>"
    )
    robot = written(tmp_path, text)
    loops = written(tmp_path, "closed_loop: [[lower, rod]]\ntype: ['3d']\nname_mot: [shoulder]\n", "loops.yaml")
    result, data = run_json("check", robot, "--base", "fixed", "--loops", loops)
    assert result.exit_code == 1  # the rod does not reach so far: the loop cannot be closed
    (gap,) = [f for f in data["findings"] if f["code"] == "open-loop"]
    assert gap["values"]["position"] == pytest.approx((0.1**2 + 0.5**2) ** 0.5)


def test_many_findings_of_a_kind_are_counted_and_all_lists_them():
    short, long = run("check", "chain:n=30"), run("check", "chain:n=30", "--all")
    assert short.exit_code == long.exit_code == 0
    assert len(long.stdout) >= len(short.stdout)


def test_the_residuals_are_numbers():
    _, data = run_json("check", "chain", "--seed", "3")
    assert all(0 <= law["residual"] <= law["tolerance"] and law["holds"] for law in data["identities"])
