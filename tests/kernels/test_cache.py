"""Object code on disk: private, sealed, made once, named by the LLVM code that it comes from."""

import freeflyer
import numpy as np
import os
import pytest
import shutil
import stat
from freeflyer.kernels.compiler import build, cache, object_code
from freeflyer.kernels.compiler.object_code import Target, host
from freeflyer.kernels.entries import COM, CRBA, ENTRIES, POTENTIAL_ENERGY, RNEA
from pathlib import Path
from processes import python
from types import SimpleNamespace

@pytest.fixture
def choose_folder(monkeypatch):
    """choose_folder(NAME=value, ...) sets the environment (None: unset) and answers with the cache folder that follows."""

    def chosen(**environment: object) -> Path:
        for name, value in environment.items():
            monkeypatch.delenv(name, raising=False) if value is None else monkeypatch.setenv(name, str(value))
        cache.cache_folder.cache_clear()
        return cache.cache_folder()

    yield chosen
    monkeypatch.undo()
    cache.cache_folder.cache_clear()


@pytest.fixture
def folder(choose_folder, tmp_path):
    """An empty cache folder of our own."""
    return choose_folder(FREEFLYER_CACHE_DIR=tmp_path / "cache")


@pytest.fixture
def compiled(monkeypatch) -> list[str]:
    """Names of the functions that were compiled: by a stand-in that takes no time."""
    names: list[str] = []

    def compile(code: str, target: Target) -> bytes:
        names.append(code)
        return f"object code of {code}".encode()

    monkeypatch.setattr(object_code, "object_code", compile)
    return names


def symbol(name: str, state: int = 0) -> str:
    return f"ff_{name}_{state:020x}"


def make(name: str = "first", state: int = 0) -> bytes:
    code = build.make(SimpleNamespace(symbol=symbol(name, state), code=name), host())
    assert code == f"object code of {name}".encode()
    return code


def files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.is_file())


def test_the_folder_is_where_the_user_wants_it(folder, compiled, choose_folder, tmp_path):
    for _ in range(3):
        make()
    assert (compiled, [p.name for p in files(folder)]) == (["first"], [build.file_of(symbol("first"), host())])
    assert choose_folder(FREEFLYER_CACHE_DIR=tmp_path / "mine") == tmp_path / "mine" / "objects"
    xdg = choose_folder(FREEFLYER_CACHE_DIR=None, XDG_CACHE_HOME=tmp_path / "xdg")
    assert xdg == tmp_path / "xdg" / "freeflyer" / "objects"
    assert choose_folder(XDG_CACHE_HOME=None, HOME=tmp_path) == tmp_path / ".cache" / "freeflyer" / "objects"
    assert choose_folder(FREEFLYER_CACHE_DIR="~/here", HOME=tmp_path) == tmp_path / "here" / "objects"
    code = "from freeflyer.kernels.compiler.cache import cache_folder; print(cache_folder())"
    folder = python(code, FREEFLYER_CACHE_DIR="/proc/nowhere").stdout.strip()
    assert folder
    assert not Path(folder).exists()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners and modes are POSIX")
def test_the_folder_is_private(choose_folder, tmp_path):
    folder = choose_folder(FREEFLYER_CACHE_DIR=tmp_path / "mine")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.chmod(0o777)
    assert choose_folder(FREEFLYER_CACHE_DIR=tmp_path / "mine") == folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700  # ours: put right


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners and modes are POSIX")
@pytest.mark.parametrize("how", ["writable by the group", "writable by all", "owned by others"])
def test_a_folder_that_is_not_private_is_not_used(choose_folder, compiled, tmp_path, monkeypatch, how):
    """Where its mode cannot be changed, as on some network disks, or it is another user's."""
    there = tmp_path / "shared" / "objects"
    there.mkdir(parents=True)
    there.chmod({"writable by the group": 0o770, "writable by all": 0o707, "owned by others": 0o700}[how])
    monkeypatch.setattr(Path, "chmod", lambda *_: (_ for _ in ()).throw(PermissionError()))
    if how == "owned by others":
        monkeypatch.setattr(os, "getuid", lambda: there.stat().st_uid + 1)
    folder = choose_folder(FREEFLYER_CACHE_DIR=tmp_path / "shared")
    assert folder.name.startswith("freeflyer-")
    make()
    assert not files(there)
    shutil.rmtree(folder)


def test_where_nothing_can_be_written_a_temporary_folder_serves(choose_folder, compiled, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    for place in (tmp_path / "file", tmp_path / "file" / "below", "/proc/nowhere"):
        folder = choose_folder(FREEFLYER_CACHE_DIR=place)
        assert folder.is_dir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        make()
        assert files(folder)
        shutil.rmtree(folder)
    # In a container whose user has no entry anywhere

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    folder = choose_folder(FREEFLYER_CACHE_DIR=None, XDG_CACHE_HOME=None)
    make()
    shutil.rmtree(folder)


def flipped(at: float):
    def flip(data: bytes) -> bytes:
        k = int(at * (len(data) - 1))
        return data[:k] + bytes([data[k] ^ 0x10]) + data[k + 1 :]

    return flip


BREAKAGES = {"truncated": lambda data: data[: len(data) // 2], "one byte less": lambda data: data[:-1],
             "one byte more": lambda data: data + b"\0", "empty": lambda data: b"",
             "unsealed": lambda data: data[cache.SEAL :],
             "resealed for another": lambda data: cache.seal("freeflyer_other.o", data[cache.SEAL :]) + data[cache.SEAL :],
             **{f"flipped at {x:.2f}": flipped(x) for x in np.linspace(0, 1, 8)}}  # fmt: skip


@pytest.mark.parametrize("broken", BREAKAGES)
def test_a_broken_file_is_made_again(folder, compiled, broken):
    make()
    (path,) = files(folder)
    path.write_bytes(BREAKAGES[broken](path.read_bytes()))
    make()
    assert compiled == ["first"] * 2
    make()
    assert compiled == ["first"] * 2, "the file was not mended"


def test_what_takes_a_file_s_place_is_made_again(folder, compiled):
    """Both are whole, but the name is part of the seal."""
    make("first"), make("second")
    first, second = files(folder)
    a, b = first.read_bytes(), second.read_bytes()
    first.write_bytes(b), second.write_bytes(a)
    make("first"), make("second")
    assert compiled == ["first", "second"] * 2
    first.unlink(), second.unlink(), compiled.clear()
    make()
    (path,) = (p for p in files(folder) if p.suffix == ".o")
    path.unlink(), path.mkdir()
    make()
    assert not [p for p in files(folder) if p.suffix != ".lock"]
    shutil.rmtree(folder)
    make(), make()
    assert len(compiled) == 4  # also where the folder has vanished


def test_old_versions_are_removed(folder, compiled):
    names = []
    for k in range(2 * cache.MAX_KEPT_FILES):
        make("first", k), make("first_batch", k)
        names.append(build.file_of(symbol("first", k), host()))
        os.utime(folder / names[-1], (k, k))
    assert {p.name for p in folder.glob("ff_first_0*")} == set(names[-cache.MAX_KEPT_FILES :])
    assert len(list(folder.glob("ff_first_batch_*"))) == cache.MAX_KEPT_FILES


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes are POSIX")
def test_what_is_no_file_is_not_read(folder, compiled):
    """A pipe would be waited for, also as a lock, a device without end be read for ever."""
    os.mkfifo(folder / f"{build.file_of(symbol('second'), host())}.lock")
    make("second")
    compiled.clear()
    path = folder / build.file_of(symbol("first"), host())
    os.mkfifo(path)
    make()
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/zero")
    make()
    assert compiled == ["first"] * 2


def test_huge_files_are_not_read(folder, compiled, monkeypatch):
    path = folder / build.file_of(symbol("first"), host())
    with path.open("wb") as file:
        file.truncate(cache.MAX_BYTES + 1)  # zeros that take no place
    read, sizes = os.read, []

    def watched(handle, count):
        found = read(handle, count)
        sizes.append(len(found))
        return found

    monkeypatch.setattr(os, "read", watched)
    make()
    assert (compiled, sum(sizes)) == (["first"], 0)


@pytest.mark.parametrize("call", ["mkstemp", "replace", "write"])
def test_a_full_disk_costs_time_only(folder, compiled, monkeypatch, call):
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    if call == "mkstemp":
        monkeypatch.setattr(cache.tempfile, "mkstemp", full)
    elif call == "replace":
        monkeypatch.setattr(os, "replace", full)
    else:
        fdopen = os.fdopen
        monkeypatch.setattr(os, "fdopen", lambda handle, mode: os.close(handle) or fdopen(os.open("/dev/full", os.O_WRONLY), mode))
    make(), make()
    assert compiled == ["first"] * 2
    assert files(folder) == [], "unfinished files were left"


def test_versions_and_the_cpu_are_part_of_the_name(monkeypatch):
    monkeypatch.setattr(build, "stamp", lambda: "of the sources")
    names = {build.file_of(symbol("first"), target) for target in (host(), Target("haswell"), Target("haswell", "-fma"))}
    names |= {build.list_of("adapter", 1, target) for target in (host(), Target("haswell"))}
    monkeypatch.setattr("freeflyer.kernels.compiler.object_code.LLVMLITE", "other")
    names |= {build.file_of(symbol("first"), host()), build.list_of("adapter", 1, host())}
    assert len(names) == 7


PACKAGE = Path(freeflyer.__file__).parent


def symbols(entry: object, lanes: int = 1) -> list[str]:
    return [f.symbol for f in build.closure(entry, lanes)]


def test_functions_are_shared_and_come_first(monkeypatch):
    """The same function of a kernel has one name, whichever entry it is written for, and in whichever order."""
    first = symbols(COM)
    build._made.clear()
    other = symbols(POTENTIAL_ENERGY)
    assert symbols(COM) == first
    assert set(first[:-1]) & set(other)
    assert first[-1] != other[-1]
    for entry in (RNEA, CRBA):
        for lanes in (1, 4, 8):
            seen: set[str] = set()
            for f in build.closure(entry, lanes):
                assert {g.symbol for g in f.callees} <= seen
                seen.add(f.symbol)
    monkeypatch.setattr(build, "stamp", lambda: "of the sources")
    assert all(entry.in_library for entry in ENTRIES.values())
    assert build.list_of(RNEA, 1, "a CPU") != build.list_of(RNEA, 4, "a CPU")


@pytest.mark.slow
def test_names_do_not_depend_on_the_process():
    """Hashes of Python's strings do: the code must not."""
    program = "from freeflyer.kernels.compiler import build; from freeflyer.kernels.entries import ALL_TERMS as e; "
    program += "print(*(f.symbol for lanes in (1, 4) for f in build.closure(e, lanes)))"
    found = {python(program, PYTHONHASHSEED=seed).stdout for seed in ("1", "2")}
    assert len(found) == 1


VALUE = """
import numpy as np
import freeflyer as ff
print(ff.center_of_mass(ff.robots.chain(2), np.array([0.3, 0.4])).tolist())
"""


@pytest.mark.slow
def test_an_edited_kernel_is_compiled_again(tmp_path):
    """The package is copied, a kernel of it edited: other files, another result; a comment and the way back make none."""
    package, cache = tmp_path / "src" / "freeflyer", tmp_path / "cache"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))

    def centre() -> list[float]:
        return eval(python(VALUE, PYTHONPATH=str(package.parent), FREEFLYER_CACHE_DIR=str(cache)).stdout)

    def made() -> set[str]:
        return {p.name for p in (cache / "objects").glob("*.o")}

    before, first = centre(), made()
    kernel = package / "kernels" / "tree" / "energies.py"
    source = kernel.read_text()
    edited = source.replace("scale(1.0 / total_mass", "scale(2.0 / total_mass")
    assert edited != source
    kernel.write_text(edited)
    after, second = centre(), made()
    assert (len(second - first), after) == (1, pytest.approx([2.0 * x for x in before], rel=1e-14))
    kernel.write_text(source + "# a comment\n")
    assert (centre(), made()) == (before, second)


def test_a_start_reads_no_kernels():
    """Once what an entry needs is remembered, neither its kernels nor the compiler are imported."""
    words = "kernels.tree", "kernels.derivatives", "frontend"
    program = VALUE + f"import sys; print([m for m in sys.modules if any(word in m for word in {words})])"
    for path in (PACKAGE / "kernels").rglob("*.py"):  # files that were written just now are not relied on
        os.utime(path, (1e9, 1e9)) if path.stat().st_mtime > 2e9 else None
    python(program)
    assert python(program).stdout.splitlines()[-1] == "[]"
