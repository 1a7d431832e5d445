"""Section 5 of the dual quaternion paper: Table 2 with all its cells, Fig 3, and the nonholonomic robot in more detail."""

from __future__ import annotations

from freeflyer.progress import Progress
from freeflyer_papers.dual_quaternion.validation_results import Validation
from freeflyer_papers.dual_quaternion.validation_robots import NONHOLONOMIC
from freeflyer_papers.dual_quaternion.validation_waveforms import METHODS, accelerations, correlate, motions, waveforms
from freeflyer_papers.dual_quaternion.validation_wheels import integrations, sideways_force


def validate(progress: Progress) -> Validation:
    """All of it: a minute or two."""
    progress(0.0, "Table 2: three robots in MuJoCo")
    simulated = motions()
    progress(0.0, "Table 2: accelerations by each method")
    found = {(robot, name): accelerations(METHODS[name], motion) for robot, motion in simulated.items() for name in METHODS}
    correlations = {key: correlate(*key, simulated[key[0]], a) for key, a in found.items()}
    drive = (NONHOLONOMIC, "dqGP")
    figure = waveforms(correlations[drive], simulated[NONHOLONOMIC], found[drive])
    progress(0.0, "the wheels' constraint over 20 s")
    coasting = integrations()
    progress(0.0, "the wheels' sideways force beside MuJoCo's")
    return Validation(tuple(correlations.values()), len(simulated[NONHOLONOMIC].t), figure, coasting, sideways_force())
