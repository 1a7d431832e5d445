"""Formulation of Decoupled Dynamics reproduced: chapters 2 to 4 and the sample program of appendix A.2."""

import freeflyer as ff
import json
import numpy as np
import pytest
from closeness import fresh
from freeflyer_papers import planar
from freeflyer_papers.decoupling import appendix, hopping, hopping_shown, propositions, regulation, theory
from freeflyer_papers.decoupling.appendix import kernel_numbers
from freeflyer_papers.decoupling.sample_program import sample_program
from freeflyer_papers.hopping.gaits import hop_gait
from freeflyer_papers.hopping.hopping import hop
from whole import briefly, check_tables


@pytest.fixture(scope="module")
def short_result():
    """All of it, briefly."""
    return briefly(theory.compute, (propositions, "STATES", 1), (regulation, "POSTURES", 3), (propositions, "BLOCKS", 1),
        (propositions, "BLOCK_SECONDS", 1e-3), (regulation, "DURATION", 1.0))  # fmt: skip


def test_all_statements_hold(short_result):
    assert len(short_result.statements) >= 20
    assert all(s.residual < propositions.BOUND for s in short_result.statements)
    found = {f.frame: (f.conserved, f.change < regulation.BOUND) for f in short_result.flights}
    yes, no = (True, True), (False, False)
    assert found == {"world": yes, "center_of_mass": yes, "center_of_mass_along_base": no, "satellite": no}
    assert {(f.joints == 1, f.integrable) for f in short_result.frames} == {(True, True), (False, False)}
    assert all(f.slope > 1e-4 for f in short_result.frames)
    one, many = ([p.angle[-1] for p in short_result.paths if p.integrable is yes] for yes in (True, False))
    assert max(one) - min(one) < 1e-11
    assert max(many) - min(many) > 1e-3
    check_tables(theory.tables(short_result))
    assert set(theory.pictures(short_result)) == {"free_flight", "com_frame_angle", "regulated_space_manipulator",
                                            "regulated_aerial_manipulator"}  # fmt: skip
    # The comparison sees a joint that moves with the centre of mass
    def moved(r, rate):
        return r._replace(joints=r.joints + rate * np.arange(len(r.joints))[:, None])

    wrong = tuple(moved(r, 1e-6 * (r.case == "both")) for r in short_result.runs)
    assert regulation.deviations(wrong, "space_manipulator")["joints, both against internal"] > theory.SAME


def test_speeds_and_springs(monkeypatch):
    """A run's speed is the mean over whole hops, as the gait's; at the apex it is another one."""
    run, gait = hop("revolute-VI", duration=4.0), hop_gait("revolute-VI")
    assert hopping.mean_speed(run) == pytest.approx(gait.stride / gait.period, abs=2e-4)
    assert abs(run.named("apex")[-1].v[0] - hopping.mean_speed(run)) > 5e-3
    # Fig 4.5; and the start has its 2.9047 J without the spring
    run = hop("prismatic-III")
    energy = hopping.spring_in_flight(run)
    assert len(energy) == len(run.named("apex")) == 13
    assert (np.diff(energy) > -1e-6).all()
    assert 0.01 < energy[-1] - energy[0] < 0.03
    assert run.energy.mechanical[0] == pytest.approx(2.9047, abs=5e-5)
    assert run.energy.mechanical[0] + run.radial_energy[0] == pytest.approx(2.9400, abs=5e-5)
    monkeypatch.setattr(hopping, "COMMANDS", (-2.0, 3.0))
    found = hopping.commands()
    assert [command for command, _ in found] == [-2.0, 3.0]
    assert all(end.startswith("fallen at ") for end in found[1][1])
    assert all(float(end.removesuffix(" m/s")) == pytest.approx(0.275, abs=0.005) for end in found[0][1])
    class Result:
        commands = found
    table = hopping_shown.commands(Result)
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert "Here +3 deg fall from all three starts, -2 deg hop on" in table.note


MODEL = ff.robots.revolute_hopper()
PRINTED = (  # lines 327-350 of the sample program
    "Mb", "MbI", "Cbp", "Gb", "E_pot", "o_i1", "o_if", "o_ic", "o_cf", "Jodot_i1", "Jodot_if", "Jodot_ic", "Jodot_cf",
    "Jalpha_iodot_cf", "Jrdot_cf", "alpha_c", "Jalphadot_c", "h_c", "h_inertc",
)  # fmt: skip


@pytest.fixture(scope="module")
def program():
    return sample_program()


@pytest.fixture(scope="module")
def result():
    return appendix.compute(lambda *_: None)


def test_the_program(program):
    assert (tuple(program.outputs), len(program.tests)) == (PRINTED, 3)
    assert all(program.tests.values())
    for name, formula in {"Mb": planar.mass_matrix, "MbI": planar.inverse_mass_matrix, "Cbp": planar.coriolis_matrix,
                          "Gb": planar.gravity_forces, "E_pot": planar.potential_energy,
                          "o_ic": planar.center_of_mass}.items():  # fmt: skip
        assert ff.symbolic.is_zero(program.outputs[name] - formula(program.robot)), name
    function = ff.symbolic.make_function(appendix.output_routine(program), "hopper")
    q, v = fresh("sample").uniform(-2.5, 2.5, (2, 20, 4))
    ours, theirs = appendix.numbers(program, function, q, v), kernel_numbers(MODEL, q, v)
    assert max(appendix.distance(ours[name], theirs[name]) for name in theirs) < 1e-12
    # The comparison finds a mass that is one part in a million off
    q, v = fresh("planted").uniform(-2.0, 2.0, (2, 5, 4))
    heavy = ff.robots.revolute_hopper(shank=0.05 * (1.0 + 1e-6))
    ours, theirs = appendix.numbers(program, function, q, v), kernel_numbers(heavy, q, v)
    assert max(appendix.distance(ours[name], theirs[name]) for name in theirs) > 1e-8


def test_everything_holds(result):
    assert len(result.outputs) == len(PRINTED)
    assert max(o.error for o in result.outputs) < 1e-12
    compared = [f for f in result.functions if f.residual is not None]
    assert len(compared) == 13
    assert max(f.residual for f in compared) < 1e-12
    assert result.rate_is_printed
    assert result.angle_error < 1e-12
    assert [i.integrable for i in result.integrability] == [True, True, False]
    # Line 287, (4.24), and the jump of line 228: 2 pi times what stands before its arctangent
    assert result.momentum_error > 0.1
    assert result.radial_error > 0.1
    assert 1.0 < result.angle_jump < 2.0 * np.pi
    check_tables(appendix.tables(result))
    assert json.loads(json.dumps(result._asdict()))["steps"] > 50
