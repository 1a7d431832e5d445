"""Sets of frames that are looked up once: to apply wrenches to, or to ask many quantities of at each step of a control loop."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from freeflyer.errors import InputError
from freeflyer.kernels.calls.running import handle, with_table
from freeflyer.kernels.model.layout import FRAMES
from freeflyer.model.frozen import frozen_array
from freeflyer.model.model import Model
from freeflyer.model.public import public

KEPT = 64  # sets that a model keeps for mappings of wrenches


@dataclass(frozen=True, eq=False)
class FrameSet:
    """Frames of one model, in order, as compiled code reads them. Made by `frame_set`."""

    model: Model = field(repr=False)
    names: tuple[str, ...]
    topology: np.ndarray = field(repr=False)  # the model's, and the frames
    handle: Any = field(repr=False)
    shape: tuple[int, int]  # of wrenches on them, or of their twists: (k, 6)

    @property
    def parameters(self) -> np.ndarray:
        """The model's."""
        return self.model.parameters

    def __len__(self) -> int:
        return len(self.names)

    def __reduce__(self) -> Any:
        return frame_set, (self.model, *self.names)


@public
def frame_set(model: Model, *names: str) -> FrameSet:
    """The frames (links and sites) of these names, for `external=(feet, W)` and `all_terms(..., frames=feet)`.

    Errors: UnknownNameError for a name that the model does not have, with the nearest ones.

        feet = ff.frame_set(model, "left_sole", "right_sole")
        tau = ff.inverse_dynamics(model, q, v, a, (feet, W))    # W (..., 2, 6)
    """
    if len(names) == 1 and not isinstance(names[0], str):
        raise InputError(f'frame_set takes names one by one, as in frame_set(model, "left_sole", "right_sole"), got {names[0]!r}')
    numbers = [model.frame(name) for name in names]
    table = np.array([len(numbers), *numbers], np.int64)
    topology = frozen_array(with_table(model.topology, FRAMES, table))
    return FrameSet(model, tuple(names), topology, handle(topology, model.parameters), (len(numbers), 6))


def kept_set(model: Model, names: tuple[str, ...]) -> FrameSet:
    """As `frame_set`, from those that the model keeps."""
    found = model._frame_sets.get(names)
    if found is None:
        found = frame_set(model, *names)
        if len(model._frame_sets) >= KEPT:
            model._frame_sets.clear()
        model._frame_sets[names] = found
    return found
