"""The split of a linkage: ranks, motors and sub-mechanisms of known robots, and words for those that have none."""

import freeflyer as ff
import numpy as np
import pytest
from closed_robots import shared
from closeness import fresh, refused
from dataclasses import replace
from freeflyer.linkages import LinkageError, assemble, partition
from freeflyer.linkages.refusals import slides
from freeflyer.linkages.rows import constraint_jacobian, constraint_residual, constraints, structure
from linkage_samples import MASKS, planar, random_linkage, shifted, stewart
from random_robots import random_placement

ORIENTATIONS = [np.eye(4), *(random_placement(fresh(k)) for k in range(2))]


def check_split(model: ff.Model, found) -> None:
    """What holds of every split."""
    everything = np.concatenate([found.dependent, found.independent])
    assert sorted(everything) == list(range(model.nv))
    assert np.all(np.isin(found.actuated, found.independent))
    assert len(found.rows) == len(found.dependent) == found.rank == sum(b.rank for b in found.blocks)
    assert np.array_equal(np.sort(np.concatenate([b.dependent for b in found.blocks])), found.dependent)
    assert np.array_equal(np.sort(np.concatenate([b.all_rows for b in found.blocks])), np.arange(model.constraint_rows[0]))
    assert set(found.free) == set(found.passive) - set(found.dependent)
    J = constraint_jacobian(model, found.q)
    for block in found.blocks:  # block-diagonal: rows of one block do not depend on dependents of another
        others = np.setdiff1d(found.dependent, block.dependent)
        assert np.all(J[np.ix_(block.all_rows, others)] == 0.0)
        assert np.all(J[np.ix_(block.all_rows, np.setdiff1d(everything, np.union1d(block.dependent, block.independent)))] == 0)
    v = np.zeros(model.nv)
    v[found.independent] = fresh(0).standard_normal(len(found.independent))
    D = J[np.ix_(found.rows, found.dependent)]
    v[found.dependent] = -np.linalg.solve(D, J[np.ix_(found.rows, found.independent)] @ v[found.independent])
    assert np.abs(J @ v).max() < 1e-5 * np.abs(v).max(), "redundant rows follow from the independent ones"
    for array in (found.q, found.rows, found.dependent, found.independent):
        assert not array.flags.writeable


@pytest.mark.parametrize("X", ORIENTATIONS)
@pytest.mark.parametrize("base", ["fixed", "free"])
def test_four_bar_has_one_motor(X, base):
    model = planar((0.2, 0.5), (0.4,), 0.45, X=X, base=base)
    found = partition(model)
    check_split(model, found)
    assert (found.rank, [structure(model).owner[j] for j in found.dependent]) == (2, ["l1", "r0"])
    assert len(found.base) == (6 if base == "free" else 0)
    assert np.abs(constraint_residual(model, found.q)).max() < 1e-14


@pytest.mark.parametrize("mask", ["point", "hinge", "weld"])
def test_planar_masks_are_redundant_but_for_two_rows(mask):
    """A weld of the tips ties the last turn too: a five-bar then has mobility 2 - 1."""
    model = planar((0.2, 0.5), (0.35, 0.15), 0.3, MASKS[mask], actuated=("l0",) if mask == "weld" else ("l0", "r0"))
    found = partition(model)
    check_split(model, found)
    assert found.rank == (3 if mask == "weld" else 2)
    assert not len(found.free)


def test_stewart_platform_has_six_motors_that_move_the_floating_plate():
    model, _, _ = stewart(fresh(1))
    s = structure(model)
    q = model.neutral.copy()
    q[:3] = 0.02, 0.03, 1.1
    found = partition(model, assemble(model, q, hold=["float"]).q)
    check_split(model, found)
    assert found.rank == 18
    assert len(found.blocks) == 1, "the plate ties the legs together"
    assert {s.owner[j] for j in found.dependent} == {"float", *(f"swivel{k}" for k in range(6))}
    assert not len(found.free)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("mask", ["point", "hinge", "slider", "one_turn", "plane", "line"])
def test_random_linkages_split_at_the_posture_that_closes_them(seed, mask):
    rng = fresh(seed)
    while True:  # drawn again where the loops do not leave the driven joint all its motions
        model, q = random_linkage(rng, (MASKS[mask], MASKS["line"]), n=14)
        tied = {j for k in range(2) for j in structure(model).coordinates[k]}
        motor = model.joint("base" if structure(model).owner.index("joint1") in tied else "joint1")
        J = constraints(model, q)[1]
        passive = np.delete(J, np.arange(motor.iv, motor.iv + motor.nv), axis=1)
        if np.linalg.matrix_rank(passive, 1e-7) == np.linalg.matrix_rank(J, 1e-7):
            break
    model = ff.build(replace(model.description, actuated=(motor.name,)))
    found = partition(model, q)
    assert (found.rank, len(found.rows)) == (np.linalg.matrix_rank(J, 1e-7), len(found.dependent))
    assert np.linalg.matrix_rank(J[np.ix_(found.rows, found.dependent)], 1e-9) == found.rank


def test_couplings_and_held_joints_take_freedom():
    model = planar((0.2, 0.3), (0.2, 0.3), 0.3, actuated=("l0",))
    held = ff.build(replace(model.description, couplings=(ff.Coupling("held", "r1", "", (0.7,)),)))
    found = partition(held)
    check_split(held, found)
    assert (found.rank, found.q[held.joint("r1").iq]) == (3, pytest.approx(0.7, abs=1e-12))
    coupled = ff.build(replace(model.description, couplings=(ff.Coupling("gear", "r0", "l0", (0.2, -1.0, 0.1)),)))
    found = partition(coupled)
    x, y = found.q[coupled.joint("r0").iq], found.q[coupled.joint("l0").iq]
    assert (x, found.rank) == (pytest.approx(0.2 - y + 0.1 * y * y, abs=1e-12), 3)
    found = partition(ff.robots.chain(4))
    assert (found.rank, found.condition, len(found.independent)) == (0, 1.0, 4)
    model = planar((0.2, 0.5), (0.4,), 0.45)
    assert partition(model) is partition(model)
    at = partition(model, partition(model).q)
    assert np.array_equal(at.rows, partition(model).rows)


def test_motors_that_do_not_fit_are_named():
    with pytest.raises(LinkageError, match=r"too many motors: of 'l0', 'r0' .* only 1 can move"):
        partition(planar((0.2, 0.5), (0.4,), 0.45, actuated=("l0", "r0")))
    refused(LinkageError, "names no motors", lambda: partition(planar((0.2, 0.5), (0.4,), 0.45, actuated=())))
    model = planar((0.2, 0.3), (0.2, 0.3), 0.3, actuated=("l0",))
    assert len(partition(model).free) == 1
    refused(LinkageError, r"too few motors: nothing determines '(l1|r0|r1)'", partition, model, underactuated=False)
    assert not len(partition(planar((0.2, 0.3), (0.2, 0.3), 0.3, actuated=("l0", "r0")), underactuated=False).free)
    model = planar((0.2, 0.5), (0.4,), 0.45)
    rigid = ff.Coupling("held", "r0", "", (float(partition(model).q[model.joint("r0").iq]),))
    with pytest.raises(LinkageError, match=r"over-constrain it: its motors 'l0' cannot move"):
        partition(ff.build(replace(model.description, couplings=(rigid,))))
    bar = ff.Link("a", ff.Inertia(1.0)), ff.Link("b", ff.Inertia(1.0))
    joint = ff.Joint("j", "revolute", "a", "b", shifted(0.1))
    sites = (ff.Site("s1", "b"), ff.Site("s2", "b", shifted(0.2)))
    for a, b in (("a", "nowhere"), ("s1", "s1"), ("s1", "s2")):
        words = "no frame is named 'nowhere'" if b == "nowhere" else "both of link"
        refused(ff.DescriptionError, words, ff.load, ff.Description("r", bar, (joint,), sites, (ff.Loop("l", a, b),)))


def test_singular_and_open_postures():
    """Coupler and rocker in one line: the rocker cannot be driven by the crank there."""
    crank, coupler, rocker, width = 0.2, 0.3, 0.25, 0.45
    model = planar((crank, coupler), (rocker,), width)
    cosine = (crank**2 + width**2 - (coupler + rocker) ** 2) / (2 * crank * width)
    l0 = np.arccos(cosine)
    tip = np.array([crank * np.cos(l0), crank * np.sin(l0)])
    along = np.arctan2(-tip[1], width - tip[0])
    q = np.array([l0, along - l0, along + np.pi])
    assert np.abs(constraint_residual(model, q)).max() < 1e-12
    refused(LinkageError, r"singular: here the loops 'tips' .* motors 'l0'", partition, model, q)
    # Drawn flat, as files do: the split is that of a posture near by, which it names
    model = planar((0.2, 0.5), (0.2,), 0.5)
    assert np.abs(constraint_residual(model, np.zeros(3))).max() < 1e-15
    found = partition(model)
    assert found.rank == 2
    assert np.linalg.norm(found.q) > 1e-3
    model = planar((0.2, 0.5), (0.4,), 0.45)
    refused(LinkageError, r"leaves loop 'tips' of 'planar' open by 0\.\d+ .* assemble", partition, model, np.zeros(3))


@pytest.mark.parametrize(("robot", "rank", "rows", "motors", "free"), [("kangaroo", 60, 84, 12, 0), ("cassie", 10, 12, 10, 6),
    ("battobot", 36, 36, 12, 0), ("five_bar", 3, 3, 2, 0)])  # fmt: skip
def test_real_robots(models_folder, robot, rank, rows, motors, free):
    model = shared(models_folder, robot)
    found = partition(model)
    check_split(model, found)
    assert (found.rank, model.constraint_rows[0], len(found.actuated), len(found.free)) == (rank, rows, motors, free)
    assert model.nv == len(found.base) + motors + free + rank
    if robot == "cassie":
        names = {structure(model).owner[j] for j in found.free}
        assert names == {f"{s}-{x}" for s in ("left", "right") for x in ("achilles-rod", "shin", "heel-spring")}
    if robot == "kangaroo":
        assert sorted(b.rank for b in found.blocks) == [2, 2, 8, 8, 20, 20]


def test_kangaroo_keeps_its_rows_where_the_file_s_hip_over_constrains_itself(models_folder):
    """At the end of its strokes 12 rows of the hip have rank 10 in numbers, 8 in the mechanism."""
    model = shared(models_folder, "kangaroo")
    q = partition(model).q.copy()
    for name, x in (("leg_left_2_motor", 0.02), ("leg_left_3_motor", 0.015), ("leg_left_length_motor", 0.05)):
        q[model.joint(name).iq] = x
    found = partition(model, assemble(model, q, hold="actuated").q)
    check_ranks = {b.loops[0]: b for b in found.blocks}
    hip = check_ranks["left_hip_differential_2a"]
    assert hip.rank == 8
    assert np.sum(hip.singular_values > 1e-6 * hip.singular_values[0]) > 8
    assert found.rank == 60
    assert found.condition < 1e3


def slider_crank(angle: float, unit: float = 1.0) -> ff.Model:
    """A motor turns a crank of 0.2 (in `unit` m), whose tip slides in a slot of a carriage that slides across it."""
    X = np.eye(4)
    X[:3, :3] = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]  # z along the world's x
    body = ff.Inertia(1.0, np.zeros(3), 0.1 * np.eye(3))
    tip = np.eye(4)
    tip[0, 3] = 0.2 * unit
    start = 0.2 * unit * np.cos(angle)
    return ff.build(ff.Description(
        "slider crank", (ff.Link("crank", body), ff.Link("carriage", body)),
        (ff.Joint("turn", "revolute", "world", "crank", initial=(angle,)),
         ff.Joint("slide", "prismatic", "world", "carriage", axis=np.array([1.0, 0.0, 0.0]), initial=(start,))),
        (ff.Site("tip", "crank", tip),), (ff.Loop("slot", "carriage", "tip", (1, 0, 0, 0, 0, 0)),), actuated=("slide",),
    ))  # fmt: skip


def test_condition_detects_a_single_row_that_folds():
    """One row, one dependent joint: x = r cos(angle), so the crank turns 1 / sin(angle) times as fast, in units of r."""
    for angle in (1.2, 0.1, 1e-3):
        folding = partition(slider_crank(angle))
        assert folding.blocks[0].dependent.tolist() == [0]
        assert folding.condition == pytest.approx(np.hypot(1.0, np.sin(angle)) / np.sin(angle))
        assert folding.condition == pytest.approx(partition(slider_crank(angle, 10.0)).condition, rel=1e-6)


@pytest.mark.parametrize("robot", ["kangaroo", "cassie"])
def test_condition_bounds_how_far_passive_joints_outrun_motors(models_folder, robot):
    model = shared(models_folder, robot)
    found, lengths = partition(model), slides(model)
    J = constraint_jacobian(model, found.q)
    for b in found.blocks:
        assert 1.0 <= b.condition < 200.0
        gain = -np.linalg.solve(J[np.ix_(b.rows, b.dependent)], J[np.ix_(b.rows, b.independent)])
        angles, motors = ~lengths[b.dependent], ~lengths[b.independent]
        assert np.linalg.norm(gain[np.ix_(angles, motors)], 2) <= b.condition * (1.0 + 1e-9)


@pytest.mark.parametrize("actuated", [("l0", "r0"), ("l0", "l1"), ("l1", "r0")])
def test_two_motors_on_a_flat_parallelogram_are_one_too_many(actuated):
    """Drawn flat, its rows depend on each other and both motors seem free; a posture beside it decides."""
    model = planar((0.2, 0.5), (0.2,), 0.5, actuated=actuated)
    refused(LinkageError, f"too many motors: of '{actuated[0]}', '{actuated[1]}' in the loops 'tips' only 1", partition, model)


def check(model: ff.Model) -> None:
    table, split = ff.linkages.mechanisms(model), ff.linkages.partition(model)
    assert sum(m.constraints for m in table.parts) == table.rank == split.rank
    assert sum(m.rows for m in table.parts) == model.constraint_rows[0]
    assert sum(m.passive for m in table.parts) <= len(split.passive)
    assert all(0.0 < m.singularity <= 1.0 + 1e-12 and m.condition >= 1.0 for m in table.parts)
    assert all(m.mobility - m.gruebler == m.redundancy == m.rows - m.constraints for m in table.parts)
    loops = [name for m in table.parts for name in m.loops]
    assert sorted(loops) == sorted([x.name for x in model.loops])
    for m in table.parts:
        assert m.name in str(table)


def test_four_bar_is_one_mechanism():
    model = planar((0.2, 0.5), (0.4,), 0.45, MASKS["hinge"])
    check(model)
    (only,) = ff.linkages.mechanisms(model).parts
    assert (only.name, only.passive, only.constraints, only.rows, only.mobility, only.gruebler) == ("l0", 2, 2, 5, 1, -2)
    assert only.strokes.tolist() == [[-10.0, 10.0]]


@pytest.mark.parametrize(("robot", "expected"), [("kangaroo", [(1, 2, 2), (1, 6, 6), (2, 8, 8), (2, 14, 14)]),
                                                 ("cassie", [(1, 2, 2), (1, 6, 3)])])  # fmt: skip
def test_real_legs(models_folder, robot, expected):
    """Kangaroo paper, Table II: hip yaw 1/2, hip 2/8, knee 1/6, ankle 2/16, of which the public file leaves two joints out."""
    model = shared(models_folder, robot)
    check(model)
    found = sorted((len(m.strokes), m.passive, m.constraints) for m in ff.linkages.mechanisms(model).parts)
    assert found == sorted(2 * expected)
