"""One state or a batch of any shape, any input layout, any number of threads: the same numbers; bad input is refused."""

import freeflyer as ff
import numpy as np
import pytest
import sys
from closeness import close, fresh, refused, rounding
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from processes import python
from random_robots import KINDS, random_robot

Call = Callable[..., np.ndarray]
SHAPES = ((), (1,), (2, 5), (17,), (0,), (2, 0, 3))
# Packs and single states take the same steps, but sums run in another order: a few roundings, amplified in the solves.
TOLERANCE, SOLVES = 1e-12, 1e-10
SITE = "site_0"


def wrenches(model: ff.Model) -> dict[str, np.ndarray]:
    return {SITE: np.arange(6.0), model.link_names[-1]: np.ones(6)}


LOADS = {"": lambda m: {}, ", wrenches": lambda m: {"external": wrenches(m)}, ", gravity": lambda m: {"gravity": (1, 2, 3)}}


def called(name: str, *rest: object, part: str = "", options: Call = LOADS[""]) -> Call:
    def call(m: ff.Model, *arrays: np.ndarray) -> np.ndarray:
        result = getattr(ff, name)(m, *arrays, *rest, **options(m))
        return getattr(result, part) if part else result

    return call


# name: (inputs, function, axes of one result)
FUNCTIONS: dict[str, tuple[str, Call, int]] = {
    name: (letters, called(name), axes) for letters, axes, names in (
        ("qv", 1, "integrate bias_forces centroidal_momentum centroidal_bias"), ("qq", 1, "difference"),
        ("q", 1, "gravity_forces center_of_mass"), ("qv", 0, "kinetic_energy"), ("q", 0, "potential_energy"),
        ("q", 2, "mass_matrix inverse_mass_matrix center_of_mass_jacobian centroidal_momentum_matrix"),
        ("qv", 2, "coriolis_matrix"),
    ) for name in names.split()
}  # fmt: skip
for load, options in LOADS.items():
    FUNCTIONS |= {f"{x}_dynamics{load}": ("qvv", called(f"{x}_dynamics", options=options), 1) for x in ("inverse", "forward")}
for x, last in (("inverse", "da"), ("forward", "dtau")):
    for part in ("dq", "dv", last):
        call = called(f"{x}_dynamics_derivatives", part=part, options=LOADS[", wrenches" if part == "dq" else ""])
        FUNCTIONS[f"{x}_dynamics_derivatives, {part}"] = ("qvv", call, 2)
for part, axes in {"mass_matrix": 2, "bias_forces": 1, "centroidal_momentum_matrix": 2, "centroidal_momentum": 1,
                   "centroidal_bias": 1, "center_of_mass": 1}.items():  # fmt: skip
    FUNCTIONS[f"all_terms: {part}"] = ("qv", called("all_terms", part=part), axes)
FUNCTIONS["coriolis_matrix, hamel"] = ("qv", called("coriolis_matrix", "hamel"), 2)
FUNCTIONS["frame_pose"] = ("q", called("frame_pose", SITE), 2)
for e in ("body", "mixed", "world"):
    at_once = lambda m, e=e: {"frames": ff.frame_set(m, SITE), "expressed": e}
    for letters, axes, name, part in (("q", 2, "frame_jacobian", "jacobians"), ("qv", 1, "frame_velocity", "velocities"),
                                      ("qv", 1, "frame_bias_acceleration", "bias_accelerations")):  # fmt: skip
        FUNCTIONS[f"{name}, {e}"] = (letters, called(name, SITE, e), axes)
        FUNCTIONS[f"all_terms: {part}, {e}"] = ("qv", called("all_terms", part=part, options=at_once), axes + 1)
FUNCTIONS["all_terms: poses"] = ("qv", called("all_terms", part="poses", options=at_once), 3)

ROBOTS = {
    "humanoid": lambda: with_site(ff.robots.humanoid()),
    "every kind": lambda: random_robot(fresh(0), 12, KINDS, "free", mimics=0.0),
    "mimics": lambda: random_robot(fresh(2), 10, KINDS, "planar", mimics=0.7),
}


def with_site(model: ff.Model) -> ff.Model:
    d = model.description
    return ff.build(replace(d, sites=(*d.sites, ff.Site(SITE, d.links[-1].name, ff.spatial.se3.exp(0.3 * np.ones(6))))))


each_robot = pytest.mark.parametrize("robot", ROBOTS)
each_function = pytest.mark.parametrize("name", FUNCTIONS)


@pytest.fixture(scope="module")
def robots() -> dict[str, ff.Model]:
    return {name: make() for name, make in ROBOTS.items()}


@pytest.fixture
def threads(on_threads: None) -> Iterator[None]:
    """Puts the thread count back; threads work on small batches, too."""
    before = ff.get_threads()
    yield
    ff.set_threads(before)


def inputs(model: ff.Model, letters: str, shape: tuple[int, ...], seed: int = 0) -> list[np.ndarray]:
    rng = fresh(seed)
    return [ff.random_configuration(model, rng, shape) if x == "q" else rng.standard_normal((*shape, model.nv)) for x in letters]


@each_function
@each_robot
def test_batches_are_loops(robot: str, name: str, robots: dict[str, ff.Model], poisoned: None) -> None:
    model, (letters, f, axes) = robots[robot], FUNCTIONS[name]
    allowed = SOLVES if "forward" in name or "inverse_mass" in name else TOLERANCE
    least = 0.0
    if name == "potential_energy":
        least = 10.0 * model.mass  # J, m g h of 1 m: energies of both signs cancel
    elif "bias_acceleration" in name:
        least = 1.0  # m/s^2 and rad/s^2, at velocities of 1: behind joints about one axis, terms cancel to rounding
    one = np.asarray(f(model, *inputs(model, letters, ())))
    for shape in SHAPES:
        arrays = inputs(model, letters, shape)
        kept = [x.copy() for x in arrays]
        result = np.asarray(f(model, *arrays))
        assert result.shape == shape + one.shape
        assert result.dtype == np.float64
        assert one.ndim == axes
        assert all(np.array_equal(x, y) for x, y in zip(arrays, kept))  # inputs are not written to
        if result.size:
            expected = np.array([f(model, *(x[k] for x in arrays)) for k in np.ndindex(shape)]).reshape(result.shape)
            close(result[..., None], expected[..., None], allowed, axes + 1, least=least, what=shape)


@pytest.mark.parametrize("name", [k for k, (letters, _, _) in FUNCTIONS.items() if len(letters) > 1])
@each_robot
def test_leading_axes_broadcast(robot: str, name: str, robots: dict[str, ff.Model]) -> None:
    model, (letters, f, _) = robots[robot], FUNCTIONS[name]
    shapes = [(4, 1), (5,), ()]
    arrays = [inputs(model, x, s, seed)[0] for seed, (x, s) in enumerate(zip(letters, shapes))]
    full = [np.ascontiguousarray(np.broadcast_to(x, (4, 5, x.shape[-1]))) for x in arrays]
    assert np.array_equal(f(model, *arrays), f(model, *full))


@pytest.mark.parametrize("count", [1, 3, 8, 21, 400])
@pytest.mark.parametrize("shared", ["q", "v", "a", "qv", "qa", "va"])
def test_states_share_inputs(shared: str, count: int, robots: dict[str, ff.Model], request: pytest.FixtureRequest) -> None:
    """One row for all states, read where it lies: by the short way and by threads; errors and overlaps as everywhere."""
    model, frames = robots["humanoid"], ff.frame_set(robots["humanoid"], SITE)
    for thread in (False, True):
        if thread:
            request.getfixturevalue("on_threads")
        q, v, a = inputs(model, "qvv", (count,), seed=count)
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
        with pytest.raises(ff.InputError, match=rf"{shared[0]}\[0, .* is nan"):
            ff.inverse_dynamics(model, *bad.values())
        if "q" in shared:
            refused(ff.InputError, "normalise", ff.inverse_dynamics, model, mixed["q"] * 1.01, mixed["v"], mixed["a"])
        if shared == "a":  # results over the row that all states read
            memory = np.zeros((count, model.nv))
            memory[-1] = mixed["a"]
            got = ff.inverse_dynamics(model, mixed["q"], mixed["v"], memory[-1], out=memory)
            np.testing.assert_array_equal(got, ff.inverse_dynamics(model, *full.values()))


def test_wrenches_have_batches_of_their_own(robots: dict[str, ff.Model]) -> None:
    model = robots["humanoid"]
    rng = fresh(0)
    q, v, a = inputs(model, "qvv", ())
    w = rng.standard_normal((7, 6))
    for f in (ff.inverse_dynamics, ff.forward_dynamics):
        expected = np.stack([f(model, q, v, a, external={SITE: x}) for x in w])
        close(f(model, q, v, a, external={SITE: w}), expected, SOLVES, 1, least=0.0)


OUT = {"inverse_dynamics": "qvv", "forward_dynamics": "qvv", "bias_forces": "qv", "gravity_forces": "q", "mass_matrix": "q",
       "inverse_mass_matrix": "q", "coriolis_matrix": "qv", "centroidal_momentum_matrix": "q"}  # fmt: skip


@pytest.mark.parametrize("name", OUT)
def test_out_receives_the_result(name: str, robots: dict[str, ff.Model]) -> None:
    model, f = robots["mimics"], getattr(ff, name)
    for shape in ((), (5,)):
        arrays = inputs(model, OUT[name], shape)
        expected = f(model, *arrays)
        out = np.full(expected.shape, np.nan)
        assert f(model, *arrays, out=out) is out
        close(out, expected, 1e-14, least=0.0)
        for bad in (out[..., :-1], np.zeros(out.shape, np.float32), out.tolist(), np.asfortranarray(np.zeros((3, *out.shape)).T)):
            refused(ff.InputError, "out must be", f, model, *arrays, out=bad)


@pytest.mark.parametrize("name", ["inverse_dynamics_derivatives", "forward_dynamics_derivatives"])
def test_an_earlier_result_receives_derivatives(name: str, robots: dict[str, ff.Model]) -> None:
    model, f = robots["mimics"], getattr(ff, name)
    for shape in ((), (5,)):
        arrays = inputs(model, "qvv", shape)
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


@each_robot
def test_a_far_base_costs_what_it_must(robot: str, robots: dict[str, ff.Model]) -> None:
    """At 10 km positions hold 2e-12 m. What depends on them is as exact; what does not is as at the origin."""
    model = robots[robot]
    q, v, a = inputs(model, "qvv", (5,))
    far = q.copy()
    far[:, :2] += 1e4  # of a free or planar base
    for name, (letters, f, axes) in FUNCTIONS.items():
        if axes == 0 or letters == "qq" or name.startswith("integrate"):
            continue
        here, there = (np.asarray(f(model, x, *(v, a)[: len(letters) - 1])) for x in (q, far))
        if name in ("frame_pose", "center_of_mass", "all_terms: poses", "all_terms: center_of_mass"):
            here, there = np.diff(here, axis=0), np.diff(there, axis=0)  # the same displacement for all
            close(there, here, rounding(20.0, 1e4), axes, what=name)  # ten sums along the tree, of two places
        elif name.endswith(", world"):
            continue  # about the world's origin: another quantity there
        else:
            about_com = "momentum" in name or "centroidal" in name
            close(there, here, 1e-10 if about_com or "forward" in name else 1e-11, axes, least=0.0, what=name)


POISON = """
import sys; sys.path[:0] = {paths!r}
import numpy as np, hashlib
from test_batches import FUNCTIONS, ROBOTS, inputs
digest = hashlib.sha256()
for robot in ROBOTS:
    model = ROBOTS[robot]()
    for name, (letters, f, _) in FUNCTIONS.items():
        for shape in ((), (11,)):
            digest.update(np.asarray(f(model, *inputs(model, letters, shape))).tobytes())
print(digest.hexdigest())
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="MALLOC_PERTURB_ is of the GNU C library")
def test_no_kernel_reads_memory_that_it_did_not_write() -> None:
    """The same bits, whatever the allocator leaves in fresh memory."""
    here = Path(__file__).parent
    code = POISON.format(paths=[str(here), str(here.parent)])
    digests = set()
    for byte in ("128", "85"):
        digests.add(python(code, MALLOC_PERTURB_=byte).stdout.strip())
    assert len(digests) == 1
