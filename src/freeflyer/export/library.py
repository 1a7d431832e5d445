"""Object code of entries for a CPU; static and shared library, made by a C compiler if one is found, and CMakeLists.txt."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path

from llvmlite import binding as llvm

from freeflyer.errors import FreeflyerError, InputError, check_name, format_value, unknown_name
from freeflyer.kernels.compiler import build as builds, cache as disk
from freeflyer.kernels.compiler.object_code import Target, host, linked, probe
from freeflyer.kernels.entry import Entry

COMPILERS = ("cc", "gcc", "clang")
ARCHIVERS = ("ar", "gcc-ar", "llvm-ar")
SECONDS = 300.0


def tool(variable: str, names: tuple[str, ...]) -> list[str] | None:
    """The command of the environment variable, else the first of the names that there is."""
    try:
        given = shlex.split(os.environ.get(variable, ""))
    except ValueError as error:
        raise InputError(f"${variable} is {format_value(os.environ[variable])}, which is no command: {error}") from None
    found = next((x for x in ([given[0]] if given else names) if shutil.which(x)), None)
    return None if found is None else [found, *given[1:]]


def build(folder: Path, prefix: str, objects: Sequence[str], triple: str = "") -> list[str]:
    """Makes lib{prefix}.so and lib{prefix}.a in a folder that holds the source and these files of object code.

    `triple`: another kind of machine than this, in ELF. A sentence for files that cannot be made."""
    compilers, archivers = ((f"{triple}-gcc",), (f"{triple}-ar",)) if triple else (COMPILERS, ARCHIVERS)
    own, notes = f"{prefix}.o", []
    files = [own, *objects]
    name = [f"-Wl,-soname,lib{prefix}.so"] if triple or sys.platform == "linux" else []
    try:
        compiler = tool("CC", compilers)
        if compiler is None:
            return [f"no C compiler was found ({', '.join(compilers)}, or $CC): build the libraries with CMakeLists.txt"]
        run(folder, [*compiler, "-std=c99", "-O2", "-fPIC", "-c", f"{prefix}.c", "-o", own])
        if triple and len({machine(folder / file) for file in files}) > 1:  # $CC is often set to this machine's compiler
            raise FreeflyerError(f"{shlex.join(compiler)} makes no code for {triple}: set $CC to a compiler that does")
        run(folder, [*compiler, "-shared", *name, "-o", f"lib{prefix}.so", *files, "-lm"])
        archiver = tool("AR", archivers)
        if archiver is None:
            raise FreeflyerError(f"no archiver was found ({', '.join(archivers)}, or $AR)")
        run(folder, [*archiver, "rcs", f"lib{prefix}.a", *files])
    except FreeflyerError as error:
        notes.append(f"{error}: what is missing can be built with CMakeLists.txt")
    (folder / own).unlink(missing_ok=True)
    return notes


def machine(file: Path) -> bytes:
    """Word length, byte order and machine of object code in ELF, the format of other machines."""
    head = file.read_bytes()[:20]
    return head[4:6] + head[18:]


def run(folder: Path, command: list[str]) -> None:
    """Runs the command. Errors: FreeflyerError with its output."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FreeflyerError(f"{shlex.join(command)} could not be run: {error}") from error
    if done.returncode != 0:
        raise FreeflyerError(f"{shlex.join(command)} failed: {done.stderr.strip()[:2000]}", command=command)


def cmake(prefix: str, objects: list[str]) -> str:
    """The text of CMakeLists.txt."""
    return filled("CMakeLists.txt", {"PREFIX": prefix, "OBJECTS": "\n  ".join(objects)})


def filled(form: str, values: Mapping[str, object]) -> str:
    """A file of templates, each @KEY@ replaced by its value."""
    text = (resources.files("freeflyer.export") / "templates" / form).read_text(encoding="ascii")
    for key, value in values.items():
        text = text.replace(f"@{key}@", str(value))
    return text


NATIVE = "native"
KINDS = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu"}  # of other machines, as LLVM names them
ADVICE = f"'{NATIVE}' is this machine's; names of other machines: {', '.join(KINDS)}, aarch64:cortex-a72."
LISTED = " processor."  # ends a line of LLVM's list of CPUs


@cache
def known_cpus(triple: str = "") -> tuple[str, ...]:
    """Names of the CPUs that LLVM supports on machines of a kind, this one's if it is empty."""
    _, text = probe("help", triple)
    return tuple(line.split()[0] for line in text.splitlines() if line.rstrip().endswith(LISTED))


@cache
def target_of(cpu: str) -> Target:
    """Meaning of a CPU's name: 'native', a CPU of this machine's kind, another kind ('aarch64'), or both ('aarch64:cortex-a72').

    Errors: UnknownNameError; InputError for CPUs that LLVM names but makes no code for on that kind, such as ones of 32 bits."""
    if cpu == NATIVE:
        return host()
    kind, colon, name = cpu.partition(":")
    if colon and kind not in KINDS:
        raise unknown_name("machine", kind, KINDS, ADVICE)
    here = llvm.get_default_triple()  # this machine's own kind has no name: its compiler has no prefix
    triple = "" if here.startswith(f"{kind}-") and "-linux-" in here else KINDS.get(kind, "")
    if cpu in KINDS:
        return Target("x86-64" if cpu == "x86_64" else "generic", "", triple)
    name, known = name if colon else cpu, known_cpus(triple)
    check_name(f"{kind} CPU" if colon else "CPU", name, known, ADVICE)
    if probe(name, triple)[0] != 0:
        kind = f"the kind {triple}" if triple else f"this machine's kind, {llvm.get_default_triple()}"
        raise InputError(f"the CPU {cpu!r} is not of {kind}", cpu=cpu)
    return Target(name, "", triple)


def code_of(entry: Entry, lanes: int, cpu: str) -> tuple[str, bytes]:
    """(symbol, object code). The symbol holds a hash of the code, so that one program can hold several libraries."""
    target, functions = target_of(cpu), builds.closure(entry, lanes)
    own = functions[-1].symbol
    symbol = f"ff{hashlib.sha256(repr((own, target)).encode()).hexdigest()[:12]}_{builds.name_of(entry, lanes)}"
    file = builds.file_of(symbol, target)
    code = disk.read(file)
    if code is None:
        code = linked([f.code for f in functions], own, symbol, target)
        disk.write(file, code)
    return symbol, code
