"""Every argument of every public function of a robot, found by its signature, refuses what it cannot use, by its name; so do calls
that signatures do not tell how to make (calls_by_hand.py)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import pytest
from calls_by_hand import bad_calls as bad_calls_by_hand, calls
from kinds_of_arguments import BY_NAME, UNTRIED, bad_calls, kind_of
from public_names import public_functions
from test_every_function import FUNCTIONS, REASONS, arguments, first_argument, modelled, reason

import freeflyer as ff

CALLS = {f"{k}-{call.function.__name__}": call for k, call in enumerate(calls())}
BY_HAND = {call.function.__name__ for call in CALLS.values()}
OWN_TESTS = {  # besides those that `REASONS` names
    "frame_set": "hostile/test_bad_arrays.py", "to_mjcf": "model/test_writers_files.py", "to_urdf": "model/test_writers_files.py",
}  # fmt: skip
TRIED = [name for name in FUNCTIONS if "all" not in REASONS.get(name, {}) and name not in OWN_TESTS]
OTHER_WORDS = {  # that name the argument as well
    "values": ("positions of", "stroke"), "constraints": ("A must hold", "ConstraintSet"),
    "inequalities": ("A cannot be", "A must hold"), "configuration": ("q ",)
}  # fmt: skip
MEANT = {  # what it makes right; complex numbers, for steps; the base; lists of constraint sets
    ("normalize_configuration", "q"), ("symbolic.parameters", "gravity"), ("decoupling.external_velocity", "frame"),
    ("formulations.constrained.accelerations", "constraints"),
    ("formulations.constrained.unilateral_accelerations", "inequalities"),
}  # fmt: skip


def leaks_of(attempts: Iterable[tuple[str, Callable[[], Any], tuple[str, ...]]]) -> list[str]:
    """Of (what, call, words): calls that end otherwise than in an error of ours whose sentence holds one of the words."""
    leaks = []
    for what, call, words in attempts:
        try:
            call()
        except ff.FreeflyerError as error:
            if len(str(error)) < 20 or not any(x in str(error) for x in words):
                leaks.append(f"{what}: the sentence does not name it: {error}")
        except Exception as error:
            leaks.append(f"{what}: {type(error).__name__}: {error}")
        else:
            leaks.append(f"{what}: accepted")
    return leaks


@pytest.mark.parametrize("name", TRIED)
def test_bad_arguments_are_refused(name: str) -> None:
    closed = "tree" if reason(name, "closed, one state") else "closed"
    model, function, attempts = modelled(closed), FUNCTIONS[name], []
    first, good = first_argument(name, model), arguments(name, model, ())
    function(first, **good)
    for what, given, word in bad_calls(function, good):
        of_names = kind_of(inspect.signature(function).parameters[word]).startswith("name")
        attempts.append((what, partial(function, first, **given), (word, *OTHER_WORDS.get(word, ()), *["named"] * of_names)))
    leaks = leaks_of(attempts)
    assert not [x for x in leaks if not (x.endswith(": accepted") and (name, x.partition(" = ")[0]) in MEANT)], "\n".join(leaks)


@pytest.mark.parametrize("name", CALLS)
def test_good_arguments_by_hand_work(name: str) -> None:
    call = CALLS[name]
    if call.function is ff.estimation.contact_wrenches:
        with pytest.raises(ff.linkages.LinkageError, match="do not determine the wrenches"):
            call.function(**call.good)
        return
    call.function(**call.good)


@pytest.mark.parametrize("name", CALLS)
def test_bad_arguments_by_hand_are_refused(name: str) -> None:
    call = CALLS[name]
    leaks = leaks_of((what, partial(call.function, **given), words) for what, given, words in bad_calls_by_hand(call))
    assert not leaks, "\n".join(leaks)


def test_no_function_of_a_model_and_a_state_is_left_out() -> None:
    """A new function is tried here, or has a reason why not."""
    of_states = {
        name for name, f in public_functions("model").items()
        if any(kind_of(p) in ("posture", "rates") for p in inspect.signature(f).parameters.values())
    }  # fmt: skip
    short = {name for name in of_states if name.rpartition(".")[2] in BY_HAND}
    assert of_states - short <= {*TRIED, *(name for name, why in REASONS.items() if "all" in why)}
    assert len(of_states) > 90


def test_names_in_the_tables_are_those_of_parameters() -> None:
    known = {p for f in public_functions().values() for p in inspect.signature(f).parameters}
    assert {*BY_NAME, *UNTRIED} <= known
