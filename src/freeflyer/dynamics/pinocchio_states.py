"""States from and to Pinocchio: the same but for the order of joints, (cos, sin) of continuous joints, and planar joints, which
move by their body twist there. With R the rotation by a planar joint's angle, [vx, vy] here = R [vx, vy] there; so do forces."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from freeflyer.dynamics.converted import check_state, to_ours, to_theirs
from freeflyer.errors import InputError
from freeflyer.model.kinds import refuse_no_model
from freeflyer.model.model import Model
from freeflyer.model.states.matching import check_size
from freeflyer.model.states.pinocchio import configuration_from_pinocchio, configuration_to_pinocchio, pinocchio_places
from freeflyer.model.states.records import PinocchioState, State

NAMES = {"v": "v", "a": "a", "tau": "tau", "bias": "bias"}


def from_pinocchio(
    pin_model: Any, model: Model, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None,
    tau: ArrayLike | None = None, *, bias: ArrayLike | None = None,
) -> State:  # fmt: skip
    """(q, v, a, tau, bias_forces) of a state of Pinocchio's; None for what is not given.

    pin_model: the pinocchio.Model, whose joints are found by name. q (..., nq), v, a, tau and `bias`, its nonLinearEffects
    (..., nv), of Pinocchio; m, rad, s, N, N m. A continuous joint's angle comes out in (-pi, pi], by atan2: within 5e-16 rad.
    A joint that mimics another stands where that one puts it. a and bias of planar joints need v. Of a closed model v and a are
    the independent ones, tau the force along them.
    Exact but for continuous and planar joints, and a base that floats by another link there. Armature on free and spherical joints
    adds to bias here what Pinocchio leaves out.
    Errors: InputError for sizes, joints of another robot, joints without counterpart (translation, Euler angles), NaN, norms.

        q, v, a, tau, _ = ff.from_pinocchio(pin_model, model, pin.neutral(pin_model))
    """
    _check_order(pin_model, model, "from_pinocchio")
    places = pinocchio_places(pin_model, model.tree)
    x = {
        name: None if value is None else check_size(name, value, n, "the sizes of the Pinocchio model")
        for name, value, n in (("q", q, places.nq), *((k, y, pin_model.nv) for k, y in zip("va", (v, a))),
                               ("tau", tau, pin_model.nv), ("bias", bias, pin_model.nv))
    }  # fmt: skip
    ours = configuration_from_pinocchio(model.tree, places, x.pop("q"))  # type: ignore[arg-type]
    return to_ours(model, places.velocities, ours, x, NAMES)


def to_pinocchio(
    pin_model: Any, model: Model, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None,
    tau: ArrayLike | None = None, *, bias_forces: ArrayLike | None = None,
) -> PinocchioState:  # fmt: skip
    """(q, v, a, tau, bias) in Pinocchio's coordinates of a state q (..., nq), v, a, tau, bias_forces (..., nv).

    The reverse of `from_pinocchio`. Forces on joints that mimic others are zero: tau counts on the others. Errors: InputError.

        pin.forwardKinematics(pin_model, data, ff.to_pinocchio(pin_model, model, q).q)
    """
    _check_order(pin_model, model, "to_pinocchio")
    places = pinocchio_places(pin_model, model.tree)
    x, given = check_state(model, q, v, a, tau, bias_forces)
    theirs = to_theirs(model.tree, places.velocities, x, given)
    return PinocchioState(configuration_to_pinocchio(places, x), theirs["v"], theirs["a"], theirs["tau"], theirs["bias"])


def _check_order(pin_model: Any, model: Any, function: str) -> None:
    if isinstance(pin_model, Model):
        raise InputError(f"{function} takes the pinocchio.Model first, the freeflyer Model second: they are swapped")
    refuse_no_model(model, function, "second")
