"""The frame that is aligned with the locked velocity: integrable or not, and its angle along two ways to one posture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer import decoupling, robots
from freeflyer.dynamics.manifold import integrate
from freeflyer.model.edits import lock_joints
from freeflyer.model.model import Model

POSTURES = 20


@dataclass(frozen=True)
class Frames:
    """Of a robot whose other joints are locked: the largest entry of (3.72), the largest of T's slopes, and the worst pair."""

    robot: str
    joints: int
    angular: float
    linear: float
    slope: float
    integrable: bool
    worst: str


@dataclass(frozen=True)
class Path:
    """Angle along a way through postures of two joints, to the same end."""

    robot: str
    way: str
    integrable: bool
    share: tuple[float, ...]
    angle: tuple[float, ...]
    error: float


def with_joints(model: Model, count: int) -> Model:
    """The robot with so many joints of its arm, from the second on; or all of them."""
    if count == len(model.actuated):
        return model
    kept = model.actuated[1 : 1 + count]
    return lock_joints(model, [name for name in model.actuated if name not in kept])


def frames() -> tuple[Frames, ...]:
    """Arms of the space and the aerial manipulator with one, two and all joints."""
    rng, made = np.random.default_rng(6), []
    for name in ("space_manipulator", "aerial_manipulator"):
        whole = robots.make(name)
        for count in (1, 2, len(whole.actuated)):
            model = with_joints(whole, count)
            steps = np.concatenate([np.zeros((POSTURES, 6)), rng.uniform(-2.0, 2.0, (POSTURES, count))], -1)
            q = integrate(model, model.neutral, steps)
            found = decoupling.integrability(model, q)
            worst = " and ".join(found.failing[0][:2]) if found.failing else ""
            size = float(np.abs(found.tensor[..., 3:, :, :]).max())
            along = np.eye(model.nv)[6:]
            slope = decoupling.decouple(model, q[:, None], along).base_map_rate[..., 3:, 6:]
            made.append(Frames(
                name, count, size, float(np.abs(found.tensor[..., :3, :, :]).max()), float(np.abs(slope).max()),
                bool(found.integrable.all()), worst,
            ))  # fmt: skip
    return tuple(made)


def paths() -> tuple[Path, ...]:
    """One joint to and fro and directly; two joints one after the other, in both orders, and together."""
    made = []
    whole = robots.make("aerial_manipulator")
    one, two = with_joints(whole, 1), with_joints(whole, 2)
    ways: tuple[tuple[Model, str, list[tuple[float, ...]]], ...] = (
        (one, "directly", [(0.0,), (1.5,)]), (one, "too far and back", [(0.0,), (2.5,), (-0.5,), (1.5,)]),
        (two, "the first, then the second", [(0.0, 0.0), (1.5, 0.0), (1.5, 1.5)]),
        (two, "the second, then the first", [(0.0, 0.0), (0.0, 1.5), (1.5, 1.5)]),
        (two, "both at once", [(0.0, 0.0), (1.5, 1.5)]),
    )  # fmt: skip
    for model, way, corners in ways:
        points = np.array(corners)
        share = np.linspace(0.0, len(points) - 1.0, 20 * (len(points) - 1) + 1)
        angles = np.stack([np.interp(share, np.arange(len(points)), points[:, k]) for k in range(points.shape[1])], -1)
        q = integrate(model, model.neutral, np.concatenate([np.zeros((len(share), 6)), angles], -1))
        found = decoupling.center_of_mass_angle(model, q)
        made.append(Path(
            f"aerial manipulator, {points.shape[1]} joint{'s' * (points.shape[1] > 1)}", way, found.integrable,
            tuple((share / share[-1]).tolist()), tuple(found.angle.tolist()), found.error,
        ))  # fmt: skip
    return tuple(made)
