"""Every kernel that Python may call: inputs, shapes of outputs, options. Checks, plain Python, batches and docs read this table."""

from __future__ import annotations

from typing import Any

from freeflyer.kernels.control.layout import CONTROL, N_PLAN, N_PROGRESS
from freeflyer.kernels.entry import Dimension, Entry
from freeflyer.kernels.model.layout import FRAMES, MEASURED, PLAN, PROGRAMS, SETS, STANDING, SYSTEMS
from freeflyer.kernels.optimization.layout import HIERARCHIES
from freeflyer.kernels.sim.layout import FACTS, GROUND, SAMPLES

VECTOR, MATRIX, REDUCED = ("nv",), ("nv", "nv"), ("nu", "nu")
FRAME = ("frame", "expressed")
CLOSED = {"square": True, "closed": True}  # on models that hold a linkage (model/layout.py)


def entry(source: str, inputs: str, *outputs: tuple[Dimension, ...], name: str = "", **facts: Any) -> Entry:
    """An entry by the dotted name of its kernel; its own name is the last part, unless another is given."""
    return Entry(name or source.rpartition(".")[2], source, inputs, outputs, **facts)


# fmt: off
RNEA = entry("tree.rnea.rnea", "qvv", VECTOR)
ABA = entry("tree.aba.aba", "qvv", VECTOR)
SHARED_FORWARD_DYNAMICS = entry("tree.factor.shared_forward_dynamics", "qvv", VECTOR, square=True)
CRBA = entry("tree.mass_matrix.crba", "q", MATRIX, square=True)
GRAVITY = entry("tree.energies.gravity", "q", VECTOR)
MINV = entry("tree.mass_matrix.minv", "q", MATRIX, square=True)
CORIOLIS = entry("derivatives.coriolis.coriolis", "qv", MATRIX, square=True)
HAMEL = entry("derivatives.coriolis.hamel_coriolis", "qv", MATRIX, name="hamel", square=True)
DECOUPLED_PASSIVE = entry("derivatives.decoupling.decoupled_passive", "qv", MATRIX, MATRIX, (6, "nv"), (6, "nv"), square=True)
DECOUPLED_HAMEL = entry("derivatives.decoupling.decoupled_hamel", "qv", MATRIX, MATRIX, (6, "nv"), (6, "nv"), square=True)
FRAME_POSE = entry("tree.frames.frame_pose", "q", (4, 4), options=("frame",))
FRAME_JACOBIAN = entry("tree.frames.frame_jacobian", "q", (6, "nv"), options=FRAME)
FRAME_VELOCITY = entry("derivatives.frames.frame_velocity", "qv", (6,), options=FRAME)
FRAME_BIAS = entry("derivatives.frames.frame_bias", "qv", (6,), options=FRAME)
ALL_MOTIONS = entry("tree.frames.all_motions", "qv", ("bodies", 12), ("bodies", 12), ("columns", 6))
ALL_POSES = entry("tree.frames.all_poses", "q", ("bodies", 12))
SHARED_MINV = entry("tree.factor.shared_minv", "q", MATRIX, square=True)
COM = entry("tree.energies.com", "q", (3,))
MOMENTUM_MATRIX = entry("tree.centroidal.momentum_matrix", "q", (6, "nv"))
MOMENTUM = entry("tree.centroidal.momentum_vector", "qv", (6,), name="momentum")
MOMENTUM_BIAS = entry("tree.centroidal.momentum_bias", "qv", (6,))
KINETIC_ENERGY = entry("tree.energies.kinetic_energy", "qv", (1,))
POTENTIAL_ENERGY = entry("tree.energies.potential_energy", "q", (1,))
INTEGRATE = entry("model.joints.kinds.integrate", "qv", ("nq",))
DIFFERENCE = entry("model.joints.kinds.difference", "qq", VECTOR)
RNEA_GRADIENT = entry("derivatives.forward.rnea_gradient", "qvv", *(MATRIX,) * 3, square=True)
ABA_GRADIENT = entry("derivatives.forward.aba_gradient", "qvv", *(MATRIX,) * 3, square=True)
LINEAR = entry("derivatives.forward.linear", "qvv", ("2 nv", "2 nv"), ("2 nv", "nv"), square=True)
CONSTRAINT_RESIDUAL = entry("linkages.constraints.constraint_residual", "q", ("rows",), square=True)
CONSTRAINTS = entry("linkages.constraints.constraints", "q", ("rows",), ("rows", "nv"), square=True)
CONSTRAINT_BIAS = entry("linkages.constraints.constraint_bias", "qv", ("rows",), square=True)
FRAME_ACCELERATION = entry("derivatives.frames.frame_acceleration", "qvv", (6,), options=FRAME)
FRAME_VELOCITY_DERIVATIVES = entry("derivatives.frames.frame_velocity_derivatives", "qv", *((6, "nv"),) * 2, options=FRAME,
    square=True)
FRAME_ACCELERATION_DERIVATIVES = entry("derivatives.frames.frame_acceleration_derivatives", "qvv", *((6, "nv"),) * 3,
    options=FRAME, square=True)
MOMENTUM_RATE = entry("tree.centroidal.momentum_rate", "qvv", (6,))
MOMENTUM_DERIVATIVES = entry("derivatives.momentum.momentum_derivatives", "qv", *((6, "nv"),) * 2, square=True)
MOMENTUM_RATE_DERIVATIVES = entry("derivatives.momentum.momentum_rate_derivatives", "qvv", *((6, "nv"),) * 3, square=True)
# under gravity (3,) and wrenches on frames, listed in a table, that are inputs
LOADED = {"options": ("expressed",), "table": FRAMES}
LOADED_RNEA = entry("tree.rnea.loaded_rnea", "qvvgw", VECTOR, **LOADED)
LOADED_ABA = entry("tree.aba.loaded_aba", "qvvgw", VECTOR, **LOADED)
LOADED_SHARED_FORWARD_DYNAMICS = entry("tree.factor.loaded_shared_forward_dynamics", "qvvgw", VECTOR, square=True, **LOADED)
GIVEN_GRAVITY = entry("tree.energies.given_gravity", "qg", VECTOR)
POTENTIAL_ENERGY_UNDER = entry("tree.energies.potential_energy_under", "qg", (1,))
LOADED_RNEA_GRADIENT = entry("derivatives.forward.loaded_rnea_gradient", "qvvgw", *(MATRIX,) * 3, square=True, **LOADED)
LOADED_ABA_GRADIENT = entry("derivatives.forward.loaded_aba_gradient", "qvvgw", *(MATRIX,) * 3, square=True, **LOADED)
LOADED_LINEAR = entry("derivatives.forward.loaded_linear", "qvvgw", ("2 nv", "2 nv"), ("2 nv", "nv"), square=True, **LOADED)
ALL_TERMS = entry("tree.all_terms.all_terms", "qvg", MATRIX, (2, "nv"), (6, "nv"), (3, "nv"), (15,), ("table 0", 16),
    ("table 0", 12), ("6 table 0", "nv"), square=True, **LOADED)

PROJECTION_MAP = entry("linkages.projection.projection_map", "q", ("nv", "nu"), **CLOSED)
PROJECTED_MOTION = entry("linkages.projection.projected_motion", "quu", VECTOR, VECTOR, **CLOSED)
PROJECTED_MASS = entry("linkages.projection.projected_mass", "q", REDUCED, **CLOSED)
PROJECTED_INVERSE_MASS = entry("linkages.projection.projected_inverse_mass", "q", REDUCED, **CLOSED)
PROJECTED_INVERSE_DYNAMICS = entry("linkages.projection.projected_inverse_dynamics", "quu", ("nu",), **CLOSED)
PROJECTED_FORWARD_DYNAMICS = entry("linkages.projection.projected_forward_dynamics", "quu", ("nu",), **CLOSED)
PROJECTED_EQUATIONS = entry("linkages.projection.projected_equations", "qu", REDUCED, ("nu",), **CLOSED)
SHARED_FORCES = entry("linkages.projection.shared_forces", "qv", ("rows",), ("nu",), **CLOSED)
DRIVING_FORCES = entry("linkages.projection.driving_forces", "quu", ("rows",), ("nu",), **CLOSED)
MOVE_CLOSED = entry("linkages.steps.move_closed", "qu", ("nq",), **CLOSED)
STEP_CLOSED = entry("linkages.steps.step_closed", "qu", ("nq",), (3,), partial=True, **CLOSED)
POSTURE_CHANGE = entry("linkages.steps.posture_change", "qq", (2,), partial=True, **CLOSED)
MAP_RATES = entry("linkages.projection_derivatives.map_rates", "qu", ("nv", "nu"), **CLOSED)
MOTION_DERIVATIVES = entry("linkages.projection_derivatives.motion_derivatives", "quu", *(("nv", "nu"),) * 3, **CLOSED)
PROJECTED_INVERSE_GRADIENT = entry("linkages.projection_derivatives.projected_inverse_gradient", "quu", *(REDUCED,) * 3, **CLOSED)
PROJECTED_FORWARD_GRADIENT = entry("linkages.projection_derivatives.projected_forward_gradient", "quu", *(REDUCED,) * 3, **CLOSED)
PROJECTED_FORCE_DERIVATIVES = entry("linkages.projection_derivatives.projected_force_derivatives", "qv", REDUCED, **CLOSED)
CLOSE_POSTURE = entry("linkages.assembly.close_posture", "q", ("nq",), ("rows",), (1,), shared=("nv", "nv", 2), square=True,
    table=PLAN, one_by_one=True)

# of robots with encoders, and standing ones (estimation/)
PASSIVE_STEP = entry("estimation.passive_step", "qmm", ("nq",), VECTOR, (1,), shared=("2 table 0", 3), table=MEASURED,
    one_by_one=True, **CLOSED)
CLOSED_TORQUES = entry("estimation.closed_torques", "qvv", VECTOR, (1,), one_by_one=True, **CLOSED)
CONTACT_UPDATE = entry("estimation.contact_update", "qvv", ("table 4",), (1,), square=True, table=STANDING, one_by_one=True)
MOTOR_WRENCHES = entry("estimation.motor_wrenches", "f", ("table 6",), (1,), shared=("table 4", "table 5", "table 7"),
    square=True, table=STANDING, one_by_one=True)
BALANCED_WRENCHES = entry("estimation.balanced_wrenches", "f", ("table 6",), (1,), shared=("table 4", "table 5", "table 7"),
    square=True, table=STANDING, one_by_one=True)

# of robots whose motion a set of contacts, locks and loops restricts (constrained/)
OF_SET = (("table 0", 6), ("table 1",), ("table 0",), ("table 3",))
SET_ROWS = entry("contacts.rows.set_rows", "qv", ("table 1", "nv"), ("table 1",), ("table 2", 6), ("table 0", 9), square=True,
    table=SETS)
SET_DYNAMICS = entry("contacts.dynamics.set_dynamics", "qvv", VECTOR, *OF_SET, square=True, table=SETS)
SET_GRADIENT = entry("contacts.gradient.set_gradient", "qvv", *(MATRIX,) * 3, *(("table 1", "nv"),) * 3, ("table 3",),
    square=True, table=SETS, one_by_one=True)
SET_IMPACT = entry("contacts.dynamics.set_impact", "qv", VECTOR, *OF_SET, square=True, table=SETS)
SET_RESIDUAL = entry("contacts.projection.set_residual", "qs", ("table 1",), square=True, table=SETS)
SET_PROJECTION = entry("contacts.projection.set_projection", "qvs", ("nq",), VECTOR, (1,), ("table 3",), square=True, table=SETS)
SOLVE_SYSTEM = entry("contacts.solve.solve_system", "m", ("table 1",), ("table 2",), ("table 3",), square=True, table=SYSTEMS)

# of quadratic programs: sizes in a table, no robot (optimization/)
PROGRAM_RESIDUALS = entry("optimization.residuals.program_residuals", "m", (5,),
    shared=("table 2", "table 3", "table 1", "table 1", "table 0", "table 1"), table=PROGRAMS, one_by_one=True)
SOLVE_PROGRAM = entry("optimization.dual_method.solve_program", "m", ("table 0",), ("table 1",), (2,), square=True,
    shared=("table 2", "table 3", "table 1", "table 1", "table 1", 1), table=PROGRAMS, one_by_one=True)
SOLVE_HIERARCHY = entry("optimization.hierarchy.solve_hierarchy", "m", ("table 0",), ("table 3",), ("table 3",), (3,),
    square=True, shared=("table 1", "table 2", "table 3", "table 3", "table 3", "table 3", "table 0"), table=HIERARCHIES,
    one_by_one=True)

# of simulations (sim/)
STATES = {"options": ("scheme",), "table": SAMPLES}
TREE_STEPS = entry("sim.smooth.tree_steps", "qvvs", ("table 0", "nq"), ("table 0", "nv"), **STATES)
SHARED_STEPS = entry("sim.smooth.shared_steps", "qvvs", ("table 0", "nq"), ("table 0", "nv"), square=True, **STATES)
CLOSED_STEPS = entry("sim.smooth.closed_steps", "quus", ("table 0", "nq"), ("table 0", "nu"), **STATES, **CLOSED)
OF_STEPS = (("table 5", "nq"), ("table 5", "6 table 0"), ("table 5", "table 1"), ("table 5", 2))
SET_STEPS = entry("sim.smooth.set_steps", "qvvs", OF_STEPS[0], ("table 5", "nv"), *OF_STEPS[1:], options=("scheme",), table=SETS,
    square=True)
CLOSED_SET_STEPS = entry("sim.smooth.closed_set_steps", "quus", OF_STEPS[0], ("table 5", "nu"), *OF_STEPS[1:], options=("scheme",),
    table=SETS, **CLOSED)
GROUND_STEP = entry("sim.step.ground_step", "qvvs", ("table 7", "nq"), ("table 7", "nv"), ("table 5",),
    ("table 7", "6 table 6"), ("table 7", FACTS), square=True, table=GROUND)

# of whole-body control: what is asked, in a table (control/)
CONTROL_CYCLE = entry("control.cycle.control_cycle", "q", ("table 0",), ("table 1",), ("table 2",), ("table 3",), ("table 4",),
    (4,), ("table 6", 6), square=True, shared=("table 1", "table 1", "table 5", "table 4", "table 4", "table 3"), table=CONTROL,
    one_by_one=True)
CONTROL_PROGRAM = entry("control.cycle.control_program", "q", ("table 4", "table 3"), ("table 4",), ("table 4",),
    ("table 3", "table 3"), ("table 3",), ("table 0", "table 3"), ("table 0",), ("table 21", 6), square=True,
    shared=("table 1", "table 1", "table 5"), table=CONTROL, one_by_one=True, partial=True)  # limits may be infinite
KINEMATIC_STEPS = entry("control.kinematic_steps.kinematic_steps", "q", ("nq",), ("table 4", "table 3"), ("table 4",),
    ("table 4",), ("nq",), (N_PROGRESS,), square=True, shared=("table 5", "table 4", "table 4", N_PLAN), table=CONTROL,
    one_by_one=True, partial=True)

# in dual quaternion algebra (dual_quaternion/)
DQ_NEWTON_EULER = entry("dual_quaternion.newton_euler.newton_euler", "qvv", VECTOR, name="dq_newton_euler")
LOADED_DQ_NEWTON_EULER = entry("dual_quaternion.newton_euler.loaded_newton_euler", "qvvgw", VECTOR, name="loaded_dq_newton_euler",
    **LOADED)
DQ_MASS = entry("dual_quaternion.newton_euler.mass_by_newton_euler", "q", MATRIX, name="dq_mass", square=True)
DQ_CORIOLIS = entry("dual_quaternion.newton_euler.coriolis_by_newton_euler", "qv", MATRIX, name="dq_coriolis", square=True)
GAUSS = entry("dual_quaternion.methods.gauss_equations", "qvg", MATRIX, MATRIX, VECTOR, name="gauss", square=True)
GIBBS_APPELL = entry("dual_quaternion.methods.gibbs_appell", "qvvg", (1,), VECTOR, VECTOR, square=True)
KANE = entry("dual_quaternion.newton_euler.kane", "qvvg", VECTOR, VECTOR)

# fmt: on

# what serves models whose mimic joints share a velocity coordinate
SHARED = {ABA: SHARED_FORWARD_DYNAMICS, LOADED_ABA: LOADED_SHARED_FORWARD_DYNAMICS, MINV: SHARED_MINV}
ENTRIES: dict[str, Entry] = {entry.name: entry for entry in list(vars().values()) if isinstance(entry, Entry)}
