"""Public names of the room and where they are defined; each is imported when it is first used."""

from .controllable import Controllability as Controllability, controllability as controllability
from .costs import energy_costs as energy_costs
from .equilibria import Equilibrium as Equilibrium, equilibrium as equilibrium
from .inputs import (
    Inputs as Inputs,
    joint_inputs as joint_inputs,
    rotor_inputs as rotor_inputs,
    thruster_inputs as thruster_inputs,
    wrench_inputs as wrench_inputs,
)
from .regulator import Regulator as Regulator, lqr as lqr
from .tracking import Tracker as Tracker, track as track
