"""Fixtures that several folders of tests share."""

import ctypes
import numpy as np
import pytest
from closeness import SEED
from collections.abc import Callable, Iterator
from hypothesis import settings
from pathlib import Path
from robots_on_disk import MODELS, needs_examples

settings.register_profile("changing", deadline=None)  # compiling on the first example is no fault of it
settings.load_profile("changing")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Hypothesis draws by the same seed as all others."""
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = SEED


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`papers` by folder; `peers` for robots of example-robot-data."""
    for item in items:
        if "papers" in item.path.parts:
            item.add_marker(pytest.mark.papers)
        if any(mark.kwargs.get("reason") == needs_examples.kwargs["reason"] for mark in item.iter_markers("skipif")):
            item.add_marker(pytest.mark.peers)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(f"FREEFLYER_TEST_SEED={SEED} repeats the random numbers of this run")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Before a whole run, everything is compiled on all cores: tests that start processes with a time limit then find it made."""
    whole = list(session.config.args) == list(session.config.getini("testpaths"))
    if whole and not hasattr(session.config, "workerinput") and not session.config.option.collectonly:
        from freeflyer.cli.warming import warm

        warm(progress=lambda fraction, what: print(f"\rcompiling: {fraction:4.0%}", end="", flush=True))
        print()


@pytest.fixture
def models_folder() -> Path:
    """The folder of robot models (FREEFLYER_MODELS); the test is skipped where there is none."""
    if not MODELS.is_dir():
        pytest.skip(f"no robot models at {MODELS}: set FREEFLYER_MODELS")
    return MODELS


@pytest.fixture
def robot_without_mesh(tmp_path: Path) -> Callable[..., Path]:
    """Writes the URDF of a link with so many visuals whose file none.stl is not there; its path."""
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    visual = '<visual><geometry><mesh filename="none.stl"/></geometry></visual>'

    def write(visuals: int = 1) -> Path:
        (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="a">{inertial}{visuals * visual}</link></robot>')
        return tmp_path / "r.urdf"

    return write


@pytest.fixture
def short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Times are those of single calls, for tests of what stands beside them."""
    monkeypatch.setattr("freeflyer.analysis.timing.results._count", lambda call, seconds: 1)


class Poison:
    """numpy, but for `empty`, whose floats are all NaN."""

    def __getattr__(self, name: str) -> object:
        return getattr(np, name)

    @staticmethod
    def empty(*args: object, **options: object) -> np.ndarray:
        x = np.empty(*args, **options)
        if x.dtype.kind == "f":
            x.fill(np.nan)
        return x


@ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_ssize_t))
def new_poison(kind: int, axes: int, shape: object) -> np.ndarray:
    """What the adapter calls to make an array (the arguments of PyArray_New)."""
    return np.full(tuple(shape[:axes]), np.nan)


@pytest.fixture
def on_threads() -> Iterator[None]:
    """Batches are spread over threads whatever their size."""
    from freeflyer.kernels.compiler import call_layout
    from freeflyer.kernels.compiler.calls import python_calls

    table = python_calls.known()
    table[call_layout.SHORT_WORK] = 0
    yield
    table[call_layout.SHORT_WORK] = python_calls.SMALL_WORK


@pytest.fixture
def threads(on_threads: None) -> Iterator[Callable[[int], None]]:
    """set_threads, put back afterwards; they work on small batches, too."""
    from freeflyer import get_threads, set_threads

    before = get_threads()
    yield set_threads
    set_threads(before)


@pytest.fixture
def poisoned(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every array that the library makes for a result is full of NaN, so that an entry not written is detected.

    Without this an old, right result in reused memory could hide it. The adapter finds the function that makes arrays in a
    table; workspaces of kernels are not touched.
    """
    from freeflyer.dynamics import centroidal, equations, evaluate, frames, manifold
    from freeflyer.kernels.compiler import call_layout
    from freeflyer.kernels.compiler.calls import python_calls

    for module in (centroidal, equations, evaluate, frames, manifold):
        monkeypatch.setattr(module, "np", Poison())
    table = python_calls.known()
    new = table[call_layout.NEW_ARRAY]
    table[call_layout.NEW_ARRAY] = ctypes.cast(new_poison, ctypes.c_void_p).value
    yield
    table[call_layout.NEW_ARRAY] = new
