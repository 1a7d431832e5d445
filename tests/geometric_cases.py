"""Robots and states on which the formulations are tried; derivatives by complex steps and by differences."""

import freeflyer as ff
import numpy as np
from closeness import fresh, rounding
from random_robots import random_robot
from tangent import rates  # noqa: F401

CASES = [(base, mimics, seed) for base in ("free", "fixed", "planar", "two free") for mimics in (0.0, 0.4) for seed in (1,
         2)]  # fmt: skip


def state(model: ff.Model, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random q, v, a."""
    v, a = rng.standard_normal((2, model.nv))
    return ff.random_configuration(model, rng), v, a


def solved(model: ff.Model, q: np.ndarray) -> float:
    """Bound of the relative error of what is solved with the mass matrix."""
    return max(1e-10, rounding(10_000, float(np.linalg.cond(ff.mass_matrix(model, q)))))


def robot_and_state(base: str, mimics: float, seed: int,
        joints: int = 8) -> tuple[ff.Model, np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    rng = fresh(seed)
    model = random_robot(rng, joints, base=base, mimics=mimics)
    return model, *state(model, rng)


