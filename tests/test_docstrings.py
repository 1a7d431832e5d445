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
import freeflyer_papers

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


@pytest.mark.parametrize("name", [name for name, x in NAMES.items() if inspect.isfunction(x)])
def test_functions_are_described(name):
    doc, names = described(NAMES[name])
    assert doc.short_description, "a first line that says what is computed"
    assert names["param"] == [p.lstrip("*") for p in inspect.signature(NAMES[name]).parameters]
    assert doc.returns is not None, "a section Returns (None is said too)"


@pytest.mark.parametrize("name", [name for name, x in NAMES.items() if inspect.isclass(x)])
def test_values_are_described(name):
    doc, names = described(NAMES[name])
    assert doc.short_description
    assert set(fields(NAMES[name])) <= {*names["attribute"], *names["param"]}


@pytest.mark.parametrize("name", NAMES)
def test_examples_run(name, tmp_path, monkeypatch):
    """As a user types them, after `import freeflyer as ff` and `import numpy as np`, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    text = inspect.getdoc(NAMES[name]) or ""
    assert "\nExamples\n--------\n" in text
    test = doctest.DocTestParser().get_doctest(text, {"ff": ff, "np": np, "freeflyer_papers": freeflyer_papers}, name, None, None)
    if inspect.isfunction(NAMES[name]):
        assert any(f"{name}(" in f"{example.source}" for example in test.examples), f"ff.{name}(...)"
    shown: list[str] = []
    assert RUNNER.run(test, out=shown.append).failed == 0, "".join(shown)
