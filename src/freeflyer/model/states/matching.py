"""Which coordinates of another library's robot are which of ours, found by the names of joints; checks of what comes from there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from freeflyer.errors import InputError
from freeflyer.model.description import WORLD
from freeflyer.model.inputs import real_array
from freeflyer.model.model import JointInfo, Model


@dataclass(frozen=True, eq=False)
class Matched:
    """v_from (nv,): the coordinate there for each of ours, -1 where they lack it. leaders (nv there,): ours that moves each of
    theirs, times `ratios`, -1 where it stands still here; followers: those of theirs that only follow."""

    v_from: np.ndarray
    leaders: np.ndarray
    ratios: np.ndarray
    followers: np.ndarray


def match_joints(model: Model, nv: int, pairs: list[tuple[int, int]], followed: list[tuple[int, int, float]]) -> Matched:
    """pairs: (ours, theirs); followed: (theirs, our leader, ratio)."""
    v_from, leaders, ratios = np.full(model.nv, -1), np.full(nv, -1), np.ones(nv)
    for ours, theirs in pairs:
        v_from[ours], leaders[theirs] = theirs, ours
    for theirs, ours, ratio in followed:
        leaders[theirs], ratios[theirs] = ours, ratio
    return Matched(v_from, leaders, ratios, np.array([k for k, _, _ in followed], dtype=np.int64))


def is_base(joint: JointInfo) -> bool:
    """Whether it is a joint by which `load` lets a robot move as a whole."""
    return joint.parent == WORLD and joint.kind in ("free", "planar")


def check_all_found(model: Model, found: set[str], whose: str, cure: str) -> None:
    """InputError if a joint of ours, but a base, has no counterpart there."""
    missing = [j.name for j in model.joints if j.mimic is None and j.name not in found and not is_base(j)]
    if missing:
        shown = ", ".join(missing[:6]) + (f", ... ({len(missing)} in all)" if len(missing) > 6 else "")
        raise InputError(f"{whose} lacks joints that the model {model.name!r} has: {shown}. {cure}", joints=tuple(missing))


def check_size(name: str, x: Any, n: int, whose: str) -> np.ndarray:
    """x as an array (..., n) of finite numbers; InputError otherwise."""
    array = real_array(name, x)
    if array.ndim == 0 or array.shape[-1] != n:
        raise InputError(f"{name} has shape {array.shape}, expected (..., {n}), {whose}", name=name, shape=array.shape, expected=n)
    if not np.isfinite(array).all():
        at = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        raise InputError(f"{name}{list(at)} is {array[at]}: every entry must be finite", name=name, index=at)
    return array
