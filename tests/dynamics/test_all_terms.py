"""`all_terms` against the functions for each quantity, on every joint kind, in three expressions, for one state and batches."""

import numpy as np
import pytest
from closeness import close
from seeds import fresh
from tangent import robots, state
from test_loads import EXACT, EXPRESSIONS, some_frames

import freeflyer as ff

NAMED = list(robots())
TERMS = ("mass_matrix", "bias_forces", "gravity_forces", "center_of_mass", "center_of_mass_jacobian", "centroidal_momentum_matrix",
         "centroidal_momentum", "centroidal_bias")  # fmt: skip
OF_FRAMES = {"velocities": ff.frame_velocity, "bias_accelerations": ff.frame_bias_acceleration}


def expected(model: ff.Model, q: np.ndarray, v: np.ndarray, names: tuple[str, ...], expressed: str, g: np.ndarray) -> dict:
    """Every term by its own function."""
    other, found = ff.with_gravity(model, g), {}
    for name in TERMS:
        arguments = (q, v) if name in ("bias_forces", "centroidal_momentum", "centroidal_bias") else (q,)
        found[name] = getattr(ff, name)(other, *arguments)
    found["poses"] = np.stack([ff.frame_pose(model, q, f) for f in names], axis=-3)
    found["jacobians"] = np.stack([ff.frame_jacobian(model, q, f, expressed=expressed) for f in names], axis=-3)
    for name, function in OF_FRAMES.items():
        found[name] = np.stack([function(model, q, v, f, expressed=expressed) for f in names], axis=-2)
    return found


@pytest.mark.parametrize("expressed", EXPRESSIONS)
@pytest.mark.parametrize("lead", [(), (1,), (19,), (2, 3)])
@pytest.mark.parametrize(("name", "model"), NAMED, ids=[name for name, _ in NAMED])
def test_terms_are_those_of_their_functions(name, model, lead, expressed):
    rng = fresh(name, len(lead))
    q, v, _ = state(model, rng, lead)
    names, g = some_frames(model, rng), rng.standard_normal(3)
    terms = ff.all_terms(model, q, v, frames=ff.frame_set(model, *names), expressed=expressed, gravity=g)
    for term, wanted in expected(model, q, v, names, expressed, g).items():
        close(getattr(terms, term), wanted, EXACT, what=term)


def test_an_earlier_result_is_filled():
    model = ff.robots.humanoid()
    feet = ff.frame_set(model, "left_sole", "right_sole")
    for lead in ((), (9,)):
        q, v, _ = state(model, fresh(), lead)
        alone = ff.all_terms(model, q, v, frames=feet)
        out = ff.all_terms(model, 0.0 * v[..., :1] + model.neutral, 0.0 * v, frames=feet)
        assert ff.all_terms(model, q, v, frames=feet, out=out) is out
        for field in AllTermsFields:
            assert np.array_equal(getattr(out, field), getattr(alone, field))


AllTermsFields = ff.AllTerms._fields


def test_without_frames():
    model = ff.robots.humanoid()
    q, v, _ = state(model, fresh())
    terms = ff.all_terms(model, q, v)
    assert terms.poses.shape == (0, 4, 4)
    assert terms.velocities.shape == terms.bias_accelerations.shape == (0, 6)
    assert terms.jacobians.shape == (0, 6, model.nv)
    close(terms.mass_matrix, ff.mass_matrix(model, q), EXACT)
