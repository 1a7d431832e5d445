"""Public functions on symbols, by their public names, with parameters as symbols."""

import freeflyer as ff
import inspect
import numpy as np
import pytest
import sympy as sp
from closeness import refused
from freeflyer.export.functions import FUNCTIONS

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
    X, Y = np.eye(4), np.eye(4)
    X[0, 3] = 1.0
    Y[:3, :3], Y[:3, 3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]], (0.25, 0.0, 0.0)
    joints = [ff.Joint("shoulder", "revolute", "world", "upper", axis=(0, 0, 1)),
              ff.Joint("elbow", "revolute", "upper", "lower", X, axis=(0, 0, 1))]  # fmt: skip
    joints += [ff.Joint(f"{name}_weld", "fixed", "lower", name, Y) for name in welded]
    return ff.build(ff.Description("arm", (rod("upper"), rod("lower"), *map(rod, welded)), tuple(joints)))


ARM = arm()
PARAMETERS = ff.symbolic.parameters(
    ARM, masses={"upper": m1, "lower": m2}, centers={"upper": (c1, 0, 0), "lower": (c2, 0, 0)},
    inertias={"upper": sp.diag(0, 0, I1), "lower": sp.diag(0, 0, I2)}, positions={"elbow": (l1, 0, 0)}, gravity=(0, -g, 0),
)  # fmt: skip


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
    p = ff.symbolic.parameters(
        model, masses=dict(zip(names, masses)), centers={"tool": x}, inertias={"tool": sp.diag(*x)}, positions={"elbow": x}
    )
    values = {masses[0]: 1.25, masses[1]: 0.75, x[0]: 0.5, x[1]: 0.3, x[2]: 0.7}
    M = ff.symbolic.evaluate("mass_matrix", model, [q1, q2], parameters=p)
    d = model.description
    numbers = [float(values[s]) for s in x]
    links = [ff.Link(k.name, ff.Inertia(
        {"lower": 1.25, "tool": 0.75}.get(k.name, k.inertia.mass), numbers if k.name == "tool" else k.inertia.com,
        np.diag(numbers) if k.name == "tool" else k.inertia.rotational)) for k in d.links]  # fmt: skip
    X = np.eye(4)
    X[:3, 3] = numbers
    joints = [j if j.name != "elbow" else ff.Joint("elbow", "revolute", "upper", "lower", X, axis=(0, 0, 1)) for j in d.joints]
    theirs = ff.mass_matrix(ff.build(ff.Description("arm", tuple(links), tuple(joints))), [0.3, 0.4])
    ours = sp.Matrix(M.tolist()).subs({**values, q1: 0.3, q2: 0.4})
    np.testing.assert_allclose(np.array(ours, float), theirs, rtol=1e-12)
    p = ff.symbolic.parameters(arm("tool"), masses={"lower": 0, "tool": 0}, inertias={"tool": sp.eye(3)})
    M = ff.symbolic.evaluate("mass_matrix", arm("tool"), [q1, q2], parameters=p)
    same([M[1, 1]], [2])


@pytest.mark.parametrize("name", ["quadruped", "kangaroo_like", "holonomic_manipulator"])
def test_a_model_with_its_own_numbers_is_itself(name):
    model = ff.robots.make(name).tree
    links = {k.name: k.inertia for k in model.description.links if k.inertia.mass > 0.0}
    p = ff.symbolic.parameters(
        model, masses={k: x.mass for k, x in links.items()}, centers={k: x.com for k, x in links.items()},
        inertias={k: x.rotational for k, x in links.items()}, gravity=model.description.gravity,
        positions={j.name: j.placement[:3, 3] for j in model.description.joints if j.kind != "fixed"},
    )  # fmt: skip
    np.testing.assert_allclose(np.array(p, float), model.parameters, rtol=1e-13, atol=1e-14)


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
