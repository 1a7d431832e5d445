"""Refusals of closed models that name the fault; on_failure="nan": postures at which the linkage is singular give NaN."""

import freeflyer as ff
import numpy as np
import pytest
from closed_robots import robot, state
from closeness import fresh, refused
from freeflyer.linkages.partition import partition
from linkage_samples import BAR, shifted


def test_refusals_name_the_fault() -> None:
    model = robot("point")
    s = state(model, fresh(17), 0.02)
    open_q = s.q.copy()
    open_q[-1] += 1e-3
    refused(ff.errors.LinkageError, "loop 'loop0' is open", lambda: ff.mass_matrix(ff.close_loops(model), open_q))
    refused(ff.errors.LinkageError, "q\\[3\\]", lambda: ff.mass_matrix(ff.close_loops(model), np.array([s.q, s.q, s.q, open_q])))
    refused(ff.InputError, "nv = 9", lambda: ff.bias_forces(ff.close_loops(model), s.q, np.zeros(model.nv)))
    tied = robot("held")  # to the world: its hull cannot leave
    with pytest.raises(ff.errors.LinkageError, match="do not close again"):
        ff.integrate(ff.close_loops(tied), np.array(partition(tied).q), np.r_[50.0, np.zeros(len(partition(tied).independent) - 1)])
    with pytest.raises(ff.errors.LinkageError, match="does not keep the loops closed"):
        ff.linkages.constraint_multipliers(model, s.q, np.ones(model.nv), tau=np.zeros(model.nv))
    refused(ff.InputError, "either", ff.linkages.constraint_multipliers, model, s.q, np.zeros(model.nv))


CRANK, GROUND, START = 0.2, 0.5, 0.5
FLAT = (0, 3, 8, 21)


def parallelogram() -> ff.Model:
    """Its coupler stays parallel to the ground: angles (a, -a, a); at zero all bars lie in one line."""
    links = [ff.Link(n, BAR) for n in ("ground", "crank", "coupler", "follower")]
    joints = [ff.Joint("root", "fixed", "world", "ground"),
              ff.Joint("crank", "revolute", "ground", "crank", initial=(START,)),
              ff.Joint("coupler", "revolute", "crank", "coupler", shifted(CRANK), initial=(-START,)),
              ff.Joint("follower", "revolute", "ground", "follower", shifted(GROUND), initial=(START,))]  # fmt: skip
    sites = ff.Site("tip", "coupler", shifted(GROUND)), ff.Site("end", "follower", shifted(CRANK))
    loop = ff.Loop("loop", "tip", "end", (1, 1, 0, 0, 0, 0))
    return ff.build(ff.Description("parallelogram", tuple(links), tuple(joints), sites, (loop,), actuated=("crank",)))


def arrays(result) -> list[np.ndarray]:
    return list(result) if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("loads", [{}, {"gravity": (1.0, 0.0, -3.0)}, {"external": {"coupler": np.arange(6.0)}}])
@pytest.mark.parametrize("name", ["forward_dynamics", "inverse_mass_matrix", "forward_dynamics_derivatives"])
def test_flat_postures_give_nan(name, loads):
    model = parallelogram()
    angle = np.linspace(0.2, 1.0, 30)
    angle[list(FLAT)] = 0.0
    q = angle[:, None] * [1.0, -1.0, 1.0]
    u, tau = fresh(0).standard_normal((2, 30, 1))
    inputs, loads = ((q,), {}) if name == "inverse_mass_matrix" else ((q, u, tau), loads)
    call = getattr(ff, name)
    result = call(ff.close_loops(model), *inputs, on_failure="nan", **loads)
    failed = np.isin(np.arange(30), FLAT)
    refused(ff.FreeflyerError, "singular", lambda: call(ff.close_loops(model), *inputs, **loads))
    expected = call(ff.close_loops(model), *(x[~failed] for x in inputs), **loads)
    for x, y in zip(arrays(result), arrays(expected), strict=True):
        assert np.isnan(x[failed]).all()
        np.testing.assert_allclose(x[~failed], y, rtol=1e-12)
    one = call(ff.close_loops(model), *(x[0] for x in inputs), on_failure="nan", **loads)
    assert all(np.isnan(x).all() for x in arrays(one))
