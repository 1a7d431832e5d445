"""The errors that freeflyer raises: one base, and kinds by what failed (input, linkages, solvers, simulations)."""

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


class AssemblyError(FreeflyerError, ValueError):
    """Error of a linkage that does not close, or does not reach the wanted positions.

    `.data` of assemble: the worst `loop`, its `gap` (m or rad), the `index` of the posture in the batch, the `q` and `residual`
    that came nearest, and the `joints` of that loop that may move; of keep_closed: `loop`, `gap`, `index`; of selected_posture:
    `index`, `q` and the selected `joints`.

    Examples:
        >>> yaw = ff.linkages.extract_limb(ff.robots.kangaroo_like(), "left_hip_yaw_link")
        >>> try:  # the linkage is stretched at 0.0465 m
        ...     ff.linkages.assemble(yaw, ff.configuration(yaw, {"left_yaw_motor": 0.1}), hold="actuated", limits=False)
        ... except ff.linkages.AssemblyError as error:
        ...     print(f"{error.data['loop']} stays open by {error.data['gap']:.4f} m")
        left_yaw_pin stays open by 0.0535 m
    """


class OpenLoopWarning(UserWarning):
    """Warning of redundant directions of loops that stay open though the linkage counts as closed.

    Examples:
        >>> import warnings
        >>> robot = ff.robots.kangaroo_like()
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("error", ff.linkages.OpenLoopWarning)  # an error instead
        ...     print(ff.linkages.assemble(robot).redundant_gap)
        0.0
    """


class LinkageError(FreeflyerError, ValueError):
    """Error of a linkage whose motors, loops or posture do not determine its dependent joints.

    Examples:
        >>> leg = ff.linkages.extract_limb(ff.robots.kangaroo_like(), "left_sole")
        >>> try:
        ...     ff.linkages.partition(leg, leg.neutral + 0.1)
        ... except ff.linkages.LinkageError as error:
        ...     print(f"{error.data['loop']} is open by {error.data['gap']:.2f} m")
        left_hip_inner_joint is open by 0.11 m
    """


class SolverError(FreeflyerError):
    """Base of the errors of solvers: no solution is returned.

    Attributes:
        data: "solver": its name; "level": of a hierarchy, the level from 0. Where the solver ran also "status", what it says, and
            "iterations".

    Examples:
        >>> try:
        ...     ff.optimization.solve_qp([[0.0]], [1.0])  # a slope without end
        ... except ff.optimization.SolverError as error:
        ...     print(type(error).__name__, error.data["solver"], error.data["status"])
        UnboundedError active-set unbounded
    """


class InfeasibleError(SolverError, ValueError):
    """Contradiction of rows and bounds: no x satisfies them all.

    Attributes:
        data: As of SolverError. "rows", "bounds": indices of the rows and of the bounded variables that contradict each other.
            "certificate": multipliers of the bounds (n, if there are any) and rows (m), each times its row, that add up to 0 <= a
            negative number; None where the two limits of one row do not leave any value.

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
        data: As of SolverError. "ray" (n,): a direction that keeps all rows and always decreases the objective.

    Examples:
        The second variable has a slope, but no curvature and no limit above:

        >>> try:
        ...     ff.optimization.solve_qp(np.diag([1.0, 0.0]), [0.0, -1.0], x_lower=[0.0, 0.0])
        ... except ff.optimization.UnboundedError as error:
        ...     print(np.round(error.data["ray"], 6) + 0.0)
        [0. 1.]
    """


class NotConvergedError(SolverError, RuntimeError):
    """Solver that stopped at its limit of iterations or time.

    Attributes:
        data: As of SolverError. "x" (n,): the iterate, and "residuals": its Residuals; both are None for solvers that return none
            (active-set, daqp).

    Examples:
        >>> try:
        ...     ff.optimization.solve_qp(np.eye(2), [-1.0, -1.0], np.eye(2), upper=[0.0, 0.0], iterations=1)
        ... except ff.optimization.NotConvergedError as error:
        ...     print(error.data["iterations"], error.data["status"])
        1 iteration limit
    """


class NumericalError(SolverError, ArithmeticError):
    """End of a solver with numbers that do not satisfy the conditions of optimality, where no proof says that there is no answer.

    Attributes:
        data: As of SolverError. "x" (n,): where the solver ended, and "residuals": the Residuals there, NaN without multipliers;
            both are None where the solver returns no x.

    Examples:
        The second variable has 1e-14 of the first one's curvature; in a unit 1e7 times as large daqp solves the program, too:

        >>> try:
        ...     ff.optimization.solve_qp(np.diag([1.0, 1e-14]), [0.0, 1.0], solver="daqp")
        ... except ff.optimization.NumericalError as error:
        ...     print(error.data["status"])
        unbounded
        >>> print(f"{1e7 * ff.optimization.solve_qp(np.eye(2), [0.0, 1e7], solver='daqp').x[1]:.0e}")
        -1e+14
    """


class MissingSolverError(SolverError, ImportError):
    """Solver that is not installed or does not exist.

    Attributes:
        data: "solver": the name given; "available": names of those that are installed; "package": the package to install, or None;
            "level" as of SolverError.

    Examples:
        >>> try:
        ...     ff.optimization.solve_qp([[1.0]], [0.0], solver="osqqp")
        ... except ff.optimization.MissingSolverError as error:
        ...     print(error.data["solver"], "daqp" in error.data["available"])
        osqqp True
    """


class StepError(FreeflyerError, ArithmeticError):
    """A step after which the state is not finite, or an integration error above its tolerance."""


class EventError(FreeflyerError, ArithmeticError):
    """Events that follow each other without end, or contacts for which no consistent choice exists."""


class ReplayError(FreeflyerError, ArithmeticError):
    """A run that did not come out as before."""


class CalibrationError(FreeflyerError, ValueError):
    """Offsets that the encoders do not determine, or encoders that agree with no posture.

    Examples:
        >>> model = ff.robots.kangaroo_like()
        >>> try:
        ...     ff.estimation.calibrate(model, {"left_knee": 0.2}, motors=["left_length_motor", "left_yaw_motor"])
        ... except ff.estimation.CalibrationError as error:
        ...     print(error.data["joints"])  # the knee does not follow this motor
        ('left_yaw_motor',)
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
