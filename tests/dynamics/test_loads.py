"""External wrenches in three expressions, and gravity, as inputs: against Jacobians, differences, Pinocchio, batches."""

import copy
import freeflyer as ff
import gc
import numpy as np
import pickle
import pytest
from closeness import central, close, fresh, refused, rounding
from freeflyer.dynamics.frame_sets import _cache
from random_robots import BASES, KINDS, random_robot
from tangent import DIFFERENCE, derivative, robots, state

EXPRESSIONS = ("body", "mixed", "world")
EXACT = rounding(4500, 10.0)  # relative: of the robots here masses and lengths differ by a factor of ten
NAMED = list(robots())
each_robot = pytest.mark.parametrize(("name", "model"), NAMED, ids=[name for name, _ in NAMED])
each_expression = pytest.mark.parametrize("expressed", EXPRESSIONS)


def some_frames(model: ff.Model, rng: np.random.Generator, count: int = 3) -> tuple[str, ...]:
    sites = [site.name for site in model.description.sites][:1]  # links alone have no offset from their bodies
    others = [name for name in model.frame_names if name not in sites]
    return (*sites, *rng.choice(others, min(count - len(sites), len(others)), replace=False).tolist())


def loads(model: ff.Model, rng: np.random.Generator, lead: tuple[int, ...] = ()) -> tuple[ff.FrameSet, np.ndarray, np.ndarray]:
    """(frames, wrenches, gravity)"""
    frames = ff.frame_set(model, *some_frames(model, rng))
    return frames, 10.0 * rng.standard_normal((*lead, len(frames), 6)), 5.0 * rng.standard_normal((*lead, 3))


@pytest.fixture(autouse=True)
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    return fresh(request.node.name)


@each_expression
@each_robot
def test_wrenches_act_through_jacobians(name, model, expressed, rng):
    q, v, a = state(model, rng)
    frames, W, g = loads(model, rng)
    forces = sum(ff.frame_jacobian(model, q, f, expressed=expressed).T @ w for f, w in zip(frames.names, W))
    other = ff.with_gravity(model, g)
    tau = ff.inverse_dynamics(other, q, v, a)
    more = {"expressed": expressed, "gravity": g}
    close(ff.inverse_dynamics(model, q, v, a, external=(frames, W), **more), tau - forces, EXACT)
    close(ff.inverse_dynamics(model, q, v, a, external=dict(zip(frames.names, W)), **more), tau - forces, EXACT)
    close(ff.bias_forces(model, q, v, external=(frames, W), **more), ff.bias_forces(other, q, v) - forces, EXACT)
    close(ff.gravity_forces(model, q, external=(frames, W), **more), ff.gravity_forces(other, q) - forces, EXACT)
    close(ff.gravity_forces(model, q, gravity=g), ff.gravity_forces(other, q), EXACT)
    assert abs(ff.potential_energy(model, q, gravity=g) - ff.potential_energy(other, q)) < 1e-9
    if model.nv and np.linalg.cond(ff.mass_matrix(model, q)) < 1e6:
        solved = ff.forward_dynamics(model, q, v, tau, external=(frames, W), **more)
        close(ff.inverse_dynamics(model, q, v, solved, external=(frames, W), **more), tau, 1e-8)
        close(solved, ff.forward_dynamics(other, q, v, tau + forces), 1e-8)


@each_expression
@each_robot
def test_derivatives_hold_wrenches_as_they_are_expressed(name, model, expressed, rng):
    frames, W, g = loads(model, rng)
    at, more = state(model, rng), {"expressed": expressed, "gravity": g}
    found = ff.inverse_dynamics_derivatives(model, *at, external=(frames, W), **more)
    for part, with_ in (("dq", "q"), ("dv", "v"), ("da", "a")):
        expected = derivative(lambda *x: ff.inverse_dynamics(model, *x, external=(frames, W), **more), model, at, with_)
        close(getattr(found, part), expected, DIFFERENCE)
    if np.linalg.cond(ff.mass_matrix(model, at[0])) > 1e4:
        return
    found = ff.forward_dynamics_derivatives(model, *at, external=(frames, W), **more)
    for part, with_ in (("dq", "q"), ("dv", "v"), ("dtau", "a")):
        expected = derivative(lambda *x: ff.forward_dynamics(model, *x, external=(frames, W), **more), model, at, with_)
        close(getattr(found, part), expected, 1e-8)
    n, line = model.nv, ff.linearize(model, *at, external=(frames, W), **more)
    bare = ff.linearize(model, *at)
    close(line.A[n:, :n], found.dq, EXACT)
    close(line.A[n:, n:], found.dv, EXACT)
    close(line.B[n:], found.dtau, EXACT)
    assert np.array_equal(line.A[:n], bare.A[:n])


@each_expression
@pytest.mark.parametrize("lead", [(1,), (3,), (21,), (2, 5)])
def test_batches_have_loads_of_their_own(expressed, lead, rng):
    """Against states one by one: wrenches and gravity per state, or the same for all."""
    for base in BASES:
        model = random_robot(rng, 7, KINDS, base, mimics=0.3)
        (q, v, a), (frames, W, g) = state(model, rng, lead), loads(model, rng, lead)
        functions = [ff.inverse_dynamics, ff.inverse_dynamics_derivatives]
        if np.linalg.cond(ff.mass_matrix(model, q)).max() < 1e6:
            functions += [ff.forward_dynamics, ff.forward_dynamics_derivatives, ff.linearize]
        for f in functions:
            for w, h in ((W, g), (W[(0,) * len(lead)], g), (W, g[(0,) * len(lead)])):
                got = parts(f(model, q, v, a, external=(frames, w), expressed=expressed, gravity=h))
                for k in np.ndindex(lead):
                    own = (w[k] if w is W else w), (h[k] if h is g else h)
                    one = f(model, q[k], v[k], a[k], external=(frames, own[0]), expressed=expressed, gravity=own[1])
                    for x, y in zip(got, parts(one)):
                        close(x[k], y, 1e-9, what=(f.__name__, base))


@each_expression
@each_robot
def test_forces_act_at_the_origins_of_their_frames(name, model, expressed, rng):
    q, v, a = state(model, rng)
    frames, W, _ = loads(model, rng)
    F = W[:, :3]
    turns = [ff.frame_pose(model, q, f)[:3, :3] if expressed == "body" else np.eye(3) for f in frames.names]
    forces = sum(ff.frame_jacobian(model, q, f, "mixed")[:3].T @ R @ x for f, R, x in zip(frames.names, turns, F))
    tau, named = ff.inverse_dynamics(model, q, v, a) - forces, dict(zip(frames.names, F))
    for external in ((frames, F), (frames.names, F), named, {f: x.tolist() for f, x in named.items()}):
        close(ff.inverse_dynamics(model, q, v, a, external=external, expressed=expressed), tau, EXACT)
    batch = (frames, np.stack([F, 2.0 * F]))
    close(ff.inverse_dynamics(model, q, v, a, external=batch, expressed=expressed)[1], tau - forces, EXACT)
    found = ff.inverse_dynamics_derivatives(model, q, v, a, external=named, expressed=expressed).dq
    expected = derivative(lambda *x: ff.inverse_dynamics(model, *x, external=named, expressed=expressed), model, (q, v, a), "q")
    close(found, expected, DIFFERENCE)
    mixed = named | {frames.names[0]: np.array([*F[0], 0.0, 0.0, 0.0])}
    if expressed == "world" and len(F) > 1:
        refused(ff.InputError, "origins of frames", ff.inverse_dynamics, model, q, v, a, external=mixed, expressed=expressed)
    elif expressed != "world":
        close(ff.inverse_dynamics(model, q, v, a, external=mixed, expressed=expressed), tau, EXACT)


def parts(result) -> list[np.ndarray]:
    if isinstance(result, np.ndarray):
        return [result]
    return [getattr(result, name) for name in ("dq", "dv", "da", "dtau", "A", "B") if hasattr(result, name)]


@each_expression
def test_second_derivatives_and_steps(expressed, rng):
    model = random_robot(rng, 4, ("revolute", "prismatic", "spherical"), "free", mimics=0.2)
    (q, v, a), (frames, W, g) = state(model, rng), loads(model, rng)
    x, more = rng.standard_normal(model.nv), {"external": (frames, W), "expressed": expressed, "gravity": g}
    found = ff.inverse_dynamics_second_derivatives(model, q, v, a, x, **more)
    expected = central(lambda h: np.stack([
        ff.inverse_dynamics_derivatives(model, ff.integrate(model, q, s * x), v, a, **more).dq for s in np.atleast_1d(h).ravel()
    ]).reshape(*np.shape(h), model.nv, model.nv), 1e-3)  # fmt: skip
    close(found.dq, np.asarray(expected), 1e-7)
    model = random_robot(rng, 5, ("revolute", "prismatic", "spherical"), "free")
    (q, v, tau), (frames, W, g) = state(model, rng), loads(model, rng)
    more = {"external": (frames, W), "expressed": expressed, "gravity": g}
    q1, v1 = ff.step(model, q, v, tau, 1e-3, **more)
    expected = v + 1e-3 * ff.forward_dynamics(model, q, v, tau, **more)
    close(v1, expected, 1e-12)
    close(q1, ff.integrate(model, q, 1e-3 * expected), 1e-12)
    pulls, stance = np.stack([g, 2.0 * g]), ff.ConstraintSet(model, locks=[model.actuated[-1]])
    for under in ({}, {"external": (frames, W), "expressed": expressed}, {"constraints": stance}):
        many = ff.step(model, q, v, tau, 1e-3, gravity=pulls, **under)
        for k, pull in enumerate(pulls):
            for x, y in zip(many, ff.step(model, q, v, tau, 1e-3, gravity=pull, **under)):
                close(x[k], y, 1e-11)


def test_frame_sets(rng):
    model = ff.robots.humanoid()
    feet = ff.frame_set(model, "left_sole", "right_sole")
    assert (len(feet), feet.names) == (2, ("left_sole", "right_sole"))
    q, v, a = state(model, rng)
    W = rng.standard_normal((2, 6))
    for other in (pickle.loads(pickle.dumps(feet)), copy.deepcopy(feet)):
        assert other.names == feet.names
        same = ff.inverse_dynamics(other.model, q, v, a, external=(other, W))
        assert np.array_equal(same, ff.inverse_dynamics(model, q, v, a, external=(feet, W)))
    for _ in range(200):  # mappings of ever other frames: the model keeps a bounded number of sets
        names = some_frames(model, rng, 3)
        ff.inverse_dynamics(model, q, v, a, external=dict.fromkeys(names, np.zeros(6)))
    assert len(_cache[id(model)]) <= 64
    number = id(model)
    del model, feet, other
    gc.collect()
    assert number not in _cache, "what is kept for a model goes with it"
    model = ff.robots.humanoid()
    names, W = ["left_sole", "right_sole"], rng.standard_normal((3, 2, 6))
    q, rest = model.neutral, np.zeros(model.nv)
    expected = ff.gravity_forces(model, q, external=dict(zip(names, np.moveaxis(W, 1, 0))))
    for frames in (names, tuple(names), ff.frame_set(model, *names)):
        np.testing.assert_array_equal(ff.gravity_forces(model, q, external=(frames, W)), expected)
        found = ff.all_terms(model, q, rest, frames=frames).jacobians[1]
        np.testing.assert_allclose(found, ff.frame_jacobian(model, q, names[1]), rtol=0.0, atol=1e-14)
    assert ff.all_terms(model, q, rest, frames="left_sole").poses.shape == (1, 4, 4)
    assert ff.linearize(model, q, rest, rest, frames="left_sole").frames == ("left_sole",)
    refused(ff.UnknownNameError, "no frame is named 'left_sol'", ff.all_terms, model, q, rest, frames=["left_sol"])
