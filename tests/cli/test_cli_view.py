"""`freeflyer view`, and `--view` of other commands: pictures and pages as files; pages that are served until Ctrl-C."""

import freeflyer as ff
import numpy as np
import os
import pytest
import re
import signal
import subprocess
from command import arm, printed, refusal, written
from freeflyer.plots.scene import SHOWN
from freeflyer.viewer.motions import floor_of, motion
from freeflyer.plots.picture import picture
from PIL import Image
from processes import FREEFLYER
from urllib.request import urlopen


def test_a_picture_and_a_page_of_a_robot(tmp_path):
    robot = written(tmp_path, arm())
    assert "wrote" in printed("view", robot, "--image", tmp_path / "a.png", "--layers", "com,frames")
    image = np.asarray(Image.open(tmp_path / "a.png").convert("RGB")).astype(int)
    assert image.shape == (960, 960, 3)
    assert (np.ptp(image, axis=2) > 30).sum() > 3000  # in colour
    printed("view", robot, "--image", tmp_path / "b.png", "--azimuth", "30")
    assert (tmp_path / "a.png").read_bytes() != (tmp_path / "b.png").read_bytes()
    pytest.importorskip("viser")
    printed("view", "kangaroo_like", "--html", tmp_path / "a.html")
    assert "__VISER_EMBED_DATA__" in (tmp_path / "a.html").read_text()


def test_a_film_of_a_recorded_run(tmp_path):
    chain = ff.robots.chain(2)
    ff.sim.simulate(chain, [0.5, 0.0], [0.0, 0.0], dt=0.01, duration=0.2).save(tmp_path / "run.npz")
    printed("view", "chain:n=2", "--run", tmp_path / "run.npz", "--gif", tmp_path / "run.gif")
    assert Image.open(tmp_path / "run.gif").n_frames == 3
    frame, neutral = tmp_path / "frame.png", tmp_path / "neutral.png"
    printed("view", "chain:n=2", "--run", tmp_path / "run.npz", "--image", frame)
    printed("view", "chain:n=2", "--image", neutral)
    m = motion(ff.sim.load(tmp_path / "run.npz"), chain)
    expected = picture(chain, [0.5, 0.0], width=960, height=960, layers=SHOWN, feet=m.feet, floor=floor_of(m))
    assert (np.asarray(Image.open(frame)) == expected).all()
    assert frame.read_bytes() != neutral.read_bytes()
    assert "another robot" in refusal("view", "humanoid", "--run", tmp_path / "run.npz", "--gif", tmp_path / "other.gif")
    standing = ff.control.run_scenario("squat", "humanoid", duration=0.1).run
    standing.save(tmp_path / "standing.npz")
    printed("view", "humanoid", "--run", tmp_path / "standing.npz", "--image", tmp_path / "standing.png")
    m = motion(standing)
    assert not any(w[0].any() for w in standing.forces.values())  # MuJoCo's contacts begin without forces
    expected = picture(m.model, standing.q[50], width=960, height=960, layers=SHOWN, feet=m.feet, floor=0.0,
                       forces={name: w[50] for name, w in standing.forces.items()})  # fmt: skip
    assert (np.asarray(Image.open(tmp_path / "standing.png")) == expected).all()


@pytest.mark.parametrize(("option", "name"), [("--image", "a.png"), ("--html", "a.html"), ("--gif", "a.gif")])
def test_files_that_are_there_are_kept_unless_they_may_be_replaced(option, name, tmp_path):
    if option == "--html":
        pytest.importorskip("viser")
    chain, path, recorded = ff.robots.chain(2), tmp_path / name, tmp_path / "run.npz"
    ff.sim.simulate(chain, [0.5, 0.0], [0.0, 0.0], dt=0.01, duration=0.1).save(recorded)
    path.write_bytes(b"mine")
    for more in ((), ("--run", recorded))[option == "--gif" :]:
        assert "--overwrite" in refusal("view", "chain:n=2", option, path, *more)
        assert path.read_bytes() == b"mine"
    printed("view", "chain:n=2", option, path, *more, "--overwrite")
    assert path.read_bytes() != b"mine"
    others = [f"b{x}" for x in (".jpg", ".png", ".html", ".gif") if not name.endswith(x)]
    for other in others:
        assert "must end in" in refusal("view", "chain:n=2", option, tmp_path / other, *more)
        assert not (tmp_path / other).exists()


@pytest.mark.parametrize("options", [("--image", "a.png"), ("--html", "a.html"), ("--run", "run.npz", "--gif", "a.gif"),
                                     ("--image", "b.png", "--html", "b.html")])  # fmt: skip
def test_meshes_that_are_missing_are_named(options, robot_without_mesh, tmp_path, monkeypatch):
    if "--html" in options:
        pytest.importorskip("viser")
    monkeypatch.chdir(tmp_path)
    path = robot_without_mesh()
    model = ff.load(path)
    ff.sim.simulate(model, model.neutral, np.zeros(model.nv), dt=0.01, duration=0.1).save(tmp_path / "run.npz")
    assert printed("view", path, *options).count("none.stl") == 1


@pytest.mark.parametrize("arguments", [
    ("view", "kangaroo_like", "--no-browser"), ("view", "five_bar"),
    *(pytest.param(command.split(), marks=pytest.mark.slow) for command in (
        "hop prismatic-II --duration 0.3 --view", "control squat --duration 0.05 --view",
        "estimate kangaroo_like --swing --starts 0 --duration 1.5 --amplitude 0.01 --frequency 0.5 --view",
    )),
])  # fmt: skip
def test_pages_are_served_until_they_are_interrupted(arguments, models_folder):
    pytest.importorskip("viser")
    arguments = [str(models_folder / "five_bar" / "robot.urdf") if x == "five_bar" else x for x in arguments]
    environment = {k: x for k, x in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")} | {"PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen([*FREEFLYER, *arguments], text=True, env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)  # fmt: skip
    try:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                break
        assert found, "".join(lines)
        assert "Ctrl-C" in line
        with urlopen(found[0], timeout=30) as answer:
            assert b"<html" in answer.read(5000).lower()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        assert "Traceback" not in process.stdout.read()
    finally:
        process.kill()
        process.wait()
