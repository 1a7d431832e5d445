"""Velocities, Jacobians, momentum and moves in independent velocities, against differences along the assembled motion."""

import freeflyer as ff
import numpy as np
import pytest
from closed_robots import State, reference, robot, robots, shared, state
from closeness import STEP, close, close_to_rate, fresh, refused
from collections.abc import Callable
from freeflyer.tolerances import WARNING_GAP

PARTIAL = ("weld", "slider", "held")  # a ball joint is independent in some of its coordinates, which make no position


def check_rate(rate: np.ndarray, f: Callable[[np.ndarray, np.ndarray], np.ndarray], model: ff.Model, s: State) -> None:
    """That of f(q, u) on a smooth motion through (q, u, u_dot)."""
    closed = ff.close_loops(model)

    def along(t: float) -> np.ndarray:
        return f(ff.integrate(closed, s.q, t * s.u + 0.5 * t * t * s.u_dot), s.u + t * s.u_dot)

    close_to_rate(rate, along, STEP, 1e-7)


@pytest.mark.parametrize("name", robots())
def test_frames_and_momentum(name: str) -> None:
    model = robot(name)
    s = state(model, fresh(6), 0.04)
    r = reference(model, s)
    frame = model.frame_names[-1]
    for expressed in ("body", "mixed", "world"):
        J = ff.frame_jacobian(model, s.q, frame, expressed)
        close(ff.frame_jacobian(ff.close_loops(model), s.q, frame, expressed), J @ r.G, 1e-11)
        close(ff.frame_velocity(ff.close_loops(model), s.q, s.u, frame, expressed), J @ r.v, 1e-11)
        bias = ff.frame_bias_acceleration(ff.close_loops(model), s.q, s.u, frame, expressed)
        rate = ff.frame_jacobian(ff.close_loops(model), s.q, frame, expressed) @ s.u_dot + bias
        check_rate(rate, lambda q, u, e=expressed: ff.frame_velocity(ff.close_loops(model), q, u, frame, e), model, s)
    A = ff.centroidal_momentum_matrix(ff.close_loops(model), s.q)
    close(A, ff.centroidal_momentum_matrix(model, s.q) @ r.G, 1e-11)
    close(ff.centroidal_momentum(ff.close_loops(model), s.q, s.u), A @ s.u, 1e-11)
    close(ff.center_of_mass_jacobian(ff.close_loops(model), s.q), A[:3] / model.mass, 1e-11)
    rate = A @ s.u_dot + ff.centroidal_bias(ff.close_loops(model), s.q, s.u)
    check_rate(rate, lambda q, u: ff.centroidal_momentum(ff.close_loops(model), q, u), model, s)


@pytest.mark.parametrize("name", robots())
def test_integrate_moves_the_independent_joints_and_keeps_the_loops_closed(name: str) -> None:
    model = robot(name)
    rng = fresh(7)
    s = state(model, rng, 0.04)
    du = 0.04 * rng.uniform(-1.0, 1.0, len(s.u))
    q = ff.integrate(ff.close_loops(model), s.q, du)
    assert np.abs(ff.linkages.constraint_residual(model, q)).max() < 1e-11
    if name not in PARTIAL:
        close(ff.difference(ff.close_loops(model), s.q, q), du, 1e-12)
    r = reference(model, s)
    close_to_rate(r.v, lambda t: ff.difference(model, s.q, ff.integrate(ff.close_loops(model), s.q, t * s.u)), STEP, 1e-8)


def test_kangaroo_moves_over_its_strokes(models_folder) -> None:
    model = shared(models_folder, "kangaroo")
    rng = fresh(8)
    for _ in range(5):
        open_by = np.abs(ff.linkages.constraint_residual(model, state(model, rng, 0.004).q))
        assert open_by[ff.linkages.partition(model).rows].max() < 1e-9
        assert open_by.max() < WARNING_GAP  # what redundant rows stay open by is the digits of the file


@pytest.mark.parametrize("name", ["frame_jacobian", "centroidal_momentum_matrix"])
def test_results_are_written_into_arrays_that_fit_alone(name: str) -> None:
    closed = ff.close_loops(ff.robots.kangaroo_like())
    q, arguments = closed.neutral, (closed.frame_names[-1],) if name == "frame_jacobian" else ()
    function, shape = getattr(ff, name), (6, closed.nv)
    wanted, out = function(closed, q, *arguments), np.zeros(shape)
    assert function(closed, q, *arguments, out=out) is out
    assert np.array_equal(out, wanted)
    fixed = np.zeros(shape)
    fixed.setflags(write=False)
    for wrong in (np.zeros((2, *shape)), np.zeros((*shape, 1)), np.zeros(shape, np.float32), np.zeros(shape[::-1]).T, fixed, [0.0]):
        before = np.array(wrong)
        refused(ff.InputError, "out must be", function, closed, q, *arguments, out=wrong)
        assert np.array_equal(wrong, before)
