"""Public names of the room and where they are defined; each is imported when it is first used."""

from .contact import (
    low_pass as low_pass, pressure_centers as pressure_centers, screw_force as screw_force,
    world_wrenches as world_wrenches, zero_moment_point as zero_moment_point)
from .calibration import (
    CalibrationError as CalibrationError, calibrate as calibrate, select_encoders as select_encoders)
from .contact import (
    ContactEstimate as ContactEstimate, contact_model as contact_model, contact_wrenches as contact_wrenches)
from .history import contact_history as contact_history
from .passive import (
    PassiveState as PassiveState, closed_torques as closed_torques, constraint_error as constraint_error,
    passive_state as passive_state, update_passive_state as update_passive_state)
from .passive import Sensors as Sensors, sensors as sensors
from .stance import base_over_soles as base_over_soles
