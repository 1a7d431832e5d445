"""Compiled code on disk: found by a second process, thrown away with any change of a source, never trusted when broken."""

from __future__ import annotations

import ast
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from kernel_samples import fresh_packs

from freeflyer.kernels.compiler import _cache, _jit, _sources


def some_kernel(x):
    return 2.0 * x + 1.0


def fresh():
    """The kernel as a new process has it: nothing compiled yet."""
    return _jit.released(some_kernel)


def hits_and_misses(dispatcher) -> tuple[int, int]:
    stats = dispatcher.stats
    return sum(stats.cache_hits.values()), sum(stats.cache_misses.values())


@pytest.fixture
def settle(monkeypatch):
    """settle(NAME=value, ...) sets the environment (None: unset) and answers with the cache folder that follows."""

    def settled(**environment: object) -> Path:
        for name, value in environment.items():
            monkeypatch.delenv(name, raising=False) if value is None else monkeypatch.setenv(name, str(value))
        _cache.cache_folder.cache_clear()
        return Path(_cache.cache_folder())

    yield settled
    monkeypatch.undo()
    _cache.cache_folder.cache_clear()
    _sources.source_key.cache_clear()
    _sources.source.cache_clear()


@pytest.fixture
def folder(settle, tmp_path):
    """An empty cache folder of our own."""
    return settle(FREEFLYER_CACHE_DIR=tmp_path / "cache")


def files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.is_file())


def test_the_folder_is_where_the_user_wants_it(settle, tmp_path):
    key = _cache.versions_key()
    assert settle(FREEFLYER_CACHE_DIR=tmp_path / "mine") == tmp_path / "mine" / key
    assert settle(FREEFLYER_CACHE_DIR=None, XDG_CACHE_HOME=tmp_path / "xdg") == tmp_path / "xdg" / "freeflyer" / key
    assert settle(XDG_CACHE_HOME=None, HOME=tmp_path) == tmp_path / ".cache" / "freeflyer" / key


def test_a_relative_folder_stays_when_the_process_moves(settle, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = settle(FREEFLYER_CACHE_DIR="here")
    assert folder.is_absolute()
    monkeypatch.chdir("/")
    assert fresh()(1.0) == 3.0
    assert files(folder)


def test_the_second_time_it_is_loaded(folder):
    first, second = fresh(), fresh()
    assert first(1.5) == 4.0
    assert hits_and_misses(first) == (0, 1)
    assert files(folder)
    assert second(1.5) == 4.0
    assert hits_and_misses(second) == (1, 0)


def test_each_signature_has_its_own_code(folder):
    first, second = fresh(), fresh()
    for kernel in (first, second):
        assert kernel(1.5) == 4.0
        assert kernel(2) == 5.0
        assert kernel(1.5j) == 1.0 + 3.0j
    assert hits_and_misses(first) == (0, 3)
    assert hits_and_misses(second) == (3, 0)


def truncated(data: bytes) -> bytes:
    return data[: len(data) // 2]


def one_byte_less(data: bytes) -> bytes:
    return data[:-1]


def empty(data: bytes) -> bytes:
    return b""


def garbage(data: bytes) -> bytes:
    return b"not what you are looking for" * 40


def foreign(data: bytes) -> bytes:
    return pickle.dumps(("0.0", {"some": "thing"}))


def other_version(data: bytes) -> bytes:
    return data.replace(numba.__version__.encode(), b"0.1.2")


def flipped(at: float):
    def flip(data: bytes) -> bytes:
        k = int(at * (len(data) - 1))
        return data[:k] + bytes([data[k] ^ 0x10]) + data[k + 1 :]

    flip.__name__ = f"flipped at {at:.2f}"
    return flip


BREAKAGES = [truncated, one_byte_less, empty, garbage, foreign, other_version, *map(flipped, np.linspace(0.0, 1.0, 12))]


@pytest.mark.parametrize("broken", BREAKAGES, ids=lambda f: f.__name__)
def test_a_broken_file_is_compiled_anew_and_mended(folder, broken):
    assert fresh()(1.5) == 4.0
    for path in files(folder):
        good = path.read_bytes()
        path.write_bytes(broken(good))
        changed = path.read_bytes() != good
        kernel = fresh()
        assert kernel(1.5) == 4.0
        assert hits_and_misses(kernel) == ((0, 1) if changed else (1, 0)), path.name
        kernel = fresh()
        assert kernel(1.5) == 4.0
        assert hits_and_misses(kernel) == (1, 0), f"{path.name} was not mended"


def test_something_else_in_its_place(folder):
    assert fresh()(1.5) == 4.0
    for path in files(folder):
        path.unlink()
        path.mkdir()
    assert fresh()(1.5) == 4.0


def test_the_folder_may_vanish(folder):
    kernel = fresh()
    shutil.rmtree(folder)
    assert kernel(1.5) == 4.0
    assert fresh()(1.5) == 4.0


def test_no_unfinished_files_are_left(folder):
    fresh()(1.5)
    count = len(files(folder))
    fresh()(1.5)
    assert len(files(folder)) == count
    assert not [p for p in files(folder) if "tmp" in p.name]


def test_where_nothing_can_be_written_a_temporary_folder_serves(settle, tmp_path):
    (tmp_path / "file").write_text("no folder")
    for place in (tmp_path / "file", tmp_path / "file" / "below", "/proc/nowhere"):
        folder = settle(FREEFLYER_CACHE_DIR=place)
        assert folder.is_dir()
        assert folder.name.startswith("freeflyer-")
        assert fresh()(1.5) == 4.0
        assert files(folder)
        shutil.rmtree(folder)


def test_without_a_home(settle, monkeypatch):
    """In a container whose user has no entry anywhere."""

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    folder = settle(FREEFLYER_CACHE_DIR=None, XDG_CACHE_HOME=None)
    assert fresh()(1.5) == 4.0
    shutil.rmtree(folder)


def copied_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the kernels' folder, which the hash then reads."""
    copy = tmp_path / "kernels"
    shutil.copytree(Path(_sources.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(_sources, "__file__", str(copy / "_sources.py"))
    return copy


RNEA = ("freeflyer.kernels.entry", "freeflyer.kernels.rnea")
BEHIND_RNEA = {
    "_cache", "_ingredient", "_instructions", "_jit", "_linking", "_sources", "algebra", "entry", "joints", "layout", "memory",
    "pack", "rnea", "transpose", "trig",
}  # fmt: skip


def key_now(modules: tuple[str, ...] = RNEA) -> str:
    _sources.source_key.cache_clear()
    _sources.source.cache_clear()
    return _sources.source_key(modules)


def test_a_change_counts_where_the_source_is_reached(tmp_path, monkeypatch, settle):
    original = key_now()
    copy = copied_sources(tmp_path, monkeypatch)
    assert key_now() == original
    assert _sources.reached(RNEA) >= BEHIND_RNEA
    for path in sorted(copy.glob("*.py")):
        source = path.read_bytes()
        path.write_bytes(source + b"# changed\n")
        assert (key_now() != original) == (path.stem in _sources.reached(RNEA)), path.name
        path.write_bytes(source)
    assert "crba" not in _sources.reached(RNEA)


def test_every_import_of_a_kernel_file_is_followed():
    """The hash finds imports by their text: it must find all that the language finds."""
    for path in Path(_sources.__file__).parent.glob("*.py"):
        named = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == _sources.ROOM:
                named |= {x.name for x in node.names}
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_sources.ROOM):
                named.add(node.module.removeprefix(_sources.ROOM + "."))
            elif isinstance(node, ast.Import):
                assert not any(x.name.startswith(_sources.ROOM) for x in node.names), path.name
        assert named <= _sources.reached((f"{_sources.ROOM}.{path.stem}",)), path.name


def test_a_door_depends_on_its_kernel():
    """Doors are made in entry.py around kernels of other files."""
    from freeflyer.kernels import entries

    for entry in (entries.RNEA, entries.CRBA):
        for door in (entry.single_source, entry.batch):
            assert entry.function.py_func.__module__ in door._cache._modules


def test_versions_are_part_of_the_key(monkeypatch, settle):
    original = _cache.versions_key()
    for module in (numba, np, _cache.llvmlite):
        monkeypatch.setattr(module, "__version__", "0.0.0")
        assert _cache.versions_key() != original
        monkeypatch.undo()


CALLS = """
import resource, sys
if "full" in sys.argv:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
import numpy as np
from freeflyer.kernels.compiler import _jit
from freeflyer.kernels.math import trig
from freeflyer.kernels.calls.entry import aligned_packs

work = np.linspace(0.0, 2.0, 24)
trig.sincos_row(work, 0, 8, 16, 8)
packs = aligned_packs(3, (np.empty(0), np.zeros(1, np.int64)))
packs.data[:] = np.linspace(0.0, 2.0, 24)
trig.sincos_row(packs, 0, 1, 2, 1)
stats = trig.sincos_row.door.stats
print(repr((work.tolist(), packs.data.tolist(), sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))))
"""


def process(cache: Path, *options: str) -> subprocess.Popen:
    environment = {**os.environ, "FREEFLYER_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", CALLS, *options]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def answer(running: subprocess.Popen) -> tuple:
    out, error = running.communicate(timeout=120)
    assert running.returncode == 0, error
    return eval(out)


def expected() -> tuple[list[float], list[float]]:
    x = np.linspace(0.0, 2.0, 24)
    row = np.concatenate([x[:8], np.sin(x[:8]), np.cos(x[:8])])
    return row.tolist(), row.tolist()


def test_processes(tmp_path):
    """Three at once on an empty cache: each is right; the next one compiles nothing."""
    for result in map(answer, [process(tmp_path) for _ in range(3)]):
        np.testing.assert_allclose(result[:2], expected(), rtol=1e-15)
    row, packs, hits, misses = answer(process(tmp_path))
    np.testing.assert_allclose((row, packs), expected(), rtol=1e-15)
    assert (hits, misses) == (2, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are POSIX")
def test_a_full_disk(tmp_path):
    row, packs, hits, misses = answer(process(tmp_path, "full"))
    np.testing.assert_allclose((row, packs), expected(), rtol=1e-15)
    assert (hits, misses) == (0, 2)


def test_packs_and_numbers_do_not_mix(folder):
    """Two signatures that Numba calls alike in everything but the type."""
    from freeflyer.kernels.backend.buffers import load, store

    def doubled(buffer):
        store(buffer, 0, 2.0 * load(buffer, 0))

    for k in range(2):
        kernel = _jit.kernel(doubled)
        x, packs = np.ones(9), fresh_packs(1)
        packs.data[:] = 1.0
        kernel(x)
        kernel(packs)
        assert x.tolist() == [2.0] + [1.0] * 8
        assert packs.data.tolist() == [2.0] * 8
        assert hits_and_misses(kernel.door) == ((0, 2) if k == 0 else (2, 0))
