"""Estimation on random closed robots: passive states, offsets and wrenches come back from what they were made of."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, rounding
from estimation_robots import resting_forces
from freeflyer import estimation, linkages
from freeflyer.contacts import contact_from_points as sole
from functools import cache
from linkage_samples import driven_linkage
from seeds import fresh

KINDS = ("revolute", "prismatic", "helical", "continuous")  # joints that one motor drives
FIRST_FLOATING = 6
each = pytest.mark.parametrize("k", range(8))


@cache
def robot(k: int, draw: int = 0) -> tuple[estimation.Sensors, np.ndarray, float]:
    """(sensors, a closed posture, condition number)"""
    rng = fresh("estimation", k, draw)
    tree, condition = driven_linkage(rng, loops=1 + k % 2, kinds=KINDS, base=("free", "fixed")[k % 2], to_world=bool(k % 2))
    s, closed = estimation.sensors(tree), ff.close_loops(tree)
    step = 0.05 / condition * rng.uniform(-1.0, 1.0, closed.nv)
    step[: FIRST_FLOATING * (tree.joints[0].kind == "free")] = 0.0  # encoders do not see where the base is
    return s, ff.integrate(closed, s.partition.q, step), condition


@each
def test_encoders_give_the_passive_joints(k: int) -> None:
    """Steps of length one with both gains one are Newton's."""
    s, truth, condition = robot(k)
    state = estimation.passive_state(s)
    for _ in range(5):
        state = estimation.update_passive_state(s, state, truth[s.positions], np.zeros(len(s.names)), 1.0, alpha=1.0, beta=1.0)
    assert estimation.constraint_error(s, state.q) < 1e-12
    close(ff.difference(s.model, truth, state.q), np.zeros(s.model.nv), 1e-9 * condition)


@each
def test_rates_are_those_of_the_closed_motion(k: int) -> None:
    s, truth, condition = robot(k)
    rates = fresh(k).standard_normal(len(s.names))
    u = np.zeros(s.model.nv)
    u[s.coordinates] = rates
    v = linkages.expand_motion(s.model, truth, u[s.partition.independent], 0.0 * u[s.partition.independent])[0]
    state = estimation.PassiveState(truth, np.zeros(s.model.nv), 1.0)
    close(estimation.update_passive_state(s, state, truth[s.positions], rates).v, v, 1e-7 * condition)


def observed_motors(s: estimation.Sensors, truth: np.ndarray) -> tuple[list[str], list[str], dict[str, int]]:
    """Motors that encoders on the passive joints tell apart, these joints, and each motor's independent velocity."""
    G = ff.velocity_map(ff.close_loops(s.model), truth)
    passive = [j.name for j in s.model.joints if j.nv == 1 and j.iv in s.partition.dependent]
    seen = G[[s.model.joint(n).iv for n in passive]]
    at = {n: int(np.flatnonzero(s.partition.independent == c)[0]) for n, c in zip(s.names, s.coordinates)}
    motors: list[str] = []
    for name in s.names:
        more = np.linalg.svd(seen[:, [at[n] for n in (*motors, name)]], compute_uv=False)
        if len(more) > len(motors) and more[-1] > 0.05:
            motors.append(name)
    return motors, passive, at


@each
def test_planted_offsets_are_found(k: int) -> None:
    for draw in range(50):  # until the encoders show some motor of the linkage
        s, truth, condition = robot(k, draw)
        motors, passive, at = observed_motors(s, truth)
        if motors:
            break
    assert motors
    closed = ff.close_loops(s.model)
    readings = fresh(k).uniform(-0.1, 0.1, len(motors))
    begin = ff.difference(closed, s.partition.q, truth)
    begin[[at[n] for n in motors]] = 0.0  # other motors stand where they are
    shown = {n: float(truth[s.model.joint(n).iq]) for n in passive}
    q = ff.integrate(closed, s.partition.q, begin)
    c = estimation.calibrate(s.model, shown, readings, q, motors=motors, tolerance=1e-9, limit=10)
    close(readings + c.offsets, truth[[s.model.joint(n).iq for n in motors]], 1e-7 * condition)


@pytest.mark.parametrize("k", range(4))
def test_planted_wrenches_come_back(k: int) -> None:
    """A foot on the first link, of a random robot, that six motors or more support."""
    rng = fresh("wrenches", k)
    while True:
        tree, _ = driven_linkage(rng, loops=1, kinds=KINDS, to_world=False, joints=(14, 18))
        s = estimation.sensors(tree)
        for link in tree.link_names[::-1]:
            corners = 0.1 * np.array([[x, y, 0.0] for x in (-1.0, 1.0) for y in (-1.0, 1.0)]) + rng.standard_normal(3)
            c = estimation.contact_model(tree, s.partition.q, [sole(link, corners)]) if link != "world" else None
            if c is not None and np.linalg.matrix_rank(c.A, 1e-3 * np.abs(c.A).max()) == 6:
                break
        else:
            continue
        break
    W = rng.normal(0.0, 50.0, (1, 6))
    tau, _ = resting_forces(s, c, W)
    close(estimation.contact_wrenches(c, tau).wrenches, W, rounding(4500, np.linalg.cond(c.A)))
