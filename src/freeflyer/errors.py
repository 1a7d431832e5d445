"""The errors freeflyer raises: one base, a few kinds, each with a sentence that says what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


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


def unknown_name(kind: str, name: object, known: Iterable[str], advice: str = "") -> UnknownNameError:
    """The error for a name that is not there: says what exists, the nearest first."""
    names = [str(k) for k in known]
    near = difflib.get_close_matches(str(name), names, n=3, cutoff=0.5)
    listed = ", ".join(names[:12]) + (f", ... ({len(names)} in all)" if len(names) > 12 else "")
    hint = f" Did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
    text = f"no {kind} is named {name!r}.{hint} Known {kind}s: {listed or 'none'}."
    return UnknownNameError(text + (f" {advice}" if advice else ""), name=name, known=names)
