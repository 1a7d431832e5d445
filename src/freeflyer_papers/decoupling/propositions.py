"""Propositions and equations of chapters 2 and 3 as residuals on robots made by code; times of a call."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import freeflyer as ff
from freeflyer import decoupling
from freeflyer.analysis.timing.algorithms import default_robots
from freeflyer.analysis.timing.results import time_interleaved
from freeflyer.decoupling.base import FORMS, Form
from freeflyer.spatial import se3

STATES, BOUND = 5, 1e-10
ROBOTS = ("space_manipulator", "aerial_manipulator", "quadruped", "humanoid")


class Statement(namedtuple("Statement", "source text residual robot")):
    """A statement of the paper, its largest residual relative to the size of its terms, and where."""


def statements() -> tuple[Statement, ...]:
    """Every statement, at random states of every robot."""
    worst: dict[tuple[str, str], tuple[float, str]] = {}
    rng = np.random.default_rng(4)
    for model in map(ff.robots.make, ROBOTS):
        for _ in range(STATES):
            q = ff.integrate(model, model.neutral, rng.standard_normal(model.nv))
            for source, text, residual in residuals(model, q, rng.standard_normal(model.nv), rng):
                if residual >= worst.get((source, text), (-1.0, ""))[0]:
                    worst[source, text] = residual, model.name
    return tuple(Statement(*key, *value) for key, value in worst.items())


def residuals(model: ff.Model, q: np.ndarray, v: np.ndarray, rng: np.random.Generator) -> Iterator[tuple[str, str, float]]:
    """(source, statement, residual) at one state."""
    yield from _lie(rng)
    M, forces = ff.mass_matrix(model, q), ff.bias_forces(model, q, v) - ff.gravity_forces(model, q)
    C: dict[Form, np.ndarray] = {form: decoupling.coriolis_matrix(model, q, v, form) for form in FORMS}
    size = np.abs(C["hamel"]) @ np.abs(v)
    names: dict[Form, str] = {"hamel": "Hamel (3.39)", "newton-euler": "Newton-Euler (3.41)",
        "passive": "particles (not in the paper)"}  # fmt: skip
    for form, name in names.items():
        yield "Proposition 3.1.1", f"C v of {name} is bias - gravity", _relative(C[form] @ v, forces, size)
    rate = C["passive"] + C["passive"].T
    E = C["newton-euler"]
    yield "(1.6), (3.82)", "Mdot = C + C^T, Newton-Euler form", _relative(E + E.T, rate, E)
    found = decoupling.constants_of_motion(model, q, v)
    for k, name in enumerate(found.frames[:2]):
        text = f"a_cb^T h_b = a_ib^T h_b, c: {name.replace('_', ' ')}"
        yield "Proposition 3.2.1", text, _relative(found.drifts[k], 0.0, found.drifts[-1])
    yield from _decoupling(model, q, v, M, C, rate, rng)
    yield from _external(model, q, v, M)


def _relative(found: np.ndarray, expected: np.ndarray | float, size: np.ndarray) -> float:
    return float(np.abs(found - expected).max(initial=0.0) / max(float(np.abs(size).max(initial=0.0)), 1e-300))


def _lie(rng: np.random.Generator) -> Iterator[tuple[str, str, float]]:
    X, Y, a, c = se3.exp(rng.standard_normal(6)), se3.exp(rng.standard_normal(6)), *rng.standard_normal((2, 6))
    A, B = se3.adjoint(X), se3.adjoint(Y)
    yield "Lemma 2.3", "A_xz = A_xy A_yz", _relative(se3.adjoint(X @ Y), A @ B, A @ B)
    yield "Lemma 2.6", "A_xy^-1 = A_yx", _relative(A @ se3.adjoint(se3.inverse(X)), np.eye(6), A)
    yield "Lemmas 2.7, 2.8", "a_x nu_y = -a_y nu_x", _relative(se3.ad(a) @ c, -se3.ad(c) @ a, se3.ad(a))
    yield "Lemma 2.9", "a_(A nu) = A a_nu A^-1", _relative(se3.ad(A @ a) @ A, A @ se3.ad(a), A @ se3.ad(a))
    yield "Lemma 2.10", "A nu = vee(H hat(nu) H^-1)", _relative(se3.vee(X @ se3.hat(a) @ se3.inverse(X)), A @ a, A @ a)
    bracket = se3.vee(se3.hat(a) @ se3.hat(c) - se3.hat(c) @ se3.hat(a))
    yield "Lemma 2.11", "a nu = vee([hat(nu_1), hat(nu_2)])", _relative(bracket, se3.ad(a) @ c, se3.ad(a) @ c)


def _decoupling(model: ff.Model, q: np.ndarray, v: np.ndarray, M: np.ndarray, C: dict[Form, np.ndarray], rate: np.ndarray,
                rng: np.random.Generator) -> Iterator[tuple[str, str, float]]:  # fmt: skip
    """(A.2)-(A.5) by whole matrices, and Propositions 3.3.1 and 3.3.2 about their blocks."""
    n = model.nv - 6
    x = decoupling.Map(np.eye(6) + 0.1 * rng.standard_normal((6, 6)), rng.standard_normal((6, 6)))
    y = decoupling.Map(np.eye(n) + 0.1 * rng.standard_normal((n, n)) / n**0.5, rng.standard_normal((n, n)))
    sources: dict[Form, str] = {"hamel": "Proposition 3.3.1", "newton-euler": "Proposition 3.3.2, C (3.82)",
        "passive": "not in the paper: as 3.3.2, C of particles"}  # fmt: skip
    for form, source in sources.items():
        d = decoupling.decouple(model, q, v, T_x=x, T_y=y, form=form)
        inverse = np.linalg.inv(d.T)
        direct = inverse.T @ C[form] @ inverse - d.mass_matrix @ d.T_rate @ inverse
        M_T = inverse.T @ M @ inverse
        yield source, "M_T is block-diagonal, T^-T M T^-1", _relative(M_T, d.mass_matrix, M_T)
        yield source, "C_T = T^-T C T^-1 - M_T Tdot T^-1", _relative(direct, d.coriolis_matrix, direct)
        if form == "hamel":
            yield source, "C_xy = 0", _relative(direct[:6, 6:], 0.0, direct)
        else:
            yield source, "C_xy = -C_yx^T", _relative(d.C_xy, -d.C_yx.T, d.C_yx)
            mass_rate = -(z := inverse.T @ d.T_rate.T @ d.mass_matrix) - z.T + inverse.T @ rate @ inverse
            yield source, "Mdot_T = C_T + C_T^T", _relative(d.coriolis_matrix + d.coriolis_matrix.T, mass_rate, direct)
        momentum = decoupling.invariance(model, q, v, T_x=decoupling.momentum_map(model, q, v), form=form)
        other = decoupling.invariance(model, q, v, T_x=decoupling.momentum_map(model, q, v, frame=model.joints[0].child), form=form)
        size = np.abs(other.residual)
        yield source, "v_x a momentum: C_x v_x + C_xy v_y = 0", _relative(momentum.residual, 0.0, size)


def _external(model: ff.Model, q: np.ndarray, v: np.ndarray, M: np.ndarray) -> Iterator[tuple[str, str, float]]:
    d = decoupling.external_internal(model, q, model.frame_names[-1], rows=(0, 1, 2))
    size = d.transform @ np.linalg.inv(M) @ d.transform.T
    expected = np.zeros_like(size)
    expected[:6, :6], expected[6:, 6:] = np.linalg.inv(d.M_e), np.linalg.inv(d.M_i)
    yield "(3.93), (3.96)", "I M^-1 I^T = diag(M_e, M_i)^-1", _relative(size, expected, size)
    yield "(3.96)", "I I^# = 1", _relative(d.transform @ d.inverse, np.eye(9), d.transform)
    external = np.concatenate([decoupling.locked_velocity(model, q, v), np.zeros(model.nv - 6)])
    whole, *parts = (float(ff.kinetic_energy(model, q, x)) for x in (v, external, v - external))
    yield "section 3.3.4", "energies of external and internal motion add up", abs(whole - sum(parts)) / whole


BLOCKS, BLOCK_SECONDS, TIME_BOUND = 21, 4e-3, 2.0


class Time(namedtuple("Time", "robot nv mass coriolis coriolis_hamel decoupled decoupled_passive")):
    """Medians, us."""

    @property
    def ratio(self) -> float:
        """decouple over mass_matrix + coriolis_matrix."""
        return self.decoupled / (self.mass + self.coriolis)


def times() -> tuple[Time, ...]:
    """TALOS, where example-robot-data is installed, and robots made by code."""
    first = next(iter(default_robots()))
    models = [m for m in (first, ff.robots.make("humanoid"), ff.robots.make("space_manipulator")) if m.joints[0].kind == "free"]
    rng, made = np.random.default_rng(7), []
    for model in models:
        q, v = ff.integrate(model, model.neutral, rng.standard_normal(model.nv)), rng.standard_normal(model.nv)
        calls: tuple[Callable[[], object], ...] = (partial(ff.mass_matrix, model, q), partial(ff.coriolis_matrix, model, q, v),
            partial(ff.coriolis_matrix, model, q, v, "hamel"), partial(decoupling.decouple, model, q, v),
            partial(decoupling.decouple, model, q, v, form="passive"))  # fmt: skip
        made.append(Time(model.name, model.nv, *time_interleaved(calls, BLOCKS, BLOCK_SECONDS)))
    return tuple(made)
