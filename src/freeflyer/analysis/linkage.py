"""A closed robot's linkages studied: its sub-mechanisms, and the motions of each motor over its stroke."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer.errors import InputError
from freeflyer.linkages.closing import has_loops
from freeflyer.linkages import partition, sweep
from freeflyer.linkages.submechanisms import Mechanism, Mechanisms, mechanisms
from freeflyer.model import Model, public, whole_number
from freeflyer.text import short_repr

SAMPLES = 61
SHOWN = 3  # joints of a motor: those that move most
LEAST_MOTION = 1e-3  # of the largest: joints that move less are not shown
FREE_STROKE = {"prismatic": 0.05, "revolute": 0.5}  # m, rad: to either side, of motors without limits


@dataclass(frozen=True)
class Transmission:
    """Passive joints over the stroke of one motor, the others at rest.

    Attributes:
        motor, kind: Joint of the motor, and its kind.
        mechanism: Name of its sub-mechanism.
        positions: (n,) array of the motor, m or rad, where the loops close.
        joints: Positions (n,) of the joints that move most, m or rad, by name.
        kinds: Their kinds.
        stroke: (float, float), the motor's limits, or the range tried where it has none."""

    __repr__ = short_repr

    motor: str
    kind: str
    mechanism: str
    positions: np.ndarray
    joints: dict[str, np.ndarray]
    kinds: dict[str, str]
    stroke: tuple[float, float]


@dataclass(frozen=True)
class Linkages:
    """Sub-mechanisms of a closed robot, and the motions of their motors.

    Attributes:
        mechanisms: Sub-mechanisms at the assembled posture.
        links: Links that each sub-mechanism moves, by its name.
        transmissions: One for each motor of one coordinate in a loop."""

    __repr__ = short_repr

    robot: str
    mechanisms: Mechanisms
    links: dict[str, tuple[str, ...]]
    transmissions: tuple[Transmission, ...]


@public
def linkages(model: Model, *, samples: int = SAMPLES) -> Linkages:
    """Sub-mechanisms of a closed robot, and the motion of each motor over its stroke.

    Args:
        model: A tree with loops, or a closed model.
        samples: Positions of each motor.
    Raises: InputError for a robot without loops, fewer than two samples; LinkageError for loops that do not close.

    Examples:
        >>> leg = ff.linkages.extract_limb(ff.robots.kangaroo_like(), "left_sole")
        >>> knee = ff.analysis.linkages(leg).transmissions[3]
        >>> knee.motor, [round(float(np.degrees(x[-1]))) for name, x in knee.joints.items() if name == "left_knee"]
        ('left_length_motor', [120])
    """
    tree = model.tree
    if not has_loops(tree):
        raise InputError(f"{model.name!r} has no loops and no couplings: it is a tree", model=model.name)
    whole_number("samples", samples, 2)
    found = mechanisms(tree)
    driven = [(part, name) for part in found.parts for name in part.actuated if tree.joint(name).nv == 1]
    child = {joint.name: joint.child for joint in tree.description.joints}
    links = {part.name: tuple([child[name] for name in (*part.actuated, *part.dependent)]) for part in found.parts}
    return Linkages(tree.name, found, links, tuple([_transmission(tree, part, name, samples) for part, name in driven]))


def _transmission(model: Model, part: Mechanism, motor: str, samples: int) -> Transmission:
    info = model.joint(motor)
    here = float(partition(model).q[info.iq])
    reach = FREE_STROKE["prismatic" if info.kind == "prismatic" else "revolute"]
    low, high = float(model.position_lower[info.iv]), float(model.position_upper[info.iv])
    low, high = low if np.isfinite(low) else here - reach, high if np.isfinite(high) else here + reach
    swept = sweep(model, {motor: np.linspace(low, high, samples)})
    q, x = swept.q[swept.reached], swept.values[0][swept.reached]
    moved = {j.name: q[:, j.iq] for j in map(model.joint, part.dependent) if j.nq == j.nv == 1}
    size = {name: float(np.ptp(y)) if len(y) else 0.0 for name, y in moved.items()}
    least = LEAST_MOTION * max(size.values(), default=0.0)
    most = sorted([name for name in moved if size[name] > least], key=lambda name: -size[name])[:SHOWN]
    kinds = {name: model.joint(name).kind for name in most}
    return Transmission(motor, info.kind, part.name, x, {name: moved[name] for name in most}, kinds, (low, high))
