"""Pinocchio beside us: the same robot, the same states in its own order of joints, the same quantities.

`pin` is optional. Its free joint has our layout of q and v; its continuous joints store cosine and sine; its joints come in another
order. `PeerState` is a state in Pinocchio's order, so that nothing is converted while the clock runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import freeflyer as ff
from benchmarks import NoPeerError
from freeflyer.analysis.checks.laws import States
from freeflyer.analysis.timing.algorithms import held_frames, outer_frames, wrenches
from freeflyer.analysis.timing.results import Call
from freeflyer.model.description import WORLD

NAME = "Pinocchio"
LARGEST_WORKSPACE = 2e9  # bytes


@dataclass(frozen=True)
class PinocchioPeer:
    """`columns` (nv,): our velocity coordinate behind each of the peer's; `pieces`: (peer's iq, ours, nq, kind)."""

    pin: Any
    model: Any
    data: Any
    frame: int
    columns: np.ndarray
    pieces: tuple[tuple[int, int, int], ...]
    outer: tuple[int, ...]  # frames
    held: tuple[int, ...]  # frames that contacts hold

    @property
    def label(self) -> str:
        return f"{NAME} {self.pin.__version__}"

    def state(self, x: States, i: int) -> PeerState:
        v, a, tau = (np.ascontiguousarray(part[i][self.columns]) for part in (x.v, x.a, x.tau))
        return PeerState(self._q(x.q[i]), v, a, tau, wrenches(x.count)[i])

    def call(self, algorithm: str, x: States) -> Call:
        """A call that evaluates the algorithm at the first state."""
        return CALLS[algorithm](self, self.state(x, 0))

    def batch_call(self, algorithm: str, x: States) -> tuple[Call, str]:
        """(a call that evaluates all states on one thread, by which means)."""
        return batch_call(self, algorithm, x, x.count)

    def answer(self, algorithm: str, x: States) -> tuple[np.ndarray, ...]:
        """Its results at the first state, in its order of coordinates."""
        return answer(self, algorithm, self.state(x, 0))

    def forces(self, x: PeerState, count: int) -> Any:
        """The first wrenches of a state, as Pinocchio takes them: on joints, in their axes."""
        made = self.pin.StdVec_Force()
        made.extend([self.pin.Force.Zero() for _ in range(self.model.njoints)])
        for number, w in zip(self.outer[:count], x.wrenches):
            frame = self.model.frames[number]
            made[frame.parentJoint] += frame.placement.act(self.pin.Force(w))
        return made

    def _q(self, q: np.ndarray) -> np.ndarray:
        out = np.empty(self.model.nq)
        for theirs, ours, size in self.pieces:
            if size < 0:  # continuous: cosine and sine
                out[theirs], out[theirs + 1] = np.cos(q[ours]), np.sin(q[ours])
            else:
                out[theirs : theirs + size] = q[ours : ours + size]
        return out


@dataclass(frozen=True)
class PeerState:
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    wrenches: np.ndarray


def peer_for(model: Any, urdf: Path | None, frame: str, mjcf: Path | None = None) -> PinocchioPeer:
    """Load the robot in Pinocchio, from its own URDF or MJCF, or from a URDF of ours, and map coordinates by joint names."""
    try:
        import pinocchio as pin
    except ImportError:
        raise NoPeerError("Pinocchio is not installed: pip install 'freeflyer[peers]'") from None
    if any(j.mimic is not None for j in model.description.joints):
        raise NoPeerError("it has mimic joints, which Pinocchio moves independently when it reads a URDF")
    workspace = 2 * 4 * 8 * model.nv**3  # its Data holds four tensors of nv^3 numbers; a pool holds a second Data
    if workspace > LARGEST_WORKSPACE:
        raise NoPeerError(f"Pinocchio would allocate {workspace / 1e9:.1f} GB of workspace for {model.nv} velocities")
    loaded = _load(pin, model, urdf, mjcf)
    columns, pieces = _map(model, loaded)
    loaded.gravity.linear = np.array(model.gravity, dtype=float)
    loaded.armature = np.array(model.armature, dtype=float)[columns]
    kept = held_frames(model, 2) if model.nv else ()
    for name in (frame, *outer_frames(model), *kept):
        if not loaded.existBodyName(name):
            raise NoPeerError(f"Pinocchio has no link named {name!r}")
    outer, held = (tuple(map(loaded.getBodyId, x)) for x in (outer_frames(model), kept))
    return PinocchioPeer(pin, loaded, loaded.createData(), loaded.getBodyId(frame), columns, pieces, outer, held)


def _load(pin: Any, model: Any, urdf: Path | None, mjcf: Path | None) -> Any:
    bases = [j.kind for j in model.description.joints if j.parent == WORLD]
    floating = "free" in bases
    if floating and bases != ["free"]:
        raise NoPeerError("it has several roots")
    roots = (pin.JointModelFreeFlyer(),) if floating else ()
    try:
        if mjcf is not None:
            return pin.buildModelFromMJCF(str(mjcf))
        if urdf is not None:
            return pin.buildModelFromUrdf(str(urdf), *roots)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "robot.urdf"
            ff.to_urdf(model, path)
            return pin.buildModelFromUrdf(str(path), *roots)
    except ff.FreeflyerError as error:
        raise NoPeerError(f"it cannot be written as URDF: {error}") from error
    except (ValueError, RuntimeError) as error:
        raise NoPeerError(f"Pinocchio refuses it: {error}") from error


def _map(model: Any, theirs: Any) -> tuple[np.ndarray, tuple[tuple[int, int, int], ...]]:
    ours = {j.name: j for j in model.joints if j.nv}
    base = next((j for j in model.joints if j.kind == "free"), None)
    if theirs.nv != model.nv:
        raise NoPeerError(f"Pinocchio gives it {theirs.nv} velocities, freeflyer {model.nv}")
    columns, pieces = np.empty(theirs.nv, dtype=int), []
    for index in range(1, theirs.njoints):
        joint, name = theirs.joints[index], theirs.names[index]
        same = base if joint.shortname() == "JointModelFreeFlyer" else ours.get(name)
        if same is None or same.nv != joint.nv:
            raise NoPeerError(f"joint {name!r} has no counterpart with the same freedom in both")
        columns[joint.idx_v : joint.idx_v + joint.nv] = np.arange(same.iv, same.iv + same.nv)
        continuous = joint.nq == 2 and same.nq == 1
        pieces.append((joint.idx_q, same.iq, -1 if continuous else same.nq))
    return columns, tuple(pieces)


def _frame_bias(p: PinocchioPeer, x: PeerState) -> Call:
    """The acceleration of the frame while no joint accelerates."""
    forward, acceleration, local = p.pin.forwardKinematics, p.pin.getFrameAcceleration, p.pin.LOCAL
    m, d, q, v, zero, frame = p.model, p.data, x.q, x.v, np.zeros(p.model.nv), p.frame

    def call() -> object:
        forward(m, d, q, v, zero)
        return acceleration(m, d, frame, local)

    return call


def _forward_dynamics(p: PinocchioPeer, x: PeerState) -> Call:
    """Pinocchio's faster convention, where there is a choice."""
    aba, m, d, q, v, tau = p.pin.aba, p.model, p.data, x.q, x.v, x.tau
    if not hasattr(p.pin, "Convention"):
        return lambda: aba(m, d, q, v, tau)
    world = p.pin.Convention.WORLD
    return lambda: aba(m, d, q, v, tau, world)


def _momentum_bias(p: PinocchioPeer, x: PeerState) -> Call:
    """The rate of change of momentum at zero acceleration; cheaper than dccrba, which also builds the matrix."""
    rate, m, d = p.pin.computeCentroidalMomentumTimeVariation, p.model, p.data
    q, v, zero = x.q, x.v, np.zeros(p.model.nv)
    return lambda: rate(m, d, q, v, zero)


def _call(name: str, *fields: str) -> Callable[[PinocchioPeer, PeerState], Call]:
    def make(p: PinocchioPeer, x: PeerState) -> Call:
        f, m, d = getattr(p.pin, name), p.model, p.data
        values = [getattr(x, field) for field in fields]
        if len(values) == 1:
            (q,) = values
            return lambda: f(m, d, q)
        if len(values) == 2:
            q, v = values
            return lambda: f(m, d, q, v)
        q, v, a = values
        return lambda: f(m, d, q, v, a)

    return make


def _with_wrenches(count: int, name: str, *fields: str) -> Callable[[PinocchioPeer, PeerState], Call]:
    def make(p: PinocchioPeer, x: PeerState) -> Call:
        f, m, d, forces = getattr(p.pin, name), p.model, p.data, p.forces(x, count)
        q, v, a = (getattr(x, field) for field in fields)
        return lambda: f(m, d, q, v, a, forces)

    return make


def _all_terms(p: PinocchioPeer, x: PeerState) -> Call:
    """computeAllTerms, and Jacobians, velocities and bias accelerations of the frames."""
    pin, m, d, q, v, zero, axes = p.pin, p.model, p.data, x.q, x.v, np.zeros(p.model.nv), p.pin.LOCAL_WORLD_ALIGNED

    def call() -> object:
        pin.computeAllTerms(m, d, q, v)
        pin.forwardKinematics(m, d, q, v, zero)
        pin.updateFramePlacements(m, d)
        for frame in p.outer:
            pin.getFrameJacobian(m, d, frame, axes)
            pin.getFrameVelocity(m, d, frame, axes)
            pin.getFrameClassicalAcceleration(m, d, frame, axes)
        return d.M

    return call


def _with_contacts(count: int, derivatives: bool = False) -> Callable[[PinocchioPeer, PeerState], Call]:
    """constraintDynamics with frames held in all directions, and its derivatives of the accelerations."""

    def make(p: PinocchioPeer, x: PeerState) -> Call:
        pin, m, d = p.pin, p.model, p.data
        frames = [m.frames[number] for number in p.held[:count]]
        models, kind = pin.StdVec_RigidConstraintModel(), pin.ContactType.CONTACT_6D
        models.extend([pin.RigidConstraintModel(kind, m, f.parentJoint, f.placement, pin.LOCAL) for f in frames])
        datas = pin.StdVec_RigidConstraintData()
        datas.extend([c.createData() for c in models])
        pin.initConstraintDynamics(m, d, models, datas)
        settings = pin.ProximalSettings(1e-12, 1e-12, 10)
        solve, derive, q, v, tau = pin.constraintDynamics, pin.computeConstraintDynamicsDerivatives, x.q, x.v, x.tau
        if not derivatives:
            return lambda: solve(m, d, q, v, tau, models, datas, settings)

        def call() -> object:
            solve(m, d, q, v, tau, models, datas, settings)
            derive(m, d, models, datas, settings)
            return d.ddq_dq, d.ddq_dv, d.ddq_dtau

        return call

    return make


def _jacobian(p: PinocchioPeer, x: PeerState) -> Call:
    f, m, d, q, frame, local = p.pin.computeFrameJacobian, p.model, p.data, x.q, p.frame, p.pin.LOCAL
    return lambda: f(m, d, q, frame, local)


def _frame_derivatives(name: str) -> Callable[[PinocchioPeer, PeerState], Call]:
    def make(p: PinocchioPeer, x: PeerState) -> Call:
        derive, f, local = p.pin.computeForwardKinematicsDerivatives, getattr(p.pin, name), p.pin.LOCAL
        m, d, q, v, a, frame = p.model, p.data, x.q, x.v, x.a, p.frame

        def call() -> object:
            derive(m, d, q, v, a)
            return f(m, d, frame, local)

        return call

    return make


# fmt: off
CALLS: dict[str, Callable[[PinocchioPeer, PeerState], Call]] = {
    "inverse_dynamics": _call("rnea", "q", "v", "a"),
    "forward_dynamics": _forward_dynamics,
    "mass_matrix": _call("crba", "q"),
    "inverse_mass_matrix": _call("computeMinverse", "q"),
    "bias_forces": _call("nonLinearEffects", "q", "v"),
    "gravity_forces": _call("computeGeneralizedGravity", "q"),
    "coriolis_matrix": _call("computeCoriolisMatrix", "q", "v"),
    "frame_jacobian": _jacobian,
    "frame_bias_acceleration": _frame_bias,
    "centroidal_momentum_matrix": _call("ccrba", "q", "v"),
    "centroidal_bias": _momentum_bias,
    "center_of_mass": _call("centerOfMass", "q"),
    "kinetic_energy": _call("computeKineticEnergy", "q", "v"),
    "potential_energy": _call("computePotentialEnergy", "q"),
    "inverse_dynamics_derivatives": _call("computeRNEADerivatives", "q", "v", "a"),
    "forward_dynamics_derivatives": _call("computeABADerivatives", "q", "v", "tau"),
    "frame_velocity_derivatives": _frame_derivatives("getFrameVelocityDerivatives"),
    "frame_acceleration_derivatives": _frame_derivatives("getFrameAccelerationDerivatives"),
    "centroidal_momentum_rate_derivatives": _call("computeCentroidalDynamicsDerivatives", "q", "v", "a"),
    "inverse_dynamics, gravity": _call("rnea", "q", "v", "a"),
    **{f"inverse_dynamics, {text}": _with_wrenches(int(text[0]), "rnea", "q", "v", "a")
       for text in ("1 wrench", "2 wrenches", "4 wrenches")},
    "forward_dynamics, 2 wrenches": _with_wrenches(2, "aba", "q", "v", "tau"),
    "inverse_dynamics_derivatives, 2 wrenches": _with_wrenches(2, "computeRNEADerivatives", "q", "v", "a"),
    "forward_dynamics_derivatives, 2 wrenches": _with_wrenches(2, "computeABADerivatives", "q", "v", "tau"),
    "all_terms, 4 frames": _all_terms,
    "constrained_dynamics, 2 contacts": _with_contacts(2),
    "constrained_dynamics_derivatives, 2 contacts": _with_contacts(2, derivatives=True),
}
# fmt: on
# results before which comes another derivative by q: of velocity, of momentum
FIRST = {"frame_acceleration_derivatives": 1, "centroidal_momentum_rate_derivatives": 1}
NOT_STORED = ("all_terms, 4 frames",)  # copying all of it from Python would be slower than computing it
IN_PARALLEL = {"inverse_dynamics": ("rneaInParallel", "a"), "forward_dynamics": ("abaInParallel", "tau")}


def answer(p: PinocchioPeer, algorithm: str, x: PeerState) -> tuple[np.ndarray, ...]:
    """The peer's result for one state, or several, in its own order."""
    returned: Any = CALLS[algorithm](p, x)()
    if algorithm.startswith("all_terms"):
        return _terms(p)
    return (_result(p, algorithm, returned),)


def _terms(p: PinocchioPeer) -> tuple[np.ndarray, ...]:
    """What `all_terms` left, in the order of `runner.parts`."""
    pin, m, d, axes = p.pin, p.model, p.data, p.pin.LOCAL_WORLD_ALIGNED
    M = np.triu(d.M) + np.triu(d.M, 1).T  # as crba, Pinocchio fills the upper triangle
    poses = [d.oMf[frame].homogeneous for frame in p.outer]
    J = [pin.getFrameJacobian(m, d, frame, axes) for frame in p.outer]
    V = [pin.getFrameVelocity(m, d, frame, axes).vector for frame in p.outer]
    A = [pin.getFrameClassicalAcceleration(m, d, frame, axes).vector for frame in p.outer]
    return M, d.nle, d.g, d.Ag, *map(np.array, (poses, J, V, A))


def _result(p: PinocchioPeer, algorithm: str, returned: Any) -> np.ndarray:
    if algorithm == "centroidal_bias":
        return p.data.dhg.vector.copy()
    if algorithm.startswith("inverse_dynamics_derivatives"):  # of the mass matrix, Pinocchio fills the upper triangle
        matrices = np.array(returned, dtype=float)
        matrices[2] = np.triu(matrices[2]) + np.triu(matrices[2], 1).T
        return matrices
    first = FIRST.get(algorithm, 0)
    return np.array(returned[first:] if first else returned, dtype=float)


def batch_call(p: PinocchioPeer, algorithm: str, states: States, count: int) -> tuple[Call, str]:
    """(a call that evaluates `count` states on one thread, what that means)."""
    listed = [p.state(states, i) for i in range(count)]
    if algorithm in IN_PARALLEL and hasattr(p.pin, IN_PARALLEL[algorithm][0]):
        name, last = IN_PARALLEL[algorithm]
        f, pool = getattr(p.pin, name), p.pin.ModelPool(p.model, 1)
        Q, V, third = (np.asfortranarray(np.stack([getattr(x, k) for x in listed], axis=1)) for k in ("q", "v", last))
        out = np.zeros((p.model.nv, count), order="F")
        return (lambda: f(1, pool, Q, V, third, out)), name
    return _loop(p, algorithm, listed), "Python loop, not stored" if algorithm in NOT_STORED else "Python loop"


def _loop(p: PinocchioPeer, algorithm: str, listed: list[PeerState]) -> Call:
    """Call by call from Python, each result stored in a preallocated array, as a user of the peer would have to."""
    calls = [CALLS[algorithm](p, x) for x in listed]
    if algorithm in NOT_STORED:

        def all_calls() -> None:
            for call in calls:
                call()

        return all_calls
    out = np.empty((len(listed), *np.shape(answer(p, algorithm, listed[0]))))
    bias, first = algorithm == "centroidal_bias", FIRST.get(algorithm, 0)

    def run() -> object:
        for i, call in enumerate(calls):
            result: Any = call()
            out[i] = p.data.dhg.vector if bias else result[first:] if first else result
        return out

    return run
