"""The errors freeflyer raises: one base, a few kinds, each with a sentence on what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice

MAX_CHARACTERS = 80  # characters of a name or value in a sentence
MOST_LETTERS, MOST_NAMES = 100, 500  # longer names, and later ones, are not compared: 500 names of 100 letters take 40 ms


class FreeflyerError(Exception):
    """Base class of every error that freeflyer raises on purpose.

    Attributes:
        data: Facts behind the message, by names that depend on the error: {"shape": (5,), "expected": 6}.

    Examples:
        >>> model = ff.robots.chain(6)
        >>> try:
        ...     ff.mass_matrix(model, np.zeros(5))
        ... except ff.FreeflyerError as error:
        ...     print(type(error).__name__, error.data["shape"], error.data["expected"])
        InputError (5,) 6
    """

    def __init__(self, message: str, **data: object) -> None:
        super().__init__(message)
        self.data = data


class InputError(FreeflyerError, ValueError):
    """Error of an argument that has the wrong shape, type or value; raised by all public functions, a ValueError as well.

    Attributes:
        data: Often the argument's "name", its "shape" and the one "expected"; of an entry its "index" and "joint".

    Examples:
        >>> model = ff.robots.chain(2)
        >>> ff.mass_matrix(model, [0.1, np.nan])
        Traceback (most recent call last):
            ...
        freeflyer.errors.InputError: q[1] (joint 'joint_2') is nan: every entry must be finite
    """


class UnknownNameError(FreeflyerError, LookupError):
    """Error of a name that does not exist in the model; raised by functions that take names, a LookupError as well.

    Attributes:
        data: "name", and "known": the names that exist.

    Examples:
        >>> model = ff.robots.chain(1)
        >>> ff.frame_pose(model, model.neutral, "tipp")
        Traceback (most recent call last):
            ...
        freeflyer.errors.UnknownNameError: no frame is named 'tipp'. Did you mean 'tip'? Known frames: world, link_0, link_1, tip.
    """


class DescriptionError(FreeflyerError, ValueError):
    """Error of a robot description that describes no physical or no connected robot, or one that a file format cannot hold.

    Raised by load, build and the edits, by to_urdf and to_mjcf. A ValueError as well.

    Attributes:
        data: Names of the parts at fault: "link", "joint", "site", "loop", "coupling", "keyframe", or several "links", "joints".

    Examples:
        >>> ball = ff.Link("ball", ff.Inertia(mass=-1.0))
        >>> try:
        ...     ff.build(ff.Description("ball", (ball,), ()))
        ... except ff.DescriptionError as error:
        ...     print(error, error.data)
        link 'ball' has the mass -1 kg: expected zero or more {'link': 'ball'}
    """


class FileError(FreeflyerError, ValueError):
    """Error of a file that is missing, broken, hostile, in a format that is not read, or not writable; a ValueError as well.

    Attributes:
        data: Where it is known, the "path".

    Examples:
        >>> model = ff.robots.chain(2)
        >>> text = ff.to_urdf(model, "chain.urdf")
        >>> ff.to_urdf(model, "chain.urdf")
        Traceback (most recent call last):
            ...
        freeflyer.errors.FileError: 'chain.urdf' exists already: pass overwrite=True to replace it
    """


def format_value(x: object, longest: int = MAX_CHARACTERS) -> str:
    """repr(x), cut to so many characters; whatever x is, no error and little work. Scalars of NumPy appear as Python's."""
    if type(x).__module__ == "numpy" and type(x).__name__ != "ndarray" and not getattr(x, "shape", True):
        x = x.item()  # type: ignore[attr-defined]
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
