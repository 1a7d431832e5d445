"""Ingredients on disk: found by other doors, made anew with all that needs them when broken, never mixed between processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_cache import files, flipped, garbage, truncated

INGREDIENTS = """
import sys
from freeflyer.kernels.compiler import _jit

@_jit.inlined
def half(x):
    return 0.5 * x

@_jit.inlined
def quarter(x):
    return half(half(x))

def first(x):
    return quarter(x) + 1.0

def second(x):
    return quarter(x) + 2.0

def third(x):
    return half(quarter(x)) + 3.0

door = _jit.released({"first": first, "second": second, "third": third}[sys.argv[1]])
print(repr((door(8.0), *(sum(d.stats.cache_hits.values()) for d in (half, quarter)))))
"""


def ingredients(cache: Path, door: str) -> tuple:
    environment = {**os.environ, "FREEFLYER_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", INGREDIENTS, door], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return eval(done.stdout)


def test_ingredients_are_found_by_other_doors(tmp_path):
    assert ingredients(tmp_path, "first") == (3.0, 0, 0)
    assert ingredients(tmp_path, "second") == (4.0, 0, 1)  # a quarter brings its half
    assert ingredients(tmp_path, "third") == (4.0, 1, 1)


def gone(data: bytes) -> bytes:
    raise FileNotFoundError


@pytest.mark.parametrize(("name", "which", "broken"), [
    ("half", "the name", truncated), ("half", "the code", truncated), ("half", "the code", flipped(0.5)),
    ("half", "the code", gone), ("quarter", "the name", garbage), ("quarter", "the code", flipped(0.9)),
])  # fmt: skip
def test_broken_ingredients_are_made_anew_and_mended(tmp_path, name, which, broken):
    """With all that need their code."""
    ingredients(tmp_path, "first")
    short, long = sorted((p for p in files(tmp_path) if f"__main__.{name}" in p.name), key=lambda p: len(p.name))
    path = short if which == "the name" else long
    try:
        path.write_bytes(broken(path.read_bytes()))
    except FileNotFoundError:
        path.unlink()
    if (name, which) == ("half", "the name"):  # what needs it does not ask for it by that
        assert ingredients(tmp_path, "second") == (4.0, 0, 1)
        assert ingredients(tmp_path, "third") == (4.0, 0, 1)
        assert ingredients(tmp_path, "third") == (4.0, 0, 0)
        return
    assert ingredients(tmp_path, "second") == (4.0, name == "quarter", 0)
    assert ingredients(tmp_path, "third") == (4.0, 1, 1)


def test_two_processes_that_made_the_same_ingredient(tmp_path):
    """The names of functions within compiled code differ between processes: what one made never meets the other's parts."""
    for k, order in enumerate((("first", "second"), ("second", "first"))):
        for door in order:
            ingredients(tmp_path / f"{k}", door)
    for path in files(tmp_path / "1"):
        there = tmp_path / "0" / path.relative_to(tmp_path / "1")
        if "half" in path.name or not there.exists():
            shutil.copy(path, there)
    assert ingredients(tmp_path / "0", "third") == (4.0, 1, 1)
