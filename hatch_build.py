"""Object code in the wheel, if FREEFLYER_WHEEL_OBJECTS is set when it is built: see docs/compiling.md."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

VARIABLE = "FREEFLYER_WHEEL_OBJECTS"
NEEDED = ("numpy", "llvmlite", "lazy-loader")  # of the package's dependencies, to compile kernels


class ObjectCode(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles all kernels into the wheel if the variable asks for it; else the wheel is pure Python."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        return [x for x in self.metadata.core.dependencies if x.startswith(NEEDED)] if os.environ.get(VARIABLE) else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        levels = os.environ.get(VARIABLE)
        if not levels or self.target_name != "wheel" or version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        path = filter(None, (str(Path(self.root, "src")), os.environ.get("PYTHONPATH")))  # pip's isolation uses it, too
        command = [sys.executable, "-m", "freeflyer.kernels.compiler.ahead", self._folder.name, levels]
        if subprocess.run(command, env=os.environ | {"PYTHONPATH": os.pathsep.join(path)}, check=False).returncode:
            raise SystemExit(f"{VARIABLE}={levels}: no object code was made, see above")
        build_data["force_include"][self._folder.name] = "freeflyer/kernels/objects"
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-linux_x86_64"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if hasattr(self, "_folder"):
            self._folder.cleanup()
