"""Feedback on the group: what inputs a robot has, what they can hold and steer, and linear-quadratic regulators."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from freeflyer.control.controllable import Controllability, controllability
    from freeflyer.control.costs import energy_costs
    from freeflyer.control.equilibria import Equilibrium, equilibrium
    from freeflyer.control.inputs import Inputs, joint_inputs, rotor_inputs, thruster_inputs, wrench_inputs
    from freeflyer.control.regulator import Regulator, lqr
    from freeflyer.control.tracking import Tracker, track

__all__ = [
    "Controllability", "Equilibrium", "Inputs", "Regulator", "Tracker", "controllability", "energy_costs",
    "equilibrium", "joint_inputs", "lqr", "rotor_inputs", "thruster_inputs", "track", "wrench_inputs",
]  # fmt: skip

_MODULES = {  # loaded on first use
    "controllable": ("Controllability", "controllability"),
    "costs": ("energy_costs",),
    "equilibria": ("Equilibrium", "equilibrium"),
    "inputs": ("Inputs", "joint_inputs", "rotor_inputs", "thruster_inputs", "wrench_inputs"),
    "regulator": ("Regulator", "lqr"),
    "tracking": ("Tracker", "track"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'freeflyer.control' has no attribute {name!r}")
    return getattr(import_module(f"freeflyer.control.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
