"""Robots and states on which the formulations are tried; derivatives by complex steps and by differences."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import freeflyer as ff

sys.path.insert(0, str(Path(__file__).parents[1] / "dynamics"))
from flow import central, rates  # noqa: F401
from random_robots import random_robot

H = 1e-30  # complex steps lose nothing to rounding, however small
CASES = [
    (base, mimics, seed) for base in ("free", "fixed", "planar", "two free") for mimics in (0.0, 0.4) for seed in (1, 2)
]


def state(model: ff.Model, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random q, v, a."""
    v, a = rng.standard_normal((2, model.nv))
    return ff.random_configuration(model, rng), v, a


def robot_and_state(
    base: str, mimics: float, seed: int, joints: int = 8
) -> tuple[ff.Model, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    model = random_robot(rng, joints, base=base, mimics=mimics)
    return model, *state(model, rng)


def complex_steps(f: Callable[[np.ndarray], np.ndarray], n: int) -> np.ndarray:
    """df/dx (m, n) at x = 0, of f given the imaginary step 1j * H * unit vector."""
    return np.stack([f(1j * H * e).imag / H for e in np.eye(n)], axis=-1)


def differences(f: Callable[[np.ndarray], np.ndarray], n: int, h: float = 1e-3) -> np.ndarray:
    """df/dx (m, n) at x = 0 by central differences of fourth order."""
    return np.stack([central(lambda t, e=e: f(t * e), h) for e in np.eye(n)], axis=-1)


def close(actual: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    """Equal within tolerance times the largest entry (or one)."""
    assert actual.shape == expected.shape
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=tolerance * scale)
