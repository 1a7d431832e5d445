"""What `export` writes; exported functions touch nothing beyond their arguments, on AArch64, too."""

import ctypes
import freeflyer as ff
import numpy as np
import pytest
import shutil
import subprocess
import sys
from c_program import needs_cc, program, run, with_mimic
from closeness import fresh, refused
from dataclasses import replace
from freeflyer.export import export, exporting, functions
from freeflyer.export.functions import FUNCTIONS, Call
from freeflyer.export.header import comment, identifier, prefix_of
from freeflyer.export.library import target_of
from freeflyer.kernels import entries
from pathlib import Path

HOSTILE = '*/ int evil; /* "%s" ??/ #error é \\'  # a robot's names are printable


def hostile() -> ff.Model:
    """A robot whose names try to end comments, and three of which are the same as identifiers."""
    d = ff.robots.make("chain", n=4).description
    names = {"link_1": HOSTILE, "link_2": "a b", "link_3": "a-b", "link_4": "A_B"}
    assert set(names) <= {x.name for x in d.links}
    links = tuple(replace(x, name=names.get(x.name, x.name)) for x in d.links)
    joints = tuple(
        replace(j, name=f"{HOSTILE}{k}", parent=names.get(j.parent, j.parent), child=names.get(j.child, j.child))
        for k, j in enumerate(d.joints)
    )
    sites = tuple(replace(s, link=names.get(s.link, s.link)) for s in d.sites)
    return ff.build(replace(d, name=HOSTILE, links=links, joints=joints, sites=sites, actuated=()))


def test_functions_and_names():
    """Those that need loops, a table of their own, constraint rows or another gravity apart, and second formulations."""
    able = {e.name for f in functions.FUNCTIONS.values() for e in (f.entry, entries.SHARED.get(f.entry, f.entry))}
    for name, entry in entries.ENTRIES.items():
        special = entry.closed or entry.table or entry.shared or "g" in entry.inputs
        special = special or any("rows" in shape for shape in entry.outputs) or entry.source.startswith("dual_quaternion.")
        assert special or name in able, f"export/functions.py has no function for the entry {name}"
        assert not (special and name in able), name
    others = {"coriolis_matrix_hamel", "decoupled_hamel", "decoupled_passive", "body_poses", "body_motions"}
    assert all(callable(getattr(ff, name)) for name in functions.FUNCTIONS if name not in others)
    assert (prefix_of("TALOS v2.1"), prefix_of("__2b"), prefix_of("人形")) == ("talos_v2_1", "robot_2b", "robot")
    assert prefix_of("math") == "robot_math"
    taken = set[str]()
    assert [identifier(taken, "R_FRAME", x) for x in ("a b", "a-b", "A B 2", "")] == ["R_FRAME_A_B", "R_FRAME_A_B_2",
        "R_FRAME_A_B_2_2", "R_FRAME_UNNAMED"]  # fmt: skip
    for text in (HOSTILE, "a\nb \u202e*/", "*" + "/" * 3):
        assert "*/" not in comment(text)
        assert "\n" not in comment(text)
        assert comment(text).isascii()
    assert (target_of("aarch64").triple, target_of("aarch64:cortex-a72").cpu) == ("aarch64-linux-gnu", "cortex-a72")
    for wrong in ("aarch64:haswell", "sparc", "sparc:v9", "cortex-a72:aarch64"):
        refused((ff.UnknownNameError, ff.InputError), "aarch64:cortex-a72", target_of, wrong)


@pytest.mark.parametrize("f", [*functions.FUNCTIONS.values(), *functions.CLOSED_FUNCTIONS.values()], ids=lambda f: f.name)
def test_arguments_fit_entries(f):
    for entry in (f.entry, entries.SHARED.get(f.entry, f.entry)):
        assert (len(f.inputs), len(f.outputs)) == (len(entry.inputs), len(entry.outputs))
        assert len({*f.inputs, *f.outputs}) == len(f.inputs) + len(f.outputs)
        assert all(f.meaning(x) for x in (*f.inputs, *f.outputs, *entry.options))


@needs_cc
def test_hostile_names_compile(tmp_path):
    model = hostile()
    made = exporting.export(model, tmp_path / "c", "mass_matrix", prefix="Snake")
    assert made.prefix == "snake"
    program(tmp_path / "c", "snake.c", "main.c")
    (tmp_path / "c" / "own.c").write_text('#include "snake.c"\nconst double *numbers(void) { return parameters; }\n'
        "const int64_t *integers(void) { return topology; }\n")  # fmt: skip
    objects = sorted((tmp_path / "c" / "objects").glob("*.o"))
    run("cc", "-shared", "-fPIC", "own.c", *objects, "-o", "own.so", folder=tmp_path / "c")
    own = ctypes.CDLL(str(tmp_path / "c" / "own.so"))
    own.numbers.restype, own.integers.restype = ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_int64)
    for given, there in ((model.parameters, own.numbers()), (model.topology, own.integers())):
        assert np.ctypeslib.as_array(there, given.shape).tobytes() == given.tobytes()
    made = exporting.export(ff.robots.make("chain"), tmp_path / "d", "mass_matrix,frame_pose", prefix="x")
    assert made.functions == ("x_mass_matrix", "x_frame_pose")
    flags = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only")
    run("cc", "-std=c99", *flags, "-x", "c", "x.h", folder=tmp_path / "d")
    for standard in ("c++11", "c++17"):
        run("cc", f"-std={standard}", *flags, "-x", "c++", "x.c", folder=tmp_path / "d")
    (tmp_path / "all.c").write_text("".join(f"#include <{header}.h>\n" for header in STANDARD))
    read = run("cc", "-M", "all.c", folder=tmp_path).replace("\\\n", " ").split()
    searched = {Path(path).parent for path in read if Path(path).name in {"stdio.h", "stddef.h"}}
    headers = {Path(path).stem for path in read if Path(path).parent in searched}
    assert len(headers) > 20
    assert not headers & {prefix_of(name) for name in headers}


STANDARD = """
    assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdarg stdbool stddef stdint stdio stdlib
    string tgmath time wchar wctype dirent dlfcn fcntl pthread sched semaphore strings unistd
""".split()


@needs_cc
@pytest.mark.parametrize("name", ["features", "stdarg", "errno", "stdc-predef", "int", "register"])
def test_robots_with_names_of_headers_and_keywords_compile(tmp_path, name):
    """Beside every standard header, in a folder that is searched for headers first, as CMake does."""
    model = ff.build(replace(ff.robots.make("chain", n=1).description, name=name))
    made = exporting.export(model, tmp_path / "c", "mass_matrix")
    own = f"{made.prefix}.c"
    text = "".join(f"#include <{header}.h>\n" for header in STANDARD)
    (tmp_path / "c" / "all.c").write_text(f'{text}#include "{own}"\n')
    run("cc", "-std=gnu99", "-I.", "-fsyntax-only", "all.c", "main.c", own, folder=tmp_path / "c")


def test_what_cannot_be_exported(tmp_path):
    model = ff.robots.make("chain")
    error = refused(ff.UnknownNameError, r"Did you mean.*'mass_matrix'", exporting.export, model, tmp_path / "c", "mass_matix")
    assert all(name in str(error) for name in functions.FUNCTIONS)
    refused(ff.InputError, "name the functions", exporting.export, model, tmp_path / "c", [])
    refused(ff.UnknownNameError, "", exporting.export, model, tmp_path / "c", cpu="help")
    refused(ff.InputError, "prefix", exporting.export, model, tmp_path / "c", prefix="a b")
    assert list(tmp_path.iterdir()) == []
    from freeflyer.export.library import known_cpus
    if "athlon" in known_cpus():  # LLVM's CPUs of 32 bits, which it has on some machines
        refused(ff.InputError, "not of this machine's kind", exporting.export, model, tmp_path / "c", cpu="athlon")
    refused(ff.InputError, "close_loops", lambda: exporting.export(ff.robots.make("kangaroo_like"), tmp_path / "c"))
    block = ff.Link("block", ff.Inertia(1.0, np.zeros(3), np.eye(3)))
    with pytest.raises(ff.InputError, match="nothing to export"):
        exporting.export(ff.build(ff.Description("block", (block,), ())), tmp_path / "c")
    refused(ff.InputError, "must be a freeflyer Model", exporting.export, "talos.urdf", tmp_path / "c")


def test_files_of_others_stay(tmp_path):
    model, folder = ff.robots.make("chain"), tmp_path / "c"
    folder.mkdir()
    made = exporting.export(model, folder, "mass_matrix")  # an empty one is no obstacle
    (folder / "mine.txt").write_text("mine")
    (folder / "main.c").write_text("mine")
    refused(ff.FileError, "not empty", exporting.export, model, folder, "mass_matrix")
    assert (folder / "main.c").read_text() == "mine"
    again = exporting.export(model, folder, "mass_matrix", overwrite=True)
    assert (again.files, (folder / "mine.txt").read_text()) == (made.files, "mine")
    assert (folder / "main.c").read_text() != "mine"
    (folder / "main.c").unlink()
    (folder / "main.c").mkdir()
    refused(ff.FileError, "there is a folder of that name", exporting.export, model, folder, "mass_matrix", overwrite=True)
    assert not [p for p in folder.iterdir() if p.name.startswith(".")]
    (tmp_path / "file").write_text("")
    refused(ff.FileError, "a file of that name", exporting.export, model, tmp_path / "file", "mass_matrix", overwrite=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c", "file"]


def test_folders_are_replaced_whole(tmp_path):
    model = ff.robots.make("chain")
    for name in "ab":
        made = exporting.export(model, tmp_path / name, "mass_matrix")
    for file in made.files:
        if file.endswith((".c", ".h", ".txt", ".o")):
            assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    (tmp_path / "far").mkdir()
    (tmp_path / "near").symlink_to(tmp_path / "far")
    exporting.export(ff.robots.make("chain"), tmp_path / "near", "mass_matrix")
    assert (tmp_path / "near").is_symlink()
    assert (tmp_path / "far" / "main.c").is_file()
    made = exporting.export(ff.robots.make("chain"), tmp_path / "c", "mass_matrix", prefix="crba")
    assert "objects/crba.o" in made.files


def test_without_a_compiler(tmp_path, monkeypatch):
    def broken(*arguments):
        raise ff.FreeflyerError("the compiler fails")

    monkeypatch.setattr(exporting, "build", broken)
    with pytest.raises(ff.FreeflyerError, match="the compiler fails"):
        exporting.export(ff.robots.make("chain"), tmp_path / "deep" / "c", "mass_matrix")
    assert list((tmp_path / "deep").iterdir()) == []
    monkeypatch.undo()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    made = export(ff.robots.make("chain"), tmp_path / "d", "mass_matrix", cpu="aarch64")
    assert any("aarch64-linux-gnu-gcc" in note and "CMakeLists.txt" in note for note in made.notes)
    assert (tmp_path / "d" / "objects" / "crba.o").read_bytes()[18:20] == b"\xb7\x00"  # ELF's number of AArch64


BESIDES = {"x.h", "x.c", "main.c", "CMakeLists.txt", "objects/crba.o"}


@pytest.mark.parametrize(("tool", "command", "said", "libraries"), [
    ("CC", "/no/such/cc", "no C compiler was found", set()),
    pytest.param("CC", "cc --no-such-option", "no-such-option", set(), marks=needs_cc),
    pytest.param("AR", "/no/such/ar", "no archiver was found", {"libx.so"}, marks=needs_cc),
])  # fmt: skip
def test_without_a_tool_that_works_the_rest_is_there(tmp_path, monkeypatch, tool, command, said, libraries):
    monkeypatch.setenv(tool, command)
    made = exporting.export(ff.robots.make("chain"), tmp_path, "mass_matrix", prefix="x")
    assert set(made.files) == BESIDES | libraries
    (note,) = made.notes
    assert said in note
    assert "CMakeLists.txt" in note


GUARDED = """
import ctypes, json, mmap, sys
import numpy as np
folder, at_end, calls = sys.argv[1], sys.argv[2] == "end", json.loads(sys.argv[3])
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype, PAGE = ctypes.c_void_p, mmap.PAGESIZE
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
def guarded(n):
    size = -(-8 * n // PAGE) * PAGE
    start = libc.mmap(None, size + 2 * PAGE, 3, 0x22, -1, 0)
    assert libc.mprotect(start, PAGE, 0) == 0 and libc.mprotect(start + PAGE + size, PAGE, 0) == 0
    first = start + PAGE + (size - 8 * n if at_end else 0)
    return np.ctypeslib.as_array((ctypes.c_double * n).from_address(first))
library = ctypes.CDLL(folder)
for name, inputs, options, outputs, scratch in calls:
    arrays = []
    for x in inputs:
        arrays.append(guarded(len(x)))
        arrays[-1][:] = x
    results = [guarded(n) for n in outputs]
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (*arrays, *results, guarded(scratch))]
    k = len(arrays)
    print(name, library[name](*pointers[:k], *map(ctypes.c_int64, options), *pointers[k:]), flush=True)
"""


@pytest.mark.slow
@needs_cc
@pytest.mark.skipif(sys.platform != "linux", reason="pages are protected as on Linux")
@pytest.mark.parametrize("way", ["start", "end"])
@pytest.mark.parametrize("robot", ["quadruped", "mimic"])
def test_nothing_beyond_arguments_is_touched(tmp_path, robot, way):
    import json

    model = with_mimic() if robot == "mimic" else ff.robots.make(robot)
    made = export(model, tmp_path / "c", "all")
    rng, calls = fresh(3), []
    for function in FUNCTIONS.values():
        call = Call(prefix_of(model.name), function, function.entry_of(model), 1, "", model)
        inputs = [
            (ff.random_configuration(model, rng) if x.name[0] == "q" else rng.standard_normal(x.size)).tolist()
            for x in call.parameters
        ]
        calls.append((call.name, inputs, [1] * len(call.entry.options), [x.size for x in call.outputs], call.scratch))
    command = [sys.executable, "-c", GUARDED, str(tmp_path / "c" / f"lib{made.prefix}.so"), way, json.dumps(calls)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split("\n")[:-1] == [f"{call[0]} 0" for call in calls]


GCC, QEMU = "aarch64-linux-gnu-gcc", "qemu-aarch64"
needs_qemu = pytest.mark.skipif(not (shutil.which(GCC) and shutil.which(QEMU)),
    reason=f"no {GCC} or {QEMU}: install gcc-aarch64-linux-gnu and qemu-user")  # fmt: skip
CHECKED = "wrong += strncmp"  # in main.c, after each call
PRINT = 'for (i = 0; i < functions[f].states * functions[f].length; ++i) fprintf(stderr, "%.17g\\n", results[i]);\n        '


def results(folder: Path, model: ff.Model, functions: str, cpu: str, compiler: str, *runner: str) -> tuple[str, np.ndarray]:
    """(the example's table, all numbers of all functions)."""
    export(model, folder, functions, cpu=cpu, batch=True, prefix="robot")
    text = (folder / "main.c").read_text()
    assert text.count(CHECKED) == 1
    (folder / "main.c").write_text(text.replace(CHECKED, PRINT + CHECKED))
    run(compiler, "-O2", "main.c", "librobot.a", "-lm", "-o", "example", folder=folder)
    table = run("sh", "-c", " ".join([*runner, "./example", "2>numbers"]), folder=folder)
    return table, np.array((folder / "numbers").read_text().split(), float)


@needs_cc
@needs_qemu
@pytest.mark.skipif(sys.platform != "linux", reason="C programs of these tests are for Linux")
@pytest.mark.parametrize(("name", "functions"), [("humanoid", "inverse_dynamics,forward_dynamics,mass_matrix,frame_pose"),
                                                 ("kangaroo_like", "mass_matrix")])  # fmt: skip
def test_the_same_numbers(tmp_path, name, functions):
    model = ff.close_loops(ff.robots.make(name))
    _, here = results(tmp_path / "native", model, functions, "native", "cc")
    table, there = results(tmp_path / "aarch64", model, functions, "aarch64", GCC, QEMU, "-L", "/usr/aarch64-linux-gnu")
    assert "differs" not in table
    assert here.shape == there.shape
    assert here.size > 1000
    np.testing.assert_allclose(there, here, rtol=1e-13, atol=1e-13 * np.abs(here).max())
