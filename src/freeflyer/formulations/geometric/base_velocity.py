"""Two choices of base velocity, and how derivatives change between them.

EIDAmb takes the base twist in the inertial frame, ^A v; Tables 7 and 8, and the library, in the body frame, ^0 v = ^0 X_A ^A v.
When H moves to H exp(hat(eta)) with ^A v held fixed, ^0 v changes by ^0 v x eta. So for any function f of pose and twist

    df/dH |inertial twist = df/dH |body twist + df/d(^0 v) (^0 v x),        df/d(^A v) = df/d(^0 v) ^0 X_A."""

from __future__ import annotations

import numpy as np

from freeflyer.formulations.geometric.algebra import cross


def pose_derivative_with_inertial_twist(by_pose: np.ndarray, by_velocity: np.ndarray, v_body: np.ndarray) -> np.ndarray:
    """The derivative df/dH at fixed ^A v, from that at fixed ^0 v; (m, 6), by_pose + by_velocity (^0 v x).

    Args:
        by_pose: (m, 6) array, df/dH at fixed ^0 v.
        by_velocity: (m, 6) array, df/d(^0 v), Table 7.
        v_body: (6,) array, ^0 v.

    Examples:
        >>> model, geometric, rng = ff.robots.space_manipulator(), ff.formulations.geometric, np.random.default_rng(0)
        >>> q, v, a = ff.random_configuration(model, rng), rng.normal(size=13), rng.normal(size=13)
        >>> e = geometric.motion_pass(geometric.tree_of(model), q, v, a)
        >>> body, by_velocity = geometric.derivative_by_pose(e, held="body"), geometric.derivative_by_base_velocity(e)
        >>> inertial = ff.formulations.geometric.pose_derivative_with_inertial_twist(body, by_velocity, v[:6])
        >>> bool(np.allclose(inertial, geometric.derivative_by_pose(e, held="inertial")))
        True
    """
    return by_pose + by_velocity @ cross(v_body)


def pose_derivative_with_body_twist(by_pose: np.ndarray, by_velocity: np.ndarray, v_body: np.ndarray) -> np.ndarray:
    """The derivative df/dH at fixed ^0 v, from that at fixed ^A v; (m, 6), by_pose - by_velocity (^0 v x).

    Args:
        by_pose: (m, 6) array, df/dH at fixed ^A v, Table 5.
        by_velocity: (m, 6) array, df/d(^0 v), Table 7.
        v_body: (6,) array, ^0 v.

    Examples:
        >>> model, geometric, rng = ff.robots.space_manipulator(), ff.formulations.geometric, np.random.default_rng(0)
        >>> q, v, a = ff.random_configuration(model, rng), rng.normal(size=13), rng.normal(size=13)
        >>> e = geometric.motion_pass(geometric.tree_of(model), q, v, a)
        >>> inertial, by_velocity = geometric.derivative_by_pose(e), geometric.derivative_by_base_velocity(e)
        >>> body = ff.formulations.geometric.pose_derivative_with_body_twist(inertial, by_velocity, v[:6])
        >>> bool(np.allclose(body, geometric.derivative_by_pose(e, held="body")))
        True
    """
    return by_pose - by_velocity @ cross(v_body)


def derivative_by_inertial_twist(by_velocity: np.ndarray, X_0A: np.ndarray) -> np.ndarray:
    """The derivative df/d(^A v) from df/d(^0 v), (m, 6), by_velocity ^0 X_A.

    Args:
        by_velocity: (m, 6) array, df/d(^0 v), Table 7.
        X_0A: (6, 6) array, ^0 X_A, `Pass.X[0]`.

    Examples:
        >>> model, geometric, rng = ff.robots.space_manipulator(), ff.formulations.geometric, np.random.default_rng(0)
        >>> q, v, a = ff.random_configuration(model, rng), rng.normal(size=13), rng.normal(size=13)
        >>> e = geometric.motion_pass(geometric.tree_of(model), q, v, a)
        >>> by_velocity = geometric.derivative_by_base_velocity(e)
        >>> by_inertial = ff.formulations.geometric.derivative_by_inertial_twist(by_velocity, e.X[0])
        >>> v_A = np.linalg.solve(e.X[0], v[:6])  # of one motion
        >>> bool(np.allclose(by_inertial @ v_A, by_velocity @ v[:6]))
        True
    """
    return by_velocity @ X_0A
