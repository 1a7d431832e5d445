"""Bad arguments of the formulations end in an InputError that names them, before anything is computed."""

from __future__ import annotations

import numpy as np
import pytest
from geometric_cases import robot_and_state

import freeflyer as ff
from freeflyer.formulations import geometric

MODEL, Q, V, A = robot_and_state("free", 0.4, 9)
FUNCTIONS = {
    "inverse_dynamics": ("q", "v", "a"), "inverse_dynamics_derivatives": ("q", "v", "a"), "inverse_mass_matrix": ("q",),
    "forward_dynamics_derivatives": ("q", "v", "tau"), "linearize": ("q", "v", "tau"),
}  # fmt: skip
GOOD = {"q": Q, "v": V, "a": A, "tau": A}


def spoiled(x: np.ndarray, value: float) -> np.ndarray:
    out = x.copy()
    out[-1] = value
    return out


BAD = {
    "too short": lambda x: x[:-1], "too long": lambda x: np.append(x, 0.0), "a batch": lambda x: np.stack([x, x]),
    "a scalar": lambda x: 1.0, "text": lambda x: ["a"] * len(x), "complex": lambda x: x + 0j, "None": lambda x: None,
    "NaN": lambda x: spoiled(x, np.nan), "infinity": lambda x: spoiled(x, np.inf),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize(("name", "at"), [(n, k) for n, names in FUNCTIONS.items() for k in range(len(names))])
def test_bad_arrays(name, at, kind):
    arguments = [GOOD[k] for k in FUNCTIONS[name]]
    arguments[at] = BAD[kind](arguments[at])
    with pytest.raises(ff.InputError, match=rf"^{FUNCTIONS[name][at]}\b"):
        getattr(geometric, name)(MODEL, *arguments)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_quaternions_must_be_unit(name):
    arguments = [GOOD[k] for k in FUNCTIONS[name]]
    arguments[0] = Q.copy()
    arguments[0][3:7] *= 1.01
    with pytest.raises(ff.InputError, match="quaternion"):
        getattr(geometric, name)(MODEL, *arguments)
