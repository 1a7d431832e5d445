"""Axes of joints are turned to z: a twist is left, and an azimuth at branches."""

import freeflyer as ff
import numpy as np
import pytest
import sympy as sp
from closeness import fresh
from freeflyer.kernels import plain
from freeflyer.kernels.model import layout as L
from freeflyer.model.flatten import Body, align
from random_robots import random_placement


def tree(placements):
    """A world, a floating base, a screw on it, and two screws on that."""
    bodies = [Body(0, L.SCREW, 0, (), np.eye(4)), Body(0, L.FLOATING, 0, tuple(range(6)), np.eye(4))]
    for parent, X in zip((1, 2, 2), placements):
        bodies.append(Body(parent, L.SCREW, 0, (0,), X, (1.0, 0.5, 0.2, 0.0), 2.0, np.ones(3), np.diag([1.0, 2.0, 3.0])))
    return bodies


HALF = np.diag([1.0, -1.0, -1.0, 1.0])
TIP, *GENERIC = (random_placement(fresh(k)) for k in range(4))
CASES = {"generic": GENERIC, "parallel": (np.eye(4), np.eye(4), HALF)}


@pytest.mark.parametrize("case", CASES)
def test_a_twist_is_left_and_an_azimuth_at_branches(case):
    bodies = tree(CASES[case])
    result, frames = align(bodies, [("tip", 4, TIP)])
    for b in result[2:]:
        R = b.placement[:3, :3]
        azimuth, twist = R[:, 0], np.array([[1.0, 0, 0], [0, R[2, 2], -R[2, 1]], [0, R[2, 1], R[2, 2]]])
        Rz = np.array([[azimuth[0], -azimuth[1], 0], [azimuth[1], azimuth[0], 0], [0, 0, 1.0]])
        np.testing.assert_allclose(Rz @ twist, R, atol=1e-15)
        assert R[2, 0] == 0.0
    np.testing.assert_array_equal(result[3].placement[:3, 0], [1.0, 0.0, 0.0])  # the first child of a screw
    q = 0.7
    np.testing.assert_allclose(pose(result, 4, q) @ frames[0][2], pose(bodies, 4, q) @ TIP, atol=1e-14)
    for a, b in zip(bodies, result):
        np.testing.assert_allclose(np.linalg.eigvalsh(b.rotational), np.linalg.eigvalsh(a.rotational), atol=1e-14)


def pose(bodies, i, q):
    X = np.eye(4)
    while i > 1:
        b = bodies[i]
        angle, slide = b.screw[0] * q + b.screw[2], b.screw[1] * q + b.screw[3]
        c, s = np.cos(angle), np.sin(angle)
        X = b.placement @ np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, slide], [0, 0, 0, 1.0]]) @ X
        i = b.parent
    return X


def test_symbols_meet_whole_quarter_turns():
    """Offsets that alignment brings in are multiples of pi / 2 here, and disappear from closed forms."""
    model = ff.robots.chain(3, ["revolute"])
    q = sp.symbols("q1:4")
    G = sp.Matrix(plain.run("gravity", model, q))
    assert G.free_symbols <= set(q)
    assert not any(abs(abs(x) - sp.pi / 2) < 1e-6 for x in G.atoms(sp.Float))
    point = [0.3, -0.2, 0.5]
    expected = ff.gravity_forces(model, np.array(point))
    np.testing.assert_allclose(np.array(G.subs(dict(zip(q, point))), float).ravel(), expected, atol=1e-12)
