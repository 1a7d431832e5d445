"""Our simulator and MuJoCo on the same motions, at small steps; MuJoCo as the plant of controllers, how it looks; refusals."""

import freeflyer as ff
import mujoco
import numpy as np
import pytest
from closeness import close, fresh, refused
from dataclasses import replace
from freeflyer import sim
from freeflyer.errors import InputError
from freeflyer.model.load import with_base
from freeflyer.model.visuals.reading import visuals
from linkage_samples import planar
from robots_on_disk import example, needs_examples
from test_simulating import tumbling
from types import SimpleNamespace


def runge_kutta(model: ff.Model, q: np.ndarray, v: np.ndarray, tau, h: float, count: int) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) by MuJoCo's own integrator of order 4, on the file that we write, forces held over each step."""
    rooted = ff.build(with_base(model.description, "fixed")) if model.description.roots else model
    mj = mujoco.MjModel.from_xml_string(ff.to_mjcf(rooted))
    mj.opt.integrator, mj.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, h
    mj.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT | mujoco.mjtDisableBit.mjDSBL_CONTACT
    mj.dof_damping[:], mj.dof_frictionloss[:] = 0.0, 0.0
    data = mujoco.MjData(mj)
    data.qpos[:], data.qvel[:] = ff.to_mujoco(model, q, v)[:2]
    for k in range(count):
        data.qfrc_applied[:] = ff.to_mujoco(model, ff.from_mujoco(model, data.qpos)[0], tau=tau(k * h)).qfrc
        mujoco.mj_step(mj, data)
    return ff.from_mujoco(model, data.qpos, data.qvel)[:2]


def pendulum(rng):
    model = ff.robots.chain(n=6)
    return model, ff.random_configuration(model, rng), rng.standard_normal(model.nv)


@pytest.mark.peers
@pytest.mark.parametrize("make", [tumbling, pendulum])
def test_motions_are_those_of_mujoco(make):
    rng = fresh()
    model, q, v = make(rng)
    push = 0.1 * rng.standard_normal(model.nv)
    h, count = 1e-3, 300
    if make is tumbling:  # a force on the base is held in its own axes here, in the world's there
        push[:3] = 0.0
    tau = lambda t: push * np.cos(3.0 * t)
    run = sim.simulate(model, q, v, lambda t, q, v: tau(t), dt=h, duration=h * count, hold=True)
    there = runge_kutta(model, q, v, tau, h, count)
    assert np.abs(ff.difference(model, run.q[-1], there[0])).max() < 1e-8
    assert np.abs(run.v[-1] - there[1]).max() < 1e-7 * max(1.0, np.abs(run.v[-1]).max())


@pytest.mark.peers
def test_mujoco_is_a_plant_of_a_tree():
    """In free flight, under a regulator: the same motion as ours, as near as MuJoCo's order 1 is."""
    rng = fresh()
    model = ff.with_gravity(ff.robots.space_manipulator(), (0.0, 0.0, 0.0))
    q, v = ff.random_configuration(model, rng), 0.3 * rng.standard_normal(model.nv)
    damper = lambda t, q, v: -0.5 * v
    gaps = []
    for step in (1e-3, 5e-4):
        plant = sim.mujoco_plant(model, q, servos=sim.Servos(dt=step, loop_time=0.01))
        plant.mj_model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
        there = sim.simulate_in_mujoco(plant, q, v, damper, dt=2e-3, duration=0.5)
        ours = sim.simulate(model, q, v, damper, dt=2e-3, duration=0.5, hold=True)
        gaps.append(np.abs(ff.difference(model, there.q[-1], ours.q[-1])).max())
        assert there.t.shape == ours.t.shape
    assert gaps[0] < 5e-3
    assert 1.5 < gaps[0] / gaps[1] < 2.5


def test_a_quadruped_stands_in_mujoco_and_is_pushed():
    model = ff.robots.quadruped()
    feet = [ff.contacts.point(f"{a}_{b}_foot", friction=0.9) for a in ("front", "rear") for b in ("left", "right")]
    q = ff.robots.standing_posture(model)
    motors = [j.name for j in model.joints if j.nv == 1]
    plant = sim.mujoco_plant(model, q, feet=feet, motors=motors, servos=sim.Servos(stiffness=2e3, damping=50.0))
    push = lambda t, q, v: {"trunk": [0.0, 80.0, 0.0, 0.0, 0.0, 0.0]} if 0.5 <= t < 0.7 else None
    run = sim.simulate_in_mujoco(plant, q, np.zeros(model.nv), dt=5e-3, duration=2.0, external=push)
    assert run.failure is None
    carried = sum(np.einsum("tij,tj->ti", ff.frame_pose(model, run.q, n)[:, :3, :3], F[:, :3]) for n, F in run.forces.items())
    weight = 9.81 * model.mass
    assert abs(carried[-1, 2] - weight) < 1e-2 * weight
    pushed = (run.t > 0.6) & (run.t < 0.7)
    assert abs(carried[pushed, 1].mean() + 80.0) < 25.0
    assert np.abs(run.q[-1, :3] - q[:3]).max() < 0.02


@pytest.mark.peers
def test_a_closed_robot_is_driven_in_its_independent_coordinates(models_folder):
    """Cassie on its springs, without weight or limits: MuJoCo's loops are soft, and its motions come nearer as they stiffen."""
    tree = ff.load(models_folder / "cassie" / "cassie.xml", base="free", gravity=(0.0, 0.0, 0.0))
    model = ff.close_loops(tree)
    q = ff.neutral(model)
    rng = fresh()
    u = 0.05 * rng.standard_normal(model.nv)
    springs = lambda t, q, v: ff.passive_forces(model, q, 0.0 * v)
    ours = sim.simulate(model, q, u, springs, dt=5e-4, duration=0.1)
    gaps = []
    for loop_time in (2e-2, 5e-4):
        servos = sim.Servos(dt=2e-4, loop_time=loop_time, friction=False)
        plant = sim.mujoco_plant(model, q, servos=servos, feet=())
        plant.mj_model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
        there = sim.simulate_in_mujoco(plant, q, u, dt=2e-3, duration=0.1)
        assert there.failure is None
        gaps.append(np.abs(ff.difference(tree, there.q[-1], ours.q[-1])).max())
    assert gaps[1] < 1e-5
    assert gaps[1] < 0.1 * gaps[0]


def test_servos_of_a_closed_robot_are_forces_of_all_its_joints():
    """The record has a force for each joint of the tree: of motors those of their servos, of passive joints none."""
    model = ff.close_loops(ff.robots.kangaroo_like())
    q, gains = ff.control.stand_on_feet(model).q, sim.Servos(stiffness=1e4, damping=1e-6)
    plant = sim.mujoco_plant(model, q, feet=(), motors=model.actuated, servos=gains)
    motors = [model.tree.joint(name) for name in model.actuated]
    targets = q[[j.iq for j in motors]] + 1e-4
    run = sim.simulate_in_mujoco(plant, q, np.zeros(model.nv), dt=1e-3, duration=0.01, targets=targets)
    assert run.tau.shape == (len(run.t), model.tree.nv)
    assert np.abs(run.tau[:, [j.iv for j in motors]] - 1e4 * (targets - run.q[:, [j.iq for j in motors]])).max() < 1e-4
    assert not np.delete(run.tau, [j.iv for j in motors], axis=1).any()
    columns = run.columns()
    assert all((columns[f"tau {j.name}"] == run.tau[:, j.iv]).all() for j in motors)
    assert run.wrenches(ff.ConstraintSet(model)) == {}  # a run of this model
    refused(InputError, "MuJoCo's are repeated by", sim.replay, model, run)


def test_damping_does_not_soften_loops():
    """Light damped bars of a parallelogram, its coupler heavy, falls: opposite joints turn alike, and as in our closed model."""
    rng, q, v = fresh(), np.array([1.0, -1.0, 1.0]), np.zeros(1)
    turned = np.eye(4)
    turned[:3, :3] = [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]
    given = planar((0.2, 0.4), (0.2,), 0.4, X=turned).description
    heavy = ff.Inertia(5.0, np.array([0.2, 0.0, 0.0]), np.diag([0.01, 0.05, 0.05]))
    light = ff.Inertia(1e-3, np.array([0.1, 0.0, 0.0]), np.diag([1e-7, 1e-6, 1e-6]))
    links = tuple(replace(link, inertia=heavy if link.name == "l1_bar" else light) for link in given.links)
    joints = tuple(replace(j, damping=(rng.uniform(1.0, 2.0),)) if j.kind == "revolute" else j for j in given.joints)
    model = ff.close_loops(ff.build(replace(given, links=links, joints=joints)))
    ours = sim.simulate(model, q, v, lambda t, q, v: ff.passive_forces(model, q, v), dt=1e-3, duration=0.3)
    there = sim.simulate_in_mujoco(sim.mujoco_plant(model, q), q, v, dt=1e-3, duration=0.3)
    assert np.abs(there.q - there.q[:, :1] * (1.0, -1.0, 1.0)).max() < 2e-4 < 0.2 < np.ptp(ours.q[:, 0])
    assert np.abs(ours.q - there.q).max() < 1e-3


def test_sensing_is_the_controllers_alone():
    model = ff.robots.chain(n=3)
    q, v, seen = 0.1 * np.ones(model.nq), np.zeros(model.nv), []
    plant = sim.mujoco_plant(model, q)
    look = lambda t, q, v: seen.append(q) or np.zeros(model.nv)
    run = sim.simulate_in_mujoco(plant, q, v, look, dt=5e-3, duration=0.1, sensing=sim.Sensing(delay=0.01))
    plain = sim.simulate_in_mujoco(plant, q, v, dt=5e-3, duration=0.1)
    assert (run.q == plain.q).all()
    assert (np.array(seen)[2:] == run.q[:-2]).all()
    seen.clear()
    sim.simulate_in_mujoco(plant, q, v, look, dt=5e-3, duration=0.1, sensing=sim.Sensing(1e-3, seed=1))
    assert 5e-4 < np.std(np.array(seen) - run.q) < 2e-3


@pytest.mark.parametrize(("change", "word"), [
    ({"dt": 7e-4}, "multiple of the plant's step"), ({"duration": 0.0123}, "multiple of dt"),
    ({"q": np.zeros((2, 3))}, "one robot"), ({"plant": 3}, "mujoco_plant"), ({"targets": np.zeros(2)}, "targets"),
    ({"external": {"nose": np.zeros(6)}}, "nose"), ({"inputs": "x"}, "inputs"), ({"sensing": "x"}, "Sensing"),
])  # fmt: skip
def test_bad_arguments_of_runs(change, word):
    model = ff.robots.chain(n=3)
    arguments = {"plant": sim.mujoco_plant(model), "q": np.zeros(3), "v": np.zeros(3), "dt": 5e-3, "duration": 0.1} | change
    refused(InputError if word != "nose" else ff.errors.FreeflyerError, word, sim.simulate_in_mujoco, **arguments)


def test_a_start_deep_below_the_floor_is_refused():
    """As on our own ground: MuJoCo would throw the robot into the air."""
    model = ff.robots.humanoid(20)
    q = ff.robots.standing_posture(model)
    plant, sunk = sim.mujoco_plant(model), q - 0.1 * np.eye(model.nq)[2]
    refused(InputError, "0.1 m below the floor", sim.simulate_in_mujoco, plant, sunk, np.zeros(model.nv), dt=1e-3, duration=0.01)
    assert sim.simulate_in_mujoco(plant, q, np.zeros(model.nv), dt=1e-3, duration=0.01).failure is None


@pytest.mark.parametrize("change", [{"loop_time": 0.0005}, {"loop_impedance": 1.0}])
def test_bad_servos(change):
    refused(InputError, "do not hold in MuJoCo", sim.Servos, **change)


def test_a_robot_without_feet_that_would_fall_through_the_floor_is_refused():
    """But where it is anchored, has no weight, or is said to have no feet."""
    model = ff.robots.quadruped()
    refused(InputError, r"feet=\[freeflyer.contacts.point\('front_left_foot'\), .*, or give feet=\(\)", sim.mujoco_plant, model)
    refused(InputError, r"feet=\[freeflyer.contacts.point\('frame'\), ...\]", sim.mujoco_plant, ff.robots.aerial_manipulator())
    assert sim.mujoco_plant(model, feet=()).feet == ()
    assert sim.mujoco_plant(ff.with_gravity(model, (0.0, 0.0, 0.0))).feet == ()
    assert [foot.name for foot in sim.mujoco_plant(ff.robots.humanoid()).feet] == ["left_sole", "right_sole"]


BOX = ('<mujoco><worldbody><body name="box" pos="0 0 0.06"><freejoint/><geom type="box" size="0.1 0.1 0.05" mass="2"/>'
       '<site name="sole" pos="0 0 -0.05"/></body></worldbody></mujoco>')  # fmt: skip


def test_feet_at_sites_and_several_feet_on_one_body(tmp_path):
    (path := tmp_path / "box.xml").write_text(BOX)
    model = ff.load(path)
    q = np.array([0.0, 0.0, 0.06, 0.0, 0.0, 0.0, 1.0])
    corners = np.array([[0.1, 0.1, 0.0], [0.1, -0.1, 0.0], [-0.1, -0.1, 0.0], [-0.1, 0.1, 0.0]])
    for where in (path, None):
        for feet in (
            [ff.contacts.surface("sole", corners)], [ff.contacts.point("sole", p, name=f"f{k}") for k, p in enumerate(corners)],
        ):  # fmt: skip
            plant = sim.mujoco_plant(model, q, path=where, feet=feet)
            run = sim.simulate_in_mujoco(plant, q, np.zeros(6), dt=1e-2, duration=1.0)
            normal = [run.forces[f.name][-1, 2] for f in feet]
            np.testing.assert_allclose(normal, 2.0 * 9.81 / len(feet), rtol=0.02)
    # The colliding shapes of the user's own file touch the floor, without feet, too: dropped on it the box comes to rest
    run = sim.simulate_in_mujoco(sim.mujoco_plant(model, path=path), q + 0.5 * np.eye(7)[2], np.zeros(6), dt=1e-2, duration=1.0)
    assert abs(run.q[-1, 2] - 0.05) < 1e-3
    refused(InputError, "twice", lambda: sim.mujoco_plant(model, feet=[ff.contacts.point("sole"), ff.contacts.point("sole")]))
    (path := tmp_path / "ghost.xml").write_text(BOX.replace("<geom ", '<geom contype="0" conaffinity="0" '))
    with pytest.raises(InputError, match="no colliding shape"):
        sim.mujoco_plant(ff.load(path), path=path, feet=[ff.contacts.surface("sole", corners)])


@pytest.mark.peers
def test_wrenches_on_feet_are_those_of_mujocos_own_inverse_dynamics():
    """cfrc_ext: force and torque of all contacts on a body, about the centre of mass of the whole robot, in world axes."""
    model, rng = ff.robots.humanoid(), fresh()
    q = ff.robots.standing_posture(model)
    q[2] -= 1e-3
    feet = ff.contacts.feet_by_name(model)
    plant = sim.mujoco_plant(model, q, feet=feet)
    run = sim.simulate_in_mujoco(plant, q, 0.05 * rng.standard_normal(model.nv), dt=5e-4, duration=1e-3)
    mujoco.mj_rnePostConstraint(plant.mj_model, plant.data)
    center, assembled = plant.data.subtree_com[1], dict(zip((f.name for f in feet), plant.contacts()))
    for foot in feet:
        body = plant.mj_model.body(next(s.link for s in model.description.sites if s.name == foot.frame)).id
        m, f = plant.data.cfrc_ext[body].reshape(2, 3)
        assert np.linalg.norm(f[:2]) > 1e-2 * np.linalg.norm(f) > 0.1
        close(assembled[foot.name], np.concatenate([f, m + np.cross(center, f)]), 1e-12)
        X = ff.frame_pose(model, run.q[-1], foot.frame)
        at_origin = m + np.cross(center - X[:3, 3], f)
        close(run.forces[foot.name][-1], np.concatenate([X[:3, :3].T @ f, X[:3, :3].T @ at_origin]), 1e-9)


def test_spheres_stand_upright_whatever_the_axes_of_a_foot(tmp_path):
    """A box that lies on its side: the contacts' points are on the floor, not the spheres' middles."""
    (path := tmp_path / "box.xml").write_text(BOX)
    model = ff.load(path)
    ends = [(0.1, 0.05), (0.1, -0.05), (-0.1, 0.0)]
    side = [ff.contacts.point("box", [x, -0.1, z], name=f"f{k}") for k, (x, z) in enumerate(ends)]
    q = np.array([0.0, 0.0, 0.1, np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])
    run = sim.simulate_in_mujoco(sim.mujoco_plant(model, q, feet=side), q, np.zeros(6), dt=1e-2, duration=0.5)
    assert np.abs(run.q[:, 2] - 0.1).max() < 1e-3


def test_mimic_joints_follow_in_mujoco():
    link = ff.Inertia(1.0, np.array([0.0, 0.0, -0.1]), 0.01 * np.eye(3))
    joints = (
        ff.Joint("a", "revolute", "world", "l1", axis=np.array([0.0, 1.0, 0.0])),
        ff.Joint("b", "revolute", "l1", "l2", axis=np.array([0.0, 1.0, 0.0]), mimic=ff.Mimic("a", -0.5, 0.0)),
    )
    model = ff.build(ff.Description("two", (ff.Link("l1", link), ff.Link("l2", link), ff.Link("world")), joints))
    q, v = np.array([0.4]), np.zeros(1)
    ours = sim.simulate(model, q, v, dt=5e-3, duration=0.3)
    there = sim.simulate_in_mujoco(sim.mujoco_plant(model, q, servos=sim.Servos(dt=1e-4)), q, v, dt=5e-3, duration=0.3)
    assert np.abs(ours.q - there.q).max() < 2e-3
    refused(InputError, "one coordinate", sim.mujoco_plant, model, motors=["b"])
    refused(InputError, "twice", sim.mujoco_plant, model, motors=["a", "a"])
    with pytest.raises(InputError, match="expressed"):
        sim.simulate_in_mujoco(sim.mujoco_plant(model), q, v, dt=5e-3, duration=0.1, expressed="nonsense")


def test_contacts_count_on_the_feet_of_both_geoms():
    """Forces act on the second geom of a contact, and back on the first; samples differ in how many contacts they have."""
    from freeflyer.sim.mujoco_scene import Touches

    rng, samples, expected = fresh(), [], np.zeros((4, 3, 6))
    bodies = SimpleNamespace(geom_bodyid=np.array([0, 4, 2, 5]))  # the feet 2, 0, 1 are on the bodies of the last three geoms
    touches = Touches(SimpleNamespace(bodies={4: [2], 2: [0], 5: [1]}, feet=range(3), mj_model=bodies))
    for k, count in enumerate((3, 0, 7, 2)):
        feet, forces, places = rng.integers(-1, 3, (count, 2)), rng.standard_normal((count, 6)), rng.standard_normal((count, 3))
        axes = np.linalg.qr(rng.standard_normal((count, 3, 3)))[0]
        sides = np.where((rng.random(feet.shape) < 0.5) & (feet >= 0), 4 + feet, np.array([2, 3, 1, 0])[feet])  # geoms, or feet
        samples.append((sides, forces, np.hstack([axes.reshape(-1, 9), places])))
        for (first, second), f, R, p in zip(feet, forces, axes, places):
            force, torque = R.T @ f[:3], R.T @ f[3:]
            for foot, sign in ((first, -1.0), (second, 1.0)):
                if foot >= 0:
                    expected[k, foot] += sign * np.concatenate([force, torque + np.cross(p, force)])
    touches.sides, touches.forces, touches.places = (np.concatenate(x) for x in zip(*samples))
    touches.counts, touches.used = [len(x) for x, *_ in samples], 12
    close(touches.wrenches(), expected, 1e-12, least=1.0)


def shown(plant) -> dict[str, np.ndarray]:
    """Corners (n, 3) in the world of the meshes of each link."""
    m, d, found = plant.mj_model, plant.data, {}
    for g in range(m.ngeom):
        mesh = m.geom_dataid[g]
        if m.geom_type[g] == mujoco.mjtGeom.mjGEOM_MESH and m.geom_group[g] == 2:
            corners = m.mesh_vert[m.mesh_vertadr[mesh] :][: m.mesh_vertnum[mesh]]
            link = m.mesh(mesh).name.partition(" of ")[2]
            found.setdefault(link, []).append(corners @ d.geom_xmat[g].reshape(3, 3).T + d.geom_xpos[g])
    return {link: np.vstack(x) for link, x in found.items()}


def check(model: ff.Model, plant, q: np.ndarray, tolerance: float) -> None:
    found, shapes = shown(plant), visuals(model).shapes
    assert set(found) <= {s.link for s in shapes}
    assert len(found) >= 0.9 * len({s.link for s in shapes})
    for link, corners in found.items():
        ours = np.vstack([s.mesh.moved(ff.frame_pose(model, q, link)).vertices for s in shapes if s.link == link])
        for bound in (np.min, np.max):
            assert bound(corners, axis=0) == pytest.approx(bound(ours, axis=0), abs=tolerance), link


def test_a_plant_has_light_and_a_floor_and_the_robots_shapes() -> None:
    model = ff.robots.make("humanoid")
    q = ff.robots.standing_posture(model)
    plant, bare = ff.sim.mujoco_plant(model, q), ff.sim.mujoco_plant(model, q, shapes=False)
    check(model, plant, q, 1e-4)
    m = plant.mj_model
    assert m.nlight == 1
    floor = m.geom("floor")
    assert m.mat_texid[floor.matid[0]].max() >= 0  # chequered
    assert bare.mj_model.nmesh == 0
    np.testing.assert_allclose(m.body_mass, bare.mj_model.body_mass)
    np.testing.assert_allclose(m.body_inertia, bare.mj_model.body_inertia)
    for plant_of in (plant, bare):
        for _ in range(20):
            mujoco.mj_step(plant_of.mj_model, plant_of.data)
    np.testing.assert_allclose(plant.data.qpos, bare.data.qpos, atol=1e-12)
    assert plant.data.ncon == bare.data.ncon


@needs_examples
def test_meshes_of_a_file_stand_where_its_links_are() -> None:
    model = ff.load(example("talos_reduced.urdf"))
    q = ff.random_configuration(model, fresh("looks"))
    check(model, ff.sim.mujoco_plant(model, q, feet=()), q, 1e-4)


def test_the_users_own_file_is_shown_with_all_its_shapes(models_folder) -> None:
    path = models_folder / "cassie" / "cassie.xml"
    model = ff.load(path)
    plant = ff.sim.mujoco_plant(model, model.neutral, path=path)
    check(model, plant, model.neutral, 1e-4)
