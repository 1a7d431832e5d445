"""Appendix A.2 of the decoupling thesis reproduced: every function, output and test of the sample program."""

import freeflyer as ff
import json
import numpy as np
import pytest
from freeflyer_papers import planar
from freeflyer_papers.decoupling import appendix
from freeflyer_papers.decoupling.appendix import kernel_numbers
from freeflyer_papers.decoupling.sample_program import sample_program
from seeds import fresh

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
    assert tuple(program.outputs) == PRINTED
    assert len(program.tests) == 3
    assert all(program.tests.values())
    e = planar.equations(program.robot)
    for name, x in {"Mb": e.mass_matrix, "MbI": e.inverse_mass_matrix, "Cbp": e.coriolis_matrix, "Gb": e.gravity_forces,
                    "E_pot": e.potential_energy, "o_ic": e.center_of_mass}.items():  # fmt: skip
        assert ff.symbolic.is_zero(program.outputs[name] - x), name
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
    tables = appendix.tables(result)
    assert not any("FAILS" in cell for t in tables for row in t.rows for cell in row)
    assert all(len(row) == len(t.columns) for t in tables for row in t.rows)
    assert json.loads(json.dumps(result._asdict()))["steps"] > 50
