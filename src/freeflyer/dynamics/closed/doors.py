"""The kernels of closed linkages that Python may call, on the arrays of a `Projection`'s model."""

from __future__ import annotations

from freeflyer.kernels import linkage_motion, linkage_steps, projection, projection_derivatives, projection_rates
from freeflyer.kernels.entry import Entry

MAP = Entry(projection.projection_map, "q", output_axes=(2,), solves=True)
MOTION = Entry(projection.projected_motion, "quu", output_axes=(1, 1), solves=True)
MASS = Entry(projection.projected_mass, "q", output_axes=(2,), solves=True)
INVERSE_MASS = Entry(projection.projected_inverse_mass, "q", output_axes=(2,), solves=True)
INVERSE_DYNAMICS = Entry(projection.projected_inverse_dynamics, "quu", solves=True)
FORWARD_DYNAMICS = Entry(projection.projected_forward_dynamics, "quu", solves=True)
EQUATIONS = Entry(projection.projected_equations, "qu", output_axes=(2, 1), solves=True)
SHARED_FORCES = Entry(projection.shared_forces, "qv", output_axes=(1, 1), solves=True)
DRIVING_FORCES = Entry(projection.driving_forces, "quu", output_axes=(1, 1), solves=True)
MOVE = Entry(linkage_motion.move_closed, "qu", solves=True)
MAP_RATES = Entry(projection_rates.map_rates, "qu", output_axes=(2,), solves=True)
DERIVATIVES = Entry(projection_derivatives.projected_derivatives, "quu", output_axes=(2, 2), solves=True)
FORCE_DERIVATIVES = Entry(projection_rates.projected_force_derivatives, "qv", output_axes=(2,), solves=True)
STEP = Entry(linkage_steps.step_closed, "qu", output_axes=(1, 1))
