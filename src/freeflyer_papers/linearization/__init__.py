"""papers/002, "Efficient geometric linearization of moving-base rigid robot dynamics": Table 1, Figs 4 and 5, cost."""

from __future__ import annotations

from typing import Any

from freeflyer.progress import Progress
from freeflyer_papers.linearization.captions import CAPTIONS
from freeflyer_papers.linearization.results import LinearizationResult
from freeflyer_papers.paper import Reproduction

__all__ = ["REPRODUCTION", "LinearizationResult", "compute"]


def compute(progress: Progress) -> LinearizationResult:
    """All of it; about ten seconds, more where kernels must be compiled first."""
    from freeflyer.analysis.timing.clock import machine
    from freeflyer_papers.linearization import approaches, cost, differences, recursion, requirements, robot, trajectory

    progress(0.0, "a robot like that of Fig 4")
    model = robot.branched_robot()
    state = robot.perturbed_state(model)
    progress(0.0, "Fig 5: finite differences over all steps")
    compared = differences.finite_differences(model, state)
    progress(0.0, "the linear prediction of a motion")
    prediction = trajectory.predict(model, state)
    progress(0.0, "Table 1: all pitches, all motions, complex steps")
    sweep = requirements.pitch_sweep(model, state)
    exact = requirements.exact_derivatives(model, state, compared)
    moving = requirements.moving_base(model, state, prediction)
    progress(0.0, "Table 1: counting operations")
    counts = recursion.count_operations(recursion.SIZES)
    checks = (*requirements.singularity_free(sweep), *moving, *recursion.recursive(counts), *exact)
    progress(0.0, "Table 1: other approaches")
    compared_ways = approaches.approaches(model, state, counts[-1])
    costs = cost.costs(progress, cost.SIZES)
    here = machine()
    return LinearizationResult(
        robot=model.name, nv=model.nv, bodies=len(robot.SHAPE), checks=checks, approaches=compared_ways, differences=compared,
        exact_error=exact[1].value, sweep=sweep, prediction=prediction, counts=counts, costs=costs,
        machine=f"{here.cpu}, {here.cores} cores",
        skeletons=(robot.skeleton(model, model.neutral), robot.skeleton(model, state.q)),
    )  # fmt: skip


def _tables(result: Any) -> Any:
    from freeflyer_papers.linearization.tables import tables

    return tables(result)


def _pictures(result: Any) -> Any:
    from freeflyer_papers.linearization.pictures import pictures

    return pictures(result)


REPRODUCTION = Reproduction(
    "linearization",
    "Efficient geometric linearization of moving-base rigid robot dynamics",
    compute,
    _tables,
    _pictures,
    captions=CAPTIONS,
)
