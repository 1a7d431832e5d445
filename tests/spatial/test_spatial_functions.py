"""Every public function of freeflyer.spatial: batches, broadcasting, and refusal of bad arguments."""

import dataclasses
import inspect
import numpy as np
import pytest
import re
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
    "any_q": (1, normal(4)),
    "q": (1, lambda batch: quaternion.random(fresh(1), batch)),
    "any_dual": (1, normal(8)),
    "dual": (1, _dual),
    "pure": (1, lambda batch: dual_quaternion.from_twist(random_twist(batch))),
    "R": (2, lambda batch: quaternion.to_matrix(quaternion.random(fresh(2), batch))),
    "X": (2, random_pose),
    "X2": (2, lambda batch: se2.exp(normal(3)(batch))),
    "se3": (2, lambda batch: spatial.se3.hat(random_twist(batch))),
    "mass": (0, lambda batch: random_inertia(batch)[0]),
    "com": (1, lambda batch: random_inertia(batch)[1]),
    "I": (2, lambda batch: random_inertia(batch)[2]),
    "spatial": (2, lambda batch: spatial.inertia.matrix(*random_inertia(batch))),
    "ten": (1, lambda batch: spatial.inertia.parameters(*random_inertia(batch))),
}  # fmt: skip

FUNCTIONS = {  # name: the kinds of its array arguments | words that follow them unchanged
    "quaternion":
        "conjugate:any_q exp:three from_axis_angle:three,number from_matrix:R from_rpy:three from_wxyz:any_q "
        "log:q multiply:any_q,any_q normalize:any_q rotate:q,three slerp:q,q,number to_matrix:q to_rpy:q "
        "to_wxyz:any_q",
    "se3":
        "ad:six adjoint:X coadjoint:X exp:six from_position_quaternion:three,q "
        "from_position_rotation:three,R hat:six interpolate:X,X,number inverse:X left_jacobian:six "
        "left_jacobian_inverse:six log:X right_jacobian:six right_jacobian_inverse:six skew:three "
        "to_position_quaternion:X vee:se3",
    "se2":
        "ad:three adjoint:X2 exp:three from_position_angle:point2,number hat:three inverse:X2 log:X2 right_jacobian:three "
        "right_jacobian_inverse:three",
    "twist":
        "change_expression:six,X|mixed,world change_rate_expression:six,six,X|mixed,world "
        "classical_acceleration:six,six cross:six,six",
    "wrench":
        "change_expression:six,X|world,body cross:six,six power:six,six",
    "dual_quaternion":
        "adjoint:dual,pure adjoint_rate:dual,pure,pure,pure conjugate:any_dual cross:pure,pure "
        "decomposed_exp:pure decomposed_log:dual inner:pure,pure screw_parameters:dual dual_conjugate:any_dual exp:pure "
        "from_pose:X from_position_quaternion:three,q from_twist:six from_vec6:six from_vec8:any_dual from_wrench:six "
        "hamilton_left:any_dual hamilton_right:any_dual log:dual multiply:any_dual,any_dual "
        "norm:any_dual normalize:any_dual power:pure,pure rate_from_twist:dual,pure|world sclerp:dual,dual,number "
        "to_pose:dual to_position_quaternion:dual to_twist:pure to_vec6:pure to_vec8:any_dual",
    "inertia":
        "from_parameters:ten matrix:mass,com,I "
        "parameters:mass,com,I pseudo_inertia:mass,com,I transform:X,spatial",
    "consistency": "check:mass,com,I",
}  # fmt: skip
ARGUMENTS: dict[str, tuple[list[str], list[str]]] = {}
for module, entry in ((m, x) for m, listed in FUNCTIONS.items() for x in listed.split()):
    name, kinds, words = re.fullmatch(r"(\w+):([\w,]+)(?:\|([\w,]+))?", entry).groups()
    ARGUMENTS[f"{module}.{name}"] = kinds.split(","), words.split(",") if words else []
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


@pytest.mark.parametrize("name", [n for n in ARGUMENTS if len(ARGUMENTS[n][0]) > 1])
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


@pytest.mark.parametrize("name", [n for n in ARGUMENTS if {"q", "R", "X", "X2", "I", "dual"} & set(ARGUMENTS[n][0])])
def test_what_is_off_its_set_is_refused(name):
    """Scaled rotations, quaternions off the sphere, unsymmetric inertias: refused with their index."""
    kinds, words = ARGUMENTS[name]
    for i, kind in enumerate(kinds):
        if kind in ("q", "R", "X", "X2", "I", "dual"):
            args = [KINDS[k][1]((3,)) for k in kinds]
            if kind == "I":
                args[i][1, 0, 1] += 0.1
            else:
                args[i][1] *= 1.0 + 1e-5
            with pytest.raises(InputError, match=r"index \(1,\)"):
                case_of(name)(*args, *words)
