"""Calls of compiled entries with arguments that are wrong in every way; run in a process of its own, as a fault would end it.

    python hostile_calls.py seed part parts calls     # `calls` on each subject of this part; prints how they ended

Each call is made twice, through the builtin function and through ctypes: the verdicts must be the same.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from entry_subjects import address, subjects
from kernel_samples import Subject, tree

import freeflyer as ff
from freeflyer.kernels import plain
from freeflyer.kernels.calls import python_calls, running
from freeflyer.kernels.calls.entry import OK, REFUSED, WRONG_MODEL

EXTREMES = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e154, 1e-320, -0.0, 1e10, 2.0**53)
INTEGERS = (
    -1,
    -2,
    3,
    10**7,
    2**31,
    2**62,
    2**63,
    2**64,
    -(2**63),
    10**400,
    -(10**400),
    True,
    None,
    0.0,
    "0",
    np.int64(0),
)
DOCUMENTED = (TypeError, ValueError, MemoryError, OverflowError)  # of calls, and of impossible shapes
SAME = 1e-9  # relative, of compiled results and plain Python's


class Tagged(np.ndarray):
    pass


def not_plain(x: np.ndarray) -> list[Any]:
    """What stands in an array's place and is none, or none that compiled code takes."""
    flat = x.reshape(-1)
    unaligned = (
        np.frombuffer(b"\0" + x.tobytes() + b"\0" * 8, np.uint8)[1 : 1 + x.nbytes].view(np.float64).reshape(x.shape)
    )
    return [
        None, 1.0, 3, "q", x.tolist(), tuple(flat), np.ndarray, x.view(Tagged), np.ma.array(x), x.astype(np.float32),
        np.ones(x.shape, np.int64), x.astype(complex), x.astype(object), x.astype(x.dtype.newbyteorder()), x[None],
        np.array(1.0), np.repeat(x, 2, axis=-1)[..., ::2], x[..., ::-1], unaligned, np.asfortranarray(x) if x.ndim > 1 else x[None],
        memoryview(x), np.empty(x.shape, "V8"),
    ]  # fmt: skip


def other_sizes(x: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    n = x.shape[-1]
    more = [np.zeros((*x.shape[:-1], k)) for k in (0, 1, n + 1, 2 * n, n + 100_000)]
    return [np.ascontiguousarray(x[..., :-1]), *more, np.zeros((1,) * x.ndim), *([x.reshape(-1)] if x.ndim > 1 else [])]


def changed_values(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    y = x.copy()
    if y.size:
        y.reshape(-1)[rng.integers(y.size, size=rng.integers(1, 4))] = rng.choice(EXTREMES)
    return y


class Hostile:
    """Wrong calls of one subject."""

    def __init__(self, x: Subject, rng: np.random.Generator, strangers: list[Any]) -> None:
        self.x, self.rng, self.strangers = x, rng, strangers
        self.inputs, self.options = len(x.inputs), len(x.options)

    def arguments(self) -> list[Any]:
        """A right call, one time in three for a new array."""
        x, rng = self.x, self.rng
        outputs: list[Any] = x.outputs()
        shape = x.shapes[0]
        self.fresh = len(outputs) == 1 and bool(rng.random() < 0.3)
        if self.fresh:
            outputs = [shape[0] if len(shape) == 1 else shape]
        return [x.handle, *(a.copy() for a in x.given), *x.options, *outputs]

    def spoil(self, given: list[Any]) -> None:
        """Makes one thing wrong, or at least strange."""
        rng = self.rng
        k = int(rng.integers(len(given)))
        x = given[k]
        if type(x) is np.ndarray and x.dtype == np.float64 and x.flags.carray and x.ndim:
            kinds: list[Callable[[], Any]] = [
                lambda: self.choose(not_plain(x)), lambda: self.choose(other_sizes(x, rng)), lambda: changed_values(x, rng),
                lambda: self.share(given, k), lambda: self.read_only(x), lambda: self.scaled(x),
            ]  # fmt: skip
            given[k] = self.choose(kinds)()
        elif isinstance(x, np.ndarray):
            pass  # it is spoilt already
        elif k == 0:
            given[k] = self.choose(
                [*self.strangers, None, 0, object(), id(x), "model", python_calls.np, ctypes.py_object(x)]
            )
        elif k <= self.inputs + self.options:
            given[k] = self.choose(INTEGERS)
        else:
            given[k] = self.choose([None, -1, 0, (0, 0), (-1, 3), (2**40, 2**40), 2**80, (2**80, 1), [3, 3], (1,),
                                    (1, 2, 3), ("a", 2), 1.5, True, (3.0, 3), np.int64(3), 7, (7, 7), x])  # fmt: skip

    def choose(self, among: Any) -> Any:
        return among[int(self.rng.integers(len(among)))]

    def share(self, given: list[Any], k: int) -> Any:
        """An array that shares memory with another argument."""
        x = given[k]
        others = [y for j, y in enumerate(given) if j != k and isinstance(y, np.ndarray) and y.dtype == np.float64]
        for j in self.rng.permutation(len(others)):
            y = others[j].reshape(-1)
            if y.size >= x.size > 0:
                return y[y.size - x.size :].reshape(x.shape)
        return x

    def scaled(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return x * self.rng.choice([2.0, 1.0 + 1e-6, 1.0 - 1e-7, 0.0])

    @staticmethod
    def read_only(x: np.ndarray) -> np.ndarray:
        y = x.copy()
        y.flags.writeable = False
        return y

    def call(self) -> list[Any]:
        given = self.arguments()
        for _ in range(int(self.rng.integers(1, 3))):
            self.spoil(given)
        if self.rng.random() < 0.03:
            given = given[:-1] if self.rng.random() < 0.5 else [*given, given[-1]]
        return given


def copied(given: list[Any]) -> list[Any]:
    """The same arguments in other memory: arrays that share it do so again."""
    made: dict[int, np.ndarray] = {}
    result = []
    for x in given:
        if type(x) is not np.ndarray or x.dtype != np.float64 or not x.flags.carray:
            result.append(x)
            continue
        base = x
        while isinstance(base.base, np.ndarray) and base.base.dtype == np.float64 and base.base.flags.carray:
            base = base.base
        copy = made.setdefault(id(base), base.copy())
        at = (x.ctypes.data - base.ctypes.data) // 8
        result.append(copy.reshape(-1)[at : at + x.size].reshape(x.shape))
    return result


def verdict(function: Callable[..., Any], given: list[Any]) -> tuple[str, Any]:
    try:
        got = function(*given)
    except DOCUMENTED as error:
        return "error", TypeError if isinstance(error, TypeError) else ValueError
    if got is None:
        return "none", None
    if type(got) is np.ndarray:
        return "array", got.tobytes()
    assert type(got) is int
    assert OK <= got <= WRONG_MODEL, f"no status: {got}"
    return f"status {got}", None


def compare_with_plain(x: Subject, model: ff.Model, given: list[Any], results: list[np.ndarray]) -> None:
    options = given[1 + x.entry.input_count : 1 + x.entry.input_count + len(x.options)]
    inputs = given[1 : 1 + x.entry.input_count]
    expected = plain.run(x.entry.name, model, *inputs, *options)
    for got, wanted in zip(results, expected if isinstance(expected, tuple) else (expected,), strict=True):
        wanted = wanted.astype(float)
        assert np.abs(got - wanted).max(initial=0.0) <= SAME * max(1.0, np.abs(wanted).max(initial=0.0)), x.label


def run(seed: int, part: int, parts: int, calls: int) -> None:
    rng = np.random.default_rng([seed, part])
    small = tree()
    python_calls.grow_scratch(2_000_000)  # enough for each of these robots: who asks for more would be called again
    strangers = [x.handle for x in subjects(seed + 1, 0)[::40]]
    strangers += [np._core._multiarray_umath._ARRAY_API, ff.robots.chain(3).handle]
    strangers.append(python_calls.capsule(np.zeros(4, np.int64), python_calls.ENTRY_NAME))  # an address, but no model's
    ended: Counter[str] = Counter()
    last_compared = ""
    for x in subjects(seed, 1)[part::parts]:
        entry = x.entry
        outputs = x.outputs()
        status, _ = running.state(entry, x.handle, *x.given, *x.options, *outputs)
        assert status in (OK, REFUSED), (entry.name, x.label, status)
        hostile = Hostile(x, rng, strangers)
        by_ctypes = {fresh: running.call_by_ctypes(entry, address(entry, 1), fresh) for fresh in (False, True)}
        for _ in range(calls):
            given = hostile.call()
            again = copied(given)
            outs = [g for g in given[1 + hostile.inputs + hostile.options :] if isinstance(g, np.ndarray)]
            before = [out.tobytes() for out in outs]
            builtin = entry.single if hostile.fresh else entry.status
            first, second = verdict(builtin, given), verdict(by_ctypes[hostile.fresh], again)
            facts = f"{entry.name} on {x.label}: {first} but by ctypes {second}, of {[type(g).__name__ for g in given]}"
            assert first[0] == second[0], facts
            assert first[1] == second[1] or x.label == "stewart", facts
            ended[first[0]] += 1
            if first[0] in (f"status {OK}", "array"):
                assert entry.partial or all(np.isfinite(out).all() for out in outs)
                small_numbers = first[0] != "array" and all(np.abs(a).max(initial=0.0) < 1e3 for a in given[1 : 1 + hostile.inputs])
                sound = small_numbers and len(outs) == len(entry.outputs)
                if x.label == small.name and given[0] is x.handle and sound and last_compared != entry.name:
                    compare_with_plain(x, small, given, outs)
                    last_compared, ended["compared"] = entry.name, ended["compared"] + 1
            elif first[0] not in (f"status {REFUSED}", "none"):
                assert before == [out.tobytes() for out in outs], f"{facts}: outputs were written"
    print(json.dumps(ended))


if __name__ == "__main__":
    run(*map(int, sys.argv[1:]))
