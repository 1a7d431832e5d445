"""jcalc and jcalcderiv of the geometric linearisation paper, Tables 4 and 6: the joint kinds, as functions of the configuration.

Gamma does not depend on the position for any kind (its axes are the child's), so only the transformation does. For joints whose
position is in a group (spherical, free), the derivative is the left-trivialised one: along q (+) dv."""

from __future__ import annotations

import numpy as np

from freeflyer.formulations.geometric.algebra import cross, inverse_transform, pose, rotation_of_quaternion, zeros
from freeflyer.formulations.geometric.tree import Tree
from freeflyer.kernels.model import layout as L


def jcalc(tree: Tree, i: int, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(^i X_{lambda(i)|i} (6, 6), Gamma_Ji (6, k)) at configuration q (nq,)."""
    return inverse_transform(*_displacement(tree, i, q)), tree.gamma[i]


def jcalcderiv(tree: Tree, i: int, X: np.ndarray) -> np.ndarray:
    """d ^i X_{lambda(i)|i} / d s_i (k, 6, 6), where X is ^i X_{lambda(i)|i}.

    The child moves by exp(Gamma d), so X becomes exp(-(Gamma d) x) X: minus Gamma x X in each direction."""
    gamma = tree.gamma[i]
    return np.array([-cross(gamma[:, k]) @ X for k in range(gamma.shape[1])])


def base_pose(tree: Tree, q: np.ndarray) -> np.ndarray:
    """The pose of the base in the world at a configuration, (4, 4), ^A H_0; the identity where the base is the world.

    Args:
        q: (nq,) array, configuration, of any scalar (real, complex, object); not checked.

    Examples:
        >>> model = ff.robots.space_manipulator()
        >>> tree, q = ff.formulations.geometric.tree_of(model), ff.random_configuration(model, np.random.default_rng(0))
        >>> bool(np.allclose(ff.formulations.geometric.base_pose(tree, q), ff.frame_pose(model, q, "satellite")))
        True
    """
    return tree.mount @ pose(*_displacement(tree, 0, q)) if tree.moving else tree.mount


def _displacement(tree: Tree, i: int, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotation (3, 3) and origin (3,) of the moving frame in the joint's resting frame."""
    first, kind = tree.first_q[i], tree.kind[i]
    if kind == L.SCREW:
        turn, slide, turn_offset, slide_offset = tree.screw[i]
        angle = turn * q[first] + turn_offset
        R, o = zeros((3, 3), q.dtype), zeros(3, q.dtype)
        c, s = np.cos(angle), np.sin(angle)
        R[0, 0], R[0, 1], R[1, 0], R[1, 1], R[2, 2] = c, -s, s, c, 1.0
        o[2] = slide * q[first] + slide_offset
        return R, o
    if kind == L.BALL:
        return rotation_of_quaternion(q[first : first + 4]), zeros(3, q.dtype)
    return rotation_of_quaternion(q[first + 3 : first + 7]), q[first : first + 3]
