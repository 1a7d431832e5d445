"""Configurations by the names of joints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.evaluate import leading_axes
from freeflyer.dynamics.manifold import difference, integrate
from freeflyer.errors import InputError, unknown_name
from freeflyer.model.inputs import check_configuration, finite_array, finite_row
from freeflyer.model.model import JointInfo, Model
from freeflyer.model.public import public

STEPS = 12  # in which a closed linkage is moved to where its independent joints shall be


@public
def configuration(model: Model, positions: Mapping[str, ArrayLike] | None = None, *, start: ArrayLike | None = None,
                  **by_name: ArrayLike) -> np.ndarray:
    """Configuration q (..., nq) with the named joints at these positions, and the others where `start` has them.

    Limits are not looked at. Of a closed model the independent joints are named; loops are closed by small steps from `start`.

    Args:
        positions: Names of joints and their positions, m or rad, one per state (...,). Joints of several coordinates take all of
            them (..., nq of the joint): a spherical joint a unit quaternion x, y, z, w, a free one a position and it.
        start: (..., nq) array, configuration of the other joints; neutral without it.
        by_name: The same, as keywords.
    Raises: InputError also for joints that mimic others or follow from loops, and for a joint given twice; LinkageError where the
    loops cannot be closed.

    Examples:
        >>> model = ff.robots.humanoid()
        >>> q = ff.configuration(model, {"left_knee": 0.3}, left_elbow=[0.1, 0.2, 0.3])
        >>> q.shape, q[:, model.joint("left_elbow").iq].tolist()  # three states
        ((3, 40), [0.1, 0.2, 0.3])
    """
    if positions is not None and not isinstance(positions, Mapping):
        raise InputError(f"positions map names of joints to numbers, as in {{'knee': 0.3}}; got {type(positions).__name__}")
    both = set(positions or ()) & set(by_name)
    if both:
        raise InputError(f"joint {min(both)!r} is given twice: in the dictionary and by keyword", joint=min(both))
    q = model.neutral if start is None else finite_row(model, "start", start, "q")
    placed = [_joint_position(model, name, value) for name, value in {**(positions or {}), **by_name}.items()]
    given = [] if start is None else [("start", q, 1)]
    given += [(joint.name, x[..., 0] if joint.nq == 1 else x, int(joint.nq > 1)) for joint, x in placed]
    lead = leading_axes([x for _, x, _ in given], [n for _, _, n in given], [name for name, _, _ in given])
    wanted = np.broadcast_to(q, (*lead, model.nq)).copy()
    for joint, x in placed:
        wanted[..., joint.iq : joint.iq + joint.nq] = x
    check_configuration(model, "the configuration", wanted, "q")
    if not (model.reduction and placed):
        return wanted
    q = np.broadcast_to(q, wanted.shape)
    for k in range(STEPS, 0, -1):
        q = integrate(model, q, difference(model, q, wanted) / k)
    return q


def _joint_position(model: Model, name: Any, value: ArrayLike) -> tuple[JointInfo, np.ndarray]:
    joint = next((j for j in model.joints if j.name == name), None)
    if joint is None:
        fixed = any(j.name == name and j.kind == "fixed" for j in model.description.joints)
        raise unknown_name("moving joint", name, model.joint_names, "That joint is fixed." if fixed else "")
    if joint.mimic is not None:
        raise InputError(f"joint {name!r} mimics {joint.mimic.joint!r}: give the position of that one", joint=name)
    if model.reduction and joint.nv < model.tree.joint(joint.name).nv:
        moving = [j.name for j in model.joints if j.mimic is None and j.nv == model.tree.joint(j.name).nv]
        shown = ", ".join(moving[:8]) + (f", ... ({len(moving)} in all)" if len(moving) > 8 else "")
        raise InputError(f"joint {name!r} of {model.name!r} follows from its loops: name independent joints ({shown}), or close "
            "a guess of the tree's with freeflyer.linkages.assemble", joint=name)
    x = finite_array(f"the position of joint {name!r}", value)
    if joint.nq == 1:
        return joint, x[..., None]
    if x.ndim == 0 or x.shape[-1] != joint.nq:
        raise InputError(f"the position of {joint.kind} joint {name!r} has shape {x.shape}, expected (..., {joint.nq})", joint=name)
    return joint, x
