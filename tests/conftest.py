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


@pytest.fixture
def poisoned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every array that the library makes for a result is full of NaN, so that an entry not written is seen.

    Without this an old, right result in reused memory could hide it.
    """
    from freeflyer.dynamics import equations

    made = np.empty

    def empty(*args: object, **options: object) -> np.ndarray:
        x = made(*args, **options)
        if x.dtype.kind == "f":
            x.fill(np.nan)
        return x

    monkeypatch.setattr(np, "empty", empty)
    monkeypatch.setattr(equations, "empty", empty)
