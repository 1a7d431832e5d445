"""The errors that freeflyer raises: one base, and kinds by what failed (input, linkages, solvers, simulations)."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
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
        data: Often the argument's "name", its "shape" and the one "expected"; of an entry its "index" and "joint"."""


class UnknownNameError(FreeflyerError, LookupError):
    """Error of a name that does not exist in the model; raised by functions that take names, a LookupError as well.

    Attributes:
        data: "name", and "known": the names that exist."""


class DescriptionError(FreeflyerError, ValueError):
    """Error of a robot description that describes no physical or no connected robot, or one that a file format cannot hold.

    Raised by load, build and the edits, by to_urdf and to_mjcf. A ValueError as well.

    Attributes:
        data: Names of the parts at fault: "link", "joint", "site", "loop", "coupling", "keyframe", or several "links", "joints"."""


class FileError(FreeflyerError, ValueError):
    """Error of a file that is missing, broken, hostile, in a format that is not read, or not writable; a ValueError as well.

    Attributes:
        data: Where it is known, the "path"."""


class AssemblyError(FreeflyerError, ValueError):
    """Error of a linkage that does not close, or does not reach the wanted positions.

    `.data` of assemble has the worst `loop`, its `gap` (m or rad), the `index` of the posture in the batch, the nearest `q`
    and `residual`, and the `joints` of that loop that may move. keep_closed has `loop`, `gap`, `index`; selected_posture has
    `index`, `q` and the selected `joints`."""


class OpenLoopWarning(UserWarning):
    """Warning of redundant directions of loops that stay open though the linkage counts as closed."""


class LinkageError(FreeflyerError, ValueError):
    """Error of a linkage whose motors, loops or posture do not determine its dependent joints."""


class SolverError(FreeflyerError):
    """Base of the errors of solvers: no solution is returned.

    Attributes:
        data: "solver": its name; "level": of a hierarchy, the level from 0. If the solver ran, also "status", its message,
            and "iterations"."""


class InfeasibleError(SolverError, ValueError):
    """Contradiction of rows and bounds: no x satisfies them all.

    Attributes:
        data: See SolverError. "rows", "bounds": indices of the rows and of the bounded variables that contradict each other.
            "certificate": multipliers of the bounds (n, if there are any) and rows (m), each times its row, that add up to 0
            <= a negative number. It is None if the two limits of one row do not leave any value.

    Examples:
        The rows x >= 1 and x <= 0, with multipliers that cancel x:

        >>> A = np.array([[1.0], [1.0]])
        >>> try:
        ...     ff.optimization.solve_qp(np.eye(1), [0.0], A, [1.0, -np.inf], [np.inf, 0.0])
        ... except ff.optimization.InfeasibleError as error:
        ...     y = error.data["certificate"]
        ...     print(error.data["rows"], np.sign(y), np.round(y @ A, 6) + 0.0)
        (0, 1) [-1.  1.] [0.]
    """


class UnboundedError(SolverError, ValueError):
    """Objective that decreases without end.

    Attributes:
        data: See SolverError. "ray" (n,): a direction that keeps all rows and always decreases the objective."""


class NotConvergedError(SolverError, RuntimeError):
    """Solver that stopped at its limit of iterations or time.

    Attributes:
        data: See SolverError. "x" (n,): the iterate, and "residuals": its Residuals; both are None for solvers that return
            none (active-set, daqp)."""


class NumericalError(SolverError, ArithmeticError):
    """End of a solver with numbers that do not satisfy the conditions of optimality, where no proof says that there is no answer.

    Attributes:
        data: See SolverError. "x" (n,): where the solver ended, and "residuals": the Residuals there, NaN without
            multipliers; both are None where the solver returns no x."""


class MissingSolverError(SolverError, ImportError):
    """Solver that is not installed or does not exist.

    Attributes:
        data: "solver": the name given; "available": names of those that are installed; "package": the package to install, or None;
            "level" as of SolverError."""


class MissingExtraError(FreeflyerError, ImportError):
    """A package of an extra of freeflyer that is not installed."""


class StepError(FreeflyerError, ArithmeticError):
    """A step after which the state is not finite, or an integration error above its tolerance."""


class EventError(FreeflyerError, ArithmeticError):
    """Events that follow each other without end, or contacts for which no consistent choice exists."""


class ReplayError(FreeflyerError, ArithmeticError):
    """A run that did not come out as before."""


class CalibrationError(FreeflyerError, ValueError):
    """Offsets that the encoders do not determine, or encoders that agree with no posture."""


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


def check_name(kind: str, name: object, known: Collection[str], advice: str = "") -> None:
    """UnknownNameError for a name that is not among the known ones."""
    if not isinstance(name, str) or name not in known:
        raise unknown_name(kind, name, known, advice)
