"""Every kernel that Python may call, with its inputs: the list that the friendly layers use."""

from __future__ import annotations

from freeflyer.kernels.calls.entry import Entry
from freeflyer.kernels.calls.staged import StagedEntry
from freeflyer.kernels.closed import constraints as loops
from freeflyer.kernels.derivatives import frames as motion_derivatives
from freeflyer.kernels.derivatives import momentum as momentum_derivatives
from freeflyer.kernels.derivatives.forward import (
    forward_dynamics_gradient,
    forward_matrices,
    solved_sizes,
    solved_table,
)
from freeflyer.kernels.derivatives.gradient_rows import inverse_dynamics_gradient, inverse_matrices
from freeflyer.kernels.derivatives.inverse import inverse_table, table_sizes
from freeflyer.kernels.derivatives.linear import linear, linear_matrices, linear_sizes, linear_table
from freeflyer.kernels.model import configuration
from freeflyer.kernels.tree import centroidal, energies, frames, hamel, motions
from freeflyer.kernels.tree.aba import aba
from freeflyer.kernels.tree.coriolis import coriolis
from freeflyer.kernels.tree.crba import crba
from freeflyer.kernels.tree.factor import shared_forward_dynamics, shared_minv
from freeflyer.kernels.tree.gravity import gravity
from freeflyer.kernels.tree.minv import minv
from freeflyer.kernels.tree.rnea import rnea

RNEA = Entry(rnea, "qvv")
ABA = Entry(aba, "qvv", solves=True)
SHARED_FORWARD_DYNAMICS = Entry(shared_forward_dynamics, "qvv", solves=True)
CRBA = Entry(crba, "q", output_axes=(2,))
GRAVITY = Entry(gravity, "q")
MINV = Entry(minv, "q", output_axes=(2,), solves=True)
CORIOLIS = Entry(coriolis, "qv", output_axes=(2,))
HAMEL = Entry(hamel.hamel_coriolis, "qv", output_axes=(2,))
FRAME_POSE = Entry(frames.frame_pose, "q", options=1, output_axes=(2,))
FRAME_JACOBIAN = Entry(frames.frame_jacobian, "q", options=2, output_axes=(2,))
FRAME_VELOCITY = Entry(motions.frame_velocity, "qv", options=2)
FRAME_BIAS = Entry(motions.frame_bias, "qv", options=2)
ALL_MOTIONS = Entry(motions.all_motions, "qv", output_axes=(2, 2, 2))
ALL_POSES = Entry(motions.all_poses, "q", output_axes=(2,))
SHARED_MINV = Entry(shared_minv, "q", output_axes=(2,), solves=True)
COM = Entry(energies.com, "q")
MOMENTUM_MATRIX = Entry(centroidal.momentum_matrix, "q", output_axes=(2,))
MOMENTUM = Entry(centroidal.momentum_vector, "qv")
MOMENTUM_BIAS = Entry(centroidal.momentum_bias, "qv")
KINETIC_ENERGY = Entry(energies.kinetic_energy, "qv")
POTENTIAL_ENERGY = Entry(energies.potential_energy, "q")
INTEGRATE = Entry(configuration.integrate, "qv")
DIFFERENCE = Entry(configuration.difference, "qq")
RNEA_GRADIENT = StagedEntry(inverse_dynamics_gradient, inverse_table, inverse_matrices, table_sizes, "qvv", (2, 2, 2))
ABA_GRADIENT = StagedEntry(
    forward_dynamics_gradient, solved_table, forward_matrices, solved_sizes, "qvv", (2, 2, 2), solves=True
)
CONSTRAINT_RESIDUAL = Entry(loops.constraint_residual, "q")
CONSTRAINTS = Entry(loops.constraints, "q", output_axes=(1, 2))
CONSTRAINT_BIAS = Entry(loops.constraint_bias, "qv")
FRAME_ACCELERATION = Entry(motion_derivatives.frame_acceleration, "qvv", options=2)
FRAME_VELOCITY_DERIVATIVES = Entry(motion_derivatives.frame_velocity_derivatives, "qv", options=2, output_axes=(2,))
FRAME_ACCELERATION_DERIVATIVES = Entry(
    motion_derivatives.frame_acceleration_derivatives, "qvv", options=2, output_axes=(2,)
)
MOMENTUM_RATE = Entry(momentum_derivatives.momentum_rate, "qvv")
MOMENTUM_DERIVATIVES = Entry(momentum_derivatives.momentum_derivatives, "qv", output_axes=(2,))
MOMENTUM_RATE_DERIVATIVES = Entry(momentum_derivatives.momentum_rate_derivatives, "qvv", output_axes=(2,))
LINEAR = StagedEntry(linear, linear_table, linear_matrices, linear_sizes, "qvv", (2, 2), solves=True)
