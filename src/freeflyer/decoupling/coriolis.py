"""Coriolis matrices of one robot in three forms."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.decoupling.newton_euler import newton_euler_coriolis
from freeflyer.dynamics import equations
from freeflyer.dynamics.closed import motion, project_coriolis
from freeflyer.errors import InputError, format_value
from freeflyer.model.inputs import finite_row
from freeflyer.model.model import Model
from freeflyer.model.public import public

Form = Literal["passive", "hamel", "newton-euler"]
FORMS: tuple[Form, ...] = ("passive", "hamel", "newton-euler")


@public
def coriolis_matrix(model: Model, q: ArrayLike, v: ArrayLike, form: Form = "passive") -> np.ndarray:
    """Coriolis matrix C with C v = bias - gravity forces, in one of three forms; for any robot.

    Proposition 3.1.1: C v is the same in all. For a closed model it is G^T (C G + M Gdot), with v = G u. The rows of the base are
    those of its own Hamel equations. "hamel" and "passive" are compiled, "newton-euler" is written to be read.

    Args:
        form: "passive", "hamel" or "newton-euler". "hamel": decoupling thesis, eq. (3.39), the only one that decouples the base.
            "newton-euler": (3.41), which (3.82) takes for the passive one: Mdot = C + C^T. "passive": as freeflyer.coriolis_matrix,
            Mdot = C + C^T also, of the robot as a cloud of particles.
    Returns: (..., nv, nv) array; C v is in N and N m. `blocks` splits it.
    Raises: InputError for wrong shapes, NaN, infinities, quaternions of other than unit length, and other forms.

    Examples:
        >>> model = ff.robots.space_manipulator()
        >>> q, v = model.neutral, np.ones(model.nv)
        >>> forces = [ff.decoupling.coriolis_matrix(model, q, v, form) @ v for form in ("passive", "hamel", "newton-euler")]
        >>> bool(np.allclose(forces[0], forces[1]) and np.allclose(forces[1], forces[2]))
        True
    """
    if form != "newton-euler":
        if not isinstance(form, str) or form not in equations.FORMS:
            raise InputError(f"form must be 'passive', 'hamel' or 'newton-euler', got {format_value(form)}", form=form)
        return equations.coriolis_matrix(model, q, v, form)
    v = finite_row(model, "v", v, "u")
    if not model.reduction:
        return newton_euler_coriolis(model, q, v)
    C = newton_euler_coriolis(model.tree, q, motion(model, q, v)[0])
    return project_coriolis(model, q, v, C, equations.mass_matrix(model.tree, q))
