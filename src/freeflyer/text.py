"""Names and numbers as text: names from files may contain any characters and pass `visible`."""

from __future__ import annotations

import math


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
