"""Pinocchio and MuJoCo beside a robot with its loops closed: what to time for each quantity, and how far it is from ours.

MuJoCo has the same MJCF with contacts, limits, springs, damping and friction off; its equalities.
MuJoCo's constraints are soft: it minimises |a - a_free|^2_M + |J a + Jdot v - aref|^2 / R with R = (1 - d) / d times the diagonal
of J M^-1 J^T as it estimates it, and its impedance d is at most 0.9999. So its accelerations miss the rigid ones in proportion to
softness (1 - d) / d, times how far eigenvalues of J M^-1 J^T lie below its diagonal. At several softnesses a polynomial leads to
softness zero: the rigid limit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import freeflyer as ff
from benchmarks import NoPeerError
from benchmarks.closed_pinocchio import PinocchioPeer, pinocchio_peer
from benchmarks.closed_states import ClosedState, loop_set
from freeflyer.analysis.timing.results import Call
from freeflyer.model.description import POINT

DYNAMICS = ("forward_dynamics", "constrained_dynamics")
Timed = tuple[Call | None, float | None, str]  # (what to time, how far it is from ours, what it means)


@dataclass(frozen=True)
class ClosedBeside:
    """A peer as the runner of closed robots takes it."""

    peer: PinocchioPeer | MujocoPeer

    def compare(self, model: Any, s: ClosedState, quantity: str, ours: Any) -> list[tuple[str, Call | None, float | None, str]]:
        """(label, a call to time, how far its answer is from ours, by which means) of each way in which it answers."""
        return [found for found in _peer_calls(self.peer, model, s, quantity, ours) if found[3]]

    def softness(self, model: Any, s: ClosedState) -> tuple[tuple[float, float], ...]:
        """How far MuJoCo's accelerations are from ours, by the softness of its equalities."""
        return _softness(self.peer, model, s) if isinstance(self.peer, MujocoPeer) else ()


def closed_peers(model: Any, mjcf: Path | None) -> tuple[list[ClosedBeside], list[str]]:
    """Both, as far as they can hold the robot; with notes on the others."""
    peers: list[ClosedBeside] = []
    notes = []
    try:
        with _file(model, mjcf) as path:
            for make in (pinocchio_peer, mujoco_peer):
                try:
                    peers.append(ClosedBeside(make(model, path)))
                except NoPeerError as error:
                    notes.append(f"not compared: {error}")
    except ff.FreeflyerError as error:
        notes.append(f"no peer: it cannot be written as MJCF: {error}")
    return peers, notes


@contextmanager
def _file(model: Any, mjcf: Path | None) -> Iterator[Path]:
    if mjcf is not None:
        yield mjcf
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "robot.xml"
        ff.to_mjcf(model, path)
        yield path


def distance(ours: Any, theirs: Any) -> float:
    """The largest difference over the largest entry of theirs."""
    theirs = np.asarray(theirs)
    return float(np.max(np.abs(np.asarray(ours) - theirs)) / max(float(np.max(np.abs(theirs))), 1e-12))


def _peer_calls(p: Any, model: Any, s: ClosedState, name: str, ours: Any) -> list[tuple[str, Call | None, float | None, str]]:
    """(label, what to time, how far from ours, what it means) of every way in which a peer answers."""
    if isinstance(p, MujocoPeer):
        return [(p.label, *_mujoco(p, model, s, name, ours))]
    found: list[tuple[str, Call | None, float | None, str]] = [(p.label, *_pinocchio(p, model, s, name, ours))]
    if name in DYNAMICS and (call := p.lcaba_call(s)) is not None:
        a = p.in_our_order(np.array(call()))
        a = a[ff.linkages.partition(model).independent] if name == "forward_dynamics" else a
        found.append((p.label, call, distance(ours, a), f"lcaba, {p.settings}"))
    return found


def _pinocchio(p: PinocchioPeer, model: Any, s: ClosedState, name: str, ours: Any) -> Timed:
    split = ff.linkages.partition(model)
    kept = split.independent
    if name == "constraint_jacobian":
        call = p.jacobian_call(s)
        return call, distance(ours, -p.in_our_order(call())), "getConstraintsJacobian"
    if name == "constraint_bias":
        return None, distance(ours, -p.drifts(s)), "accelerations of frames"
    if name == "projected_equations":
        M, h = p.equations(s, split.rows, split.dependent, kept)
        gap = max(distance(ours[0], M), distance(ours[1], h))
        return p.terms_call(s), gap, "crba, nonLinearEffects, rows; not their projection"
    if name in DYNAMICS:
        call = p.dynamics_call(s)
        a = p.in_our_order(call())
        return call, distance(ours, a[kept] if name == "forward_dynamics" else a), f"constraintDynamics, {p.settings}"
    if name == "forward_dynamics_derivatives":
        call = p.derivatives_call(s)
        _, by_v, by_tau = (p.square(x) for x in call()[:3])
        G = p.map_of(ff.linkages.mapping_jacobian(model, s.q), split.dependent, kept)
        gap = max(distance(ours.dv, (by_v @ G)[kept]), distance(ours.dtau, by_tau[np.ix_(kept, kept)]))
        return call, gap, "computeConstraintDynamicsDerivatives"
    return None, None, ""


def _mujoco(p: MujocoPeer, model: Any, s: ClosedState, name: str, ours: Any) -> Timed:
    if name in DYNAMICS:
        a = p.rigid_limit(s)[0]
        a = a[ff.linkages.partition(model).independent] if name == "forward_dynamics" else a
        return p.dynamics_call(s), distance(ours, a), "mj_forward; its rigid limit"
    if name in ("constraint_jacobian", "constraint_bias") and {tuple(loop.mask) for loop in model.loops} == {POINT}:
        J, _, bias, equality = p.rows(s)
        at = np.concatenate([np.flatnonzero(equality == p.equality(loop.name)) for loop in model.loops])
        turns = [ff.frame_pose(model, s.q, loop.frame_a)[:3, :3] for loop in model.loops]
        if name == "constraint_jacobian":
            return p.jacobian_call(s), distance(_rotate_rows(turns, ours), -J[at]), "mj_makeConstraint"
        rate = ff.linkages.constraint_jacobian(model, s.q) @ s.v
        spins = [ff.frame_velocity(model, s.q, s.v, loop.frame_a)[3:] for loop in model.loops]
        ours = ours + 2.0 * np.concatenate([np.cross(w, x) for w, x in zip(spins, rate.reshape(-1, 3), strict=True)])
        return None, distance(_rotate_rows(turns, ours), -bias[at]), "aref"
    return None, None, ""


def _rotate_rows(turns: list[np.ndarray], rows: np.ndarray) -> np.ndarray:
    """Rows of points, from frame a's axes to the world's, which MuJoCo's rows have."""
    return np.concatenate([R @ rows[3 * k : 3 * k + 3] for k, R in enumerate(turns)])


def _softness(p: MujocoPeer, model: Any, s: ClosedState) -> tuple[tuple[float, float], ...]:
    ours = ff.constrained_dynamics(model, s.q, s.v, s.tau, constraints=loop_set(model)).a
    each = p.rigid_limit(s)[1]
    return tuple((x, distance(a, ours)) for x, a in zip(SOFTNESSES, each, strict=True))


STIFFEST = 0.9999  # MuJoCo's largest impedance
SOFTNESSES = tuple(1e-4 * (1.0 + 0.5 * k) for k in range(8))  # 1 - impedance
WIDTH = {0: (7, 6), 1: (4, 3), 2: (1, 1), 3: (1, 1)}  # mjtJoint: (nq, nv)


@dataclass(frozen=True, eq=False)
class MujocoPeer:
    """`joints`: (MuJoCo's type, its first q and v, our first q and v) of each of its joints."""

    mujoco: Any
    model: Any
    data: Any
    nv: int
    joints: tuple[tuple[int, int, int, int, int], ...]

    @property
    def label(self) -> str:
        return f"MuJoCo {self.mujoco.__version__}"

    def set_state(self, s: ClosedState) -> tuple[np.ndarray, np.ndarray]:
        """Puts MuJoCo into this state, under its forces; (T (nv, nv), Tdot v (nv,)) with v_mj = T v."""
        m, d = self.model, self.data
        T, rate = np.zeros((m.nv, self.nv)), np.zeros(m.nv)
        for kind, aq, av, iq, iv in self.joints:
            nq, nv = WIDTH[kind]
            T[av : av + nv, iv : iv + nv] = np.eye(nv)
            d.qpos[aq : aq + nq] = s.q[iq : iq + nq]
            if kind < 2:
                d.qpos[aq + nq - 4 : aq + nq] = s.q[[iq + nq - 1, iq + nq - 4, iq + nq - 3, iq + nq - 2]]
            if kind == 0:
                flat = np.empty(9)
                self.mujoco.mju_quat2Mat(flat, d.qpos[aq + 3 : aq + 7])
                R = flat.reshape(3, 3)
                T[av : av + 3, iv : iv + 3] = R
                rate[av : av + 3] = R @ np.cross(s.v[iv + 3 : iv + 6], s.v[iv : iv + 3])
        d.qvel[:] = T @ s.v
        d.qfrc_applied[:] = np.linalg.solve(T.T, s.tau)
        d.qacc_warmstart[:] = 0.0
        return T, rate

    def rows(self, s: ClosedState) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(J (r, nv) in our coordinates, gap (r,), Jdot v + J_mj Tdot v (r,), equality (r,)) of its equality rows, its signs.

        The third is the rows' drift at zero acceleration of our coordinates: with no stiffness and no damping its reference
        acceleration is minus Jdot v."""
        m, d = self.model, self.data
        self.soften(1.0 - STIFFEST)
        T, rate = self.set_state(s)
        self.mujoco.mj_forward(m, d)
        n = d.nefc
        J, kind = np.array(d.efc_J).reshape(-1, m.nv)[:n], d.efc_type[:n]
        assert (kind == self.mujoco.mjtConstraint.mjCNSTR_EQUALITY).all()  # nothing else is on
        return J @ T, d.efc_pos[:n].copy(), J @ rate - d.efc_aref[:n], d.efc_id[:n].copy()

    def equality(self, loop: str) -> int:
        """The number of the equality that became this loop; those without a name are called by type and number."""
        names = [self.model.equality(k).name or f"connect_{k}" for k in range(self.model.neq)]
        return names.index(loop)

    def soften(self, softness: float) -> None:
        """Equalities without springs and dampers (direct solref, next to zero), with impedance 1 - softness everywhere."""
        self.model.eq_solref[:] = -1e-12
        self.model.eq_solimp[:] = [1.0 - softness, 1.0 - softness, 1.0, 0.5, 2.0]

    def accelerations(self, s: ClosedState, softness: float) -> np.ndarray:
        """a (nv,) of our coordinates at one softness, its solver driven to its last digits."""
        m, d, option = self.model, self.data, self.model.opt
        kept = option.tolerance, option.iterations, option.ls_iterations, option.ls_tolerance
        option.tolerance, option.iterations, option.ls_iterations, option.ls_tolerance = 0.0, 30, 50, 1e-14
        self.soften(softness)
        T, rate = self.set_state(s)
        self.mujoco.mj_forward(m, d)
        option.tolerance, option.iterations, option.ls_iterations, option.ls_tolerance = kept
        return np.linalg.solve(T, d.qacc - rate)

    def rigid_limit(self, s: ClosedState) -> tuple[np.ndarray, np.ndarray]:
        """(a (nv,) at softness zero by the polynomial through all softnesses, a (len(SOFTNESSES), nv) at each)."""
        found = np.array([self.accelerations(s, x) for x in SOFTNESSES])
        x = np.array(SOFTNESSES) / (1.0 - np.array(SOFTNESSES))
        weights = [np.prod(np.delete(x, k) / (np.delete(x, k) - x[k])) for k in range(len(x))]
        return np.array(weights) @ found, found

    def dynamics_call(self, s: ClosedState) -> Call:
        """mj_forward as it comes (its solver's usual tolerance), at its stiffest."""
        self.soften(1.0 - STIFFEST)
        self.set_state(s)
        f, m, d = self.mujoco.mj_forward, self.model, self.data
        return lambda: f(m, d)

    def jacobian_call(self, s: ClosedState) -> Call:
        """Kinematics and constraint rows."""
        self.set_state(s)
        p, m, d = self.mujoco, self.model, self.data

        def call() -> Any:
            p.mj_kinematics(m, d)
            p.mj_comPos(m, d)
            p.mj_makeConstraint(m, d)
            return d.efc_J

        return call


def mujoco_peer(model: Any, mjcf: Path) -> MujocoPeer:
    """The robot that MuJoCo reads from MJCF, with nothing on but gravity, armature and equalities."""
    try:
        import mujoco
    except ImportError:
        raise NoPeerError("MuJoCo is not installed: pip install 'freeflyer[peers]'") from None
    from freeflyer.model.readers.mjcf.gate import compile_model, spec_with_shapes

    try:
        m = compile_model(*spec_with_shapes(mjcf))
    except ff.FileError as error:
        raise NoPeerError(str(error)) from error
    off = mujoco.mjtDisableBit
    for bit in (off.mjDSBL_CONTACT, off.mjDSBL_LIMIT, off.mjDSBL_ACTUATION, off.mjDSBL_SPRING, off.mjDSBL_DAMPER):
        m.opt.disableflags |= bit
    m.dof_frictionloss[:] = 0.0
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    m.opt.gravity[:] = model.gravity
    if m.nv != model.nv:
        raise NoPeerError(f"MuJoCo gives it {m.nv} velocities, freeflyer {model.nv}")
    return MujocoPeer(mujoco, m, mujoco.MjData(m), model.nv, _joints(model, m))


def _joints(model: Any, m: Any) -> tuple[tuple[int, int, int, int, int], ...]:
    """By names; a joint that MJCF writes as several is met part by part, "name/kind/part"."""
    ours = {j.name: j for j in model.joints}
    bases = [j for j in model.joints if j.kind == "free"]
    joints = []
    for k in range(m.njnt):
        kind, name = int(m.jnt_type[k]), m.joint(k).name
        part = 0
        if kind == 0 and len(bases) == 1:
            same = bases[0]
        elif name in ours:
            same = ours[name]
        else:
            pieces = name.split("/")
            same, part = ours.get(pieces[0]), int(pieces[-1]) if pieces[-1].isdigit() else 0
        if same is None:
            raise NoPeerError(f"MuJoCo's joint {name!r} has no counterpart")
        at = same.iq + part, same.iv + part
        joints.append((kind, int(m.jnt_qposadr[k]), int(m.jnt_dofadr[k]), *at))
    return tuple(joints)
