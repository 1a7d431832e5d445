"""Coordinates that nothing resists: where the mass matrix is singular, and because of which joints."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from freeflyer.analysis.checks.findings import Finding
from freeflyer.analysis.checks.laws import scale_to_unit_diagonal
from freeflyer.analysis.checks.states import random_states
from freeflyer.dynamics.equations import mass_matrix
from freeflyer.model.model import Model
from freeflyer.tolerances import MIN_DIAGONAL_RATIO, MIN_EIGENVALUE


def coordinate_joints(model: Model) -> list[str]:
    """The joint of each velocity coordinate (nv names)."""
    names = [""] * model.nv
    for joint in model.joints:
        for i in range(joint.iv, joint.iv + joint.nv):
            names[i] = names[i] or joint.name
    return names


def singular_findings(model: Model, seed: int = 0) -> Iterator[Finding]:
    """Joints without inertia at a random posture, where accidents of the neutral one don't show."""
    if model.nv == 0:
        return
    M = mass_matrix(model, random_states(model, 1, seed).q[0])
    names = coordinate_joints(model)
    if not np.all(np.isfinite(M)):
        yield Finding(
            "error", "mass-matrix-not-finite", model.name, "its mass matrix has entries that are not finite numbers"
        )
        return
    diagonal = np.diagonal(M)
    free = diagonal <= MIN_DIAGONAL_RATIO * diagonal.max()
    for name in dict.fromkeys(names[i] for i in np.flatnonzero(free)):
        inertia = float(min(diagonal[i] for i in range(model.nv) if names[i] == name))
        sentence = (
            f"nothing resists its motion (inertia {inertia:.3g}): the mass matrix is singular; add mass or armature"
        )
        yield Finding("error", "no-inertia", name, sentence, {"inertia": inertia})
    rest = np.flatnonzero(~free)
    if not len(rest):
        return
    values, vectors = np.linalg.eigh(scale_to_unit_diagonal(M[np.ix_(rest, rest)]))
    if values[0] <= MIN_EIGENVALUE:
        strongest = rest[np.argsort(-np.abs(vectors[:, 0]))[:4]]
        moved = ", ".join(dict.fromkeys(repr(names[i]) for i in strongest))
        sentence = (
            f"its mass matrix is singular: moving {moved} together meets no inertia "
            f"(smallest eigenvalue {values[0]:.2g} of the unit-free matrix)"
        )
        yield Finding("error", "singular-mass-matrix", model.name, sentence, {"eigenvalue": float(values[0])})
