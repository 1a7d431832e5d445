"""Kernels on symbols and on complex numbers: closed forms and derivatives."""

import freeflyer as ff
import mpmath
import numpy as np
import pytest
import sympy as sp
from freeflyer.kernels import plain
from freeflyer.kernels.model import layout as L
from kernel_samples import states, tree

SYMBOLS = sp.symbols("q1 q2 v1 v2 a1 a2 m1 m2 l1 c1 c2 I1 I2 g t1 t2")
q1, q2, v1, v2, a1, a2, m1, m2, l1, c1, c2, I1, I2, g, t1, t2 = SYMBOLS


@pytest.fixture(scope="module")
def arm():
    """(model, parameters) of a vertical two-link arm with symbolic masses, lengths and inertias."""
    z, X = np.array([0.0, 0.0, 1.0]), np.eye(4)
    X[0, 3] = 1.0
    inertia = ff.Inertia(1.0, np.array([0.5, 0.0, 0.0]), np.eye(3))
    model = ff.build(ff.Description(
        "arm", (ff.Link("upper", inertia), ff.Link("lower", inertia)),
        (ff.Joint("shoulder", "revolute", "world", "upper", axis=z), ff.Joint("elbow", "revolute", "upper", "lower", X, axis=z)),
    ))  # fmt: skip
    parameters = model.parameters.tolist()
    parameters[L.GRAVITY : L.GRAVITY + 3] = [0, -g, 0]
    for i, (m, c, I) in enumerate([(m1, c1, I1), (m2, c2, I2)], 1):
        at = L.BODIES + L.BODY_FLOATS * i
        parameters[at + L.MASS] = m
        parameters[at + L.COM : at + L.COM + 3] = [c, 0, 0]
        parameters[at + L.INERTIA : at + L.INERTIA + 6] = [0, 0, 0, 0, 0, I]
    parameters[L.BODIES + 2 * L.BODY_FLOATS + L.TRANSLATION] = l1
    return model, plain.complete_parameters(model, parameters)


M12 = I2 + m2 * c2 * (c2 + l1 * sp.cos(q2))
M11 = I1 + I2 + m1 * c1**2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * sp.cos(q2))
MASS = sp.Matrix([[M11, M12], [M12, I2 + m2 * c2**2]])
G2 = m2 * g * c2 * sp.cos(q1 + q2)
GRAVITY = sp.Matrix([(m1 * c1 + m2 * l1) * g * sp.cos(q1) + G2, G2])

POINT = [mpmath.mpf(k * k + 3) / (k + 7) for k in range(len(SYMBOLS))]


def test_symbols_for_every_joint_kind():
    """Symbolic results with numbers put in are the numeric ones; turns of quaternions take their closed form."""
    model = ff.robots.chain(3, ["spherical", "planar", "helical"], base="free")
    q, v, _ = states(model)
    x, w = sp.symbols(f"q:{model.nq}"), sp.symbols(f"v:{model.nv}")
    for name, options, theirs in (
        ("integrate", (), ff.integrate(model, q, v)),
        ("frame_velocity", (model.frame("tip"), 0), ff.frame_velocity(model, q, v, "tip")),
    ):
        ours = plain.run(name, model, x, w, *options)
        values = np.array(sp.lambdify([x, w], ours.tolist(), cse=True)(q, v))
        np.testing.assert_allclose(values, theirs, rtol=0, atol=1e-12)


def test_complex_steps():
    """d tau / d q in the tangent space: the step goes through integrate, also for quaternions."""
    model = tree(mimic=True)
    q, v, a = states(model)
    exact, nearly = np.empty((2, model.nv, model.nv))
    eps = 1e-5
    for j, e in enumerate(np.eye(model.nv)):
        moved = plain.run("integrate", model, q.astype(complex), 1e-30j * e)
        tau = plain.run("rnea", model, moved, v, a)
        exact[:, j] = tau.astype(complex).imag / 1e-30
        up, down = (ff.inverse_dynamics(model, ff.integrate(model, q, s * eps * e), v, a) for s in (1, -1))
        nearly[:, j] = (up - down) / (2 * eps)
    scale = np.abs(exact).max()
    assert np.abs(exact - nearly).max() < 1e-8 * scale
    assert np.abs(exact).min(axis=None) < scale  # not a matrix of one number
    assert np.linalg.norm(exact) > 1.0
    # q0 (+) w leads back to w, so the derivative of the difference along w is the identity
    model = tree()
    q, v, _ = states(model)
    for j in range(model.nv):
        w = 0.5 * v.astype(complex)
        w[j] += 1e-25j
        back = plain.run("difference", model, q.astype(complex), plain.run("integrate", model, q.astype(complex), w))
        np.testing.assert_allclose(back.astype(complex).imag / 1e-25, np.eye(model.nv)[j], atol=1e-10)
