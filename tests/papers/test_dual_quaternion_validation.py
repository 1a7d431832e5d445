"""The dual quaternion paper's validation: Table 2's cells, and the wheels' constraint and force."""

import numpy as np
import pytest
from freeflyer_papers.dual_quaternion import validation as wheels
from freeflyer_papers.dual_quaternion.tables import PAPER, near_one, validation_pictures, validation_tables
from freeflyer_papers.dual_quaternion.validation import multiple_correlation, validate
from freeflyer_papers.dual_quaternion.validation_robots import (HOLONOMIC, NONHOLONOMIC, SERIAL, differential_drive,
    drive_in_mujoco, rolling_wheels)  # fmt: skip
from whole import check_tables


@pytest.fixture(scope="module")
def result():
    """All of it, but for 2 s of coasting."""
    patch = pytest.MonkeyPatch()
    patch.setattr(wheels, "SECONDS", 2.0)
    made = validate(lambda _, what: None)
    patch.undo()
    return made


def test_table_2_and_figure_3(result):
    cells = {(c.robot, c.method): c for c in result.correlations}
    assert len(cells) == 9
    assert set(PAPER) <= set(cells)
    for key, numbers in PAPER.items():
        least, mean, deviation, most = map(float, numbers)
        c = cells[key]
        assert c.minimum >= least
        assert c.mean >= mean
        assert c.maximum >= most
        assert c.deviation <= deviation
    assert all(c.minimum > 0.9999 for c in cells.values())
    assert {c.robot: len(c.names) for c in result.correlations} == {SERIAL: 50, HOLONOMIC: 9, NONHOLONOMIC: 9}
    # dqGP and dqNE are as accurate as the classic algorithm, as the paper says of its 50-DoF arm
    for robot in (SERIAL, HOLONOMIC, NONHOLONOMIC):
        each = [c.each for c in result.correlations if c.robot == robot]
        assert np.ptp(each, axis=0).max() < 1e-9
    drive = next(c for c in result.correlations if (c.robot, c.method) == (NONHOLONOMIC, "dqGP"))
    least, most, middle = result.waveforms
    assert (least.cmc, most.cmc, middle.cmc) == (drive.minimum, drive.maximum, float(np.median(drive.each)))
    for w in result.waveforms:
        assert multiple_correlation(np.array([w.simulated, w.computed])) == pytest.approx(w.cmc, abs=1e-12)
    assert [(x.motion, x.drift_control) for x in result.integrations] == [("coasts", "none"), ("coasts", "none"),
        ("coasts", "0.1 s"), ("driven", "none")]  # fmt: skip
    assert all(x.violation < 1e-9 for x in result.integrations)
    assert all(x.energy < 1e-8 for x in result.integrations[:3])
    assert result.integrations[3].energy is None
    s = result.sideways
    assert list(s.errors) == sorted(s.errors, reverse=True)  # softer contacts differ more
    assert s.error < 0.02
    assert s.error < 0.5 * s.errors[-1]
    assert np.abs(s.computed).max() > 50.0
    tables = validation_tables(result)
    assert [len(table.rows) for table in tables] == [9, 4, 4]
    check_tables(tables)
    assert sum("N/A" in row for row in tables[0].rows) == 3
    assert (near_one(0.99999), near_one(1.0 - 3e-8)) == ("0.999990", "1 - 3e-08")
    drawn = validation_pictures(result)
    assert set(drawn) == {"fig3_accelerations", "wheels_sideways_force"}
    panels = drawn["fig3_accelerations"].axes
    for axes, w in zip(panels, result.waveforms, strict=True):
        np.testing.assert_array_equal(axes.lines[0].get_ydata(), w.simulated)
        np.testing.assert_array_equal(axes.lines[1].get_ydata(), w.computed)


def test_the_drive_rolls():
    """The floating base in MuJoCo, in the coordinates of the plane: it keeps the rolling constraint, but for its softness."""
    model = differential_drive()
    slips = []
    for softness in (1.0, 0.25):
        d = drive_in_mujoco(model, softness, 1e-3, 1.0)
        slips.append(np.abs(rolling_wheels(model).jacobian(d.q) @ d.v[..., None])[200:].max())
    assert np.abs(d.v[-1, 0]) > 0.5  # it moves, and turns
    assert np.abs(d.v[-1, 2]) > 0.5
    assert slips[1] < 0.3 * slips[0] < 0.01  # m/s
    assert d.sideways[-1] > 10.0
    # Below 1e-9 m/s, energy conserved, without projection or drift control
    found = wheels.coast("dop853", 0.05, None, 20.0)
    assert found.violation < 1e-9
    assert found.energy < 1e-9
