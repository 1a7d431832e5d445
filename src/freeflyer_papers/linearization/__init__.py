"""Geometric linearisation paper, "Efficient geometric linearization of moving-base rigid robot dynamics": Table 1, Figs 4 and 5,
cost."""

from __future__ import annotations

from freeflyer.analysis.timing.results import machine
from freeflyer.progress import Progress
from freeflyer_papers.linearization import requirements, robot, tables
from freeflyer_papers.registry import Reproduction

CAPTIONS = {
    "fig4_robot": ("Fig 4: a branched robot with a moving base, revolute, prismatic and helical joints, in both postures. Its "
        "dimensions are our own: the paper draws its robot and gives none."),
    "table1_requirements": ("Table 1, two requirements drawn: no attitude is special (left), and (A, B) predicts motions of a "
        "moving base to the second order (right)."),
    "fig5_differences": ("Fig 5: geometric finite differences against the exact linearisation. As in the paper the error falls "
        "with the step until round-off rises; numbers differ with the robot."),
    "cost": "Cost against size, measured and counted, which the paper states as recursive and does not measure."}


def compute(progress: Progress) -> robot.LinearizationResult:
    """All of it; about ten seconds, more where kernels must be compiled first."""
    progress(0.0, "a robot like that of Fig 4")
    model = robot.branched_robot()
    state = robot.perturbed_state(model)
    progress(0.0, "Fig 5: finite differences over all steps")
    compared = requirements.finite_differences(model, state)
    progress(0.0, "the linear prediction of a motion")
    prediction = robot.predict(model, state)
    progress(0.0, "Table 1: all pitches, all motions, complex steps")
    sweep = requirements.pitch_sweep(model, state)
    exact = requirements.exact_derivatives(model, state, compared)
    moving = requirements.moving_base(model, state, prediction)
    progress(0.0, "Table 1: counting operations")
    counts = tuple([requirements.count_operations(n) for n in requirements.COUNTED_SIZES])
    checks = (*requirements.singularity_free(sweep), *moving, *requirements.recursive(counts), *exact)
    progress(0.0, "Table 1: other approaches")
    compared_ways = requirements.approaches(model, state, counts[-1])
    costs = requirements.costs(progress, requirements.SIZES)
    here = machine()
    return robot.LinearizationResult(robot=model.name, nv=model.nv, bodies=len(robot.SHAPE), checks=checks,
        approaches=compared_ways, differences=compared, exact_error=exact[1].value, sweep=sweep, prediction=prediction,
        counts=counts, costs=costs, machine=f"{here.cpu}, {here.cores} cores",
        skeletons=(robot.skeleton(model, model.neutral), robot.skeleton(model, state.q)))  # fmt: skip


REPRODUCTION = Reproduction("linearization", "Efficient geometric linearization of moving-base rigid robot dynamics", compute,
    tables.tables, tables.pictures, captions=CAPTIONS)  # fmt: skip
