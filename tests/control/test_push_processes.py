"""Processes that share pushes end with the one that started them. All in subprocesses."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow, pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are found in /proc"),
]  # fmt: skip
RUN = "import sys; sys.argv[0] = 'freeflyer'; from freeflyer_command import main; sys.exit(main())"
COMMAND = [sys.executable, "-c", RUN, "control", "stand", "--pushes", "60", "--processes", "2"]
SECONDS = 120  # to wait for any of this


def workers_of(process: subprocess.Popen) -> list[int]:
    """Its two workers; both have started."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and process.poll() is None:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        found = [int(x) for x in children if b"spawn_main" in Path(f"/proc/{x}/cmdline").read_bytes()]
        if len(found) == 2:
            return found
        time.sleep(0.02)
    raise AssertionError(process.communicate())


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def all_end(workers: list[int]) -> bool:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and any(map(runs, workers)):
        time.sleep(0.02)
    left = [pid for pid in workers if runs(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return not left


@pytest.mark.parametrize("after", [0.0, 3.0], ids=["starting", "at work"])
@pytest.mark.parametrize(
    ("sent", "to_all"), [(signal.SIGTERM, False), (signal.SIGKILL, False), (signal.SIGINT, False), (signal.SIGINT, True)]
)
def test_workers_end_with_their_parent(sent, to_all, after):
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as process:
        workers = workers_of(process)
        time.sleep(after)
        os.killpg(process.pid, sent) if to_all else process.send_signal(sent)
        assert all_end(workers)
        _, errors = process.communicate(timeout=SECONDS)
    if sent == signal.SIGINT:
        assert b"Traceback" not in errors
        assert process.returncode == 130
        assert errors.endswith(b"interrupted\n")


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
