"""Values that no function can use, by the kind of argument that they stand in for."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from things import Thing


def numbers(x: Any) -> Iterator[tuple[str, Any]]:
    """No finite real numbers of this shape."""
    x = np.asarray(x, float)
    yield from (
        ("a string", "0 0 0"),
        ("bytes", b"\0" * 8),
        ("an object", Thing()),
        ("a dictionary", {"q": x}),
        ("a set", {1.0}),
        ("a function", len),
        ("a type", float),
        ("a ragged list", [[1.0], [1.0, 2.0]]),
        ("a huge integer", [10**400]),
    )
    yield "complex numbers", x + 1j
    yield "strings", x.astype(str)
    yield "objects", x.astype(object)
    yield "dates", np.full(x.shape, datetime.datetime(2020, 1, 1), "datetime64[s]")
    yield "truth values", np.ones(x.shape, bool)
    nested = x.tolist()
    for _ in range(80):
        nested = [nested]
    yield "deep nesting", nested
    for bad in (np.nan, np.inf, -np.inf):
        y = x.copy()
        y[(-1,) * y.ndim] = bad
        yield str(bad), y
    masked = np.ma.masked_array(x, np.zeros(x.shape, bool))
    masked[(0,) * x.ndim] = np.ma.masked
    yield "masked", masked


def sizes(x: np.ndarray) -> Iterator[tuple[str, Any]]:
    """Other shapes."""
    yield from (
        ("one entry less", x[..., :-1]),
        ("one entry more", np.append(x, x[..., -1:], axis=-1)),
        ("no entries", x[..., :0]),
        ("a number", 1.0),
        ("a 0-d array", np.array(1.0)),
        ("None", None),
    )
    if x.shape[-1] > 1:
        yield "a column", x[..., None]


def postures(q: np.ndarray) -> Iterator[tuple[str, Any]]:
    yield from [*numbers(q), *sizes(q)]
    for scale in (0.0, 1e-9, 0.5, 1.0 + 1e-5, 1e150):
        y = q.copy()
        y[..., 3:7] *= scale
        yield f"quaternion times {scale}", y


def weights(n: int, definite: bool) -> Iterator[tuple[str, Any]]:
    """No symmetric (semi)definite costs of n entries."""
    rng = np.random.default_rng(0)
    yield from [*numbers(np.eye(n)), *numbers(np.ones(n))]
    yield from (
        ("negative", -1.0),
        ("not symmetric", rng.standard_normal((n, n))),
        ("indefinite", np.diag([-1.0] + [1.0] * (n - 1))),
        ("too many", np.ones(n + 1)),
        ("too few", np.ones(max(n - 1, 2) if n != 2 else 3)),
        ("a stack", np.ones((2, n, n))),
    )
    if definite:
        yield from (("zero", 0.0), ("semidefinite", np.diag([0.0] + [1.0] * (n - 1)) if n > 1 else 0.0))


def positive(x: float) -> Iterator[tuple[str, Any]]:
    for bad in (
        0.0,
        -1.0,
        -1e-300,
        np.nan,
        np.inf,
        -np.inf,
        "1",
        "x",
        b"1",
        1j,
        [x],
        (x,),
        {"s": x},
        Thing(),
        None,
        np.array([x, x]),
        10**400,
    ):
        yield repr(bad)[:20], bad


def names(known: str) -> Iterator[tuple[str, Any]]:
    for bad in ("no such thing", "", None, 3, 0, -1, 1.5, ("x",), [known], b"x", f"{known}!", Thing()):
        yield repr(bad)[:20], bad


def lists(known: str) -> Iterator[tuple[str, Any]]:
    for bad in (
        ["no such thing"],
        3,
        [3],
        [None],
        [known, known, known],
        Thing(),
        np.nan,
        [known, ""],
        {known: 1.0}.values(),
    ):
        yield repr(bad)[:20], bad


def words(known: str) -> Iterator[tuple[str, Any]]:
    for bad in ("Tree", f"{known}!", "", 0, 3, True, [known], b"x", Thing(), {"a": 1}, np.zeros(2)):
        yield repr(bad)[:20], bad


def counts(x: int) -> Iterator[tuple[str, Any]]:
    for bad in (-1, 1.5, "3", np.nan, [x], Thing(), 1j):
        yield repr(bad)[:20], bad


def gravities(x: Any) -> Iterator[tuple[str, Any]]:
    for bad in ("down", [0.0, 0.0], [0, 0, 0, 0], [[0, -9.81]], [0, 0, np.nan], [0, 0, 1j], {}, np.nan, -9.81, 9.81,
                [-9.81], Thing()):  # fmt: skip
        yield repr(bad)[:20], bad


def wrenches(x: Any) -> Iterator[tuple[str, Any]]:
    w = np.ones(6)
    for bad in ([w], w, "tip", 3.0):
        yield repr(bad)[:20], bad


def things(x: Any) -> Iterator[tuple[str, Any]]:
    """No object of the class of x."""
    for bad in (None, 3, "x", [x], (x, x), Thing(), type(x), np.zeros(3)):
        yield repr(bad)[:20], bad


def scalars(x: Any) -> Iterator[tuple[str, Any]]:
    for bad in ("x", None, Thing(), np.nan, np.inf, [1.0, 2.0], 1j, {"f": 1.0}):
        yield repr(bad)[:20], bad


def seeds(x: Any) -> Iterator[tuple[str, Any]]:
    for bad in ("x", 1.5, Thing(), [1.5]):
        yield repr(bad)[:20], bad


def policies(x: Any) -> Iterator[tuple[str, Any]]:
    for bad in (
        None,
        3,
        "x",
        np.zeros(3),
        lambda k, q, v: None,
        lambda k, q, v: "push",
        lambda k, q, v: np.zeros(1),
        lambda k, q, v: np.full_like(v, np.nan),
    ):
        yield repr(bad)[:40], bad


KINDS: dict[str, Callable[[Any], Iterator[tuple[str, Any]]]] = {
    "posture": postures,
    "rates": lambda x: iter([*numbers(x), *sizes(x)]),
    "numbers": numbers,
    "positive": positive,
    "name": names,
    "names": lists,
    "word": words,
    "count": counts,
    "gravity": gravities,
    "wrenches": wrenches,
    "thing": things,
    "seed": seeds,
    "scalar": scalars,
    "policy": policies,
    "weight": lambda x: weights(len(x), True),
    "semiweight": lambda x: weights(len(x), False),
}
