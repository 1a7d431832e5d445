"""Public functions on symbols, canonical forms, rates and Jacobians."""

import freeflyer as ff
import inspect
import numpy as np
import pytest
import sympy as sp
from closeness import close, close_to_rate, close_to_slopes, fresh, refused
from dataclasses import replace
from freeflyer.export.functions import FUNCTIONS
from freeflyer.symbolic import coefficient_matrix, is_zero, jacobian, reduce_products, time_derivative, variables
from freeflyer_papers import planar
from linkage_samples import shifted

q1, q2, v1, v2, a1, a2, m1, m2, l1, c1, c2, I1, I2, g, t1, t2 = sp.symbols("q1 q2 v1 v2 a1 a2 m1 m2 l1 c1 c2 I1 I2 g t1 t2")
M12 = I2 + m2 * c2 * (c2 + l1 * sp.cos(q2))
M11 = I1 + I2 + m1 * c1**2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * sp.cos(q2))
MASS = sp.Matrix([[M11, M12], [M12, I2 + m2 * c2**2]])
h = m2 * l1 * c2 * sp.sin(q2)
G2 = m2 * g * c2 * sp.cos(q1 + q2)
GRAVITY = sp.Matrix([(m1 * c1 + m2 * l1) * g * sp.cos(q1) + G2, G2])


def rod(name: str) -> ff.Link:
    return ff.Link(name, ff.Inertia(1.0, np.array([0.5, 0.0, 0.0]), np.eye(3)))


def arm(*welded: str) -> ff.Model:
    """A vertical two-link arm about z; links `welded` are fixed to the second one, turned and shifted."""
    Y = shifted(0.25)
    Y[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    joints = [ff.Joint("shoulder", "revolute", "world", "upper", axis=(0, 0, 1)),
              ff.Joint("elbow", "revolute", "upper", "lower", shifted(1.0), axis=(0, 0, 1))]  # fmt: skip
    joints += [ff.Joint(f"{name}_weld", "fixed", "lower", name, Y) for name in welded]
    return ff.build(ff.Description("arm", (rod("upper"), rod("lower"), *map(rod, welded)), tuple(joints)))


ARM = arm()
PARAMETERS = ff.symbolic.parameters(ARM, masses={"upper": m1, "lower": m2}, centers={"upper": (c1, 0, 0), "lower": (c2, 0, 0)},
    inertias={"upper": sp.diag(0, 0, I1), "lower": sp.diag(0, 0, I2)}, positions={"elbow": (l1, 0, 0)},
    gravity=(0, -g, 0))  # fmt: skip


def same(a, b):
    """Equality of formulas, proved by simplification."""
    assert sp.simplify(sp.Matrix(a) - sp.Matrix(b)) == sp.zeros(*sp.Matrix(b).shape)


def test_arms_and_welds():
    """Spong, Hutchinson, Vidyasagar, Robot Modeling and Control (2006), section 7.4, planar elbow manipulator."""
    q, v, a = [q1, q2], [v1, v2], [a1, a2]
    same(ff.symbolic.evaluate("mass_matrix", ARM, q, parameters=PARAMETERS).tolist(), MASS)
    same(ff.symbolic.evaluate("gravity_forces", ARM, q, parameters=PARAMETERS).tolist(), GRAVITY)
    coriolis = sp.Matrix([-h * v2 * (2 * v1 + v2), h * v1**2])
    same(ff.symbolic.evaluate("bias_forces", ARM, q, v, parameters=PARAMETERS).tolist(), coriolis + GRAVITY)
    tau = ff.symbolic.evaluate("inverse_dynamics", ARM, q, v, a, parameters=PARAMETERS)
    same(tau.tolist(), MASS * sp.Matrix(a) + coriolis + GRAVITY)
    energy = ff.symbolic.evaluate("kinetic_energy", ARM, q, v, parameters=PARAMETERS)
    same([energy.expand(trig=True)], [((sp.Matrix([v]) * MASS * sp.Matrix(v))[0] / 2).expand(trig=True)])
    J = sp.Symbol("J")
    p = ff.symbolic.parameters(ARM, armatures={"elbow": J})
    plain = ff.symbolic.evaluate("mass_matrix", ARM, [q1, q2])
    same(ff.symbolic.evaluate("mass_matrix", ARM, [q1, q2], parameters=p).tolist(), sp.Matrix(plain.tolist()) + sp.diag(0, J))
    # Numbers put in afterwards give the model of those numbers
    model, names = arm("tool", "sensor"), ("lower", "tool")
    masses, x = sp.symbols("mass_a mass_b"), sp.symbols("x y z")
    p = ff.symbolic.parameters(model, masses=dict(zip(names, masses)), centers={"tool": x}, inertias={"tool": sp.diag(*x)},
        positions={"elbow": x})  # fmt: skip
    values = {masses[0]: 1.25, masses[1]: 0.75, x[0]: 0.5, x[1]: 0.3, x[2]: 0.7}
    M = ff.symbolic.evaluate("mass_matrix", model, [q1, q2], parameters=p)
    d, numbers = model.description, [values[s] for s in x]
    d = d.with_link(ff.Link("lower", replace(d.link("lower").inertia, mass=1.25)))
    d = d.with_link(ff.Link("tool", ff.Inertia(0.75, numbers, np.diag(numbers))))
    d = d.with_joint(replace(d.joint("elbow"), placement=shifted(*numbers)))
    theirs = ff.mass_matrix(ff.build(d), [0.3, 0.4])
    ours = sp.Matrix(M.tolist()).subs({**values, q1: 0.3, q2: 0.4})
    np.testing.assert_allclose(np.array(ours, float), theirs, rtol=1e-12)
    p = ff.symbolic.parameters(arm("tool"), masses={"lower": 0, "tool": 0}, inertias={"tool": sp.eye(3)})
    M = ff.symbolic.evaluate("mass_matrix", arm("tool"), [q1, q2], parameters=p)
    same([M[1, 1]], [2])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_goes_by_its_public_name(name):
    """Its numbers, from the plain kernel, are the public function's."""
    model = ff.robots.chain(2, ["universal", "spherical"], base="free")
    rng = np.random.default_rng(len(name))
    q = ff.random_configuration(model, rng)
    v, a = rng.standard_normal((2, model.nv))
    of = FUNCTIONS[name]
    given = {"q": q, "q0": q, "q1": ff.integrate(model, q, 0.3 * v), "v": v, "dv": v, "a": a, "tau": a}
    rows = [given[k] for k in of.inputs if k not in of.zero]
    frame = {"frame": "tip"} if "frame" in of.entry.options else {}
    ours = ff.symbolic.evaluate(name, model, *rows, **frame)
    public = getattr(ff, name.removesuffix("_hamel"), None)
    if name.startswith("decoupled_"):
        public, form = ff.decoupling.decouple, {"form": name.removeprefix("decoupled_")}
    if public is None:  # poses and motions of all bodies have no public function
        assert name in ("body_motions", "body_poses")
        return
    if "frame" in inspect.signature(public).parameters:
        rows.insert(1 if name in ("frame_pose", "frame_jacobian") else len(rows), "tip")
    if not name.startswith("decoupled_"):
        form = {"form": "hamel"} if name.endswith("_hamel") else {}
    theirs = public(model, *rows, **form)
    theirs = (theirs,) if isinstance(theirs, float | np.ndarray) else (theirs.A, theirs.B) if name == "linearize" else theirs
    ours = ours if isinstance(ours, tuple) else (ours,)
    for x, y in zip(ours, theirs):
        y = np.asarray(y)
        np.testing.assert_allclose(np.asarray(x, float).reshape(y.shape), y, rtol=0, atol=1e-11 * max(1.0, np.abs(y).max()))


@pytest.mark.parametrize(("call", "words"), [
    (lambda: ff.symbolic.evaluate("mass_matrx", ARM, [q1, q2]), "no function is named 'mass_matrx'. Did you mean 'mass_matrix'"),
    (lambda: ff.symbolic.evaluate("mass_matrix", ARM, [q1]), "q has 1 scalars, expected 2"),
    (lambda: ff.symbolic.evaluate("mass_matrix", ARM, q1), "q must be one flat row"),
    (lambda: ff.symbolic.evaluate("mass_matrix", ARM), r"takes 1 rows of scalars \(q\), got 0"),
    (lambda: ff.symbolic.evaluate("mass_matrix", ARM, [q1, q2], frame="upper"), "takes no frame"),
    (lambda: ff.symbolic.evaluate("frame_pose", ARM, [q1, q2]), "takes a frame"),
    (lambda: ff.symbolic.evaluate("mass_matrix", ARM, [q1, q2], expressed="world"), "no expression 'world'"),
    (lambda: ff.symbolic.evaluate("mass_matrix", ARM, [q1, q2], parameters=[1.0]), "expected"),
    (lambda: ff.symbolic.evaluate("mass_matrix", ff.close_loops(ff.robots.kangaroo_like()), []), "open loops"),
    (lambda: ff.symbolic.evaluate("mass_matrix", "arm", [q1, q2]), "model must be|freeflyer Model"),
    (lambda: ff.symbolic.parameters(ARM, centers={"upper": (c1, 0)}), "three scalars"),
    (lambda: ff.symbolic.parameters(ARM, inertias={"upper": sp.eye(2)}), "symmetric matrix"),
    (lambda: ff.symbolic.parameters(arm("tool"), positions={"tool_weld": (l1, 0, 0)}), "is fixed"),
    (lambda: ff.symbolic.parameters(ff.robots.chain(1, "spherical"), armatures={"joint_1": I1}), "one velocity coordinate"),
    (lambda: ff.symbolic.parameters(ARM, masses={"lower": None}), "the mass of 'lower' must be a number or a symbol"),
    (lambda: ff.symbolic.parameters(ARM, masses={"lower": sp.nan}), "must be finite"),
    (lambda: ff.symbolic.parameters(ff.robots.chain(2), masses={"link_0": m1}), "do not move .* 'link_0'"),
])  # fmt: skip
def test_bad_input_is_refused(call, words):
    refused(ff.FreeflyerError, words, call)


a, b, c = sp.symbols("a b c", real=True)
m, k = sp.symbols("m k", positive=True)


def random_polynomial(rng) -> sp.Expr:
    """A sum of products of sines and cosines with symbols."""
    waves = [f(int(x) * a + int(y) * b) for f in (sp.sin, sp.cos) for x, y in rng.integers(-1, 2, (3, 2))]
    return sum(sp.Mul(int(rng.integers(1, 5)), (m, k)[int(rng.integers(2))], *rng.choice(waves, 2)) for _ in range(3))


@pytest.mark.parametrize("n", range(6))
def test_reduced_products_are_equal_and_canonical(n):
    rng = fresh("waves", n)
    x, y = random_polynomial(rng), random_polynomial(rng)
    at = dict(zip((a, b, m, k), rng.uniform(0.5, 2.0, 4)))
    form = reduce_products(x * y)
    assert abs(float((form - x * y).evalf(30, subs=at))) < 1e-12 * 1e4
    assert not any(p.has(sp.sin, sp.cos) for term in sp.Add.make_args(sp.expand(form)) for p in term.atoms(sp.Pow))
    assert reduce_products(sp.expand(sp.expand_trig(x))) == reduce_products(x)
    assert is_zero(sp.expand_trig(x * y) - form)
    assert not is_zero(x + 1)
    quotient = x / (y**2 + k)
    assert abs(float((reduce_products(quotient) - quotient).evalf(30, subs=at))) < 1e-9


def test_zero_rates_and_coefficients():
    assert is_zero(sp.tan(a) ** 2 + 1 - 1 / sp.cos(a) ** 2)
    assert is_zero(1 / (1 + m) + m / (1 + m) - 1)
    assert not is_zero(sp.sin(a) - sp.sin(b))
    assert is_zero(sp.Matrix([[0, sp.sin(a) ** 2 + sp.cos(a) ** 2 - 1]]))
    assert not is_zero(sp.Matrix([[0, 1]]))
    # Of a frame's pose and a kinetic energy on a floating chain
    model, rng = ff.robots.chain(1, "revolute", base="free"), fresh("space")
    state = variables(model)
    q, v, acc = ff.random_configuration(model, rng), *rng.standard_normal((2, model.nv))
    X = sp.Matrix(ff.symbolic.evaluate("frame_pose", model, state.position, frame="tip").tolist())
    numbers = [*q, *v, *acc]
    symbols = [*state.position, *state.velocity, *state.acceleration]
    X_rate = np.array(sp.lambdify(symbols, time_derivative(X, state), cse=True)(*numbers), float)
    close_to_rate(X_rate, lambda t: ff.frame_pose(model, ff.integrate(model, q, t * v), "tip"))
    J = np.array(sp.lambdify(symbols, jacobian(X[:3, 3], state), cse=True)(*numbers), float)
    close(J, ff.frame_jacobian(model, q, "tip", expressed="mixed")[:3])
    close_to_slopes(J, lambda e: ff.frame_pose(model, ff.integrate(model, q, e), "tip")[:3, 3])
    speed = state.velocity[0] * X[0, 3]
    rate = float(sp.lambdify(symbols, time_derivative(speed, state), cse=True)(*numbers))
    assert rate == pytest.approx(acc[0] * ff.frame_pose(model, q, "tip")[0, 3] + v[0] * (J @ v)[0], abs=1e-12)
    x, y = sp.symbols("x y")
    M, rest = coefficient_matrix([2 * c * x * y + 3 * x + c, y**2 - x * sp.sin(a)], (x, y))
    assert is_zero(M * sp.Matrix([x, y]) + rest - sp.Matrix([2 * c * x * y + 3 * x + c, y**2 - x * sp.sin(a)]))
    assert (list(rest), sp.ImmutableMatrix([[c * y + 3, c * x], [-sp.sin(a), y]])) == ([c, 0], M)
    # Papers/004, (2.36)-(2.37) on SE(2): rates; angles of matrices
    state = planar.variables(2)
    q1, q2 = state.position[3:]
    X = planar.Pose(q1, (m, k * q2))
    twist = planar.twist_jacobian(X, state) * sp.Matrix(state.velocity)
    little = planar.twist_adjoint(twist)
    assert is_zero(time_derivative(planar.adjoint(X), state) - planar.adjoint(X) * little)
    assert is_zero(little * twist)
    assert (planar.pose_of(X.matrix).angle, planar.pose_of(X.inverse.matrix).angle) == (q1, -q1)
    turned = planar.pose_of(sp.Matrix([[3, -4, 0], [4, 3, 0], [0, 0, 5]]) / 5)
    assert turned.angle == sp.atan2(sp.Rational(4, 5), sp.Rational(3, 5))


ROBOTS = [("revolute", "spherical"), ("planar", "helical", "universal"), ("spherical", "prismatic")]


@pytest.mark.parametrize("kinds", ROBOTS)
def test_rates_of_configurations_are_those_of_integrate(kinds):
    """SE(3) x R^n with every joint kind: the rate of q is the slope of integrate(q, t v)."""
    model, rng = ff.robots.chain(3, kinds, base="free"), fresh(*kinds)
    state = variables(model)
    q, v = ff.random_configuration(model, rng), rng.standard_normal(model.nv)
    E = np.array(sp.lambdify([state.position], state.rates)(q), float)
    close_to_rate(E @ v, lambda t: ff.integrate(model, q, t * v))


F, t = sp.Function("F"), sp.Symbol("t")
STATE = planar.variables(1)
Q = STATE.position[3]
ROBOT = planar.prismatic_hopper()
POINT = planar.robot(planar.variables(0), [], [("base", m, 0, 0, 0)], gravity=1)


@pytest.mark.parametrize(("call", "words"), [
    (lambda: reduce_products("sin(a)"), "must be a formula of SymPy or a number, got str"),
    (lambda: reduce_products(sp.Integral(sp.sin(a), a)), r"not evaluated: Integral; call .doit\(\)"),
    (lambda: is_zero(sp.oo * m), "must be finite"),
    (lambda: time_derivative(STATE.acceleration[0], STATE), "rate of an acceleration has no symbol: x holds vdot_x"),
    (lambda: time_derivative(Q, ROBOT), "variables must be a freeflyer Variables"),
    (lambda: jacobian(STATE.velocity[1], STATE), "function of the configuration alone, it holds v_y"),
    (lambda: jacobian(sp.eye(2), STATE), r"a row of some, got a matrix of shape \(2, 2\)"),
    (lambda: coefficient_matrix([sp.sin(a)], [a]), "must be a polynomial of degree 2 at most in a"),
    (lambda: coefficient_matrix([a], []), "unknowns must be symbols, each once"),
    (lambda: planar.pose_of(sp.eye(4)), r"H must have the shape \(3, 3\), got \(4, 4\)"),
    (lambda: planar.pose_of(sp.ones(3)), "H must be a pose"),
    (lambda: planar.adjoint(sp.eye(3)), "pose must be a Pose, got MutableDenseMatrix; freeflyer_papers.planar.pose_of"),
    (lambda: planar.twist_adjoint([1, 2]), r"twist must be \[vx, vy, omega\]"),
    (lambda: planar.link_inertia([(0, 0)], [m, k], [0, 0]), "got 2 masses, 1 centers, 2 inertias"),
    (lambda: planar.link_inertia([], [], []), "a mass has one centre"),
    (lambda: planar.link_inertia([(0, 0)], [0], [1]), "without mass have no centre"),
    (lambda: planar.variables(-1), "n, the number of joints, must be"),
    (lambda: planar.variables(1.5), "n must be a whole number"),
    (lambda: planar.robot(STATE, [("a", Q, 0)], [], gravity=9.8), r"a row of frames is \(name, x, y, angle\)"),
    (lambda: planar.robot(STATE, [("a", Q, 0, 0), ("a", 0, 0, 0)], [], gravity=9.8), "two frames are named 'a'"),
    (lambda: planar.robot(STATE, [("base", Q, 0, 0)], [], gravity=9.8), "a name of its own, other than 'base'"),
    (lambda: planar.robot(STATE, [("a", Q, 0, 0, "b")], [], gravity=9.8), "no frame above this row is named 'b'"),
    (lambda: planar.robot(STATE, [("a", STATE.velocity[0], 0, 0)], [], gravity=9.8), "frame 'a' must not depend on v_x"),
    (lambda: planar.robot(STATE, [("a", Q, 0, 0)], [("a", Q, 0, 0, 0)], gravity=9.8), "a mass of frame 'a' must not depend on q1"),
    (lambda: planar.robot(STATE, [("a", Q, 0, 0)], [("foot", m, 0, 0, 0)], gravity=9.8), "no frame is named 'foot'"),
    (lambda: planar.robot(STATE, [("a", Q, 0, 0)], [], gravity=9.8), "a robot needs masses"),
    (lambda: planar.robot(STATE, [("a", 1, 0, 0)], [("a", m, 0, 0, 0)], gravity=9.8), "joint variables that stand in no frame: q1"),
    (lambda: planar.robot(STATE, [("a", Q, 0, 0)], [("a", m, 0, 0)], gravity=9.8), r"a row of masses is \(frame, mass"),
    (lambda: planar.frame_pose(ROBOT, "knee"), "no frame is named 'knee'"),
    (lambda: planar.frame_pose(ROBOT, "foot", reference="foot"), "reference must be one of 'base', 'world'"),
    (lambda: planar.frame_pose("hopper", "foot"), "robot must be a PlanarRobot"),
    (lambda: planar.coriolis_matrix(ROBOT, form="lagrange"), "form must be one of 'passive', 'hamel'"),
    (lambda: planar.inverse_mass_matrix(POINT), "singular in every posture"),
    (lambda: variables(ff.close_loops(ff.robots.kangaroo_like())), "with open loops"),
    (lambda: variables("robot"), "freeflyer Model"),
])  # fmt: skip
def test_bad_formulas_are_refused(call, words):
    refused(ff.FreeflyerError, words, call)
