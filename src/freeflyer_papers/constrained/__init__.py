"""Constrained motion by Gauss's principle of least constraint (dual quaternion paper, section 4.5), beside its equations.

    from freeflyer_papers import constrained

    found = constrained.accelerations(model, q, v, tau, constraints=stance)     # .a, .forces
    found = constrained.unilateral_accelerations(model, q, v, tau, inequalities=[constrained.joint_stops(model, q, v)])

`udwadia_kalaba` solves equations by the pseudo-inverse of (62) and (63), in NumPy; `unilateral` is the quadratic program that the
principle becomes with inequalities."""

from freeflyer_papers.constrained.rows import DriftControl, Rows, differential_drive, prescribed_motion
from freeflyer_papers.constrained.udwadia_kalaba import accelerations
from freeflyer_papers.constrained.unilateral import joint_stops, unilateral_accelerations, unilateral_contacts

__all__ = [
    "DriftControl", "Rows", "accelerations", "differential_drive", "joint_stops", "prescribed_motion",
    "unilateral_accelerations", "unilateral_contacts"]
