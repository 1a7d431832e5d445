"""Python, and the command line, in a process of its own."""

import os
import subprocess
import sys

RUN = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background ignores it, and its children inherit that
sys.argv[0] = "freeflyer"
from freeflyer_command import main
sys.exit(main())
"""
FREEFLYER = [sys.executable, "-c", RUN]  # to be followed by its arguments

def python(program: str, *words: str, seconds: float = 600.0, **environment: str) -> subprocess.CompletedProcess:
    """What a program printed that must end well."""
    done = subprocess.run([sys.executable, "-c", program, *words], env=os.environ | environment, capture_output=True, text=True,
                          timeout=seconds)  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done
