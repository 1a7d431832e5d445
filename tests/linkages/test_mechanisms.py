"""Sub-mechanisms of known robots: how many motors, passive joints and constraints each has."""

import freeflyer as ff
import pytest
from linkage_samples import MASKS, planar


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


@pytest.mark.parametrize(("robot", "expected"), [("kangaroo/kangaroo.xml", [(1, 2, 2), (1, 6, 6), (2, 8, 8), (2, 14, 14)]),
                                                 ("cassie/cassie.xml", [(1, 2, 2), (1, 6, 3)])])  # fmt: skip
def test_real_legs(models_folder, robot, expected):
    """Kangaroo paper, Table II: hip yaw 1/2, hip 2/8, knee 1/6, ankle 2/16, of which the public file leaves two joints out."""
    model = ff.load(models_folder / robot)
    check(model)
    found = sorted((len(m.strokes), m.passive, m.constraints) for m in ff.linkages.mechanisms(model).parts)
    assert found == sorted(2 * expected)
