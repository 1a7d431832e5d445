"""Inputs that many states share, results in given memory, robots far from the origin, memory that is left unwritten."""

import freeflyer as ff
import numpy as np
import pytest
import sys
from answers import answers
from closeness import close, fresh, refused, rounding
from dataclasses import replace
from processes import python
from random_robots import KINDS, random_robot
from tangent import state

SITE = "site_0"


def wrenches(model: ff.Model) -> dict[str, np.ndarray]:
    return {SITE: np.arange(6.0), model.link_names[-1]: np.ones(6)}


ROBOTS = {"humanoid": lambda: with_site(ff.robots.humanoid()),
          "every kind": lambda: random_robot(fresh(0), 12, KINDS, "free", mimics=0.0),
          "mimics": lambda: random_robot(fresh(2), 10, KINDS, "planar", mimics=0.7)}  # fmt: skip


def with_site(model: ff.Model) -> ff.Model:
    d = model.description
    return ff.build(replace(d, sites=(*d.sites, ff.Site(SITE, d.links[-1].name, ff.spatial.se3.exp(0.3 * np.ones(6))))))


@pytest.fixture(scope="module")
def robots() -> dict[str, ff.Model]:
    return {name: make() for name, make in ROBOTS.items()}


@pytest.mark.parametrize("count", [1, 3, 8, 21, 400])
@pytest.mark.parametrize("shared", ["q", "v", "a", "qv", "qa", "va"])
def test_states_share_inputs(shared: str, count: int, robots: dict[str, ff.Model], request: pytest.FixtureRequest) -> None:
    """One row for all states, read where it lies: by the short way and by threads; errors and overlaps as everywhere."""
    model, frames = robots["humanoid"], ff.frame_set(robots["humanoid"], SITE)
    for thread in (False, True):
        if thread:
            request.getfixturevalue("on_threads")
        q, v, a = state(model, fresh(count), (count,))
        W = fresh(count).standard_normal((count, 1, 6))
        rows = {"q": q, "v": v, "a": a}
        mixed = {k: x[0].copy() if k in shared else x for k, x in rows.items()}
        full = {k: np.broadcast_to(x, rows[k].shape).copy() for k, x in mixed.items()}
        for call in (ff.inverse_dynamics, ff.forward_dynamics):
            np.testing.assert_array_equal(call(model, *mixed.values()), call(model, *full.values()))
            for wrench in (W, W[0]):
                loaded = call(model, *mixed.values(), external=(frames, wrench))
                expected = call(model, *full.values(), external=(frames, np.broadcast_to(wrench, W.shape).copy()))
                np.testing.assert_array_equal(loaded, expected)
            by_name = call(model, *mixed.values(), external={SITE: W[0, 0]}, gravity=model.gravity)
            np.testing.assert_array_equal(by_name, call(model, *full.values(), external=(frames, W[0])))
        D = ff.inverse_dynamics_derivatives(model, *mixed.values())
        np.testing.assert_array_equal(D.dq, ff.inverse_dynamics_derivatives(model, *full.values()).dq)
        bad = {k: x.copy() for k, x in mixed.items()}
        bad[shared[0]][3 if shared[0] == "q" else 1] = np.nan
        refused(ff.InputError, rf"{shared[0]}\[0, .* is nan", ff.inverse_dynamics, model, *bad.values())
        if "q" in shared:
            refused(ff.InputError, "normalise", ff.inverse_dynamics, model, mixed["q"] * 1.01, mixed["v"], mixed["a"])
        if shared == "a":  # results over the row that all states read
            memory = np.zeros((count, model.nv))
            memory[-1] = mixed["a"]
            got = ff.inverse_dynamics(model, mixed["q"], mixed["v"], memory[-1], out=memory)
            np.testing.assert_array_equal(got, ff.inverse_dynamics(model, *full.values()))


@pytest.mark.parametrize("name", ["inverse_dynamics_derivatives", "forward_dynamics_derivatives"])
def test_an_earlier_result_receives_derivatives(name: str, robots: dict[str, ff.Model]) -> None:
    model, f = robots["mimics"], getattr(ff, name)
    for shape in ((), (5,)):
        arrays = state(model, fresh(0), shape)
        for external in (None, wrenches(model)):
            expected = f(model, *arrays, external=external)
            out = type(expected)(*(np.full_like(expected.dq, np.nan) for _ in range(3)))
            got = f(model, *arrays, external=external, out=out)
            assert got is out
            for part in ("dq", "dv"):
                assert getattr(got, part) is getattr(out, part)
                np.testing.assert_allclose(getattr(out, part), getattr(expected, part), rtol=1e-13)
        for bad in (out.dq, (out.dq, out.dv, out.dq), "out"):
            refused(ff.InputError, "out must be", f, model, *arrays, out=bad)


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_far_base_costs_what_it_must(robot: str, robots: dict[str, ff.Model]) -> None:
    """At 10 km positions hold 2e-12 m. What depends on them is as exact; what does not is as at the origin."""
    model = robots[robot]
    q, v, a, tau = state(model, fresh(0), (5,), 3)
    far = q.copy()
    far[:, :2] += 1e4  # of a free or planar base
    found = (answers(model, x, v, a, tau, (SITE,), wrenches(model)) for x in (q, far))
    for name, here, there in ((name, x, y) for x, y in [tuple(found)] for name, x, y in zip(x, x.values(), y.values())):
        axes = here.ndim - 1 - (name.split(",")[0] in ("pose", "velocity", "jacobian", "Jdot v"))
        if name in ("pose", "com"):
            here, there = np.diff(here, axis=0), np.diff(there, axis=0)  # the same displacement for all
            close(there, here, rounding(20.0, 1e4), axes, what=name)  # ten sums along the tree, of two places
        elif not name.endswith(", world") and "energy" not in name:  # about the world's origin: another quantity there
            about_com = "momentum" in name or "forward" in name or "inverse mass" in name
            close(there, here, 1e-10 if about_com else 1e-11, axes, least=0.0, what=name)


POISON = """
import sys; sys.path[:0] = {paths!r}
import hashlib
from samples import OF_STATES, model_call, robot_of
digest = hashlib.sha256()
for name in OF_STATES:
    for shape in ((), (11,)):
        for x in model_call(name, robot_of(name), shape).result():
            digest.update(x.tobytes())
print(digest.hexdigest())
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="MALLOC_PERTURB_ is of the GNU C library")
def test_no_kernel_reads_memory_that_it_did_not_write() -> None:
    """The same bits, whatever the allocator leaves in fresh memory."""
    code = POISON.format(paths=sys.path)
    assert len({python(code, MALLOC_PERTURB_=byte).stdout for byte in ("128", "85")}) == 1


def test_all_terms_into_given_memory_and_without_frames():
    model = ff.robots.humanoid()
    feet = ff.frame_set(model, "left_sole", "right_sole")
    for lead in ((), (9,)):
        q, v, _ = state(model, fresh(), lead)
        alone = ff.all_terms(model, q, v, frames=feet)
        out = ff.all_terms(model, 0.0 * v[..., :1] + model.neutral, 0.0 * v, frames=feet)
        assert ff.all_terms(model, q, v, frames=feet, out=out) is out
        for field in ff.AllTerms._fields:
            assert np.array_equal(getattr(out, field), getattr(alone, field))
    q, v, _ = state(model, fresh())
    terms = ff.all_terms(model, q, v)
    assert terms.poses.shape == (0, 4, 4)
    assert terms.velocities.shape == terms.bias_accelerations.shape == (0, 6)
    assert terms.jacobians.shape == (0, 6, model.nv)
    close(terms.mass_matrix, ff.mass_matrix(model, q), rounding(4500, 10.0))
