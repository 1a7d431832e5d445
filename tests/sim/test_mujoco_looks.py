"""Plants show the robot: light, a chequered floor, the meshes of its file where its links are, without mass and contacts."""

import freeflyer as ff
import mujoco
import numpy as np
import pytest
from closeness import fresh
from freeflyer.model.visuals.reading import visuals
from robots_on_disk import example, needs_examples


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
