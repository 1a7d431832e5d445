"""The model that a call with `gravity=` means."""

from __future__ import annotations

from typing import Any

from freeflyer.model.edits import with_gravity
from freeflyer.model.model import Model


def under(model: Model, gravity: Any) -> Model:
    """The model itself, or one with this gravity (3,) in m/s^2."""
    return model if gravity is None else with_gravity(model, gravity)
