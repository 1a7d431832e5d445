"""Runs of every kind as motions, figures, film strips, tables and notebook cells."""

import freeflyer as ff
import json
import numpy as np
import pickle
import pytest
import sys
from closeness import fresh, refused
from dataclasses import replace
from freeflyer.plots.film_scene import postures
from freeflyer.shown import notebook_html
from freeflyer.viewer import display
from freeflyer.viewer.motions import floor_of, motion
from freeflyer.plots.picture import picture
from runs import KINDS, batch, control_run, free_flight, hopping, quadruped


@pytest.mark.parametrize("kind", KINDS)
def test_every_run_is_a_motion_a_figure_a_film_a_table_and_a_cell(kind, tmp_path):
    run = KINDS[kind]()
    m = motion(run)
    assert m.q.shape == (len(m.t), m.q.shape[1], m.model.nq)
    assert np.isfinite(m.q).all()
    assert np.isfinite(floor_of(m))
    samples = m.sampled(60.0)
    assert (samples[0], samples[-1]) == (0, len(m.t) - 1)
    assert (np.diff(samples) > 0).all()
    for curves in m.signals.values():
        for x in curves.values():
            assert x.shape == m.q.shape[:2]
    assert len(run.plot().axes) >= 2
    if m.q.shape[1] == 1:
        assert run.film(count=2).axes
    else:
        refused(ff.InputError, "batch", run.film)
    cell = run._repr_html_()
    assert cell.count("data:image/png;base64,") >= 1
    assert "http" not in cell
    run.to_csv(tmp_path / "run.csv")
    refused(ff.FileError, "overwrite", lambda: run.to_csv(tmp_path / "run.csv"))
    names = (tmp_path / "run.csv").read_text().partition("\n")[0].split(",")
    table = np.loadtxt(tmp_path / "run.csv", delimiter=",", skiprows=1)
    assert table.shape == (len(m.t) * m.q.shape[1], len(names))
    columns = run.columns()
    for name in ("t", next(x for x in columns if x.startswith("q ")), list(columns)[-1]):
        expected = np.broadcast_to(columns[name].reshape(len(m.t), -1), m.q.shape[:2]).T.ravel()
        np.testing.assert_array_equal(table[:, names.index(name)], expected)


@pytest.mark.parametrize("kind", KINDS)
def test_a_data_frame_has_the_same_columns(kind):
    pandas = pytest.importorskip("pandas")
    run = KINDS[kind]()
    frame = run.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    expected = [*(["robot"] if kind == "batch" else []), *run.columns()]
    assert list(frame.columns) == expected
    if kind == "batch":
        assert frame.groupby("robot").size().tolist() == [len(run.t)] * 20
        np.testing.assert_array_equal(frame[frame.robot == 7]["q joint_2"], run.q[:, 7, 1])


def test_without_pandas_the_error_helps(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    refused(ff.errors.MissingExtraError, "pip install pandas", lambda: free_flight().to_pandas())


def test_names_of_columns_are_those_of_joints():
    names = list(quadruped().columns())
    assert names[:8] == ["t", *(f"q root_joint.{x}" for x in ("x", "y", "z", "qx", "qy", "qz", "qw"))]
    some = {"v root_joint.wz", "q front_left_knee", "tau front_left_knee", "force front_left_foot.fz", "ground penetration"}
    assert some <= {*names}
    closed = KINDS["closed"]()
    assert len({*closed.columns()}) == 1 + closed.model.nq + 2 * closed.model.nv
    assert {f"v {name}" for name in closed.model.actuated} <= {*closed.columns()}
    run = hopping()
    np.testing.assert_array_equal(run.columns()["force foot_point.fz"], run.floor_forces[:, 1])


def test_runs_of_loaded_files_ask_for_their_model(tmp_path):
    run, model = free_flight(), free_flight().model
    run.save(tmp_path / "run.npz")
    loaded = ff.sim.load(tmp_path / "run.npz")
    assert loaded.model is None
    assert pickle.loads(pickle.dumps(run)).model is None
    assert "q 0" in loaded.columns()
    assert "img" not in loaded._repr_html_()
    for show in (motion, lambda x: x.film()):
        refused(ff.InputError, "give its model", show, loaded)
    assert motion(loaded, model).q.shape == motion(run).q.shape
    assert loaded.film(model=model, count=2).axes
    for wrong in (ff.robots.chain(3), ff.robots.make("humanoid")):
        refused(ff.InputError, "another robot", motion, loaded, wrong)
    refused(ff.InputError, "model must be a freeflyer Model", lambda: loaded.film(model="chain"))
    for nothing in (3, "run", np.zeros(3), model):
        refused(ff.InputError, "a run of the library", motion, nothing)


def test_robots_whose_run_ended_stay_where_they_were():
    run = batch()
    q = run.q.copy()
    q[20:, 3] = np.nan
    broken = replace(run, q=q)
    m = motion(broken)
    np.testing.assert_array_equal(m.q[20:, 3], np.broadcast_to(q[19, 3], (21, 3)))
    q[:, 3] = np.nan
    refused(ff.InputError, "robot 3", lambda: motion(replace(run, q=q)))


def test_samples_are_those_next_to_the_times_of_frames():
    rng = fresh("sampled")
    run = motion(free_flight())
    t = np.sort(rng.uniform(0.0, 1.0, 200))
    m = run._replace(t=t)
    wanted = np.linspace(t[0], t[-1], round((t[-1] - t[0]) * 30.0) + 1)
    nearest = np.unique([np.abs(t - x).argmin() for x in wanted])
    assert np.array_equal(m.sampled(30.0), nearest)


def test_cells_of_models_and_solutions(monkeypatch):
    model = ff.robots.make("humanoid")
    assert "img" in model._repr_html_()
    assert "humanoid_33" in model._repr_html_()
    result = control_run()
    stance = result.stance
    solution = stance.problem([stance.balance(), stance.upright(), stance.relaxed()]).solve(stance.q, np.zeros(model.nv))
    drawn = []
    monkeypatch.setattr(display, "picture", lambda *given, **more: drawn.append((given, more)) or picture(*given, **more))
    cell = solution._repr_html_()
    (((shown, at), options),) = drawn
    assert shown is solution.constraints.model
    np.testing.assert_array_equal(at, stance.q)
    assert options["forces"] == solution.forces  # the same arrays
    assert [foot.name for foot in options["feet"]] == list(solution.forces)
    assert "solved" in cell
    assert "left_sole" in cell
    assert "img" in cell
    pair = ff.ConstraintSet(model, contacts=[ff.contacts.surface("left_sole")])
    found = ff.constrained_dynamics(model, stance.q, np.zeros(model.nv), np.zeros(model.nv), constraints=pair)
    assert "left_sole" in found._repr_html_()
    assert "img" in found._repr_html_()
    Q = np.tile(stance.q, (3, 1))
    many = ff.constrained_dynamics(model, Q, np.zeros((3, model.nv)), np.zeros((3, model.nv)), constraints=pair)
    assert "3 x 39" in many._repr_html_()
    matrix = (np.eye(1, model.nv), np.zeros(1))
    free = ff.constrained_dynamics(model, stance.q, np.zeros(model.nv), np.zeros(model.nv), constraints=matrix)
    assert "constrained dynamics" in free._repr_html_()
    assert notebook_html(json).startswith("<pre>")


def test_names_from_files_are_escaped():
    evil = "<script>alert(1)</script>"
    links = (ff.Link("a", ff.Inertia(1.0, np.zeros(3), np.eye(3))),)
    model = ff.build(ff.Description(evil, links, (ff.Joint("j", "free", "world", "a"),)))
    run = ff.sim.simulate(model, model.neutral, np.zeros(6), dt=0.1, duration=0.2)
    for value in (model, run):
        assert "<script" not in value._repr_html_()


def test_curves_and_films_of_one_of_several_robots_are_those_of_its_own_run():
    run = batch()
    figure = run.plot(robot=7)
    drawn = [line.get_ydata() for line in figure.axes[0].lines if len(line.get_ydata()) == len(run.t)]
    assert any(np.array_equal(y, run.q[:, 7, 0]) for y in drawn)
    for draw in (run.plot, run.film):
        refused(ff.InputError, "robot", draw, robot=20)
    model, n = run.model, int(fresh("film").integers(20))
    alone = ff.sim.simulate(model, run.q[0, n], np.zeros(3), dt=5e-3, duration=0.2)
    refused(ff.InputError, r"film\(robot=0\)", run.film)
    drawn = [[a.images[0].get_array().astype(int) for a in x.axes] for x in (run.film(robot=n, count=2), alone.film(count=2))]
    assert len(drawn[0]) == len(drawn[1]) == 2
    for one, other in zip(*drawn):
        assert (np.abs(one - other) > 2).mean() < 1e-3  # pixels at edges
    standing = quadruped()
    q, forces = np.stack([standing.q] * 2, axis=1), {name: np.stack([w, 0.0 * w], axis=1) for name, w in standing.forces.items()}
    two = replace(standing, q=q, v=np.stack([standing.v] * 2, axis=1), tau=np.stack([standing.tau] * 2, axis=1), forces=forces)
    pressed, lifted, one = (len(x.axes[0].patches) for x in (two.film(robot=0), two.film(robot=1), standing.film()))
    assert pressed == one > lifted


@pytest.mark.parametrize("kind", ["control_run", "batch", "hopping", "free_flight"])
def test_options_that_do_not_exist_are_refused_in_words(kind):
    run = KINDS[kind]()
    for name, draw in (("plot", run.plot), ("film", run.film)):
        refused(ff.UnknownNameError, rf"width.*options of {name}\(\)", draw, wdth=3)


def test_the_floor_of_a_film_is_below_the_robot():
    chain = ff.robots.chain(3)
    hanging = ff.sim.simulate(chain, fresh("hang").uniform(-0.3, 0.3, 3), np.zeros(3), dt=5e-3, duration=0.2)
    found = postures(chain, hanging, 4, None, None)
    lowest = min(float(x.mesh.vertices[:, 2].min()) for p in found for x in p.pieces)
    assert lowest < -0.1
    assert [p.place[2] for p in found] == pytest.approx([lowest] * 4, abs=1e-12)
    assert [p.below[2] for p in found] == pytest.approx([lowest] * 4, abs=1e-12)
    standing = quadruped()
    assert all(p.place[2] == 0.0 for p in postures(standing.model, standing, 2, None, None))
    q = ff.robots.standing_posture(standing.model) + 0.3 * np.eye(19)[2]
    raised = {"ground": ff.sim.Ground(0.3), "contacts": ff.contacts.feet_by_name(standing.model)}
    higher = ff.sim.simulate(standing.model, q, np.zeros(18), dt=1e-3, duration=0.01, **raised)
    assert floor_of(motion(higher)) == 0.3
    assert all(p.place[2] == 0.3 for p in postures(standing.model, higher, 2, None, None))
    assert ff.sim.replay(standing.model, higher, **raised).failure is None
