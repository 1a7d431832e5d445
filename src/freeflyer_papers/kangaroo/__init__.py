"""Kangaroo paper, "Modeling and numerical analysis of Kangaroo lower body": Tables I to III, the figures and section III-B.

A part X is in the module that PARTS names, imported on first use: functions compute_X(robot, progress), tables_X(result) and, if
there is something to draw, pictures_X(result); without "_X" in a module of one part."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from freeflyer.progress import Progress
from freeflyer.tables import Table
from freeflyer_papers.registry import Reproduction, model_file

CAPTIONS = {
    "fig5_manipulability": ("Fig 5: normalised manipulability of the left leg, position above, orientation below. Each measure "
        "is divided by its own largest value. Postures beyond a joint's stop are left out, so the cloud ends below the "
        "paper's, which draws the whole stroke of the leg."),
    "fig7_hip": ("Fig 7: limits of hip roll and pitch through the linkage, and as a box. Left and right are cut by the stop of "
        "the roll joint, as in the paper; above and below by the motors' strokes. The hip of the public model is "
        "over-constrained: where other rows of its loops are solved, its joints stand up to half a degree elsewhere."),
    "fig11_ankle": "Fig 11: the same of the ankle, at the reference length of the leg.",
    "fig12_knee": ("Fig 12: the knee over the stroke of the length motor, with the line of least squares. The paper draws a "
        "line and gives no numbers."),
    "fig13_level_foot": ("Fig 13: the joints while the foot keeps its orientation against the hip; the ankle's motors rest. "
        "Beyond the grey edge the pitch joint of the ankle would pass its stop in the public model; the paper draws the whole "
        "stroke."),
    "fig14_fixed_ankle": ("Fig 14: the joints while the ankle's pitch is kept, as the paper's text says (its caption names the "
        "knee, which cannot stay while the leg retracts); the ankle's motors leave their strokes."),
    "fig15_force": ("Fig 15: force at the sole for 5000 N at the length motor. In between when stretched, largest half way, "
        "smallest when compressed, as in the paper; the height of the curve depends on dimensions, which the paper's axis "
        "gives and its text does not."),
    "fig13_squat": ("Fig 13 on two feet, in MuJoCo: the length motors move, all others hold their places. The paper shows such "
        "a motion in its video. The robot turns round before the ankle's stop."),
    "fig13_squat_course": "The same squat over time: motors, ankle pitch and its stop, tilt of the soles against the floor.",
    "fig18_calibration": ("Fig 18: norm of closure and encoders over Newton's steps, with the paper's encoders, from six "
        "starts and more. The paper takes more, shorter steps, of a gain that it does not give."),
    "fig19_tracking": ("Fig 19: motors and their estimates along sinusoids of our choice, which the paper does not give; "
        "below, how far the loops are open, for ideal and real encoders and two gains."),
    "fig21_stances": ("Fig 21: the extremes of a lateral swing, in MuJoCo where the paper has photographs of the robot; arrows "
        "of equal length are equal forces."),
    "fig22a_forces": ("Fig 22 (a): contact forces from motor forces beside the simulator's contacts, which the hardware cannot "
        "measure. The robot weighs 42 kg with its protection cages, the paper's 36 kg."),
    "fig22b_balance": "Fig 22 (b): zero-moment point and centres of pressure, over time and on the floor."}

PARTS = {
    "mechanisms": "freeflyer_papers.kangaroo.mechanisms",  # Tables I and II
    "closure": "freeflyer_papers.kangaroo.workspace",  # the loops' gaps, which Figs 5, 7 and 19 rest on
    "workspace": "freeflyer_papers.kangaroo.workspace",  # Fig 5
    "regions": "freeflyer_papers.kangaroo.mechanisms",  # Figs 7 and 11
    "transmissions": "freeflyer_papers.kangaroo.transmissions",  # Figs 12 to 15
    "squat": "freeflyer_papers.kangaroo.squat",  # Fig 13 on two feet
    "inverse_dynamics": "freeflyer_papers.kangaroo.inverse_dynamics",  # section III-B, Appendix B
    "comparison": "freeflyer_papers.kangaroo.comparison",  # Table III
    "calibration": "freeflyer_papers.kangaroo.tracking",  # Fig 18
    "tracking": "freeflyer_papers.kangaroo.tracking",  # Fig 19, and what estimators cost
    "swing": "freeflyer_papers.kangaroo.swing",  # Figs 21 and 22
    "flight": "freeflyer_papers.kangaroo.swing",  # energy of the closed model, which the paper does not show
}

OWN_DIMENSIONS = ("These are our own dimensions, chosen near the paper's figures, not those of the real Kangaroo, whose file "
    "is neither given (--robot kangaroo.xml) nor in the folder FREEFLYER_MODELS.")


class KangarooResult(namedtuple("KangarooResult", "robot parts")):
    """robot: where the numbers come from. parts: the result of each part, by its name in PARTS."""


def compute(progress: Progress, robot: Path | None = None, peer: Path | None = None) -> KangarooResult:
    """Every part for the robot of a file, against the TALOS of a file.

    Without them: the public model in the folder FREEFLYER_MODELS, else our Kangaroo-like robot, which the name `kangaroo_like` asks
    for, too; and the TALOS of the package example-robot-data, if it is there. Errors: InputError, FileError for wrong files."""
    from freeflyer.analysis.timing.algorithms import example_urdf
    from freeflyer_papers.kangaroo.robots import kangaroo, talos

    progress(0.0, "reading robots")
    chosen = kangaroo(model_file("kangaroo", "kangaroo.xml") if robot is None else robot)
    if peer is None:
        peer = example_urdf("talos_full_v2.urdf")
    else:
        talos(peer)  # a wrong file is refused before anything long
    results = {}
    for name in PARTS:
        options = {"peer": peer} if name == "comparison" else {}
        results[name] = _part(name, "compute")(chosen, progress, **options)
    return KangarooResult(chosen.source, results)


def _part(name: str, work: str) -> Any:
    """The function `work` of a part, None if there is none."""
    module = import_module(PARTS[name])
    return getattr(module, f"{work}_{name}", getattr(module, work, None))


def _tables(result: Any) -> Sequence[Table]:
    note = OWN_DIMENSIONS if "made by" in result.robot else ""
    own = Table("robot", ("numbers from",), ((result.robot,),), (), note)
    return [own, *(table for name, part in result.parts.items() for table in _part(name, "tables")(part))]


def _pictures(result: Any) -> dict[str, Any]:
    from freeflyer.plots.style import PRINT_INK, WHITE, style

    found: dict[str, Any] = {}
    with style(WHITE | {"grid.color": "#e3e5e8", "grid.alpha": 1.0}, PRINT_INK):
        for name, part in result.parts.items():
            draw = _part(name, "pictures")
            found |= draw(part) if draw else {}
    return found


REPRODUCTION = Reproduction("kangaroo",
    "Modeling and Numerical Analysis of Kangaroo Lower Body based on Constrained Dynamics of Hybrid Serial-Parallel "
    "Floating-Base Systems", compute, _tables, _pictures, options=("robot", "peer"), captions=CAPTIONS)  # fmt: skip
