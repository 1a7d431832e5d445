"""Which velocity coordinates of a model have motors, and which belong to a floating base."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

import numpy as np

from freeflyer.control.inputs import joint_inputs
from freeflyer.model.description import WORLD
from freeflyer.model.frozen import frozen_array
from freeflyer.model.model import Model


def actuated_coordinates(model: Model) -> np.ndarray:
    """Velocities (n,) that the motors of `model.actuated` drive, in their order. Errors: as freeflyer.control.joint_inputs."""
    return _known(_actuated, model, lambda: joint_inputs(model).joints.argmax(axis=0))


def unactuated_coordinates(model: Model) -> np.ndarray:
    """The other velocities, those of a floating base first of all."""
    return _known(_free, model, lambda: np.setdiff1d(np.arange(model.nv), actuated_coordinates(model)))


def base_coordinates(model: Model) -> np.ndarray:
    """Velocities of floating bases."""
    return _known(_base, model, lambda: _of_base(model))


def joint_coordinates(model: Model) -> np.ndarray:
    """Velocities that are not those of a floating base."""
    return _known(_joints, model, lambda: np.setdiff1d(np.arange(model.nv), base_coordinates(model)))


def velocity_places(model: Model) -> np.ndarray:
    """For each velocity of a model, its place in those of its tree."""
    return np.arange(model.nv) if model.reduction is None else np.asarray(model.reduction.split.independent)


def _of_base(model: Model) -> np.ndarray:
    base = {k for j in model.tree.joints if j.kind == "free" and j.parent == WORLD for k in range(j.iv, j.iv + j.nv)}
    return np.array([k for k, i in enumerate(velocity_places(model)) if int(i) in base], int)


_Places = WeakKeyDictionary[Model, np.ndarray]
_actuated: _Places = WeakKeyDictionary()
_free: _Places = WeakKeyDictionary()
_base: _Places = WeakKeyDictionary()
_joints: _Places = WeakKeyDictionary()


def _known(places: _Places, model: Model, find: Callable[[], np.ndarray]) -> np.ndarray:
    try:
        return places[model]
    except KeyError:
        found = places[model] = frozen_array(np.array(find(), int))
        return found
