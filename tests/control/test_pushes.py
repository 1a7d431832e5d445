"""Pushes: which are borne, where the boundary lies; processes that share pushes end with the one that started them."""

import freeflyer as ff
import numpy as np
import os
import pytest
import signal
import subprocess
import time
from closeness import close, refused
from collections.abc import Callable
from freeflyer import control
from freeflyer.control.running import predict
from pathlib import Path
from processes import FREEFLYER
from typing import Any

pytestmark = pytest.mark.slow

SLOW = {"dt": 2e-3}


@pytest.fixture(scope="module")
def humanoid() -> control.Standing:
    return control.stand_on_feet(ff.robots.humanoid(20))


def test_half_of_the_limit_is_borne_and_twice_is_lost(humanoid):
    J = control.max_push_impulse(humanoid.model, humanoid.q, np.zeros(humanoid.model.nv), [2.0], humanoid.feet)[0]
    way = np.array([np.cos(2.0), np.sin(2.0)])
    stands = control.survives_push(humanoid, [0.5 * J * way, 2.0 * J * way], **SLOW)
    np.testing.assert_array_equal(stands, [True, False])


def test_random_pushes_are_the_seeds_and_within_their_share(humanoid):
    J = control.random_pushes(humanoid, 200, share=0.5, seed=1)
    np.testing.assert_array_equal(J, control.random_pushes(humanoid, 200, share=0.5, seed=1))
    angles = np.arctan2(J[:, 1], J[:, 0])
    most = control.max_push_impulse(humanoid.model, humanoid.q, np.zeros(humanoid.model.nv), angles, humanoid.feet)
    share = np.linalg.norm(J, axis=1) / most
    assert share.max() <= 0.5 + 1e-12
    assert share.max() > 0.4
    assert share.min() < 0.1
    assert {tuple(x) for x in np.sign(J)} >= {(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)}


def test_feet_without_area_bear_no_push():
    """The capture point lies on the line of two points but for rounding, which gave NaN."""
    quadruped = ff.robots.quadruped()
    two = [ff.contacts.point(f"{name}_foot") for name in ("front_left", "rear_right")]
    robot = control.stand_on_feet(quadruped, two, ff.robots.standing_posture(quadruped))
    assert np.abs(control.random_pushes(robot, 20)).max() < 1e-6
    assert control.run_scenario("stand", quadruped, q=robot.q, feet=two, duration=0.01).statuses == {"solved": 11}


def test_the_boundary_lies_between_what_is_borne_and_what_is_lost(humanoid):
    found = control.push_boundary(humanoid, [0.0], rounds=3, **SLOW)
    assert 0.5 < found.borne[0] / found.limits[0] < found.lost[0] / found.limits[0] <= 1.5
    close(found.lost - found.borne, found.limits / 4.0)


@pytest.mark.slow
def test_processes_find_the_same(humanoid):
    J = control.random_pushes(humanoid, 2, seed=5)
    np.testing.assert_array_equal(control.survives_push(humanoid, J, dt=5e-3, processes=2), [True, True])


def test_prediction_over_a_delay_is_the_motion_at_these_accelerations():
    model, rng = ff.robots.humanoid(20), np.random.default_rng(3)
    q, v = ff.robots.standing_posture(model), 0.1 * rng.standard_normal(model.nv)
    a = rng.standard_normal(model.nv)
    later, faster = predict(model, q, v, [a, -2.0 * a], 1e-3)
    close(faster, v - 1e-3 * a)
    joints = slice(6, None)
    close(later[7:] - q[7:], 2e-3 * v[joints] + 0.5e-6 * a[joints])  # v dt + a dt^2 / 2, then (v + a dt) dt - a dt^2
    same = predict(model, q, v, [], 1e-3)
    assert same[0] is q
    assert same[1] is v


def test_the_figure_shows_the_boundary_and_the_pushes():
    from freeflyer.plots.controlled import push_figure

    angles = np.linspace(0.0, 5.0, 6)
    found = control.PushBoundary(angles, np.full(6, 30.0), np.full(6, 32.0), np.full(6, 40.0))
    axes = push_figure(100.0, found, [[1.0, 2.0], [3.0, 4.0]], [False, True]).axes[0]
    shown = [text.get_text() for text in axes.get_legend().get_texts()]
    assert shown[-2:] == ["1 random pushes, borne", "1 random pushes, lost"]
    refused(ff.InputError, "nothing to draw", push_figure, 100.0)
    refused(ff.InputError, "fell has shape", push_figure, 100.0, impulses=[[1.0, 0.0]])


needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are found in /proc")
COMMAND = [*FREEFLYER, "control", "stand", "--pushes", "60", "--processes", "2"]
SECONDS = 120  # to wait for any of this


def wait(found: Callable[[], Any]) -> Any:
    """What is found within SECONDS, or the last look."""
    end = time.monotonic() + SECONDS
    while not (seen := found()) and time.monotonic() < end:
        time.sleep(0.02)
    return seen


def workers_of(process: subprocess.Popen) -> list[int]:
    """Its two workers; both have started."""
    def both() -> list[int] | None:
        assert process.poll() is None, process.communicate()
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        found = [int(x) for x in children if b"spawn_main" in Path(f"/proc/{x}/cmdline").read_bytes()]
        return found if len(found) == 2 else None
    return wait(both)


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def all_end(workers: list[int]) -> bool:
    wait(lambda: not any(map(runs, workers)))
    left = [pid for pid in workers if runs(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return not left


@needs_proc
@pytest.mark.parametrize("at_work", [False, True], ids=["starting", "at work"])
@pytest.mark.parametrize(("sent", "to_all"),
    [(signal.SIGTERM, False), (signal.SIGKILL, False), (signal.SIGINT, False), (signal.SIGINT, True)])  # fmt: skip
def test_workers_end_with_their_parent(sent, to_all, at_work):
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as process:
        workers = workers_of(process)
        assert not at_work or wait(lambda: all("libmujoco" in Path(f"/proc/{pid}/maps").read_text() for pid in workers))
        os.killpg(process.pid, sent) if to_all else process.send_signal(sent)
        assert all_end(workers)
        _, errors = process.communicate(timeout=SECONDS)
    if sent == signal.SIGINT:
        assert b"Traceback" not in errors
        assert process.returncode == 130
        assert errors.endswith(b"interrupted\n")


@needs_proc
def test_a_worker_that_is_killed_is_a_sentence():
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as process:
        workers = workers_of(process)
        os.kill(workers[0], signal.SIGKILL)
        try:
            _, errors = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
    assert all_end(workers)
    assert process.returncode == 2
    assert b"a process was ended, perhaps for lack of memory: ask for fewer (--processes)" in errors
    assert b"Traceback" not in errors
