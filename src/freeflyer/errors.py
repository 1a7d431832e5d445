"""The errors freeflyer raises: one base, a few kinds, each with a sentence on what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice

MAX_CHARACTERS = 80  # characters of a name or value in a sentence
MOST_LETTERS, MOST_NAMES = 100, 500  # longer names, and later ones, are not compared: 500 names of 100 letters take 40 ms


class FreeflyerError(Exception):
    """Base of every error that freeflyer raises on purpose; `.data` holds the facts behind the sentence."""

    def __init__(self, message: str, **data: object) -> None:
        super().__init__(message)
        self.data = data


class InputError(FreeflyerError, ValueError):
    """An argument has the wrong shape, type or value."""


class UnknownNameError(FreeflyerError, LookupError):
    """A name that does not exist in the model."""


class DescriptionError(FreeflyerError, ValueError):
    """A robot description that describes no physical or no connected robot."""


class FileError(FreeflyerError, ValueError):
    """A file that is missing, broken, hostile or in a format that is not read."""


def format_value(x: object, longest: int = MAX_CHARACTERS) -> str:
    """repr(x), cut to so many characters; whatever x is, no error and little work."""
    if isinstance(x, int) and abs(x) > 10**longest:
        return "an integer beyond floating-point numbers" if abs(x) > 10**308 else f"an integer of about {float(x):.3g}"
    if isinstance(x, str | bytes) and len(x) > longest:
        return f"{x[: longest - 1]!r}... ({len(x)} characters)"
    try:
        text = repr(x)
    except Exception:  # an object's own __repr__, or digits beyond Python's limit in a list
        return f"a {type(x).__name__}"
    return text if len(text) <= longest else text[:longest] + "..."


def near_names(name: object, names: Iterable[str]) -> list[str]:
    """Up to three names that resemble it, nearest first; in bounded time."""
    if not isinstance(name, str) or len(name) > MOST_LETTERS:
        return []
    short = islice((k for k in names if len(k) <= MOST_LETTERS), MOST_NAMES)
    return difflib.get_close_matches(name, list(short), n=3, cutoff=0.5)


def unknown_name(kind: str, name: object, known: Iterable[str], advice: str = "") -> UnknownNameError:
    """The error for a name that does not exist, with those that do, the nearest first."""
    names = [str(k) for k in known]
    near = near_names(name, names)
    listed = ", ".join(n if len(n) <= MAX_CHARACTERS else n[:MAX_CHARACTERS] + "..." for n in names[:12])
    listed += f", ... ({len(names)} in all)" if len(names) > 12 else ""
    hint = f" Did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
    text = f"no {kind} is named {format_value(name)}.{hint} Known {kind}s: {listed or 'none'}."
    return UnknownNameError(text + (f" {advice}" if advice else ""), name=name, known=names)
