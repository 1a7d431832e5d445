"""Arrays of every layout, kind of number and number of axes that hold the right numbers are taken, and stay as they are."""

import freeflyer as ff
import inspect
import numpy as np
import pytest
from bad_values import BATCH, takes_array_for_result
from closeness import EXACT, close, fresh, refused, rounding
from dataclasses import replace
from linkage_samples import four_bar
from random_robots import KINDS, random_robot
from samples import (FIXED, FUNCTIONS, OF_STATES, ROBOT, SPATIAL_FUNCTIONS, TURNED, Call, arrays, close_to_states, model_call,
    robot_of, spatial_call)  # fmt: skip
from test_every_argument import CASES, call_of

UNUSUAL = {  # arrays that hold the right numbers in unusual ways
    "a list": lambda x: x.tolist(), "a list of arrays": lambda x: list(x) if x.ndim else x,
    "every second of a longer one": lambda x: np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x,
    "reversed twice": lambda x: np.ascontiguousarray(x[..., ::-1])[..., ::-1] if x.ndim else x,
    "Fortran order": np.asfortranarray, "big-endian": lambda x: x.astype(">f8"), "long double": lambda x: x.astype(np.longdouble),
    "not aligned": lambda x: np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(float).reshape(x.shape),
    "a matrix row": lambda x: x if x.ndim != 2 else np.asmatrix(x), "a masked array": lambda x: np.ma.masked_array(x),
    "a broadcast view": lambda x: np.broadcast_to(x, x.shape),  # read-only
}  # fmt: skip
ALL_LAYOUTS = ("bias_forces of quaternions", "frame_jacobian of quaternions", "integrate of quaternions")


def same(call: Call, expected: list[np.ndarray], given: dict, what: object, tolerance: float = 0.0) -> None:
    for x, y in zip(call.result(**given), expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance * np.abs(y).max(initial=0.0, where=np.isfinite(y)),
            err_msg=what)  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_unusual_arrays_work(case):
    """The same as from plain arrays, to the bit if compiled code computes it; and the argument stays as it was."""
    call = call_of(case)
    if not call.arrays:
        return
    expected = call.result()
    for kind in UNUSUAL if case in ALL_LAYOUTS else ("a list", "every second of a longer one", "a broadcast view"):
        odd = {k: UNUSUAL[kind](x) for k, x in call.arrays.items()}
        before = {k: np.array(x) for k, x in odd.items()}
        same(call, expected, odd, kind, 0.0 if CASES[case] in OF_STATES else EXACT)
        for k, x in odd.items():
            np.testing.assert_array_equal(np.array(x), before[k], kind)


@pytest.mark.parametrize("name", OF_STATES)
def test_other_numbers_and_read_only_arrays_work(name):
    """Floats of other sizes and integers are taken at their value; results do not share memory with arguments."""
    call = model_call(name, FIXED)
    for dtype in (np.float32, np.float16, np.int64, np.int8, np.uint8):
        given = {k: (3.0 * np.abs(x)).astype(dtype) for k, x in call.arrays.items()}
        same(call, call.result(**{k: x.astype(float) for k, x in given.items()}), given, dtype)
    for x in call.result():
        assert x.dtype == np.float64
        assert not any(np.shares_memory(x, y) for y in call.arrays.values())


EVERY_KIND, MIMICS = (random_robot(fresh(0), 12, KINDS, "free", mimics=0.0),
    random_robot(fresh(2), 10, KINDS, "planar", mimics=0.7))  # fmt: skip
CHECK = "spatial.consistency.check"  # has one list of reasons for all
LEADS = ((9,), (3, 3), (1,), (0,), (2, 0, 3), (1, 1, 1))  # robots take them in turn


def batch_calls(name):
    """Of one call's maker: robots with every kind of joint."""
    if name in SPATIAL_FUNCTIONS:
        return [lambda lead: spatial_call(name, lead)]
    robots = [TURNED] if "mujoco" in name else [ROBOT, EVERY_KIND, MIMICS]
    return [lambda lead, k=k, robot=robot: on_robot(model_call(name, robot, lead), robot, k) for k, robot in enumerate(robots)]


def on_robot(call: Call, robot: ff.Model, k: int) -> Call:
    """With a frame of the robot, and for each robot another word of those that are allowed."""
    words = {"frame": robot.frame_names[-1], "expressed": ("body", "mixed", "world")[k], "form": ("passive", "hamel")[k % 2]}
    return replace(call, given=call.given | {p: x for p, x in words.items() if p in inspect.signature(call.function).parameters})


@pytest.mark.parametrize("name", [*OF_STATES, *(x for x in SPATIAL_FUNCTIONS if x != CHECK)])
def test_batches_of_any_shape_work(name, poisoned):
    """One state or a batch of any shape, also of none, and arrays with and without leading axes together; into given memory."""
    for k, make in enumerate(batch_calls(name)):
        alone = make(())
        one = alone.result()
        for lead in LEADS[k::2]:
            call = make(lead)
            condition = (
                np.linalg.cond(ff.mass_matrix(call.given["model"], call.given["q"])).max(initial=1.0) if solves(name) else 1.0
            )
            tolerance = max(1e-12, rounding(100, condition))
            before = {k: x.copy() for k, x in call.arrays.items()}
            assert [x.shape for x in call.result()] == [lead + x.shape for x in one]
            close_to_states(call, lead, tolerance)
            for k, x in call.arrays.items():
                np.testing.assert_array_equal(x, before[k])
            full = {k: np.broadcast_to(x, (*lead, *x.shape)) for k, x in alone.arrays.items()}
            for k, x in call.arrays.items():
                for mixed, wanted in zip(alone.result(**{k: x}), call.result(**full | {k: x}), strict=True):
                    close(mixed, wanted, tolerance)
            if takes_array_for_result(call.function):
                out = np.full(call.result()[0].shape, np.nan)
                assert call.run(out=out) is out
                close(out, call.result()[0], tolerance)


@pytest.mark.parametrize("name", [name for name, f in FUNCTIONS.items() if "out" in inspect.signature(f).parameters])
def test_results_of_closed_robots_go_to_given_memory(name):
    call = model_call(name, ff.close_loops(four_bar()))
    expected, out = call.result(), call.run()
    for x in (out,) if isinstance(out, np.ndarray) else [getattr(out, field) for field in out._fields]:
        x[...] = np.nan
    assert call.run(out=out) is out
    for x, y in zip(arrays(out), expected, strict=True):
        np.testing.assert_array_equal(x, y)


def solves(name: str) -> bool:
    return "forward" in name or name in ("inverse_mass_matrix", "linearize", "step")


@pytest.mark.parametrize("name", OF_STATES)
def test_a_robot_without_coordinates(name):
    """Results without entries, or a sentence."""
    still = ff.build(ff.Description("rock", (ff.Link("rock", ff.Inertia(1.0, np.zeros(3), np.eye(3))),),
                                    (ff.Joint("bolt", "fixed", "world", "rock"),), (ff.Site("tip", "rock"),)))  # fmt: skip
    for lead in ((), (3,), (70,)):
        try:
            results = model_call(name, still, lead).result()
        except ff.InputError:
            continue
        for x in results:
            assert x.shape[: len(lead)] == lead
            assert np.all(np.isfinite(x))


@pytest.mark.parametrize("name", ["mass_matrix", "frame_pose", "center_of_mass"])
@pytest.mark.parametrize("size", [-1, 1, 7, 10_000])
def test_sizes_are_caught_before_anything_is_compiled(name, size):
    """A fresh model and the very first call, and then again."""
    call = model_call(name, ff.robots.chain(2))
    for _ in range(2):
        refused(ff.InputError, r"q has shape", call.run, q=np.zeros(max(2 + size, 0)))


@pytest.mark.parametrize("bad", [0.0, 1e-13, np.nan, np.inf])
def test_normalize_configuration_needs_a_direction(bad):
    q = ff.neutral(ROBOT)
    q[3:7] = 0.0
    q[5] = bad
    refused(ff.InputError, r"quaternion of joint 'root_joint' is zero or not finite", ff.normalize_configuration, ROBOT, q)


@pytest.mark.parametrize("lead", [(), (BATCH,)], ids=["state", "batch"])
@pytest.mark.parametrize(("name", "argument"), [
    ("forward_dynamics", "v"), ("forward_dynamics", "tau"), ("inverse_dynamics_second_derivatives", "v"),
    ("inverse_dynamics_second_derivatives", "a"), ("inverse_dynamics_hessian_product", "v"),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_beyond_all_numbers_is_not_called_singular(name, argument, lead):
    call = model_call(name, robot_of(name), lead)
    huge = np.full((*lead, ROBOT.nv), 1e308 if "second" in name or "hessian" in name else 1e307)
    error = refused(ff.InputError, "beyond floating-point numbers", call.run, **{argument: huge})
    assert "singular" not in str(error)
