"""States from and to Pinocchio: the same but for the order of joints, (cos, sin) of continuous joints, and planar joints, which
move by their body twist there. With R the rotation by a planar joint's angle, [vx, vy] here = R [vx, vy] there; so do forces."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from freeflyer.dynamics.converted import check_state, to_ours, to_theirs
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.model.states.pinocchio import configuration_from_pinocchio, configuration_to_pinocchio, pinocchio_places
from freeflyer.model.states.records import PinocchioState, State
from freeflyer.model.states.velocities import check_size

NAMES = {"v": "v", "a": "a", "tau": "tau", "bias": "bias_forces"}


@public
def from_pinocchio(
    model: Model, pin_model: Any, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None,
    tau: ArrayLike | None = None, *, bias_forces: ArrayLike | None = None,
) -> State:  # fmt: skip
    """State (q, v, a, tau, bias_forces) of a state of Pinocchio's; None for values not given.

    A continuous joint's angle comes out in (-pi, pi], by atan2: within 5e-16 rad. The position of a joint that mimics another
    follows from that one. Of a closed model v and a are the independent ones, tau the force along them.

    Exact but for continuous and planar joints, and a base that floats by another link there. Armature on free and spherical joints
    adds a term to the bias forces here. Pinocchio omits it, and it is not converted.

    Args:
        pin_model: Its joints are found by name.
        q: (..., nq) array, Pinocchio's configuration; nq and nv are those of Pinocchio here.
        v, a, tau: (..., nv) array, Pinocchio's velocity, acceleration, generalised forces; m, rad, s, N, N m.
        bias_forces: (..., nv) array, Pinocchio's nonLinearEffects.
    Returns: State, m, rad, s, N, N m.
    Raises: InputError for sizes, joints of another robot, joints without counterpart (translation, Euler angles), NaN, norms.
    A planar joint requires v for a and bias_forces, and closed loops require it for bias_forces.

    Examples:
        >>> import pinocchio
        >>> model = ff.robots.quadruped()
        >>> pin_model = pinocchio.buildModelFromXML(ff.to_urdf(model), pinocchio.JointModelFreeFlyer())
        >>> q = pinocchio.neutral(pin_model)
        >>> c = pinocchio.centerOfMass(pin_model, pin_model.createData(), q)
        >>> bool(np.allclose(ff.center_of_mass(model, ff.from_pinocchio(model, pin_model, q).q), c))
        True
    """
    places = pinocchio_places(pin_model, model.tree)
    x = {
        name: None if value is None else check_size(name, value, n, "the sizes of the Pinocchio model")
        for name, value, n in (("q", q, places.nq), *((k, y, pin_model.nv) for k, y in zip("va", (v, a))),
                               ("tau", tau, pin_model.nv), ("bias_forces", bias_forces, pin_model.nv))
    }  # fmt: skip
    ours = configuration_from_pinocchio(model.tree, places, x.pop("q"))  # type: ignore[arg-type]
    return to_ours(model, places.velocities, ours, {"bias": x.pop("bias_forces"), **x}, NAMES)


@public
def to_pinocchio(
    model: Model, pin_model: Any, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None,
    tau: ArrayLike | None = None, *, bias_forces: ArrayLike | None = None,
) -> PinocchioState:  # fmt: skip
    """State (q, v, a, tau, bias) in Pinocchio's coordinates for a state of freeflyer; None for values not given.

    The reverse of from_pinocchio. Forces on mimic joints are zero, because tau acts on their leaders.

    Args:
        pin_model: Its joints are found by name.
        v, a, tau: (..., nv) array, velocity, acceleration, generalised forces; m, rad, s, N, N m.
        bias_forces: (..., nv) array, as bias_forces gives them, N and N m.
    Returns: PinocchioState, m, rad, s, N, N m.
    Raises: InputError as from_pinocchio. A planar joint requires v for a and bias_forces, and closed loops require it for a.
    Also for bias_forces of a closed model (convert those of model.tree).

    Examples:
        >>> import pinocchio
        >>> model = ff.robots.chain(3, "continuous")
        >>> pin_model = pinocchio.buildModelFromXML(ff.to_urdf(model))
        >>> state = ff.to_pinocchio(model, pin_model, [0.0, 0.5, 1.0])
        >>> np.round(state.q, 3).tolist()  # cosine and sine of each angle
        [1.0, 0.0, 0.878, 0.479, 0.54, 0.841]
    """
    places = pinocchio_places(pin_model, model.tree)
    x, given = check_state(model, q, v, a, tau, bias_forces)
    theirs = to_theirs(model.tree, places.velocities, x, given)
    return PinocchioState(configuration_to_pinocchio(places, x), theirs["v"], theirs["a"], theirs["tau"], theirs["bias"])
