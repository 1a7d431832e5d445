"""From LLVM code to object code for one CPU, and from object code to functions, by llvmlite."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from llvmlite import __version__, binding as llvm

LIBRARY = {"memset", "memcpy", "memmove", "sincos", "sin", "cos", "atan2", "sqrt", "fma"}  # of C: all that entries may call
LLVMLITE = __version__  # other versions may make other code
OTHERS = ("llvm.", "ff_", "Py")  # begins of other names: LLVM's own, functions of kernels, CPython's

# Pages of code whose physical addresses have the same hash push each other out of the fastest memory for instructions (measured on
# Zen 5, two of 500 pages). Of 200 copies of a function of nine pages, 10 took 1.13 to 1.5 times as long as the others.
COPIES = 3


@dataclass(frozen=True)
class Target:
    """A CPU to compile for. `triple`: its kind, of this machine if it is empty; `features`: in LLVM's form."""

    cpu: str
    features: str = ""
    triple: str = ""


# levels of the x86-64 psABI, best first, and the features that a CPU of each one has beyond the next
LEVELS = {
    Target("x86-64-v4", "+avx512f,-prefer-256-bit"): {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    Target("x86-64-v3"): {"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"},
    Target("x86-64-v2"): {"cx16", "popcnt", "sse4.2", "ssse3"},
}


PROBE = """
import sys
from llvmlite import binding as llvm
llvm.initialize_all_targets(); llvm.initialize_all_asmprinters()
target = llvm.Target.from_triple(sys.argv[2] or llvm.get_default_triple())
target.create_target_machine(cpu=sys.argv[1]).emit_object(llvm.parse_assembly("define i32 @f() {\\n ret i32 1\\n}"))
"""


def probe(cpu: str, triple: str = "") -> tuple[int, str]:
    """(status, LLVM's output) of a process that makes code for a CPU: LLVM ends the process if it cannot."""
    command = [sys.executable, "-c", PROBE, cpu, triple]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


@cache
def host() -> Target:
    """The CPU to compile for: the one that FREEFLYER_CPU names, else this machine's. Errors: ValueError for names of no CPU."""
    name = os.environ.get("FREEFLYER_CPU")
    if name and probe(name)[0] != 0:
        raise ValueError(f"FREEFLYER_CPU is {name!r}, expected the name of a CPU of this machine's kind, such as haswell or "
                         "x86-64-v3, or none for this machine's own")  # fmt: skip
    return Target(name) if name else Target(llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())


def levels_here() -> list[Target]:
    """Levels of x86-64 that this machine's CPU has, best first; none on other machines."""
    if os.environ.get("FREEFLYER_CPU") or not llvm.get_default_triple().startswith("x86_64"):
        return []
    features = {k for k, present in llvm.get_host_cpu_features().items() if present}
    return [level for k, level in enumerate(LEVELS) if set().union(*list(LEVELS.values())[k:]) <= features]


@cache
def target_machine(target: Target) -> Any:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    kind = llvm.Target.from_triple(target.triple or llvm.get_default_triple())
    return kind.create_target_machine(cpu=target.cpu, features=target.features, opt=3, reloc="pic", codemodel="default")


WIDE = "define <8 x double> @f(<8 x double> %a) {\n %b = fadd <8 x double> %a, %a\n ret <8 x double> %b\n}"


@cache
def pack_lanes(target: Target) -> int:
    """Numbers in a Pack: 8 where the CPU has registers for them (AVX-512), else 4."""
    if target.features:
        return 8 if "+avx512f" in target.features.split(",") else 4
    return 8 if "zmm" in target_machine(target).emit_assembly(llvm.parse_assembly(WIDE)) else 4


def optimized(code: str, target: Target) -> Any:
    """LLVM's module of a function, optimised. Errors: RuntimeError if it calls what would be missing where it is loaded."""
    module, options = llvm.parse_assembly(code), llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_unrolling = False  # takes a quarter of the time and makes nothing faster
    builder = llvm.create_pass_builder(target_machine(target), options)
    builder.getModulePassManager().run(module, builder)
    missing = {f.name for f in module.functions if f.is_declaration and not f.name.startswith(OTHERS)} - LIBRARY
    if missing:
        raise RuntimeError(f"compiled code calls {', '.join(sorted(missing))}: no entry may")
    return module


def object_code(code: str, target: Target) -> bytes:
    return target_machine(target).emit_object(optimized(code, target))


def linked(codes: Sequence[str], symbol: str, name: str, target: Target) -> bytes:
    """Object code of functions together, in which `symbol` is visible as `name`, and nothing else is. Each function has the same
    instructions as in object code of its own."""
    whole = optimized(codes[-1], target)
    for code in codes[:-1]:
        whole.link_in(optimized(code, target))
    for value in (*whole.functions, *whole.global_variables):
        if not value.is_declaration and value.name != symbol:
            value.linkage = "internal"
    whole.get_function(symbol).name = name
    return target_machine(target).emit_object(whole)


def load(codes: Sequence[bytes], symbol: str, seconds: Callable[[int], float] | None = None) -> int:
    """Address of a function of object code, which stays loaded. `seconds`: how long a call of it takes, by its address; then the
    fastest of COPIES stays."""
    copies = [_loaded(codes, symbol) for _ in range(COPIES if seconds else 1)]
    engine, address = min(copies, key=lambda copy: seconds(copy[1])) if seconds else copies[0]
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(engine))  # code stays until the process ends: others may call it till then
    return address


def _loaded(codes: Sequence[bytes], symbol: str) -> tuple[Any, int]:
    """Code in memory until it is released, and the address of a function."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    empty = llvm.parse_assembly(f'target triple = "{llvm.get_default_triple()}"')
    engine = llvm.create_mcjit_compiler(empty, llvm.Target.from_default_triple().create_target_machine())
    for code in codes:
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine, engine.get_function_address(symbol)
