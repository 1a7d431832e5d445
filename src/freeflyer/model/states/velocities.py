"""Velocities, accelerations and forces between our coordinates and another library's.

    theirs = T(q) ours,    a' = T a + Tdot v,    tau = T^T tau',    bias = T^T bias' + M s    with  T s = Tdot v

T is a permutation, with a row of ratios for each joint that follows another, and a block B(q) where a joint's velocity is
expressed in other axes. The last equation puts a' into the others' M' a' + bias' = tau'."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np


class State(NamedTuple):
    """State of a model, as all functions take it; values that were not given are None.

    Attributes:
        q, v, a, tau, bias_forces: (..., nq) array; (..., nv) array or None."""

    q: Any
    v: Any = None
    a: Any = None
    tau: Any = None
    bias_forces: Any = None


class MujocoState(NamedTuple):
    """State in MuJoCo's coordinates; values that were not given are None.

    Attributes:
        qpos: (..., nq) array, configuration; nq and nv are MuJoCo's.
        qvel, qacc, qfrc: (..., nv) array or None, velocity, acceleration and generalised force.
        bias: (..., nv) array or None, MuJoCo's qfrc_bias."""

    qpos: Any
    qvel: Any = None
    qacc: Any = None
    qfrc: Any = None
    bias: Any = None


class PinocchioState(NamedTuple):
    """State in Pinocchio's coordinates; values that were not given are None.

    Attributes:
        q: (..., nq) array, configuration; nq and nv are Pinocchio's.
        v, a, tau: (..., nv) array or None, velocity, acceleration and generalised force.
        bias: (..., nv) array or None, Pinocchio's nonLinearEffects."""

    q: Any
    v: Any = None
    a: Any = None
    tau: Any = None
    bias: Any = None


Function = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Block:
    """n coordinates here and there: velocities there are B(q) times those here, B (..., n, n) orthogonal unless `inverse` is given;
    `rate`: v (..., nv) -> s (..., n), zero if None; one_to_ours: q (nq,), x (n,) -> B^T x, quickly."""

    here: slice
    there: slice
    map_to_theirs: Function
    inverse: Function | None = None
    rate: Function | None = None
    one_to_ours: Callable[[np.ndarray, np.ndarray], Any] | None = None

    def map_to_ours(self, q: np.ndarray) -> np.ndarray:
        return self.map_to_theirs(q).swapaxes(-1, -2) if self.inverse is None else self.inverse(q)


@dataclass(frozen=True, eq=False)
class Coordinates:
    """v_from (nv,): the coordinate there for each of ours, -1 where they lack it. leaders (nv there,): ours that moves each of
    theirs, times `ratios`, -1 where it stands still here; followers: those of theirs that only follow."""

    v_from: np.ndarray
    leaders: np.ndarray
    ratios: np.ndarray
    followers: np.ndarray
    blocks: tuple[Block, ...]

    @cached_property
    def owners(self) -> np.ndarray:
        """Leaders, but -1 for followers."""
        return np.where(np.isin(np.arange(len(self.leaders)), self.followers), -1, self.leaders)

    @cached_property
    def absent(self) -> tuple[np.ndarray, np.ndarray]:
        """Which of v_from, and of owners, are -1."""
        return np.flatnonzero(self.v_from < 0), np.flatnonzero(self.owners < 0)


def rates(c: Coordinates, v: np.ndarray) -> np.ndarray:
    """s (..., nv) with T s = Tdot v, for our v (..., nv)."""
    s = np.zeros_like(v)
    for b in c.blocks:
        if b.rate is not None:
            s[..., b.here] = b.rate(v)
    return s


def motion_to_ours(c: Coordinates, q: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """T^-1 times their velocity (..., nv there); zero for coordinates that they lack."""
    ours, one = gather(theirs, c.v_from, c.absent[0]), theirs.ndim == q.ndim == 1
    for b in c.blocks:
        if one and b.one_to_ours is not None:
            ours[b.here] = b.one_to_ours(q, theirs[b.there])
        else:
            ours[..., b.here] = _multiply(b.map_to_ours(q), theirs[..., b.there])
    return ours


def motion_to_theirs(c: Coordinates, q: np.ndarray, ours: np.ndarray) -> np.ndarray:
    """T times our velocity (..., nv); zero for joints that stand still here."""
    theirs = gather(ours, c.leaders)
    theirs[..., c.followers] *= c.ratios[c.followers]
    for b in c.blocks:
        theirs[..., b.there] = _multiply(b.map_to_theirs(q), ours[..., b.here])
    return theirs


def forces_to_ours(c: Coordinates, q: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """T^T times their forces (..., nv there): forces on joints that follow others count on these, times their ratio."""
    ours = gather(theirs, c.v_from)
    for b in c.blocks:
        ours[..., b.here] = _multiply(b.map_to_theirs(q).swapaxes(-1, -2), theirs[..., b.there])
    for k in c.followers:
        if c.leaders[k] >= 0:
            ours[..., c.leaders[k]] += c.ratios[k] * theirs[..., k]
    return ours


def forces_to_theirs(c: Coordinates, q: np.ndarray, ours: np.ndarray) -> np.ndarray:
    """Forces there of which T^T makes our tau (..., nv): none on joints that follow others, or that stand still here."""
    theirs = gather(ours, c.owners, c.absent[1])
    for b in c.blocks:
        if np.count_nonzero(given := ours[..., b.here]):  # motors do not act on floating bases
            theirs[..., b.there] = _multiply(b.map_to_ours(q).swapaxes(-1, -2), given)
    return theirs


def velocity_matrix(c: Coordinates, q: np.ndarray) -> np.ndarray:
    """T (..., nv there, nv)."""
    T = np.zeros((*q.shape[:-1], len(c.leaders), len(c.v_from)))
    there = np.flatnonzero(c.leaders >= 0)
    T[..., there, c.leaders[there]] = c.ratios[there]
    for b in c.blocks:
        T[..., b.there, b.here] = b.map_to_theirs(q)
    return T


def _multiply(B: np.ndarray, x: np.ndarray) -> np.ndarray:
    return B @ x if x.ndim == 1 == B.ndim - 1 else np.matmul(B, x[..., None])[..., 0]


def gather(x: np.ndarray, source: np.ndarray, absent: np.ndarray | None = None) -> np.ndarray:
    """Entries of x (..., n) by number, 0 for those of number -1, which are `absent` (k,)."""
    if not len(source) or not x.shape[-1]:
        return np.zeros((*x.shape[:-1], len(source)))
    found = x[source] if x.ndim == 1 else np.take(x, source, axis=-1)
    if len(absent := np.flatnonzero(source < 0) if absent is None else absent):
        found[..., absent] = 0.0
    return found
