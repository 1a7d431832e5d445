"""Motions in time: one loop for trees, closed robots and constraint sets, with events, and MuJoCo as an independent plant."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from freeflyer.sim.changes import Change
    from freeflyer.sim.events import Event, Occurrence
    from freeflyer.sim.floor_contacts import unilateral_events
    from freeflyer.sim.mujoco_run import simulate_in_mujoco
    from freeflyer.sim.mujoco_scene import Plant, mujoco_plant
    from freeflyer.sim.mujoco_spec import Servos
    from freeflyer.sim.replaying import replay
    from freeflyer.sim.run import Run, load
    from freeflyer.sim.sensing import Sensing
    from freeflyer.sim.simulating import simulate
    from freeflyer.sim.state import State

__all__ = [
    "Change", "Event", "Occurrence", "Plant", "Run", "Sensing", "Servos", "State", "load", "mujoco_plant", "replay", "simulate",
    "simulate_in_mujoco", "unilateral_events",
]  # fmt: skip

_MODULES = {  # loaded on first use
    "changes": ("Change",),
    "events": ("Event", "Occurrence"),
    "mujoco_scene": ("Plant", "mujoco_plant"),
    "mujoco_run": ("simulate_in_mujoco",),
    "mujoco_spec": ("Servos",),
    "replaying": ("replay",),
    "run": ("Run", "load"),
    "sensing": ("Sensing",),
    "simulating": ("simulate",),
    "state": ("State",),
    "floor_contacts": ("unilateral_events",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'freeflyer.sim' has no attribute {name!r}")
    return getattr(import_module(f"freeflyer.sim.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
