"""The machine and the versions behind a timing."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

from freeflyer.analysis.timing.results import Machine

PACKAGES = ("freeflyer", "numpy", "llvmlite", "pin", "mujoco", "daqp", "tsid", "pin-pink", "mink")


def machine() -> Machine:
    """Describe this machine: CPU, usable cores, versions of what is timed."""
    return Machine(
        cpu=_cpu(),
        cores=usable_cores(),
        architecture=platform.machine(),
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        versions={name: found for name in PACKAGES if (found := _version(name)) is not None},
    )


def usable_cores() -> int:
    """Cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
