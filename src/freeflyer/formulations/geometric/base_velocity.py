"""Two choices of base velocity, and how derivatives change between them.

EIDAmb takes the base twist in the inertial frame, ^A v; Tables 7 and 8, and the library, in the body frame, ^0 v = ^0 X_A ^A v.
When H moves to H exp(hat(eta)) with ^A v held fixed, ^0 v changes by ^0 v x eta. So for any function f of pose and twist

    df/dH |inertial twist = df/dH |body twist + df/d(^0 v) (^0 v x),        df/d(^A v) = df/d(^0 v) ^0 X_A.
"""

from __future__ import annotations

import numpy as np

from freeflyer.formulations.geometric.algebra import cross


def pose_derivative_with_inertial_twist(by_pose: np.ndarray, by_velocity: np.ndarray, v_body: np.ndarray) -> np.ndarray:
    """df/dH (m, 6) at fixed ^A v, from that at fixed ^0 v and df/d(^0 v) (m, 6); v_body (6,) is ^0 v."""
    return by_pose + by_velocity @ cross(v_body)


def pose_derivative_with_body_twist(by_pose: np.ndarray, by_velocity: np.ndarray, v_body: np.ndarray) -> np.ndarray:
    """df/dH (m, 6) at fixed ^0 v, from that at fixed ^A v (Table 5) and df/d(^0 v) (m, 6; Table 7)."""
    return by_pose - by_velocity @ cross(v_body)


def derivative_by_inertial_twist(by_velocity: np.ndarray, X_0A: np.ndarray) -> np.ndarray:
    """df/d(^A v) (m, 6) from df/d(^0 v); X_0A (6, 6) is ^0 X_A."""
    return by_velocity @ X_0A
