"""Every public function of freeflyer.spatial: batches, broadcasting, and refusal of bad arguments."""

import dataclasses
import inspect
import numpy as np
import pytest
from closeness import fresh, refused
from freeflyer import spatial
from freeflyer.errors import InputError
from freeflyer.spatial import dual_quaternion, quaternion, se2
from spatial_samples import random_inertia, random_pose, random_twist

BATCHES = [(), (3,), (2, 3), (0,), (2, 0)]


def normal(*tail):
    return lambda batch: fresh(sum(tail) + 11).standard_normal((*batch, *tail))


def _dual(batch):
    return dual_quaternion.from_pose(random_pose(batch))


KINDS = {  # what an argument is -> how many last axes it has, a sample for a batch
    "number": (0, normal()),
    "point2": (1, normal(2)),
    "three": (1, normal(3)),
    "six": (1, normal(6)),
    "any q": (1, normal(4)),
    "unit q": (1, lambda batch: quaternion.random(fresh(1), batch)),
    "any dual": (1, normal(8)),
    "unit dual": (1, _dual),
    "pure dual": (1, lambda batch: dual_quaternion.from_twist(random_twist(batch))),
    "rate dual": (1, lambda batch: dual_quaternion.rate_from_twist(
        _dual(batch), dual_quaternion.from_twist(random_twist(batch)), "body")),
    "R": (2, lambda batch: quaternion.to_matrix(quaternion.random(fresh(2), batch))),
    "X": (2, random_pose),
    "X2": (2, lambda batch: se2.exp(normal(3)(batch))),
    "se3": (2, lambda batch: spatial.se3.hat(random_twist(batch))),
    "se2": (2, lambda batch: se2.hat(normal(3)(batch))),
    "mass": (0, lambda batch: random_inertia(batch)[0]),
    "com": (1, lambda batch: random_inertia(batch)[1]),
    "I": (2, lambda batch: random_inertia(batch)[2]),
    "spatial": (2, lambda batch: spatial.inertia.matrix(*random_inertia(batch))),
    "ten": (1, lambda batch: spatial.inertia.parameters(*random_inertia(batch))),
}  # fmt: skip

# name -> the kinds of its array arguments, then words that follow them unchanged
ARGUMENTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "quaternion.check_unit": (("unit q",), ()), "quaternion.conjugate": (("any q",), ()), "quaternion.exp": (("three",), ()),
    "quaternion.from_axis_angle": (("three", "number"), ()), "quaternion.from_matrix": (("R",), ()),
    "quaternion.from_rpy": (("three",), ()), "quaternion.from_wxyz": (("any q",), ()), "quaternion.log": (("unit q",), ()),
    "quaternion.multiply": (("any q", "any q"), ()), "quaternion.normalize": (("any q",), ()),
    "quaternion.rotate": (("unit q", "three"), ()), "quaternion.slerp": (("unit q", "unit q", "number"), ()),
    "quaternion.to_axis_angle": (("unit q",), ()), "quaternion.to_matrix": (("unit q",), ()),
    "quaternion.to_rpy": (("unit q",), ()), "quaternion.to_wxyz": (("any q",), ()), "se3.act": (("X", "three"), ()),
    "se3.ad": (("six",), ()), "se3.adjoint": (("X",), ()), "se3.coadjoint": (("X",), ()),
    "se3.compose": (("X", "X", "X"), ()), "se3.exp": (("six",), ()),
    "se3.from_position_quaternion": (("three", "unit q"), ()), "se3.from_position_rotation": (("three", "R"), ()),
    "se3.hat": (("six",), ()), "se3.interpolate": (("X", "X", "number"), ()), "se3.inverse": (("X",), ()),
    "se3.left_jacobian": (("six",), ()), "se3.left_jacobian_inverse": (("six",), ()), "se3.log": (("X",), ()),
    "se3.right_jacobian": (("six",), ()), "se3.right_jacobian_inverse": (("six",), ()), "se3.skew": (("three",), ()),
    "se3.to_position_quaternion": (("X",), ()), "se3.vee": (("se3",), ()), "se2.act": (("X2", "point2"), ()),
    "se2.ad": (("three",), ()), "se2.adjoint": (("X2",), ()), "se2.coadjoint": (("X2",), ()),
    "se2.compose": (("X2", "X2"), ()), "se2.exp": (("three",), ()), "se2.from_position_angle": (("point2", "number"), ()),
    "se2.hat": (("three",), ()), "se2.interpolate": (("X2", "X2", "number"), ()), "se2.inverse": (("X2",), ()),
    "se2.left_jacobian": (("three",), ()), "se2.left_jacobian_inverse": (("three",), ()), "se2.log": (("X2",), ()),
    "se2.right_jacobian": (("three",), ()), "se2.right_jacobian_inverse": (("three",), ()),
    "se2.to_position_angle": (("X2",), ()), "se2.vee": (("se2",), ()),
    "twist.change_expression": (("six", "X"), ("mixed", "world")), "twist.change_frame": (("X", "six"), ()),
    "twist.change_rate_expression": (("six", "six", "X"), ("mixed", "world")),
    "twist.classical_acceleration": (("six", "six"), ()), "twist.cross": (("six", "six"), ()),
    "twist.expression_matrix": (("X",), ("mixed", "world")), "wrench.at_point": (("three", "three"), ()),
    "wrench.change_expression": (("six", "X"), ("world", "body")), "wrench.change_frame": (("X", "six"), ()),
    "wrench.cross": (("six", "six"), ()), "wrench.cross_matrix": (("six",), ()),
    "wrench.expression_matrix": (("X",), ("body", "mixed")), "wrench.power": (("six", "six"), ()),
    "dual_quaternion.adjoint": (("unit dual", "pure dual"), ()),
    "dual_quaternion.adjoint_rate": (("unit dual", "pure dual", "pure dual", "pure dual"), ()),
    "dual_quaternion.check_unit": (("unit dual",), ()), "dual_quaternion.conjugate": (("any dual",), ()),
    "dual_quaternion.cross": (("pure dual", "pure dual"), ()), "dual_quaternion.decomposed_exp": (("pure dual",), ()),
    "dual_quaternion.decomposed_log": (("unit dual",), ()), "dual_quaternion.inner": (("pure dual", "pure dual"), ()),
    "dual_quaternion.screw_parameters": (("unit dual",), ()), "dual_quaternion.dual_conjugate": (("any dual",), ()),
    "dual_quaternion.exp": (("pure dual",), ()), "dual_quaternion.from_pose": (("X",), ()),
    "dual_quaternion.from_position_quaternion": (("three", "unit q"), ()), "dual_quaternion.from_twist": (("six",), ()),
    "dual_quaternion.from_vec6": (("six",), ()), "dual_quaternion.from_vec8": (("any dual",), ()),
    "dual_quaternion.from_wrench": (("six",), ()), "dual_quaternion.full_conjugate": (("any dual",), ()),
    "dual_quaternion.hamilton_left": (("any dual",), ()), "dual_quaternion.hamilton_right": (("any dual",), ()),
    "dual_quaternion.log": (("unit dual",), ()), "dual_quaternion.multiply": (("any dual", "any dual"), ()),
    "dual_quaternion.norm": (("any dual",), ()), "dual_quaternion.normalize": (("any dual",), ()),
    "dual_quaternion.power": (("pure dual", "pure dual"), ()),
    "dual_quaternion.rate_from_twist": (("unit dual", "pure dual"), ("world",)),
    "dual_quaternion.sclerp": (("unit dual", "unit dual", "number"), ()), "dual_quaternion.to_pose": (("unit dual",), ()),
    "dual_quaternion.to_position_quaternion": (("unit dual",), ()), "dual_quaternion.to_twist": (("pure dual",), ()),
    "dual_quaternion.to_vec6": (("pure dual",), ()), "dual_quaternion.to_vec8": (("any dual",), ()),
    "dual_quaternion.to_wrench": (("pure dual",), ()),
    "dual_quaternion.twist_from_rate": (("unit dual", "rate dual"), ("body",)),
    "inertia.about_com": (("mass", "I", "com"), ()), "inertia.about_point": (("mass", "I", "com"), ()),
    "inertia.from_matrix": (("spatial",), ()), "inertia.from_parameters": (("ten",), ()),
    "inertia.matrix": (("mass", "com", "I"), ()), "inertia.parameters": (("mass", "com", "I"), ()),
    "inertia.pseudo_inertia": (("mass", "com", "I"), ()), "inertia.transform": (("X", "spatial"), ()),
    "consistency.check": (("mass", "com", "I"), ()),
}  # fmt: skip
ELSEWHERE = {  # takes a generator; takes a line, direction and moment at a right angle: tested with their modules
    "quaternion.random", "dual_quaternion.from_screw_parameters",
}  # fmt: skip


def case_of(name):
    module, function = name.split(".")
    return getattr(getattr(spatial, module), function)


def flat(result):
    """The arrays of a result: itself, those of a tuple, or the fields of a dataclass."""
    if dataclasses.is_dataclass(result):
        result = [x for x in vars(result).values() if isinstance(x, np.ndarray | np.generic)]
    return [np.asarray(x) for x in (result if isinstance(result, tuple | list) else (result,))]


def test_tables_and_integers():
    public = {
        f"{m}.{f}" for m in spatial.__all__ for f in getattr(spatial, m).__all__ if inspect.isfunction(case_of(f"{m}.{f}"))
    }
    assert public == set(ARGUMENTS) | ELSEWHERE
    assert spatial.quaternion.rotate([0, 0, 1, 0], [1, 0, 0]).dtype == np.float64
    assert spatial.se3.exp([0, 0, 1, 0, 0, 0])[2, 3] == 1.0


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_batch_is_its_states_one_by_one(name):
    kinds, words = ARGUMENTS[name]
    f = case_of(name)
    for batch in BATCHES:
        args = [KINDS[k][1](batch) for k in kinds]
        before = [a.copy() for a in args]
        together = flat(f(*args, *words))
        assert all(np.array_equal(a, b) for a, b in zip(args, before)), "an argument was changed"
        single = flat(f(*[KINDS[k][1](()) for k in kinds], *words))
        for whole, one in zip(together, single, strict=True):
            assert whole.shape == (*batch, *one.shape)
        for at in np.ndindex(batch):
            alone = flat(f(*(a[at] for a in args), *words))
            for whole, one in zip(together, alone, strict=True):
                assert np.allclose(whole[at], one, rtol=0, atol=4e-15 * max(1.0, np.abs(one).max()))


@pytest.mark.parametrize("name", [n for n in ARGUMENTS if len(ARGUMENTS[n][0]) > 1 and "twist_from_rate" not in n])
def test_arguments_broadcast(name):
    """The first argument (2, 1), the others (3,): a result (2, 3) equal to the repeated arguments'."""
    kinds, words = ARGUMENTS[name]
    f, (first, *rest) = case_of(name), kinds
    a, others = KINDS[first][1]((2, 1)), [KINDS[k][1]((3,)) for k in rest]
    together = flat(f(a, *others, *words))
    repeated = [np.broadcast_to(x, (2, 3, *x.shape[x.ndim - KINDS[k][0] :])) for k, x in zip(kinds, [a, *others])]
    for x, y in zip(together, flat(f(*repeated, *words)), strict=True):
        assert x.shape == y.shape
        assert np.allclose(x, y, rtol=0, atol=1e-14 * max(1.0, np.abs(y).max()))
    refused(InputError, "do not broadcast together", lambda: f(KINDS[first][1]((2,)), *others, *words))


@pytest.mark.parametrize("name", ARGUMENTS)
def test_bad_arguments_are_named(name):
    kinds, words = ARGUMENTS[name]
    f = case_of(name)
    good = [KINDS[k][1]((3,)) for k in kinds]
    for i, kind in enumerate(kinds):
        tail = KINDS[kind][0]
        nan = good[i].copy()
        nan[(1,) + (0,) * tail] = np.nan
        bad = [(nan, "holds nan at index"), (good[i] + 0j, "real numbers"), ("text", "real numbers")]
        if tail:
            bad += [(good[i][..., :-1], "has shape"), (3.0, "has shape"), ([[1.0, 2.0], [3.0]], "not a regular array")]
        for value, words_of_error in bad:
            with pytest.raises(InputError, match=words_of_error) as caught:
                f(*good[:i], value, *good[i + 1 :], *words)
            assert "expected" in str(caught.value)


@pytest.mark.parametrize("name", [n for n in ARGUMENTS if {"unit q", "R", "X", "X2", "I", "unit dual"} & set(ARGUMENTS[n][0])])
def test_what_is_off_its_set_is_refused(name):
    """Scaled rotations, quaternions off the sphere, unsymmetric inertias: refused with their index."""
    kinds, words = ARGUMENTS[name]
    for i, kind in enumerate(kinds):
        if kind in ("unit q", "R", "X", "X2", "I", "unit dual"):
            args = [KINDS[k][1]((3,)) for k in kinds]
            if kind == "I":
                args[i][1, 0, 1] += 0.1
            else:
                args[i][1] *= 1.0 + 1e-5
            with pytest.raises(InputError, match=r"index \(1,\)"):
                case_of(name)(*args, *words)
