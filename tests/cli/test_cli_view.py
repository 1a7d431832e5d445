"""`freeflyer view`, and `--view` of other commands: pictures and pages as files; pages that are served until Ctrl-C, without a
display."""

import freeflyer as ff
import numpy as np
import os
import pytest
import re
import signal
import subprocess
import sys
from command import arm, printed, run, written
from PIL import Image
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
    wrong = run("view", "humanoid", "--run", tmp_path / "run.npz", "--gif", tmp_path / "other.gif")
    assert wrong.exit_code == 2
    assert "another robot" in wrong.stderr


@pytest.mark.parametrize(("arguments", "said"), [
    (("view", "chain", "--gif", "x.gif"), "--run"), (("view", "chain", "--keyframe", "home"), "keyframe"),
    (("view", "no_robot"), "no_robot"), (("view", "chain", "--image", "/no/such/folder/x.png"), "written"),
    (("view", "chain", "--layers", "ghosts", "--image", "x.png"), "ghosts"),
    (("view", "chain", "--host", "nowhere.invalid"), "host"),
    (("view", "chain", "--run", "none.npz"), "none.npz"), (("estimate", "kangaroo_like", "--view"), "--swing"),
    (("control", "stand", "--pushes", "2", "--view"), "--pushes"),
])  # fmt: skip
def test_bad_input_is_said_in_words(arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert said in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("arguments", [
    ("view", "kangaroo_like", "--no-browser"), ("view", "five_bar"), ("hop", "prismatic-II", "--duration", "0.3", "--view"),
    ("control", "squat", "--duration", "0.05", "--view"),
    pytest.param(("estimate", "kangaroo_like", "--swing", "--starts", "0", "--duration", "1.5", "--amplitude", "0.01",
                  "--frequency", "0.5", "--view"), marks=pytest.mark.slow),
])  # fmt: skip
def test_pages_are_served_until_they_are_interrupted(arguments, models_folder):
    pytest.importorskip("viser")
    arguments = [str(models_folder / "five_bar" / "robot.urdf") if x == "five_bar" else x for x in arguments]
    environment = {k: x for k, x in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")} | {"PYTHONUNBUFFERED": "1"}
    code = "import sys; from freeflyer_command import main; sys.argv[0] = 'freeflyer'; main()"
    process = subprocess.Popen([sys.executable, "-c", code, *arguments], text=True, env=environment, stdout=subprocess.PIPE,
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
