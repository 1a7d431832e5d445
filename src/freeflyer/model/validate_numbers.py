"""The numbers of a Description: finite, of the right shape and sign, rotations orthonormal, inertias physical."""

from __future__ import annotations

import numpy as np

from freeflyer import tolerances as T
from freeflyer.errors import DescriptionError
from freeflyer.model.description import Description, Inertia, Joint, joint_sizes
from freeflyer.model.frozen import is_masked
from freeflyer.model.placements import join, rigid_groups, transform

ONE_DOF = ("revolute", "continuous", "prismatic", "helical")
WITH_AXIS = (*ONE_DOF, "cylindrical", "planar", "universal")
PER_COORDINATE = ("lower", "upper", "velocity", "effort", "armature", "damping", "friction", "stiffness")
QUATERNION_AT = {"spherical": 0, "free": 3}


def check_vector(value: object, shape: tuple[int, ...], what: str) -> np.ndarray:
    """The value as an array of finite numbers of that shape."""
    if is_masked(value):
        raise DescriptionError(f"{what} is a masked array with masked entries: give a number for each of them")
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        raise DescriptionError(f"{what} is {value!r}: expected numbers of shape {shape}") from None
    if array.dtype.kind not in "iuf":
        raise DescriptionError(f"{what} is {value!r}: expected numbers of shape {shape}")
    if array.shape != shape:
        raise DescriptionError(f"{what} has shape {array.shape}; expected {shape}")
    array = array.astype(float)
    if not np.abs(array).max(initial=0.0) <= T.LARGEST_NUMBER:  # written so that NaN fails
        raise DescriptionError(f"{what} is {array.tolist()}: expected finite numbers up to {T.LARGEST_NUMBER:g} in SI units")
    return array


def check_placement(X: object, what: str) -> None:
    X = check_vector(X, (4, 4), what)
    R = X[:3, :3]
    off, det = np.abs(R.T @ R - np.eye(3)).max(), np.linalg.det(R)
    if off > T.ROTATION_ROUNDING or det < 0.0 or tuple(X[3]) != (0.0, 0.0, 0.0, 1.0):
        raise DescriptionError(f"{what} is no rigid placement: |R'R - 1| = {off:.1e}, det R = {det:.3g}, last row "
            f"{X[3].tolist()}; expected R'R = 1 within {T.ROTATION_ROUNDING:g}, det R = 1 and [0, 0, 0, 1]: make the rotation R "
            "orthonormal")


def check_joint(j: Joint) -> None:
    who = f"{j.kind} joint {j.name!r}"
    check_placement(j.placement, f"placement of joint {j.name!r}")
    axis = check_vector(j.axis, (3,), f"axis of joint {j.name!r}")
    axis2 = check_vector(j.axis2, (3,), f"axis2 of joint {j.name!r}")
    length = np.linalg.norm(axis)
    if j.kind in WITH_AXIS and length < T.MIN_AXIS_LENGTH:
        raise DescriptionError(f"{who} has the axis {axis.tolist()}: a direction needs a length")
    if j.kind == "universal" and np.linalg.norm(np.cross(axis, axis2)) <= T.PARALLEL_SINE * length * np.linalg.norm(axis2):
        raise DescriptionError(f"{who} has parallel axes {axis.tolist()} and {axis2.tolist()}: give two directions")
    check_vector(j.pitch, (), f"pitch of joint {j.name!r} (m/rad)")
    if j.kind == "helical" and j.pitch == 0.0:
        raise DescriptionError(f"{who} has pitch 0 m/rad: make it revolute, or give its advance per radian")
    nq, nv = joint_sizes(j.kind)
    for name in PER_COORDINATE:
        _check_per_coordinate(j, name, nv)
    if bool(j.lower) != bool(j.upper):
        raise DescriptionError(f"{who} has only one of lower and upper: give both, infinite where there is none")
    for low, high in zip(j.lower, j.upper):
        if low > high or low == np.inf or high == -np.inf:
            raise DescriptionError(f"{who} has lower {low:g} above upper {high:g}: correct them")
    for what, position in (("initial position", j.initial), ("spring reference", j.spring_reference)):
        if position:
            check_position(position, j.kind, nq, f"{what} of {who}")


def check_position(position: object, kind: str, nq: int, what: str) -> None:
    q = check_vector(position, (nq,), what)
    at = QUATERNION_AT.get(kind)
    norm = 1.0 if at is None else float(np.linalg.norm(q[at : at + 4]))
    if abs(norm - 1.0) > T.GIVEN_UNIT_ERROR:
        raise DescriptionError(f"{what} has a quaternion of length {norm:.3g}: expected 1")


def _check_per_coordinate(j: Joint, name: str, nv: int) -> None:
    """A tuple of joint `j` that holds one number per velocity coordinate, or none."""
    values, what = getattr(j, name), f"{name} of joint {j.name!r}"
    if not isinstance(values, (tuple, list)) or len(values) not in (0, nv):
        got = f"{len(values)} numbers" if isinstance(values, (tuple, list)) else repr(values)
        raise DescriptionError(f"{what} holds {got}: a {j.kind} joint takes {nv} of them, or () for none")
    for x in values:
        if not isinstance(x, (int, float, np.floating, np.integer)) or x != x:
            raise DescriptionError(f"{what} is {values!r}: expected {nv} numbers")
        if name in ("lower", "upper"):
            continue  # infinite: unlimited
        if x < 0.0 and name != "stiffness":  # a spring may push away from where it is at rest
            raise DescriptionError(f"{what} is {x:g}: expected zero or more; check the sign")
        if abs(float(x)) > T.LARGEST_NUMBER and name not in ("velocity", "effort"):
            raise DescriptionError(f"{what} is {x:g}: expected at most {T.LARGEST_NUMBER:g} in SI units")


def check_inertia(name: str, inertia: Inertia) -> None:
    mass = float(check_vector(inertia.mass, (), f"mass of link {name!r}"))
    if mass < 0.0:
        raise DescriptionError(f"link {name!r} has the mass {mass:g} kg: expected zero or more", link=name)
    _check_not_tiny(name, "mass", mass, "kg")
    check_vector(inertia.com, (3,), f"centre of mass of link {name!r}")
    J = check_vector(inertia.rotational, (3, 3), f"rotational inertia of link {name!r}")
    if np.abs(J - J.T).max() > T.INERTIA_EIGENVALUE_ROUNDING * np.abs(J).max():
        raise DescriptionError(f"rotational inertia of link {name!r} is not symmetric: {J.tolist()}", link=name)
    _check_not_tiny(name, "rotational inertia", float(np.abs(J).max()), "kg m^2")


def _check_not_tiny(name: str, what: str, size: float, unit: str) -> None:
    if 0.0 < size < T.SMALLEST_INERTIA:
        raise DescriptionError(f"link {name!r} has the {what} {size:g} {unit}: expected 0, or at least {T.SMALLEST_INERTIA:g} "
            f"{unit}, below which products of inertias vanish in double precision. Check the units, or write 0 for a link "
            "without mass", link=name, size=size)


def negative_inertias(description: Description) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Links whose rotational inertia has a negative eigenvalue: (those that matter, those that do not).

    Such a link does not matter where the sum with the links that fixed joints weld to it is positive, for only the sum moves."""
    J = np.stack([link.inertia.rotational for link in description.links]).astype(float)
    bad = [description.links[k].name for k in np.flatnonzero(_below_zero(J))]
    if not bad:
        return (), ()
    places = rigid_groups(description)
    groups: dict[str, list[Inertia]] = {}
    for link in description.links:
        first, X = places[link.name]
        groups.setdefault(first, []).append(transform(link.inertia, X))
    failed = {name for name in bad if _below_zero(join(*groups[places[name][0]]).rotational[None])[0]}
    return tuple(n for n in bad if n in failed), tuple(n for n in bad if n not in failed)


def _below_zero(J: np.ndarray) -> np.ndarray:
    """Which of the inertias (n, 3, 3) have an eigenvalue below zero by more than rounding."""
    eigenvalues = np.linalg.eigvalsh(J)  # ascending
    return eigenvalues[:, 0] < -T.INERTIA_EIGENVALUE_ROUNDING * np.abs(eigenvalues).max(axis=1) - T.NEGLIGIBLE_INERTIA


def check_eigenvalues(description: Description) -> tuple[str, ...]:
    names, harmless = negative_inertias(description)
    if not names:
        return harmless
    values = np.linalg.eigvalsh(description.link(names[0]).inertia.rotational)
    more = f" (and those of {len(names) - 1} more: {', '.join(names[1:6])})" if names[1:] else ""
    raise DescriptionError(f"rotational inertia of link {names[0]!r}{more} has the negative eigenvalue {values[0]:.4g} kg m^2, its "
        f"three being {', '.join(f'{x:.4g}' for x in values)}: no body has that. Correct the file, or load it unchanged with "
        'inertias="as-is"', links=names, eigenvalues=tuple(values.tolist()))
