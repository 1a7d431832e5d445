"""Docstrings of everything public, in Google style: a summary, arguments, shapes of results, and an example that runs.

Standard arguments are those of the table in docs/conventions.md; a docstring need not repeat what it says.
"""

from __future__ import annotations

import dataclasses
import doctest
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from public_names import public_names

import freeflyer as ff
import freeflyer_papers

NAMES = public_names()
FUNCTIONS = [name for name, x in NAMES.items() if inspect.isfunction(x)]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
RUNNER = doctest.DocTestRunner(optionflags=OPTIONS, verbose=False)
PAGE = Path(__file__).parents[1] / "docs" / "conventions.md"
TABLE = re.search(r"^## Standard arguments\n(.*?)(?=^## )", PAGE.read_text(), re.MULTILINE | re.DOTALL)[1]
STANDARD = {name for row in re.findall(r"^\| (`[^|]*) \|", TABLE, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
ENTRY = re.compile(r"^    (\*{0,2}\w+(?:, \*{0,2}\w+)*): \S", re.MULTILINE)
SHAPE = re.compile(r"\([^()]*(?:\.\.\.|\d|\bn[qv]?\b|\bn_\w+|\b[mkrfT]\b)[^()]*\)")
SAID = re.compile(r"None|bool|int|str|[A-Z]\w+|(?:tuple|list)\[.*\]")  # annotations that say what is returned
OTHERS = re.compile(r"(?!Any|ArrayLike|Callable|Iterable|Sequence)[A-Z]\w+")  # classes of the library


def section(text: str, title: str) -> str:
    """Lines below a title, up to the first that is not indented; empty if there are none."""
    found = re.search(rf"^{title}:\n((?: +.*\n?|\n)+)", text, re.MULTILINE)
    return found[1] if found else ""


def described(text: str, title: str) -> list[str]:
    """Names that a section describes, those of 'v, a: (..., nv) array' apart."""
    return [name.strip().lstrip("*") for names in ENTRY.findall(section(text, title)) for name in names.split(",")]


def annotations(x) -> dict[str, str]:
    """Annotations of a class and of those that it derives from."""
    return {name: str(kind) for part in reversed(x.__mro__) for name, kind in vars(part).get("__annotations__", {}).items()}


def fields(x) -> dict[str, str]:
    """The public fields of a frozen value, with their annotations."""
    named = tuple(f.name for f in dataclasses.fields(x)) if dataclasses.is_dataclass(x) else ()
    said = annotations(x)
    return {name: said.get(name, "") for name in getattr(x, "_fields", named) if not name.startswith("_")}


@pytest.mark.parametrize("name", NAMES)
def test_a_summary_says_what_it_is(name):
    text = inspect.getdoc(NAMES[name]) or ""
    first, _, rest = text.partition("\n")
    assert first.endswith(".")
    assert not rest or rest.startswith("\n"), "a summary is one line"


@pytest.mark.parametrize("name", NAMES)
def test_there_is_one_style(name):
    assert not re.search(r"^ *-{3,}$", inspect.getdoc(NAMES[name]) or "", re.MULTILINE), "Args:, Attributes:, Examples:"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_are_described(name):
    """But for standard ones, and for those that are a class of the library and nothing else, as their annotation says."""
    names = described(inspect.getdoc(NAMES[name]) or "", "Args")
    parameters = inspect.signature(NAMES[name]).parameters
    assert names == [p for p in parameters if p in names], "these arguments, once each and in their order"
    left = {p: str(x.annotation) for p, x in parameters.items() if p not in names and p not in STANDARD}
    assert {p: kind for p, kind in left.items() if not OTHERS.fullmatch(kind)} == {}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_have_shapes(name):
    """In the summary or under Returns; a class says it of its fields."""
    text = inspect.getdoc(NAMES[name]) or ""
    said = text.partition("\n")[0] + "".join(re.findall(r"^Returns:.*(?:\n.+)*", text, re.MULTILINE)) + section(text, "Returns")
    if not SAID.fullmatch(str(inspect.signature(NAMES[name]).return_annotation)):
        assert SHAPE.search(said) or re.search(r"^Returns:", text, re.MULTILINE)
    if "ndarray" in str(inspect.signature(NAMES[name]).return_annotation):
        assert SHAPE.search(said), "the shape"


@pytest.mark.parametrize("name", [name for name, x in NAMES.items() if inspect.isclass(x)])
def test_values_are_described(name):
    x = NAMES[name]
    text = inspect.getdoc(x) or ""
    arrays = {field for field, kind in fields(x).items() if "ndarray" in kind or kind == "ArrayLike"}
    names = described(text, "Attributes") + described(text, "Args")
    assert arrays <= set(names), "shapes and units of arrays"
    known = {*dir(x), *annotations(x), "data"} | set(() if issubclass(x, BaseException) else inspect.signature(x).parameters)
    assert set(names) <= known


@pytest.mark.parametrize("name", NAMES)
def test_examples_run(name, tmp_path, monkeypatch):
    """As a user types them, after `import freeflyer as ff` and `import numpy as np`, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    text = inspect.getdoc(NAMES[name]) or ""
    assert section(text, "Examples").lstrip()
    test = doctest.DocTestParser().get_doctest(text, {"ff": ff, "np": np, "freeflyer_papers": freeflyer_papers}, name, None, None)
    if inspect.isfunction(NAMES[name]):
        assert any(f"{name.rpartition('.')[2]}(" in example.source for example in test.examples), f"ff.{name}(...)"
    shown: list[str] = []
    assert RUNNER.run(test, out=shown.append).failed == 0, "".join(shown)


def test_standard_arguments_are_those_of_the_page():
    assert {"model", "q", "v", "a", "tau", "external", "expressed", "gravity", "out", "frame", "u", "constraints"} <= STANDARD


def test_sections_are_read():
    text = "S.\n\nArgs:\n    a, b: (n,) array.\n        more: of it.\n    *c: C.\nReturns: (n,).\n\nExamples:\n    >>> 1\n    1\n"
    assert described(text, "Args") == ["a", "b", "c"]
    assert section(text, "Examples") == "    >>> 1\n    1\n"
    assert section(text, "Raises") == ""
