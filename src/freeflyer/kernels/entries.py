"""Every kernel that Python may call: inputs, shapes of outputs, options. Checks, plain Python, batches and docs read this table."""

from __future__ import annotations

from freeflyer.kernels.control.layout import CONTROL, N_PLAN, N_PROGRESS
from freeflyer.kernels.entry import Entry, Stages
from freeflyer.kernels.model.layout import FRAMES, MEASURED, PLAN, PROGRAMS, SETS, STANDING, SYSTEMS
from freeflyer.kernels.optimization.layout import HIERARCHIES
from freeflyer.kernels.sim.layout import FACTS, GROUND, IMPULSES, SAMPLES

VECTOR, MATRIX, REDUCED = ("nv",), ("nv", "nv"), ("nu", "nu")
FRAME = ("frame", "expressed")
CLOSED = {"square": True, "closed": True}  # on models that hold a linkage (model/layout.py)

# fmt: off
RNEA = Entry("rnea", "tree.rnea.rnea", "qvv", (VECTOR,))
ABA = Entry("aba", "tree.aba.aba", "qvv", (VECTOR,))
SHARED_FORWARD_DYNAMICS = Entry("shared_forward_dynamics", "tree.factor.shared_forward_dynamics", "qvv", (VECTOR,), square=True)
CRBA = Entry("crba", "tree.mass_matrix.crba", "q", (MATRIX,), square=True)
GRAVITY = Entry("gravity", "tree.energies.gravity", "q", (VECTOR,))
MINV = Entry("minv", "tree.mass_matrix.minv", "q", (MATRIX,), square=True)
CORIOLIS = Entry("coriolis", "tree.coriolis.coriolis", "qv", (MATRIX,), square=True)
HAMEL = Entry("hamel", "tree.coriolis.hamel_coriolis", "qv", (MATRIX,), square=True)
DECOUPLED_PASSIVE = Entry("decoupled_passive", "tree.decoupling.decoupled_passive", "qv", (MATRIX, MATRIX, (6, "nv"), (6, "nv")),
    square=True)
DECOUPLED_HAMEL = Entry("decoupled_hamel", "tree.decoupling.decoupled_hamel", "qv", (MATRIX, MATRIX, (6, "nv"), (6, "nv")),
    square=True)
FRAME_POSE = Entry("frame_pose", "tree.frames.frame_pose", "q", ((4, 4),), options=("frame",))
FRAME_JACOBIAN = Entry("frame_jacobian", "tree.frames.frame_jacobian", "q", ((6, "nv"),), options=FRAME)
FRAME_VELOCITY = Entry("frame_velocity", "tree.frames.frame_velocity", "qv", ((6,),), options=FRAME)
FRAME_BIAS = Entry("frame_bias", "tree.frames.frame_bias", "qv", ((6,),), options=FRAME)
ALL_MOTIONS = Entry("all_motions", "tree.frames.all_motions", "qv", (("bodies", 12), ("bodies", 12), ("columns", 6)))
ALL_POSES = Entry("all_poses", "tree.frames.all_poses", "q", (("bodies", 12),))
SHARED_MINV = Entry("shared_minv", "tree.factor.shared_minv", "q", (MATRIX,), square=True)
COM = Entry("com", "tree.energies.com", "q", ((3,),))
MOMENTUM_MATRIX = Entry("momentum_matrix", "tree.centroidal.momentum_matrix", "q", ((6, "nv"),))
MOMENTUM = Entry("momentum", "tree.centroidal.momentum_vector", "qv", ((6,),))
MOMENTUM_BIAS = Entry("momentum_bias", "tree.centroidal.momentum_bias", "qv", ((6,),))
KINETIC_ENERGY = Entry("kinetic_energy", "tree.energies.kinetic_energy", "qv", ((1,),))
POTENTIAL_ENERGY = Entry("potential_energy", "tree.energies.potential_energy", "q", ((1,),))
INTEGRATE = Entry("integrate", "model.joints.kinds.integrate", "qv", (("nq",),))
DIFFERENCE = Entry("difference", "model.joints.kinds.difference", "qq", (VECTOR,))
RNEA_GRADIENT = Entry("rnea_gradient", "derivatives.forward.inverse_dynamics_gradient", "qvv", (MATRIX,) * 3, square=True,
    stages=Stages("derivatives.inverse.inverse_table", "derivatives.forward.inverse_matrices",
        "derivatives.inverse.table_sizes"))
ABA_GRADIENT = Entry("aba_gradient", "derivatives.forward.forward_dynamics_gradient", "qvv", (MATRIX,) * 3, square=True,
    stages=Stages("derivatives.forward.solved_table", "derivatives.forward.forward_matrices", "derivatives.forward.solved_sizes"))
CONSTRAINT_RESIDUAL = Entry("constraint_residual", "linkages.constraints.constraint_residual", "q", (("rows",),), square=True)
CONSTRAINTS = Entry("constraints", "linkages.constraints.constraints", "q", (("rows",), ("rows", "nv")), square=True)
CONSTRAINT_BIAS = Entry("constraint_bias", "linkages.constraints.constraint_bias", "qv", (("rows",),), square=True)
FRAME_ACCELERATION = Entry("frame_acceleration", "derivatives.frames.frame_acceleration", "qvv", ((6,),), options=FRAME)
FRAME_VELOCITY_DERIVATIVES = Entry("frame_velocity_derivatives", "derivatives.frames.frame_velocity_derivatives",
    "qv", ((6, "nv"),) * 2, options=FRAME, square=True)
FRAME_ACCELERATION_DERIVATIVES = Entry("frame_acceleration_derivatives", "derivatives.frames.frame_acceleration_derivatives",
    "qvv", ((6, "nv"),) * 3, options=FRAME, square=True)
MOMENTUM_RATE = Entry("momentum_rate", "derivatives.momentum.momentum_rate", "qvv", ((6,),))
MOMENTUM_DERIVATIVES = Entry("momentum_derivatives", "derivatives.momentum.momentum_derivatives",
    "qv", ((6, "nv"),) * 2, square=True)
MOMENTUM_RATE_DERIVATIVES = Entry("momentum_rate_derivatives", "derivatives.momentum.momentum_rate_derivatives",
    "qvv", ((6, "nv"),) * 3, square=True)
LINEAR = Entry("linear", "derivatives.linear.linear", "qvv", (("2 nv", "2 nv"), ("2 nv", "nv")), square=True,
    stages=Stages("derivatives.linear.linear_table", "derivatives.linear.linear_matrices", "derivatives.linear.linear_sizes"))

# under gravity (3,) and wrenches on frames, listed in a table, that are inputs
LOADED = {"options": ("expressed",), "table": FRAMES}
LOADED_RNEA = Entry("loaded_rnea", "tree.rnea.loaded_rnea", "qvvgw", (VECTOR,), **LOADED)
LOADED_ABA = Entry("loaded_aba", "tree.aba.loaded_aba", "qvvgw", (VECTOR,), **LOADED)
LOADED_SHARED_FORWARD_DYNAMICS = Entry("loaded_shared_forward_dynamics", "tree.factor.loaded_shared_forward_dynamics",
    "qvvgw", (VECTOR,), square=True, **LOADED)
GIVEN_GRAVITY = Entry("given_gravity", "tree.energies.given_gravity", "qg", (VECTOR,))
POTENTIAL_ENERGY_UNDER = Entry("potential_energy_under", "tree.energies.potential_energy_under", "qg", ((1,),))
LOADED_RNEA_GRADIENT = Entry("loaded_rnea_gradient", "derivatives.linear.loaded_inverse_gradient", "qvvgw", (MATRIX,) * 3,
    square=True, stages=Stages("derivatives.linear.loaded_inverse_table", "derivatives.linear.loaded_inverse_matrices",
                               "derivatives.linear.loaded_sizes"), **LOADED)
LOADED_ABA_GRADIENT = Entry("loaded_aba_gradient", "derivatives.linear.loaded_forward_gradient", "qvvgw", (MATRIX,) * 3,
    square=True, stages=Stages("derivatives.linear.loaded_solved_table", "derivatives.linear.loaded_forward_matrices",
                               "derivatives.linear.loaded_solved_sizes"), **LOADED)
LOADED_LINEAR = Entry("loaded_linear", "derivatives.linear.loaded_linear", "qvvgw", (("2 nv", "2 nv"), ("2 nv", "nv")),
    square=True, stages=Stages("derivatives.linear.loaded_solved_table", "derivatives.linear.loaded_linear_matrices",
                               "derivatives.linear.loaded_solved_sizes"), **LOADED)
ALL_TERMS = Entry("all_terms", "tree.all_terms.all_terms", "qvg", (MATRIX, (2, "nv"), (6, "nv"), (3, "nv"), (15,), ("table 0", 16),
    ("table 0", 12), ("6 table 0", "nv")), square=True, **LOADED)

PROJECTION_MAP = Entry("projection_map", "linkages.projection.projection_map", "q", (("nv", "nu"),), **CLOSED)
PROJECTED_MOTION = Entry("projected_motion", "linkages.projection.projected_motion", "quu", (("nv",), ("nv",)), **CLOSED)
PROJECTED_MASS = Entry("projected_mass", "linkages.projection.projected_mass", "q", (REDUCED,), **CLOSED)
PROJECTED_INVERSE_MASS = Entry("projected_inverse_mass", "linkages.projection.projected_inverse_mass", "q", (REDUCED,), **CLOSED)
PROJECTED_INVERSE_DYNAMICS = Entry("projected_inverse_dynamics", "linkages.projection.projected_inverse_dynamics", "quu",
    (("nu",),), **CLOSED)
PROJECTED_FORWARD_DYNAMICS = Entry("projected_forward_dynamics", "linkages.projection.projected_forward_dynamics", "quu",
    (("nu",),), **CLOSED)
PROJECTED_EQUATIONS = Entry("projected_equations", "linkages.projection.projected_equations", "qu", (REDUCED, ("nu",)), **CLOSED)
SHARED_FORCES = Entry("shared_forces", "linkages.projection.shared_forces", "qv", (("rows",), ("nu",)), **CLOSED)
DRIVING_FORCES = Entry("driving_forces", "linkages.projection.driving_forces", "quu", (("rows",), ("nu",)), **CLOSED)
MOVE_CLOSED = Entry("move_closed", "linkages.steps.move_closed", "qu", (("nq",),), **CLOSED)
STEP_CLOSED = Entry("step_closed", "linkages.steps.step_closed", "qu", (("nq",), (3,)), partial=True, **CLOSED)
MAP_RATES = Entry("map_rates", "linkages.projection_rates.map_rates", "qu", (("nv", "nu"),), **CLOSED)
MOTION_DERIVATIVES = Entry("motion_derivatives", "linkages.projection_rates.motion_derivatives",
    "quu", (("nv", "nu"),) * 3, **CLOSED)
PROJECTED_DERIVATIVES = Entry("projected_derivatives", "linkages.projection_derivatives.projected_derivatives",
    "quu", (REDUCED, REDUCED), **CLOSED)
PROJECTED_INVERSE_GRADIENT = Entry("projected_inverse_gradient", "linkages.projection_derivatives.projected_inverse_gradient",
    "quu", (REDUCED,) * 3, **CLOSED)
PROJECTED_FORWARD_GRADIENT = Entry("projected_forward_gradient", "linkages.projection_derivatives.projected_forward_gradient",
    "quu", (REDUCED,) * 3, **CLOSED)
PROJECTED_FORCE_DERIVATIVES = Entry("projected_force_derivatives", "linkages.projection_rates.projected_force_derivatives",
    "qv", (REDUCED,), **CLOSED)
CLOSE_POSTURE = Entry("close_posture", "linkages.assembly.close_posture", "q", (("nq",), ("rows",), (1,)), shared=("nv", "nv",
    2), square=True,
    table=PLAN, one_by_one=True)


# of robots with encoders, and standing ones (estimation/)
PASSIVE_STEP = Entry("passive_step", "estimation.passive_step", "qmm", (("nq",), VECTOR, (1,)), shared=("2 table 0",
    3), table=MEASURED,
    one_by_one=True, **CLOSED)
CLOSED_TORQUES = Entry("closed_torques", "estimation.closed_torques", "qvv", (VECTOR, (1,)), one_by_one=True, **CLOSED)
CONTACT_UPDATE = Entry("contact_update", "estimation.contact_update", "qvv", (("table 4",), (1,)), square=True,
    table=STANDING, one_by_one=True)
MOTOR_WRENCHES = Entry("motor_wrenches", "estimation.motor_wrenches", "f", (("table 6",), (1,)),
    shared=("table 4", "table 5", "table 7"), square=True, table=STANDING, one_by_one=True)
BALANCED_WRENCHES = Entry("balanced_wrenches", "estimation.balanced_wrenches", "f", (("table 6",), (1,)),
    shared=("table 4", "table 5", "table 7"), square=True, table=STANDING, one_by_one=True)

# of robots whose motion a set of contacts, locks and loops restricts (constrained/)
OF_SET = (("table 0", 6), ("table 1",), ("table 0",), ("table 3",))
SET_ROWS = Entry("set_rows", "contacts.rows.set_rows", "qv", (("table 1", "nv"), ("table 1",), ("table 2", 6),
    ("table 0", 9)), square=True, table=SETS)
SET_DYNAMICS = Entry("set_dynamics", "contacts.dynamics.set_dynamics", "qvv", (VECTOR, *OF_SET), square=True, table=SETS)
SET_GRADIENT = Entry("set_gradient", "contacts.gradient.set_gradient", "qvv",
    ((MATRIX,) * 3 + (("table 1", "nv"),) * 3 + (("table 3",),)), square=True, table=SETS, one_by_one=True)
SET_IMPACT = Entry("set_impact", "contacts.dynamics.set_impact", "qv", (VECTOR, *OF_SET), square=True, table=SETS)
SOLVE_SYSTEM = Entry("solve_system", "contacts.solve.solve_system", "m", (("table 1",), ("table 2",), ("table 3",)),
    square=True, table=SYSTEMS)

# of quadratic programs: sizes in a table, no robot (optimization/)
PROGRAM_RESIDUALS = Entry("program_residuals", "optimization.residuals.program_residuals", "m", ((5,),),
    shared=("table 2", "table 3", "table 1", "table 1", "table 0", "table 1"), table=PROGRAMS, one_by_one=True)
SOLVE_PROGRAM = Entry("solve_program", "optimization.dual_method.solve_program", "m", (("table 0",), ("table 1",), (2,)),
    square=True, shared=("table 2", "table 3", "table 1", "table 1", "table 1", 1), table=PROGRAMS, one_by_one=True)
SOLVE_HIERARCHY = Entry("solve_hierarchy", "optimization.hierarchy.solve_hierarchy", "m", (("table 0",), ("table 3",), ("table 3",),
    (3,)), square=True, shared=("table 1", "table 2", "table 3", "table 3", "table 3", "table 3", "table 0"), table=HIERARCHIES,
    one_by_one=True)

# of simulations (sim/)
TREE_STEPS = Entry("tree_steps", "sim.smooth.tree_steps", "qvvs", (("table 0", "nq"), ("table 0", "nv")), options=("scheme",),
    table=SAMPLES)
SHARED_STEPS = Entry("shared_steps", "sim.smooth.shared_steps", "qvvs", (("table 0", "nq"), ("table 0", "nv")), options=("scheme",),
    table=SAMPLES, square=True)
CLOSED_STEPS = Entry("closed_steps", "sim.smooth.closed_steps", "quus", (("table 0", "nq"), ("table 0", "nu")), options=("scheme",),
    table=SAMPLES, **CLOSED)
CONTACT_IMPULSES = Entry("contact_impulses", "sim.complementarity.contact_impulses", "m", (("table 1",), ("table 1",), (3,)),
    square=True, table=IMPULSES, one_by_one=True)
GROUND_STEP = Entry("ground_step", "sim.step.ground_step", "qvvs", (("nq",), VECTOR, ("table 5",), ("table 6", 6), (FACTS,)),
    square=True, table=GROUND, one_by_one=True)

# of whole-body control: what is asked, in a table (control/)
CONTROL_CYCLE = Entry("control_cycle", "control.cycle.control_cycle", "q", (("table 0",), ("table 1",), ("table 2",), ("table 3",),
    ("table 4",), (4,), ("table 6", 6)), square=True, shared=("table 1", "table 1", "table 5", "table 4", "table 4", "table 3"),
    table=CONTROL, one_by_one=True)
CONTROL_PROGRAM = Entry("control_program", "control.cycle.control_program", "q", (("table 4", "table 3"), ("table 4",),
    ("table 4",), ("table 3", "table 3"), ("table 3",), ("table 0", "table 3"), ("table 0",), ("table 21", 6)), square=True,
    shared=("table 1", "table 1", "table 5"), table=CONTROL, one_by_one=True, partial=True)  # limits may be infinite
KINEMATIC_STEPS = Entry("kinematic_steps", "control.kinematic_steps.kinematic_steps", "q", (("nq",), ("table 4", "table 3"),
    ("table 4",), ("table 4",), ("nq",), (N_PROGRESS,)), square=True, shared=("table 5", "table 4", "table 4", N_PLAN),
    table=CONTROL, one_by_one=True, partial=True)

# in dual quaternion algebra (dual_quaternion/)
DQ_NEWTON_EULER = Entry("dq_newton_euler", "dual_quaternion.newton_euler.newton_euler", "qvv", (VECTOR,))
LOADED_DQ_NEWTON_EULER = Entry("loaded_dq_newton_euler", "dual_quaternion.newton_euler.loaded_newton_euler", "qvvgw", (VECTOR,),
    **LOADED)
DQ_MASS = Entry("dq_mass", "dual_quaternion.newton_euler.mass_by_newton_euler", "q", (MATRIX,), square=True)
DQ_CORIOLIS = Entry("dq_coriolis", "dual_quaternion.newton_euler.coriolis_by_newton_euler", "qv", (MATRIX,), square=True)
GAUSS = Entry("gauss", "dual_quaternion.methods.gauss_equations", "qvg", (MATRIX, MATRIX, VECTOR), square=True)
GIBBS_APPELL = Entry("gibbs_appell", "dual_quaternion.methods.gibbs_appell", "qvvg", ((1,), VECTOR, VECTOR), square=True)
KANE = Entry("kane", "dual_quaternion.methods.kane", "qvvg", (VECTOR, VECTOR))

# fmt: on

ENTRIES: dict[str, Entry] = {entry.name: entry for entry in list(vars().values()) if isinstance(entry, Entry)}
