"""Singular states: refused by name, or NaN by on_failure="nan" with all others as if those were not there; nearly singular ones."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import fresh, refused

COUNT = 300
UPRIGHT = (0, 1, 7, 8, 40, 41, 42, 200, 299)  # states in which the gimbal's mass matrix is singular
SHAPES = [(COUNT,), (20, 15), (5,), ()]
NOTHING = ff.Inertia(0.0, np.zeros(3), np.zeros((3, 3)))


def gimbal() -> ff.Model:
    """A massless ring turns about z, a rod in it about x: no inertia about z where the rod is upright."""
    heavy = ff.Inertia(1.0, np.array([0.0, 0.0, 0.5]), np.diag([0.1, 0.1, 0.0]))
    z, x, up = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]), np.eye(4)
    joints = (ff.Joint("turn", "revolute", "world", "ring", up, z), ff.Joint("tilt", "revolute", "ring", "rod", up, x))
    return ff.build(ff.Description("gimbal", (ff.Link("ring", NOTHING), ff.Link("rod", heavy)), joints))


def solves(model: ff.Model, W: np.ndarray) -> dict:
    frames, g = ff.frame_set(model, "rod"), np.array([0.5, 0.0, -3.0])
    wrenches = {"rod": W[..., 0, :]}
    return {
        "forward_dynamics": lambda q, v, t, **o: ff.forward_dynamics(model, q, v, t, **o),
        "with wrenches": lambda q, v, t, **o: ff.forward_dynamics(model, q, v, t, external=(frames, W), expressed="world", **o),
        "under gravity": lambda q, v, t, **o: ff.forward_dynamics(model, q, v, t, gravity=g, **o),
        "inverse_mass_matrix": lambda q, v, t, **o: ff.inverse_mass_matrix(model, q, **o),
        "derivatives": lambda q, v, t, **o: ff.forward_dynamics_derivatives(model, q, v, t, **o),
        "derivatives with wrenches": lambda q, v, t, **o: ff.forward_dynamics_derivatives(model, q, v, t, external=wrenches, **o),
    }


def arrays(result) -> list[np.ndarray]:
    return list(result) if isinstance(result, tuple) else [result]


def sample(shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(q, v, tau, W, upright) of so many states, some of them singular."""
    rng, count = fresh(3), int(np.prod(shape))
    q, v, tau, W = rng.uniform(0.4, 1.2, (count, 2)), *rng.standard_normal((2, count, 2)), rng.standard_normal((count, 1, 6))
    upright = np.isin(np.arange(count), UPRIGHT)
    q[upright, 1] = 0.0
    return tuple(x.reshape((*shape, *x.shape[1:])) for x in (q, v, tau, W, upright))


@pytest.mark.parametrize("spread", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", solves(gimbal(), np.zeros((1, 6))))
def test_failed_states_are_nan(name, shape, spread, request):
    if spread:
        request.getfixturevalue("threads")(2)
    model, (q, v, tau, W, upright) = gimbal(), sample(shape)
    if name.startswith("derivatives"):  # which rounding lets pass: numbers without end fail, too
        v[upright] = 1e200
    result = solves(model, W)[name](q, v, tau, on_failure="nan")
    for x in arrays(result):
        assert np.isnan(x[upright]).all()
        assert np.isfinite(x[~upright]).all()
    assert upright.any()
    refused(ff.InputError, r"singular|beyond floating-point", lambda: solves(model, W)[name](q, v, tau))
    fine = ~upright
    if fine.any():
        expected = solves(model, W[fine])[name](q[fine], v[fine], tau[fine])
        for x, y in zip(arrays(result), arrays(expected), strict=True):
            assert np.abs(x[fine] - y).max() <= 1e-12 * np.abs(y).max()


def test_given_memory_shared_coordinates_and_wrong_input():
    model, (q, v, tau, _, upright) = gimbal(), sample((COUNT,))
    q, v, tau = q[~upright], v[~upright], tau[~upright]
    a = ff.forward_dynamics(model, q, v, tau, on_failure="nan")
    np.testing.assert_array_equal(a, ff.forward_dynamics(model, q, v, tau))
    alone = ff.forward_dynamics(model, q[0], v[0], tau[0], on_failure="nan")
    np.testing.assert_array_equal(alone, ff.forward_dynamics(model, q[0], v[0], tau[0]))
    out = np.empty_like(a)
    assert ff.forward_dynamics(model, q, v, tau, on_failure="nan", out=out) is out
    np.testing.assert_array_equal(out, a)
    v[3, 1] = 1e200
    D = ff.forward_dynamics_derivatives(model, q, v, tau, on_failure="nan")
    given = ff.ForwardDynamicsDerivatives(*(np.empty_like(x) for x in arrays(D)))
    again = ff.forward_dynamics_derivatives(model, q, v, tau, on_failure="nan", out=given)
    assert again is given
    assert np.flatnonzero(np.isnan(given.dq).any(axis=(-2, -1))).tolist() == [3]
    np.testing.assert_array_equal(given.dq, D.dq)
    # Of mimic joints, which go another way: a leaf without mass is singular in all states, one with mass in none
    for mass in (0.0, 1.0):
        inertia = ff.Inertia(mass, np.zeros(3), 0.1 * mass * np.eye(3))
        rod = ff.Inertia(1.0, np.array([0.0, 0.0, 0.5]), 0.1 * np.eye(3))
        links = tuple(ff.Link(name, x) for name, x in (("rod", rod), ("wheel", rod), ("leaf", inertia)))
        joints = (ff.Joint("a", "revolute", "world", "rod"),
                  ff.Joint("b", "revolute", "rod", "wheel", mimic=ff.Mimic("a", 0.5)),
                  ff.Joint("c", "revolute", "wheel", "leaf"))  # fmt: skip
        model = ff.build(ff.Description("mimics", links, joints))
        assert model.shared_coordinates
        (q, v, tau), one = fresh(0).standard_normal((3, 20, model.nv)), (..., 0, slice(None))
        for result in (ff.forward_dynamics(model, q, v, tau, on_failure="nan"),
                       ff.inverse_mass_matrix(model, q, on_failure="nan"),
                       ff.forward_dynamics(model, q[one], v[one], tau[one], on_failure="nan")):  # fmt: skip
            assert (np.isnan(result) == (mass == 0.0)).all()
    model, (q, v, tau, _, _) = gimbal(), sample((COUNT,))
    v[9, 1] = np.nan
    for call in (ff.forward_dynamics, ff.forward_dynamics_derivatives):
        refused(ff.InputError, r"v\[9, 1\]", call, model, q, v, tau, on_failure="nan")
        refused(ff.InputError, "shape", call, model, q[:, :1], v, tau, on_failure="nan")
        refused(ff.InputError, "on_failure must be one of 'raise', 'nan', got False", call, model, q, v, tau, on_failure=False)


TOGETHER = r"is singular .*'j[01]', moving together with 'j[01]', moves no inertia"


def point_arm(lengths, slide=False):
    """Massless links in a row, turning about z (the first one sliding along x if `slide`), with a unit mass at the tip."""
    links, joints, parent = [], [], "world"
    for k, length in enumerate(lengths):
        tip = ff.Inertia(1.0, np.array([length, 0.0, 0.0]), np.zeros((3, 3)))
        links.append(ff.Link(f"l{k}", tip if k == len(lengths) - 1 else NOTHING))
        placement = np.eye(4)
        placement[0, 3] = lengths[k - 1] if k else 0.0
        kind, axis = ("prismatic", (1, 0, 0)) if slide and not k else ("revolute", (0, 0, 1))
        joints.append(ff.Joint(f"j{k}", kind, parent, f"l{k}", axis=axis, placement=placement))
        parent = f"l{k}"
    return ff.build(ff.Description("point arm", tuple(links), tuple(joints)))


CALLS = {"inverse_mass_matrix": lambda arm, q: ff.inverse_mass_matrix(arm, q),
         "forward_dynamics": lambda arm, q: ff.forward_dynamics(arm, q, q - 1.0, q + 2.0),
         "forward_dynamics_derivatives": lambda arm, q: ff.forward_dynamics_derivatives(arm, q, q - 1.0, q + 2.0)}  # fmt: skip


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("turn", [0.0, 0.3, 2.0, np.pi / 2])
@pytest.mark.parametrize("elbow", [0.0, np.pi])
@pytest.mark.parametrize("call", CALLS)
def test_straight_arms_are_singular(call, scale, turn, elbow):
    """A point in the plane has two directions to move in: a straight arm gives it one, whatever the first joint does."""
    arm, q = point_arm((0.3 * scale, 0.7 * scale)), np.array([turn, elbow])
    for state in (q, np.stack([[turn, 1.0], q])):
        refused(ff.InputError, TOGETHER, CALLS[call], arm, state)


@pytest.mark.parametrize("elbow", [1e-4, 1e-3, 0.1, 1.5, np.pi - 1e-3])
def test_nearly_straight_arms_are_not(elbow):
    """The mass matrix of two columns of a point's Jacobian is small, not zero."""
    arm, q = point_arm((0.3, 0.7)), np.array([0.4, elbow])
    M = ff.mass_matrix(arm, q)
    assert np.abs(ff.inverse_mass_matrix(arm, q) @ M - np.eye(2)).max() < 1e-14 * np.linalg.cond(M)


@pytest.mark.parametrize("slide", [False, True])
@pytest.mark.parametrize("call", CALLS)
def test_a_point_with_three_joints_in_the_plane_is_singular_everywhere(call, slide):
    arm = point_arm((0.3, 0.7, 0.2), slide)
    for q in fresh(1).uniform(0.1, 2.0, (20, 3)) * fresh(2).choice([-1.0, 1.0], (20, 3)):
        refused(ff.InputError, "is singular", CALLS[call], arm, q)
