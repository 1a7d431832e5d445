"""Public functions called with wrong numbers, shapes, strides and results; run in a process of its own, as a fault would end it.

    python hostile_public_calls.py calls
"""

import json
import sys
import warnings
from collections import Counter
from typing import Any

import numpy as np
from bad_values import takes_array_for_result
from hostile_calls import EXTREMES, not_plain
from kernel_samples import tree
from seeds import fresh
from state_functions import FRAMES, FUNCTIONS, called, good

import freeflyer as ff
from freeflyer.errors import FreeflyerError

ROBOTS = (tree(), ff.robots.chain(3), ff.robots.chain(2, "spherical", base="free"))
SLOW = ("inverse_dynamics_second_derivatives", "inverse_dynamics_hessian_product")  # in plain Python
COMPILED = [name for name in FUNCTIONS if "mujoco" not in name and name not in SLOW]  # MuJoCo cannot hold all of these joints


def spoilt(x: np.ndarray, rng: np.random.Generator) -> Any:
    """x with something wrong or strange about it."""
    way = rng.integers(8)
    if way < 2:
        y = x.copy()
        if y.size:
            y.reshape(-1)[rng.integers(y.size)] = rng.choice(EXTREMES)
        return y
    if way == 2:
        stranger = [x.astype(np.float32), x.astype(">f8"), x.tolist(), x[..., ::-1], None, x.astype(object)]
        among = not_plain(x) if x.ndim == 1 else stranger
        return among[rng.integers(len(among))]
    if way == 3:
        return x[..., : rng.integers(x.shape[-1] + 1)]
    if way == 4:
        return np.broadcast_to(x, (2, *x.shape))
    if way == 5:
        return np.asfortranarray(x)
    if way == 6:
        return x[..., None] if rng.random() < 0.5 else np.concatenate([x, x], axis=-1)
    return 1e200 * x


def result_of(shape: tuple[int, ...], inputs: list[Any], rng: np.random.Generator) -> Any:
    """An array for results: right, of another shape or type, or in the memory of an input."""
    way = rng.integers(6)
    if way == 0:
        return np.empty(shape)
    if way == 1:
        return np.empty(shape, rng.choice(["f4", ">f8", "i8", "O"]))
    if way == 2:
        return np.empty((*shape, 1))[..., 0] if shape else np.empty(3)
    if way == 3:
        return np.empty(tuple(n + 1 for n in shape))
    of = [x for x in inputs if isinstance(x, np.ndarray) and x.dtype == np.float64 and x.flags.carray and x.size >= np.prod(shape)]
    if of and way == 4:
        return of[0].reshape(-1)[: int(np.prod(shape))].reshape(shape)
    return None


def run(calls: int) -> None:
    rng = fresh()
    ended: Counter[str] = Counter()
    for _ in range(calls):
        model = ROBOTS[rng.integers(len(ROBOTS))]
        name = str(rng.choice(COMPILED))
        lead = [(), (), (3,), (17,), (2, 9)][rng.integers(5)]
        inputs: dict[str, Any] = good(model, name, lead, rng)
        options: dict[str, Any] = {"frame": model.frame_names[-1]} if name in FRAMES else {}
        expected = called(model, name, inputs, **options)
        if rng.random() < 0.9:
            k = str(rng.choice(list(inputs)))
            inputs[k] = spoilt(inputs[k], rng)
        if takes_array_for_result(getattr(ff, name)) and rng.random() < 0.4:
            options["out"] = result_of(expected.shape, list(inputs.values()), rng)
        if name in FRAMES and rng.random() < 0.1:
            options["frame"] = rng.choice([-1, 10**7, 0])
        call = f"{name}({model.name}, lead {lead}, {[type(x).__name__ for x in inputs.values()]}, {options})"
        try:
            got = called(model, name, inputs, **options)
        except (FreeflyerError, TypeError) as error:
            ended[type(error).__name__] += 1
            continue
        except Exception as error:
            raise AssertionError(f"{call} ended in {type(error).__name__}: {error}") from error
        assert np.isfinite(got).all(), f"{call} gave what is not finite"
        ended["right"] += 1
    print(json.dumps(ended))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    run(*map(int, sys.argv[1:]))
