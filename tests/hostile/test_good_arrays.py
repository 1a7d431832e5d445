"""Arrays of every layout, kind of number and number of axes that hold the right numbers are taken."""

import freeflyer as ff
import numpy as np
import pytest
from bad_values import BATCH
from closeness import EXACT, close, refused, rounding
from state_functions import FIXED, FUNCTIONS, ROBOT, called, good, robot_of

UNUSUAL = {  # arrays that hold the right numbers in unusual ways
    "a list": lambda x: x.tolist(),
    "a tuple": lambda x: tuple(map(tuple, x)) if x.ndim == 2 else tuple(x),
    "a list of arrays": lambda x: list(x),
    "every second of a longer one": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "reversed twice": lambda x: np.ascontiguousarray(x[..., ::-1])[..., ::-1],
    "Fortran order": np.asfortranarray,
    "big-endian": lambda x: x.astype(">f8"),
    "long double": lambda x: x.astype(np.longdouble),
    "not aligned": lambda x: np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(float).reshape(x.shape),
    "a matrix row": lambda x: x if x.ndim == 1 else np.asmatrix(x),
    "a masked array": lambda x: np.ma.masked_array(x),
    "a broadcast view": lambda x: np.broadcast_to(x, x.shape),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_unusual_arrays_work(name):
    """The same bits as from plain arrays, if compiled code computes them; and the argument stays as it was."""
    every = name in ("bias_forces", "frame_jacobian", "integrate")  # all layouts; one of those that are copied on all functions
    for lead in ((), (BATCH,)):
        arrays = good(robot_of(name), name, lead)
        for kind in UNUSUAL if every else ("every second of a longer one",):
            odd = {k: UNUSUAL[kind](x) for k, x in arrays.items()}
            before = {k: np.array(x) for k, x in odd.items()}
            results, expected = (called(robot_of(name), name, x) for x in (odd, arrays))
            close(results, expected, EXACT if name == "to_mujoco" else 0.0, what=(kind, lead))
            assert type(results) is type(expected), kind
            for k, x in odd.items():
                np.testing.assert_array_equal(np.array(x), before[k], kind)
    arrays = good(robot_of(name), name)
    expected = called(robot_of(name), name, arrays)
    for x in arrays.values():
        x.flags.writeable = False
    results = called(robot_of(name), name, arrays)
    np.testing.assert_array_equal(results, expected)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_other_numbers_work(name):
    """Floats of other sizes and integers are taken at their value."""
    every = name in ("bias_forces", "frame_jacobian", "integrate")
    for dtype in (np.float32, np.float16, np.int64, np.int32, np.int8, np.uint8) if every else (np.float32, np.int64):
        arrays = {k: (3.0 * x).astype(dtype) for k, x in good(FIXED, name).items()}
        wide = {k: x.astype(float) for k, x in arrays.items()}
        results, expected = (called(FIXED, name, x) for x in (arrays, wide))
        assert results.dtype == np.float64
        np.testing.assert_array_equal(results, expected, str(dtype))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_batches_of_any_shape_work(name):
    """Also none, one, and several axes; and arrays with and without them together."""
    arrays = good(robot_of(name), name)
    one = np.asarray(called(robot_of(name), name, arrays))
    solved = "forward" in name or name in ("inverse_mass_matrix", "linearize", "step")  # rounding grows with the condition of M
    tolerance = max(EXACT, rounding(100, np.linalg.cond(ff.mass_matrix(robot_of(name), arrays["q"]))) if solved else 0.0)
    for lead in ((0,), (1,), (2, 3), (0, 4), (1, 1, 1), (9,)):
        for batched in arrays:
            mixed = {k: np.broadcast_to(x, (*lead, x.size)) if k == batched else x for k, x in arrays.items()}
            result = called(robot_of(name), name, mixed)
            result = np.asarray(result)
            assert result.shape == lead + one.shape
            close(result, np.broadcast_to(one, result.shape), tolerance, axes=one.ndim)
    # Of no coordinates: results without entries, or a sentence; nothing else
    still = ff.build(ff.Description("rock", (ff.Link("rock", ff.Inertia(1.0, np.zeros(3), np.eye(3))),),
                                    (ff.Joint("bolt", "fixed", "world", "rock"),), (ff.Site("tip", "rock"),)))  # fmt: skip
    for lead in ((), (3,), (70,)):
        arrays = {k: np.empty((*lead, 0)) for k in good(still, name)}
        try:
            result = called(still, name, arrays)
        except ff.InputError:
            continue
        result = np.asarray(result)
        assert result.shape[: len(lead)] == lead
        assert np.all(np.isfinite(result))


@pytest.mark.parametrize("name", ["mass_matrix", "frame_pose", "center_of_mass"])
@pytest.mark.parametrize("size", [-1, 1, 7, 10_000])
def test_sizes_are_caught_before_anything_is_compiled(name, size):
    """A fresh model and the very first call, and then again."""
    model = ff.robots.chain(2)
    arrays = {"q": np.zeros(max(model.nq + size, 0))}
    for _ in range(2):
        refused(ff.InputError, r"q has shape", called, model, name, arrays)


def test_results_do_not_share_memory_with_arguments():
    arrays = good(ROBOT, "integrate", (BATCH,))
    arrays["dv"] = np.zeros((BATCH, ROBOT.nv))
    result = ff.integrate(ROBOT, **arrays)
    result[:] = 7.0
    assert not np.any(arrays["q"] == 7.0)
    q = ff.normalize_configuration(ROBOT, arrays["q"])
    assert not np.shares_memory(q, arrays["q"])


@pytest.mark.parametrize("bad", [0.0, 1e-13, np.nan, np.inf])
def test_normalize_configuration_needs_a_direction(bad):
    q = ff.neutral(ROBOT)
    q[3:7] = 0.0
    q[5] = bad
    refused(ff.InputError, r"quaternion of joint 'root_joint' is zero or not finite", ff.normalize_configuration, ROBOT, q)


@pytest.mark.parametrize("lead", [(), (BATCH,)], ids=["state", "batch"])
@pytest.mark.parametrize(("name", "argument"), [("forward_dynamics", "v"), ("forward_dynamics", "tau")])
def test_what_is_beyond_all_numbers_is_not_called_singular(name, argument, lead):
    arrays = good(robot_of(name), name, lead)
    arrays[argument][..., 8] = 1e307
    with pytest.raises(ff.InputError, match=rf"beyond floating-point numbers: {argument}\[.*8\] \(joint ") as caught:
        called(robot_of(name), name, arrays)
    assert "singular" not in str(caught.value)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("argument", ["v", "a"])
@pytest.mark.parametrize("name", ["inverse_dynamics_second_derivatives", "inverse_dynamics_hessian_product"])
def test_second_derivatives_beyond_all_numbers_are_refused(name, argument):
    arrays = good(ROBOT, name)
    arrays[argument] = 1e308 * np.sign(arrays[argument])
    refused(ff.InputError, "beyond floating-point numbers", called, ROBOT, name, arrays)
