"""Momentum about the centre of mass does not depend on the world's origin, however far the robot has gone."""

import numpy as np
import pytest
from closeness import close, rounding
from random_robots import KINDS, random_robot
from seeds import fresh

import freeflyer as ff

FAR = 2.0**27  # m, some 1e8: positions near it are rounded to 3e-8 m
TOLERANCE = rounding(450)  # relative: no digit is lost to the distance


def stacked(derivatives: object) -> np.ndarray:
    return np.vstack(derivatives)


QUANTITIES = {
    "momentum": lambda m, q, v, a: ff.centroidal_momentum(m, q, v),
    "matrix": lambda m, q, v, a: ff.centroidal_momentum_matrix(m, q),
    "bias": lambda m, q, v, a: ff.centroidal_bias(m, q, v),
    "rate": lambda m, q, v, a: ff.centroidal_momentum_rate(m, q, v, a),
    "derivatives": lambda m, q, v, a: stacked(ff.centroidal_momentum_derivatives(m, q, v)),
    "derivatives of the rate": lambda m, q, v, a: stacked(ff.centroidal_momentum_rate_derivatives(m, q, v, a)),
}


def state(base: str, seed: int) -> tuple[ff.Model, np.ndarray, np.ndarray, np.ndarray]:
    rng = fresh(seed)
    model = random_robot(rng, 7, KINDS, base)
    return model, ff.random_configuration(model, rng), *rng.standard_normal((2, model.nv))


@pytest.mark.parametrize("name", QUANTITIES)
@pytest.mark.parametrize(("base", "entries"), [("free", 3), ("planar", 2)])
def test_momentum_of_a_robot_far_out(base: str, entries: int, name: str) -> None:
    for seed in range(3):
        model, q, v, a = state(base, seed)
        at = model.joint("base").iq
        q[at : at + entries] = 0.0
        away = q.copy()
        away[at : at + entries] = FAR
        here, there = (QUANTITIES[name](model, x, v, a) for x in (q, away))
        close(there, here, TOLERANCE, here.ndim)


@pytest.mark.parametrize("name", QUANTITIES)
def test_two_trees_far_out_together(name: str) -> None:
    """At positions that are exact there as here."""
    for seed in range(3):
        model, q, v, a = state("two free", seed)
        d = model.description
        for joint in ("base", "other_base"):
            d = d.with_joint(ff.Joint(**{**vars(d.joint(joint)), "placement": np.eye(4)}))
        model = ff.build(d)
        first, second = model.joint("base").iq, model.joint("other_base").iq
        q[first : first + 3], q[second : second + 3] = 0.0, (0.5, -0.25, 1.0)
        away = q.copy()
        away[first : first + 3] += FAR
        away[second : second + 3] += FAR
        here, there = (QUANTITIES[name](model, x, v, a) for x in (q, away))
        close(there, here, TOLERANCE, here.ndim)
