"""Checks of arguments, one sentence for each mistake; of q, v, a and tau the values after a kernel has refused."""

import math
from collections.abc import Iterable, Mapping, Sequence
from types import UnionType
from typing import Any, TypeVar

import numpy as np

from freeflyer.errors import InputError, format_value
from freeflyer.kernels.entry import UNIT_TOLERANCE
from freeflyer.kernels.model.layout import N_QUATERNIONS, QUATERNIONS_AT
from freeflyer.model.frozen import is_masked
from freeflyer.model.model import Model

MOST_AXES = 28  # of an argument: NumPy broadcasts up to 32 and results have up to 3 more than a state
FEW_ENTRIES = 256
MOST_ENTRIES = 2**48  # of an argument: 2 PiB, and far from the 2**63 bytes at which NumPy counts no further


def refuse_too_large(error: Exception, function: str, arguments: Mapping[str, Any]) -> None:
    for name, x in arguments.items():
        if isinstance(x, np.ndarray):
            check_axes(name, x)
            if x.size > MOST_ENTRIES:
                raise InputError(f"{name} has shape {x.shape}: no memory holds results for so many states", name=name)
    if isinstance(error, MemoryError):
        shapes = [f"{name} {x.shape}" for name, x in arguments.items() if isinstance(x, np.ndarray)]
        got = f" for {', '.join(shapes)}" if shapes else ""
        raise InputError(f"{function} needs more memory than there is{got} ({str(error) or 'out of memory'}): compute fewer "
            "states at once, one part of the batch after the other") from None


def check_axes(name: str, x: np.ndarray) -> None:
    if x.ndim > MOST_AXES:
        raise InputError(f"{name} has {x.ndim} axes, expected at most {MOST_AXES}: reshape the leading (batch) axes into one",
            name=name, axes=x.ndim)


T = TypeVar("T")
MANY = 10**9  # counts up to here are told apart from those without a bound
LARGEST_SEED = 2**128
LARGEST_OF_STATES = 1e150  # motions that diverge come far: their squares are numbers still
LARGEST, SMALLEST = 1e50, 1e-50  # of numbers that users give: products of a few stay within floating-point numbers
KINDS = {-LARGEST: "finite number", 0.0: "number of 0 or more", SMALLEST: "positive number"}  # by the least that is allowed


def real_array(name: str, x: Any) -> np.ndarray:
    """x as a float64 array; InputError if it does not hold real numbers."""
    if type(x) is np.ndarray and x.dtype == np.float64:
        return x
    try:
        array = np.asarray(x)
    except Exception as error:
        raise InputError(f"{name} cannot be converted to an array: {error}", name=name) from None
    if is_masked(x):
        raise InputError(f"{name} is a masked array: fill or drop its masked entries first", name=name)
    if array.dtype.kind not in "fiu":
        raise InputError(f"{name} must hold real numbers, got {type(x).__name__} of dtype {array.dtype}", name=name)
    return array.astype(np.float64, copy=False)


def norm_of(x: np.ndarray) -> float:
    """Norm of all entries: not finite if one of them is not; quick in control loops."""
    if x.size < FEW_ENTRIES:
        return math.hypot(*x.ravel().tolist())
    with np.errstate(over="ignore"):
        return math.sqrt(np.vdot(x, x))


def finite_array(name: str, x: Any, most: float = LARGEST) -> np.ndarray:
    """x as a float64 array of finite numbers, none above `most`; InputError otherwise."""
    array = real_array(name, x)
    if not norm_of(array) <= most and not (np.abs(array) <= most).all():
        if np.isfinite(array).all():
            raise InputError(f"{name} holds {array.flat[np.abs(array).argmax()]:.3g}: give numbers up to {most:g}", name=name)
        at = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        raise InputError(f"{name}{list(at) if at else ''} is {array[at]}: every entry must be finite", name=name, index=at)
    return array


def number(name: str, x: Any, least: float = -LARGEST, most: float = LARGEST) -> float:
    """x as a float; InputError for anything that is no number from `least` to `most`."""
    if type(x) is float and least <= x <= most:
        return x
    try:
        value = real_array(name, x)
    except InputError:
        value = np.array(np.nan)
    if value.ndim == 0 and least <= value <= most:
        return float(value)
    kind = f"number from {least:g} to {most:g}"
    if most == LARGEST and least in KINDS and not (value.ndim == 0 and (0.0 < value < least or LARGEST < abs(value) < np.inf)):
        kind = KINDS[least]
    raise InputError(f"{name} must be a {kind}, got {format_value(x)}", name=name)


def finite_copy(name: str, x: Any) -> np.ndarray:
    """A copy that nobody can change, of finite numbers; not aligned, as in control loops each cycle makes some."""
    given = finite_array(name, x)
    return np.frombuffer(given.tobytes()).reshape(given.shape)


def set_fields(record: object, **values: Any) -> None:
    """Fields of a frozen record while it is made."""
    for name, x in values.items():
        object.__setattr__(record, name, x)


def set_numbers(record: object, of: str = "", **least: float | None) -> None:
    """The fields as floats; InputError for anything that is no finite number, and for those below their least value."""
    set_fields(record, **{
        name: number(name + of, getattr(record, name), -LARGEST if low is None else low) for name, low in least.items()
    })  # fmt: skip


def check_shape(name: str, x: np.ndarray, shape: tuple[int | str, ...], why: str = "") -> np.ndarray:
    """x; InputError, which ends in `why`, for another shape. Letters are sizes of 1 or more, a first "..." leading axes."""
    if x.shape == shape:  # quickly, in control loops
        return x
    lead = shape[:1] == ("...",)
    sizes = x.shape[len(x.shape) - len(shape) + 1 :] if lead and x.ndim >= len(shape) - 1 else x.shape
    wanted = shape[1:] if lead else shape
    if len(sizes) == len(wanted) and all(n >= 1 if isinstance(m, str) else n == m for n, m in zip(sizes, wanted)):
        return x
    words = f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"
    raise InputError(f"{name} has shape {x.shape}, expected {words}{why}", name=name, shape=x.shape, expected=shape)


def shaped(name: str, x: Any, shape: tuple[int | str, ...], why: str = "") -> np.ndarray:
    """x as a float64 array of finite numbers of that shape; see check_shape."""
    return check_shape(name, finite_array(name, x), shape, why)


def unit_vector(name: str, x: Any) -> np.ndarray:
    """x (3,) at unit length; InputError for anything without a direction."""
    given = shaped(name, x, (3,))
    length = float(np.linalg.norm(given))
    if not length > 1e-9:
        raise InputError(f"{name} must be three numbers that are not all zero, got {format_value(x)}", name=name)
    return given / length


def check_size(name: str, x: Any, n: int, whose: str) -> np.ndarray:
    """x as a float64 array (..., n) of finite numbers, as states hold them; `whose` says where n comes from."""
    return finite_array(name, check_shape(name, real_array(name, x), ("...", n), f", {whose}"), LARGEST_OF_STATES)


def positive(name: str, x: Any) -> float:
    return number(name, x, SMALLEST)


def whole_number(name: str, x: object, least: int, most: int = MANY) -> int:
    """x as an int; InputError for anything that is no whole number from `least` to `most`."""
    if isinstance(x, bool) or not isinstance(x, int | np.integer) or not least <= x <= most:
        allowed = f"of {least} or more" if most >= MANY else f"from {least} to {most}"
        up = f", up to {most:.0e}" if most >= MANY and isinstance(x, int | np.integer) and x > most else ""
        raise InputError(f"{name} must be a whole number {allowed}{up}, got {format_value(x)}", name=name)
    return int(x)


def choice(name: str, x: object, known: Iterable[T]) -> T:
    """x; InputError for anything that is not one of the known words or whole numbers."""
    words = tuple(known)
    if type(x) is str and x in words:
        return words[words.index(x)]
    for word in words:
        kind = str if isinstance(word, str) else int | np.integer
        if isinstance(x, kind) and not isinstance(x, bool) and x == word:
            return word
    raise InputError(f"{name} must be one of {', '.join(map(repr, words))}, got {format_value(x)}", **{name: x})


def instance(name: str, x: object, kind: type[T], made_by: str = "") -> T:
    if not isinstance(x, kind):
        maker = f" ({made_by})" if made_by else ""
        raise InputError(f"{name} must be a freeflyer {kind.__name__}{maker}, got {format_value(x)}", name=name)
    return x


def refuse_repeated(what: str, names: Sequence[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{what} list {twice!r} twice: give each a name of its own", name=twice)


def true_or_false(name: str, x: object) -> bool:
    if not isinstance(x, bool):
        raise InputError(f"{name} must be True or False, got {format_value(x)}", name=name)
    return x


def instances(name: str, given: Any, kind: type | UnionType, example: str) -> tuple[Any, ...]:
    """The entries of a list, or a single one; InputError for one that is not of that kind."""
    try:
        found = (given,) if isinstance(given, kind | str) else tuple(given)
    except TypeError:
        found = (given,)
    for x in found:
        if not isinstance(x, kind):
            raise InputError(f"{name} must be a list such as [{example}], got {format_value(x)}")
    return found


def name_list(name: str, given: Any) -> tuple[str, ...]:
    """The entries of a list of names; InputError for a single string, and for anything but names."""
    if isinstance(given, str):
        raise InputError(f"{name} must be a list of names, as in ({str(given)!r},), got the string {format_value(given)}")
    return instances(name, given, str, "'left_knee'")


def output_array(out: Any, shape: tuple[int, ...]) -> np.ndarray:
    """out itself, if compiled code can write a result of this shape to it; InputError otherwise.

    Subclasses are refused: compiled code ignores the mask of a masked array and the axes of a matrix."""
    check_output(out)
    flags = out.flags
    if out.dtype == np.float64 and out.shape == shape and flags.c_contiguous and flags.writeable and flags.aligned:
        return out
    kind = "read-only " * (not flags.writeable) + "non-contiguous " * (not flags.c_contiguous)
    raise InputError(f"out must be a writable C-contiguous float64 array of shape {shape}, got a {kind}{out.dtype} array of "
        f"shape {out.shape}", expected=shape)


def check_output(out: Any) -> None:
    if type(out) is np.ndarray:
        return
    kind = f"{type(out).__module__}.{type(out).__qualname__}".removeprefix("builtins.")
    cure = ": give numpy.asarray(out), which shares its memory" if isinstance(out, np.ndarray) else ""
    raise InputError(f"out must be a plain numpy.ndarray, got {kind}{cure}", got=kind)


def row(model: Model, name: str, x: Any, letter: str) -> np.ndarray:
    """x as float64 (..., nq) for letter q, (..., nv) for u, (..., nv of the tree) for v; InputError if it is no such array of real
    numbers. Without closed loops u and v are the same."""
    array = real_array(name, x)
    n = model.nq if letter == "q" else model.nv if letter == "u" else model.constraint_rows[1]
    if array.ndim > MOST_AXES:
        check_axes(name, array)
    if array.ndim == 0 or array.shape[-1] != n:
        raise _wrong_length(model, name, array, letter, n)
    return array


def _wrong_length(model: Model, name: str, array: np.ndarray, letter: str, n: int) -> InputError:
    hint, of_tree = "", model.constraint_rows[1]
    if letter == "q" and array.ndim and array.shape[-1] == sum(j.nq for j in model.description.mujoco) > 0:
        hint = " (that is the size of MuJoCo's qpos: freeflyer.from_mujoco converts it)"
    elif array.ndim and letter == "u" and n != of_tree == array.shape[-1]:
        hint = f" (the loops of {model.name!r} are closed: v[..., model.reduction.split.independent] are its velocities)"
    elif array.ndim and letter == "v" and n != model.nv == array.shape[-1]:
        hint = " (velocities of all joints are expected, v = freeflyer.velocity_map(model, q) @ u)"
    elif array.ndim and array.shape[-1] == (model.nv if letter == "q" else model.nq):
        hint = f" (this model has nq = {model.nq} position and nv = {model.nv} velocity coordinates)"
    elif array.ndim > 1 and array.shape[0] == n:
        hint = " (transposed? batch axes come first)"
    return InputError(f"{name} has shape {array.shape}, expected (..., {'nq' if letter == 'q' else 'nv'} = {n}){hint}",
        name=name, shape=array.shape, expected=n)


def finite_row(model: Model, name: str, x: Any, letter: str) -> np.ndarray:
    """As `row`, and every entry is finite, every quaternion of unit length."""
    array = row(model, name, x, letter)
    if letter == "q" or not norm_of(array) <= LARGEST_OF_STATES:
        check_configuration(model, name, array, letter)
        finite_array(name, array, LARGEST_OF_STATES)
    return array


def one_row(model: Model, name: str, x: Any, letter: str) -> np.ndarray:
    """As `finite_row`, of one state."""
    array = row(model, name, x, letter)
    if array.ndim != 1:
        words = f"{name} has shape {array.shape}, expected that of one state, ({array.shape[-1]},): call once for each"
        raise InputError(words, shape=array.shape)
    return finite_row(model, name, array, letter)


def check_configuration(model: Model, name: str, x: np.ndarray, letter: str) -> None:
    """Raises InputError that names the first NaN, infinity or non-unit quaternion."""
    if not norm_of(x) < np.inf and not np.isfinite(x).all():
        at = tuple(int(k) for k in np.argwhere(~np.isfinite(x))[0])
        raise not_finite(model, name, x[at], letter, at)
    if letter != "q" or (x.ndim == 1 and unit_quaternions(model, x)):  # quickly, in control loops
        return
    for first in quaternion_starts(model):
        with np.errstate(over="ignore"):
            norms = np.linalg.norm(x[..., first : first + 4], axis=-1)
        wrong = np.abs(norms**2 - 1.0) >= UNIT_TOLERANCE
        if wrong.any():
            at = tuple(int(k) for k in np.argwhere(wrong)[0])
            raise not_unit(model, name, float(norms[at]), first, at)


def not_finite(model: Model, name: str, value: float, letter: str, index: tuple[int, ...]) -> InputError:
    joint = coordinate_owner(model, index[-1], letter)
    words = f"{name}{list(index)} (joint {joint!r}) is {value}: every entry must be finite"
    return InputError(words, name=name, index=index, joint=joint)


def not_unit(model: Model, name: str, norm: float, first: int, at: tuple[int, ...]) -> InputError:
    """The error for a quaternion of another length, from entry `first` on, of the state `at`."""
    joint, where = coordinate_owner(model, first, "q"), f"{name}{list(at)}" if at else name
    return InputError(f"the quaternion of joint {joint!r}, {where}[{first}:{first + 4}] in the order x, y, z, w, has norm "
        f"{norm:.9g}, expected 1: normalise it (freeflyer.normalize_configuration)", name=name, joint=joint, norm=norm)


def quaternion_starts(model: Model) -> list[int]:
    t = model.topology
    return t[t[QUATERNIONS_AT] : t[QUATERNIONS_AT] + t[N_QUATERNIONS]].tolist()


def unit_quaternions(model: Model, q: np.ndarray) -> bool:
    """Whether the quaternions of one configuration q (nq,) have unit length."""
    for i in quaternion_starts(model):
        x, y, z, w = q[i : i + 4].tolist()
        if not abs(x * x + y * y + z * z + w * w - 1.0) < UNIT_TOLERANCE:
            return False
    return True


def coordinate_owner(model: Model, k: int, letter: str) -> str:
    """The joint that owns entry k of q, of v (of the tree) or of u (the model's own)."""
    for joint in (model.tree if letter == "v" else model).joints:
        first, n = (joint.iq, joint.nq) if letter == "q" else (joint.iv, joint.nv)
        if first <= k < first + n:
            return joint.name
    return "?"


def gravity_vector(gravity: Any) -> tuple[float, float, float]:
    """Three finite numbers (m/s^2, world axes); InputError for anything else."""
    g = gravity_rows(gravity)
    if g.ndim != 1:
        raise InputError(f"gravity {explain_gravity(g)}", shape=g.shape, expected=(3,))
    x, y, z = g.tolist()
    return x, y, z


def gravity_rows(gravity: Any) -> np.ndarray:
    """Finite numbers (..., 3) (m/s^2, world axes); InputError for anything else."""
    g = real_array("gravity", gravity)
    if g.ndim == 0 or g.shape[-1] != 3:
        raise InputError(f"gravity {explain_gravity(g)}", shape=g.shape, expected=(3,))
    return finite_array("gravity", g)


def explain_gravity(g: np.ndarray) -> str:
    """Sentence about numbers of another shape than (3,), with the right one."""
    if g.size != 1:
        return f"must be three numbers in m/s^2 along the world's axes, such as (0.0, 0.0, -9.81); got shape {g.shape}"
    down = -abs(float(g.item())) + 0.0  # not -0.0
    return f"is the lone number {g.item()!r}: write the vector in world axes (m/s^2), (0.0, 0.0, {down!r}) for downwards"
