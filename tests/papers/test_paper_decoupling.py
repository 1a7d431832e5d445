"""Formulation of Decoupled Dynamics, reproduced: chapters 2 and 3, and speeds and energies of chapter 4."""

import numpy as np
import pytest
from freeflyer_papers.decoupling import hopping, hopping_shown, propositions, regulation, theory
from freeflyer_papers.hopping.gaits import hop_gait
from freeflyer_papers.hopping.hopping import hop


@pytest.fixture(scope="module")
def result():
    """All of it, briefly."""
    patch = pytest.MonkeyPatch()
    for module, name, value in ((propositions, "STATES", 1), (regulation, "DURATION", 0.5), (regulation, "POSTURES", 3),
                                (propositions, "BLOCKS", 1), (propositions, "CALLS", 2),
                                (regulation, "DURATION", 1.0)):  # fmt: skip
        patch.setattr(module, name, value)
    made = theory.compute(lambda fraction, what: None)
    patch.undo()
    return made


def test_all_statements_hold(result):
    assert len(result.statements) >= 20
    assert all(s.residual < propositions.BOUND for s in result.statements)
    found = {f.frame: (f.conserved, f.change < regulation.BOUND) for f in result.flights}
    yes, no = (True, True), (False, False)
    assert found == {"world": yes, "center_of_mass": yes, "center_of_mass_along_base": no, "satellite": no}
    assert {(f.joints == 1, f.integrable) for f in result.frames} == {(True, True), (False, False)}
    assert all(f.slope > 1e-4 for f in result.frames)
    one, many = ([p.angle[-1] for p in result.paths if p.integrable is yes] for yes in (True, False))
    assert max(one) - min(one) < 1e-11
    assert max(many) - min(many) > 1e-3
    made = theory.tables(result)
    assert all(len(row) == len(t.columns) for t in made for row in t.rows)
    assert not any("FAILS" in row for t in made for row in t.rows)
    assert set(theory.pictures(result)) == {"free_flight", "com_frame_angle", "regulated_space_manipulator",
                                            "regulated_aerial_manipulator"}  # fmt: skip
    # The comparison sees a joint that moves with the centre of mass
    def moved(r, rate):
        return r._replace(joints=tuple(tuple(x + rate * k for x in row) for k, row in enumerate(r.joints)))

    wrong = tuple(moved(r, 1e-6 * (r.case == "both")) for r in result.runs)
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
