"""Why compiled code refused a state of a closed linkage: an open loop, a sub-mechanism that is singular there, or no inertia."""

from __future__ import annotations

import numpy as np

from freeflyer.errors import LinkageError
from freeflyer.kernels.linkages.blocks import OPEN_GAP, REDUNDANT_GAP
from freeflyer.kernels.math.dense import GENERAL_PIVOT
from freeflyer.linkages.graph import structure
from freeflyer.linkages.rows import constraint_loops, constraints
from freeflyer.model.model import Model


def refusal(model: Model, q: np.ndarray, at: tuple[int, ...]) -> LinkageError:
    """The error for the posture q (nq,) of a closed model, the state `at` of a batch."""
    split, blocks = model.reduction.split, model.reduction.blocks
    flat, which = q[None], f"q{list(at)}" if at else "q"
    residual, J = constraints(model.tree, flat)
    gap, loops = np.abs(residual), constraint_loops(model.tree)
    allowed = np.full(gap.shape[-1], REDUNDANT_GAP)
    allowed[split.rows] = OPEN_GAP
    if (gap >= allowed).any():
        k = int(np.nonzero((gap >= allowed).any(axis=-1))[0][0])
        row = int(np.argmax(gap[k] / allowed))
        return LinkageError(
            f"loop {loops[row]!r} is open by {gap[k, row]:.3g} (m or rad) at {which}, closed is within {allowed[row]:g}: assemble "
            "it first (freeflyer.linkages.assemble), or give the tree, whose loops are open (closed.tree)",
            reason="open", loop=loops[row], gap=float(gap[k, row]), state=at[-1] if at else 0,
        )  # fmt: skip
    worst, where = np.inf, 0
    for b, (rows, dependent) in enumerate(blocks):
        values = np.linalg.svd(J[:, rows][:, :, dependent], compute_uv=False)
        ratio = values[:, -1] / np.maximum(values[:, 0], np.abs(J[:, rows]).max(axis=(1, 2)))
        if np.min(ratio) < worst:
            worst, where = float(np.min(ratio)), b
    if worst < 1e3 * GENERAL_PIVOT:
        rows, dependent = blocks[where]
        names = list(dict.fromkeys(loops[r] for r in rows))
        owner = structure(model.tree).owner
        joints = list(dict.fromkeys(owner[j] for j in dependent))
        which = f" at {which}" if at else ""
        return LinkageError(
            f"the sub-mechanism of loops {', '.join(names)} is singular{which}: its joints {', '.join(joints)} do not follow from "
            f"the independent ones there (singular values in the ratio {worst:.2g}); move away from that posture",
            reason="singular", loops=names, joints=joints, ratio=worst, state=at[-1] if at else 0,
        )  # fmt: skip
    return LinkageError(
        f"the projected mass matrix of {model.name!r} is singular: some independent joint moves no inertia. Give its links mass, "
        "give the joint armature, or lock it (freeflyer.lock_joints)",
        reason="inertia",
    )  # fmt: skip
