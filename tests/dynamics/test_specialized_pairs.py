"""Code for one robot: limbs that are alike are computed together."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh
from collections.abc import Callable
from dataclasses import replace
from freeflyer.kernels import entries as E
from freeflyer.kernels.compiler.one_robot.expressions import Expression, Graph, operands
from freeflyer.kernels.compiler.one_robot.pairs import Pairs, pairs, twin_coordinates
from freeflyer.kernels.compiler.one_robot.tracing import Formulas, formulas
from kangaroo_leg import leg
from linkage_samples import planar
from random_robots import KINDS, random_robot

ALIKE = 1e-13  # relative to the largest entry
ENTRIES = (E.RNEA, E.ABA, E.CRBA, E.COM, E.MOMENTUM_MATRIX, E.MOMENTUM_BIAS)
FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity_forces", "center_of_mass",
             "centroidal_momentum_matrix", "centroidal_momentum", "centroidal_bias")  # fmt: skip


def with_other_numbers(limb: ff.Description, rng: np.random.Generator, side: str) -> tuple[list[ff.Link], list[ff.Joint]]:
    """A limb whose masses and lengths differ from those of its twin, some of them zero, and whose signs may."""
    links, joints = [], []
    for link in limb.links:
        i = link.inertia
        inertia = ff.Inertia(i.mass * rng.uniform(0.5, 2.0), i.com * rng.choice([-1, 0, 1], 3), i.rotational)
        links.append(ff.Link(side + link.name, inertia))
    for joint in (j for j in limb.joints if j.parent != "world"):
        placement = joint.placement.copy()
        placement[:3, 3] *= rng.choice([-1.0, 0.0, 1.0], 3)
        parent = "trunk" if joint.parent == limb.links[0].name else side + joint.parent
        joints.append(replace(joint, name=side + joint.name, parent=parent, child=side + joint.child, placement=placement))
    return links[1:], joints


def twins(rng: np.random.Generator) -> ff.Model:
    """A trunk with two limbs of the same random joints, and a third that is other."""
    limb, other = (random_robot(rng, n, KINDS, "fixed", mimics=0.0).description for n in (4, 2))
    links, joints = [ff.Link("trunk", limb.links[-1].inertia)], []
    for of, side in ((limb, "left_"), (other, "top_"), (limb, "right_")):
        more = with_other_numbers(of, rng, side)
        links, joints = links + more[0], joints + more[1]
    return ff.load(ff.Description("twins", tuple(links), tuple(joints)), base="free")


def traced(entry: E.Entry, model: ff.Model) -> tuple[Formulas, Pairs]:
    topology = tuple(model.topology.tolist())
    found = formulas(entry, topology, tuple(model.parameters.tolist()))
    return found, pairs(entry, topology, found)


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2, 3))])
def test_results_agree(seed: int) -> None:
    rng = fresh(seed)
    model = twins(rng) if seed else ff.robots.humanoid(20)
    fast = ff.specialize(model, FUNCTIONS)
    assert set(fast.specialization.notes.values()) == {"specialised"}
    for _ in range(3):
        q, (v, a) = ff.random_configuration(model, rng), rng.standard_normal((2, model.nv))
        for name in FUNCTIONS:
            f = getattr(ff, name)
            x = (q, v, a)[: 3 if "dynamics" in name else 2 if name in ("centroidal_momentum", "centroidal_bias") else 1]
            close(f(fast, *x), f(model, *x), ALIKE)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.name)
def test_units_come_behind_their_operands(entry: E.Entry) -> None:
    """Each expression in one unit; both of a pair are the same operation."""
    found, two = traced(entry, twins(fresh()))
    done: set[Expression] = set()
    for unit in two.ordered(found.expressions):
        assert len({x.operation for x in unit}) == 1
        assert all(y in done for x in unit for y in operands(x))
        assert not done & set(unit)
        done.update(unit)
    assert done == set(found.expressions)


def test_most_operations_of_a_humanoid_are_in_pairs() -> None:
    model = ff.robots.humanoid(20)
    for entry in ENTRIES:
        found, two = traced(entry, model)
        assert len(two.second) > 0.25 * len(found.expressions), entry.name


def test_twin_coordinates_of_a_quadruped() -> None:
    model = ff.robots.quadruped()
    positions, velocities = twin_coordinates(model.topology.tolist())
    names = {j.iv: j.name for j in model.joints}
    both = {names[a]: names[b] for a, b in velocities.items()}
    assert len(both) == 6
    assert {a.rpartition("_")[2] for a in both} == {b.rpartition("_")[2] for b in both.values()}
    assert positions == {a + 1: b + 1 for a, b in velocities.items()}
    assert twin_coordinates(ff.robots.chain(4).topology.tolist()) == ({}, {})


def test_pairs_that_wait_for_each_other_are_given_up() -> None:
    graph = Graph()
    a, b = (graph.made("input", 0, k) for k in range(2))
    first, second = a * a, b * b
    of_first, of_second = first * b, second * a
    two = Pairs({})
    two.second = {first: of_second, of_first: second}
    two.first = {y: x for x, y in two.second.items()}
    units = two.ordered([a, b, first, second, of_first, of_second])
    assert [x for unit in units for x in unit][-1] in (of_first, of_second)
    assert sorted(map(len, units)) == [1, 1, 1, 1, 2] or all(len(unit) == 1 for unit in units)


@pytest.mark.parametrize("made", [
    lambda: planar((0.3, 0.25), (0.28, 0.3), 0.2, base="free"), pytest.param(leg, marks=pytest.mark.slow),
])  # fmt: skip
def test_linkages_with_limbs_that_are_alike_agree(made: Callable[[], ff.Model]) -> None:
    """Of limbs that are alike, some angles belong together and others do not."""
    model = ff.close_loops(made())
    fast = ff.specialize(model, ["inverse_dynamics", "mass_matrix"])
    q, (v, a) = model.neutral, fresh().standard_normal((2, model.nv))
    for f, x in ((ff.inverse_dynamics, (q, v, a)), (ff.mass_matrix, (q,))):
        expected = f(model, *x)
        assert np.abs(f(fast, *x) - expected).max() < 10 * ALIKE * np.abs(expected).max()


def test_long_chains_take_no_time_to_compare():
    """Kinds of limbs once were texts in texts, whose length doubled with each joint."""
    topology = [int(x) for x in ff.robots.chain(60).topology]
    assert twin_coordinates(topology) == ({}, {})
