"""Requests beyond memory, beyond what NumPy holds and beyond all numbers, and outputs of other classes: a sentence, soon."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import freeflyer as ff
from freeflyer import robots
from freeflyer.model.inputs import output_array

MODEL = ff.robots.chain(3)
Q = np.zeros(3)


class Own(np.ndarray):
    """A class of arrays that someone else wrote."""


OUTPUTS = {
    "masked": lambda x: np.ma.masked_array(x), "matrix": np.asmatrix, "records": lambda x: x.view(np.recarray),
    "another class": lambda x: x.view(Own),
}  # fmt: skip


@pytest.mark.parametrize("kind", OUTPUTS)
def test_outputs_of_other_classes_are_refused(kind):
    out = OUTPUTS[kind](np.zeros((3, 3)))
    words = r"out must be a plain numpy\.ndarray, got .*: give numpy\.asarray\(out\), which shares its memory"
    with pytest.raises(ff.InputError, match=words):
        ff.mass_matrix(MODEL, Q, out=out)
    with pytest.raises(ff.InputError, match=words):
        output_array(out, (3, 3))
    assert np.shares_memory(np.asarray(out), out)
    np.testing.assert_array_equal(ff.mass_matrix(MODEL, Q, out=np.asarray(out)), ff.mass_matrix(MODEL, Q))


def test_outputs_that_can_be_written_pass():
    out = np.zeros((5, 3, 3))
    assert output_array(out, (5, 3, 3)) is out
    for bad, word in ((out.T, "non-contiguous"), (out.astype(int), "int64"), (out[0], r"shape \(3, 3\)"), ([1.0], "list")):
        with pytest.raises(ff.InputError, match=rf"out must be .*{word}"):
            output_array(bad, (5, 3, 3))
    out.flags.writeable = False
    with pytest.raises(ff.InputError, match="got a read-only float64 array"):
        output_array(out, (5, 3, 3))


def states(*lead: int) -> np.ndarray:
    """So many states in the memory of one."""
    return np.broadcast_to(Q, (*lead, 3))


LARGE: dict[str, tuple[Callable[[], Any], str]] = {
    "10^15 states": (lambda: ff.mass_matrix(MODEL, states(10**15)), "q has shape|mass_matrix needs more memory"),
    "10^14 positions": (lambda: ff.bias_forces(MODEL, states(10**14), Q), "q has shape|more memory than there is for q"),
    "an outer product": (
        lambda: ff.bias_forces(MODEL, states(10**7, 1), states(10**8)), "bias_forces needs more memory than there is for q"
    ),
    "normalized": (lambda: ff.normalize_configuration(MODEL, states(9 * 10**13)), "normalize_configuration needs more memory"),
    "all terms of many": (lambda: ff.all_terms(MODEL, states(9 * 10**13), Q), "all_terms needs more memory|more memory"),
    "random ones": (lambda: ff.random_configuration(MODEL, np.random.default_rng(0), 10**13), "needs more memory"),
    "more random ones": (lambda: ff.random_configuration(MODEL, np.random.default_rng(0), 10**30), "size must be"),
    "random ones without end": (lambda: ff.random_configuration(MODEL, np.random.default_rng(0), 10**5000), "size must be"),
    "random ones in 80 axes": (lambda: ff.random_configuration(MODEL, np.random.default_rng(0), (2,) * 80), "size must be"),
    "a chain": (lambda: robots.chain(n=10**400), "n must be a whole number from 1 to 100000; got an integer beyond"),
    "a longer chain": (lambda: robots.make("chain", n=10**5000), "n must be a whole number"),
    "a negative one": (lambda: robots.chain(n=-(10**5000)), "n must be a whole number"),
    "long links": (lambda: robots.chain(length=10**400), "length must be a finite number above zero"),
    "longer links": (lambda: robots.chain(length=10**5000), "length must be a finite number above zero"),
    "a long simulation": (lambda: ff.sim.simulate(MODEL, Q, Q, dt=0.1, duration=10**400), "duration must be"),
    "a longer one": (lambda: ff.sim.simulate(MODEL, Q, Q, dt=0.1, duration=10**5000), "duration must be"),
    "a simulation of many samples": (lambda: ff.sim.simulate(MODEL, Q, Q, dt=1e-30, duration=1.0), "longer dt"),
    "long steps": (lambda: ff.step(MODEL, Q, Q, Q, 10**5000), "dt must be a positive number"),
    "a frame's number": (lambda: MODEL.frame(10**5000), "no frame is named an integer beyond"),
}  # fmt: skip


@pytest.mark.parametrize("what", LARGE)
def test_too_large_requests_are_refused(what):
    call, words = LARGE[what]
    with pytest.raises(ff.FreeflyerError, match=words) as caught:
        call()
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("axes", [29, 33, 62, 64])
@pytest.mark.parametrize(
    "function",
    [ff.mass_matrix, ff.frame_pose, ff.bias_forces, ff.all_terms, ff.inverse_dynamics_derivatives, ff.integrate,
     ff.integrate_derivatives, ff.linearize, ff.inverse_dynamics_second_derivatives, ff.normalize_configuration],
)  # fmt: skip
def test_too_many_axes_are_refused(function, axes):
    with pytest.raises(ff.InputError, match=rf"q\w* has {axes} axes, expected at most 28: reshape"):
        called(function, Q.reshape((1,) * (axes - 1) + (3,)))


@pytest.mark.parametrize("function", [ff.mass_matrix, ff.frame_pose, ff.bias_forces, ff.linearize, ff.integrate_derivatives])
def test_many_axes_are_taken(function):
    called(function, Q.reshape((1,) * 27 + (3,)))


def called(function: Callable[..., Any], x: np.ndarray) -> Any:
    counts = {ff.bias_forces: 2, ff.all_terms: 2, ff.integrate: 2, ff.integrate_derivatives: 2, ff.inverse_dynamics_derivatives: 3,
              ff.linearize: 3, ff.inverse_dynamics_second_derivatives: 4}  # fmt: skip
    return function(MODEL, *[x] * counts.get(function, 1), *(["tip"] if function is ff.frame_pose else []))


HUGE_NAMES = {
    "a name of a million letters": lambda: MODEL.frame("link_" * 200_000),
    "a long name among many": lambda: ff.robots.chain(1000).frame("link_1" * 16),
    "an unknown robot": lambda: robots.make("z" * 10**6),
    "long names that exist": lambda: ff.build(
        ff.Description("long", tuple(ff.Link("l" * 20_000 + str(k)) for k in range(50)),
                       (ff.Joint("j", "fixed", "world", "m" * 20_000),))
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", HUGE_NAMES)
def test_huge_names_are_refused_soon_and_shortly(what):
    start = time.process_time()
    with pytest.raises(ff.FreeflyerError, match=r"no .* is named") as caught:
        HUGE_NAMES[what]()
    assert len(str(caught.value)) < 1500
    assert time.process_time() - start < 3.0  # building the longer chain is most of it
