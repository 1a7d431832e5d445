"""Calls of compiled entries with arguments that are wrong in every way; run in a process of its own, as a fault would end it."""

import ctypes
import freeflyer as ff
import json
import numpy as np
from closeness import fresh
from collections import Counter
from collections.abc import Callable
from entry_subjects import subjects
from freeflyer.kernels import plain
from freeflyer.kernels.compiler.calls import python_calls, running
from freeflyer.kernels.entry import OK, REFUSED, Entry
from kernel_samples import Subject, tree
from typing import Any

EXTREMES = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e154, 1e-320, -0.0, 1e10, 2.0**53)
INTEGERS = (-1, -2, 3, 10**7, 2**31, 2**62, 2**63, 2**64, -(2**63), 10**400, -(10**400), True, None, 0.0, "0", np.int64(0))
DOCUMENTED = (TypeError, ValueError, MemoryError, OverflowError)  # of calls, and of impossible shapes
SAME = 1e-9  # relative, of compiled results and plain Python's


class Tagged(np.ndarray):
    pass


def not_plain(x: np.ndarray) -> list[Any]:
    """What stands in an array's place and is none, or none that compiled code takes."""
    flat = x.reshape(-1)
    unaligned = (np.frombuffer(b"\0" + x.tobytes() + b"\0" * 8,
        np.uint8)[1 : 1 + x.nbytes].view(np.float64).reshape(x.shape))  # fmt: skip
    return [None, 1.0, 3, "q", x.tolist(), tuple(flat), np.ndarray, x.view(Tagged), np.ma.array(x), x.astype(np.float32),
            np.ones(x.shape, np.int64), x.astype(complex), x.astype(object), x.astype(x.dtype.newbyteorder()), x[None, None],
            np.array(1.0), np.repeat(x, 2, axis=-1)[..., ::2], x[..., ::-1], unaligned,
            np.asfortranarray(x) if x.ndim > 1 else x[None][:0], memoryview(x), np.empty(x.shape, "V8")]  # fmt: skip


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
        """A right call of one state or (one time in three) of several; the outputs, if they are not to be new, come last."""
        x, rng = self.x, self.rng
        lead = (int(rng.integers(1, 20)),) if rng.random() < 0.3 else ()
        self.fresh = bool(rng.random() < 0.3)
        own = len(x.entry.inputs)
        leads = [lead if k < own and (x.entry.one_by_one or rng.random() < 0.7) else () for k in range(self.inputs)]
        lead = next(filter(None, leads), ())  # inputs that are left without it are shared by all states
        inputs: list[Any] = [np.broadcast_to(a, (*y, *a.shape)).copy() for a, y in zip(x.given, leads)]
        for k, axes in enumerate(x.entry.input_axes):
            if axes == 2 and inputs[k].ndim == 2 and rng.random() < 0.4:  # wrenches, as the values of a mapping
                inputs[k] = tuple(w.copy() for w in inputs[k])
        outputs: list[Any] = [None] if self.fresh else [np.full((*lead, *out.shape), np.nan) for out in x.outputs()]
        return [x.handle, *inputs, *x.options, *outputs]

    def spoil(self, given: list[Any]) -> None:
        """Makes one thing wrong, or at least strange."""
        rng = self.rng
        k = int(rng.integers(len(given)))
        x = given[k]
        if type(x) is np.ndarray and x.dtype == np.float64 and x.flags.carray and x.ndim:
            kinds: list[Callable[[], Any]] = [lambda: self.choose(not_plain(x)), lambda: self.choose(other_sizes(x, rng)),
                                              lambda: changed_values(x, rng), lambda: self.share(given, k),
                                              lambda: self.read_only(x), lambda: self.scaled(x)]  # fmt: skip
            given[k] = self.choose(kinds)()
        elif isinstance(x, np.ndarray):
            pass  # it is spoilt already
        elif type(x) is tuple and k <= self.inputs:
            w = np.zeros(6)
            others = [np.zeros(5), w.tolist(), None, np.zeros((1, 6)), w[::-1], x, w.astype(np.float32)]
            given[k] = self.choose([x[:-1], (*x, w), (w,) * 8, (w,) * 9, (w,) * 1000, list(x), *((y,) * len(x) for y in others)])
        elif k == 0:
            given[k] = self.choose([*self.strangers, None, 0, object(), id(x), "model", python_calls.np,
                ctypes.py_object(x)])  # fmt: skip
        elif k <= self.inputs + self.options:
            given[k] = self.choose(INTEGERS)
        else:
            given[k] = self.choose([-1, 0, (0, 0), (), [3, 3], (None,), "a", 1.5, True, np.empty(()), (None,) * len(self.x.shapes)])

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

    def packed(self, given: list[Any]) -> list[Any]:
        """The same with the arrays of several outputs in a tuple, as entries take them."""
        first = 1 + self.inputs + self.options
        if len(self.x.shapes) == 1 or len(given) <= first or (self.fresh and len(given) == first + 1):
            return given
        return [*given[:first], tuple(given[first:])]


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


def verdict(function: Callable[..., Any], given: list[Any]) -> str:
    try:
        return "none" if function(*given) is None else "right"
    except DOCUMENTED:
        return "error"


def status(entry: Entry, given: list[Any]) -> str:
    """What the C function said, if the arguments came that far."""
    try:
        return f"status {running.state(entry, *given)[0]}"
    except (TypeError, ValueError):
        return "not called"


def compare_with_plain(x: Subject, model: ff.Model, given: list[Any], results: list[np.ndarray]) -> None:
    options = given[1 + x.entry.input_count : 1 + x.entry.input_count + len(x.options)]
    inputs = [np.array(g).reshape(-1, 6) if type(g) is tuple else g for g in given[1 : 1 + x.entry.input_count]]
    expected = plain.run(x.entry.name, model, *inputs, *options)
    for got, wanted in zip(results, expected if isinstance(expected, tuple) else (expected,), strict=True):
        wanted = wanted.astype(float)
        error, size = np.abs(got - wanted).max(initial=0.0), np.abs(wanted).max(initial=0.0)
        assert error <= SAME * max(1.0, size), (x.entry.name, x.label)


def run(part: int, parts: int, calls: int) -> None:
    """`calls` on each subject of this part; prints how they ended."""
    rng = fresh(part)
    small = tree()
    python_calls.grow_scratch(30_000_000)  # enough for each of these robots: an entry that needs more would be called again
    strangers = [x.handle for x in subjects(0)[::40]]
    strangers += [np._core._multiarray_umath._ARRAY_API, ff.robots.chain(3).handle]
    strangers.append(python_calls.capsule(np.zeros(4, np.int64), b"freeflyer.entry"))  # an address, but no model's
    ended: Counter[str] = Counter()
    last_compared = ""
    for x in subjects(1)[part::parts]:
        entry = x.entry
        outputs = x.outputs()
        found, _ = running.state(entry, x.handle, *x.given, *x.options, *outputs)
        assert found in (OK, REFUSED), (entry.name, x.label, found)
        running.function_of(entry, True)
        hostile = Hostile(x, rng, strangers)
        for _ in range(calls):
            given = hostile.call()
            again = copied(given)
            outs = [g for g in given[1 + hostile.inputs + hostile.options :] if isinstance(g, np.ndarray)]
            before = [out.tobytes() for out in outs]
            ending, said = verdict(entry.call, hostile.packed(given)), status(entry, again)
            kinds = [f"{type(g).__name__}{getattr(g, 'shape', '')}" for g in given]
            facts = f"{entry.name} on {x.label}: {ending}, {said}, of {', '.join(kinds)}"
            ended[ending] += 1
            ended[said] += 1
            if ending == "right":
                assert said in (f"status {OK}", "not called"), facts
                assert entry.partial or all(np.isfinite(out).all() for out in outs)
                single = bool(outs) and outs[0].ndim == len(entry.outputs[0])
                small_numbers = all(np.abs(a).max(initial=0.0) < 1e3 for a in given[1 : 1 + hostile.inputs])
                sound = single and small_numbers and given[0] is x.handle
                if x.label == small.name and sound and last_compared != entry.name:
                    compare_with_plain(x, small, given, outs)
                    last_compared, ended["compared"] = entry.name, ended["compared"] + 1
            elif said not in (f"status {REFUSED}", f"status {OK}", "not called"):
                assert before == [out.tobytes() for out in outs], f"{facts}: outputs were written"
    print(json.dumps(ended))
