"""The recursion as the dual quaternion paper prints it: beside the compiled one, and with joints that no model has."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh, rounding
from freeflyer.spatial import dual_quaternion as D
from freeflyer_papers.printed import newton_euler as printed
from geometric_cases import state
from random_robots import random_robot

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
    """A pendulum whose joint is of no kind of the library: it turns by s about z and lifts by 0.1 sin(2 s), so that its
    twist (1 + eps 0.2 cos(2 s)) k s' depends on where it is."""

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
