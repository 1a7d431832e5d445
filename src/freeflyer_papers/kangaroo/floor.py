"""Postures put on the floor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freeflyer.contacts.description import Contact
from freeflyer.contacts.feet import anchored_feet
from freeflyer.control.support import ground_points
from freeflyer.model.model import Model


def on_the_floor(model: Model, q: np.ndarray, feet: Sequence[Contact] | None = None) -> np.ndarray:
    """The same posture of a floating base with its lowest foot at height 0. Errors: InputError without feet."""
    found, base = q.copy(), next(j for j in model.tree.joints if j.kind == "free")
    found[base.iq + 2] -= min(float(ground_points(foot)[:, 2].min()) for foot in anchored_feet(model, q, feet))
    return found
