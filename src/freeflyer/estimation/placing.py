"""The pose of the base over soles that stay."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freeflyer.contacts.description import Contact
from freeflyer.dynamics.frames import frame_pose
from freeflyer.errors import InputError
from freeflyer.estimation.stance import sole_points
from freeflyer.model.inputs import finite_array, one_row
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.model.rotations import quaternion


@public
def base_over_soles(model: Model, q: np.ndarray, feet: Sequence[Contact], ground: np.ndarray) -> tuple[np.ndarray, float]:
    """The configuration with its free base put where the soles best lie on the ground.

    The soles' points are fitted to their places as one body, in least squares.

    Args:
        model: With a free base.
        q: (nq,) array, configuration of the tree; its joints stay.
        feet: With c points in all.
        ground: (c, 3) array, the points' places in the world, m, in the order of the feet.

    Returns:
        q: (nq,) array.
        misfit: Largest distance of a point from its place, m.
    Raises: InputError for other numbers of points, and points on one line.

    Examples:
        >>> model = ff.robots.kangaroo_like()
        >>> feet, q = ff.contacts.feet_by_name(model), model.neutral
        >>> X = [ff.frame_pose(model, q, foot.frame) for foot in feet]
        >>> ground = np.vstack([foot.points @ x[:3, :3].T + x[:3, 3] for foot, x in zip(feet, X)])
        >>> shift = np.array([0.3, 0.0, 0.1])  # m, of a base that nothing measures
        >>> found, misfit = ff.estimation.base_over_soles(model, np.r_[shift, q[3:]], feet, ground)
        >>> bool(np.allclose(found, q)), f"{misfit:.6f}"
        (True, '0.000000')
    """
    model = model.tree
    q, ground = one_row(model, "q", q, "q"), finite_array("ground", ground)
    if model.joints[0].kind != "free":
        raise InputError(f"the base of {model.name!r} does not move: a robot with a free base is expected")
    here = sole_points(model, q, feet)
    if ground.shape != here.shape:
        raise InputError(f"ground has shape {ground.shape}, expected {here.shape}: a place for each point of the feet")
    a, b = here.mean(axis=0), ground.mean(axis=0)
    U, sizes, V = np.linalg.svd((here - a).T @ (ground - b))
    if not sizes[1] > 1e-12:
        raise InputError("the points of the feet lie on one line: they do not determine the base's orientation")
    R = (U * [1.0, 1.0, np.sign(np.linalg.det(U @ V))] @ V).T
    X = frame_pose(model, q, model.joints[0].child)
    x = q.copy()
    x[:3] = R @ (X[:3, 3] - a) + b
    x[3:7] = quaternion(R @ X[:3, :3])[[1, 2, 3, 0]]
    return x, float(np.linalg.norm((here - a) @ R.T + b - ground, axis=1).max())
