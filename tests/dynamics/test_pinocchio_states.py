"""States from and to Pinocchio: its mass matrix, bias, torques and accelerations through the converters are ours."""

import freeflyer as ff
import numpy as np
import pinocchio as pin
import pytest
from closeness import EXACT, central, close, distance, fresh, refused, slope_error
from dataclasses import replace
from pathlib import Path
from robots_on_disk import example, needs_examples
from tangent import state
from test_pinocchio_robots import AS_IS, COMPARED
from types import SimpleNamespace

pytestmark = pytest.mark.peers

STATES = 3


def check(pin_model: pin.Model, model: ff.Model) -> None:
    """Bias, inverse dynamics and the state itself, there and back."""
    q, v, a, tau = state(model, fresh(), (STATES,), 3)
    there = ff.to_pinocchio(model, pin_model, q, v, a, tau)
    here = ff.from_pinocchio(model, pin_model, *there[:4])
    assert np.abs(ff.difference(model, q, here.q)).max() < 1e-14 + EXACT * any(j.kind == "free" for j in model.joints)
    assert max(distance(x, y) for x, y in zip(here[1:4], (v, a, tau))) < 1e-14 * 10
    pin_model.gravity.linear = model.gravity
    data = pin_model.createData()
    torques, bias = (np.zeros((STATES, pin_model.nv)) for _ in range(2))
    for k in range(STATES):
        bias[k] = pin.nonLinearEffects(pin_model, data, there.q[k], there.v[k])
        torques[k] = pin.rnea(pin_model, data, there.q[k], there.v[k], there.a[k])
    found = ff.from_pinocchio(model, pin_model, there.q, there.v, there.a, torques, bias_forces=bias)
    close(found.tau, ff.inverse_dynamics(model, q, v, a))
    close(found.bias_forces, ff.bias_forces(model, q, v))
    back = ff.to_pinocchio(model, pin_model, q, v, bias_forces=found.bias_forces).bias
    again = ff.from_pinocchio(model, pin_model, there.q, there.v, bias_forces=back)
    close(again.bias_forces, found.bias_forces)
    alone = ff.from_pinocchio(model, pin_model, *(x[1] for x in there[:4]))
    assert all(np.allclose(x[1], y, rtol=1e-13, atol=1e-13) for x, y in zip(here[:4], alone[:4]))


@needs_examples
@pytest.mark.parametrize("path", COMPARED, ids=lambda p: p.name)
def test_urdfs(path: Path) -> None:
    """As Pinocchio reads them."""
    inertias = "as-is" if path.name == AS_IS else "strict"
    d = ff.load(path, inertias=inertias).description
    bare = replace(d, joints=tuple(replace(j, armature=()) for j in d.joints))
    check(pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer()), ff.build(bare, inertias=inertias))


@needs_examples
def test_mimic_joints_that_pinocchio_lets_follow() -> None:
    """mimic=True there: the followers have no coordinates, as here."""
    path = example("romeo_small.urdf")
    model = ff.load(path)
    pin_model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer(), mimic=True)
    assert pin_model.nv == model.nv
    check(pin_model, model)


def built(joints: list[tuple[str, pin.JointModel]]) -> pin.Model:
    """A chain of links with these joints, each 0.3 m further along z."""
    model = pin.Model()
    parent, at = 0, pin.SE3.Identity()
    for name, joint in joints:
        parent = model.addJoint(parent, joint, at, name)
        model.appendBodyToJoint(parent, pin.Inertia(1.5, np.array([0.1, -0.05, 0.2]), np.diag([0.3, 0.4, 0.2])), pin.SE3.Identity())
        at = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.3]))
    return model


def test_every_kind_that_both_have() -> None:
    """Planar, spherical, universal, unbounded and composite joints, in another order than here."""
    slide_and_turn = pin.JointModelComposite(pin.JointModelPZ())
    slide_and_turn.addJoint(pin.JointModelRZ())
    pin_model = built([("p", pin.JointModelPlanar()), ("s", pin.JointModelSpherical()),
                       ("u", pin.JointModelUniversal(np.eye(3)[0], np.eye(3)[1])), ("c", pin.JointModelRUBZ()),
                       ("cyl", slide_and_turn), ("h", pin.JointModelHelicalUnaligned(np.eye(3)[2], 0.1))])  # fmt: skip
    kinds = {"p": "planar", "s": "spherical", "u": "universal", "c": "continuous", "cyl": "cylindrical", "h": "helical"}
    X = np.eye(4)
    X[2, 3] = 0.3
    joints, parent = [], "world"
    for k, (name, kind) in enumerate(kinds.items()):
        axes = {"axis": np.eye(3)[0], "axis2": np.eye(3)[1]} if kind == "universal" else {}
        joints.append(ff.Joint(name, kind, parent, f"l{k}", X if k else np.eye(4), pitch=0.1 * (kind == "helical"), **axes))
        parent = f"l{k}"
    inertia = ff.Inertia(1.5, np.array([0.1, -0.05, 0.2]), np.diag([0.3, 0.4, 0.2]))
    model = ff.build(ff.Description("all", tuple(ff.Link(f"l{k}", inertia) for k in range(len(kinds))), tuple(joints[::-1])))
    check(pin_model, model)


def test_planar_and_unbounded_joints() -> None:
    """v here is the rate of x and y, there the body twist: a differs by more than a rotation."""
    pin_model = built([("p", pin.JointModelPlanar())])
    link = ff.Link("l", ff.Inertia(1.0, np.zeros(3), np.eye(3)))
    model = ff.build(ff.Description("plate", (link,), (ff.Joint("p", "planar", "world", "l"),)))
    q, v, a = state(model, fresh())
    theirs = ff.to_pinocchio(model, pin_model, q, v, a).a
    close(central(lambda t: ff.to_pinocchio(model, pin_model, q + t * v, v + t * a).v), theirs, slope_error(), most=1.0)
    assert np.abs(ff.from_pinocchio(model, pin_model, ff.to_pinocchio(model, pin_model, q).q, theirs).v).max() > 0.0
    tilted = ff.build(ff.Description("plate", (link,), (ff.Joint("p", "planar", "world", "l", axis=np.array([0.0, 1.0, 0.0])),)))
    refused(ff.InputError, "'p' has the axis .0.0, 1.0, 0.0.*along x and y", ff.to_pinocchio, tilted, pin_model, q)
    pin_model = built([("c", pin.JointModelRUBZ())])
    model = ff.build(ff.Description("wheel", (link,), (ff.Joint("c", "continuous", "world", "l"),)))
    angles = fresh().uniform(-np.pi, np.pi, (1000, 1))
    there = ff.to_pinocchio(model, pin_model, angles)
    assert np.abs(ff.from_pinocchio(model, pin_model, there.q).q - angles).max() <= 5e-16
    turned = ff.from_pinocchio(model, pin_model, ff.to_pinocchio(model, pin_model, angles + 2 * np.pi).q).q
    assert np.abs(turned - angles).max() < 2e-15


def test_closed_robots(models_folder: Path) -> None:
    """Independent velocities, accelerations and forces there and back; bias forces are those of the reduced equations."""
    path = models_folder / "five_bar"
    closed = ff.close_loops(ff.load(path / "robot.urdf", base="fixed", loops=path / "robot.yaml"))
    pin_model = pin.buildModelFromUrdf(str(path / "robot.urdf"))
    u, u_dot, tau = fresh().standard_normal((3, STATES, closed.nv))
    there = ff.to_pinocchio(closed, pin_model, closed.neutral, u, u_dot, tau)
    here = ff.from_pinocchio(closed, pin_model, *there[:4])
    assert max(distance(x, y) for x, y in zip(here[1:4], (u, u_dot, tau))) < 1e-13
    data = pin_model.createData()
    bias = np.array([pin.nonLinearEffects(pin_model, data, *x) for x in zip(there.q, there.v)])
    found = ff.from_pinocchio(closed, pin_model, there.q, there.v, bias_forces=bias)
    close(found.bias_forces, ff.bias_forces(closed, closed.neutral, u))
    refused(ff.InputError, "a is converted with the velocity", ff.to_pinocchio, closed, pin_model, closed.neutral, a=u_dot)
    with pytest.raises(ff.InputError, match="bias_forces is converted with the velocity"):
        ff.from_pinocchio(closed, pin_model, there.q, bias_forces=bias)


def test_refused_in_words() -> None:
    pin_model = built([("c", pin.JointModelRUBZ()), ("r", pin.JointModelRX())])
    links = tuple(ff.Link(n, ff.Inertia(1.0, np.zeros(3), np.eye(3))) for n in "ab")
    joints = (ff.Joint("c", "continuous", "world", "a"), ff.Joint("r", "revolute", "a", "b", axis=(1.0, 0.0, 0.0)))
    model = ff.build(ff.Description("two", links, joints))
    good = np.array([1.0, 0.0, 0.2])
    other = ff.build(ff.Description("three", links, (joints[0], ff.Joint("knee", "revolute", "a", "b"))))
    floating = ff.load(ff.Description("two", links, joints[1:]))
    euler = built([("c", pin.JointModelSphericalZYX()), ("r", pin.JointModelRX())])
    for bad, words in (
        (lambda: ff.from_pinocchio(model, pin_model, good[:2]), r"q has shape \(2,\), expected \(\.\.\., 3\)"),
        (lambda: ff.from_pinocchio(model, pin_model, 2.0 * good), r"\[0:2\] is a \(cos, sin\) of norm 2"),
        (lambda: ff.from_pinocchio(model, pin_model, good * np.nan), "must be finite"),
        (lambda: ff.from_pinocchio(other, pin_model, good), "joint 'r', which the model 'three' lacks"),
        (lambda: ff.from_pinocchio(model, built([("c", pin.JointModelRUBZ())]), good[:2]), "lacks joints that .* 'two' has: r"),
        (lambda: ff.from_pinocchio(floating, built([("r", pin.JointModelRX())]), good[:1]), "has no floating base"),
        (lambda: ff.from_pinocchio(model, euler, np.zeros(4)), "is a JointModelSphericalZYX with nq 3, nv 3"),
        (lambda: ff.from_pinocchio(pin_model, model, good), "first argument of from_pinocchio must be a freeflyer Model"),
        (lambda: ff.to_pinocchio(links, pin_model, good), "first argument of to_pinocchio must be a freeflyer Model"),
        (lambda: ff.from_pinocchio(model, SimpleNamespace(), good), "pin_model must be a pinocchio.Model"),
    ):  # fmt: skip
        refused(ff.InputError, words, bad)
