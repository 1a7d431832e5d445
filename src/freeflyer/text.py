"""Names and numbers as text: names from files may contain any characters and pass `visible`."""

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import TypeVar

T = TypeVar("T")
SHOWN = 4  # entries of a tuple or mapping that a short text of a value shows
LONGEST = 100  # characters of a field in a short text


def visible(name: object, longest: int = 80) -> str:
    """A name on one line, with control and direction-changing characters spelt out, cut to `longest` characters."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in str(name))
    return text if len(text) <= longest else text[: longest - 1] + "…"


def number(x: float | None, digits: int = 4) -> str:
    """A number with that many significant digits; a dash for none, and the infinity sign."""
    if x is None or math.isnan(x):
        return "-"
    if math.isinf(x):
        return "∞" if x > 0 else "-∞"
    return f"{x:.{digits}g}"


def microseconds(x: float | None) -> str:
    """A time in us, three digits and no exponent."""
    if x is None or math.isnan(x):
        return "-"
    return f"{x:.3f}" if x < 10 else f"{x:.2f}" if x < 100 else f"{x:.0f}"


def count(n: int, thing: str) -> str:
    """'1 loop', '3 loops'."""
    return f"{n} {thing}" + ("" if n == 1 else "s")


def listed(words: Sequence[str], most: int = 6) -> str:
    """The first of several words, and how many there are in all."""
    return ", ".join(words[:most]) + (f", ... ({len(words)} in all)" if len(words) > most else "")


def short_repr(self: object) -> str:
    """`Name(field=..., ...)` of a dataclass or named tuple on a few lines: arrays by their shapes, long fields cut."""
    names = getattr(self, "_fields", None) or [f.name for f in fields(self) if f.repr]  # type: ignore[arg-type]
    return f"{type(self).__name__}({', '.join(f'{name}={_short(getattr(self, name))}' for name in names)})"


def shown_short(kind: type[T]) -> type[T]:
    """The class with `short_repr`: a decorator of dataclasses and named tuples with arrays."""
    kind.__repr__ = short_repr  # type: ignore[method-assign]
    return kind


def _short(x: object) -> str:
    shape = getattr(x, "shape", ())
    if math.prod(shape) > SHOWN:
        return f"<array {shape}>"
    if isinstance(x, tuple | list | dict) and len(x) > SHOWN and not hasattr(x, "_fields"):
        return f"<{len(x)} entries>"
    if isinstance(x, tuple) and type(x) is tuple:
        inner = ", ".join(map(_short, x))
        text = f"({inner},)" if len(x) == 1 else f"({inner})"
    else:
        text = repr(x)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def unique_name(name: str, taken: set[str]) -> str:
    """The name, with a number behind it where it is taken; from now on it is."""
    k, free = 2, name
    while free in taken:
        free, k = f"{name}_{k}", k + 1
    taken.add(free)
    return free
