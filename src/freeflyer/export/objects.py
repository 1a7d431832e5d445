"""Object code of entries for a CPU: the very code that Python calls here, or as its pipeline makes it for another CPU."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from functools import cache

from llvmlite import binding as llvm

from freeflyer.errors import FreeflyerError, InputError, unknown_name
from freeflyer.kernels.compiler import build, cache as disk, object_code
from freeflyer.kernels.compiler.sources import source_key
from freeflyer.kernels.compiler.worker import Worker
from freeflyer.kernels.entry import Entry
from freeflyer.progress import Progress

NATIVE = "native"
PROBE = """
import sys
from llvmlite import binding as llvm
llvm.initialize_native_target(); llvm.initialize_native_asmprinter()
machine = llvm.Target.from_default_triple().create_target_machine(cpu=sys.argv[1])
machine.emit_object(llvm.parse_assembly("define i32 @f() {\\n ret i32 1\\n}"))
"""
LISTED = " processor."  # ends a line of LLVM's list of CPUs


def probe(cpu: str) -> tuple[int, str]:
    """(status, LLVM's output) of a process that makes code for a CPU: LLVM ends the process where it cannot."""
    done = subprocess.run([sys.executable, "-c", PROBE, cpu], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


@cache
def known_cpus() -> tuple[str, ...]:
    """Names of the CPUs that LLVM supports on machines of this kind."""
    _, text = probe("help")
    return tuple(line.split()[0] for line in text.splitlines() if line.rstrip().endswith(LISTED))


def check_cpu(name: str) -> str:
    """The name. Errors: UnknownNameError, InputError for CPUs that are known but not of this machine's kind."""
    if name == NATIVE:
        return name
    known = known_cpus()
    if name not in known:
        raise unknown_name("CPU", name, known, f"'{NATIVE}' is this machine's.")
    if probe(name)[0] != 0:
        raise InputError(f"the CPU {name!r} is not of this machine's kind, {llvm.get_default_triple()}", cpu=name)
    return name


def lanes_of(entry: Entry, cpu: str) -> int:
    """How many states a batch takes at a time."""
    machine = object_code.host() if cpu == NATIVE else (cpu, "")
    return 8 if entry.one_by_one else object_code.pack_lanes(*machine)


class Compiler:
    """Makes object code for one CPU. Use as a context: it may start a process."""

    def __init__(self, cpu: str, progress: Progress) -> None:
        self._cpu, self._progress = cpu, progress
        self._worker: Worker | None = None

    def __enter__(self) -> Compiler:
        return self

    def __exit__(self, *_: object) -> None:
        if self._worker is not None:
            self._worker.close()

    def code(self, entry: Entry, lanes: int) -> tuple[str, bytes]:
        """(symbol, object code). The symbol holds a hash of the code, so that one program can hold several libraries."""
        made = self._native(entry, lanes) if self._cpu == NATIVE else self._foreign(entry, lanes)
        return rename_symbol(made, build.symbol(entry.name, lanes))

    def _native(self, entry: Entry, lanes: int) -> bytes:
        self._progress(0.0, f"compiling {entry.name}")
        build.address(entry.name, entry.modules, lanes, entry.facts)  # under the lock of compilations
        return build.make(entry.name, entry.modules, lanes, entry.facts)

    def _foreign(self, entry: Entry, lanes: int) -> bytes:
        symbol = build.symbol(entry.name, lanes)
        facts = repr((build.versions(), self._cpu, lanes, source_key(entry.modules + build.SHARED_MODULES)))
        file = f"{symbol}-{self._cpu}.{hashlib.sha256(facts.encode()).hexdigest()[:32]}.o"
        code = disk.read(file)
        if code is None:
            self._progress(0.0, f"compiling {entry.name} for {self._cpu}")
            try:
                self._worker = self._worker or Worker()
                code = self._worker.compile(entry.name, lanes, symbol, (self._cpu, ""))
            except (OSError, RuntimeError) as error:
                raise FreeflyerError(f"{entry.name} could not be compiled for {self._cpu}: {error}") from error
            disk.write(file, code)
        return code


def rename_symbol(code: bytes, symbol: str) -> tuple[str, bytes]:
    """Object code whose symbol begins with a hash of the code, as long as the 'freeflyer_' whose place it takes."""
    start = "freeflyer_"
    new = f"ff{hashlib.sha256(code).hexdigest()[: len(start) - 3]}_{symbol.removeprefix(start)}"
    old, fresh = (f"\0{x}\0".encode() for x in (symbol, new))
    if not symbol.startswith(start) or code.count(old) != 1:
        raise RuntimeError(f"the object code of {symbol} does not name it once")
    return new, code.replace(old, fresh)
