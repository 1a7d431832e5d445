"""Momentum about the centre of mass does not depend on the world's origin, however far the robot has gone."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh, rounding
from dataclasses import replace
from random_robots import KINDS, random_robot

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


@pytest.mark.parametrize("name", QUANTITIES)
@pytest.mark.parametrize("base", ["free", "planar", "two free"])
def test_momentum_of_robots_far_out(base: str, name: str) -> None:
    """Of one tree, and of two together, at positions that are exact there as here."""
    for seed in range(3):
        rng = fresh(seed)
        model = random_robot(rng, 7, KINDS, base)
        d = model.description
        for joint in ("base", "other_base") if base == "two free" else ():
            d = d.with_joint(replace(d.joint(joint), placement=np.eye(4)))
        model = ff.build(d)
        q, (v, a) = ff.random_configuration(model, rng), rng.standard_normal((2, model.nv))
        away = q.copy()
        for joint, place in (("base", 0.0), ("other_base", (0.5, -0.25, 1.0)))[: 1 + (base == "two free")]:
            at = model.joint(joint).iq
            q[at : at + 2 + (base != "planar")] = place
            away[at : at + 2 + (base != "planar")] = np.add(place, FAR)
        here, there = (QUANTITIES[name](model, x, v, a) for x in (q, away))
        close(there, here, TOLERANCE, here.ndim)
