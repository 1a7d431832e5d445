"""Robots' files that reproductions look for where none is given: in the folder FREEFLYER_MODELS."""

from __future__ import annotations

import os
from pathlib import Path


def model_file(*parts: str) -> Path | None:
    """The file of these parts below the folder FREEFLYER_MODELS, if both are there."""
    folder = os.environ.get("FREEFLYER_MODELS")
    path = Path(folder or "", *parts)
    return path if folder and path.is_file() else None
