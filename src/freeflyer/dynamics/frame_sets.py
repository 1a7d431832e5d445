"""Sets of frames that are looked up once: for wrenches on them, or for their motions at each step of a control loop."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from freeflyer.errors import InputError, format_value
from freeflyer.kernels.compiler.calls.running import handle, with_table
from freeflyer.kernels.model.layout import FRAMES
from freeflyer.model import Model, frozen_array, public

MAX_CACHED_SETS = 64  # sets for mappings of wrenches that are kept for a model
_cache: dict[int, dict[tuple[str, ...], FrameSet]] = {}  # by id of the model; removed with it


@dataclass(frozen=True, eq=False)
class FrameSet:
    """Frames of one model, in order, as compiled code reads them; made by `frame_set`.

    Attributes:
        shape: (k, 6): of wrenches on the k frames, or of their twists.
        topology, parameters, handle: The model's, with the frames in the topology; both for compiled code.
        model: None for a set that is kept for the model, and does not keep it alive."""

    names: tuple[str, ...]
    shape: tuple[int, int]
    topology: np.ndarray = field(repr=False)
    parameters: np.ndarray = field(repr=False)
    handle: Any = field(repr=False)
    model: Model | None = field(repr=False)

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def places(self) -> dict[str, int]:
        """The number of each frame, by its name."""
        return {name: k for k, name in enumerate(self.names)}

    def __reduce__(self) -> Any:
        return frame_set, (self.model, *self.names)


@public
def frame_set(model: Model, *names: str) -> FrameSet:
    """Set of the frames (links and sites) of these names, in order, for `external=(feet, W)` and `all_terms(..., frames=feet)`.

    Args:
        *names: Names of frames, one by one; a list of names in their place is refused."""
    if len(names) == 1 and not isinstance(names[0], str):
        raise InputError(f'frame_set takes names one by one, as in frame_set(model, "left_sole", "right_sole"), got {names[0]!r}')
    return _make(model, names, model)


Frames = FrameSet | str | Sequence[str]


def frames_of(model: Model, frames: Frames) -> FrameSet:
    """The set of frames given as a set, by one name or by a list of names. Errors: UnknownNameError, InputError."""
    if isinstance(frames, FrameSet):
        same = frames.model is not None and frames.model.tree.same_robot(model.tree)  # its loops open or closed
        if not (same or frames is cached_frame_set(model, frames.names)):
            raise InputError(
                f"the frame set {frames.names} is of another model, or of a copy: make one, freeflyer.frame_set(model, ...)")
        return frames
    names = (frames,) if isinstance(frames, str) else frames
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise InputError(f'frames must be a name, a list of names or a frame_set, as in ["left_sole"], got {format_value(frames)}')
    return cached_frame_set(model, tuple(names))


def cached_frame_set(model: Model, names: tuple[str, ...]) -> FrameSet:
    """As `frame_set`, from those that are kept for the model."""
    sets = _cache.get(id(model))
    if sets is None:
        sets = _cache[id(model)] = {}
        weakref.finalize(model, _cache.pop, id(model), None)
    found = sets.get(names)
    if found is None:
        found = _make(model, names, None)
        if len(sets) >= MAX_CACHED_SETS:
            sets.clear()
        sets[names] = found
    return found


def _make(model: Model, names: tuple[str, ...], owner: Model | None) -> FrameSet:
    table = np.array([len(names), *(model.frame(name) for name in names)], np.int64)
    topology = frozen_array(with_table(model.topology, FRAMES, table))
    return FrameSet(names, (len(names), 6), topology, model.parameters, handle(topology, model.parameters, model.code), owner)
