"""Every quantity beside Pinocchio: robots of example-robot-data, badly conditioned ones exactly; joint kinds and mixed trees."""

import freeflyer as ff
import mpmath as mp
import numpy as np
import pytest
from answers import Result, all_errors, stacked, too_large
from closeness import EPS, close, fresh, refused
from dataclasses import dataclass, replace
from freeflyer.model import slides
from freeflyer.model.description import JOINT_SIZES
from pathlib import Path
from peers import Peer, built, reference
from random_robots import BASES, KINDS, random_description, random_robot
from robots_on_disk import EXAMPLES, example, example_urdfs, needs_examples
from tangent import MOVING, state

TOLERANCE = 1e-9  # relative; measured: below 3e-14, but for solves with M
STATES = 4
AS_IS = "romeo_laas_small.urdf"  # three of its inertias have a negative eigenvalue
SINGULAR = ("romeo.urdf", AS_IS)  # joints of theirs move massless links
NOT_ROBOTS = ("alex_psyonic_hands.urdf", "ur3.urdf")  # refused: model/test_readers_urdf.py
SOLVES = ("inverse mass matrix", "forward dynamics")
COMPARED = [path for path in example_urdfs() if path.name not in NOT_ROBOTS]


@dataclass(frozen=True)
class Case:
    """One robot in both libraries; states and references have a leading axis over the states."""

    model: ff.Model
    peer: Peer
    state: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
    wrenches: dict[str, np.ndarray]
    reference: Result

    def one(self, k: int) -> tuple[np.ndarray, ...]:
        return tuple(x[k] for x in self.state)


def case(model: ff.Model, seed: int) -> Case:
    rng, p = fresh(seed), built(model)
    at = state(model, rng, (STATES,), 3)
    wrenches = {name: rng.standard_normal(6) for name in list(p.links)[::3]}
    return Case(model, p, at, wrenches, stacked(reference(p, *x, wrenches) for x in zip(*at)))


def read(path: Path) -> Case:
    return case(ff.load(path, base="free", inertias="as-is" if path.name == AS_IS else "strict"), len(path.name))


def beyond(c: Case, solve: bool = True) -> tuple[dict[str, float], dict[str, float]]:
    """(relative errors, those beyond their tolerance)."""
    found, solves = all_errors(c.model, c.state, c.peer.links, c.wrenches, c.reference, solve), max(TOLERANCE, EPS * condition(c))
    return found, {
        k: e for k, e in found.items() if not e <= (solves if k.removeprefix("one: ").startswith(SOLVES) else TOLERANCE)
    }


def condition(c: Case) -> float:
    return float(np.linalg.cond(c.reference["mass matrix"]).max())


@needs_examples
@pytest.mark.parametrize("path", COMPARED, ids=lambda p: str(p.relative_to(EXAMPLES)))
def test_agrees_with_pinocchio(path: Path, poisoned: None) -> None:
    c = read(path)
    found, too_large = beyond(c, solve=path.name not in SINGULAR)
    quantities = 29 if path.name in SINGULAR else 36
    assert (sum(":" not in name for name in found), too_large) == (quantities, {})


@needs_examples
@pytest.mark.parametrize("name", SINGULAR)
def test_singular_mass_matrices_are_refused(name: str) -> None:
    c = read(example(name))
    q, v, _, tau = c.one(0)
    assert np.linalg.eigvalsh(c.reference["mass matrix"][0])[0] < 1e-12
    refused(ff.InputError, "singular", ff.inverse_mass_matrix, c.model, q)
    refused(ff.InputError, "singular", ff.forward_dynamics, c.model, q, v, tau)
    refused(ff.InputError, "singular", ff.forward_dynamics, c.model, *(c.state[k] for k in (0, 1, 3)))


@needs_examples
def test_badly_conditioned_robot_exactly() -> None:
    """iCub: Minv and forward dynamics against the exact solution with our own M, in 40 digits."""
    c = read(example("icub.urdf"))
    k = int(np.argmax(np.linalg.cond(c.reference["mass matrix"])))
    q, v, _, tau = c.one(k)
    M, bias = ff.mass_matrix(c.model, q), ff.bias_forces(c.model, q, v)
    size = np.sqrt(np.diag(M))
    allowed = 100 * EPS * float(np.linalg.cond(M / np.outer(size, size)))
    assert allowed < 1e-3 * 100 * EPS * np.linalg.cond(M)
    with mp.workdps(40):
        inverse = mp.inverse(mp.matrix(M.tolist()))
        a = inverse * (mp.matrix(tau.tolist()) - mp.matrix(bias.tolist()))
        exact, a = np.array(inverse.tolist(), dtype=float), np.array(a.tolist(), dtype=float)[:, 0]
    close(ff.inverse_mass_matrix(c.model, q), exact, allowed, 2, least=0.0)
    close(ff.forward_dynamics(c.model, q, v, tau), a, allowed, 1, least=0.0)


def compare(model: ff.Model, seed: int) -> dict[str, float]:
    """Relative errors against Pinocchio at random states."""
    c = case(model, seed)
    found = all_errors(model, c.state, c.peer.links, c.wrenches, c.reference)
    assert len(found) > 60
    return found


@pytest.mark.peers
@pytest.mark.parametrize("base", ["free", "fixed"])
@pytest.mark.parametrize("kind", MOVING)
def test_kind_agrees_with_pinocchio(kind: str, base: str) -> None:
    model = random_robot(fresh(KINDS.index(kind)), 5, (kind,), base, mimics=0.0)
    assert (model.nv, too_large(compare(model, 1))) == (5 * JOINT_SIZES[kind][1] + 6 * (base == "free"), {})


@pytest.mark.parametrize("kind", MOVING)
def test_lengths_are_the_coordinates_that_turn_nothing(kind: str) -> None:
    model = random_robot(fresh(KINDS.index(kind)), 5, (kind,), mimics=0.0)
    q = ff.random_configuration(model, fresh(1))
    turned = sum(np.linalg.norm(ff.frame_jacobian(model, q, name)[3:], axis=0) for name in model.link_names)
    assert np.array_equal(slides(model), turned < 1e-9)


@pytest.mark.peers
@pytest.mark.parametrize("seed", range(24))
def test_mixed_trees_agree(seed: int) -> None:
    rng = fresh(100 + seed)
    model = random_robot(rng, int(rng.integers(4, 14)), KINDS, BASES[seed % 4], mimics=0.4)
    assert too_large(compare(model, seed)) == {}


@pytest.mark.peers
@pytest.mark.parametrize("kind", ["revolute", "prismatic", "helical", "cylindrical", "planar", "universal"])
def test_axes_near_the_poles(kind: str) -> None:
    """z and -z themselves, and all but: the robot's axes are turned to z, where digits could be lost."""
    rng = fresh(4)
    for tilt in (0.0, 1e-15, 1e-12, 1e-9, 1e-7, 1e-6, 1.5e-6, 3e-6, 1e-5, 1e-4, 1e-3, 1e-2):
        if kind == "planar" and 0.0 < tilt < 3e-6:
            continue
        for z in (1.0, -1.0):
            d = random_description(rng, 3, (kind,), mimics=0.0)
            joint = d.joint("joint_2")
            axis = np.array([0.6 * tilt, -0.8 * tilt, z])
            model = ff.load(d.with_joint(replace(joint, axis=axis, axis2=np.array([0.3, 1.0, 0.0]))), base=None)
            found = compare(model, 4)
            assert too_large(found) == {}, f"axis {axis}"
            assert found["pose"] < 1e-13


def test_whole_turns_change_nothing() -> None:
    model = ff.robots.chain(4, "continuous", base="free")
    rng = fresh(0)
    q, v = ff.random_configuration(model, rng), rng.standard_normal(model.nv)
    far = q.copy()
    far[7:] += 2.0 * np.pi * np.array([1, -3, 100, -1000])  # each turn costs 2e-16 of the angle: 1e-12 in all
    np.testing.assert_allclose(ff.bias_forces(model, far, v), ff.bias_forces(model, q, v), atol=1e-10)
    assert ff.integrate(model, far, v)[7:] == pytest.approx(far[7:] + v[6:], abs=1e-12)
