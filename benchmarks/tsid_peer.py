"""TSID beside us: its weighted inverse dynamics of a robot on two feet (`standing`), as one call for each control cycle.

`tsid` is optional, and its solvers are those of its Python bindings. Tasks are in world axes at the frame's origin, contacts in the
foot's axes, as TSID has them. The tests compare what both make of the weighted tasks."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata
from typing import Any, NamedTuple

import numpy as np

import freeflyer as ff
from benchmarks import NoPeerError
from benchmarks.pinocchio_peer import peer_for
from benchmarks.standing import Standing
from freeflyer.analysis.timing.control_cycles import Contestant

NAME = "TSID"
SOLVERS = {"eiquadprog": "SolverHQuadProg", "eiquadprog-fast": "SolverHQuadProgFast"}
THREADS = "TSID built with OpenMP spreads small products over threads, which may take several times as long: OMP_NUM_THREADS=1"
HARD, SOFT = 0, 1  # TSID's levels: constraints, costs
PROBE = "import pinocchio, tsid; tsid.RobotWrapper(pinocchio.Model(), False)"


class Answer(NamedTuple):
    """Of one cycle, in our order: a (nv,), torques of the joints (nv - 6,), wrenches [force; torque] (feet, 6) in the feet's axes
    about their origins, point forces (feet, 4, 3) in the same axes."""

    a: np.ndarray
    torque: np.ndarray
    wrenches: np.ndarray
    forces: np.ndarray


@dataclass(frozen=True, eq=False)
class TsidPeer:
    """`kept`: tasks and contacts, to which the formulation holds references only."""

    tsid: Any
    problem: Standing
    robot: Any
    formulation: Any
    contacts: tuple[Any, ...]
    kept: tuple[Any, ...]
    solver: Any
    label: str

    def state(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Our q (..., nq), v (..., nv) in its order."""
        state = ff.to_pinocchio(self.problem.model, self.robot.model(), q, v)
        return state.q, state.v

    def cycle(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Torques and accelerations of one control cycle, at one of its own states and in its order."""
        found = self._solve(q, v)
        return self.formulation.getActuatorForces(found), self.formulation.getAccelerations(found)

    def answer(self, q: np.ndarray, v: np.ndarray) -> Answer:
        """What it finds at one of our states."""
        found = self._solve(*self.state(q, v))
        tau = np.concatenate([np.zeros(6), self.formulation.getActuatorForces(found)])
        a, pin_q, pin_v = self.formulation.getAccelerations(found), *self.state(q, v)
        ours = ff.from_pinocchio(self.problem.model, self.robot.model(), pin_q, pin_v, a, tau)
        forces = [self.formulation.getContactForce(foot, found) for foot in self.problem.feet]
        wrenches = [contact.getForceGeneratorMatrix @ f for contact, f in zip(self.contacts, forces, strict=True)]
        return Answer(ours.a, ours.tau[6:], np.array(wrenches), np.reshape(forces, (len(forces), 4, 3)))

    def _solve(self, q: np.ndarray, v: np.ndarray) -> Any:
        found = self.solver.solve(self.formulation.computeProblemData(0.0, q, v))
        if found.status != 0:
            raise RuntimeError(f"{self.label} ends with status {found.status}")
        return found


def tsid_peer(problem: Standing, solver: str = "eiquadprog-fast") -> TsidPeer:
    """The problem in TSID; `solver` is a name of SOLVERS. NoPeerError where TSID is missing or does not run."""
    tsid = _tsid()
    pin = peer_for(problem.model, problem.urdf, problem.hand)
    robot = tsid.RobotWrapper(pin.model, False)
    formulation = tsid.InverseDynamicsFormulationAccForce("standing", robot, False)
    contacts = tuple(_contact(tsid, problem, robot, foot, X) for foot, X in zip(problem.feet, problem.places, strict=True))
    for contact in contacts:
        formulation.addRigidContact(contact, problem.weights["force"])
    tasks = (*_frame_tasks(tsid, problem, robot), *_body_tasks(tsid, problem, robot))
    for task in tasks:
        formulation.addMotionTask(task, problem.weights[task.name], SOFT, 0.0)
    limits = _limits(tsid, problem, robot)
    formulation.addActuationTask(limits[0], 1.0, HARD, 0.0)
    formulation.addMotionTask(limits[1], 1.0, HARD, 0.0)
    made = getattr(tsid, SOLVERS[solver])("solver")
    made.resize(formulation.nVar, formulation.nEq, formulation.nIn)
    label = f"{NAME} {metadata.version('tsid')}, {solver}"
    return TsidPeer(tsid, problem, robot, formulation, contacts, (*tasks, *limits), made, label)


@cache
def _tsid() -> Any:
    """The module, if it runs: a wheel built against another Pinocchio ends the process, so that one of its own tries first."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # converters that it registers twice
            tsid = import_module("tsid")
    except ImportError:
        raise NoPeerError("TSID is not installed: pip install tsid") from None
    if subprocess.run([sys.executable, "-W", "ignore", "-c", PROBE], capture_output=True, check=False).returncode:
        versions = " and ".join(f"{name} {metadata.version(name)}" for name in ("tsid", "pin"))
        raise NoPeerError(f"{versions} do not run together: one was built against another version of the other")
    return tsid


def _contact(tsid: Any, problem: Standing, robot: Any, foot: str, X: np.ndarray) -> Any:
    normal = np.array([0.0, 0.0, 1.0])
    corners = np.asfortranarray(problem.corners.T)
    contact = tsid.Contact6d(foot, robot, foot, corners, normal, problem.friction, problem.least, problem.most)
    _gains(contact, problem.stiffness["contact"], 6)
    contact.setReference(_pose(X))
    return contact


def _frame_tasks(tsid: Any, problem: Standing, robot: Any) -> tuple[Any, Any]:
    X = np.eye(4)
    X[:3, :3] = problem.attitude
    made = []
    for name, frame, pose, mask in (("pelvis", problem.pelvis, X, (0.0, 0.0, 0.0, 1.0, 1.0, 1.0)),
            ("hand", problem.hand, problem.pose, np.ones(6))):  # fmt: skip
        task = tsid.TaskSE3Equality(name, robot, frame)
        task.useLocalFrame(False)
        _gains(task, problem.stiffness[name], 6)
        task.setMask(np.array(mask))
        sample = tsid.TrajectorySample(12, 6)
        sample.value(_pose(pose))
        task.setReference(sample)
        made.append(task)
    return made[0], made[1]


def _body_tasks(tsid: Any, problem: Standing, robot: Any) -> tuple[Any, Any]:
    com, posture = tsid.TaskComEquality("com", robot), tsid.TaskJointPosture("posture", robot)
    start = ff.to_pinocchio(problem.model, robot.model(), problem.posture).q
    for task, target in ((com, problem.com), (posture, start[7:])):
        _gains(task, problem.stiffness[task.name], len(target))
        sample = tsid.TrajectorySample(len(target))
        sample.value(target)
        task.setReference(sample)
    return com, posture


def _limits(tsid: Any, problem: Standing, robot: Any) -> tuple[Any, Any]:
    def sorted_(x: np.ndarray) -> np.ndarray:
        """Of the joints, in its order."""
        return ff.to_pinocchio(problem.model, robot.model(), problem.posture, tau=np.concatenate([np.zeros(6), x])).tau[6:]

    torque, velocity, acceleration = map(sorted_, (problem.torque, problem.velocity, problem.acceleration))
    actuation, joints = tsid.TaskActuationBounds("torque", robot), tsid.TaskJointBounds("joints", robot, problem.dt)
    actuation.setBounds(-torque, torque)
    joints.setVelocityBounds(-velocity, velocity)
    joints.setAccelerationBounds(-acceleration, acceleration)
    return actuation, joints


def _gains(task: Any, stiffness: float, rows: int) -> None:
    task.setKp(np.full(rows, stiffness))
    task.setKd(np.full(rows, 2.0 * np.sqrt(stiffness)))


def _pose(X: np.ndarray) -> Any:
    import pinocchio

    return pinocchio.SE3(X[:3, :3], X[:3, 3])


def tsid_contestants(problem: Standing, q: np.ndarray, v: np.ndarray) -> tuple[list[Contestant], str]:
    """(TSID with each of its solvers, at our states (count, nq), (count, nv); a note: why it is missing, or how it was run)."""
    try:
        peers = [tsid_peer(problem, solver) for solver in SOLVERS]
    except NoPeerError as error:
        return [], f"no peer: {error}"
    found = [Contestant(peer.label, peer.cycle, list(zip(*peer.state(q, v), strict=True))) for peer in peers]
    return found, "" if os.environ.get("OMP_NUM_THREADS") == "1" else THREADS
