"""Rules that the signatures of all public functions keep: one word for one thing, options by keyword."""

import inspect

import pytest
from public_names import public_functions

from freeflyer.progress import no_progress

BY_KEYWORD = {
    "atol", "constraints", "count", "events", "frames", "gravity", "limits", "loops", "out", "progress", "redundant", "restitution",
    "rtol", "seed", "sensing", "solver", "start", "strict", "tolerance", "warm",
}  # fmt: skip
ARGUMENT_ITSELF = {("load", "gravity"), ("load", "loops"), ("with_gravity", "gravity")}  # what the function is about
OTHER_WORDS = {  # the word for it
    "step": "dt", "h": "dt", "timestep": "dt", "time_step": "dt", "configuration_": "q", "qd": "v", "dq": "v", "ddq": "a",
    "frame_name": "frame", "verbose": "progress", "random_state": "seed", "tol": "tolerance", "robot_model": "model",
}  # fmt: skip
OF_OTHER_LIBRARIES = {"mj_model", "pin_model"}  # imported only where they are used
ANY_INPUT = {"inputs", "targets"}  # a function, or an object with a method


PARAMETERS = {  # of robots: spatial mathematics has letters of its own
    name: inspect.signature(found).parameters for name, found in public_functions().items() if not name.startswith("spatial.")
}


def test_there_are_public_functions():
    assert len(PARAMETERS) > 170


@pytest.mark.parametrize("name", PARAMETERS)
def test_options_go_by_keyword(name):
    short = name.rpartition(".")[2]
    options = [p for p in PARAMETERS[name].values() if p.name in BY_KEYWORD and p.default is not p.empty]
    assert [p.name for p in options if p.kind is not p.KEYWORD_ONLY and (short, p.name) not in ARGUMENT_ITSELF] == []


@pytest.mark.parametrize("name", PARAMETERS)
def test_one_word_for_one_thing(name):
    assert not {p: OTHER_WORDS[p] for p in PARAMETERS[name] if p in OTHER_WORDS}


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_says_its_type(name):
    for p in PARAMETERS[name].values():
        assert p.annotation is not p.empty, p.name
        if p.annotation == "Any":
            assert p.name in OF_OTHER_LIBRARIES | ANY_INPUT, p.name


@pytest.mark.parametrize("name", [name for name, p in PARAMETERS.items() if "progress" in p])
def test_one_progress_protocol(name):
    p = PARAMETERS[name]["progress"]
    assert p.annotation == "Progress"
    assert p.default is no_progress


@pytest.mark.parametrize("name", [name for name, p in PARAMETERS.items() if "external" in p])
def test_wrenches_come_with_their_expression(name):
    if name != "sim.replay":  # a run has the expression among its settings
        assert "expressed" in PARAMETERS[name]
