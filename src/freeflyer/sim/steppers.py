"""Integrators by name: a motion over a stretch of time, by schemes of fixed steps on the group or with control of the error.

    "semi-implicit", "explicit", "rk4": one step of freeflyer.step
    "rk45", "dop853": explicit Runge-Kutta methods of order 5 and 8 that choose their steps
    "radau", "bdf", "lsoda": implicit methods that choose their steps, for stiff problems

The latter are SciPy's, in exponential coordinates about where the step begins: q = q0 (+) x, x' = J(x)^-1 v with J the derivative
of q0 (+) x by x. So quaternions stay at unit length; after a quarter of a turn the coordinates begin anew."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from freeflyer.dynamics.integrators import SCHEMES, steps_of
from freeflyer.dynamics.manifold import integrate, integrate_derivatives, quaternion_blocks
from freeflyer.errors import InputError, StepError, format_value
from freeflyer.model.inputs import number
from freeflyer.model.model import Model
from freeflyer.tolerances import QUARTER_TURN

Field = Callable[[float, np.ndarray, np.ndarray], np.ndarray]  # (t, q, v) -> accelerations
ADAPTIVE = {"rk45": "RK45", "dop853": "DOP853", "radau": "Radau", "bdf": "BDF", "lsoda": "LSODA"}
MOST_EVALUATIONS = 200_000  # of one stretch: what does not end by then does not converge


@dataclass(frozen=True)
class Stepper:
    """integrator: a name of this module. rtol, atol: allowed error of a step, relative and in m, rad, m/s and rad/s, of those that
    choose their steps."""

    integrator: str = "rk4"
    rtol: float = 1e-8
    atol: float = 1e-10

    @property
    def fixed(self) -> bool:
        """Whether one step is taken every dt."""
        return self.integrator in SCHEMES

    def advance(self, model: Model, a: Field, t: float, q: np.ndarray, v: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
        """(q, v) at t + h."""
        if self.fixed:
            found = _fixed(self.integrator, model, a, t, q, v, h)
        else:
            found = self._adaptive(model, a, t, q, v, h)
        if not (np.isfinite(found[0]).all() and np.isfinite(found[1]).all()):
            raise StepError(
                f"a step of {h:g} s does not end in finite numbers: take a shorter dt, or an integrator that chooses its steps"
            )
        return found

    def _adaptive(self, model: Model, a: Field, t: float, q: np.ndarray, v: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
        from scipy.integrate import solve_ivp

        if h < 64.0 * np.spacing(max(abs(t), abs(t + h))):  # below the resolution of these methods
            return _fixed("explicit", model, a, t, q, v, h)
        n, calls, end = model.nv, 0, t + h
        turns = np.concatenate([np.zeros(0, int), *(np.arange(at.stop - 3, at.stop) for at, _ in quaternion_blocks(model))])

        def rates(s: float, y: np.ndarray) -> np.ndarray:
            nonlocal calls
            calls += 1
            if calls > MOST_EVALUATIONS:
                raise StepError(
                    f"{MOST_EVALUATIONS} evaluations are not enough for {h:g} s: allow larger errors (rtol, atol), or take an "
                    'implicit integrator ("radau")'
                )
            x, u = y[:n], y[n:]
            return np.concatenate([coordinate_rates(model, q, x, u), a(s, integrate(model, q, x), u)])

        def turned(s: float, y: np.ndarray) -> float:
            return float(np.abs(y[turns]).max(initial=0.0)) - QUARTER_TURN

        turned.terminal = True  # type: ignore[attr-defined]
        while t < end:
            start = np.concatenate([np.zeros(n), v])
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what they warn of is in the message
                found = solve_ivp(rates, (t, end), start, ADAPTIVE[self.integrator], rtol=self.rtol, atol=self.atol,
                                  events=turned if len(turns) else None)  # fmt: skip
            if not found.success:
                raise StepError(f"{self.integrator!r} ends before {h:g} s are over: {found.message}")
            t, y = float(found.t[-1]), found.y[:, -1]
            q, v = integrate(model, q, y[:n]), y[n:].copy()
        return q, v


def coordinate_rates(model: Model, q: np.ndarray, x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """x' (nv,) with which q (+) x moves at v (nv,)."""
    if not quaternion_blocks(model.tree):
        return v
    return np.linalg.solve(integrate_derivatives(model, q, x).ddv, v)


def stepper_of(integrator: object, rtol: Any, atol: Any) -> Stepper:
    """InputError for other names, and for tolerances out of range."""
    if not isinstance(integrator, str) or not (integrator in SCHEMES or integrator in ADAPTIVE):
        known = ", ".join(repr(name) for name in (*SCHEMES, *ADAPTIVE))
        raise InputError(f"integrator must be one of {known}, got {format_value(integrator)}", integrator=integrator)
    return Stepper(integrator, number("rtol", rtol, 1e-14, 1.0), number("atol", atol, 1e-14, 1.0))


def _fixed(name: str, model: Model, a: Field, t: float, q: np.ndarray, v: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    with np.errstate(over="ignore", invalid="ignore"):
        return SCHEMES[name](lambda x, y, c: a(t + c * h, x, y), steps_of(model, SCHEMES[name]), q, v, h)
