"""What `export` writes: names, constants, errors, and folders that are left alone."""

from __future__ import annotations

import ctypes
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from c_program import needs_cc, program, run, with_mimic

import freeflyer as ff
from freeflyer.errors import FileError, FreeflyerError, InputError, UnknownNameError
from freeflyer.export import exporting, functions
from freeflyer.export.header import Identifiers, comment, prefix_of
from freeflyer.kernels import entries

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


def test_every_entry_of_trees_can_be_exported():
    """Those that need loops, a table of their own, constraint rows or another gravity apart, and second formulations."""
    able = {e.name for f in functions.FUNCTIONS.values() for e in (f.entry, f.shared) if e is not None}
    for name, entry in entries.ENTRIES.items():
        special = entry.closed or entry.table or entry.shared or "g" in entry.inputs
        special = special or any("rows" in shape for shape in entry.outputs) or entry.source.startswith("dual_quaternion.")
        assert special or name in able, f"export/functions.py has no function for the entry {name}"
        assert not (special and name in able), name


def test_public_functions_have_their_public_names():
    others = {"coriolis_matrix_hamel", "decoupled_hamel", "decoupled_passive", "body_poses", "body_motions"}
    assert all(callable(getattr(ff, name)) for name in functions.FUNCTIONS if name not in others)


@pytest.mark.parametrize("f", [*functions.FUNCTIONS.values(), *functions.CLOSED_FUNCTIONS.values()], ids=lambda f: f.name)
def test_arguments_fit_entries(f):
    for entry in filter(None, (f.entry, f.shared)):
        assert len(f.inputs) == len(entry.inputs)
        assert len(f.outputs) == len(entry.outputs)
        assert len({*f.inputs, *f.outputs}) == len(f.inputs) + len(f.outputs)
        assert all(f.meaning(x) for x in (*f.inputs, *f.outputs, *entry.options))


def test_identifiers():
    assert prefix_of("TALOS v2.1") == "talos_v2_1"
    assert prefix_of("__2b") == "robot_2b"
    assert prefix_of("人形") == "robot"
    assert prefix_of("math") == "robot_math"
    names = Identifiers()
    assert [names.new("R_FRAME", x) for x in ("a b", "a-b", "A B 2", "")] == [
        "R_FRAME_A_B", "R_FRAME_A_B_2", "R_FRAME_A_B_2_2", "R_FRAME_UNNAMED",
    ]  # fmt: skip
    for text in (HOSTILE, "a\nb \u202e*/", "*" + "/" * 3):
        assert "*/" not in comment(text)
        assert "\n" not in comment(text)
        assert comment(text).isascii()


@needs_cc
def test_hostile_names_compile_and_constants_keep_their_bits(tmp_path):
    model = hostile()
    made = exporting.export(model, tmp_path / "c", "mass_matrix", prefix="Snake")
    assert made.prefix == "snake"
    program(tmp_path / "c", "snake.c", "main.c")
    (tmp_path / "c" / "own.c").write_text(
        '#include "snake.c"\nconst double *numbers(void) { return parameters; }\n'
        "const int64_t *integers(void) { return topology; }\n"
    )
    objects = sorted((tmp_path / "c" / "objects").glob("*.o"))
    run("cc", "-shared", "-fPIC", "own.c", *objects, "-o", "own.so", folder=tmp_path / "c")
    own = ctypes.CDLL(str(tmp_path / "c" / "own.so"))
    own.numbers.restype, own.integers.restype = ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_int64)
    for given, there in ((model.parameters, own.numbers()), (model.topology, own.integers())):
        assert np.ctypeslib.as_array(there, given.shape).tobytes() == given.tobytes()


@needs_cc
def test_the_header_is_c_and_cpp(tmp_path):
    made = exporting.export(ff.robots.make("chain"), tmp_path / "c", "mass_matrix,frame_pose", prefix="x")
    assert made.functions == ("x_mass_matrix", "x_frame_pose")
    flags = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only")
    run("cc", "-std=c99", *flags, "-x", "c", "x.h", folder=tmp_path / "c")
    for standard in ("c++11", "c++17"):
        run("cc", f"-std={standard}", *flags, "-x", "c++", "x.c", folder=tmp_path / "c")


STANDARD = """
    assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdarg stdbool stddef stdint stdio stdlib
    string tgmath time wchar wctype dirent dlfcn fcntl pthread sched semaphore strings unistd
""".split()


@needs_cc
@pytest.mark.parametrize("name", ["features", "stdarg", "errno", "stdc-predef", "int", "register"])
def test_robots_with_names_of_headers_and_keywords_compile(tmp_path, name):
    """Beside every standard header, in a folder that is searched for headers first, as CMake does."""
    made = exporting.export(renamed(name), tmp_path / "c", "mass_matrix")
    own = f"{made.prefix}.c"
    text = "".join(f"#include <{header}.h>\n" for header in STANDARD)
    (tmp_path / "c" / "all.c").write_text(f'{text}#include "{own}"\n')
    run("cc", "-std=gnu99", "-I.", "-fsyntax-only", "all.c", "main.c", own, folder=tmp_path / "c")


@needs_cc
def test_no_robot_has_the_name_of_a_header_that_the_compiler_reads(tmp_path):
    (tmp_path / "all.c").write_text("".join(f"#include <{header}.h>\n" for header in STANDARD))
    read = run("cc", "-M", "all.c", folder=tmp_path).replace("\\\n", " ").split()
    searched = {Path(path).parent for path in read if Path(path).name in {"stdio.h", "stddef.h"}}
    headers = {Path(path).stem for path in read if Path(path).parent in searched}
    assert len(headers) > 20
    assert not headers & {prefix_of(name) for name in headers}


def renamed(name: str) -> ff.Model:
    """A chain with another name."""
    return ff.build(replace(ff.robots.make("chain", n=1).description, name=name))


def test_the_header_names_frames_and_joints(tmp_path):
    model = ff.robots.make("quadruped")
    exporting.export(model, tmp_path / "c", ["mass_matrix"])
    text = (tmp_path / "c" / "quadruped.h").read_text()
    for k, name in enumerate(model.frame_names):
        assert f"QUADRUPED_FRAME_{name.upper()} = {k}" in text
    for joint in model.joints:
        assert f"QUADRUPED_Q_{joint.name.upper()} = {joint.iq}" in text
        assert f"QUADRUPED_V_{joint.name.upper()} = {joint.iv}" in text
    assert f"#define QUADRUPED_NQ {model.nq} " in text
    assert "double M[QUADRUPED_NV * QUADRUPED_NV]" in text


def test_joints_without_coordinates_are_left_out(tmp_path):
    exporting.export(with_mimic(), tmp_path / "c", ["mass_matrix"])
    assert "FOLLOWER" not in re.sub(r"/\*.*?\*/|.*FRAME.*", "", (tmp_path / "c" / "with_mimic.h").read_text())


def test_unknown_functions_and_cpus(tmp_path):
    model = ff.robots.make("chain")
    with pytest.raises(UnknownNameError, match=r"Did you mean.*'mass_matrix'") as error:
        exporting.export(model, tmp_path / "c", "mass_matix")
    assert all(name in str(error.value) for name in functions.FUNCTIONS)
    with pytest.raises(InputError, match="name the functions"):
        exporting.export(model, tmp_path / "c", [])
    with pytest.raises(UnknownNameError, match=r"Did you mean.*'haswell'"):
        exporting.export(model, tmp_path / "c", cpu="hasswell")
    with pytest.raises(UnknownNameError):
        exporting.export(model, tmp_path / "c", cpu="help")
    with pytest.raises(InputError, match="prefix"):
        exporting.export(model, tmp_path / "c", prefix="a b")
    assert list(tmp_path.iterdir()) == []


def test_cpus_of_32_bits_are_refused(tmp_path):
    from freeflyer.export.library import known_cpus

    if "athlon" not in known_cpus():
        pytest.skip("LLVM supports no CPU of 32 bits on this machine")
    with pytest.raises(InputError, match="not of this machine's kind"):
        exporting.export(ff.robots.make("chain"), tmp_path / "c", cpu="athlon")


def test_open_loops_and_robots_that_do_not_move_are_refused(tmp_path):
    with pytest.raises(InputError, match="close_loops"):
        exporting.export(ff.robots.make("kangaroo_like"), tmp_path / "c")
    block = ff.Link("block", ff.Inertia(1.0, np.zeros(3), np.eye(3)))
    with pytest.raises(InputError, match="nothing to export"):
        exporting.export(ff.build(ff.Description("block", (block,), ())), tmp_path / "c")
    with pytest.raises(InputError, match="must be a freeflyer Model"):
        exporting.export("talos.urdf", tmp_path / "c")


def test_files_of_others_stay(tmp_path):
    model, folder = ff.robots.make("chain"), tmp_path / "c"
    folder.mkdir()
    made = exporting.export(model, folder, "mass_matrix")  # an empty one is no obstacle
    (folder / "mine.txt").write_text("mine")
    (folder / "main.c").write_text("mine")
    with pytest.raises(FileError, match="not empty"):
        exporting.export(model, folder, "mass_matrix")
    assert (folder / "main.c").read_text() == "mine"
    again = exporting.export(model, folder, "mass_matrix", overwrite=True)
    assert again.files == made.files
    assert (folder / "mine.txt").read_text() == "mine"
    assert (folder / "main.c").read_text() != "mine"
    (folder / "main.c").unlink()
    (folder / "main.c").mkdir()
    with pytest.raises(FileError, match="there is a folder of that name"):
        exporting.export(model, folder, "mass_matrix", overwrite=True)
    assert not [p for p in folder.iterdir() if p.name.startswith(".")]
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="a file of that name"):
        exporting.export(model, tmp_path / "file", "mass_matrix", overwrite=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c", "file"]


def test_the_same_bytes_every_time(tmp_path):
    model = ff.robots.make("chain")
    for name in "ab":
        made = exporting.export(model, tmp_path / name, "mass_matrix")
    for file in made.files:
        if file.endswith((".c", ".h", ".txt", ".o")):
            assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_a_link_to_a_folder_stays_a_link(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "near").symlink_to(tmp_path / "far")
    exporting.export(ff.robots.make("chain"), tmp_path / "near", "mass_matrix")
    assert (tmp_path / "near").is_symlink()
    assert (tmp_path / "far" / "main.c").is_file()


def test_a_robot_with_the_name_of_a_kernel(tmp_path):
    made = exporting.export(ff.robots.make("chain"), tmp_path / "c", "mass_matrix", prefix="crba")
    assert "objects/crba.o" in made.files


def test_an_error_leaves_nothing(tmp_path, monkeypatch):
    def broken(*arguments):
        raise FreeflyerError("the compiler fails")

    monkeypatch.setattr(exporting, "build", broken)
    with pytest.raises(FreeflyerError, match="the compiler fails"):
        exporting.export(ff.robots.make("chain"), tmp_path / "deep" / "c", "mass_matrix")
    assert list((tmp_path / "deep").iterdir()) == []


BESIDES = {"x.h", "x.c", "main.c", "CMakeLists.txt", "objects/crba.o"}


def test_without_a_compiler_the_rest_is_there(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", "/no/such/cc")
    made = exporting.export(ff.robots.make("chain"), tmp_path / "c", "mass_matrix", prefix="x")
    assert set(made.files) == BESIDES
    assert len(made.notes) == 1
    assert "no C compiler was found" in made.notes[0]


@needs_cc
def test_with_a_compiler_that_fails_the_rest_is_there(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", "cc --no-such-option")
    made = exporting.export(ff.robots.make("chain"), tmp_path / "c", "mass_matrix", prefix="x")
    assert set(made.files) == BESIDES
    assert "no-such-option" in made.notes[0]
    assert "CMakeLists.txt" in made.notes[0]


@needs_cc
@pytest.mark.skipif(sys.platform != "linux", reason="the format of ar is that of ELF linkers")
def test_without_an_archiver_there_is_a_static_library(tmp_path, monkeypatch):
    monkeypatch.setenv("AR", "/no/such/ar")
    made = exporting.export(ff.robots.make("chain"), tmp_path, "mass_matrix,gravity_forces", prefix="x")
    assert not made.notes
    assert {"libx.a", "libx.so"} <= set(made.files)
    run("cc", "main.c", "libx.a", "-lm", "-o", "example", folder=tmp_path)
    assert run(tmp_path / "example", folder=tmp_path).count("same bits") == 2
    if shutil.which("ar"):
        assert run("ar", "t", "libx.a", folder=tmp_path).split() == ["x.o", "crba.o", "gravity.o"]
        run("ar", "x", "libx.a", "gravity.o", folder=tmp_path)
        assert (tmp_path / "gravity.o").read_bytes() == (tmp_path / "objects" / "gravity.o").read_bytes()
