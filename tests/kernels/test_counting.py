"""Operation counts: linear where the algorithm is, and right on formulas that can be counted by hand."""

import numpy as np
import pytest
from freeflyer import robots
from freeflyer.kernels import plain
from freeflyer.kernels.counting import CountingScalar, Operations, count, count_known
from freeflyer.kernels.math.algebra import compose, cross, dot, quaternion_rotation, rotate, sym_rotate
from kernel_samples import arguments, states, tree, tree_entries


@pytest.mark.parametrize(("function", "sizes", "expected"), [
    (dot, (3, 3), (3, 2)), (cross, (3, 3), (6, 3)), (rotate, (9, 3), (9, 6)), (compose, (9, 9), (27, 18)),
    (sym_rotate, (9, 6), (45, 30)), (quaternion_rotation, 4, (4 + 1 + 3 + 18, 3 + 12)),
])  # fmt: skip
def test_small_algebra_by_hand(function, sizes, expected):
    operations = Operations()
    x = CountingScalar(operations)
    inputs = [x] * sizes if isinstance(sizes, int) else [(x,) * n for n in sizes]
    plain.function(function)(*inputs)
    assert (operations.multiplications, operations.additions, operations.functions) == (*expected, 0)


def counts(name, n, **options):
    c = count(name, robots.chain(n, **options))
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
    model = robots.chain(6)
    units = {k for k, p in enumerate(model.parameters) if p in (0.0, 1.0, -1.0)}
    few, most = count_known("dq_newton_euler", model, units), count("dq_newton_euler", model)
    assert few.multiplications < 0.8 * most.multiplications
    assert few.functions == 12  # sine and cosine of each joint, none of what only fills a register
    nothing = count_known("dq_newton_euler", model, ())
    assert nothing.multiplications <= most.multiplications  # zeros of the world's motion are known
    assert nothing.additions <= most.additions
