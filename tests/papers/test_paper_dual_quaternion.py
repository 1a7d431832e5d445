"""Dynamics of Mobile Manipulators reproduced: Table 1, Remark 4.1, Tables 2 and 3, the recursion as printed, the wheels."""

import freeflyer as ff
import freeflyer_papers
import json
import numpy as np
import pytest
from closeness import central, close, fresh, refused, rounding, slope_error
from freeflyer.formulations.methods import gauss_terms
from freeflyer.kernels.model import layout as L
from freeflyer.spatial import dual_quaternion as D
from freeflyer_papers import dual_quaternion
from freeflyer_papers.dual_quaternion import agreements, counts, tables, validation
from freeflyer_papers.dual_quaternion.agreements import KINDS, serial_arm
from freeflyer_papers.dual_quaternion.tables import PAPER, near_one, validation_pictures, validation_tables
from freeflyer_papers.dual_quaternion.validation import multiple_correlation
from freeflyer_papers.dual_quaternion.validation_robots import (HOLONOMIC, NONHOLONOMIC, SERIAL, differential_drive,
    drive_in_mujoco, rolling_wheels)  # fmt: skip
from freeflyer_papers.printed import newton_euler as printed
from tangent import state
from pathlib import Path
from random_robots import random_robot
from whole import briefly, check_tables


@pytest.fixture(scope="module")
def result():
    """All of it, with short times."""
    return briefly(dual_quaternion.compute, (counts, "SIZES", (6, 50)), (counts, "BLOCKS", 1), (counts, "BLOCK_SECONDS", 1e-3),
        (counts, "BATCH", 64), (agreements, "STATES", 2), (validation, "DURATION", 0.5), (validation, "SECONDS", 0.1),
        (validation, "WHEEL_DURATION", 0.4))  # fmt: skip


def test_the_result(result):
    assert [t.joint for t in result.twists] == list(KINDS)
    assert [t.velocities for t in result.twists] == [6, 1, 3, 2, 3, 1, 1]
    assert max(t.error for t in result.twists) < 1e-11
    assert len(result.agreements) == len(KINDS) + 2
    for x in result.agreements:
        assert max(x.newton_euler, x.printed, x.gauss, x.gibbs_appell, x.kane) < 1e-10, x
        assert x.skew < 1e-6, x
    by = {(c.line, c.algorithm, c.joints): c for c in result.counts}
    assert len(by) == len(result.counts) == 11
    assert set(counts.PAPER) == {c.line for c in result.counts}
    for joints, most in (("any, 6 DoF each", 0.35), ("any screw", 0.17), ("revolute", 0.15)):
        c = by["dqNE", "ours", joints]
        assert c.multiplications[:2] == c.additions[:2] == (0.0, 0.0)
        assert c.multiplications[2] < most * 882
        assert c.additions[2] < most * 724
    classic = by["dqNE", "ours", "revolute"]
    assert classic.multiplications[2] < 150
    assert classic.additions[2] < 131
    cubic = by["dqGP", "ours", "any screw"]
    for n in (3, 10, 50, 200):
        assert np.polyval(cubic.multiplications, n) < 4 * n**3 + 386 * n**2 + 401 * n
        assert np.polyval(cubic.additions, n) < 16 / 3 * n**3 + 326 * n**2 + 908 / 3 * n
    # Of a joint: A 12, W A, dW A and ddW A 81, ddW p 9, scalings 38, back 90; Z as a matrix: 81 more
    found = [c.multiplications for c in result.counts if c.line == "classic EL [66]"]
    assert [x[2] for x in found] == [12.0 + 81.0 + 9.0 + 38.0 + 90.0, 311.0]
    assert [t.n for t in result.timings] == [6, 50]
    for t in result.timings:
        assert min(t.newton_euler, t.rnea, t.gauss, t.batch) > 0.0
    assert result.peer
    check_tables(tables.tables(result))
    pictures = freeflyer_papers.reproduction("dual-quaternion").pictures(result)
    assert {"table3_operations", "section6_times"} <= set(pictures)
    json.dumps(result._asdict(), default=np.ndarray.tolist)


def test_remark_4_1_lacks_a_skew_term(result):
    """A by differences of M along the motion and C by (47), which share nothing with what is printed but C."""
    assert [x.robots for x in result.remarks] == [f"{n} joints, {kind}" for kind in ("revolute", "helical") for n in (3, 6, 12)]
    for x in result.remarks:
        assert 0.05 < x.least <= x.largest
        assert max(x.whole, x.skew) < 1e-12
    model, rng = serial_arm(4), fresh()
    q, v = rng.standard_normal((2, 4))
    bodies = printed.bodies_of(model, q, np.ones(4), v)
    A, lacking = agreements.skew_part_as_printed(list(agreements.body_terms(bodies, v)))
    rate = central(lambda h: ff.mass_matrix(model, ff.integrate(model, q, h * v)))
    close(A + lacking, 0.5 * rate - gauss_terms(model, q, v)[1], slope_error(), least=1.0)
    assert np.abs(lacking).max() > 1e-3 * np.abs(A).max()


def test_counts_by_hand():
    n = range(3, 9)
    assert counts.polynomial(n, [3 * k**3 + 119 * k**2 // 1 - 5 for k in n], 3) == (3.0, 119.0, 0.0, -5.0)
    assert counts.polynomial(n, [k * (k + 1) // 2 for k in n], 3) == (0.0, 0.5, 0.5, 0.0)
    refused(ValueError, "no polynomial of degree 1", counts.polynomial, n, [k * k for k in n], 1)
    assert tables.formula((3.0, 59.5, -21.5, 15.0)) == "3 n^3 + 119/2 n^2 - 43/2 n + 15"
    assert (tables.formula((0.0, 0.0, -2.0, 1.0)), tables.formula((0.0,) * 4)) == ("-2 n + 1", "0")
    from freeflyer_papers.counting import CountingScalar, Operations
    x = CountingScalar(Operations())
    full = np.array([x] * 8)
    printed.product(full, full)
    assert (x.operations.multiplications, x.operations.additions) == (48, 40)
    page = Path(__file__).parents[2] / "docs" / "dual_quaternions.md"
    text = page.read_text(encoding="utf-8").replace("³", "^3").replace("²", "^2")
    shown = [c for c in counts.counts() if c.joints != "revolute" or (c.line, c.algorithm) == ("dqNE", "ours")]
    assert len(shown) == 7
    for c in shown:
        assert f"| {tables.formula(c.multiplications)} | {tables.formula(c.additions)} |" in text, c
    model, rng = serial_arm(7), fresh("lagrange")
    q, v, a = rng.standard_normal((3, 7))
    numbers = model.parameters[L.BODIES : L.BODIES + 8 * L.BODY_FLOATS].reshape(8, -1)[1:]

    def link(x: np.ndarray) -> counts.Link:
        m, c, I = x[L.MASS], x[L.COM : L.INERTIA], np.zeros((3, 3))
        I[np.triu_indices(3)] = I.T[np.triu_indices(3)] = x[L.INERTIA : L.INERTIA + 6]
        second = 0.5 * np.trace(I) * np.eye(3) - I + m * np.outer(c, c)
        return counts.Link(x[: L.TRANSLATION].reshape(3, 3), x[L.TRANSLATION : L.MASS], m, m * c, second)

    angles = numbers[:, L.TURN] * q + numbers[:, L.TURN_OFFSET]
    tau = counts.recursive_lagrange([link(x) for x in numbers], np.sin(angles), np.cos(angles), v, a, model.gravity)
    close(tau, ff.inverse_dynamics(model, q, v, a), rounding(20_000))


@pytest.mark.parametrize("kind", ["revolute", "helical", "prismatic"])
def test_gauss_as_printed(kind):
    model, rng = serial_arm(6, kind), fresh(kind)
    q, v, a = rng.standard_normal((3, 6))
    bodies = printed.bodies_of(model, q, np.ones(6), a)
    for x, y in zip(agreements.gauss_as_printed(bodies, v, model.gravity), gauss_terms(model, q, v)):
        close(x, y, rounding(20_000))


BASES = ("free", "fixed", "planar", "two free")


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("mimics", [0.0, 0.4])
def test_equals_the_other_algorithms_on_random_trees(base, mimics):
    rng = fresh(base)
    model = random_robot(rng, 7, base=base, mimics=mimics, armature=False)
    q, v, a = state(model, rng)
    size = printed.joint_wrenches(printed.bodies_of(model, q, v, a), model.gravity)
    within = rounding(40_000)  # through quaternions of matrices, poses in the world and full products
    found = printed.inverse_dynamics_as_printed(model, q, v, a)
    close(found, ff.inverse_dynamics(model, q, v, a), within, least=float(np.abs(size).max()))


def test_the_algebra_and_a_joint_of_ones_own():
    a, b = fresh("algebra").standard_normal((2, 8))
    x, h, k = D.normalize(a), D.from_vec6(a[:6]), D.from_vec6(b[:6])
    within = rounding(100)
    close(printed.product(a, b), D.multiply(a, b), within)
    close(printed.conjugate(a), D.conjugate(a), 0.0)
    close(printed.adjoint(x, h), D.adjoint(x, h), within)
    close(printed.cross(h, k), D.cross(h, k), within)
    close(printed.joint_force(h, k), D.power(h, k), within)
    # Lagrange: T = (J + m (0.2 cos 2 s)^2) s'^2 / 2, V = m g 0.1 sin 2 s, J about z
    p, (s, ds, dds), g = Swinging(), fresh("joint").standard_normal(3), 9.81
    J = p.I[2, 2] + p.mass * float(p.com[:2] @ p.com[:2])
    inertia, slope = J + p.mass * (0.2 * np.cos(2 * s)) ** 2, p.mass * 0.04 * 2 * np.cos(2 * s) * -2 * np.sin(2 * s)
    expected = inertia * dds + 0.5 * slope * ds**2 + p.mass * g * 0.2 * np.cos(2 * s)
    close(np.array(p.force(s, ds, dds, np.array([0, 0, -g]))), np.array(expected), rounding(2000), least=10.0)


class Swinging:
    """A pendulum whose joint is of no kind of the library: it turns by s about z and lifts by 0.1 sin(2 s)."""

    mass, com, I = 2.0, np.array([0.3, 0.1, -0.2]), np.diag([0.02, 0.03, 0.04])
    z, up = np.eye(8)[2], np.eye(8)[6]

    def pose(self, s: float) -> np.ndarray:
        turn = D.from_position_quaternion([0.0, 0.0, 0.1 * np.sin(2.0 * s)], [0.0, 0.0, np.sin(s / 2.0), np.cos(s / 2.0)])
        return D.multiply(turn, D.from_position_quaternion(self.com, [0, 0, 0, 1]))

    def unit_twist(self, s: float) -> np.ndarray:
        return self.z + 0.2 * np.cos(2.0 * s) * self.up

    def body(self, s: float, ds: float, dds: float) -> printed.Body:
        change = -0.4 * np.sin(2.0 * s) * self.up
        rate = self.unit_twist(s) * dds + change * ds**2
        I = np.pad(self.I, ((0, 0), (0, 1)))
        return printed.Body(-1, np.eye(8)[3], self.pose(s), self.unit_twist(s) * ds, rate, self.mass, I)

    def force(self, s: float, ds: float, dds: float, g: np.ndarray) -> float:
        (wrench,) = printed.joint_wrenches([self.body(s, ds, dds)], g)
        return float(printed.joint_force(wrench, self.unit_twist(s)))


@pytest.fixture(scope="module")
def validated():
    """All of it, but for 2 s of coasting."""
    return briefly(validation.validate, (validation, "SECONDS", 2.0))


def test_table_2_and_figure_3(validated):
    cells = {(c.robot, c.method): c for c in validated.correlations}
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
    assert {c.robot: len(c.names) for c in validated.correlations} == {SERIAL: 50, HOLONOMIC: 9, NONHOLONOMIC: 9}
    # dqGP and dqNE are as accurate as the classic algorithm, as the paper says of its 50-DoF arm
    for robot in (SERIAL, HOLONOMIC, NONHOLONOMIC):
        each = [c.each for c in validated.correlations if c.robot == robot]
        assert np.ptp(each, axis=0).max() < 1e-9
    drive = next(c for c in validated.correlations if (c.robot, c.method) == (NONHOLONOMIC, "dqGP"))
    least, most, middle = validated.waveforms
    assert (least.cmc, most.cmc, middle.cmc) == (drive.minimum, drive.maximum, float(np.median(drive.each)))
    for w in validated.waveforms:
        assert multiple_correlation(np.array([w.simulated, w.computed])) == pytest.approx(w.cmc, abs=1e-12)
    assert [(x.motion, x.drift_control) for x in validated.integrations] == [("coasts", "none"), ("coasts", "none"),
        ("coasts", "0.1 s"), ("driven", "none")]  # fmt: skip
    assert all(x.violation < 1e-9 for x in validated.integrations)
    assert all(x.energy < 1e-8 for x in validated.integrations[:3])
    assert validated.integrations[3].energy is None
    s = validated.sideways
    assert list(s.errors) == sorted(s.errors, reverse=True)  # softer contacts differ more
    assert s.error < 0.02
    assert s.error < 0.5 * s.errors[-1]
    assert np.abs(s.computed).max() > 50.0
    tables = validation_tables(validated)
    assert [len(table.rows) for table in tables] == [9, 4, 4]
    check_tables(tables)
    assert sum("N/A" in row for row in tables[0].rows) == 3
    assert (near_one(0.99999), near_one(1.0 - 3e-8)) == ("0.999990", "1 - 3e-08")
    drawn = validation_pictures(validated)
    assert set(drawn) == {"fig3_accelerations", "wheels_sideways_force"}
    panels = drawn["fig3_accelerations"].axes
    for axes, w in zip(panels, validated.waveforms, strict=True):
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
    found = validation.coast("dop853", 0.05, None, 20.0)
    assert found.violation < 1e-9
    assert found.energy < 1e-9
