"""Values that no function can use, by the kind of parameter; the kind is told by the parameter's name, else by its annotation."""

import datetime
import freeflyer as ff
import inspect
import numpy as np
from collections.abc import Callable, Iterator
from functools import partial
from samples import Call
from typing import Any

BATCH = 5
Bad = Iterator[tuple[str, Any]]


class Thing:
    """An object of no known kind, by the same name in every process: test runners compare what they collect."""

    def __repr__(self) -> str:
        return "<thing>"


W = np.ones(6)
NAMES: tuple[Any, ...] = ("no such thing", "", None, 3, 0, -1, 1.5, ("x",), ["x"], {"x"}, b"x", "X ", Thing())
GRAVITIES: tuple[Any, ...] = ("down", [0.0, 0.0], [0, 0, 0, 0], [[0, -9.81]], [[0, 0], [0, 0]], [0, 0, np.nan], [0, np.inf, 0],
    [0, 0, 1j], ["0", "0", "g"], {}, np.nan, -9.81, 9.81, 0.0, [-9.81], b"g", [None, 0, 0], True, Thing())  # fmt: skip
WRENCHES: tuple[Any, ...] = (W[:5], np.ones(7), 1.0, None, "up", ["1"] * 6, np.append(W[:5], np.nan), np.append(W[:5], np.inf),
    W * 1j, [[1.0], [1.0, 2.0]], np.array([Thing()] * 6), W[:, None], [], W > 0, {"force": W}, {1, 2, 3, 4, 5, 6})  # fmt: skip


def shown(values: Any) -> Bad:
    return ((repr(x)[:40], x) for x in values)


def numbers(x: Any) -> Bad:
    """No finite real numbers of this shape; NaN and infinity at every place of one state."""
    x = np.asarray(x, float)
    nested = x.tolist()
    for _ in range(80):
        nested = [nested]
    yield from {"a string": "0 0 0", "bytes": b"\0" * 8 * x.size, "an object": Thing(), "a dictionary": {"q": x},
                "a set": {1.0, 2.0}, "a function": len, "a type": float, "a ragged list": [[1.0], [1.0, 2.0]],
                "a huge integer": [10**400] * x.size, "a generator": (v for v in x.flat), "complex numbers": x + 1j,
                "strings": x.astype(str), "objects": x.astype(object),
                "dates": np.full(x.shape, datetime.datetime(2020, 1, 1), "datetime64[s]"),
                "truth values": np.ones(x.shape, bool), "records": np.zeros(x.shape, [("x", float)]), "deep nesting": nested,
                "masked": np.ma.masked_array(x, np.arange(x.size).reshape(x.shape) == 0)}.items()  # fmt: skip
    for k in range(x.size) if x.ndim == 1 else (x.size - 1,):
        for bad in (np.nan, np.inf, -np.inf):
            y = x.copy()
            y.flat[k] = bad
            yield f"{bad} at {k}", y


def sizes(x: np.ndarray) -> Bad:
    """Other shapes; NaN here and there in a batch, whose rows alone would do."""
    n = x.shape[-1]
    yield from {"one entry less": x[..., :-1], "one entry more": np.append(x, x[..., -1:], axis=-1), "no entries": x[..., :0],
                "a number": 1.0, "a 0-d array": np.array(1.0), "None": None}.items()  # fmt: skip
    if n > 1:
        yield "a column", x[..., None]
    if x.ndim == 1:
        yield "transposed", np.tile(x, (n + 3, 1)).T
        yield "a batch of one entry less", np.tile(x, (BATCH, 1))[:, :-1]
        yield "an empty batch of one entry less", np.empty((0, n - 1))
        for row, k in ((0, 0), (BATCH - 1, n - 1), (2, n // 2)):
            y = np.tile(x, (BATCH, 1))
            y[row, k] = np.nan
            yield f"nan at {row}, {k}", y


def postures(q: np.ndarray, at: tuple[int, ...] = (3,)) -> Bad:
    """`at`: where quaternions stand."""
    yield from [*numbers(q), *sizes(q)]
    for k in at:
        for scale in (0.0, 1e-200, 1e-9, 0.5, 1.0 - 1e-5, 1.0 + 1e-5, 2.0, 1e150):
            y = q.copy()
            y[..., k : k + 4] *= scale
            yield f"quaternion at {k} times {scale}", y
            if q.ndim == 1:
                z = np.tile(q, (BATCH, 1))
                z[3] = y
                yield f"quaternion at {k} times {scale} in a batch", z


def weights(n: int, definite: bool) -> Bad:
    """No symmetric (semi)definite costs of n entries."""
    rng = np.random.default_rng(0)
    yield from [*numbers(np.eye(n)), *numbers(np.ones(n))]
    yield from {"negative": -1.0, "not symmetric": rng.standard_normal((n, n)),
                "indefinite": np.diag([-1.0] + [1.0] * (n - 1)), "too many": np.ones(n + 1),
                "too few": np.ones(max(n - 1, 2) if n != 2 else 3), "a stack": np.ones((2, n, n))}.items()  # fmt: skip
    if definite:
        yield from (("zero", 0.0), ("semidefinite", np.diag([0.0] + [1.0] * (n - 1)) if n > 1 else 0.0))


def outputs(shape: tuple[int, ...]) -> Bad:
    """No arrays to write a result of this shape into."""
    frozen = np.zeros(shape)
    frozen.flags.writeable = False
    yield from {"a list": np.zeros(shape).tolist(), "a string": "here", "a number": 1.0,
                "float32": np.zeros(shape, np.float32), "integers": np.zeros(shape, int), "complex": np.zeros(shape, complex),
                "read-only": frozen, "too long": np.zeros((shape[0] + 1, *shape[1:])), "a batch": np.zeros((1, *shape)),
                "flat": np.zeros((*shape, 7)), "every second": np.zeros((*shape[:-1], 2 * shape[-1]))[..., ::2],
                "empty": np.zeros(0), "objects": np.zeros(shape, object), "big-endian": np.zeros(shape, ">f8"),
                "0-d": np.array(0.0), "False": False}.items()  # fmt: skip
    if len(shape) == 2:
        yield "Fortran order", np.zeros(shape[::-1]).T


OTHER = ff.robots.quadruped()
FOREIGN = {  # things that belong to another robot, or are found on no other
    "constraints": ff.ConstraintSet(OTHER, locks=["front_left_knee"]), "frames": ff.frame_set(OTHER, "trunk"),
    "external": (ff.frame_set(OTHER, "trunk"), W[None]), "inputs": ff.control.joint_inputs(OTHER),
    "feet": [ff.contacts.surface("no such frame")], "motors": OTHER.actuated[:1],
}  # fmt: skip
BESIDE = (((3,), (4,)), ((2, 3), (3, 2)), ((0,), (2,)), ((5, 1, 2), (3, 3)))  # leading axes that do not broadcast

KINDS: dict[str, Callable[[Any], Bad]] = {
    "posture": postures, "rates": lambda x: iter([*numbers(x), *sizes(x)]), "numbers": numbers,
    "positive": lambda x: shown([0.0, -1.0, -1e-300, 5e-324, 1e300, np.nan, np.inf, -np.inf, "1", "x", b"1", 1j, [x], (x,),
                                 {"s": x}, Thing(), None, np.array([x, x]), 10**400]),
    "name": lambda known: shown([*NAMES, [known], f"{known}!"]),
    "names": lambda known: shown(["motor", ["no such thing"], 3, [3], [None], [known] * 3, Thing(), np.nan, [known, ""],
                                  {"a": 1.0}.values()]),
    "word": lambda known: shown(["Tree", f"{known}!", "", 0, 3, True, [known], (known,), b"x", Thing(), {"a": 1}, np.zeros(2)]),
    "count": lambda x: shown([-1, 1.5, "3", np.nan, [x], Thing(), 1j]), "gravity": lambda x: shown(GRAVITIES),
    "wrenches": lambda x: shown([[W], W, "tip", 3.0, [("tip", W)], True,
                                 *({name: W} for name in ("no such frame", "", None, 3, b"tip")),
                                 *({"tip": bad} for bad in WRENCHES)]),
    "thing": lambda x: shown([None, 3, "x", [x], (x, x), Thing(), type(x), np.zeros(3)]),
    "seed": lambda x: shown(["x", 1.5, Thing(), [1.5], -1]),
    "scalar": lambda x: shown(["x", None, Thing(), -1.0, 1e300, np.nan, np.inf, [1.0, 2.0], 1j, {"f": 1.0}]),
    "policy": lambda x: shown([None, 3, "x", np.zeros(3), lambda k, q, v: None, lambda k, q, v: "push", lambda k, q, v: np.zeros(1),
                               lambda k, q, v: np.full_like(v, np.nan)]),
    "weight": lambda x: weights(len(x), True), "semiweight": lambda x: weights(len(x), False),
    "model": lambda x: shown(NOT_MODELS), "truth": lambda x: shown(["x", 1, 0.0, None, np.zeros(3), [True]]),
}  # fmt: skip
BY_NAME = {  # what a name says of its parameter beyond the annotation
    **dict.fromkeys(("q", "q0", "q1", "start", "configuration"), "posture"),
    **dict.fromkeys(("v", "a", "tau", "dv", "u", "u_dot", "weights", "along_q", "along_v", "along_a", "bias_forces", "qpos", "qvel",
                     "qacc", "qfrc", "bias", "velocities", "accelerations", "forces", "readings", "rates"), "rates"),
    **dict.fromkeys(("frame", "link", "driver", "joint"), "name"),
    **dict.fromkeys(("dt", "duration", "tolerance", "bandwidth", "furthest", "cutoff", "redundant"), "positive"),
    **dict.fromkeys(("drag", "slack", "height", "force"), "scalar"),
    "external": "wrenches", "gravity": "gravity", "seed": "seed", "expressed": "word", "form": "word", "integrator": "word",
    "state_cost": "semiweight", "final_cost": "semiweight", "input_cost": "weight", "limit": "count", "count": "count",
}  # fmt: skip
BY_ANNOTATION = {"ArrayLike": "numbers", "np.ndarray": "numbers", "Sequence[str]": "names", "Iterable[str]": "names"}
UNTRIED = {  # parameters whose every value means something, or that tests of their own try
    "names": "several arguments", "progress": "called as it is", "path": "a file: tests/model", "out": "if it is an array: below",
    "record": "a folder: tests/sim", "rng": "test_layouts.py", "basis": "an array of any width", "name": "any word",
    "mj_model": "of another library", "by_name": "keywords of the user's", "size": "test_layouts.py",
}  # fmt: skip
STATES = ("posture", "rates")
OF_ANY_SIGN = ("height", "begin", "t", "step_length", "speed", "lateral", "turning", "spin", "drag")
NOT_MODELS = (None, "robot.urdf", ff.robots.kangaroo_like().description, np.zeros(3), ff.Model, 7)


def kind_of(p: inspect.Parameter) -> str:
    """A key of KINDS; empty for truth values and what is not tried."""
    words = [word.strip() for word in str(p.annotation).split("|")]
    if p.name in UNTRIED or words[0].startswith("Callable") or p.kind is p.VAR_KEYWORD:
        return ""
    if (p.name, words[0]) in (("inputs", "Any"), ("gravity", "float")):
        return {"inputs": "policy", "gravity": "positive"}[p.name]
    if p.name in BY_NAME:
        return BY_NAME[p.name]
    plain = {"float": "scalar", "int": "count", "str": "name", "bool": "truth", "Any": "", "Model": "model", **BY_ANNOTATION}
    return plain.get(words[0], "thing")


def bad_calls(call: Call) -> Iterator[tuple[str, str, Any]]:
    """(what, parameter, bad value): for each parameter, batches if there are none, those that do not broadcast together, things
    of another robot, and arrays that cannot take the result."""
    parameters, states = inspect.signature(call.function).parameters, []
    for p in parameters.values():
        kind, known = kind_of(p), call.given.get(p.name)
        if not kind or (known is None and kind in (*STATES, "numbers", "weight", "semiweight")):
            continue
        known = np.asarray(known, float) if kind in (*STATES, "numbers") else known
        if kind in STATES and known.ndim == 1:
            states.append(p.name)
        values = partial(postures, at=call.quaternions) if kind == "posture" else KINDS[kind]
        for what, bad in values(known):
            if (bad is not None or p.default is not None) and (what != "-1.0" or p.name not in OF_ANY_SIGN):
                yield what, p.name, bad
        if p.name in FOREIGN and "model" in call.given:
            yield "of another robot", p.name, FOREIGN[p.name]
    given = call.given
    for name in states:
        if not call.batches:
            yield "a batch", name, np.tile(given[name], (2, 1))
        for mine, others in BESIDE if call.batches and len(states) > 1 else ():
            leads = {x: np.broadcast_to(given[x], (*(mine if x == name else others), np.size(given[x]))) for x in states}
            yield f"{mine} beside {others}", name, leads
    if takes_array_for_result(call.function) and call.quaternions:
        yield from ((what, "out", bad) for what, bad in outputs(np.shape(call.run())))


def takes_array_for_result(function: Any) -> bool:
    out = inspect.signature(function).parameters.get("out")
    return out is not None and out.annotation == "np.ndarray | None"
