"""Docstrings of everything public: a summary, arguments, shapes, examples that run; one word for one thing."""

import dataclasses
import doctest
import freeflyer as ff
import freeflyer_papers
import inspect
import numpy as np
import pytest
import re
from freeflyer.progress import no_progress
from pathlib import Path
from public_names import public_functions, public_names

NAMES = public_names()
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


def faults(name) -> list[str]:
    """What a docstring lacks. Standard arguments need no entry, nor those that are a class of the library and nothing else."""
    x, text = NAMES[name], inspect.getdoc(NAMES[name]) or ""
    first, _, rest = text.partition("\n")
    wrong = {"a summary of one line": first.endswith(".") and (not rest or rest.startswith("\n")),
        "sections Args:, Attributes:, Examples:": not re.search(r"^ *-{3,}$", text, re.MULTILINE)}  # fmt: skip
    if inspect.isfunction(x):
        parameters, names = inspect.signature(x).parameters, described(text, "Args")
        returned = str(inspect.signature(x).return_annotation)
        left = [p for p, kind in parameters.items() if not (p in names or p in STANDARD or OTHERS.fullmatch(str(kind.annotation)))]
        said = first + "".join(re.findall(r"^Returns:.*(?:\n.+)*", text, re.MULTILINE)) + section(text, "Returns")
        shaped = bool(SHAPE.search(said))
        wrong |= {
            "arguments that exist, in their order": names == [p for p in parameters if p in names],
            f"entries of {left}": not left,
            "the shape of what is returned": shaped if "ndarray" in returned else
                shaped or bool(SAID.fullmatch(returned) or re.search(r"^Returns:", text, re.MULTILINE)),
        }  # fmt: skip
    else:
        names = described(text, "Attributes") + described(text, "Args")
        arrays = {field for field, kind in fields(x).items() if "ndarray" in kind or kind == "ArrayLike"}
        known = {*dir(x), *annotations(x), "data", *(() if issubclass(x, BaseException) else inspect.signature(x).parameters)}
        wrong |= {f"shapes of {arrays - set(names)}": arrays <= set(names), f"not {set(names) - known}": set(names) <= known}
    return [fault for fault, held in wrong.items() if not held]


def test_docstrings_say_what_is_passed_and_returned():
    found = {name: faults(name) for name in NAMES}
    assert not {name: wrong for name, wrong in found.items() if wrong}


ROOMS = sorted({name.rpartition(".")[0] for name in NAMES})
OF_PAPERS = {"marks": pytest.mark.papers}


@pytest.mark.parametrize("room", [pytest.param(x, **(OF_PAPERS if x.startswith("freeflyer_papers") else {})) for x in ROOMS])
def test_examples_run(room, tmp_path, monkeypatch):
    """As a user types them, after `import freeflyer as ff` and `import numpy as np`, in an empty folder."""
    shown: list[str] = []
    for name in (name for name in NAMES if name.rpartition(".")[0] == room):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        values = {"ff": ff, "np": np, "freeflyer_papers": freeflyer_papers}
        test = doctest.DocTestParser().get_doctest(inspect.getdoc(NAMES[name]) or "", values, name, None, None)
        if inspect.isfunction(NAMES[name]) and test.examples:
            assert any(f"{name.rpartition('.')[2]}(" in f"{example.source}" for example in test.examples), f"ff.{name}(...)"
        RUNNER.run(test, out=shown.append)
    assert not shown, "".join(shown)


BY_KEYWORD = {"atol", "constraints", "count", "events", "external", "frames", "gravity", "limits", "loops", "on_failure",
              "out", "progress", "redundant", "restitution", "rtol", "seed", "sensing", "solver", "start", "strict",
              "tolerance", "warm"}  # fmt: skip
ARGUMENT_ITSELF = {("load", "gravity"), ("load", "loops"), ("with_gravity", "gravity")}  # what the function is about
OTHER_WORDS = {  # the word for it
    "step": "dt", "h": "dt", "timestep": "dt", "time_step": "dt", "configuration_": "q", "qd": "v", "dq": "v", "ddq": "a",
    "frame_name": "frame", "verbose": "progress", "random_state": "seed", "tol": "tolerance", "robot_model": "model",
}  # fmt: skip
OF_OTHER_LIBRARIES = {"mj_model", "pin_model"}  # imported only where they are used
ANY_INPUT = {"inputs", "targets"}  # a function, or an object with a method


PARAMETERS = {  # of robots: spatial mathematics has letters of its own
    name: inspect.signature(found).parameters for name, found in public_functions().items() if not name.startswith("spatial.")
}


def test_every_signature():
    wrong = []
    for name, parameters in PARAMETERS.items():
        short = name.rpartition(".")[2]
        for p in parameters.values():
            said = f"{name}({p.name})"
            by_keyword = p.name in BY_KEYWORD and p.default is not p.empty and (short, p.name) not in ARGUMENT_ITSELF
            wrong += [f"{said}: by keyword only"] * (by_keyword and p.kind is not p.KEYWORD_ONLY)
            wrong += [f"{said}: the word is {OTHER_WORDS.get(p.name)}"] * (p.name in OTHER_WORDS)
            wrong += [f"{said}: no type"] * (p.annotation is p.empty)
            wrong += [f"{said}: Any"] * (p.annotation == "Any" and p.name not in OF_OTHER_LIBRARIES | ANY_INPUT)
            if p.name == "progress":
                wrong += [f"{said}: no Progress"] * (p.annotation != "Progress" or p.default is not no_progress)
        if "external" in parameters and name != "sim.replay":  # a run has the expression among its settings
            wrong += [f"{name}: external without expressed"] * ("expressed" not in parameters)
    assert not wrong, "\n".join(wrong)
