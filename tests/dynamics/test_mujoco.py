"""The tree's quantities against MuJoCo: robots that it reads itself (MJCF, URDF), and our own written as MJCF for it."""

import freeflyer as ff
import mujoco
import numpy as np
import pytest
from answers import all_errors, stacked, too_large
from dataclasses import replace
from freeflyer import robots
from freeflyer.model.description import joint_sizes
from freeflyer.model.load import with_base
from freeflyer.model.readers.mjcf.names import CHAINS, group_name
from mujoco_peer import Peer, peer, reference
from pathlib import Path
from seeds import fresh
from xml.etree import ElementTree

pytestmark = pytest.mark.peers

STATES = 3
KINDS = ("revolute", "prismatic", "spherical", "universal", "cylindrical", "planar", "continuous")
BUILT_IN = {
    "humanoid": robots.humanoid, "quadruped": robots.quadruped, "space_manipulator": robots.space_manipulator,
    "aerial_manipulator": robots.aerial_manipulator, "holonomic_manipulator": robots.holonomic_manipulator,
    "differential_drive_manipulator": robots.differential_drive_manipulator,
    "all kinds, free": lambda: with_armature(robots.chain(9, KINDS, base="free")),
    "all kinds, fixed": lambda: ff.build(with_base(with_armature(robots.chain(9, KINDS[::-1])).description, "fixed")),
}  # fmt: skip


def with_armature(model: ff.Model, value: float = 0.02, but: tuple[str, ...] = ("free",)) -> ff.Model:
    """The same armature in all coordinates of every joint, for which MuJoCo has one number."""
    joints = (replace(j, armature=(0.0 if j.kind in but else value,) * joint_sizes(j.kind)[1]) for j in model.description.joints)
    return ff.build(replace(model.description, joints=tuple(joints)))


def named(model: ff.Model) -> dict[str, tuple[int, int]]:
    """MuJoCo's names of our joints, and where their q and v begin; its free joints have no name."""
    out = {}
    for j in model.joints:
        for k in range(len(CHAINS.get(j.kind, "."))):
            name = group_name(j.name, j.kind, k) if j.kind in CHAINS else j.name
            out["" if j.kind == "free" else name] = (j.iq + k, j.iv + k)
            out[name] = (j.iq + k, j.iv + k)
    return out


def worst_errors(model: ff.Model, p: Peer) -> dict[str, float]:
    rng = fresh(0)
    states = ff.random_configuration(model, rng, STATES), *rng.standard_normal((3, STATES, model.nv))
    wrenches = {body: rng.standard_normal(6) for body in list(p.bodies)[::4]}
    return all_errors(model, states, p.bodies, wrenches, stacked(reference(p, *x, wrenches) for x in zip(*states)))


@pytest.mark.parametrize("name", ["kangaroo", "cassie"])
def test_mjcf_read_by_both(name: str, models_folder: Path, poisoned: None) -> None:
    path = models_folder / name / f"{name}.xml"
    model, theirs = ff.load(path), mujoco.MjModel.from_xml_path(str(path))
    found = worst_errors(model, peer(model, theirs, named(model)))
    assert "momentum matrix" in found
    assert too_large(found) == {}


def test_sites_are_where_mujoco_has_them(models_folder: Path) -> None:
    path = models_folder / "cassie" / "cassie.xml"
    model, theirs = ff.load(path), mujoco.MjModel.from_xml_path(str(path))
    p, q = peer(model, theirs, named(model)), ff.random_configuration(model, fresh(1))
    p.set_state(q, np.zeros(model.nv))
    assert theirs.nsite > 0
    for k in range(theirs.nsite):
        X = ff.frame_pose(model, q, theirs.site(k).name)
        np.testing.assert_allclose(X[:3, 3], p.data.site_xpos[k], atol=1e-12)
        np.testing.assert_allclose(X[:3, :3].ravel(), p.data.site_xmat[k], atol=1e-12)


def put_inertias_back(theirs: mujoco.MjModel, urdf: Path) -> None:
    """Reading a URDF, MuJoCo makes spheres of inertias that no body has (eleven pairs of Tocabi's): the file's again."""
    for link in ElementTree.parse(urdf).iter("link"):
        inertial = link.find("inertial")
        if inertial is None or link.get("name") not in [theirs.body(k).name for k in range(theirs.nbody)]:
            continue
        assert inertial.find("origin").get("rpy") == "0 0 0"
        xx, xy, xz, yy, yz, zz = (float(inertial.find("inertia").get(f"i{k}")) for k in ("xx", "xy", "xz", "yy", "yz", "zz"))
        values, axes = np.linalg.eigh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        body = theirs.body(link.get("name"))
        body.inertia[:] = values
        mujoco.mju_mat2Quat(body.iquat, (axes * np.sign(np.linalg.det(axes))).ravel())


@pytest.mark.parametrize("base", ["free", "fixed"])
def test_urdf_read_by_both(base: str, models_folder: Path) -> None:
    path = models_folder / "tocabi" / "tocabi.urdf"
    model, spec = ff.load(path, base=base), mujoco.MjSpec.from_file(str(path))
    spec.compiler.fusestatic = False
    if base == "free":
        spec.worldbody.first_body().add_freejoint()
    theirs = spec.compile()
    put_inertias_back(theirs, path)
    found = worst_errors(model, peer(model, theirs, named(model)))
    assert ("momentum matrix" in found) == (base == "free")
    assert too_large(found) == {}


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_robots_written_for_mujoco(name: str) -> None:
    model = BUILT_IN[name]()
    theirs = mujoco.MjModel.from_xml_string(ff.to_mjcf(model))
    assert too_large(worst_errors(model, peer(model, theirs, named(model)))) == {}
