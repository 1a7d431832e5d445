"""The package as a whole: public names, imports without side effects, models that are copied and saved; its README runs."""

import copy
import freeflyer as ff
import inspect
import json
import numpy as np
import os
import pickle
import pytest
import re
import subprocess
import sys
from closeness import fresh, refused
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

HEAVY = ("matplotlib", "mujoco", "sympy", "viser", "torch", "lxml", "jax", "typer", "rich", "pinocchio", "llvmlite")
LAZY = sorted(path.parent.name for path in Path(ff.__file__).parent.glob("*/__init__.pyi"))

OPENING = """
import json, os, sys, threading
def files():
    return sorted(os.path.join(d, f) for top in sys.argv[1:] for d, _, names in os.walk(top) for f in names)
before = files(), threading.active_count(), os.getcwd(), dict(os.environ)
import freeflyer
import logging
print(json.dumps({
    "modules": sorted(sys.modules), "files": files() == before[0], "threads": threading.active_count() - before[1],
    "folder": os.getcwd() == before[2], "environment": dict(os.environ) == before[3], "handlers": len(logging.getLogger().handlers),
    "compiled": [name for m in list(sys.modules.values()) if getattr(m, "__name__", "").startswith("freeflyer.kernels.")
                 for name, f in vars(m).items() if not isinstance(f, type) and getattr(f, "signatures", None)],
}))
"""


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """What a fresh process saw when it imported the package, in an empty folder and with an empty cache."""
    home = tmp_path_factory.mktemp("home")
    environment = {**os.environ, "HOME": str(home), "FREEFLYER_CACHE_DIR": str(home / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-W", "error", "-c", OPENING, str(home)]
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_exports_and_completion():
    assert (ff.__all__, len(set(ff.__all__))) == (sorted(ff.__all__), len(ff.__all__))
    for name in ff.__all__:
        assert getattr(ff, name) is not None
    # `dir`, which editors and notebooks show, is `__all__`, whatever was imported; every room with public names is in it
    import_module("freeflyer.cli.app")
    folder = Path(ff.__file__).parent
    rooms = {path.parent.name for path in folder.glob("*/__init__.py")} - {"cli", "dynamics", "kernels", "model", "plots"}
    assert {"control", "sim", "spatial"} < rooms
    assert dir(ff) == ff.__all__
    assert rooms <= set(dir(ff))
    assert {name for name in dir(ff) if inspect.ismodule(getattr(ff, name))} == rooms | {"errors"}


def test_the_designed_call_forms():
    """Argument names and defaults by which others call."""
    forms = {"load": "source base loops", "frame_jacobian": "model q frame expressed", "coriolis_matrix": "model q v form",
             "inverse_dynamics": "model q v a external", "forward_dynamics": "model q v tau external",
             "random_configuration": "model rng", "difference": "model q0 q1", "integrate": "model q dv",
             "frame_velocity": "model q v frame", "frame_bias_acceleration": "model q v frame",
             "all_terms": "model q v"}  # fmt: skip
    for name, words in forms.items():
        assert list(inspect.signature(getattr(ff, name)).parameters)[: len(words.split())] == words.split(), name
    assert inspect.signature(ff.load).parameters["base"].default == "auto"
    assert inspect.signature(ff.frame_jacobian).parameters["expressed"].default == "body"
    assert inspect.signature(ff.coriolis_matrix).parameters["form"].default == "passive"
    model = ff.robots.quadruped()
    assert isinstance(str(model), str)
    assert model.nv == 18


@pytest.mark.parametrize(("room", "name", "near"), [
    (ff, "rnea", "inverse_dynamics"),
    (ff, "merge_fixed_links", "merge_fixed"),
    (ff, "PostureTask", "control.PostureTask"),
    (ff, "assemble", "linkages.assemble"),
    (ff, "constraints", "ConstraintSet"),  # not linkages.constraints, which other rooms alone use
    (ff.control, "PostureTsk", "PostureTask"),
    (ff.sim, "simulat", "simulate"),
])  # fmt: skip
def test_unknown_names_suggest_others(room, name, near):
    refused(AttributeError, f"has no attribute '{name}'. Did you mean '{near}'", getattr, room, name)
    assert not hasattr(room, "w" * 1000)


def test_errors_have_one_base():
    for name in ("InputError", "UnknownNameError", "DescriptionError", "FileError"):
        assert issubclass(getattr(ff, name), ff.FreeflyerError)
    error = ff.InputError("q has the wrong shape", shape=(3,))
    assert error.data == {"shape": (3,)}
    assert isinstance(error, ValueError)
    assert isinstance(ff.UnknownNameError("no"), LookupError)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    for room in LAZY:
        for name in dir(module := import_module(f"freeflyer.{room}")):
            getattr(module, name)
    kinds, waiting = set(), [ff.FreeflyerError]
    while waiting:
        kinds |= {kind := waiting.pop()}
        waiting += kind.__subclasses__()
    assert {"LinkageError", "StepError", "SolverError", "CalibrationError"} <= {kind.__name__ for kind in kinds}
    own = {kind for kind in kinds if kind.__module__.startswith("freeflyer.")}
    assert {kind.__module__ for kind in own} == {"freeflyer.errors"}
    assert all(getattr(ff.errors, kind.__name__) is kind for kind in own)


def test_importing_is_light_and_does_nothing_else(opened):
    assert not {*HEAVY} & {*opened["modules"]}
    assert not [name for name in opened["modules"] if "kernels.compiler" in name]
    assert opened["files"], "files were written"
    assert opened["threads"] == 0
    assert opened["folder"]
    assert opened["environment"]
    assert (opened["handlers"], opened["compiled"]) == (0, [])


def results(model: ff.Model) -> list[np.ndarray]:
    rng = fresh(0)
    q, v = ff.random_configuration(model, rng, 20), rng.standard_normal((20, model.nv))
    return [ff.inverse_dynamics(model, q, v, v), ff.mass_matrix(model, q[0]), ff.frame_pose(model, q, model.frame_names[-1])]


PICKLED = [lambda m, k=k: pickle.loads(pickle.dumps(m, k)) for k in range(2, pickle.HIGHEST_PROTOCOL + 1)]


def test_models_travel_and_outlive_the_original():
    """A copy has arrays of its own, or holds the original's: compiled code has an address of a model only."""
    expected, names = results(ff.robots.quadruped()), ("name", "nq", "nv", "joint_names", "frame_names", "actuated")
    for way in (copy.copy, copy.deepcopy, *PICKLED):
        again = way(ff.robots.quadruped())
        assert [getattr(again, x) for x in names] == [getattr(ff.robots.quadruped(), x) for x in names]
        for _ in range(20):
            ff.robots.chain(30)  # takes the memory that might have been freed
        for ours, theirs in zip(results(again), expected):
            np.testing.assert_array_equal(ours, theirs)
    model = ff.robots.chain(3)
    q = np.linspace(0.1, 0.3, 3)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        M = pool.submit(ff.mass_matrix, model, q).result(timeout=120)
    np.testing.assert_array_equal(M, ff.mass_matrix(model, q))


def test_what_a_model_hands_out_is_not_its_own():
    """Changing a result changes nothing else."""
    model = ff.robots.humanoid()
    assert not model.gravity.flags.writeable
    for hand in (ff.neutral, lambda m: ff.bias_forces(m, ff.neutral(m), np.zeros(m.nv))):
        x = hand(model)
        before = x.copy()
        x[:] = 99.0
        np.testing.assert_array_equal(hand(model), before)


ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_python_blocks_run() -> None:
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), {})
    assert len([line for line in BLOCKS[0].splitlines() if line.strip()]) <= 14


def test_links_lead_to_files() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).is_file(), target
