"""Full disks, terminals limited to ASCII and Ctrl-C during the imports end without tracebacks."""

import os
import pytest
import subprocess
import sys
from pathlib import Path

pytestmark = pytest.mark.slow

RUN = "from freeflyer_command import main; main()"
STOPPED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background ignores it, and its children inherit that
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
"""
ASCII = [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")


def freeflyer(*arguments: str, before: str = "", stdout=subprocess.PIPE, stderr=subprocess.PIPE, **environment: str):
    command = [sys.executable, "-c", before + RUN, *arguments]
    return subprocess.run(command, stdout=stdout, stderr=stderr, env={**os.environ, **environment}, timeout=300, check=False)


@needs_full
@pytest.mark.parametrize("arguments", [["info", "chain"], ["info", "chain", "--json", "-"], ["--version"], ["--help"]], ids=str)
def test_a_full_disk_is_one_sentence(arguments):
    with open("/dev/full", "w") as full:
        done = freeflyer(*arguments, stdout=full)
    assert done.returncode == 2
    assert done.stderr.decode().splitlines()[-1] == "error: cannot read or write the output: No space left on device"
    assert b"Traceback" not in done.stderr


@needs_full
def test_an_error_that_cannot_be_written_is_an_exit_code():
    with open("/dev/full", "w") as full:
        done = freeflyer("info", "nobody", stderr=full)
    assert done.returncode == 2
    assert done.stdout == b""


@pytest.mark.parametrize("environment", ASCII, ids=["PYTHONIOENCODING", "LANG=C"])
def test_ascii_terminals_get_ascii(environment):
    done = freeflyer("info", "kangaroo_like", **environment)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    text = done.stdout.decode("ascii")
    assert "->" in text
    assert "\\u" not in text
    done = freeflyer("info", "hümanoid", **environment)
    assert done.returncode == 2
    assert "no built-in robot is named" in done.stderr.decode("ascii")


@pytest.mark.parametrize("module", ["numpy", "freeflyer.model.build", "typer", "freeflyer.cli.app"])
def test_an_interrupt_during_the_imports_is_one_word(module):
    done = freeflyer("info", "chain", before=STOPPED.format(name=module))
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"interrupted\n")


def test_a_closed_pipe_is_no_error():
    command = [sys.executable, "-c", RUN, "info", "humanoid"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
