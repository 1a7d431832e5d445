"""Other formulations, each imported when it is first used."""

from .methods import (
    appell_function as appell_function, coriolis_matrix as coriolis_matrix, forward_dynamics as forward_dynamics,
    gravity_forces as gravity_forces, inverse_dynamics as inverse_dynamics, mass_matrix as mass_matrix)
