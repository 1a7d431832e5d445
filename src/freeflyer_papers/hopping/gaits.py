"""Periodic gaits: the map from apex to apex, its fixed point by Newton's method, and Floquet multipliers."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

import freeflyer as ff
from freeflyer.model import public
from freeflyer.progress import no_progress
from freeflyer_papers.hopping.batch import advance_all, ends_of
from freeflyer_papers.hopping.settings import changed, chosen_hopper, legs, make_records, one_start
from freeflyer_papers.kernels import layout as L

STEP = 1e-6  # of central differences, m, rad, m/s, rad/s: the map has bends, where the foot bounces once more, some 1e-5 apart
ACCURACY = 1e-11  # of the integrator's steps
CLOSED = 1e-8  # what a fixed point may miss
MOST_STEPS = 20  # of Newton's method
LONGEST = 3.0  # s, from apex to apex


@dataclass(frozen=True, eq=False)
class HopGait:
    """Periodic gait: the state at its apex, which repeats itself but for the place along x.

    Attributes:
        q, v: (nv,) arrays at the apex, with q[0] = 0.
        period: Time from apex to apex, s.
        stride: Along x, m.
        matrix: (2 nv - 2, 2 nv - 2) array, derivative of the map from apex to apex, of the section's coordinates: z, angle, joints;
            then v without the one along z.
        multipliers: (2 nv - 2,) complex array, its eigenvalues (Floquet multipliers), the largest first. Below 1 in size: the gait
            is stable.
        residual: Difference of the apex after one period, m, rad, m/s or rad/s."""

    q: np.ndarray
    v: np.ndarray
    period: float
    stride: float
    matrix: np.ndarray
    multipliers: np.ndarray
    residual: float

    @property
    def stable(self) -> bool:
        """Whether all multipliers are below 1 in size."""
        return bool(np.abs(self.multipliers).max() < 1.0)


class GaitError(ff.FreeflyerError, ArithmeticError):
    """No gait was found; `q`, `v` is where the search ended."""


class ApexMap(namedtuple("ApexMap", "model settings")):
    """The map from apex to apex, of states (n, 2 nv - 2) of the section."""

    def lift(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(q, v) of section states: x is zero, and the trunk rises as the centre of mass takes to stay at its height."""
        nv = self.model.nv
        q, v = np.zeros((len(s), nv)), np.zeros((len(s), nv))
        q[:, 1:], v[:, 0], v[:, 2:] = s[:, : nv - 1], s[:, nv - 1], s[:, nv:]
        rise = legs(self.model, q).center_jacobian[:, 1]
        v[:, 1] = -np.einsum("kj,kj->k", rise, v) / rise[:, 1]
        return q, v

    def section(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.concatenate([q[:, 1:], v[:, :1], v[:, 2:]], axis=1)

    def __call__(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(section states at the next apex, NaN where there is none; times; places along x)."""
        q, v = self.lift(s)
        records = make_records(self.model, self.settings, q, v, LONGEST)
        records[:, L.PHASE] = L.FALLING  # the apex where a run begins is not counted
        ends = ends_of(self.model, advance_all(self.model, self.settings, records, None, no_progress, "apexes"), (len(s),))
        reached = np.where(ends.outcome == "counted", 1.0, np.nan)
        return self.section(ends.q, ends.v) * reached[:, None], ends.t * reached, ends.q[:, 0] * reached

    def derivative(self, s: np.ndarray) -> np.ndarray:
        """By central differences, all runs in one batch."""
        n = len(s)
        shifts = STEP * np.eye(n)
        there = self(np.concatenate([s + shifts, s - shifts]))[0]
        found: np.ndarray = ((there[:n] - there[n:]) / (2.0 * STEP)).T
        return found


@public
def hop_gait(experiment: str, *, q: ArrayLike | None = None, v: ArrayLike | None = None, model: ff.Model | None = None,
             **changes: ArrayLike | str) -> HopGait:  # fmt: skip
    """Periodic gait near a start, stable or not, by Newton's method on the map from apex to apex.

    The section is the apex of the centre of mass in flight. The robot's 2 nv numbers therefore lose the place along x and the
    trunk's speed along z. Derivatives are central differences of runs with a tolerance of 1e-11.

    Args:
        experiment: Whose settings hold, as in `hop`.
        q, v: (nv,) arrays, near an apex of the gait; by default the experiment's start.
        model: See `hop`.
        **changes: Settings of `HopSettings`.
    Raises: GaitError if Newton's method does not converge, or a run on its way has no next apex."""
    chosen, robot = chosen_hopper(experiment, model)
    settings = changed(chosen.settings, {"tolerance": ACCURACY} | changes | {"apexes": 1})
    q0, v0 = one_start(chosen, robot, q, v)
    maps = ApexMap(robot, settings)
    s = maps.section(q0[None], v0[None])
    miss = np.zeros_like(s)
    for _ in range(MOST_STEPS):
        there, time, place = maps(s)
        miss = there - s
        if not np.isfinite(miss).all():
            raise _failed(maps, s, "the run from there has no next apex")
        D = maps.derivative(s[0])
        if np.abs(miss).max() < CLOSED:
            values = np.linalg.eigvals(D)
            order = np.argsort(-np.abs(values), kind="stable")
            found, speed = maps.lift(s)
            return HopGait(found[0], speed[0], float(time[0]), float(place[0]), D, values[order], float(np.abs(miss).max()))
        if not np.isfinite(D).all():
            raise _failed(maps, s, "a run near it has no next apex")
        step = np.linalg.solve(np.eye(len(D)) - D, miss[0])
        s = s + step * min(1.0, 0.2 / max(np.abs(step).max(), 1e-300))
    raise _failed(maps, s, f"the apex misses itself by {np.abs(miss).max():.2g} after {MOST_STEPS} steps")


def _failed(maps: ApexMap, s: np.ndarray, why: str) -> GaitError:
    q, v = maps.lift(s)
    return GaitError(f"no periodic gait was found: {why}, at q = {q[0].round(5).tolist()}, v = {v[0].round(5).tolist()}", q=q[0],
        v=v[0])
