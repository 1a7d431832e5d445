"""Appendix A.2: the functions of table A.1 beside ours, and the sample program's outputs beside the compiled kernels, for a
batch of states of the revolute hopper."""

from __future__ import annotations

import time
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp
from scipy.integrate import quad

import freeflyer as ff
from freeflyer.dynamics.closed import multiply
from freeflyer.progress import Progress
from freeflyer.robots.legged import GRAVITY, HOPPER_SHANK, HOPPER_THIGH, LENGTH, THIGH_TRUNK, revolute_hopper
from freeflyer.tables import Table
from freeflyer_papers import planar
from freeflyer_papers.decoupling.sample_program import SampleProgram, sample_program

STATES = 100
BOUND = 1e-12  # relative to the largest entry over all states


class Function(namedtuple("Function", "thesis ours residual beside")):
    """A function of table A.1, ours, and its largest difference from a numeric function; None where there is nothing to compare."""


class Output(namedtuple("Output", "name shape error")):
    """An output of the sample program: shape, and its relative difference from the kernels over all states."""


class Integrability(namedtuple("Integrability", "robot joints integrable")):
    """Whether (3.73) holds in symbols for a robot."""


class AppendixResult(namedtuple("AppendixResult", (
    "functions outputs tests integrability rate_is_printed angle_error angle_jump momentum_error radial_error "
    "steps program_time printing_time"))):  # fmt: skip
    """Functions, outputs and tests of the sample program, prints of the thesis, and times (s).

    `rate_is_printed`: whether w_bc has the thesis's form; `angle_error`: of its closed form (line 228), within half a turn;
    `angle_jump`: its jump at half a turn, ours has none. `momentum_error`, `radial_error`: of h_inertc by line 287 and of the
    radial Jacobian by (4.24) as printed."""


def compute(progress: Progress) -> AppendixResult:
    """All of it; some seconds."""
    progress(0.0, "appendix A.2: the sample program, in symbols")
    start = time.perf_counter()
    program = sample_program()
    done = time.perf_counter()
    made = output_routine(program)
    function = ff.symbolic.make_function(made, "revolute_hopper")
    printed = time.perf_counter()
    progress(0.0, "appendix A.2: beside the compiled kernels")
    q, v = np.random.default_rng(0).uniform(-3.0, 3.0, (2, STATES, 4))
    ours = numbers(program, function, q, v)
    theirs = kernel_numbers(revolute_hopper(), q, v)
    errors = {name: distance(ours[name], theirs[name]) for name in theirs}
    compared = {name: errors["Cbp v" if name == "Cbp" else name] for name in program.outputs}
    outputs = tuple(Output(name, getattr(x, "shape", ()), compared[name]) for name, x in program.outputs.items())
    angle = _values(program, {"printed": program.printed_angle, "ours": program.outputs["alpha_c"]}, q, v)
    inside = angle["ours"] - q[:, 2] - np.pi / 2.0
    edge = np.zeros((2, 4))
    edge[:, 3] = np.pi * (1.0 - 1e-9), np.pi * (1.0 + 1e-9)
    jump = _values(program, {"printed": program.printed_angle}, edge, edge)["printed"]
    printed_forms = _values(program, {"h": program.printed_momentum, "r": program.printed_radial}, q, v)
    return AppendixResult(table_a1(program, q[0], v[0]), outputs, tuple(program.tests.items()), integrability(),
        ff.symbolic.is_zero(program.locked_rate - program.printed_rate), distance(angle["printed"], inside),
        float(np.abs(np.diff(jump))[0]), distance(printed_forms["h"], theirs["h_inertc"]),
        distance(printed_forms["r"], theirs["Jrdot_cf"]), len(made.steps), done - start, printed - done)  # fmt: skip


def output_routine(program: SampleProgram) -> ff.symbolic.Routine:
    """The program's outputs as one routine of q, v and the constants (printsimmat of the thesis)."""
    return ff.symbolic.routine(program.outputs, _inputs(program))


def numbers(program: SampleProgram, function: Callable[..., Any], q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
    """Outputs by name, and "Cbp v", for q, v (n, 4)."""
    found = dict(zip(program.outputs, function(q, v, *CONSTANTS.values())))
    return {**found, "Cbp v": np.einsum("nij,nj->ni", found["Cbp"], v)}


def distance(found: np.ndarray, expected: np.ndarray) -> float:
    """Largest difference over the largest entry."""
    return float(np.abs(found.reshape(expected.shape) - expected).max() / np.abs(expected).max())


def integrability() -> tuple[Integrability, ...]:
    """(3.73) in symbols: one joint, and two."""
    state = planar.variables(2)
    m, l = sp.symbols("m l", positive=True)
    frames = [(f"link_{i}", l if i > 1 else 0, 0, q) for i, q in enumerate(state.position[3:], 1)]
    masses = [("base", m, 0, 0, m * l**2), ("link_1", m, l, 0, 0), ("link_2", m, l, 0, 0)]
    hoppers = (("prismatic hopper", planar.prismatic_hopper()), ("revolute hopper", planar.revolute_hopper()))
    named = (*hoppers, ("arm of two hinges", planar.robot(state, frames, masses, gravity=0)))
    return tuple(Integrability(name, len(robot.joints), planar.is_integrable(robot)) for name, robot in named)


def table_a1(program: SampleProgram, q: np.ndarray, v: np.ndarray) -> tuple[Function, ...]:
    """Each function of table A.1 at one state of the revolute hopper; frame x is the world, y the shank's."""
    robot, model = program.robot, revolute_hopper()
    state, pose = robot.variables, planar.frame_pose(robot, "1", reference="world")
    twist = planar.twist_jacobian(pose, state) * sp.Matrix(state.velocity)
    links = [m for m in robot.masses if m.frame == "base"]
    base = planar.link_inertia([(m.x, m.y) for m in links], [m.mass for m in links], [0, 0])
    kinetic = (sp.Matrix([state.velocity]) * program.outputs["Mb"] * sp.Matrix(state.velocity))[0] / 2
    slope = [kinetic.diff(state.position[3])]
    G_T, rest = ff.symbolic.coefficient_matrix(slope, state.velocity)
    ours = {k: x[0] for k, x in _values(program, {
        "R": pose.rotation, "H": pose.matrix, "o": pose.origin, "angle": planar.pose_of(pose.matrix).angle,
        "A": planar.adjoint(pose), "a": planar.twist_adjoint(twist), "Jo": ff.symbolic.jacobian(pose.origin, state),
        "Jnu": planar.twist_jacobian(pose, state),
        "Jy": ff.symbolic.jacobian(program.outputs["alpha_c"], state), "Lambda": base.matrix, "slope": slope[0],
        "vec2mat": (G_T * sp.Matrix(state.velocity) + rest)[0],
    }, q[None], v[None]).items()}  # fmt: skip
    T = rates(q)
    w, kernels = T @ v, {name: x[0] for name, x in kernel_numbers(model, q[None], v[None]).items()}
    X = ff.spatial.se2.from_position_angle(ours["o"], q[2] + q[3])
    V = ff.frame_velocity(model, q, w, "shank")
    J = ff.frame_jacobian(model, q, "shank")[[0, 2, 4]] @ T * [[1.0], [1.0], [-1.0]]
    parts = ((THIGH_TRUNK, 0.0), (HOPPER_THIGH, LENGTH / 2.0))
    spatial = sum(ff.spatial.inertia.matrix(m, [x, 0.0, 0.0], np.zeros((3, 3))) for m, x in parts)
    S = np.eye(6)[[0, 2, 4]] * [[1.0], [1.0], [-1.0]]
    rows: list[tuple[str, str, tuple[Any, Any] | None, str]] = [
        ("rotationmatrix_R_xy(theta_xy)", "planar.rotation_matrix(angle)", (ours["R"], X[:2, :2]), "spatial.se2"),
        ("framepose_H_xy(theta_xy, O_xy)", "planar.Pose(angle, origin).matrix", (ours["H"], X), "spatial.se2"),
        ("frameorigin_o_xy(H_xy)", "pose.origin", (ours["o"], kernels["o_i1"]), "frame_pose"),
        ("frameorientaton_R_o_xy(H_xy)", "pose.rotation", (ours["R"], X[:2, :2]), "spatial.se2"),
        ("frameangle_theta_o_xy(H_xy)", "pose.angle; planar.pose_of(H).angle", (ours["angle"], q[2] + q[3]), "q"),
        ("Adjoint_A_xy(H_xy)", "planar.adjoint(pose)", (ours["A"], ff.spatial.se2.adjoint(X)), "spatial.se2.adjoint"),
        ("adjoint_a_xy(H_xy)", "planar.twist_adjoint(planar.twist_jacobian(pose, state) * v)",
         (ours["a"], ff.spatial.se2.ad([V[0], V[2], -V[4]])), "frame_velocity"),
        ("bodyvelocity2adjoint_a_xy(nu_xy)", "planar.twist_adjoint(twist)", (ours["a"], ff.spatial.se2.ad([V[0], V[2], -V[4]])),
         "spatial.se2.ad"),
        ("Jacobian_Jodot_xy(O_xy, xq_ib)", "symbolic.jacobian(pose.origin, state)",
         (ours["Jo"], ff.frame_jacobian(model, q, "shank", expressed="mixed")[PLANE] @ T), "frame_jacobian"),
        ("Jacobian_Jnu_xy(H_xy, xq_ib)", "planar.twist_jacobian(pose, state)", (ours["Jnu"], J), "frame_jacobian"),
        ("Jacobian_Jydot(H_xy, xq_ib)", "symbolic.jacobian(y, state)",
         (ours["Jy"], kernels["Jalphadot_c"]), "mass_matrix"),
        ("massmatrix_Lamda_j(o_jci_mat, mj, Ij)", "planar.link_inertia(centers, masses, inertias)",
         (ours["Lambda"], S @ spatial @ S.T), "spatial.inertia"),
        ("vec2mat(symVec, Vars)", "symbolic.coefficient_matrix(column, unknowns)", (ours["vec2mat"], ours["slope"]),
         "M Vars + Res"),
        ("row12(M)", "M[:2, :]", None, ""),
        ("printsimmat(M, symvarStr, simvarStr)", "symbolic.print_source(symbolic.routine(outputs, inputs), name)", None,
         "next table"),
        ("symmat(X)", "matrices of SymPy have entries", None, ""),
        ("timederivative(X, varsdiff, varsdot)", "symbolic.time_derivative(x, state)", None, "Jacobians' rates, next table")]
    return tuple(Function(a, b, None if pair is None else distance(*map(np.asarray, pair)), beside) for a, b, pair, beside in rows)


CONSTANTS = {"m_01": THIGH_TRUNK, "m_02": HOPPER_THIGH, "m_11": HOPPER_SHANK, "l": LENGTH, "g": GRAVITY}


def _inputs(program: SampleProgram) -> dict[str, Any]:
    robot = program.robot
    constants = {str(s): s for s in (*(m.mass for m in robot.masses), robot.frames[0].x, robot.gravity)}
    return {"q": robot.variables.position, "v": robot.variables.velocity, **constants}


def _values(program: SampleProgram, formulas: dict[str, Any], q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
    """Numbers of some formulas of the program's symbols."""
    made = ff.symbolic.make_function(ff.symbolic.routine(formulas, _inputs(program)), "values")(q, v, *CONSTANTS.values())
    return dict(zip(formulas, made if isinstance(made, tuple) else (made,)))


def tables(r: AppendixResult) -> tuple[Table, ...]:
    """Functions of table A.1, outputs of the sample program, its tests, integrability."""
    return _functions(r), _outputs(r), _tests(r), _integrability(r)


def _verdict(error: float) -> str:
    return "holds" if error <= BOUND else "FAILS"


def _functions(r: AppendixResult) -> Table:
    rows = [(f.thesis, f.ours, *(("-", f.beside, "") if f.residual is None else (f"{f.residual:.1e}", f.beside,
        _verdict(f.residual)))) for f in r.functions]  # fmt: skip
    return Table(
        "Table A.1: functions of the symbolic toolbox", ("thesis", "ours, in freeflyer.symbolic", "difference", "from", ""),
        rows, (2,),
        "At a random state of the revolute hopper, the frame of its shank against the world. timederivative is not in the table, "
        "but in the program.")  # fmt: skip


def _outputs(r: AppendixResult) -> Table:
    rows = [(o.name, " x ".join(map(str, o.shape)) or "number", f"{o.error:.1e}", _verdict(o.error)) for o in r.outputs]
    return Table("A.2.1: outputs of the sample program (lines 326-350) as one NumPy function",
        ("thesis's name", "size", "difference from kernels", ""), rows, (2,),
        f"{STATES} random states, relative to the largest entry; Cbp by Cbp v, for its matrix is one of many. Formulas in "
        f"{r.program_time:.1f} s, printed in {r.printing_time:.1f} s, {r.steps} common subexpressions. The thesis prints no "
        "outputs but the angle below.")  # fmt: skip


def _tests(r: AppendixResult) -> Table:
    rows = [(f"lines 309-324: {text}", "proved" if holds else "FAILS") for text, holds in r.tests]
    proved = "proved" if r.rate_is_printed else "FAILS"
    rows += [
        ("lines 224-229: w_bc = (A + B cos q1) / (a + b cos q1) qdot1 with the printed A, B, a, b", proved),
        ("line 228: theta_bc within half a turn of the knee", f"{r.angle_error:.1e}: {_verdict(r.angle_error)}"),
        ("line 228 at q1 = 180 deg: atan(tan(q1 / 2)) jumps; ours goes on", f"{r.angle_jump:.3f} rad"),
        ("line 287 as printed, h_inertc = A_ic^-T h_b: differs from the centroidal momentum by", f"{r.momentum_error:.1e}"),
        ("(4.24) as printed, J_r(i_o_cf) R_cf: differs from the rate of r_cf by", f"{r.radial_error:.1e}")]
    return Table("A.2.1: consistency tests and printed formulas", ("paper", "ours"), rows, (),
        "Line 287 must be A_cb^-T h_b with H_cb = [R_ib, o_ib - o_ic]; the program's J_r(o_cf) (line 306) is right, (4.24) is not.",
    )  # fmt: skip


def _integrability(r: AppendixResult) -> Table:
    rows = [(i.robot, str(i.joints), "always" if i.joints == 1 else "generally not", "yes" if i.integrable else "no")
        for i in r.integrability]  # fmt: skip
    return Table("(3.73) in symbols: is the frame of the locked velocity a function of the posture?",
                 ("robot", "joints", "paper", "integrable"), rows, (1,))  # fmt: skip


PLANE = [0, 2]  # entries of vectors in space that are those of the plane
S = np.array([[0.0, -1.0], [1.0, 0.0]])


def rates(q: np.ndarray) -> np.ndarray:
    """T (..., 4, 4) with rates of the coordinates = T v, v the base's twist in its axes and the joint's rate."""
    T = np.zeros((*q.shape, 4)) + np.eye(4)
    T[..., :2, :2] = rotation(q[..., 2])
    return T


def rotation(angle: np.ndarray) -> np.ndarray:
    return ff.spatial.se2.from_position_angle(np.zeros(2), angle)[..., :2, :2]


def kernel_numbers(model: ff.Model, q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
    """Each output for q, v (n, 4); "Cbp v" in place of Cbp, whose matrix is one of many."""
    T = rates(q)
    M = ff.mass_matrix(model, q)
    w = multiply(T, v)
    spin = np.concatenate([v[:, 2:3] * multiply(S, w[:, :2]), np.zeros((len(q), 2))], axis=1)  # rate of w at constant v
    G = ff.gravity_forces(model, q)
    coriolis = ff.inverse_dynamics(model, q, w, spin) - G
    turned = np.swapaxes(T, -1, -2)
    knee, foot = (ff.frame_pose(model, q, name)[:, PLANE, 3] for name in ("shank", "foot_point"))
    J_knee, J_foot = (ff.frame_jacobian(model, q, name, expressed="mixed")[:, PLANE] @ T for name in ("shank", "foot_point"))
    com, J_com = ff.center_of_mass(model, q)[:, PLANE], ff.center_of_mass_jacobian(model, q)[:, PLANE] @ T
    locked = locked_turn(model, q)
    angle = np.array([com_angle(model, float(x)) for x in q[:, 3]])
    R_ic = rotation(q[:, 2] + angle)
    arm, J_arm = foot - com, J_foot - J_com
    r = np.linalg.norm(arm, axis=1)
    J_alpha = np.zeros((len(q), 4)) + [0.0, 0.0, 1.0, 0.0]
    J_alpha[:, 3] = locked
    momentum = ff.centroidal_momentum(model, q, w)
    h = np.stack([momentum[:, 0], momentum[:, 2], -momentum[:, 4]], axis=1)
    R_ci = np.swapaxes(R_ic, -1, -2)
    spun = (multiply(S, arm))[:, :, None] * J_alpha[:, None, :]
    return {
        "Mb": turned @ M @ T, "MbI": np.linalg.inv(turned @ M @ T), "Cbp v": multiply(turned, coriolis), "Gb": multiply(turned, G),
        "E_pot": ff.potential_energy(model, q), "o_i1": knee, "o_if": foot, "o_ic": com, "o_cf": multiply(R_ci, arm),
        "Jodot_i1": J_knee, "Jodot_if": J_foot, "Jodot_ic": J_com, "Jodot_cf": R_ci @ (J_arm - spun),
        "Jalpha_iodot_cf": np.einsum("ni,nij->nj", multiply(S, arm), J_arm)[:, None] / (r**2)[:, None, None],
        "Jrdot_cf": np.einsum("ni,nij->nj", arm, J_arm)[:, None] / r[:, None, None], "alpha_c": q[:, 2] + angle + np.pi / 2.0,
        "Jalphadot_c": J_alpha[:, None], "h_c": np.concatenate([multiply(R_ci, h[:, :2]), h[:, 2:]], axis=1), "h_inertc": h}


def locked_turn(model: ff.Model, q: np.ndarray) -> np.ndarray:
    """T_omega (...): the third row of M_bb^-1 M_bq."""
    M = np.swapaxes(rates(q), -1, -2) @ ff.mass_matrix(model, q) @ rates(q)
    return np.linalg.solve(M[..., :3, :3], M[..., :3, 3:])[..., 2, 0]


def com_angle(model: ff.Model, q: float) -> float:
    """Angle of the frame that turns with the locked velocity, by quadrature (3.75)."""
    return float(quad(lambda x: float(locked_turn(model, np.array([0.0, 0.0, 0.0, x]))), 0.0, q, epsabs=1e-13, epsrel=1e-13)[0])
