"""Printed functions, run and compiled: NumPy, Numba and C give the kernels' numbers."""

import ctypes
import freeflyer as ff
import inspect
import numpy as np
import pytest
import shutil
import subprocess
import sympy as sp
from closeness import close, fresh, refused
from dataclasses import replace
from freeflyer.symbolic import kernel_routine, make_function, print_source, reduce_products, routine
from linkage_samples import shifted
from planar_cases import hopper_case, planar

COMPILER = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
x, y, z = sp.symbols("x y z")
FUNCTIONS = ["inverse_dynamics", "mass_matrix", "gravity_forces", "forward_dynamics",
             *(pytest.param(f"coriolis_matrix{form}", marks=pytest.mark.slow) for form in ("", "_hamel"))]  # fmt: skip


def compiled(made: ff.symbolic.Routine, name: str, folder):
    """The function of the printed C text: arguments as of the NumPy one."""
    if COMPILER is None:
        pytest.skip("no C compiler")
    (folder / f"{name}.c").write_text(print_source(made, name, language="c"))
    library = folder / f"{name}.so"
    options = ("-O1", "-std=c99", "-Wall", "-Werror", "-shared", "-fPIC", f"{folder}/{name}.c", "-o", library, "-lm")
    done = subprocess.run([COMPILER, *options], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    function = getattr(ctypes.CDLL(str(library)), name)
    function.restype = None

    def call(*arguments):
        given = [ctypes.c_double(k) if np.ndim(k) == 0 else np.ascontiguousarray(k, float) for k in arguments]
        results = [np.full(shape, np.nan) for _, shape, _ in made.outputs]
        pointer = ctypes.POINTER(ctypes.c_double)
        function(*(k.ctypes.data_as(pointer) if isinstance(k, np.ndarray) else k for k in (*given, *results)))
        return results[0] if len(results) == 1 else tuple(results)

    return call


def in_three_languages(made: ff.symbolic.Routine, name: str, folder):
    return make_function(made, name), make_function(made, name, language="numba"), compiled(made, name, folder)


def everything(name: str):
    """Routine of the whole set of equations of a hopper, its case, and the order of its constants."""
    case = hopper_case(name)
    state, names = case.robot.variables, {
        "M": "mass_matrix", "Minv": "inverse_mass_matrix", "C": "coriolis_matrix", "G": "gravity_forces", "T": "kinetic_energy",
        "U": "potential_energy", "com": "center_of_mass", "h": "momentum"}  # fmt: skip
    outputs = {letter: getattr(planar, name)(case.robot) for letter, name in names.items()}
    constants = sorted(case.values, key=str)
    return routine(outputs, {"q": state.position, "v": state.velocity, **{str(s): s for s in constants}}), case, constants


@pytest.mark.parametrize("name", ["revolute_hopper", pytest.param("prismatic_hopper", marks=pytest.mark.slow)])
def test_equations_of_hoppers_in_three_languages(name, tmp_path):
    made, case, constants = everything(name)
    _, q, v, _ = case.state()
    q[3] = abs(q[3]) + 0.5  # a leg without length has a singular mass matrix
    model = getattr(ff.robots, name)()
    R = np.array(case.robot.variables.rates.subs(case.robot.variables.position[2], float(q[2])), float)
    w = R @ v
    condition = float(np.linalg.cond(ff.mass_matrix(model, q)))
    arguments = [q, v, *(case.values[s] for s in constants)]
    for call in in_three_languages(made, name, tmp_path):
        M, Minv, C, G, T, U, com, h = call(*arguments)
        close(M, R.T @ ff.mass_matrix(model, q) @ R, 1e-12)
        close(Minv, np.linalg.inv(R.T @ ff.mass_matrix(model, q) @ R), 1e-13 * condition, least=1e-300)
        spin = np.zeros(4)
        spin[:2] = v[2] * np.array([[0.0, -1.0], [1.0, 0.0]]) @ w[:2]  # rate of the world velocity at constant v
        close(C @ v + G, R.T @ ff.inverse_dynamics(model, q, w, spin), 1e-12, least=10.0)
        close(G, R.T @ ff.gravity_forces(model, q), 1e-12)
        energies = np.array([ff.kinetic_energy(model, q, w), ff.potential_energy(model, q)])
        close(np.array([T, U], float).reshape(2), energies, 1e-12, least=10.0)
        close(com, ff.center_of_mass(model, q)[[0, 2]], 1e-12)
        close(h, M[:3] @ v, 1e-12)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_spatial_robot_of_three_joints_in_three_languages(function, tmp_path):
    """SE(3) x R^3, from the kernels; masses and lengths symbolic."""
    model, rng = ff.robots.chain(3, ["revolute", "prismatic", "universal"], base="free"), fresh(function)
    m, l = sp.symbols("m l", positive=True)
    parameters = ff.symbolic.parameters(model, masses={"link_1": m}, positions={"joint_2": (0, l, -l)})
    made = kernel_routine(function, model, parameters=parameters)
    assert [name for name, _ in made.inputs][-2:] == ["l", "m"] or function == "gravity_forces"
    d, (mass, length) = model.description, rng.uniform(0.2, 1.0, 2)
    d = d.with_link(ff.Link("link_1", replace(d.link("link_1").inertia, mass=mass)))
    same = ff.build(d.with_joint(replace(d.joint("joint_2"), placement=shifted(0.0, length, -length))))
    q, v, a = ff.random_configuration(same, rng), *rng.standard_normal((2, model.nv))
    rows = {"q": q, "v": v, "a": a, "tau": a, "l": length, "m": mass}
    arguments = [rows[name] for name, _ in made.inputs]
    public = getattr(ff, function.removesuffix("_hamel"))
    form = {"form": "hamel"} if function.endswith("_hamel") else {}
    theirs = public(same, *(rows[k] for k in inspect.signature(public).parameters if k in rows), **form)
    tolerance = 1e-12 * (np.linalg.cond(ff.mass_matrix(same, q)) if function == "forward_dynamics" else 1.0)
    calls = [make_function(made, function), compiled(made, function, tmp_path)]
    if len(made.steps) < 600:  # Numba takes a minute for thousands
        calls.append(make_function(made, function, language="numba"))
    for call in calls:
        close(call(*arguments), theirs, tolerance)


def test_symbols_and_batches():
    """Closed forms themselves (not code) of three joints in space, to 1e-12."""
    model, rng = ff.robots.chain(3, base="free"), fresh("closed forms")
    state = ff.symbolic.variables(model)
    q, v, a = ff.random_configuration(model, rng), *rng.standard_normal((2, model.nv))
    tau = sp.Matrix(ff.symbolic.evaluate("inverse_dynamics", model, state.position, state.velocity, state.acceleration).tolist())
    ours = sp.lambdify([*state.position, *state.velocity, *state.acceleration], list(tau), "math", cse=True)(*q, *v, *a)
    close(np.array(ours), ff.inverse_dynamics(model, q, v, a), 1e-12)
    model, rng = ff.robots.chain(2, ["spherical", "helical"]), fresh("traced")
    q, v, a = ff.random_configuration(model, rng), *rng.standard_normal((2, model.nv))
    made = make_function(kernel_routine("inverse_dynamics_derivatives", model), "d")
    for ours, theirs in zip(made(q, v, a), ff.inverse_dynamics_derivatives(model, q, v, a)):
        close(ours, theirs)
    made = make_function(kernel_routine("frame_velocity", model, frame="tip", expressed="world"), "f")
    close(made(q, v), ff.frame_velocity(model, q, v, "tip", expressed="world"))
    model, rng = ff.robots.chain(3, base="free"), fresh("batches")
    q = np.stack([ff.random_configuration(model, rng) for _ in range(5)])
    v, a = rng.standard_normal((2, 4, 1, model.nv))
    made = make_function(kernel_routine("inverse_dynamics", model), "rnea")
    close(made(q, v, a), ff.inverse_dynamics(model, q, v, a), axes=1)
    energy = make_function(routine({"T": x**2 * y}, {"x": x, "y": y}), "T")
    close(energy(np.arange(3.0), np.ones((2, 1))), np.broadcast_to(np.arange(3.0) ** 2, (2, 3)))
    assert np.ndim(energy(1.0, 2.0)) == 0
    made = routine({"a": [sp.sin(x + y), sp.cos(x + y)], "b": sp.sin(x + y) ** 2}, {"p": (x, y)})
    assert [e for _, e in made.steps] == [x + y, sp.sin(made.steps[0][0])]
    assert [(name, shape) for name, shape, _ in made.outputs] == [("a", (2,)), ("b", ())]
    model = ff.robots.chain(2)
    made = kernel_routine("mass_matrix", model)
    steps, results = made.steps, made.outputs[0][2]
    needed = set().union(*(e.free_symbols for e in (*(e for _, e in steps), *results)))
    assert {s for s, _ in steps} <= needed  # no step without use
    assert len({e for _, e in steps}) == len(steps)  # none twice


def test_names_and_functions_that_are_printed(tmp_path):
    """Inputs, results and steps whose names could meet."""
    p = sp.symbols("q_0 t0 t1 r_0")
    made = routine({"r": [sp.sin(p[0] + p[1]) * (p[0] + p[1]), p[2]], "t0": p[3]}, {"q": p[:3], "q_0": p[3]})
    expected = np.sin(3.0) * 3.0
    for call in in_three_languages(made, "f", tmp_path):
        r, last = call(np.array([1.0, 2.0, 5.0]), 7.0)
        close(r, np.array([expected, 5.0]), 1e-15)
        assert float(np.squeeze(last)) == 7.0
    # Each on one number, in three languages
    functions = (sp.sin, sp.cos, sp.tan, sp.asin, sp.acos, sp.atan, sp.sinh, sp.cosh, sp.tanh, sp.exp, sp.log, sp.sqrt)
    e = [*(f(x) for f in functions), sp.atan2(x, 1 - x), sp.Abs(x - 1), x ** sp.Rational(-3, 2), x**5, 1 / x, sp.pi * x, sp.E * x]
    made = routine({"r": e}, {"x": x})
    expected = np.array([float(f.subs(x, 0.3)) for f in e])
    for call in in_three_languages(made, "g", tmp_path):
        close(call(0.3), expected, 1e-15)
    made = routine({"r": x + y}, {"p": (x, y)})
    for language in ("numpy", "numba"):
        refused(ValueError, "p must have 2 entries", make_function(made, "f", language=language), np.zeros(3))
    e = sp.sin(x) ** 2 * sp.cos(y)
    both = make_function(routine({"a": e, "b": reduce_products(e)}, {"p": (x, y)}), "f")
    a, b = both(np.array([0.3, 1.7]))
    assert a == pytest.approx(b, abs=1e-15)


F = sp.Function("F")
ONE = routine({"r": x}, {"x": x})


@pytest.mark.parametrize(("call", "words"), [
    (lambda: routine({"r": x + y}, {"x": x}), "symbols that no input has: y; the inputs are x"),
    (lambda: routine({"r": F(x)}, {"x": x}), r"not evaluated: F\(x\)"),
    (lambda: routine({"r": sp.zoo}, {"x": x}), "r must be finite"),
    (lambda: routine({"r": sp.I * x}, {"x": x}), "complex numbers cannot be printed"),
    (lambda: routine({"r": sp.gamma(x)}, {"x": x}), "gamma cannot be printed; what can: sin, cos"),
    (lambda: routine({"r": [[x], [x, x]]}, {"x": x}), "its rows of one length"),
    (lambda: routine({"r": "x"}, {"x": x}), "r must be"), (lambda: routine({}, {"x": x}), "outputs must be a mapping"),
    (lambda: routine({"r": x}, {"x": x + 1}), "input 'x' must be a symbol or a row of symbols"),
    (lambda: routine({"r": x}, {"p": (x, y), "y": y}), "the symbol y is in two places"),
    (lambda: routine({"x": x}, {"x": x}), "'x' is an input and an output"),
    (lambda: routine({"r": x}, {"lambda": x}), "inputs cannot be named 'lambda'"),
    (lambda: print_source(ONE, "f", language="fortran"), "language must be one of 'numpy', 'numba', 'c', got 'fortran'"),
    (lambda: kernel_routine("mass_matrx", ff.robots.chain(1)), "Did you mean 'mass_matrix'"),
    (lambda: kernel_routine("mass_matrix", "chain"), "model must be|freeflyer Model"),
])  # fmt: skip
def test_bad_input_is_refused(call, words):
    refused(ff.FreeflyerError, words, call)
