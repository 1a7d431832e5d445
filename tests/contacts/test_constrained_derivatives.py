"""Derivatives of constrained dynamics against differences of fourth order, on trees, closed models and loops as rows."""

import freeflyer as ff
import numpy as np
import pytest
from closed_robots import robot, robots, state
from closeness import close_to_slopes, fresh
from constrained_samples import BASES, moving_robot, random_set
from freeflyer import contacts
from freeflyer.contacts.sets.forces import turning_locks


def stacked(x, names) -> np.ndarray:
    return np.concatenate([x.a, x.multipliers, *(x.forces[name] for name in names)])


def check(model: ff.Model, s: ff.ConstraintSet, q: np.ndarray, v: np.ndarray, tau: np.ndarray, tolerance: float, **loads) -> None:
    d = ff.constrained_dynamics_derivatives(model, q, v, tau, constraints=s, **loads)
    names = tuple(ff.constrained_dynamics(model, q, v, tau, constraints=s, **loads).forces)

    def at(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return stacked(ff.constrained_dynamics(model, q, v, tau, constraints=s, **loads), names)

    h = 2e-4 if model.reduction else 4e-4
    close_to_slopes(stacked(d.dq, names), lambda e: at(ff.integrate(model, q, e), v, tau), h, tolerance)
    close_to_slopes(stacked(d.dv, names), lambda e: at(q, v + e, tau), 2e-3, tolerance)
    close_to_slopes(stacked(d.dtau, names), lambda e: at(q, v, tau + e), 2e-3, tolerance)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("mimics", [0.0, 0.3])
def test_random_trees(base, mimics):
    rng = fresh()
    model = moving_robot(rng, 7, base=base, mimics=mimics)
    q, v, tau = ff.random_configuration(model, rng), rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    s = random_set(rng, model, q, model.nv - 1, rolling=False)
    check(model, s, q, v, tau, 3e-8)
    # The general way is taken where gravity is given
    for _ in range(4):
        model = moving_robot(rng, int(rng.integers(3, 10)), base=base, mimics=mimics)
        q = np.stack([ff.random_configuration(model, rng) for _ in range(11)])
        v, tau = rng.standard_normal((2, *q.shape[:-1], model.nv))
        s = random_set(rng, model, q[0], model.nv - 1, rolling=False)
        one = ff.constrained_dynamics_derivatives(model, q[0], v[0], tau[0], constraints=s)
        by_matrices = ff.constrained_dynamics_derivatives(model, q[0], v[0], tau[0], constraints=s, gravity=model.gravity)
        batch = ff.constrained_dynamics_derivatives(model, np.stack([q[0]] * 11), v[0], tau, constraints=s)
        for x, y, z in zip(one, by_matrices, batch):
            assert (type(x.forces) is type(y.forces)) == turning_locks(s)
            size = max(1.0, np.abs(y.a).max(), np.abs(y.multipliers).max(initial=0.0))
            assert list(x.forces) == list(y.forces)
            assert len(x.forces) == len(s.names)
            assert np.abs(stacked(x, s.names) - stacked(y, s.names)).max() < 1e-9 * size
            assert np.abs(z.a[0] - x.a).max() < 1e-9 * size
            for name in s.names:
                assert np.abs(z.forces[name][0] - x.forces[name]).max() < 1e-9 * size


def test_forces_wrenches_and_what_is_refused():
    rng = fresh()
    model = ff.robots.quadruped()
    q, v, tau = ff.random_configuration(model, rng), rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    name = model.joints[-1].name
    s = ff.ConstraintSet(model, [contacts.point(model.frame_names[3], name="foot")], [name])
    d, same = (ff.constrained_dynamics_derivatives(model, q, v, tau, constraints=s).dq for _ in range(2))
    before = d.forces[name].copy()
    q[:] = ff.random_configuration(model, rng)
    assert (same.forces[name] == before).all()
    assert repr(same.forces) == f"forces of {name}, foot"
    assert "foot" in same.forces
    assert "hand" not in same.forces
    with pytest.raises(ff.UnknownNameError, match="hand"):
        same.forces["hand"]
    q, v, tau = ff.random_configuration(model, rng), rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    s = ff.ConstraintSet(model, [contacts.point(model.frame_names[k], name=str(k)) for k in (3, 6)])
    loads = {"external": {model.frame_names[8]: rng.standard_normal(6)}, "expressed": "mixed", "gravity": rng.standard_normal(3)}
    check(model, s, q, v, tau, 3e-8, **loads)
    q, v, frame = ff.neutral(model), np.zeros(model.nv), model.frame_names[5]
    twice = ff.ConstraintSet(model, [contacts.point(frame, name="a"), contacts.point(frame, name="b")])
    with pytest.raises(ff.InputError, match="'b' depend"):
        ff.constrained_dynamics_derivatives(model, q, v, v, constraints=twice).dq.forces["b"]
    with pytest.raises(ff.UnknownNameError):
        ff.constrained_dynamics_derivatives(model, q, v, v, constraints=twice).dq.forces["c"]
    with pytest.raises(ff.InputError, match="ConstraintSet"):
        ff.constrained_dynamics_derivatives(model, q, v, v, constraints=(np.eye(model.nv), v))


@pytest.mark.parametrize(("name", "closed"), [(x, k) for x in robots() for k in (True, False)])
def test_closed_robots_and_loops_as_rows(name, closed):
    rng = fresh()
    for _ in range(20):  # until no posture near a singular one is drawn, where differences lose their digits
        st = state(robot(name), rng, 0.02)
        model = ff.close_loops(robot(name))
        s = random_set(rng, model, st.q, 4, rolling=False)
        v = st.u
        if not closed:
            v, model = ff.velocity_map(model, st.q) @ st.u, robot(name)
            s = ff.ConstraintSet(model, s.contacts, s.locks)
        tau = rng.standard_normal(model.nv)
        d = ff.constrained_dynamics_derivatives(model, st.q, v, tau, constraints=s)
        if np.abs(d.dq.a).max() < 1e4:
            break
    check(model, s, st.q, v, tau, 3e-7)
