"""What a robot cannot measure, from what it can: passive joints, encoder offsets, contact wrenches, ZMP. papers/000, VI."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from freeflyer.papers.kangaroo.tracking_accuracy import Encoder, Sinusoids, Tracking, sinusoids, track
    from freeflyer.estimation.balance import low_pass, pressure_centers, screw_force, world_wrenches, zero_moment_point
    from freeflyer.estimation.calibration import Calibration, CalibrationError, calibrate
    from freeflyer.papers.kangaroo.swing_comparison import Swing
    from freeflyer.estimation.contact import ContactEstimate, ContactModel, contact_model, contact_wrenches
    from freeflyer.estimation.encoders import EncoderSelection, select_encoders
    from freeflyer.estimation.history import ContactHistory, contact_history
    from freeflyer.estimation.passive import PassiveState, constraint_error, start, step
    from freeflyer.estimation.placing import base_over_soles
    from freeflyer.estimation.sensing import Sensors, sensors
    from freeflyer.papers.kangaroo.swing_motion import Sway
    from freeflyer.papers.kangaroo.lateral_swing import lateral_swing
    from freeflyer.estimation.torques import closed_torques

__all__ = [
    "Calibration", "CalibrationError", "ContactEstimate", "ContactHistory", "ContactModel", "Encoder",
    "EncoderSelection", "PassiveState", "Sensors", "Sinusoids", "Sway", "Swing", "Tracking", "base_over_soles",
    "calibrate", "closed_torques", "constraint_error", "contact_history", "contact_model", "contact_wrenches",
    "lateral_swing", "low_pass", "pressure_centers", "screw_force", "select_encoders", "sensors", "sinusoids", "start",
    "step", "track", "world_wrenches", "zero_moment_point",
]  # fmt: skip

_MODULES = {  # loaded on first use
    "accuracy": ("Encoder", "Sinusoids", "EncoderSelection", "Tracking", "sinusoids", "track"),
    "balance": ("low_pass", "pressure_centers", "screw_force", "world_wrenches", "zero_moment_point"),
    "calibration": ("Calibration", "CalibrationError", "calibrate"),
    "comparison": ("Swing",),
    "contact": ("ContactEstimate", "ContactModel", "contact_model", "contact_wrenches"),
    "encoders": ("EncoderSelection", "select_encoders"),
    "history": ("ContactHistory", "contact_history"),
    "passive": ("PassiveState", "constraint_error", "start", "step"),
    "placing": ("base_over_soles",),
    "sensing": ("Sensors", "sensors"),
    "sway": ("Sway",),
    "swing": ("lateral_swing",),
    "torques": ("closed_torques",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'freeflyer.estimation' has no attribute {name!r}")
    return getattr(import_module(f"freeflyer.estimation.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
