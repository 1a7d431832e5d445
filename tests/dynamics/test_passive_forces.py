"""Springs, damping and friction: against MuJoCo's own passive forces, by energy, and for joints that follow others."""

import freeflyer as ff
import mujoco
import numpy as np
import pytest
from closeness import central, fresh, slope_error
from dataclasses import replace
from pathlib import Path
from tangent import state
from test_mujoco_states import dynamics_of

INERTIAL = '<inertial pos="0.1 0 0.2" mass="1.3" diaginertia="1 1.2 1.1"/>'
SPRINGS = f"""<mujoco><compiler angle="radian"/><worldbody>
  <body name="a" pos="0.1 0.2 1" quat="0.8 0.6 0 0"><joint name="base" type="free" stiffness="30" damping="0.5"/>{INERTIAL}
    <body name="b" quat="0.6 0 0.8 0"><joint name="ball" type="ball" stiffness="2" damping="0.2"/>{INERTIAL}
      <body name="c" pos="0 0 0.3"><joint name="hinge" ref="0.2" springref="0.3" stiffness="4" damping="0.1"/>
        <joint name="slide" type="slide" axis="1 0 0" springref="-0.1" stiffness="50" damping="0.7"/>{INERTIAL}
        <body name="d"><joint name="pushing" axis="0 1 0" stiffness="-3"/>{INERTIAL}</body>
      </body></body></body></worldbody></mujoco>"""


@pytest.mark.peers
@pytest.mark.parametrize("source", ["springs", "springs written again", "cassie", "kangaroo"])
def test_mujoco_itself(source: str, models_folder: Path) -> None:
    text = SPRINGS if source == "springs" else ff.to_mjcf(ff.load(SPRINGS)) if "springs" in source else None
    path = models_folder / source / f"{source}.xml"
    model = ff.load(text or path)
    mj = mujoco.MjModel.from_xml_string(text) if text else mujoco.MjModel.from_xml_path(str(path))
    q, v = state(model, fresh(), (5,), 1)
    there = ff.to_mujoco(model, q, v)
    theirs = np.array([dynamics_of(mj, *x)[0].qfrc_passive for x in zip(there.qpos, there.qvel)])
    ours = ff.passive_forces(model, q, v) + model.friction * np.sign(v)
    expected = ff.from_mujoco(model, there.qpos, there.qvel, qfrc=theirs).tau
    assert np.abs(expected).max() > 0.1
    assert np.abs(ours - expected).max() < 1e-12 * max(1.0, float(np.abs(expected).max()))
    assert np.array_equal(ff.passive_forces(model, q[0], v[0]), ff.passive_forces(model, q, v)[0])


def test_losses_and_springs() -> None:
    model = ff.load(SPRINGS)
    q = ff.configuration(model, base=model.description.joint("base").initial, hinge=0.3, slide=-0.1)
    assert np.abs(ff.passive_forces(model, q, np.zeros(model.nv))).max() < 1e-15
    text = """<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="revolute"><parent link="a"/><child link="b"/>
      <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="0.5" friction="2"/></joint>
      </robot>"""
    model = ff.load(text, base="fixed")
    rates = np.array([[-2.0], [0.0], [3.0]])
    assert np.array_equal(ff.passive_forces(model, [0.2], rates), [[1.0 + 2.0], [0.0], [-1.5 - 2.0]])
    assert ff.passive_forces(model, np.zeros((4, 1)), [1.0]).shape == (4, 1)
    # The force is minus the slope of the energy of both springs
    model = follower()

    def energy(q: float) -> float:
        return 0.5 * 2.0 * (q - 0.1) ** 2 + 0.5 * 5.0 * (-1.5 * q + 0.4 + 0.2) ** 2

    for q in (-0.7, 0.0, 1.1):
        slope = central(lambda h, q=q: energy(q + h))
        assert abs(ff.passive_forces(model, [q], [0.0])[0] + slope) < slope_error()
    moving = ff.passive_forces(model, [0.2], [2.0]) - ff.passive_forces(model, [0.2], [0.0])
    assert np.allclose(moving, -0.3 * 2.0 - 1.5 * 0.7, atol=1e-14)


def follower() -> ff.Model:
    links = tuple(ff.Link(n, ff.Inertia(1.0, np.zeros(3), np.eye(3))) for n in "ab")
    mimic = ff.Mimic("one", -1.5, 0.4)
    return ff.build(ff.Description("pair", links, (
        ff.Joint("one", "revolute", "world", "a", stiffness=(2.0,), spring_reference=(0.1,), damping=(0.3,)),
        ff.Joint("two", "revolute", "a", "b", mimic=mimic, stiffness=(5.0,), spring_reference=(-0.2,), friction=(0.7,)),
    )))  # fmt: skip


@pytest.mark.parametrize("kind", ["spherical", "free", "universal", "planar"])
def test_springs_of_several_coordinates_store_energy(kind: str) -> None:
    """Power is minus the rate of 1/2 k |way|^2, also with a spring reference of its own."""
    link = ff.Link("a", ff.Inertia(1.0, np.zeros(3), np.eye(3)))
    rng = fresh()
    bare = ff.build(ff.Description("one", (link,), (ff.Joint("j", kind, "world", "a"),)))
    q, v = state(bare, rng, (), 1)
    rest = ff.integrate(bare, q, 0.5 * rng.standard_normal(bare.nv))
    joint = ff.Joint("j", kind, "world", "a", stiffness=(3.0,) * bare.nv, spring_reference=tuple(rest))
    model = ff.build(ff.Description("one", (link,), (joint,)))

    def energy(t: float) -> float:
        x = ff.integrate(model, q, t * v)
        away = ff.difference(model, rest, x)
        if kind == "free":
            away[:3] = x[:3] - rest[:3]
        return 1.5 * float(away @ away)

    power = ff.passive_forces(model, q, np.zeros(model.nv)) @ v
    assert abs(power + (energy(1e-6) - energy(-1e-6)) / 2e-6) < 1e-7


def test_closed_robots(models_folder: Path) -> None:
    """Virtual power: tau_u . u = tau . v for every u."""
    closed = ff.close_loops(ff.load(models_folder / "cassie" / "cassie.xml"))
    u, other = fresh().standard_normal((2, closed.nv))
    q, G = closed.neutral, ff.velocity_map(closed, closed.neutral)
    whole = ff.passive_forces(closed.tree, q, G @ u)
    power = ff.passive_forces(closed, q, u) @ other
    assert abs(power - whole @ (G @ other)) < 1e-11 * max(1.0, abs(float(power)))


def test_files_keep_springs() -> None:
    model = ff.load(SPRINGS)
    for text in (ff.to_mjcf(model), ff.to_urdf(model)):
        again = ff.load(text, base=None)
        for joint in model.description.joints:
            other = again.description.joint(joint.name)
            assert (other.stiffness, other.damping) == (joint.stiffness, joint.damping)
            assert np.allclose(other.spring_reference or 0.0, joint.spring_reference or 0.0, atol=1e-15)
    turned = replace(model.description.joint("ball"), spring_reference=(0.6, 0.0, 0.0, 0.8))
    with pytest.raises(ff.DescriptionError, match="spring of a ball joint is at rest"):
        ff.to_mjcf(ff.build(model.description.with_joint(turned)))
    with pytest.raises(ff.DescriptionError, match=r"quaternion of length 0\.5"):
        ff.build(model.description.with_joint(replace(turned, spring_reference=(0.5, 0.0, 0.0, 0.0))))
    assert any("passive_forces" in note for note in model.description.notes)
