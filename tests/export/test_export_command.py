"""`freeflyer export` on the command line, the page about it, CMake; controllers as C libraries without allocation."""

import ctypes
import freeflyer as ff
import numpy as np
import pytest
import re
import shutil
from cli.command import COMMANDS, printed, run_json
from c_program import STRICT, needs_cc, needs_nm, run, undefined
from closeness import close, fresh, refused
from freeflyer import control
from freeflyer.cli.robot import USUAL
from freeflyer.export import functions
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "export.md"


@pytest.mark.slow
def test_the_list_and_the_page_s_table():
    of_trees, of_closed = printed("export", "--list").split("\n\n")
    assert [line.split()[0] for line in of_trees.splitlines()] == list(functions.FUNCTIONS)
    assert of_closed.strip().endswith(", ".join(functions.CLOSED_FUNCTIONS))
    assert tuple(USUAL.split(",")) == functions.USUAL
    shared = {"--list", "--base", "--loops", "--json", "--debug", "--output", "--help"}
    options = {name for p in COMMANDS["export"].params for name in p.opts if name.startswith("--")} - shared
    assert options == set(re.findall(r"^\| `(--[a-z]+)`", PAGE.read_text(), re.MULTILINE))


@pytest.mark.slow
def test_a_folder_and_its_json(tmp_path):
    arguments = ("chain:n=3", "--functions", "mass_matrix", "-o", tmp_path / "c", "--prefix", "arm")
    result, data = run_json("export", *arguments)
    assert data["functions"] == ["arm_mass_matrix"]
    assert all((tmp_path / "c" / file).is_file() for file in data["files"])
    assert "1 function for" in result.stderr


@pytest.mark.slow
@needs_cc
@pytest.mark.skipif(shutil.which("cmake") is None, reason="there is no CMake")
def test_cmake_builds_the_libraries_and_the_example(tmp_path):
    printed("export", "chain:n=3", "--functions", "mass_matrix", "-o", tmp_path, "--prefix", "arm")
    for library in ("libarm.a", "libarm.so"):
        (tmp_path / library).unlink()
    run("cmake", "-S", ".", "-B", "build", folder=tmp_path)
    run("cmake", "--build", "build", folder=tmp_path)
    assert {"libarm.a", "libarm.so"} <= {p.name for p in (tmp_path / "build").iterdir()}
    assert "same bits" in run(tmp_path / "build" / "arm_example", folder=tmp_path)


STANCE = """
tasks:
  - center_of_mass: {level: 1, stiffness: 100}
  - frame_orientation: {frame: pelvis}
  - posture: {level: 2, weight: 0.1}
contacts:
  - surface: left_sole
  - surface: {frame: right_sole, friction: 0.7}
limits: {torques: 0.4, accelerations: 100, joints: {dt: 0.001}}
"""


def humanoid_stance(tmp_path):
    model = ff.robots.humanoid(20)
    q = ff.robots.standing_posture(model)
    (tmp_path / "stance.yaml").write_text(STANCE)
    return control.read_problem(tmp_path / "stance.yaml", model, q), q


def kangaroo_stance(_):
    model = ff.close_loops(ff.robots.kangaroo_like())
    q = model.neutral
    tasks = [control.CenterOfMassTask(ff.center_of_mass(model, q) - [0.0, 0.0, 0.01]),
             control.FrameOrientationTask("base_link", np.eye(3)), control.PostureTask(q, level=2)]  # fmt: skip
    return control.WholeBodyProblem(model, tasks, ff.contacts.feet_by_name(model), [control.TorqueLimits(scale=2.0)]), q


class CFunction:
    """The controller of a shared library."""

    def __init__(self, folder, prefix):
        self.library = ctypes.CDLL(str(folder / f"lib{prefix}.so"))
        text = (folder / f"{prefix}.h").read_text()
        def size(name):
            return int(text.split(f"_{name} ")[1].split()[0])
        found = (ctypes.c_double * size("TARGETS")).in_dll(self.library, f"{prefix}_targets")
        self.call, self.targets = self.library[f"{prefix}_control"], np.array(found)
        self.tau, self.forces = np.zeros(size("MOTORS")), np.zeros(6 * size("CONTACTS") + 1)
        rows = text.split("_MEMORY (")[1].split(")")[0]
        self.memory, self.scratch = np.zeros(eval(rows)), np.zeros(size("SCRATCH"))

    def __call__(self, q, v, targets=None):
        given = (q, v, self.targets if targets is None else targets, self.tau, self.forces, self.memory, self.scratch)
        return self.call(*[np.ascontiguousarray(x).ctypes.data_as(ctypes.c_void_p) for x in given])


@needs_cc
@pytest.mark.parametrize("make", [pytest.param(humanoid_stance, marks=pytest.mark.slow), kangaroo_stance])
def test_torques_are_those_of_python(make, tmp_path):
    """Gentle states and such with active limits, each cycle beginning with the one before; targets move."""
    rng = fresh(make.__name__)
    problem, q = make(tmp_path)
    model = problem.model
    ff.export.export_controller(problem, tmp_path / "c", q, prefix="stance")
    c, last, active = CFunction(tmp_path / "c", "stance"), None, 0
    place = int(re.search(r"_POSTURE\w*_TARGET = (\d+)", (tmp_path / "c/stance.h").read_text())[1])
    np.testing.assert_array_equal(c.targets[place : place + model.nq], q)
    for k in range(60):
        size = 10.0 ** rng.uniform(-3.0, 0.0)
        v = ff.project_velocity(model, q, size * rng.standard_normal(model.nv), constraints=problem.constraints)
        target = np.asarray(problem.tasks[0].target) + 0.02 * size * rng.standard_normal(3)
        last = problem.with_tasks([problem.tasks[0].with_target(target), *problem.tasks[1:]]).solve(q, v, warm=last)
        active += last.iterations > 0
        targets = c.targets.copy()
        targets[2:5] = target
        status = c(q, v, targets)
        assert status == {"solved": 0, "relaxed": 20, "stopped": 21}[last.status], k
        close(c.tau, last.tau, 1e-9, least=np.abs(last.tau).max())
        wrenches = np.concatenate(list(last.forces.values()))
        close(c.forces[:-1], wrenches, 1e-9, least=9.81 * model.mass)
        rows = len(last.asked[0].weights)
        np.testing.assert_array_equal(c.memory[:rows], 0.0 if last.held is None else last.held)
    assert active > 5


@needs_cc
@needs_nm
def test_the_example_runs_nothing_is_allocated_and_bad_states_are_refused(tmp_path):
    problem, q = humanoid_stance(tmp_path)
    folder = tmp_path / "c"
    ff.export.export_controller(problem, folder, q, prefix="stance")
    run("cc", *STRICT, "main.c", "stance.c", "objects/control_cycle.o", "-lm", "-o", "program", folder=folder)
    assert "status 0" in run("./program", 100, folder=folder)
    assert undefined(folder / "libstance.so") <= {"atan2", "sincos", "sin", "cos", "memset", "memcpy", "memmove"}
    c, rest = CFunction(folder, "stance"), np.zeros(problem.model.nv)
    assert (c(np.full_like(q, np.nan), rest), c(2.0 * q, rest), c(q, rest)) == (2, 3, 0)


@needs_cc
def test_a_controller_without_tasks_is_c_too(tmp_path):
    model = ff.robots.humanoid(20)
    problem, q = control.WholeBodyProblem(model, [], ff.contacts.feet_by_name(model)), ff.robots.standing_posture(model)
    assert "libbare.so" in ff.export.export_controller(problem, tmp_path / "c", q, prefix="bare").files


def test_what_cannot_be_exported(tmp_path):
    class Own(control.PostureTask):
        pass

    model = ff.robots.chain(2)
    problem = control.WholeBodyProblem(model, [Own(model.neutral)])
    refused(ff.InputError, "Own: methods of your own", ff.export.export_controller, problem, tmp_path / "c", model.neutral)
    refused(ff.InputError, "WholeBodyProblem, got", ff.export.export_controller, model, tmp_path / "c", model.neutral)
    assert not (tmp_path / "c").exists()
