"""A sound two-link arm as a description, and the defects that tests plant into it."""

import numpy as np
from dataclasses import replace
from freeflyer.model.description import Description, Inertia, Joint, Link
from linkage_samples import shifted


def solid(mass: float = 2.0, com=(0.0, 0.0, 0.1), moments=(0.02, 0.02, 0.01)) -> Inertia:
    return Inertia(mass, np.array(com), np.diag(moments))


def arm() -> Description:
    """base - shoulder - upper - elbow - lower, with every limit given: nothing to find."""
    limits = {"lower": (-2.0,), "upper": (2.0,), "velocity": (5.0,), "effort": (50.0,)}
    y = np.array([0.0, 1.0, 0.0])
    return Description(
        name="arm", links=(Link("base", solid()), Link("upper", solid()), Link("lower", solid())),
        joints=(
            Joint("shoulder", "revolute", "base", "upper", shifted(0, 0, 0.2), y, **limits),
            Joint("elbow", "revolute", "upper", "lower", shifted(0, 0, 0.3), y, **limits),
        ),
    )  # fmt: skip


def with_inertia(description: Description, link: str, inertia: Inertia) -> Description:
    return description.with_link(replace(description.link(link), inertia=inertia))


def with_joint(description: Description, name: str, **changes: object) -> Description:
    return description.with_joint(replace(description.joint(name), **changes))
