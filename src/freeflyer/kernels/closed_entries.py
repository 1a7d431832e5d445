"""Every kernel of closed linkages that Python may call, with its inputs, on topologies that hold a linkage (linkage_layout.py)."""

from __future__ import annotations

from freeflyer.kernels.calls.entry import Entry
from freeflyer.kernels.closed import (
    constrained,
    projection,
    projection_derivatives,
    projection_gradients,
    projection_rates,
)
from freeflyer.kernels.closed import motion as linkage_motion
from freeflyer.kernels.closed import steps as linkage_steps

PROJECTION_MAP = Entry(projection.projection_map, "q", output_axes=(2,), solves=True)
PROJECTED_MOTION = Entry(projection.projected_motion, "quu", output_axes=(1, 1), solves=True)
PROJECTED_MASS = Entry(projection.projected_mass, "q", output_axes=(2,), solves=True)
PROJECTED_INVERSE_MASS = Entry(projection.projected_inverse_mass, "q", output_axes=(2,), solves=True)
PROJECTED_INVERSE_DYNAMICS = Entry(projection.projected_inverse_dynamics, "quu", solves=True)
PROJECTED_FORWARD_DYNAMICS = Entry(projection.projected_forward_dynamics, "quu", solves=True)
PROJECTED_EQUATIONS = Entry(projection.projected_equations, "qu", output_axes=(2, 1), solves=True)
CONSTRAINED_ACCELERATIONS = Entry(constrained.constrained_accelerations, "qvv", output_axes=(1, 1), solves=True)
SHARED_FORCES = Entry(projection.shared_forces, "qv", output_axes=(1, 1), solves=True)
DRIVING_FORCES = Entry(projection.driving_forces, "quu", output_axes=(1, 1), solves=True)
MOVE_CLOSED = Entry(linkage_motion.move_closed, "qu", solves=True)
STEP_CLOSED = Entry(linkage_steps.step_closed, "qu", output_axes=(1, 1))
MAP_RATES = Entry(projection_rates.map_rates, "qu", output_axes=(2,), solves=True)
PROJECTED_DERIVATIVES = Entry(projection_derivatives.projected_derivatives, "quu", output_axes=(2, 2), solves=True)
PROJECTED_INVERSE_GRADIENT = Entry(projection_gradients.projected_inverse_gradient, "quu", output_axes=(2, 2, 2), solves=True)
PROJECTED_FORWARD_GRADIENT = Entry(projection_gradients.projected_forward_gradient, "quu", output_axes=(2, 2, 2), solves=True)
PROJECTED_FORCE_DERIVATIVES = Entry(projection_rates.projected_force_derivatives, "qv", output_axes=(2,), solves=True)
