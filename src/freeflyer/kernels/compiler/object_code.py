"""From LLVM code to object code for one CPU, and from object code to functions, by llvmlite."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Collection
from functools import cache
from typing import Any

from llvmlite import binding as llvm


def host() -> tuple[str, str]:
    """(name, features) of the CPU to compile for: NUMBA_CPU_NAME and NUMBA_CPU_FEATURES where they are set, else this machine's."""
    name, features = os.environ.get("NUMBA_CPU_NAME"), os.environ.get("NUMBA_CPU_FEATURES")
    if name:
        return name, features or ""
    return llvm.get_host_cpu_name(), features or llvm.get_host_cpu_features().flatten()


@cache
def target_machine(cpu: str, features: str = "") -> Any:
    """LLVM's target machine for a CPU."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=cpu, features=features, opt=3, reloc="pic", codemodel="default")


WIDE = """
define <8 x double> @f(<8 x double> %a) {
  %b = fadd <8 x double> %a, %a
  ret <8 x double> %b
}
"""


@cache
def pack_lanes(cpu: str, features: str = "") -> int:
    """Numbers in a Pack: 8 where the CPU has registers for them (AVX-512), else 4."""
    if features:
        return 8 if "+avx512f" in features.split(",") else 4
    return 8 if "zmm" in target_machine(cpu, features).emit_assembly(llvm.parse_assembly(WIDE)) else 4


LIBRARY = {"memset", "memcpy", "memmove", "sincos", "sin", "cos", "atan2", "sqrt", "fma"}  # of C: all that entries may call


def object_code(ir: str, name: str, symbol: str, machine: Any, library: Collection[str] = LIBRARY) -> bytes:
    """Object code in which the function `name` is visible as `symbol`, and nothing else is.

    Errors: RuntimeError where it calls functions that are not in `library`: they would be missing where it is loaded.
    """
    module = llvm.parse_assembly(ir)
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name != name:
            value.linkage = "internal"
    module.get_function(name).name = symbol
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(module, builder)
    missing = {f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")} - set(library)
    if missing:
        raise RuntimeError(f"{symbol} calls {', '.join(sorted(missing))}: no entry may")
    return machine.emit_object(module)


def load(code: bytes, symbol: str) -> int:
    """Address of a function of object code, which stays loaded."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(f'target triple = "{llvm.get_default_triple()}"'), _loader())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    return _keep_loaded(engine, symbol)


def from_ir(ir: str, symbol: str) -> int:
    """Address of a function of LLVM code, which stays loaded."""
    return _keep_loaded(llvm.create_mcjit_compiler(llvm.parse_assembly(ir), _loader()), symbol)


def _keep_loaded(engine: Any, symbol: str) -> int:
    engine.finalize_object()
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(engine))  # code stays until the process ends: others may call it till then
    return engine.get_function_address(symbol)


def _loader() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine()
