"""Constrained dynamics by MuJoCo: the same MJCF with contacts, limits, springs, damping and friction off; its equalities.

MuJoCo's constraints are soft: it minimises |a - a_free|^2_M + |J a + Jdot v - aref|^2 / R with R = (1 - d) / d times the diagonal
of J M^-1 J^T as it estimates it, and its impedance d is at most 0.9999. So its accelerations miss the rigid ones in proportion to
softness (1 - d) / d, times how far eigenvalues of J M^-1 J^T lie below its diagonal. At several softnesses a polynomial leads to
softness zero: the rigid limit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from freeflyer.analysis.timing.clock import Call, NoPeerError
from freeflyer.analysis.timing.closed_loops import ClosedState
from freeflyer.errors import FileError

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
    except FileError as error:
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
