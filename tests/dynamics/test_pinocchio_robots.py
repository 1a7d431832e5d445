"""Robots of example-robot-data: every quantity beside Pinocchio, badly conditioned ones exactly."""

import freeflyer as ff
import mpmath as mp
import numpy as np
import pin_built
import pytest
from answers import Result, all_errors, stacked
from closeness import close, fresh, refused
from dataclasses import dataclass
from pathlib import Path
from peers import Peer, reference
from robots_on_disk import EXAMPLES, example, example_urdfs, needs_examples

TOLERANCE = 1e-9  # relative; measured: below 3e-14, but for solves with M
EPS = float(np.finfo(float).eps)
STATES = 5
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


def case(path: Path) -> Case:
    model = ff.load(path, base="free", inertias="as-is" if path.name == AS_IS else "strict")
    rng, p = fresh(len(path.name)), pin_built.built(model)
    v, a, tau = rng.standard_normal((3, STATES, model.nv))
    state = (ff.random_configuration(model, rng, STATES), v, a, tau)
    wrenches = {name: rng.standard_normal(6) for name in model.link_names[::4]}

    return Case(model, p, state, wrenches, stacked(reference(p, *x, wrenches) for x in zip(*state)))


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
    c = case(path)
    found, too_large = beyond(c, solve=path.name not in SINGULAR)
    quantities = 34 if path.name in SINGULAR else 41 + (c.peer.model.nv == c.model.nv)
    assert (sum(":" not in name for name in found), too_large) == (quantities, {})


@needs_examples
@pytest.mark.parametrize("name", SINGULAR)
def test_singular_mass_matrices_are_refused(name: str) -> None:
    c = case(example(name))
    q, v, _, tau = c.one(0)
    assert np.linalg.eigvalsh(c.reference["mass matrix"][0])[0] < 1e-12
    refused(ff.InputError, "singular", ff.inverse_mass_matrix, c.model, q)
    refused(ff.InputError, "singular", ff.forward_dynamics, c.model, q, v, tau)
    refused(ff.InputError, "singular", ff.forward_dynamics, c.model, *(c.state[k] for k in (0, 1, 3)))


@needs_examples
def test_badly_conditioned_robot_exactly() -> None:
    """iCub: Minv and forward dynamics against the exact solution with our own M, in 40 digits."""
    c = case(example("icub.urdf"))
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
