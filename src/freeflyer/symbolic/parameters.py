"""Parameters of a robot as symbols: masses, centres of mass, inertias, lengths, armatures, gravity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from freeflyer.errors import InputError, check_name, format_value
from freeflyer.kernels import plain
from freeflyer.kernels.model import layout as L
from freeflyer.model import Joint, Model, public, screws


def scalar(what: str, x: Any) -> Any:
    """x, if it adds and multiplies and is not known to be infinite or undefined; InputError otherwise."""
    if isinstance(x, str | bytes | bool) or np.ndim(x) or not (hasattr(x, "__add__") and hasattr(x, "__mul__")):
        raise InputError(f"{what} must be a number or a symbol, got {type(x).__name__} {format_value(x)}")
    finite = np.isfinite(x) if isinstance(x, int | float | complex | np.number) else getattr(x, "is_finite", None)
    if finite is not None and not callable(finite) and not finite:
        raise InputError(f"{what} must be finite, got {format_value(x)}")
    if getattr(x, "is_number", False) and getattr(x, "is_comparable", True) is False and str(x) == "nan":
        raise InputError(f"{what} must be finite, got {format_value(x)}")
    return x


UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))  # entries of a symmetric matrix, as they are stored


@public
def parameters(model: Model, *, masses: Mapping[str, Any] | None = None, centers: Mapping[str, Iterable[Any]] | None = None,
               inertias: Mapping[str, Any] | None = None, positions: Mapping[str, Iterable[Any]] | None = None,
               armatures: Mapping[str, Any] | None = None, gravity: Iterable[Any] | None = None) -> list[Any]:
    """Parameters for `ff.symbolic.evaluate`, some of them symbols, the others the model's numbers.

    Links that fixed joints weld together are one body, with joined mass, centre and inertia, in symbols.

    Args:
        masses: Mass by link, kg.
        centers: Centre of mass (3) by link, in the link's frame, m.
        inertias: Rotational inertia (3, 3) by link, symmetric, about the centre of mass, in the link's axes, kg m^2.
        positions: Position (3) of a joint's frame in its parent link, by joint, m. Fixed joints are excluded.
        armatures: Armature by joint of one coordinate, kg m^2 or kg.
        gravity: (3), m/s^2.
    Returns: list of scalars."""
    row: list[Any] = model.parameters.tolist()
    if gravity is not None:
        row[L.GRAVITY : L.GRAVITY + 3] = _vector("gravity", gravity)
    changed: dict[str, dict[str, Any]] = {
        "mass": {name: scalar(f"the mass of {name!r}", x) for name, x in (masses or {}).items()},
        "com": {name: _vector(f"the centre of {name!r}", x) for name, x in (centers or {}).items()},
        "inertia": {name: _symmetric(name, x) for name, x in (inertias or {}).items()}}
    for name in set().union(*changed.values()):
        check_name("link", name, model.description.link_by_name)
    for body in {_place(model, name)[0] for name in set().union(*changed.values())}:
        _put_inertia(model, row, body, changed)
    for name, x in (positions or {}).items():
        _put_position(model, row, _joint(model, name), _vector(f"the position of {name!r}", x))
    for name, x in (armatures or {}).items():
        info = next((j for j in model.joints if j.name == _joint(model, name).name), None)
        if info is None or info.nv != 1:
            why = "it needs one velocity coordinate, of its own where it mimics another joint"
            raise InputError(f"joint {name!r} has no armature of one number: {why}", joint=name)
        row[int(model.topology[L.ARMATURE_AT]) + info.iv] = scalar(f"the armature of {name!r}", x)
    return plain.complete_parameters(model, row)


def _vector(what: str, x: Any) -> list[Any]:
    entries = np.array(x, dtype=object).ravel()  # of a set or a mapping one
    if len(entries) != 3:
        raise InputError(f"{what} must be three scalars, got {format_value(x)}")
    return [scalar(what, e) for e in entries]


def _symmetric(name: str, x: Any) -> list[list[Any]]:
    """Rows of a 3 x 3 matrix: nested sequences, an array, or a SymPy matrix."""
    rows = np.array(x, dtype=object)
    if rows.shape == (3, 3):
        for e in rows.flat:
            scalar(f"the inertia of {name!r}", e)
    if rows.shape != (3, 3) or not all(_equal(rows[i, j], rows[j, i]) for i, j in UPPER):
        raise InputError(f"the inertia of {name!r} must be a symmetric matrix (3, 3), got {format_value(x)}", link=name)
    found: list[list[Any]] = rows.tolist()
    return found


def _equal(a: Any, b: Any) -> bool:
    """Whether two scalars are equal, proved by SymPy where they are written differently."""
    difference = a - b
    return bool(difference == 0 or (hasattr(difference, "equals") and difference.equals(0)))


def _joint(model: Model, name: str) -> Joint:
    joints = model.description.joint_by_name
    check_name("joint", name, joints)
    if joints[name].kind == "fixed":
        raise InputError(f"joint {name!r} is fixed: its links are one body, whose centre and inertia can be symbols", joint=name)
    return joints[name]


def _place(model: Model, link: str) -> tuple[int, np.ndarray, np.ndarray]:
    """(body, rotation (3, 3), position (3,)) of a link's frame in the body that carries it."""
    frame = model.frame(link)
    at = int(model.topology[L.PLACEMENTS_AT]) + L.PLACEMENT_FLOATS * frame
    numbers = model.parameters[at : at + L.PLACEMENT_FLOATS]
    body = int(model.topology[int(model.topology[L.FRAMES_AT]) + L.FRAME_INTS * frame])
    whole = np.array([int(x) if float(x).is_integer() else float(x) for x in numbers], dtype=object)  # 1 m is m, 1.0 m is not
    return body, whole[:9].reshape(3, 3), whole[9:]


def _put_inertia(model: Model, row: list[Any], body: int, changed: Mapping[str, Mapping[str, Any]]) -> None:
    """Mass, centre of mass and inertia of a body, joined from its links."""
    if body == 0:
        still = [k for k in {k for of in changed.values() for k in of} if _place(model, k)[0] == 0]
        listed = ", ".join(map(repr, sorted(still)))
        raise InputError(f"links that do not move have no inertia in the equations of motion: {listed}")
    parts = []
    for link in model.description.links:
        own, R, p = _place(model, link.name)
        if own == body and (link.inertia.mass > 0.0 or any(link.name in of for of in changed.values())):
            m = changed["mass"].get(link.name, link.inertia.mass)
            c = changed["com"].get(link.name, link.inertia.com.tolist())
            I = changed["inertia"].get(link.name, link.inertia.rotational.tolist())
            parts.append((m, [p[i] + _sum(R[i, k] * c[k] for k in range(3)) for i in range(3)], _turned(R, I)))
    mass = _sum(m for m, _, _ in parts)
    alone = len(parts) == 1 or mass == 0
    com = parts[0][1] if alone else [_sum(m * c[i] for m, c, _ in parts) / mass for i in range(3)]
    inertia = [_sum(I[i][j] + m * _steiner([x - y for x, y in zip(c, com)], i, j) for m, c, I in parts) for i, j in UPPER]
    at = L.BODIES + L.BODY_FLOATS * body
    row[at + L.MASS : at + L.INERTIA + 6] = [mass, *com, *inertia]


def _put_position(model: Model, row: list[Any], joint: Joint, x: list[Any]) -> None:
    """Translation of the joint's first body in the body of the parent link."""
    _, R, p = _place(model, joint.parent)
    body = _place(model, joint.child)[0]
    for _ in range(1, len(screws(joint)) if joint.kind not in ("free", "spherical") else 1):
        body = int(model.topology[L.HEADER + L.BODY_INTS * body + L.PARENT])
    at = L.BODIES + L.BODY_FLOATS * body + L.TRANSLATION
    row[at : at + 3] = [p[i] + _sum(R[i, k] * x[k] for k in range(3)) for i in range(3)]


def _turned(R: np.ndarray, I: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """R I R^T."""
    return [[_sum(R[i, k] * I[k][n] * R[j, n] for k, n in product(range(3), repeat=2)) for j in range(3)] for i in range(3)]


def _steiner(d: Sequence[Any], i: int, j: int) -> Any:
    """Entry of |d|^2 1 - d d^T."""
    return _sum(x * x for x in d) * int(i == j) - d[i] * d[j]


def _sum(terms: Iterable[Any]) -> Any:
    """The sum of terms; zeros of the model do not count, so that closed forms stay short."""
    kept = [x for x in terms if not (isinstance(x, int | float) and x == 0.0)]
    return sum(kept[1:], kept[0]) if kept else 0.0
