"""Kangaroo paper, "Modeling and numerical analysis of Kangaroo lower body": Tables I to III, the figures and section III-B.

A part is a module with `compute(robot, progress)`, `tables(result)` and, where there is something to draw, `pictures(result)`;
PARTS lists them, and modules are imported on first use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from freeflyer.progress import Progress
from freeflyer.tables import Table
from freeflyer_papers.kangaroo.captions import CAPTIONS
from freeflyer_papers.paper import Reproduction

__all__ = ["PARTS", "REPRODUCTION", "KangarooResult", "compute"]

PARTS = {
    "mechanisms": "freeflyer_papers.kangaroo.mechanisms",  # Tables I and II
    "closure": "freeflyer_papers.kangaroo.closure",  # the loops' gaps, which Figs 5, 7 and 19 rest on
    "workspace": "freeflyer_papers.kangaroo.workspace",  # Fig 5
    "regions": "freeflyer_papers.kangaroo.regions",  # Figs 7 and 11
    "transmissions": "freeflyer_papers.kangaroo.transmissions",  # Figs 12 to 15
    "squat": "freeflyer_papers.kangaroo.squat",  # Fig 13 on two feet
    "inverse_dynamics": "freeflyer_papers.kangaroo.inverse_dynamics",  # section III-B, Appendix B
    "comparison": "freeflyer_papers.kangaroo.comparison",  # Table III
    "calibration": "freeflyer_papers.kangaroo.calibration",  # Fig 18
    "tracking": "freeflyer_papers.kangaroo.tracking",  # Fig 19, and what estimators cost
    "swing": "freeflyer_papers.kangaroo.swing",  # Figs 21 and 22
    "flight": "freeflyer_papers.kangaroo.flight",  # energy of the closed model, which the paper does not show
}

OWN_DIMENSIONS = (
    "These are our own dimensions, chosen near the paper's figures, not those of the real Kangaroo, whose file is neither given "
    "(--robot kangaroo.xml) nor in the folder FREEFLYER_MODELS."
)


@dataclass(frozen=True)
class KangarooResult:
    """robot: where the numbers come from. parts: the result of each part, by its name in PARTS."""

    robot: str
    parts: dict[str, Any]


def compute(progress: Progress, robot: Path | None = None, peer: Path | None = None) -> KangarooResult:
    """Every part for the robot of a file, against the TALOS of a file.

    Without them: the public model in the folder FREEFLYER_MODELS, else our Kangaroo-like robot, which the name `kangaroo_like` asks
    for, too; and the TALOS of the package example-robot-data, if it is there. Errors: InputError, FileError for wrong files."""
    from freeflyer_papers.kangaroo.robots import find_kangaroo, find_talos, kangaroo, talos

    progress(0.0, "reading robots")
    chosen = kangaroo(find_kangaroo() if robot is None else robot)
    if peer is None:
        peer = find_talos()
    else:
        talos(peer)  # a wrong file is refused before anything long
    results = {}
    for name in PARTS:
        options = {"peer": peer} if name == "comparison" else {}
        results[name] = _part(name).compute(chosen, progress, **options)
    return KangarooResult(chosen.source, results)


def _part(name: str) -> Any:
    import importlib

    return importlib.import_module(PARTS[name])


def _tables(result: Any) -> Sequence[Table]:
    note = OWN_DIMENSIONS if "made by" in result.robot else ""
    own = Table("robot", ("numbers from",), ((result.robot,),), (), note)
    return [own, *(table for name, part in result.parts.items() for table in _part(name).tables(part))]


def _pictures(result: Any) -> dict[str, Any]:
    from freeflyer.plots.style import PRINT_INK, WHITE, style

    found: dict[str, Any] = {}
    with style(WHITE | {"grid.color": "#e3e5e8", "grid.alpha": 1.0}, PRINT_INK):
        for name, part in result.parts.items():
            draw = getattr(_part(name), "pictures", None)
            found |= draw(part) if draw else {}
    return found


REPRODUCTION = Reproduction(
    "kangaroo",
    "Modeling and Numerical Analysis of Kangaroo Lower Body based on Constrained Dynamics of Hybrid Serial-Parallel "
    "Floating-Base Systems",
    compute,
    _tables,
    _pictures,
    options=("robot", "peer"),
    captions=CAPTIONS,
)
