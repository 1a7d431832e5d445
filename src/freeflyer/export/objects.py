"""Object code of entries for a CPU: the instructions that Python calls here, or as its pipeline makes them for another CPU."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from functools import cache

from llvmlite import binding as llvm

from freeflyer.errors import InputError, unknown_name
from freeflyer.kernels.compiler import build, cache as disk
from freeflyer.kernels.compiler.object_code import Target, host, linked, pack_lanes
from freeflyer.kernels.entry import Entry

NATIVE = "native"
KINDS = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu"}  # of other machines, as LLVM names them
PROBE = """
import sys
from llvmlite import binding as llvm
llvm.initialize_all_targets(); llvm.initialize_all_asmprinters()
target = llvm.Target.from_triple(sys.argv[2] or llvm.get_default_triple())
target.create_target_machine(cpu=sys.argv[1]).emit_object(llvm.parse_assembly("define i32 @f() {\\n ret i32 1\\n}"))
"""
ADVICE = f"'{NATIVE}' is this machine's; names of other machines: {', '.join(KINDS)}, aarch64:cortex-a72."
LISTED = " processor."  # ends a line of LLVM's list of CPUs


def probe(cpu: str, triple: str = "") -> tuple[int, str]:
    """(status, LLVM's output) of a process that makes code for a CPU: LLVM ends the process if it cannot."""
    command = [sys.executable, "-c", PROBE, cpu, triple]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


@cache
def known_cpus(triple: str = "") -> tuple[str, ...]:
    """Names of the CPUs that LLVM supports on machines of a kind, this one's if it is empty."""
    _, text = probe("help", triple)
    return tuple(line.split()[0] for line in text.splitlines() if line.rstrip().endswith(LISTED))


def triple_of(kind: str) -> str:
    """LLVM's name of a kind of machine; empty for this machine's own kind, whose compiler has no prefix, and for no kind."""
    here = llvm.get_default_triple()
    return "" if here.startswith(f"{kind}-") and "-linux-" in here else KINDS.get(kind, "")


@cache
def target_of(cpu: str) -> Target:
    """What a CPU's name means: 'native', a CPU of this machine's kind, another kind ('aarch64'), or both ('aarch64:cortex-a72').

    Errors: UnknownNameError; InputError for CPUs that LLVM names but makes no code for on that kind, such as ones of 32 bits."""
    if cpu == NATIVE:
        return host()
    kind, colon, name = cpu.partition(":")
    if colon and kind not in KINDS:
        raise unknown_name("machine", kind, KINDS, ADVICE)
    triple = triple_of(kind)
    if cpu in KINDS:
        return Target("x86-64" if cpu == "x86_64" else "generic", "", triple)
    name, known = name if colon else cpu, known_cpus(triple)
    if name not in known:
        raise unknown_name(f"{kind} CPU" if colon else "CPU", name, known, ADVICE)
    if probe(name, triple)[0] != 0:
        kind = f"the kind {triple}" if triple else f"this machine's kind, {llvm.get_default_triple()}"
        raise InputError(f"the CPU {cpu!r} is not of {kind}", cpu=cpu)
    return Target(name, "", triple)


def lanes_of(entry: Entry, cpu: str) -> int:
    """How many states a batch takes at a time."""
    return 8 if entry.one_by_one else pack_lanes(target_of(cpu))


def code_of(entry: Entry, lanes: int, cpu: str) -> tuple[str, bytes]:
    """(symbol, object code). The symbol holds a hash of the code, so that one program can hold several libraries."""
    target, functions = target_of(cpu), build.closure(entry, lanes)
    own = functions[-1].symbol
    symbol = f"ff{hashlib.sha256(repr((own, target)).encode()).hexdigest()[:12]}_{build.name_of(entry, lanes)}"
    file = build.file_of(symbol, target)
    code = disk.read(file)
    if code is None:
        code = linked([f.code for f in functions], own, symbol, target)
        disk.write(file, code)
    return symbol, code
