"""Every public function that takes a model refuses anything else as its first argument, by name."""

from __future__ import annotations

import inspect
import traceback

import numpy as np
import pytest
from public_names import public_functions

import freeflyer as ff
from freeflyer.model.public import public

MODEL = ff.robots.chain(3)
Q = np.zeros(3)
NOT_MODELS = {
    "None": (None, "freeflyer.load"),
    "a path": ("robot.urdf", "'robot.urdf': load it first with freeflyer.load"),
    "a description": (ff.robots.kangaroo_like().description, "build it first with freeflyer.build"),
    "an array": (Q, "the model comes first"),
    "a class": (ff.Model, "type: load it first"),
    "a number": (7, "got int 7"),
    "a result": (ff.all_terms(MODEL, Q, Q), "AllTerms"),
}


FUNCTIONS = public_functions("model")


def test_there_are_enough():
    assert len(FUNCTIONS) >= 85


def model_is_needed(name):
    return next(iter(inspect.signature(FUNCTIONS[name]).parameters.values())).default is not None


NEEDED = [(name, kind) for name in FUNCTIONS for kind, (bad, _) in NOT_MODELS.items() if bad is not None or model_is_needed(name)]


@pytest.mark.parametrize(("name", "kind"), NEEDED)
def test_no_model(name, kind, tmp_path):
    """The other arguments are wrong, too: it is the first one that must be named."""
    function, (bad, word) = FUNCTIONS[name], NOT_MODELS[kind]
    parameters = list(inspect.signature(function).parameters.values())
    required = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_POSITIONAL][1:]
    others = {p.name: tmp_path / "robot.xml" if p.name == "path" else Q for p in required}
    with pytest.raises(ff.InputError, match=f"the first argument of {name.rpartition('.')[2]} must be a freeflyer Model") as caught:
        function(bad, **others)
    assert word in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("bad", [None, "robot.urdf", Q, ff.Model], ids=str)
def test_no_model_where_others_are_taken_too(bad, tmp_path):
    """Descriptions by writers, sensors by estimators."""
    calls = [lambda: ff.to_urdf(bad, tmp_path / "robot.urdf"), lambda: ff.to_mjcf(bad, tmp_path / "robot.xml"),
             lambda: ff.estimation.start(bad), lambda: ff.estimation.closed_torques(bad, Q, Q, Q)]  # fmt: skip
    for call in calls:
        with pytest.raises(ff.InputError, match="expected a Model or "):
            call()


@pytest.mark.parametrize("function", [ff.mass_matrix, ff.center_of_mass, ff.normalize_configuration, ff.frame_pose])
def test_swapped_arguments(function):
    last = ("tip",) if function is ff.frame_pose else ()
    with pytest.raises(ff.InputError, match="the model comes first"):
        function(Q, MODEL, *last)


@public
def sample(model: ff.Model, x: float = 1.0, *, fails: bool = False) -> float:
    """What is decorated."""
    y = x + model.nv
    if fails:
        raise AttributeError("ours")
    return y


def test_nothing_else_changes():
    assert sample(MODEL) == 4.0
    assert sample(MODEL, x=2.0) == 5.0
    assert sample.__doc__ == "What is decorated."
    assert list(inspect.signature(sample).parameters) == ["model", "x", "fails"]
    assert inspect.getsource(sample).startswith("@public")
    assert inspect.unwrap(sample).__code__.co_firstlineno == inspect.getsourcelines(sample)[1]


def test_arguments_that_do_not_fit_are_named_by_python():
    for call in (lambda: sample(), lambda: sample(MODEL, 1.0, 2.0), lambda: sample(MODEL, y=1.0)):
        with pytest.raises(TypeError, match=r"sample\(\)"):
            call()


def test_other_errors_pass_as_they_are():
    with pytest.raises(AttributeError, match="ours") as caught:
        sample(MODEL, fails=True)
    lines = [frame.line for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert lines[-1] == 'raise AttributeError("ours")'
