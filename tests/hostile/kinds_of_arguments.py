"""Which bad values a parameter of a public function is tried with: by its name, else by its annotation."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
from bad_values import KINDS

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
    "names": "several arguments", "progress": "called as it is", "path": "a file: tests/model", "out": "hostile/bad_arguments.py",
    "rng": "hostile/test_bad_arrays.py", "basis": "an array of any width", "name": "any word", "mj_model": "of another library",
    "by_name": "keywords of the user's", "size": "hostile/test_bad_arrays.py",
}  # fmt: skip


def kind_of(p: inspect.Parameter) -> str:
    """A key of KINDS; empty for truth values and what is not tried."""
    words = [word.strip() for word in str(p.annotation).split("|")]
    if p.name in UNTRIED or words[0] == "bool" or words[0].startswith("Callable"):
        return ""
    if p.name in BY_NAME:
        return BY_NAME[p.name]
    plain = {"float": "scalar", "int": "count", "str": "name", "Any": "", **BY_ANNOTATION}
    return plain.get(words[0], "thing")


def bad_calls(function: Any, good: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], str]]:
    """(what, arguments, the word that the sentence must hold) for each bad value of each parameter after the first."""
    for p in list(inspect.signature(function).parameters.values())[1:]:
        kind = kind_of(p)
        known = good.get(p.name)
        if not kind or (known is None and kind in ("posture", "rates", "numbers", "weight", "semiweight")):
            continue
        known = np.asarray(known, float) if kind in ("posture", "rates", "numbers") else known
        for what, bad in KINDS[kind](known):
            if bad is None and p.default is None:
                continue
            yield f"{p.name} = {what}", {**good, p.name: bad}, p.name
