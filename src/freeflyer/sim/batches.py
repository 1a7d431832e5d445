"""Robots of a batch: numbers of each, parts of the arguments, and the run of all gathered from runs of parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from freeflyer.errors import InputError
from freeflyer.model.inputs import LARGEST, finite_array, number

Place = slice | int  # of the first leading axis: robots beside each other, or a single one without that axis


def by_name(tables: Sequence[Mapping[str, np.ndarray]], join: Callable[[list[Any]], np.ndarray]) -> dict[str, np.ndarray]:
    """{name: what `join` makes of the values in all tables}, None where a table has none."""
    return {name: join([x.get(name) for x in tables]) for name in dict.fromkeys(name for x in tables for name in x)}


def each(name: str, x: Any, least: float = -LARGEST, most: float = LARGEST) -> Any:
    """x as a float, or as an array (...,) of such numbers, one for each robot."""
    if np.ndim(x) == 0:
        return number(name, x, least, most)
    found = np.array(finite_array(name, x))
    for k in np.flatnonzero((found < least) | (found > most))[:1]:
        number(f"{name}[{', '.join(map(str, np.unravel_index(k, found.shape)))}]", float(found.flat[k]), least, most)
    found.flags.writeable = False
    return found


def check_each(name: str, shape: tuple[int, ...], lead: tuple[int, ...]) -> None:
    """InputError for leading axes of a number that are not those of q and v."""
    if len(shape) > len(lead) or any(a not in (1, b) for a, b in zip(reversed(shape), reversed(lead))):
        raise InputError(
            f"{name} is given for robots {shape}, but q and v have leading axes {lead}: give one for all, or one for each of these",
            name=name, shape=shape, expected=lead)  # fmt: skip


def taken(name: str, x: Any, axes: int, lead: tuple[int, ...], place: Place) -> Any:
    """A part of x, whose last `axes` axes belong to one robot; what all robots share stays."""
    if np.ndim(x) - axes < len(lead):
        return x
    x = np.asarray(x)
    check_each(name, x.shape[: x.ndim - axes], lead)
    return np.broadcast_to(x, (*lead, *x.shape[len(lead) :]))[place]
