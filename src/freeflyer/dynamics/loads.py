"""External wrenches and gravity as arguments, as compiled code takes them.

`external` is None, a mapping {frame: wrench (..., 6)}, or (frames, W (..., k, 6)) with the frames as a set or by names. A wrench
[force; torque] acts on the robot, N and N m, in one of three expressions: "body" (the frame's axes, at its origin), "mixed"
(world axes, at the frame's origin), "world" (world axes, about the world's origin). In place of a wrench a force (..., 3) acts at
its frame's origin; in world axes it is a "mixed" wrench. `gravity` is None or (..., 3), m/s^2, in world axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from freeflyer.dynamics.evaluate import evaluate
from freeflyer.dynamics.frame_sets import Frames, FrameSet, cached_frame_set, frames_of
from freeflyer.errors import InputError, format_value
from freeflyer.kernels.entry import Entry
from freeflyer.model import Model, gravity_rows, real_array

Wrenches = Mapping[str, ArrayLike] | tuple[Frames, ArrayLike] | None
NO_WRENCH = np.zeros((0, 6))
Expressed = Literal["body", "mixed", "world"]
EXPRESSED = {"body": 0, "mixed": 1, "world": 2}
AT_ORIGIN = (0, 1, 1)  # expression of forces at the origins of their frames, by the given one


def expression(name: str) -> int:
    try:
        return EXPRESSED[name]
    except (KeyError, TypeError):
        raise InputError(f"expressed must be 'body', 'mixed' or 'world', got {format_value(name)}", expressed=name) from None


def run_loaded(entry: Entry, model: Model, q: Any, v: Any, third: Any, name: str, external: Wrenches, gravity: ArrayLike | None,
               expressed: Expressed, out: Any = None, nan: bool = False) -> Any:
    """The output, or a tuple of several, of an entry that takes gravity and wrenches, for one state or a batch; `name`: of the
    third input."""
    g = model._gravity if gravity is None else gravity if type(gravity) is ndarray else plain_array(gravity)
    if external is None and expressed == "body":
        found = entry.call(model._unloaded, q, v, third, g, NO_WRENCH, 0, out)
        if found is not None:
            return found
    option = EXPRESSED[expressed] if type(expressed) is str and expressed in EXPRESSED else expression(expressed)
    frames, W, option = split_external(model, external, option)
    found = entry.call(frames.handle, q, v, third, g, W, option, out)
    if found is None and type(W) is tuple:  # of a mapping, perhaps to lists
        found = entry.call(frames.handle, q, v, third, g, tuple(map(plain_array, W)), option, out)
    if found is not None:
        return found
    frames, W, option = wrenches(model, external, option)
    inputs, names = (q, v, third, gravity_rows(g), wrench_rows(frames, W)), ("q", "v", name, "gravity", "external")
    return evaluate(entry, model, inputs, names, (option,), out, frames, nan)


def plain_array(x: Any) -> Any:
    """A list or tuple of numbers as the array that compiled code takes at once; anything else, and what is no array, as it is."""
    if type(x) is not list and type(x) is not tuple:
        return x
    try:
        array = np.array(x)
    except ValueError:
        return x
    return array.astype(np.float64, copy=False) if array.dtype.kind in "fi" else x


def split_external(model: Model, external: Wrenches, option: int) -> tuple[FrameSet, Any, int]:
    """(frames, wrenches, expression), the second as they are given where `entry.call` looks at them, else checked."""
    if type(external) is dict:
        return cached_frame_set(model, tuple(external)), tuple(external.values()), option
    if type(external) is tuple and len(external) == 2:
        frames, W = external
        if type(frames) is FrameSet and frames.model is model:
            return frames, W, option
    return wrenches(model, external, option)


def wrenches(model: Model, external: Wrenches, option: int) -> tuple[FrameSet, np.ndarray, int]:
    """(frames, wrenches (..., k, 6), their expression); `option`: the given expression."""
    if type(external) is tuple:
        return check_prepared(model, external, option)
    if external is None:
        return cached_frame_set(model, ()), NO_WRENCH, option
    if not isinstance(external, Mapping):
        raise InputError(f"external must map frame names to wrenches (..., 6), or be (frames, wrenches (..., k, 6)), got "
                         f'{type(external).__name__}: {{"left_sole": [0, 0, 100, 0, 0, 0]}}')
    return stack_wrenches(cached_frame_set(model, tuple(external)), tuple(external.values()), option)


def check_prepared(model: Model, external: tuple[Any, ...], option: int) -> tuple[FrameSet, np.ndarray, int]:
    if len(external) != 2 or not isinstance(external[0], FrameSet | str | Sequence):
        kinds = ", ".join(type(x).__name__ for x in external)
        raise InputError(f"external must be (frames, wrenches (..., k, 6)), got ({kinds})")
    frames, W = frames_of(model, external[0]), external[1]
    W = real_array("external", W)
    if W.shape[-2:] == (len(frames.names), 3):
        return frames, _with_torques(W), AT_ORIGIN[option]
    if W.shape[-2:] != frames.shape:
        raise InputError(f"external holds wrenches of shape {W.shape}, expected (..., {len(frames.names)}, 6): [force; torque] "
            f"on each of {frames.names}, or forces (..., {len(frames.names)}, 3)", shape=W.shape)
    return frames, W, option


def _with_torques(forces: np.ndarray) -> np.ndarray:
    """Wrenches (..., 6) of forces (..., 3), or wrenches as they are."""
    return forces if forces.shape[-1] == 6 else np.concatenate([forces, np.zeros_like(forces)], axis=-1)


def stack_wrenches(frames: FrameSet, given: tuple[ArrayLike, ...], option: int) -> tuple[FrameSet, np.ndarray, int]:
    """(frames, wrenches as one array (..., k, 6), their expression)."""
    if not given:
        return frames, NO_WRENCH, option
    arrays, sizes = [], set()
    for name, wrench in zip(frames.names, given):
        w = real_array(f"the wrench on {name!r}", wrench)
        if w.ndim == 0 or w.shape[-1] not in (3, 6):
            raise InputError(f"the wrench on {name!r} must be [force; torque] of shape (..., 6), or a force (..., 3) there, "
                f"got shape {w.shape}", frame=name)
        sizes.add(w.shape[-1])
        arrays.append(_with_torques(w))
    if len(sizes) > 1 and option == EXPRESSED["world"]:
        raise InputError('external holds forces (..., 3) at origins of frames and wrenches (..., 6) about the world\'s origin: '
            'give all as wrenches (..., 6), or in expressed="mixed"')
    try:
        return frames, np.stack(np.broadcast_arrays(*arrays), axis=-2), AT_ORIGIN[option] if sizes == {3} else option
    except ValueError:
        shown = ", ".join(f"{name!r} {w.shape}" for name, w in zip(frames.names, arrays))
        raise InputError(f"the leading (batch) axes of the wrenches do not broadcast together: {shown}") from None


def wrench_rows(frames: FrameSet, W: np.ndarray) -> np.ndarray:
    """The wrenches (..., k, 6) as float64; InputError for an entry that is not finite, with its frame."""
    W = real_array(f"the wrench on {', '.join(map(repr, frames.names))}", W)
    bad = np.argwhere(~np.isfinite(W))
    if len(bad):
        *state, frame, k = (int(n) for n in bad[0])
        where = f" of state {state}" if state else ""
        raise InputError(f"the wrench on {frames.names[frame]!r}{where} must be finite [force; torque], got {W[tuple(bad[0])]} "
            f"at entry {k}", frame=frames.names[frame], index=(*state, frame, k))
    return W
