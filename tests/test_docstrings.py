"""Docstrings of everything public: NumPy style, every parameter and field described, and an example that runs."""

from __future__ import annotations

import dataclasses
import doctest
import inspect

import docstring_parser
import numpy as np
import pytest
from public_names import public_names

import freeflyer as ff

NAMES = public_names()
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
RUNNER = doctest.DocTestRunner(optionflags=OPTIONS, verbose=False)


def described(x) -> tuple[docstring_parser.Docstring, dict[str, list[str]]]:
    """The parsed docstring, and the names that each of its sections describes, those of 'v, a : (..., nv) array' apart."""
    doc = docstring_parser.parse(inspect.getdoc(x) or "", style=docstring_parser.DocstringStyle.NUMPYDOC)
    names: dict[str, list[str]] = {"param": [], "attribute": []}
    for p in doc.params:
        names.setdefault(p.args[0], []).extend(name.strip().lstrip("*") for name in p.arg_name.split(","))
    return doc, names


def fields(x) -> tuple[str, ...]:
    """The public fields of a frozen value."""
    named = tuple(f.name for f in dataclasses.fields(x)) if dataclasses.is_dataclass(x) else ()
    found = getattr(x, "_fields", named)
    return tuple(name for name in found if not name.startswith("_"))


def test_functions_and_values_are_described():
    wrong = {}
    for name, x in NAMES.items():
        doc, names = described(x)
        said = {*names["attribute"], *names["param"]}
        wrong[name] = [
            *["a first line that says what is computed"] * (not doc.short_description),
            *["a section Examples"] * ("\nExamples\n--------\n" not in (inspect.getdoc(x) or "")),
        ]
        if inspect.isfunction(x):
            parameters = [p.lstrip("*") for p in inspect.signature(x).parameters]
            wrong[name] += [f"parameters {parameters}, not {names['param']}"] * (names["param"] != parameters)
            wrong[name] += ["a section Returns (None is said too)"] * (doc.returns is None)
        else:
            wrong[name] += [f"the field {field}" for field in fields(x) if field not in said]
    assert not {name: lacks for name, lacks in wrong.items() if lacks}


@pytest.mark.parametrize("room", sorted({name.rpartition(".")[0] for name in NAMES}))
def test_examples_run(room, tmp_path, monkeypatch):
    """As a user types them, after `import freeflyer as ff` and `import numpy as np`, in an empty folder."""
    shown: list[str] = []
    for name in (name for name in NAMES if name.rpartition(".")[0] == room):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        test = doctest.DocTestParser().get_doctest(inspect.getdoc(NAMES[name]) or "", {"ff": ff, "np": np}, name, None, None)
        if inspect.isfunction(NAMES[name]):
            assert any(f"{name}(" in f"{example.source}" for example in test.examples), f"ff.{name}(...)"
        RUNNER.run(test, out=shown.append)
    assert not shown, "".join(shown)
