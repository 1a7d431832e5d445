"""Kernels as plain Python: as compiled, every access checked; symbols, complex steps, counts of operations."""

import freeflyer as ff
import mpmath
import numpy as np
import pytest
import re
from closeness import EXACT, close, complex_slopes, refused
from fractions import Fraction
from freeflyer.kernels import plain, plain_primitives as scalars
from freeflyer.kernels.backend import from_entry, kernel, load, store, workspace, zero_entries
from freeflyer.kernels.entries import ENTRIES
from freeflyer.kernels.model import layout as L
from freeflyer_papers.counting import CountingScalar, Operations, count
from kernel_samples import arguments, compiled, output_shapes, states, tree, tree_entries

TREES = {"tree": tree(), "mimic": tree(mimic=True)}

CASES = [(name, robot) for name in tree_entries() for robot in TREES if robot == "tree" or name not in ("aba", "minv")]


@pytest.mark.parametrize("row_step", [1, 8])
@pytest.mark.parametrize(("name", "robot"), CASES)  # aba and minv are not for mimic joints, which share coordinates
def test_entry_as_compiled(name, robot, row_step):
    model = TREES[robot]
    q, v, a = states(model)
    inputs = arguments(model, ENTRIES[name], q, v, a, states(model, seed=3)[0])
    results = plain.run(name, model, *inputs, row_step=row_step)
    results = results if isinstance(results, tuple) else (results,)
    for ours, theirs, shape in zip(results, compiled(model, name, *inputs), output_shapes(model, name), strict=True):
        assert ours.shape == shape
        assert np.all(np.isfinite(theirs))
        assert np.abs(ours.astype(float) - theirs).max() <= EXACT * max(1.0, np.abs(theirs).max())


@pytest.mark.parametrize("robot", TREES)
def test_completed_parameters_are_the_model_s(robot):
    """All that is no gravity, body record, armature or frame follows from these."""
    model = TREES[robot]
    records = model.parameters[L.BODIES : L.BODIES + L.BODY_FLOATS * (model.topology[L.N_BODIES] + 1)]
    parameters = np.full(len(model.parameters), -1.0)
    parameters[: L.BODIES + len(records)] = model.parameters[: L.BODIES + len(records)]
    parameters[L.BODIES + L.SUBTREE_MASS : L.BODIES + len(records) : L.BODY_FLOATS] = -1.0
    first = model.topology[model.topology[L.COUPLINGS_AT] + L.NUMBERS_AT]
    parameters[first : model.topology[L.TILES_AT]] = model.parameters[first : model.topology[L.TILES_AT]]
    for at, n in (("ARMATURE_AT", model.nv), ("PLACEMENTS_AT", L.PLACEMENT_FLOATS * len(model.frame_names))):
        here = slice(model.topology[getattr(L, at)], model.topology[getattr(L, at)] + n)
        parameters[here] = model.parameters[here]
    np.testing.assert_allclose(plain.complete_parameters(model, parameters), model.parameters, rtol=1e-14, atol=1e-15)


def test_other_scalars():
    model = TREES["tree"]
    q, v, a = states(model)
    moon = ff.with_gravity(model, (0.0, 0.0, -1.62))
    tau = plain.run("rnea", model, q, v, a, parameters=moon.parameters)
    np.testing.assert_allclose(tau.astype(float), ff.inverse_dynamics(moon, q, v, a), rtol=1e-12, atol=1e-12)
    # The compiled result is right to a few units of its largest intermediate, as forty digits show
    with mpmath.workdps(40):
        exact = plain.run("rnea", model, *([mpmath.mpf(float(x)) for x in row] for row in (q, v, a)))
    tau = ff.inverse_dynamics(model, q, v, a)
    assert all(isinstance(x, mpmath.mpf) for x in exact)
    assert np.abs((exact - tau).astype(float)).max() < 1e-13 * np.abs(tau).max()
    # With joints that slide, or stand at zero, M Minv is the identity, not nearly
    model = ff.robots.chain(4, ["prismatic", "revolute", "helical"])
    parameters = [Fraction(x) for x in model.parameters.tolist()]
    q = [Fraction(1, 3), 0, 0, Fraction(1, 5)]
    M = plain.run("crba", model, q, parameters=parameters)
    Minv = plain.run("minv", model, q, parameters=parameters)
    assert all(isinstance(x, Fraction) for x in M.ravel())
    assert (M @ Minv).tolist() == np.eye(4, dtype=int).tolist()
    s = CountingScalar(Operations())
    assert scalars.less(s, 1.0) is None
    assert scalars.select_less(s, 1.0, "series", "closed form") == "closed form"
    assert scalars.select_less(s, 1.0, 2.0, np.nan) == 2.0  # a matrix counts as regular
    assert scalars.select_less(0.5, 1.0, "series", "closed form") == "series"
    assert scalars.select_less(np.nan, 1.0, "series", "closed form") == "closed form"
    assert scalars.all_below(s, 1.0)
    assert all(scalars.all_below(x, 1.0) for x in (0.5, -0.5, 0.5 + 9j))
    assert not any(scalars.all_below(x, 1.0) for x in (-2.0, 1.0, np.nan))


@kernel
def planted(q, i, n, written):
    work = workspace(q, n)
    store(work, written, load(q, 0))
    return load(work, i)


@pytest.mark.parametrize(("i", "written", "message"), [
    (3, 2, "entry 3 of a buffer of 3"),
    (-1, 2, "entry -1 of a buffer of 3"),
    (1, 2, "read before it was written"),
    (2, 3, "entry 3 of a buffer of 3"),
])  # fmt: skip
def test_wrong_accesses_are_refused(i, written, message):
    refused(IndexError, message, lambda: plain.function(planted)([1.0], i, 3, written))
    assert plain.function(planted)([1.0], 2, 3, 2) == 1.0


@pytest.mark.parametrize(("call", "message"), [
    (lambda m, q, v: plain.run("rmea", m, q, v, v), "no kernel is named 'rmea'; known kernels: rnea, aba"),
    (lambda m, q, v: plain.run(None, m, q, v, v), "no kernel is named None"),
    (lambda m, q, v: plain.run("rnea", m, q, v), "rnea takes 3 inputs and 0 options, got 2 arguments"),
    (lambda m, q, v: plain.run("frame_pose", m, q), "frame_pose takes 1 inputs and 1 options"),
    (lambda m, q, v: plain.run("rnea", m, v, v, v), "rnea's input 1 must be a flat row of 27 scalars, got 24"),
    (lambda m, q, v: plain.run("crba", m, np.ones((22, 1))), "must be a flat row of 27 scalars"),
    (lambda m, q, v: plain.run("crba", m, None), "crba's input 1 must be a flat row of 27 scalars, got NoneType"),
    (lambda m, q, v: plain.run("crba", m, q, parameters=[1.0]), "parameters must be a flat row of"),
    (lambda m, q, v: plain.function(len), "expected a kernel or the name of one, got builtin_function_or_method"),
    (lambda m, q, v: scalars.call("sqrt", object()), "a scalar of type object has no sqrt"),
])  # fmt: skip
def test_errors_say_what_is_wrong(call, message):
    model = TREES["tree"]
    q, v, _ = states(model)
    refused((ValueError, LookupError, TypeError), re.escape(message), call, model, q, v)


@pytest.mark.parametrize("y", [-0.7, 0.0, 0.4])
@pytest.mark.parametrize("x", [-1.2, 0.3, 2.0])
def test_atan2_of_complex_numbers_continues_the_real_one(y, x):
    assert scalars.complex_atan2(y + 0j, x + 0j) == pytest.approx(np.arctan2(y, x), abs=1e-15)
    h = 1e-20
    square = x * x + y * y
    assert scalars.complex_atan2(complex(y, h), x).imag / h == pytest.approx(x / square, rel=1e-12, abs=1e-14)
    assert scalars.complex_atan2(y, complex(x, h)).imag / h == pytest.approx(-y / square, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("row_step", [1, 8])
@pytest.mark.parametrize("name", [name for name in tree_entries() if name != "com" and not name.startswith("momentum")])
def test_a_robot_without_coordinates_reads_nothing(name, row_step):
    """Of an empty buffer there is no entry 0. (What needs a mass is refused before.)"""
    rock = ff.build(ff.Description("rock", (ff.Link("rock", ff.Inertia(1.0, np.zeros(3), np.eye(3))),),
                                   (ff.Joint("bolt", "fixed", "world", "rock"),)))  # fmt: skip
    entry = ENTRIES[name]
    inputs = ([0.1] * n for n in entry.sizes(rock.topology)[: entry.input_count])
    plain.run(name, rock, *inputs, *(0,) * len(entry.options), row_step=row_step)


@kernel
def clear_last(x, n):
    zero_entries(from_entry(from_entry(x, 1), n), 2)


def test_what_is_written_from_an_entry_on_is_written_to_the_buffer():
    x = [1.0] * 6
    plain.function(clear_last)(x, 3)
    assert x == [1.0, 1.0, 1.0, 1.0, 0.0, 0.0]
    refused(IndexError, "entry 1 of a buffer of 1", lambda: plain.function(clear_last)(x, 4))


def test_complex_steps():
    """d tau / d q in the tangent space: the step goes through integrate, also for quaternions."""
    model = tree(mimic=True)
    q, v, a = states(model)

    def moved(step: np.ndarray) -> np.ndarray:
        return plain.run("rnea", model, plain.run("integrate", model, q.astype(complex), step), v, a).astype(complex)

    close(complex_slopes(moved, model.nv), ff.inverse_dynamics_derivatives(model, q, v, a).dq)
    # q0 (+) w leads back to w, so the derivative of the difference along w is the identity
    model = tree()
    q, v, _ = states(model)

    def back(step: np.ndarray) -> np.ndarray:
        start = q.astype(complex)
        return plain.run("difference", model, start, plain.run("integrate", model, start, 0.5 * v + step)).astype(complex)

    close(complex_slopes(back, model.nv), np.eye(model.nv), 1e-10)


def counts(name, n, **options):
    c = count(name, ff.robots.chain(n, **options))
    return np.array([c.multiplications, c.additions, c.functions])


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "helical", "spherical"])
@pytest.mark.parametrize("name", ["rnea", "aba", "com", "potential_energy", "kinetic_energy", "momentum_matrix"])
def test_linear_in_the_number_of_bodies(name, kind):
    n5, n10, n15, n40 = (counts(name, n, joints=kind) for n in (5, 10, 15, 40))
    slope = (n10 - n5) / 5
    assert np.all(slope[:2] > 0)
    np.testing.assert_array_equal(n15 - n10, n10 - n5)
    np.testing.assert_array_equal(n40 - n10, 30 * slope)


@pytest.mark.parametrize("name", tree_entries())
def test_every_kernel_counts(name):
    """Scalars without values go through every branch of every joint kind; options are passed on."""
    model = tree()
    entry = tree_entries()[name]
    options = arguments(model, entry, *states(model), states(model)[0])[len(entry.inputs) :]
    c = count(name, model, *options)
    assert c.multiplications > 0
    assert c.additions > 0
    assert c == count(name.upper(), model, *options)


def test_known_parameters_leave_fewer_operations():
    """Of a chain of revolute joints, whose turns are 1 and slides 0; with nothing known, the same as `count`."""
    model = ff.robots.chain(6)
    units = {k for k, p in enumerate(model.parameters) if p in (0.0, 1.0, -1.0)}
    few, most = count("dq_newton_euler", model, known=units), count("dq_newton_euler", model)
    assert few.multiplications < 0.8 * most.multiplications
    assert few.functions == 12  # sine and cosine of each joint, none of what only fills a register
    nothing = count("dq_newton_euler", model, known=())
    assert nothing.multiplications <= most.multiplications  # zeros of the world's motion are known
    assert nothing.additions <= most.additions
