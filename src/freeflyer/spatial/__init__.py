"""Algebra of rigid motions: poses, rotations, twists, wrenches, dual quaternions, inertias. NumPy, leading axes free.

from freeflyer import spatial as sp
X = sp.se3.exp([0.1, 0.0, 0.3, 0.0, 0.0, 1.2])"""

from freeflyer.spatial import consistency, dual_quaternion, inertia, quaternion, se2, se3, twist, wrench

__all__ = ["consistency", "dual_quaternion", "inertia", "quaternion", "se2", "se3", "twist", "wrench"]
