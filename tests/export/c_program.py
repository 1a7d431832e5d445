"""Exported robots and C programs for tests: compile, run, look at symbols."""

import freeflyer as ff
import numpy as np
import pytest
import re
import shutil
import subprocess
from pathlib import Path

STRICT = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror")
needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler (cc)")
needs_nm = pytest.mark.skipif(shutil.which("nm") is None, reason="there is no nm to list symbols")


def run(*command: object, folder: Path, status: int = 0) -> str:
    """What a command prints; it ends with that status."""
    done = subprocess.run([str(x) for x in command], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == status, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def program(folder: Path, *sources: str, options: tuple[str, ...] = (), output: str = "program") -> Path:
    """Compiles C files of an exported folder and its object code, without warnings."""
    objects = sorted(str(p.relative_to(folder)) for p in (folder / "objects").glob("*.o"))
    run("cc", *STRICT, *options, *sources, *objects, "-lm", "-o", output, folder=folder)
    return folder / output


def undefined(path: Path) -> set[str]:
    """Symbols that a file needs from elsewhere, but for the weak ones that every shared library has."""
    dynamic = ["-D"] if path.suffix == ".so" else []
    lines = run("nm", *dynamic, "--undefined-only", path, folder=path.parent).splitlines()
    return {m[1] for m in (re.match(r"\s+U (\w+)", line) for line in lines) if m}


def with_mimic() -> ff.Model:
    """A floating chain whose last joint follows the one before: they share a velocity coordinate."""
    inertia = ff.Inertia(1.0, np.array([0.0, 0.0, 0.1]), np.diag([0.02, 0.02, 0.01]))
    links = tuple(ff.Link(f"link{k}", inertia) for k in range(4))
    place = np.eye(4)
    place[2, 3] = 0.3
    axis = np.array([0.0, 1.0, 0.0])
    joints = (ff.Joint("base", "free", "world", "link0", np.eye(4)),
        *(ff.Joint(f"joint{k}", "revolute", f"link{k - 1}", f"link{k}", place, axis) for k in (1, 2)),
        ff.Joint("follower", "revolute", "link2", "link3", place, axis, mimic=ff.Mimic("joint2", -1.5, 0.1)))  # fmt: skip
    return ff.build(ff.Description("with mimic", links, joints))
