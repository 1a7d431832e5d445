"""Robots made by code, so that nothing must be downloaded; `names` lists them and `make` makes one by its name."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from freeflyer.errors import InputError, unknown_name
from freeflyer.model import Model
from freeflyer.robots.chain import chain
from freeflyer.robots.humanoid import humanoid
from freeflyer.robots.kangaroo import kangaroo_like
from freeflyer.robots.legged import prismatic_hopper, quadruped, revolute_hopper, standing_posture
from freeflyer.robots.mobile import aerial_manipulator, differential_drive_manipulator, holonomic_manipulator, space_manipulator

__all__ = [
    "aerial_manipulator", "chain", "differential_drive_manipulator", "holonomic_manipulator", "humanoid",
    "kangaroo_like", "make", "names", "prismatic_hopper", "quadruped", "revolute_hopper", "space_manipulator", "standing_posture"]

_MAKERS: dict[str, Callable[..., Model]] = {
    maker.__name__: maker
    for maker in (
        aerial_manipulator, chain, differential_drive_manipulator, holonomic_manipulator, humanoid,
        kangaroo_like, prismatic_hopper, quadruped, revolute_hopper, space_manipulator)}


def names() -> tuple[str, ...]:
    """Names of the robots of `make`, sorted."""
    return tuple(sorted(_MAKERS))


def make(name: str, **options: object) -> Model:
    """Model of the robot of that name.

    Args:
        **options: Arguments of the function so named."""
    maker = _MAKERS.get(name) if isinstance(name, str) else None
    if maker is None:
        raise unknown_name("built-in robot", name, names())
    known = inspect.signature(maker).parameters
    strange = [option for option in options if option not in known]
    if strange:
        allowed = f"it takes {', '.join(known)}" if known else "it takes none"
        raise InputError(f"robot {name!r} has no option {strange[0]!r}: {allowed}.", robot=name, known=list(known))
    return maker(**options)
