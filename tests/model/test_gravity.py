"""Gravity is a vector: a lone number is refused wherever a gravity is taken, with the vector to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import freeflyer as ff
from freeflyer import control

MODEL = ff.robots.chain(2)
Q = np.zeros(2)
INPUTS = control.joint_inputs(MODEL)
URDF = (
    '<robot name="r"><link name="a"><inertial><mass value="1"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
)
TAKERS: dict[str, Callable[[Any], Any]] = {
    "with_gravity": lambda g: ff.with_gravity(MODEL, g),
    "load": lambda g: ff.load(URDF, gravity=g),
    "build": lambda g: ff.build(replace(MODEL.description, gravity=g)),
    "inverse_dynamics": lambda g: ff.inverse_dynamics(MODEL, Q, Q, Q, gravity=g),
    "forward_dynamics": lambda g: ff.forward_dynamics(MODEL, Q, Q, Q, gravity=g),
    "bias_forces": lambda g: ff.bias_forces(MODEL, Q, Q, gravity=g),
    "gravity_forces": lambda g: ff.gravity_forces(MODEL, Q, gravity=g),
    "potential_energy": lambda g: ff.potential_energy(MODEL, Q, gravity=g),
    "step": lambda g: ff.step(MODEL, Q, Q, Q, 0.01, gravity=g),
    "linearize": lambda g: ff.linearize(MODEL, Q, Q, Q, gravity=g),
    "simulate": lambda g: ff.sim.simulate(MODEL, Q, Q, dt=0.01, duration=0.02, gravity=g),
    "lqr": lambda g: control.lqr(MODEL, Q, INPUTS, gravity=g),
    "equilibrium": lambda g: control.equilibrium(MODEL, Q, INPUTS, gravity=g),
}
LONE = {-9.81: -9.81, 9.81: -9.81, 0: 0.0, 3: -3.0, np.float32(1.5): -1.5}


@pytest.mark.parametrize("lone", LONE, ids=repr)
@pytest.mark.parametrize("taker", TAKERS)
def test_lone_numbers_are_refused(taker, lone):
    for g in (lone, np.array(lone), [lone], np.array([[lone]])):
        with pytest.raises(ff.FreeflyerError, match=r"gravity is the lone number") as caught:
            TAKERS[taker](g)
        assert re.search(rf"\(0\.0, 0\.0, {LONE[lone]!r}\)", str(caught.value))


@pytest.mark.parametrize("taker", TAKERS)
def test_masked_gravities_are_refused(taker):
    with pytest.raises(ff.FreeflyerError, match="gravity"):
        TAKERS[taker](np.ma.masked_array([0.0, 0.0, -9.81], [0, 0, 1]))


@pytest.mark.parametrize("taker", TAKERS)
def test_vectors_are_taken(taker):
    for g in ((0, 0, -1), [0.0, 1.0, 2.0], np.array([0, 0, 1], np.float32)):
        TAKERS[taker](g)
