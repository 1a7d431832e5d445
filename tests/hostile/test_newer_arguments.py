"""Every bad argument of the newer functions ends in a FreeflyerError that names it; good ones work."""

from __future__ import annotations

import pytest
from calls_by_hand import bad_calls, calls

import freeflyer as ff

CALLS = {f"{k}-{call.function.__name__}": call for k, call in enumerate(calls())}


def test_there_are_many():
    assert sum(len(list(bad_calls(call))) for call in CALLS.values()) >= 1000


@pytest.mark.parametrize("name", CALLS)
def test_good_arguments_work(name):
    call = CALLS[name]
    if call.function is ff.estimation.contact_wrenches:
        with pytest.raises(ff.mechanisms.LinkageError, match="do not determine the wrenches"):
            call.function(**call.good)
        return
    call.function(**call.good)


@pytest.mark.parametrize("name", CALLS)
def test_bad_arguments_are_refused(name):
    call, leaks = CALLS[name], []
    for what, arguments, words in bad_calls(call):
        try:
            call.function(**arguments)
        except ff.FreeflyerError as error:
            if len(str(error)) < 20 or not any(word in str(error) for word in words):
                leaks.append(f"{what}: the sentence does not name it: {error}")
        except Exception as error:
            leaks.append(f"{what}: {type(error).__name__}: {error}")
        else:
            leaks.append(f"{what}: accepted")
    assert not leaks, "\n".join(leaks)
