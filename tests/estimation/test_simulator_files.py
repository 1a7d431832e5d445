"""Files of the estimation's simulator: hostile ones are refused, MuJoCo is handed none, no file is left."""

import freeflyer as ff
import mujoco
import numpy as np
import os
import pytest
import re
from closeness import refused
from estimation_robots import sensed
from freeflyer.contacts import feet_by_name, feet_from_file
from freeflyer.model.readers.mjcf.gate import compile_model, spec_with_shapes
from freeflyer.model.writers.mjcf import to_mjcf
from freeflyer.progress import no_progress
from freeflyer.sim import Servos
from freeflyer.sim.mujoco_scene import Plant, plant
from freeflyer.sim.mujoco_spec import for_simulator
from freeflyer_papers.estimation.swing import Sway, lateral_swing, route, simulate
from pathlib import Path


@pytest.fixture(scope="module")
def robot():
    """The built-in robot's sensors, and its MJCF with a box under each foot."""
    s = sensed("kangaroo_like")
    text, feet = to_mjcf(for_simulator(s.model, s.partition.q[None])[0]), feet_by_name(s.model)
    links = {x.name: x.link for x in s.model.description.sites}
    for foot in feet:
        link = links[foot.frame]
        text = re.sub(f'(<body name="{link}"[^>]*>)', r'\1<geom type="box" size=".1 .05 .01" mass="0"/>', text)
    return s, text


def test_feet_and_simulator_refuse_hostile_files(robot, tmp_path, monkeypatch):
    """By the reader that model/test_hostile_files.py tries; meshes of shapes are read here alone."""
    s, text = robot
    (inside := tmp_path / "robot").mkdir()
    (tmp_path / "secret.xml").write_text("<mujocoinclude/>")
    os.mkfifo(inside / "pipe.stl")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    feet, path = feet_by_name(s.model), inside / "robot.xml"
    mesh = '<asset><mesh name="m" file="pipe.stl"/></asset><worldbody><geom type="mesh" mesh="m"/>'
    for more, words in (('<include file="../secret.xml"/><worldbody>', "outside the folder"), (mesh, "not a regular file")):
        path.write_text(text.replace("<worldbody>", more))
        for read in (lambda: feet_from_file(s.closed, path), lambda: lateral_swing(s, path),
                     lambda: plant(s.model, path, feet, s.names, s.partition.q[None], Servos())):  # fmt: skip
            refused(ff.FileError, words, read)
    assert os.listdir(".") == []


def test_mujoco_is_handed_no_path(monkeypatch, robot, tmp_path):
    """Files are read by the package's own reader only: MuJoCo's readers of files are not called."""

    def refuse(*_, **__):
        raise AssertionError("MuJoCo opens a file")

    for owner, name in ((mujoco.MjSpec, "from_file"), (mujoco.MjModel, "from_xml_path")):
        monkeypatch.setattr(owner, name, refuse)
    s, text = robot
    (path := tmp_path / "robot.xml").write_text(text)
    assert len(feet_from_file(s.closed, path)) == 2
    sources = Path(ff.__file__).parent.rglob("*.py")
    callers = [p.name for p in sources if re.search(r"\.from_file\(|\.from_xml_path\(", p.read_text())]
    assert callers == []


def test_shapes_that_matter_stay(tmp_path):
    """Looks without files go, what collides or shapes an inertia stays; poses and masses are MuJoCo's."""
    text = """<mujoco><asset><mesh name="look" file="gone.stl"/><material name="grey"/><hfield name="h" nrow="2" ncol="2"
    size="1 1 1 1"/><mesh name="solid" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset><worldbody><geom type="hfield" hfield="h"/>
    <body name="b"><joint name="j"/><geom type="mesh" mesh="look" contype="0" conaffinity="0" mass="0" material="grey"/>
    <geom name="s" type="sphere" size=".1"/><geom name="m" type="mesh" mesh="solid"/></body></worldbody>
    <actuator><muscle joint="j"/></actuator><tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon></mujoco>"""
    (path := tmp_path / "robot.xml").write_text(text)
    mj = compile_model(*spec_with_shapes(path))
    assert ([mj.geom(g).name for g in range(mj.ngeom)], (mj.nu, mj.ntendon, mj.nhfield)) == (["s", "m"], (0, 0, 0))
    assert mj.body("b").mass[0] == pytest.approx(ff.load(path, base=None).mass)
    path.write_text(text.replace('contype="0" conaffinity="0" mass="0"', 'mass="0"'))
    refused(ff.FileError, r"collides with the mesh 'look'.*no mesh file at", spec_with_shapes, path)


def test_a_simulation_that_breaks_leaves_no_file(tmp_path, monkeypatch):
    """A simulated robot whose numbers are lost: MuJoCo warns, the error is ours, the working folder stays as it was."""
    monkeypatch.chdir(tmp_path)
    s, sway, servos = sensed("kangaroo_like"), Sway(amplitude=0.03, frequency=0.5, duration=5.1), Servos()
    feet = feet_by_name(s.model)
    way = route(s, feet, sway)
    simulator = plant(s.model, None, feet, s.names, np.vstack([way.start, way.q]), servos)
    assert isinstance(simulator, Plant)
    simulator.mj_model.actuator_gainprm[:, 0] = 1e200
    refused(ff.InputError, "falls in the simulator", simulate, s, simulator, way, sway, servos, no_progress)
    assert os.listdir(".") == []
