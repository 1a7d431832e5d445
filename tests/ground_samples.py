"""Bodies, contacts and runs for tests of ground."""

import freeflyer as ff
import numpy as np

G, DT = 9.81, 1e-3
UPRIGHT = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


def body(mass: float = 1.0, inertia: tuple[float, float, float] = (0.1, 0.1, 0.1)) -> ff.Model:
    """A body that floats."""
    link = ff.Link("body", ff.Inertia(mass, rotational=np.diag(inertia)))
    return ff.build(ff.Description("body", (link,), (ff.Joint("base", "free", "world", "body"),)))


def corners(x: float, y: float, z: float) -> list[ff.contacts.Contact]:
    return [ff.contacts.point("body", (i * x, j * y, z), name=f"{i} {j}") for i in (-1, 1) for j in (-1, 1)]


def simulate(model, q, v, contacts, inputs=None, dt=DT, duration=1.0, **ground):
    options = {"gravity": ground.pop("gravity", None), "constraints": ground.pop("constraints", None)}
    options |= {"ground": ff.sim.Ground(**ground), "contacts": contacts}
    run = ff.sim.simulate(model, q, v, inputs, dt=dt, duration=duration, **options)
    assert run.failure is None
    assert run.ground["residual"].max() < 1e-8
    return run
