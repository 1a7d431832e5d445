"""Robots that tests find on disk: the models folder (FREEFLYER_MODELS) and the example-robot-data package."""

import os
import pytest
import sysconfig
from pathlib import Path

MODELS = Path(os.environ.get("FREEFLYER_MODELS", Path(__file__).parents[2] / "shared" / "models"))
EXAMPLES = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"

needs_models = pytest.mark.skipif(not MODELS.is_dir(), reason=f"no robot models at {MODELS}: set FREEFLYER_MODELS")
needs_examples = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="example-robot-data is not installed")


def example_urdfs() -> list[Path]:
    """Every URDF of example-robot-data, sorted; empty where the package is absent."""
    return sorted(EXAMPLES.rglob("*.urdf")) if EXAMPLES.is_dir() else []


def example(name: str) -> Path:
    """The URDF of example-robot-data with this file name, e.g. 'talos_reduced.urdf'."""
    return next(p for p in example_urdfs() if p.name == name)
