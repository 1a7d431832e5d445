"""Motions through a singularity without sign change of the whole determinant: two parallelograms that fold together."""

import freeflyer as ff
import functools
import numpy as np
import pytest
from closeness import fresh
from dataclasses import replace
from freeflyer.linkages.closing import close_with_partition, crosses_singularity, step_closed
from kangaroo_leg import leg
from linkage_samples import BAR, shifted
from types import SimpleNamespace

CRANK, GROUND = 0.2, 0.5
START = 0.5  # rad


@functools.cache
def mirrored(sides: tuple[float, ...] = (1.0, -1.0), error: float = 0.0) -> ff.Model:
    """A crank that follows a motor and turns a parallelogram on each side, flat at zero; followers are `error` m too long."""
    links = [ff.Link(n, BAR) for n in ("ground", "rotor", "crank")]
    joints = [ff.Joint("root", "fixed", "world", "ground"),
              ff.Joint("motor", "revolute", "ground", "rotor", initial=(START,)),
        ff.Joint("crank", "revolute", "ground", "crank", initial=(START,))]  # fmt: skip
    sites, loops = [], []
    for k, side in enumerate(sides):
        links += [ff.Link(f"coupler{k}", BAR), ff.Link(f"follower{k}", BAR)]
        joints += [ff.Joint(f"coupler{k}", "revolute", "crank", f"coupler{k}", shifted(side * CRANK), initial=(-START,)),
            ff.Joint(f"follower{k}", "revolute", "ground", f"follower{k}", shifted(side * GROUND), initial=(START,))]  # fmt: skip
        sites.append(ff.Site(f"tip{k}", f"coupler{k}", shifted(side * GROUND)))
        sites.append(ff.Site(f"end{k}", f"follower{k}", shifted(side * (CRANK + error))))
        loops.append(ff.Loop(f"loop{k}", f"tip{k}", f"end{k}", (1, 1, 0, 0, 0, 0)))
    gear = ff.Coupling("gear", "crank", "motor", (0.0, 1.0))
    return ff.build(ff.Description("mirrored", tuple(links), tuple(joints), tuple(sites), tuple(loops), (gear,),
                                   actuated=("motor",)))  # fmt: skip


def test_blocks_that_do_not_come_apart():
    """The sample is one sub-mechanism, and its determinant keeps its sign where both parallelograms have folded."""
    model = mirrored()
    (block,) = ff.linkages.partition(model).blocks
    q = np.array([_posture(model, a) for a in (0.1, -0.1)])
    J = ff.linkages.constraint_jacobian(model, q)[:, block.rows[:, None], block.dependent]
    signs = np.linalg.slogdet(J)[0]
    assert signs[0] == signs[1] != 0
    # As one matrix, the same folds are a pair of eigenvalues that change their signs
    p = close_with_partition(model, ff.linkages.partition(model))
    assert len(p.reduction.blocks) > 1
    one = replace(p.reduction, blocks=((p.reduction.split.rows, p.reduction.split.dependent),))
    whole = SimpleNamespace(tree=p.tree, reduction=one)
    q = np.array([_posture(model, a) for a in (0.3, 0.1, -0.1)])
    assert crosses_singularity(whole, q[:2], q[1:]).tolist() == [False, True]
    assert crosses_singularity(whole, q[:1], _posture(model, 0.0)[None]).tolist() == [True]


@pytest.mark.parametrize("sides", [(1.0,), (1.0, -1.0), (1.0, 1.0), (1.0, -1.0, 1.0, -1.0)])
def test_folds_at_one_place_are_found(sides):
    model = mirrored(sides)
    x = np.linspace(START, -0.45, 22)
    swept = ff.linkages.sweep(model, {"motor": x})
    np.testing.assert_array_equal(swept.reached, x > 0.0)
    np.testing.assert_allclose(swept.q[x > 0], [_posture(model, a) for a in x[x > 0]], atol=1e-7)
    found = ff.linkages.first_singularity(model, {"motor": -1.0}, 1.0)
    assert found.distance == pytest.approx(START, abs=2e-6)
    assert found.independence < 1e-3
    assert found.loops == tuple(f"loop{k}" for k in range(len(sides)))


@pytest.mark.parametrize("count", [23, 401, 4001])
@pytest.mark.parametrize("error", [1e-9, 1e-8, -1e-8])
def test_rounded_digits_do_not_decide(count, error):
    """Bars alike up to 10 nm turn sharply from one mode into the other, nowhere singular: that is no way, either."""
    model = mirrored((1.0,), error)
    x = np.linspace(START, -0.45, count)
    clear = np.abs(x) > 2e-3
    np.testing.assert_array_equal(ff.linkages.sweep(model, {"motor": x}).reached[clear], x[clear] > 0.0)
    assert ff.linkages.first_singularity(model, {"motor": -1.0}, 1.0).distance == pytest.approx(START, abs=2e-3)


def test_long_steps_come_out_as_short_ones():
    """One step over a whole stroke is cut until its ends are near enough to each other to decide."""
    p = close_with_partition(leg(), ff.linkages.partition(leg()))
    at = [p.joint(name).iv for name in ("left_length_motor", "left_yaw_motor")]
    du = np.zeros((3, p.nv))
    du[:, at] = [[0.15, 0.0], [0.07, 0.02], [0.0, -0.09]]
    q, fine = step_closed(p, np.repeat(p.reduction.split.q[None], 3, axis=0), du)
    assert fine.tolist() == [True, True, False]  # no rod is that short
    expected = ff.linkages.sweep(leg(), {"left_length_motor": [0.15, 0.07], "left_yaw_motor": [0.0, 0.02]}).q
    np.testing.assert_allclose(q[:2], [expected[0, 0], expected[1, 1]], atol=1e-8)
    # Eight states go side by side through compiled code; one that does not close leaves the others as they are alone
    rng = fresh(0)
    du = 0.01 * rng.standard_normal((11, p.nv))
    du[4] = 0.2
    many, fine = step_closed(p, np.repeat(p.reduction.split.q[None], 11, axis=0), du)
    for k in (0, 3, 5, 10):
        one, alone = step_closed(p, p.reduction.split.q[None], du[k : k + 1])
        assert alone[0] == fine[k]
        np.testing.assert_allclose(many[k], one[0], atol=1e-12)
        alike = step_closed(p, np.repeat(p.reduction.split.q[None], 8, axis=0), np.repeat(du[k : k + 1], 8, axis=0))[0]
        np.testing.assert_array_equal(alike, many[k][None].repeat(8, axis=0))
    assert not fine[4]


def _posture(model: ff.Model, angle: float) -> np.ndarray:
    q = np.zeros(model.nq)
    for joint in model.joints:
        if joint.nq:
            q[joint.iq] = -angle if joint.name.startswith("coupler") else angle
    return q
