"""Fixtures that several folders of tests share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from robots_on_disk import MODELS


@pytest.fixture
def models_folder() -> Path:
    """The folder of robot models (FREEFLYER_MODELS); the test is skipped where there is none."""
    if not MODELS.is_dir():
        pytest.skip(f"no robot models at {MODELS}: set FREEFLYER_MODELS")
    return MODELS


class Poison:
    """numpy, but for `empty`, whose floats are all NaN."""

    def __getattr__(self, name: str) -> object:
        return getattr(np, name)

    @staticmethod
    def empty(*args: object, **options: object) -> np.ndarray:
        x = np.empty(*args, **options)
        if x.dtype.kind == "f":
            x.fill(np.nan)
        return x


@pytest.fixture
def poisoned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every array that the library makes for a result is full of NaN, so that an entry not written is seen.

    Without this an old, right result in reused memory could hide it. Only the layer above the kernels is touched, as
    what kernels see of numpy is compiled into them.
    """
    from freeflyer.dynamics import centroidal, equations, evaluate, frames, manifold

    for module in (centroidal, equations, evaluate, frames, manifold):
        monkeypatch.setattr(module, "np", Poison())
    monkeypatch.setattr(equations, "empty", Poison.empty)
