"""The two hopping legs of the decoupling thesis as tables of symbols."""

from __future__ import annotations

import sympy as sp

from freeflyer.model.public import public
from freeflyer_papers.planar.chain import PlanarRobot, robot, variables


@public
def prismatic_hopper() -> PlanarRobot:
    """Prismatic hopping leg: point masses m_01 on the base and m_11 on the foot, q1 the leg's length (tables 4.4 and 4.5).

    Returns: PlanarRobot with symbols m_01, m_11 and g; `ff.robots.prismatic_hopper` is the leg in numbers.

    Examples:
        >>> robot = freeflyer_papers.planar.prismatic_hopper()
        >>> freeflyer_papers.planar.mass_matrix(robot)[2:, 2:]
        Matrix([
        [m_11*q1**2,    0],
        [         0, m_11]])
    """
    state, (trunk, foot, g) = variables(1), sp.symbols("m_01 m_11 g", positive=True)
    frames = [("1", state.position[3], 0, 0), ("foot", 0, 0, 0)]
    return robot(state, frames, [("base", trunk, 0, 0, 0), ("1", foot, 0, 0, 0)], gravity=g)


@public
def revolute_hopper() -> PlanarRobot:
    """Revolute hopping leg: trunk m_01 and thigh m_02 on the base, shank m_11 after the knee q1 (tables 4.9 and 4.10).

    Returns: PlanarRobot with symbols m_01, m_02, m_11, l (of thigh and shank) and g; `ff.robots.revolute_hopper` is the leg in
    numbers.

    Examples:
        >>> robot = freeflyer_papers.planar.revolute_hopper()
        >>> freeflyer_papers.planar.mass_matrix(robot)[3, 3]
        l**2*m_11/4
    """
    state, (trunk, thigh, shank, l, g) = variables(1), sp.symbols("m_01 m_02 m_11 l g", positive=True)
    frames = [("1", l, 0, state.position[3]), ("foot", l, 0, 0)]
    masses = [("base", trunk, 0, 0, 0), ("base", thigh, l / 2, 0, 0), ("1", shank, l / 2, 0, 0)]
    return robot(state, frames, masses, gravity=g)
