"""Random configurations lie within limits; limits beyond use count as none."""

import freeflyer as ff
import numpy as np
import pytest
from freeflyer.model.description import WORLD, Description, Inertia, Joint, Link
from seeds import fresh

UNIT = Inertia(1.0, np.zeros(3), np.eye(3))


def drawn(kind: str, low: float, high: float) -> np.ndarray:
    joint = Joint("joint", kind, WORLD, "link", lower=(low,), upper=(high,))
    model = ff.build(Description("one", (Link("link", UNIT),), (joint,)))
    return ff.random_configuration(model, fresh(0), 1000)[:, 0]


@pytest.mark.parametrize("wide", [np.inf, 1e16, 1e10, 1e5])
@pytest.mark.parametrize(("kind", "span"), [("revolute", np.pi), ("prismatic", 1.0)])
def test_wide_limits_count_as_none(kind: str, span: float, wide: float) -> None:
    q = drawn(kind, -wide, wide)
    assert -span <= q.min() < -0.9 * span
    assert 0.9 * span < q.max() <= span
    assert (q + 1e-3 != q).all()
    one_side = drawn(kind, -0.5, wide)
    assert -0.5 <= one_side.min() < 0.5 * span < one_side.max() <= span


@pytest.mark.parametrize(("low", "high", "reached"), [(5.0, np.inf, (5.0, 5.0 + np.pi)), (-1e16, -5.0, (-5.0 - np.pi, -5.0))])
def test_one_limit_beyond_half_a_turn_is_kept(low: float, high: float, reached: tuple[float, float]) -> None:
    q = drawn("revolute", low, high)
    assert reached[0] <= q.min() < q.max() <= reached[1]


def test_limits_of_many_turns_are_limits() -> None:
    q = drawn("revolute", 0.0, 1000.0)
    assert q.min() >= 0.0
    assert 900.0 < q.max() <= 1000.0


@pytest.mark.parametrize("base", ["free", "planar"])
def test_every_coordinate_is_drawn_within_its_limits(base: str) -> None:
    """Of joints of every kind, those of several coordinates among them."""
    kinds = ("universal", "cylindrical", "spherical", "helical", "planar")
    model = ff.robots.chain(10, kinds) if base == "planar" else ff.robots.chain(5, kinds, base=base)
    q = ff.random_configuration(model, fresh(base), 200)
    assert (np.ptp(q, axis=0) > 0.2).all()
    for joint in (j for j in model.joints if j.nq == j.nv):
        low, high = model.position_lower[joint.iv : joint.iv + joint.nv], model.position_upper[joint.iv : joint.iv + joint.nv]
        assert ((low <= q[:, joint.iq : joint.iq + joint.nq]) & (q[:, joint.iq : joint.iq + joint.nq] <= high)).all()
