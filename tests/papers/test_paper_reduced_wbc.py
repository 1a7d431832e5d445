"""Efficient Computation of Whole-Body Control, reproduced: rows of its tables, dynamics of the base, both methods in one motion."""

import freeflyer as ff
import numpy as np
import pytest
import sys
from closeness import close, refused
from freeflyer.control.support import middle_of
from freeflyer.optimization import qpsolvers_solver
from freeflyer_papers import reduced_wbc
from freeflyer_papers.reduced_wbc import cycles, robot, two_programs
from freeflyer_papers.reduced_wbc.robot import sway
from robots_on_disk import MODELS, needs_models
from whole import briefly, check_tables

TOCABI = MODELS / "tocabi" / "tocabi.urdf"


def on_few_states():
    """All of it, for the humanoid."""
    few = {"CYCLES": 2, "CYCLES_OF_SIZES": 2, "SIZES": (20, 45), "FIRST": 1, "STATES": 1, "REPEATS": 1, "DURATION": 0.4,
           "PERIOD": 2e-3, "WAY_OF_MASS": (0.0, 0.0, -2e-3), "WAY_OF_HAND": (2e-3, 2e-3, 0.0)}  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("FREEFLYER_MODELS", raising=False)
        return briefly(reduced_wbc.compute, *((cycles, name, value) for name, value in few.items()))


@pytest.fixture(scope="module")
def result():
    return on_few_states()


def check_counts(found):
    """Tables 1 and 2, but for what the table's note says: 16 facets a sole, and no limits of centroidal coordinates."""
    by = {(c.support, c.program, c.rows): c for c in found}
    assert len(by) == len(found) == 2 * (9 + 8 + 5)
    for (support, program, rows), c in by.items():
        feet = {"double": 2, "single": 1}[support]
        if rows == "cones":
            assert (c.ours, c.paper) == (16 * feet, 10 * feet)
        elif program == "LQP 1" and "limits" in rows:
            assert c.ours == 2 * 6 * feet == c.paper - 2 * 6
        else:
            assert c.ours == c.paper, c
        assert c.level == c.paper_level or program == "LQP 2"
    assert [by["double", p, two_programs.VARIABLES].ours for p in two_programs.PROGRAMS] == [51, 36, 21]
    assert [by["single", p, two_programs.VARIABLES].ours for p in two_programs.PROGRAMS] == [45, 24, 27]


def test_the_result(result):
    check_counts(result.counts)
    assert {t.method for t in result.times} == {"conventional", "reduced"}
    assert all(t.base < 1e-9 for t in (*result.times, *result.sizes))
    assert {t.joints for t in result.sizes} == {20, 45}
    for pair in zip(result.solver_sizes[::2], result.solver_sizes[1::2]):
        assert [t.method for t in pair] == ["conventional", "reduced"]
        assert all(t.unsolved == 0 and t.iterations >= 25.0 * t.programs and min(t.setup, t.solve) > 0.0 for t in pair)
    assert len(result.solver_times) == len(result.solver_sizes) == 2 * 2 * len(cycles.TOLERANCES)
    first = result.solver_times[0]._replace(setup=300.0, solve=100.0)
    assert cycles.saving((first, first._replace(method="reduced", setup=50.0, solve=50.0)), "total") == 0.75
    assert cycles.saving((first, first._replace(method="reduced", setup=50.0, solve=50.0)), "solve") == 0.5
    conventional, reduced = result.runs
    assert cycles.agree(result.runs)
    assert not conventional.fell
    assert conventional.solved == reduced.solved == 1.0
    close(reduced.center, conventional.center, 1e-6, least=1e-3)
    close(reduced.hand, conventional.hand, 1e-6, least=1e-3)
    worse = reduced._replace(largest=tuple(1.2 * x for x in conventional.largest))
    assert not cycles.agree((conventional, worse))
    made = reduced_wbc.REPRODUCTION.tables(result)
    check_tables(made)
    titles = " ".join(t.title for t in made)
    for word in ("Tables 1 and 2", "Table 3", "Fig 4", "Fig 5", "OSQP alone", "base"):
        assert word in titles
    times_table = next(t for t in made if t.title.startswith("Table 3: time"))
    assert [row[10] for row in times_table.rows if row[0] == "double" and "OSQP" in row[2]] == ["2176", "981"]
    assert set(reduced_wbc.REPRODUCTION.pictures(result)) == set(reduced_wbc.REPRODUCTION.captions)


def test_other_robots(tmp_path):
    path = tmp_path / "chain.urdf"
    path.write_text(ff.to_urdf(ff.robots.chain(2)))
    refused(ff.UnknownNameError, "L_HipPitch_Joint", robot.robot, path)
    st = robot.stance(robot.robot(), "double")
    v = np.zeros(st.problem.model.nv)
    right = cycles.reduced(st.problem, st.q, v, cycles.WAYS[1])
    assert cycles.base_residual(st.problem, st.q, v, right) < 1e-9
    wrong = right._replace(F=right.F * (1.0 + 1e-6))
    assert cycles.base_residual(st.problem, st.q, v, wrong) > 1e-8


@pytest.mark.parametrize("support", robot.SUPPORTS)
def test_cycles_in_parts_are_those_of_the_library(support):
    st = robot.stance(robot.robot(), support)
    q, v = sway(st.problem.constraints, st.q, 3)
    for method, formulation in (("conventional", "full"), ("reduced", "reduced")):
        solution = st.problem.solve(q[1], v[1], formulation=formulation)
        assert solution.status == "solved"
        size = np.abs(solution.a).max()
        for way in cycles.WAYS:
            close(cycles.METHODS[method](st.problem, q[1], v[1], way).a, solution.a, 1e-8, least=size)


@pytest.mark.parametrize("method", cycles.METHODS)
def test_recorded_programs_are_the_cycles(method):
    """OSQP alone, to a tight tolerance, finds the minimum that daqp finds for each of them."""
    st = robot.stance(robot.robot(), "double")
    with cycles.recording() as programs:
        cycles.METHODS[method](st.problem, st.q, np.zeros(st.problem.model.nv), cycles.RECORDED)
    assert len(programs) == {"conventional": 5, "reduced": 9}[method]
    for p in programs:
        assert len(p.lower) == len(p.upper) == len(p.A)  # rows of two sides are one row
        assert (np.isfinite(p.lower) & np.isfinite(p.upper) & (p.lower < p.upper)).any()
        found, expected = cycles.solve_by_osqp(p, 1e-10), ff.optimization.solve_qp(p.H, p.g, p.A, p.lower, p.upper)
        assert found.info.status == "solved"
        close(np.array(found.info.obj_val), np.array(expected.value), 1e-9, least=float(np.abs(p.g) @ np.abs(expected.x)) + 1e-6)


def test_without_osqp_its_rows_say_so(monkeypatch):
    """With the base installation alone: nothing is solved by OSQP, the rest is printed."""
    monkeypatch.setattr(qpsolvers_solver.qpsolvers, "available_solvers", ["daqp"])
    monkeypatch.setitem(sys.modules, "osqp", None)
    found = on_few_states()
    assert {t.way for t in (*found.times, *found.sizes)} == {cycles.WAYS[1].name}
    assert found.solver_times == found.solver_sizes == ()
    made = reduced_wbc.REPRODUCTION.tables(found)
    said = [t.title for t in made if any("not installed: pip install osqp" in row for row in t.rows)]
    assert [title.partition(":")[0].partition(",")[0] for title in said] == ["Table 3", "Table 3", "Fig 5", "OSQP alone",
        "the dynamics of the base"]  # fmt: skip
    check_tables(made)
    assert set(reduced_wbc.REPRODUCTION.pictures(found)) == set(reduced_wbc.REPRODUCTION.captions)


@needs_models
def test_tocabi(models_folder):
    r = robot.robot(TOCABI)
    for foot, y in zip(r.feet, (0.1025, -0.1025)):
        np.testing.assert_allclose(middle_of(foot) - np.mean([middle_of(f) for f in r.feet], axis=0), [0.0, y, 0.0], atol=1e-7)
    np.testing.assert_allclose(ff.center_of_mass(r.model, r.q)[:2], np.mean([middle_of(f) for f in r.feet], axis=0)[:2], atol=1e-7)
    for side in "LR":
        assert r.q[r.model.joint(f"{side}_Knee_Joint").iq] == pytest.approx(robot.KNEE, abs=0.1)
    run = ff.control.run_scenario("squat", r.model, q=r.q, feet=r.feet, duration=0.02)
    assert run.statuses == {"solved": 21}
    one = robot.on_one_foot(r)
    np.testing.assert_allclose(ff.center_of_mass(r.model, one)[:2], middle_of(r.feet[0])[:2], atol=1e-7)
    lifted = ff.frame_pose(r.model, one, r.feet[1].frame)[2, 3] - r.feet[1].at[2, 3]
    assert lifted == pytest.approx(robot.LIFT, abs=1e-7)
    check_counts([c for support in robot.SUPPORTS for c in two_programs.counts(robot.stance(r, support))])
    from lxml import etree
    for foot in r.feet:
        shape = etree.parse(TOCABI).find(f"link[@name='{foot.frame}']/collision")
        center = np.array(shape.find("origin").get("xyz").split(), float)
        size = np.array(shape.find("geometry/box").get("size").split(), float)
        np.testing.assert_allclose(foot.points.mean(axis=0), center - [0.0, 0.0, 0.5 * size[2]], atol=1e-12)
        np.testing.assert_allclose(np.ptp(foot.points, axis=0)[:2], size[:2])
