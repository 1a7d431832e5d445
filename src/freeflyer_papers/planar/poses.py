"""SE(2) in formulas: poses, adjoints, twist Jacobians (decoupling thesis, 4.1.1 and table A.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import sympy as sp

from freeflyer.errors import InputError
from freeflyer.model import public
from freeflyer.symbolic.routines import formula, matrix
from freeflyer.symbolic.trigonometry import is_zero, reduce_products
from freeflyer.symbolic.variables import Variables, jacobian

S = sp.ImmutableMatrix([[0, -1], [1, 0]])  # a quarter turn: S r is the velocity of r at angular velocity 1


@dataclass(frozen=True)
class Pose:
    """Pose of a frame y in a frame x of the plane, H_xy of the decoupling thesis, as an angle and a point.

    Args:
        angle: Angle of y's first axis against x's, rad.
        origin: row of two, of y, in x, m.
    Raises: InputError for objects that are not formulas, and points of other sizes.

    Examples:
        Angles add, so that no product of sines and cosines is left:

        >>> import sympy
        >>> theta, q, l = sympy.symbols("theta q l")
        >>> pose = freeflyer_papers.planar.Pose
        >>> (pose(theta, (0, 0)) @ pose(q, (l, 0)) @ pose(0, (l, 0))).origin
        Matrix([
        [l*cos(theta) + l*cos(q + theta)],
        [l*sin(theta) + l*sin(q + theta)]])
    """

    angle: sp.Expr
    origin: sp.ImmutableMatrix

    def __post_init__(self) -> None:
        object.__setattr__(self, "angle", formula("angle", self.angle))
        point = matrix("origin", self.origin)
        if len(point) != 2 or 1 not in point.shape:
            raise InputError(f"origin must be a point of the plane, two formulas, got a matrix of shape {point.shape}")
        object.__setattr__(self, "origin", sp.ImmutableMatrix(2, 1, list(point)))

    @property
    def rotation(self) -> sp.ImmutableMatrix:
        """R_xy (2, 2)."""
        return rotation_matrix(self.angle)

    @property
    def matrix(self) -> sp.ImmutableMatrix:
        """H_xy (3, 3)."""
        return sp.ImmutableMatrix(sp.Matrix.vstack(self.rotation.row_join(self.origin), sp.Matrix([[0, 0, 1]])))

    @property
    def inverse(self) -> Pose:
        """Pose of x in y."""
        return Pose(-self.angle, reduce_products(-rotation_matrix(-self.angle) * self.origin))

    def __matmul__(self, other: Pose) -> Pose:
        """H_xz = H_xy H_yz."""
        return Pose(sp.expand(self.angle + other.angle), reduce_products(self.origin + self.rotation * other.origin))


@public
def rotation_matrix(angle: sp.Expr) -> sp.ImmutableMatrix:
    """Rotation R_xy of a frame y in a frame x of the plane, matrix, (2, 2).

    Args:
        angle: expression or number, rad."""
    angle = formula("angle", angle)
    c, s = sp.cos(angle), sp.sin(angle)
    return sp.ImmutableMatrix([[c, -s], [s, c]])


@public
def pose_of(H: sp.MatrixBase) -> Pose:
    """Pose whose homogeneous matrix is given.

    Args:
        H: (3, 3).
    Returns: Pose. Its angle is that of the cosine and sine in H, or else their atan2.
    Raises: InputError for matrices that are not proved to be poses.

    Examples:
        >>> import sympy
        >>> pose = freeflyer_papers.planar.Pose(sympy.Symbol("q"), (1, 0))
        >>> freeflyer_papers.planar.pose_of(pose.matrix).angle
        q
    """
    H = matrix("H", H, (3, 3))
    R = H[:2, :2]
    off = [*(R.T * R - sp.eye(2)), R[0, 0] - R[1, 1], R[0, 1] + R[1, 0], *(H[2, :] - sp.Matrix([[0, 0, 1]]))]
    if not is_zero(sp.Matrix(off)):
        raise InputError(f"H must be a pose [[R, o], [0, 0, 1]] with a rotation R; that is not proved of {H}")
    c, s = H[0, 0], H[1, 0]
    shown = [sign * wave.args[0] for wave in c.atoms(sp.cos) | s.atoms(sp.sin) for sign in (1, -1)]
    angle = next((a for a in shown if is_zero(sp.Matrix([c - sp.cos(a), s - sp.sin(a)]))), sp.atan2(s, c))
    return Pose(angle, H[:2, 2])


@public
def adjoint(pose: Pose) -> sp.ImmutableMatrix:
    """Adjoint A_xy of a pose: it takes twists of frame y to those of frame x; matrix, (3, 3), of [linear; angular].

    Source: decoupling thesis, 4.1.1: [[R, -S o], [0, 1]] with S a quarter turn."""
    _check(pose)
    top = pose.rotation.row_join(-S * pose.origin)
    return sp.ImmutableMatrix(sp.Matrix.vstack(top, sp.Matrix([[0, 0, 1]])))


@public
def twist_adjoint(twist: Iterable[sp.Expr]) -> sp.ImmutableMatrix:
    """Adjoint a of a twist, the Lie bracket with it: the rate of A_xy is A_xy a_xy; matrix, (3, 3).

    Args:
        twist: row of three, [vx, vy, omega].
    Source: decoupling thesis, 4.1.1: [[omega S, -S v], [0, 0]]."""
    found = matrix("twist", twist)
    if len(found) != 3 or 1 not in found.shape:
        raise InputError(f"twist must be [vx, vy, omega], got a matrix of shape {found.shape}")
    v = sp.Matrix(list(found)[:2])
    return sp.ImmutableMatrix(sp.Matrix.vstack((list(found)[2] * S).row_join(-S * v), sp.zeros(1, 3)))


@public
def twist_jacobian(pose: Pose, variables: Variables) -> sp.ImmutableMatrix:
    """Jacobian of the twist of frame y against x in y's axes: nu_xy = J velocity; matrix, (3, nv), rows [vx, vy, omega].

    Args:
        pose: Pose of y in x, a function of the configuration.
    Source: decoupling thesis, (4.6)-(4.7); Jacobian_Jnu_xy of table A.1.

    Examples:
        The base's own velocity is the first three:

        >>> robot = freeflyer_papers.planar.revolute_hopper()
        >>> base = freeflyer_papers.planar.frame_pose(robot, "base", reference="world")
        >>> freeflyer_papers.planar.twist_jacobian(base, robot.variables)
        Matrix([
        [1, 0, 0, 0],
        [0, 1, 0, 0],
        [0, 0, 1, 0]])
    """
    _check(pose)
    linear = pose.rotation.T * jacobian(pose.origin, variables)
    return reduce_products(sp.Matrix.vstack(linear, jacobian(pose.angle, variables)))


def _check(pose: object) -> None:
    if not isinstance(pose, Pose):
        raise InputError(f"pose must be a Pose, got {type(pose).__name__}; freeflyer_papers.planar.pose_of makes one of a matrix")


@dataclass(frozen=True)
class LinkInertia:
    """Inertia of a link about its frame's origin.

    Args:
        matrix: Lambda_j (3, 3), of twists [vx, vy, omega]; kg, kg m, kg m^2.
        mass: expression, kg.
        center: Centre of mass (2, 1) in the link's frame, m."""

    matrix: sp.ImmutableMatrix
    mass: sp.Expr
    center: sp.ImmutableMatrix


@public
def link_inertia(centers: Iterable[Iterable[sp.Expr]], masses: Iterable[sp.Expr], inertias: Iterable[sp.Expr]) -> LinkInertia:
    """Inertia of a link that carries several masses.

    Args:
        centers: k rows of two, where each mass has its centre, in the link's frame, m.
        masses, inertias: rows of k, kg, and kg m^2 about each mass's own centre.
    Raises: InputError for rows of other lengths, none at all, and masses whose sum is zero.
    Source: decoupling thesis, (4.9); massmatrix_Lamda_j of table A.1, whose centres are columns.

    Examples:
        >>> import sympy
        >>> m, l = sympy.symbols("m l", positive=True)
        >>> freeflyer_papers.planar.link_inertia([(l, 0)], [m], [0]).matrix
        Matrix([
        [m,   0,      0],
        [0,   m,    l*m],
        [0, l*m, l**2*m]])
    """
    m, I = list(matrix("masses", masses)), list(matrix("inertias", inertias))
    points = [matrix(f"centers[{k}]", c) for k, c in enumerate(centers)]
    if not m or not len(m) == len(I) == len(points):
        raise InputError(f"a mass has one centre and one inertia: got {len(m)} masses, {len(points)} centers, {len(I)} inertias")
    total = sp.Add(*m)
    if total == 0:
        raise InputError("the masses of a link without mass have no centre: leave the link out")
    Lambda = sp.zeros(3, 3)
    for point, mass, inertia in zip(points, m, I):
        A = adjoint(Pose(sp.S.Zero, point).inverse)
        Lambda += A.T * sp.diag(mass, mass, inertia) * A
    moments = sum((mass * Pose(sp.S.Zero, p).origin for mass, p in zip(m, points)), sp.zeros(2, 1))
    center = (moments / total).applyfunc(sp.factor_terms)
    return LinkInertia(sp.ImmutableMatrix(Lambda.applyfunc(sp.expand)), total, sp.ImmutableMatrix(center))
