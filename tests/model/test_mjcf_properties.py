"""MJCF of random robots, trees and closed linkages: what is written reads back as the same machine."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh
from dataclasses import replace
from freeflyer import linkages
from linkage_samples import MASKS, random_linkage
from random_robots import random_description
from readers_samples import differences

KINDS = ("revolute", "continuous", "prismatic", "spherical", "cylindrical", "planar", "universal", "fixed")
TIES = (MASKS["point"], MASKS["weld"])  # that MuJoCo's equalities are


@pytest.mark.parametrize("base", ["free", "fixed"])
@pytest.mark.parametrize("k", range(8))
def test_trees_read_back(k: int, base: str) -> None:
    """To rounding, with the joints in other orders, joints that follow others, and armatures."""
    description = random_description(fresh("mjcf", k), 8, KINDS, base, mimics=0.3)
    joint = description.joint("base")
    if base == "free":  # MuJoCo's stand at the world's origin, each with one armature
        description = description.with_joint(replace(joint, placement=np.eye(4)))
    joints = tuple(replace(j, armature=j.armature[:1] * len(j.armature)) for j in description.joints)
    description = replace(description, joints=joints)
    back = ff.load(ff.to_mjcf(description), base=None)
    assert differences(description, back.description) == []
    model, rng = ff.build(description), fresh(k)
    q = ff.random_configuration(model, rng)
    v = rng.standard_normal(model.nv)
    iq, iv = places(model, back)
    q_back, v_back = np.empty(back.nq), np.empty(back.nv)
    q_back[iq], v_back[iv] = q, v
    close(ff.mass_matrix(back, q_back)[np.ix_(iv, iv)], ff.mass_matrix(model, q))
    close(ff.bias_forces(back, q_back, v_back)[iv], ff.bias_forces(model, q, v))


@pytest.mark.parametrize("k", range(8))
def test_linkages_read_back(k: int) -> None:
    """Loops tie the same frames: the same residual and Jacobian away from closure, too."""
    rng = fresh("mjcf loops", k)
    model, _ = random_linkage(rng, tuple(TIES[i] for i in rng.integers(len(TIES), size=1 + k % 3)), 8, KINDS[:4], at_zero=True)
    back = ff.load(ff.to_mjcf(model), base=None)
    iq, iv = places(model, back)
    q = ff.integrate(model, model.neutral, 0.1 * rng.standard_normal(model.nv))
    q_back = np.empty(back.nq)
    q_back[iq] = q
    assert {loop.name for loop in back.loops} == {loop.name for loop in model.loops}
    close(linkages.constraint_residual(back, q_back), linkages.constraint_residual(model, q))
    close(linkages.constraint_jacobian(back, q_back)[:, iv], linkages.constraint_jacobian(model, q))


def places(model: ff.Model, back: ff.Model) -> tuple[np.ndarray, np.ndarray]:
    """Where entries of q and v of one are in those of the other."""
    pairs = [(back.joint(j.name), j) for j in model.joints if j.nv and j.mimic is None]
    found = []
    for first, size, whole in (("iq", "nq", model.nq), ("iv", "nv", model.nv)):
        at = np.empty(whole, int)
        for there, here in pairs:
            own = np.arange(getattr(here, size))
            at[getattr(here, first) + own] = getattr(there, first) + own
        found.append(at)
    return found[0], found[1]
