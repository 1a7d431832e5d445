"""Functions of the top level that take a model and arrays of states, and arguments with which they work."""

import freeflyer as ff
import inspect
import math
import numpy as np
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from seeds import fresh
from typing import Any

ROBOT = ff.robots.chain(3, ["spherical", "helical", "planar"], base="free")  # nq 18, nv 16
QUATERNIONS = (3, 7)  # in q of ROBOT and TURNED
FIXED = ff.robots.chain(4)  # nq = nv: sizes alone do not distinguish q from v
TURNED = ff.robots.chain(3, ["spherical", "revolute", "planar"], base="free")  # for MuJoCo, which has no helical joint; same sizes
POSTURES = ("q", "q0", "q1")
RATES = ("v", "a", "tau", "dv", "u", "weights", "along_q", "along_v", "along_a", "bias_forces")
OTHERS = {"frame": "tip", "dt": 0.01}
ANY_LENGTH = "normalize_configuration"  # takes quaternions that others refuse: tested by itself


def parameters(name: str) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(getattr(ff, name)).parameters)


def of_states() -> Iterator[tuple[str, list[str]]]:
    """Public functions of a model and of a state: (name, its arrays)."""
    for name in sorted(ff.__all__):
        if not inspect.isfunction(getattr(ff, name)) or name == ANY_LENGTH:
            continue
        first, *rest = parameters(name).values() or [None]
        needed = {p.name for p in rest if p.default is p.empty and p.kind is not p.VAR_POSITIONAL}
        if getattr(first, "name", "") == "model" and needed and needed <= {*POSTURES, *RATES, *OTHERS}:
            yield name, [p.name for p in rest if p.name in {*POSTURES, *RATES}]


FUNCTIONS = dict(of_states())
FRAMES = [name for name in FUNCTIONS if "frame" in parameters(name)]


def robot_of(name: str) -> ff.Model:
    return TURNED if "mujoco" in name else ROBOT


def good(model: ff.Model, name: str, lead: tuple[int, ...] = (), rng: np.random.Generator | None = None) -> dict[str, np.ndarray]:
    """The arrays that a function takes, by argument."""
    rng = rng or fresh(7)
    return {
        argument: ff.random_configuration(model, rng, lead) if argument in POSTURES else rng.standard_normal((*lead, model.nv))
        for argument in FUNCTIONS[name]
    }


def others(name: str) -> dict[str, Any]:
    return {k: x for k, x in OTHERS.items() if k in parameters(name) and parameters(name)[k].default is inspect.Parameter.empty}


def called(model: ff.Model, name: str, arrays: dict[str, Any], **options: Any) -> Any:
    """The result; of several arrays, all their numbers side by side."""
    result = getattr(ff, name)(model, **{**arrays, **others(name), **options})
    if isinstance(result, ff.AllTerms):
        result = tuple(getattr(result, x) for x, kind in vars(ff.AllTerms).items() if isinstance(kind, property))
        result = tuple(x for x in result if isinstance(x, np.ndarray))
    elif is_dataclass(result):
        result = tuple(getattr(result, f.name) for f in fields(result) if isinstance(getattr(result, f.name), np.ndarray))
    if not isinstance(result, tuple):
        return result
    lead = np.broadcast_shapes(*(np.shape(x)[:-1] for x in arrays.values() if x is not None))
    found = [np.asarray(x) for x in result if x is not None]
    return np.concatenate([x.reshape(*lead, math.prod(x.shape[len(lead) :])) for x in found], axis=-1)
