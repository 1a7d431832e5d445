"""The process that compiles: Numba is imported there, not where results are computed.

A worker handles requests, a line each, until its standard input ends; it keeps what it has compiled, so that later
functions, which share most of their parts with earlier ones, take less time. Where no process can be started, the calling
one compiles.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
import warnings
from typing import Any

from freeflyer.kernels.compiler.object_code import LIBRARY, host, object_code, target_machine

NOTICE_SECONDS = 2.0  # a compilation that takes longer is announced on a terminal
MAIN = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from freeflyer.kernels.compiler.worker import main; main()"
ANSWER = b"freeflyer: "  # begins a line of the worker's output that is one: start-up files of Python may print others
KEPT_VARIABLES = ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")  # of Numba; its other variables do not concern this code


class Worker:
    """A process that compiles."""

    def __init__(self) -> None:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_") or k in KEPT_VARIABLES}
        self._process = subprocess.Popen(
            [sys.executable, "-c", MAIN, json.dumps(sys.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=environment | {"PYTHONIOENCODING": "utf-8"}, start_new_session=True,
        )  # fmt: skip

    def compile(self, name: str, lanes: int, symbol: str, cpu: tuple[str, str]) -> bytes:
        """Object code of an entry. Errors: OSError if the process is gone, RuntimeError with its message if it fails."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([name, lanes, symbol, cpu]).encode() + b"\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith(ANSWER):
                break
        else:
            raise OSError(f"the compiling process ended with status {self._process.wait()}")
        result = json.loads(line.removeprefix(ANSWER))
        if "error" in result:
            raise RuntimeError(f"{name} could not be compiled: {result['error']}")
        return base64.b64decode(result["code"])

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


_worker: Worker | None = None


def _forget() -> None:
    global _worker
    _worker = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)  # its pipes belong to the parent


def compile(name: str, lanes: int, symbol: str, cpu: tuple[str, str] | None = None) -> bytes:
    """Object code of an entry for a CPU (name, features), this machine's if None. One caller at a time.

    Errors: RuntimeError with the compiler's message.
    """
    global _worker
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        warnings.warn(
            "NUMBA_DISABLE_JIT is set; freeflyer's kernels are compiled all the same. As plain Python they run by "
            "freeflyer.kernels.plain",
            stacklevel=2,
        )
    notice, cpu = announce(name), cpu or host()
    try:
        for _ in range(2):
            try:
                _worker = _worker or Worker()
            except (OSError, ValueError):  # no process can be started here
                return compile_here(name, lanes, symbol, *cpu)
            try:
                return _worker.compile(name, lanes, symbol, cpu)
            except OSError:  # it was ended: a new one, once
                _worker.close()
                _forget()
            except BaseException:  # after an interrupt the worker's next answer belongs to no request
                _worker.close()
                _forget()
                raise
        raise RuntimeError(f"{name} could not be compiled: the compiling process was ended twice (is there enough memory?)")
    finally:
        notice.cancel()


def announce(name: str) -> threading.Timer:
    """Prints on a terminal, after a while, that a function is being compiled."""

    def notice() -> None:
        if sys.stderr is not None and sys.stderr.isatty():
            print(f"freeflyer: compiling {name}, once on this machine (`freeflyer warm` does it ahead)", file=sys.stderr)

    timer = threading.Timer(NOTICE_SECONDS, notice)
    timer.daemon = True
    timer.start()
    return timer


def compile_here(name: str, lanes: int, symbol: str, cpu: str, features: str) -> bytes:
    """Object code of an entry, made in this process."""
    from freeflyer.kernels.compiler.numba_ir import PYTHON, llvm_ir

    ir, function = llvm_ir(name, lanes)
    library = LIBRARY | PYTHON.get(name, set())
    return object_code(ir, function, symbol, target_machine(cpu, features), library)


def main() -> None:
    """Handles requests until there are no more."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # printed text is no answer
    for line in sys.stdin.buffer:
        name, lanes, symbol, cpu = json.loads(line)
        result: dict[str, Any]
        try:
            result = {"code": base64.b64encode(compile_here(name, lanes, symbol, *cpu)).decode()}
        except Exception as error:
            result = {"error": f"{type(error).__name__}: {error}"}
        answers.write(ANSWER + json.dumps(result).encode() + b"\n")
        answers.flush()
