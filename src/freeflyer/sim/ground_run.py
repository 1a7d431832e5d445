"""Steps in time of a robot on ground: states of trees and closed robots in and out, forces by name, what each step left over."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from freeflyer.contacts.constrained_dynamics import project_state
from freeflyer.contacts import ConstraintSet, Contact, Rolling
from freeflyer.dynamics import frame_pose, velocity_map
from freeflyer.dynamics.evaluate import evaluate
from freeflyer.errors import InputError, StepError
from freeflyer.kernels.entries import GROUND_STEP
from freeflyer.kernels.sim import layout as G
from freeflyer.model import instance, instances
from freeflyer.sim.blow_up import too_fast
from freeflyer.sim.ground import Ground, Point, Problem, check_each, make_problem, refuse_held, touching_points
from freeflyer.sim.state import Equations, EventState, tree_forces

DEEPEST = 1e-3  # m that points may be below the ground at the start
ROUNDING = 1e-9  # of a step: times differ by that
MOST_BYTES = 2**25  # of the samples of one call
SLOPE_STEP = 1e-6  # m on each side over which slopes of a function are taken
FACTS = {"residual": G.MISSING, "penetration": G.PENETRATION, "touching": G.TOUCHING, "rounds": G.ROUNDS}


class Step(namedtuple("Step", "q v forces facts kept")):
    """States (..., nq), (..., nv) at the end of a step, mean wrenches (..., 6) by contact over it, facts (...) as in Run.ground,
    and the mean forces (..., k) of rows over it, with which the next step begins."""


@dataclass(frozen=True, eq=False)
class GroundStepper:
    """equations: the model, what else holds, loads and gravity; dt: of every step, s."""

    equations: Equations
    ground: Ground
    contacts: Sequence[Contact | Rolling]

    @cached_property
    def held(self) -> ConstraintSet:
        """What holds besides, of the tree, with its loops."""
        model, given = self.equations.model, self.equations.constraints
        if given is None:
            return ConstraintSet(model.tree, loops=model.reduction is not None)
        return replace(given, model=model.tree)

    @cached_property
    def points(self) -> list[Point]:
        return touching_points(self.equations.model.tree, self.contacts)

    @cached_property
    def problem(self) -> Problem:
        refuse_held(self.held, self.contacts)
        return make_problem(self.held, self.points, self.ground)

    def settings(self, h: float | np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Settings (..., k) of steps of length h from mean forces `kept`."""
        made, gravity, ground = np.zeros((*kept.shape[:-1], self.problem.settings)), self.equations.gravity, self.ground
        made[..., G.STEP], made[..., self.problem.settings - self.problem.kept :] = h, kept
        made[..., G.GRAVITY : G.GRAVITY + 3] = self.equations.model.gravity if gravity is None else gravity
        made[..., G.HEIGHT] = ground.height if isinstance(ground.height, float | np.ndarray) else 0.0
        made[..., G.GROUND_FRICTION], made[..., G.GROUND_RESTITUTION] = ground.friction, ground.restitution
        made[..., G.STIFFNESS], made[..., G.DAMPING], made[..., G.SHARE] = ground.yielding
        return made

    def no_forces(self, q: np.ndarray) -> np.ndarray:
        """Those before the first step."""
        return np.zeros((*q.shape[:-1], self.problem.kept))

    def advance(self, t: float, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float, kept: np.ndarray) -> Step:
        """A step of length h from q (..., nq), v (..., nv); kept (..., k): mean forces of the step before."""
        equations, model = self.equations, self.equations.model
        whole = (velocity_map(model, q) @ v[..., None])[..., 0] if model.reduction else v
        loads = equations.external(t, q, v) if callable(equations.external) else equations.external
        forces = tree_forces(model, q, tau, loads, equations.expressed)
        check_each("external", forces.shape[:-1], q.shape[:-1])
        settings = self.settings(h, kept)
        if callable(self.ground.height):
            for place in np.ndindex(kept.shape[:-1]):
                settings[(*place, slice(G.PLANES, G.PLANES + G.PLANE_FLOATS * len(self.points)))] = self._planes(q[place]).ravel()
        given: Any = q, whole, forces, settings
        try:
            found = GROUND_STEP.call(self.problem.handle, *given, None)
            if found is None:
                problem: Any = self.problem
                found = evaluate(GROUND_STEP, model.tree, given, ("q", "v", "tau", "settings"), frames=problem)
        except InputError as error:
            raise StepError(f"no step of {h:g} s can be taken on the ground: {error}", t=t, cause=str(error)) from None
        step = self._steps(found, 1)[0]
        q_next, v_next = self._settled(step.q, step.v)
        return step._replace(q=q_next, v=v_next)

    def _steps(self, found: tuple[np.ndarray, ...], count: int) -> list[Step]:
        """What a call gives, sample by sample."""
        q, v, kept, wrenches, facts = found
        names, wrenches = list(dict.fromkeys(p.name for p in self.points)), wrenches.reshape(*wrenches.shape[:-1], -1, 6)
        return [
            Step(q[..., k, :], v[..., k, :], {name: wrenches[..., k, i, :] for i, name in enumerate(names)},
                 {name: facts[..., k, i] for name, i in FACTS.items()}, kept) for k in range(count)
        ]  # fmt: skip

    def several(self, state: EventState, h: float | np.ndarray, most: int, between: int) -> list[Step] | None:
        """Up to `most` samples of steps under held forces, each after `between` steps; forces and facts are those of the first step
        on the way to it, `kept` that of the last sample. None if steps need Python, or one of them fails. h (...): of robots."""
        problem, equations = self.problem, self.equations
        if equations.model.reduction or equations.external is not None or callable(self.ground.height) or self.held.names:
            return None
        q, v, kept = state.q, state.v, state.ground.kept
        size = q.nbytes + v.nbytes + 8 * (q.size // q.shape[-1]) * (6 * len(self.points) + len(FACTS))
        count = max(1, min(most, MOST_BYTES // size))
        if (count, between) not in self._problems:
            self._problems[count, between] = problem.of_steps(count, between)
        given, frames = (q, v, state.tau, self.settings(h, kept)), self._problems[count, between]
        try:
            found = evaluate(GROUND_STEP, equations.model, given, ("q", "v", "tau", "settings"), frames=frames)  # type: ignore[arg-type]
        except InputError:
            return None
        if too_fast(found[1]):
            return None
        for x in found[:2]:
            x.flags.writeable = False
        return self._steps(found, count)

    @cached_property
    def _problems(self) -> dict[tuple[int, int], Problem]:
        return {}

    def _settled(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Without the drift of loops and of what holds; independent velocities leave loops closed whatever they are."""
        if self.held.names:
            q, near = project_state(self.held.model, q, v, self.held)
            v = v if self.equations.constraints is None else near
        reduction = self.equations.model.reduction
        return q, v[..., reduction.split.independent] if reduction else v

    def _planes(self, q: np.ndarray) -> np.ndarray:
        """Planes (points, 4) that touch the surface of a function near the points: normal, offset."""
        found, tree = np.empty((len(self.points), G.PLANE_FLOATS)), self.equations.model.tree
        poses = {name: frame_pose(tree, q, name) for name in dict.fromkeys(p.frame for p in self.points)}
        for k, p in enumerate(self.points):
            X = poses[p.frame]
            at = X[:3, 3] + X[:3, :3] @ p.place
            (x, y), n, offset = at[:2], np.zeros(3), 0.0
            for _ in range(3):  # the foot of the perpendicular
                z = self._height(x, y)
                n = np.array([
                    (self._height(x - SLOPE_STEP, y) - self._height(x + SLOPE_STEP, y)) / (2.0 * SLOPE_STEP),
                    (self._height(x, y - SLOPE_STEP) - self._height(x, y + SLOPE_STEP)) / (2.0 * SLOPE_STEP), 1.0,
                ])  # fmt: skip
                n /= np.linalg.norm(n)
                offset = float(n @ (x, y, z))
                x, y = (at - (n @ at - offset) * n)[:2]
            found[k] = *n, offset
        return found

    def _height(self, x: float, y: float) -> float:
        z = self.ground.height(x, y)
        if not isinstance(z, int | float | np.number) or not np.isfinite(z):
            raise InputError(f"height(x, y) of the ground must be a finite number, got {z!r} at ({x:g}, {y:g})")
        return float(z)


class OnGround(namedtuple("OnGround", "stepper h kept")):
    """How a state moves on a ground: by steps of length h, if no event cuts them, that begin with the mean forces `kept`."""

    def step(self, state: EventState, h: float) -> Step:
        return self.stepper.advance(state.t, state.q, state.v, state.tau, h, self.kept)

    def after(self, state: EventState, h: float) -> EventState:
        """The state a time h later."""
        step = state.ground_step if abs(h - self.h) < ROUNDING * self.h else self.step(state, h)
        step.q.flags.writeable = step.v.flags.writeable = False
        return replace(state, t=state.t + h, q=step.q, v=step.v, ground=self._replace(kept=step.kept))

    def under(self, equations: Equations) -> OnGround:
        """The same where other constraints hold."""
        known = self.stepper.equations is equations
        return self if known else self._replace(stepper=replace(self.stepper, equations=equations))


def ground_stepper(equations: Equations, ground: object, contacts: object, q: np.ndarray) -> GroundStepper:
    """InputError for other objects, and for points that begin deep below the ground."""
    ground = instance("ground", ground, Ground, "sim.Ground()")
    given = instances("contacts", contacts, Contact | Rolling, 'freeflyer.contacts.point("toe"), surfaces and rolling bodies')
    if not given:
        raise InputError("on a ground a robot needs contacts= by which it touches it: freeflyer.contacts.feet_by_name(model), say")
    names = [c.name for c in given]
    if len(set(names)) < len(names):
        raise InputError(f"contacts must have names of their own, got {names}: name= of freeflyer.contacts.point", names=names)
    for name, x in ground.of_each().items():
        check_each(f"{name} of the ground", x.shape, q.shape[:-1])
    made = GroundStepper(equations, ground, given)
    rest = np.zeros((*q.shape[:-1], equations.model.nv))
    try:
        depths = made.advance(0.0, q, rest, rest, 1e-9, made.no_forces(q)).facts["penetration"]
    except StepError as error:
        raise InputError(f"the robot cannot move: {error.data['cause']}") from None
    if (depth := float(depths.max())) > DEEPEST:
        place = tuple(map(int, np.unravel_index(int(depths.argmax()), depths.shape)))
        where = f"robot {list(place)}" if place else "the robot"
        tree, x = made.held.model, q[place]
        low, high = tree.position_lower, tree.position_upper
        joint = next((j.name for j in tree.joints if j.nv == j.nq == 1
                      and max(low[j.iv] - x[j.iq], x[j.iq] - high[j.iv]) >= depth), "")  # fmt: skip
        if joint:
            raise InputError(f"joint {joint!r} of {where} begins {depth:.3g} (rad or m) beyond its limit: move it", joint=joint)
        raise InputError(f"{where} begins {depth:.3g} m below the ground: lift it", depth=depth)
    return made
