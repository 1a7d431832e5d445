"""Constrained dynamics by Pinocchio: the same tree from MJCF, our loops as its rigid constraints, its proximal solver.

Pinocchio ties points (3 rows) and poses (6 rows); other masks and couplings it cannot hold. Redundant rows are regularised: mu and
the number of iterations decide, where a file's rounded digits leave more rank than the mechanism has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import NoPeerError
from benchmarks.closed_states import ClosedState
from freeflyer.model.description import POINT, WELD, WORLD

Answer = Callable[[], Any]
MU, ITERATIONS = 1e-4, 3  # proximal: enough for 1e-11 on redundant rows, few enough not to follow a file's rounded digits

STIFF = 1e-6  # mu for derivatives, whose error is of order mu


@dataclass(frozen=True, eq=False)
class PinocchioPeer:
    """Its model, data, constraints; `columns` (nv,): our velocity coordinate behind each of its; `pieces`: (its iq, ours, nq)."""

    pin: Any
    model: Any
    data: Any
    constraints: Any
    constraint_data: Any
    columns: np.ndarray
    pieces: tuple[tuple[int, int, int], ...]

    @property
    def label(self) -> str:
        return f"Pinocchio {self.pin.__version__}"

    def q(self, q: np.ndarray) -> np.ndarray:
        """Our q (nq,) in its order."""
        out = np.empty(self.model.nq)
        for theirs, ours, size in self.pieces:
            out[theirs : theirs + size] = q[ours : ours + size]
        return out

    def v(self, v: np.ndarray) -> np.ndarray:
        """Our v (nv,) in its order."""
        return np.ascontiguousarray(v[self.columns])

    def in_our_order(self, x: np.ndarray) -> np.ndarray:
        """Rows or vectors (..., nv) of its coordinates in our order."""
        out = np.empty_like(x)
        out[..., self.columns] = x
        return out

    def jacobian_call(self, s: ClosedState) -> Answer:
        """Rows of all constraints: those of frame a relative to frame b, so minus ours. Its order of calls is binding."""
        columns, rows, m, d, q = self.pin.computeJointJacobians, self.pin.getConstraintsJacobian, self.model, self.data, self.q(s.q)
        cs, ds = self.constraints, self.constraint_data
        pairs = list(zip(cs, ds, strict=True))

        def call() -> Any:
            columns(m, d, q)
            for c, x in pairs:
                c.calc(m, d, x)
            return rows(m, d, cs, ds)

        return call

    def dynamics_call(self, s: ClosedState, mu: float = MU, iterations: int = ITERATIONS) -> Answer:
        """Accelerations of all joints under forces in all joints."""
        f, m, d, q, v, tau = self.pin.constraintDynamics, self.model, self.data, self.q(s.q), self.v(s.v), self.v(s.tau)
        settings = self.pin.ProximalSettings(1e-13, 1e-13, mu, iterations)
        cs, ds = self.constraints, self.constraint_data
        self.pin.initConstraintDynamics(m, d, cs, ds)
        return lambda: f(m, d, q, v, tau, cs, ds, settings)

    @property
    def settings(self) -> str:
        return f"mu {MU:g}, {ITERATIONS} steps"

    def square(self, x: np.ndarray) -> np.ndarray:
        """A matrix (nv, nv) of its coordinates in ours."""
        return self.in_our_order(self.in_our_order(np.array(x)).T).T

    def map_of(self, J: np.ndarray, dependent: np.ndarray, independent: np.ndarray) -> np.ndarray:
        """G (nv, nu) of the mapping Jacobian J (m, nu)."""
        G = np.zeros((self.model.nv, len(independent)))
        G[dependent], G[independent] = J, np.eye(len(independent))
        return G

    def derivatives_call(self, s: ClosedState, mu: float = STIFF, iterations: int = 1) -> Answer:
        """Derivatives (by q, v, tau, ...) of the accelerations, with those accelerations."""
        f, m, d = self.pin.computeConstraintDynamicsDerivatives, self.model, self.data
        dynamics, settings = self.dynamics_call(s, mu, iterations), self.pin.ProximalSettings(1e-13, 1e-13, mu, iterations)
        cs, ds = self.constraints, self.constraint_data

        def call() -> Any:
            dynamics()
            return f(m, d, cs, ds, settings)

        return call

    def lcaba_call(self, s: ClosedState, mu: float = MU, iterations: int = ITERATIONS) -> Answer | None:
        """The same by its algorithm for loops, whose order of elimination is found once; None where it has none."""
        if not hasattr(self.pin, "lcaba"):
            return None
        f, m, d, q, v, tau = self.pin.lcaba, self.model, self.model.createData(), self.q(s.q), self.v(s.v), self.v(s.tau)
        cs, ds = self.constraints, self.pin.StdVec_RigidConstraintData()  # its own: it leaves there what misleads the other solver
        for c in cs:
            ds.append(c.createData())
        settings = self.pin.ProximalSettings(1e-13, 1e-13, mu, iterations)
        self.pin.computeJointMinimalOrdering(m, d, cs)
        return lambda: f(m, d, q, v, tau, cs, ds, settings)

    def terms_call(self, s: ClosedState) -> Answer:
        """M, bias and rows: what its user then has to project."""
        p, m, d, q, v = self.pin, self.model, self.data, self.q(s.q), self.v(s.v)
        convention, rows = (p.Convention.WORLD,) if hasattr(p, "Convention") else (), self.jacobian_call(s)
        return lambda: (p.crba(m, d, q, *convention), p.nonLinearEffects(m, d, q, v), rows())

    def equations(self, s: ClosedState, rows: np.ndarray, dependent: np.ndarray,
            independent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """(M_p (nu, nu), h_p (nu,)) of its terms, by numpy; index arrays are in our order of rows and coordinates."""
        M, h, J = self.terms_call(s)()
        M, h = self.square(np.triu(M) + np.triu(M, 1).T), self.in_our_order(np.array(h))
        J, rest = self.in_our_order(np.array(J))[rows], self.drifts(s)[rows]
        solved = -np.linalg.solve(J[:, dependent], np.column_stack([J[:, independent], rest]))
        G, gamma = self.map_of(solved[:, :-1], dependent, independent), np.zeros(self.model.nv)
        gamma[dependent] = solved[:, -1]
        return G.T @ M @ G, G.T @ (h + M @ gamma)

    def drifts(self, s: ClosedState) -> np.ndarray:
        """Jdot v of all rows, minus ours."""
        m, d = self.model, self.data
        self.pin.forwardKinematics(m, d, self.q(s.q), self.v(s.v), np.zeros(m.nv))
        pairs = zip(self.constraints, self.constraint_data, strict=True)
        return np.concatenate([_drift(self.pin, m, d, c, x) for c, x in pairs])


def _drift(pin: Any, model: Any, data: Any, c: Any, x: Any) -> np.ndarray:
    """The second rate of one constraint's gap in frame a's axes, minus ours; after forwardKinematics at zero acceleration."""
    c.calc(model, data, x)
    Va, Aa = c.joint1_placement.actInv(data.v[c.joint1_id]), c.joint1_placement.actInv(data.a[c.joint1_id])
    Vb, Ab = c.joint2_placement.actInv(data.v[c.joint2_id]), c.joint2_placement.actInv(data.a[c.joint2_id])
    R, gap, w, cross = x.c1Mc2.rotation, x.c1Mc2.translation, Va.angular, np.cross
    rate = R @ Vb.linear - Va.linear - cross(w, gap)
    linear = R @ (Ab.linear + cross(Vb.angular, Vb.linear)) - Aa.linear - cross(w, Va.linear)
    linear -= 2.0 * cross(w, rate) + cross(Aa.angular, gap) + cross(w, cross(w, gap))
    if c.type == pin.ContactType.CONTACT_3D:
        return -linear
    return np.concatenate([-linear, Aa.angular - R @ Ab.angular + cross(w, R @ Vb.angular)])


def pinocchio_peer(model: Any, mjcf: Path) -> PinocchioPeer:
    """The tree that Pinocchio reads from MJCF, tied by our loops. Errors: NoPeerError."""
    try:
        import pinocchio as pin
    except ImportError:
        raise NoPeerError("Pinocchio is not installed: pip install 'freeflyer[peers]'") from None
    masks = {tuple(loop.mask) for loop in model.loops}
    if not masks <= {POINT, WELD} or model.description.couplings:
        raise NoPeerError("Pinocchio ties points and poses only: no other masks, no couplings")
    if any(j.mimic is not None for j in model.description.joints):
        raise NoPeerError("it has mimic joints, for which Pinocchio's constrained dynamics does not hold")
    try:
        theirs = pin.buildModelFromMJCF(str(mjcf))
    except (ValueError, RuntimeError) as error:
        raise NoPeerError(f"Pinocchio refuses it: {error}") from error
    columns, pieces = _map(model, theirs)
    theirs.gravity.linear = np.array(model.gravity, dtype=float)
    theirs.armature = np.array(model.armature, dtype=float)[columns]
    constraints, data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for loop in model.loops:
        kind = pin.ContactType.CONTACT_3D if tuple(loop.mask) == POINT else pin.ContactType.CONTACT_6D
        ends = [_end(pin, model, theirs, frame) for frame in (loop.frame_a, loop.frame_b)]
        constraints.append(pin.RigidConstraintModel(kind, theirs, *ends[0], *ends[1], pin.ReferenceFrame.LOCAL))
    for c in constraints:
        data.append(c.createData())
    return PinocchioPeer(pin, theirs, theirs.createData(), constraints, data, columns, pieces)


def _end(pin: Any, model: Any, theirs: Any, frame: str) -> tuple[int, Any]:
    """(joint, placement in it) of one of our frames: a link, or a site on one."""
    site = next((s for s in model.description.sites if s.name == frame), None)
    link, X = (frame, np.eye(4)) if site is None else (site.link, np.array(site.placement))
    if link == WORLD:
        return 0, pin.SE3(X)
    if not theirs.existBodyName(link):
        raise NoPeerError(f"Pinocchio has no link named {link!r}")
    body = theirs.frames[theirs.getBodyId(link)]
    return body.parentJoint, body.placement * pin.SE3(X)


def _map(model: Any, theirs: Any) -> tuple[np.ndarray, tuple[tuple[int, int, int], ...]]:
    """Coordinates by names of joints; what MJCF writes as several joints is one composite of the first's name in Pinocchio."""
    ours = {j.name: j for j in model.joints if j.nv}
    bases = [j for j in model.joints if j.kind == "free"]
    if theirs.nv != model.nv or len(bases) > 1:
        raise NoPeerError(f"Pinocchio gives it {theirs.nv} velocities, freeflyer {model.nv}, or it has several free joints")
    columns, pieces = np.empty(theirs.nv, dtype=int), []
    for index in range(1, theirs.njoints):
        joint, name = theirs.joints[index], theirs.names[index].removeprefix("Composite_").split("/")[0]
        same = bases[0] if bases and joint.shortname() == "JointModelFreeFlyer" else ours.get(name)
        if same is None or (same.nv, same.nq) != (joint.nv, joint.nq):
            raise NoPeerError(f"joint {theirs.names[index]!r} has no counterpart with the same freedom in both")
        columns[joint.idx_v : joint.idx_v + joint.nv] = np.arange(same.iv, same.iv + same.nv)
        pieces.append((joint.idx_q, same.iq, same.nq))
    return columns, tuple(pieces)
