"""Arguments that no public function can use, made for every argument of every function.

`cases()` yields (name, call, word): `call()` must end in a FreeflyerError whose sentence holds `word`.
"""

from __future__ import annotations

import datetime
import inspect
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from seeds import fresh
from things import Thing

import freeflyer as ff

ROBOT = ff.robots.chain(3, ["spherical", "helical", "planar"], base="free")  # nq 18, nv 16: quaternions at 3 and 7
FIXED = ff.robots.chain(4)  # nq = nv: sizes alone do not distinguish q from v
BATCH = 5

TURNED = ff.robots.chain(3, ["spherical", "revolute", "planar"], base="free")  # for MuJoCo, which has no helical joint; same sizes
POSTURES = ("q", "q0", "q1")
RATES = ("v", "a", "tau", "dv", "u", "weights", "along_q", "along_v", "along_a", "bias_forces")
OTHERS = {"frame": "tip", "dt": 0.01}
ANY_LENGTH = "normalize_configuration"  # takes quaternions that others refuse: tested by itself


def parameters(name: str) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(getattr(ff, name)).parameters)


def of_states() -> Iterator[tuple[str, list[str]]]:
    """Public functions of a model and of a state: (name, its arrays)."""
    for name in sorted(ff.__all__):
        if not inspect.isfunction(getattr(ff, name)) or name == ANY_LENGTH:
            continue
        first, *rest = parameters(name).values() or [None]
        needed = {p.name for p in rest if p.default is p.empty and p.kind is not p.VAR_POSITIONAL}
        if getattr(first, "name", "") == "model" and needed and needed <= {*POSTURES, *RATES, *OTHERS}:
            yield name, [p.name for p in rest if p.name in {*POSTURES, *RATES}]


FUNCTIONS = dict(of_states())
FRAMES = [name for name in FUNCTIONS if "frame" in parameters(name)]


def robot_of(name: str) -> ff.Model:
    return TURNED if "mujoco" in name else ROBOT


def takes_array_for_result(name: str) -> bool:
    return "out" in parameters(name) and parameters(name)["out"].annotation == "np.ndarray | None"


def good(model: ff.Model, name: str, lead: tuple[int, ...] = (), rng: np.random.Generator | None = None) -> dict[str, np.ndarray]:
    """The arrays that a function takes, by argument."""
    rng = rng or fresh(7)
    return {
        argument: ff.random_configuration(model, rng, lead) if argument in POSTURES else rng.standard_normal((*lead, model.nv))
        for argument in FUNCTIONS[name]
    }


def called(model: ff.Model, name: str, arrays: dict[str, Any], **options: Any) -> Any:
    """The result; of several arrays, all their numbers side by side."""
    others = {k: x for k, x in OTHERS.items() if k in parameters(name) and parameters(name)[k].default is inspect.Parameter.empty}
    result = getattr(ff, name)(model, **{**arrays, **others, **options})
    if is_dataclass(result):
        result = tuple(getattr(result, f.name) for f in fields(result) if isinstance(getattr(result, f.name), np.ndarray))
    if not isinstance(result, tuple):
        return result
    lead = np.broadcast_shapes(*(np.shape(x)[:-1] for x in arrays.values() if x is not None))
    found = [np.asarray(x) for x in result if x is not None]
    return np.concatenate([x.reshape(*lead, math.prod(x.shape[len(lead) :])) for x in found], axis=-1)


def not_arrays(x: np.ndarray) -> Iterator[tuple[str, Any]]:
    """What is no array of real numbers of the right size."""
    n = x.shape[-1]
    yield "one entry less", x[:-1]
    yield "one entry more", np.append(x, 0.0)
    yield "no entries", x[:0]
    yield "a number", 1.0
    yield "a 0-d array", np.array(1.0)
    yield "None", None
    yield "a string", "0 0 0"
    yield "bytes", b"\x00" * 8 * n
    yield "a list of strings", [str(v) for v in x]
    yield "strings", x.astype(str)
    yield "objects", x.astype(object)
    yield "complex numbers", x.astype(complex)
    yield "truth values", np.ones(n, bool)
    yield "dates", np.full(n, datetime.datetime(2020, 1, 1), "datetime64[s]")
    yield "a ragged list", [[1.0], [1.0, 2.0]]
    yield "a dictionary", {"q": x}
    yield "a set", {1.0, 2.0}
    yield "a generator", (v for v in x)
    yield "a function", len
    yield "a type", float
    yield "records", np.zeros(n, [("x", float)])
    yield "transposed", np.tile(x, (n + 3, 1)).T
    yield "a column", x[:, None]
    yield "a batch of one entry less", np.tile(x, (BATCH, 1))[:, :-1]
    yield "an empty batch of one entry less", np.empty((0, n - 1))
    yield "a huge integer", [10**400] * n
    yield "a masked entry", np.ma.masked_array(x, np.arange(n) == n - 1)
    nested = x.tolist()
    for _ in range(80):
        nested = [nested]
    yield "deep nesting", nested


def not_finite(x: np.ndarray) -> Iterator[tuple[str, Any]]:
    """NaN and infinities, at each place of a state and here and there in a batch."""
    for k, bad in itertools.product(range(len(x)), (np.nan, np.inf, -np.inf)):
        y = x.copy()
        y[k] = bad
        yield f"{bad} at {k}", y
    for row, k in ((0, 0), (BATCH - 1, len(x) - 1), (2, 5)):
        y = np.tile(x, (BATCH, 1))
        y[row, k] = np.nan
        yield f"nan at {row}, {k}", y


def not_unit(model: ff.Model, q: np.ndarray) -> Iterator[tuple[str, Any]]:
    """Quaternions of every joint that has one, of other than unit length."""
    for joint in model.joints:
        if joint.kind not in ("free", "spherical"):
            continue
        at = slice(joint.iq + joint.nq - 4, joint.iq + joint.nq)
        for scale in (0.0, 1e-200, 1e-9, 0.5, 1.0 - 1e-5, 1.0 + 1e-5, 2.0, 1e150):
            y = q.copy()
            y[at] *= scale
            yield f"quaternion of {joint.kind} joint times {scale}", y
            z = np.tile(q, (BATCH, 1))
            z[3, at] *= scale
            yield f"quaternion of {joint.kind} joint times {scale} in a batch", z


def cases() -> Iterator[tuple[str, Callable[[], Any], str]]:
    for name, arguments in FUNCTIONS.items():
        for argument in arguments:
            arrays = good(robot_of(name), name)
            x = arrays[argument]
            bad = [*not_arrays(x), *not_finite(x)]
            if argument in POSTURES:
                bad += [*not_unit(ROBOT, x), ("velocities", np.zeros(ROBOT.nv))]
            else:
                bad += [("positions", ROBOT.neutral)]
            for what, value in bad:
                if value is None and parameters(name)[argument].default is None:
                    continue
                yield f"{name}({argument} = {what})", _with(name, arrays, argument, value), argument
        yield from _leads(name)
        yield from _options(name)


def _with(name: str, arrays: dict[str, Any], argument: str, value: Any, **options: Any) -> Callable[[], Any]:
    return lambda: called(robot_of(name), name, {**arrays, argument: value}, **options)


def _leads(name: str) -> Iterator[tuple[str, Callable[[], Any], str]]:
    """Batches that do not go together."""
    arrays = good(robot_of(name), name)
    if len(arrays) < 2:
        return
    for argument in arrays:
        for mine, others in (((3,), (4,)), ((2, 3), (3, 2)), ((0,), (2,)), ((5, 1, 2), (3, 3))):
            clash = {k: np.broadcast_to(x, (*(mine if k == argument else others), x.size)) for k, x in arrays.items()}
            what = f"{name}({argument} {mine} with {others})"
            yield what, (lambda clash=clash: called(robot_of(name), name, clash)), argument


def _options(name: str) -> Iterator[tuple[str, Callable[[], Any], str]]:
    arrays = good(robot_of(name), name)

    def case(what: str, word: str, **options: Any) -> tuple[str, Callable[[], Any], str]:
        return f"{name}({what})", (lambda: called(robot_of(name), name, arrays, **options)), word

    own = parameters(name)
    if "frame" in own:
        for bad in ("no such frame", "", None, 3, 0, -1, 1.5, ("tip",), ["tip"], {"tip"}, b"tip", "TIP", "tip ", Thing()):
            yield case(f"frame = {bad!r}", "frame", frame=bad)
    if "expressed" in own:
        for bad in ("World", "local", "", None, 0, 2, ["body"], ("body",), b"body", {"body": 0}, True):
            yield case(f"expressed = {bad!r}", "expressed", expressed=bad)
    if "form" in own:
        for bad in ("Passive", "christoffel", "", None, 0, ["passive"], b"hamel", True, np.zeros(2)):
            yield case(f"form = {bad!r}", "form", form=bad)
    if "gravity" in own:
        for bad in ("down", [0.0, 0.0], [0, 0, 0, 0], [[0, 0], [0, 0]], [0, 0, np.nan], [0, np.inf, 0], [0, 0, 1j],
                    ["0", "0", "g"], {}, np.nan, -9.81, 0.0, [9.81], Thing(), b"g", [None, 0, 0], True):  # fmt: skip
            yield case(f"gravity = {bad!r}", "gravity", gravity=bad)
    if takes_array_for_result(name):
        shape = called(robot_of(name), name, arrays).shape
        frozen = np.zeros(shape)
        frozen.flags.writeable = False
        bads = {
            "a list": np.zeros(shape).tolist(), "a string": "here", "a number": 1.0, "float32": np.zeros(shape, np.float32),
            "integers": np.zeros(shape, int), "complex": np.zeros(shape, complex), "read-only": frozen,
            "too long": np.zeros((shape[0] + 1, *shape[1:])), "a batch": np.zeros((1, *shape)), "flat": np.zeros(7),
            "every second": np.zeros((*shape[:-1], 2 * shape[-1]))[..., ::2],
            "empty": np.zeros(0), "objects": np.zeros(shape, object),
            "big-endian": np.zeros(shape, ">f8"), "0-d": np.array(0.0), "False": False,
        }  # fmt: skip
        if len(shape) == 2:
            bads["Fortran order"] = np.zeros(shape[::-1]).T
        for what, bad in bads.items():
            yield case(f"out = {what}", "out", out=bad)
    if "external" in own:
        yield from _wrenches(case)


def _wrenches(case: Callable[..., tuple]) -> Iterator[tuple[str, Callable[[], Any], str]]:
    w = np.ones(6)
    for what, bad in (
        ("a list", [w]), ("an array", w), ("a string", "tip"), ("a number", 3.0), ("pairs", [("tip", w)]), ("True", True),
    ):  # fmt: skip
        yield case(f"external = {what}", "external", external=bad)
    for frame in ("no such frame", "", None, 3, ("tip",), b"tip"):
        yield case(f"external on frame {frame!r}", "frame", external={frame: w})
    for what, bad in (
        ("five numbers", w[:5]), ("seven numbers", np.ones(7)), ("a number", 1.0), ("None", None), ("a string", "up"),
        ("strings", ["1"] * 6), ("NaN", np.append(w[:5], np.nan)), ("infinite", np.append(w[:5], np.inf)),
        ("complex", w * 1j), ("ragged", [[1.0], [1.0, 2.0]]), ("objects", np.array([Thing()] * 6)), ("a column", w[:, None]),
        ("empty", []), ("truth values", w > 0), ("a dictionary", {"force": w}), ("a set", {1, 2, 3, 4, 5, 6}),
    ):  # fmt: skip
        yield case(f"external wrench = {what}", "tip", external={"tip": bad})
