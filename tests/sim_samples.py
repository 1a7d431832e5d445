"""Bodies, contacts, batches and runs for tests of simulations; the comparison of two runs bit by bit."""

import freeflyer as ff
import numpy as np
from linkage_samples import shifted

G, DT = 9.81, 1e-3
N = 11
UPRIGHT = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


def body(mass: float = 1.0, inertia: tuple[float, float, float] = (0.1, 0.1, 0.1), sites: tuple[ff.Site, ...] = ()) -> ff.Model:
    """A body that floats."""
    link = ff.Link("body", ff.Inertia(mass, rotational=np.diag(inertia)))
    return ff.build(ff.Description("body", (link,), (ff.Joint("base", "free", "world", "body"),), sites))


def stone(height: float = 1.0) -> tuple[ff.Model, np.ndarray, np.ndarray]:
    """A free body with a sole at its lower end, above the floor."""
    q = UPRIGHT + (height + 0.1) * np.eye(7)[2]
    return body(2.0, (0.02, 0.03, 0.04), (ff.Site("sole", "body", shifted(0.0, 0.0, -0.1)),)), q, np.zeros(6)


def corners(x: float, y: float, z: float) -> list[ff.contacts.Contact]:
    return [ff.contacts.point("body", (i * x, j * y, z), name=f"{i} {j}") for i in (-1, 1) for j in (-1, 1)]


def simulate(model, q, v, contacts, inputs=None, dt=DT, duration=1.0, **ground):
    options = {"gravity": ground.pop("gravity", None), "constraints": ground.pop("constraints", None)}
    options |= {"ground": ff.sim.Ground(**ground), "contacts": contacts}
    run = ff.sim.simulate(model, q, v, inputs, dt=dt, duration=duration, **options)
    assert run.failure is None
    assert run.ground["residual"].max() < 1e-8
    return run


def falling(rng: np.random.Generator):
    """Arguments of a batch of quadrupeds that fall onto ground of their own, under a table of forces."""
    model = ff.robots.quadruped()
    names = [n for n in model.frame_names if n.endswith("_foot")]
    q = np.tile(model.neutral, (N, 1))
    lowest = min(ff.frame_pose(model, model.neutral, n)[2, 3] for n in names)
    height, friction, restitution = lowest - rng.uniform(0.0, 1e-3, N), rng.uniform(0.1, 1.0, N), rng.uniform(0.0, 0.5, N)
    ground = ff.sim.Ground(height=height, friction=friction, restitution=restitution)
    gravity = np.c_[rng.normal(0.0, 0.1, (N, 2)), rng.uniform(-12.0, -9.0, N)]
    table = np.arange(4) * 0.02, rng.normal(0.0, 1.0, (4, N, model.nv))
    v = rng.normal(0.0, 0.2, (N, model.nv))
    v[:, 2] -= 0.5
    return {"model": model, "q": q, "v": v, "inputs": table, "gravity": gravity, "ground": ground, "dt": 1e-3, "duration": 0.06,
            "contacts": [ff.contacts.point(n) for n in names], "external": None, "sensing": None}  # fmt: skip


def check_equal_robots(a: ff.sim.Run, b: ff.sim.Run, *places: list[int]) -> None:
    """The second run is that of the robots of the first at `places`; of all of them without."""
    chosen = (slice(None), *places)
    assert np.array_equal(a.t, b.t)
    for name in ("q", "v", "tau"):
        assert np.array_equal(getattr(a, name)[chosen], getattr(b, name), equal_nan=True), name
    for x, y in ((a.forces, b.forces), (a.ground, b.ground)):
        assert x.keys() == y.keys()
        assert all(np.array_equal(x[name][chosen], y[name], equal_nan=True) for name in x)


def check_equal(a: ff.sim.Run, b: ff.sim.Run) -> None:
    check_equal_robots(a, b)
    assert [(e.t, e.name, e.robot) for e in a.events] == [(e.t, e.name, e.robot) for e in b.events]
    assert a.failure == b.failure
