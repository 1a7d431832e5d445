"""Python in a process of its own."""

import os
import subprocess
import sys


def python(program: str, *words: str, seconds: float = 600.0, **environment: str) -> subprocess.CompletedProcess:
    """What a program printed that must end well."""
    done = subprocess.run([sys.executable, "-c", program, *words], env=os.environ | environment, capture_output=True, text=True,
                          timeout=seconds)  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done
