"""Cones and limits of forces about the normals of contacts, whatever the axes of their frames."""

from dataclasses import replace

import numpy as np
import pytest
from closeness import close
from programs import program_of
from seeds import fresh

import freeflyer as ff
from freeflyer import contacts, control

FEET = ("front_left_foot", "front_right_foot", "rear_left_foot", "rear_right_foot")


def sole_in_other_axes(R: np.ndarray) -> ff.Model:
    """A humanoid whose site "sole" has the axes R (3, 3) in those of its left sole."""
    d = ff.robots.humanoid().description
    old = next(site for site in d.sites if site.name == "left_sole")
    X = old.placement.copy()
    X[:3, :3] = X[:3, :3] @ R
    return ff.build(replace(d, sites=(*d.sites, ff.Site("sole", old.link, X))))


@pytest.mark.parametrize("kind", ["point", "line", "surface", "x up", "y up", "z down"])
def test_cones_are_those_of_point_forces_about_the_normal(kind):
    """Forces in the points within the pyramids about the normal are inside; where one pulls along it, outside."""
    rng = fresh()
    flat = kind not in ("point", "line")
    n = np.array([0.0, 0.0, 1.0]) if flat else rng.standard_normal(3) / 3.0 + [0.0, 0.0, 1.0]
    n /= np.linalg.norm(n)
    up = {
        "x up": [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]], "y up": [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]],
        "z down": np.diag([1.0, -1.0, -1.0]),
    }.get(kind, np.eye(3))  # fmt: skip
    model = sole_in_other_axes(np.transpose(up))
    q = ff.robots.standing_posture(model)
    if not flat:  # its frame leans; the line lies in the plane
        q = ff.integrate(model, q, np.concatenate([np.zeros(3), 0.6 * rng.standard_normal(3), np.zeros(model.nv - 6)]))
    X = ff.frame_pose(model, q, "sole")
    d = np.cross(n, rng.standard_normal(3))
    in_world = {"point": np.zeros((1, 3)), "line": np.outer([-0.1, 0.12], d / np.linalg.norm(d))}.get(kind)
    corners = np.array([[0.1, 0.05, 0.0], [0.12, -0.03, 0.0], [-0.1, -0.01, 0.0], [-0.05, 0.06, 0.0]])
    points = corners if in_world is None else in_world + 0.02
    points = points @ X[:3, :3]
    at = X if kind == "z down" else None
    make = {1: lambda p: contacts.point("sole", p[0], normal=n), 2: lambda p: contacts.line("sole", p, normal=n)}
    contact = make.get(len(points), lambda p: contacts.surface("sole", p, normal=n, at=at))(points)
    p = program_of(control.WholeBodyProblem(model, contacts=[contact], friction=0.5), q, np.zeros(model.nv))
    C, W = next(p.A[rows, p.alpha :] for piece, rows in p.rows if piece.name == "sole cone"), p.unit
    axes = contacts.wrenches.contact_axes(n)
    for _ in range(30):
        normal, angle = rng.uniform(1.0, 300.0, len(points)), rng.uniform(0.0, 2.0 * np.pi, len(points))
        tangent = rng.uniform(0.0, 0.5 / 2.0**0.5 * 0.99, len(points)) * normal * (0.7 if flat or kind == "line" else 1.0)
        for pulls in (False, True):
            pressing = np.where(pulls, -normal, normal)
            f = np.column_stack([tangent * np.cos(angle), tangent * np.sin(angle), pressing]) @ axes @ X[:3, :3]
            wrench = np.concatenate([f.sum(axis=0), np.cross(points, f).sum(axis=0)])
            y = np.linalg.lstsq(W.T, wrench, rcond=None)[0]
            close(W.T @ y, wrench, 1e-9)
            worst = (C @ y).max()
            assert worst > 1e-3 if pulls else worst <= 1e-9 * np.linalg.norm(wrench)


@pytest.mark.parametrize("bilateral", [False, True])
def test_normal_forces_are_limited_along_the_normal(bilateral):
    """Of a foot on a slope, and of a grasp; solutions give their wrenches in the contact's axes."""
    rng = fresh()
    model = ff.robots.quadruped()
    q, n = ff.robots.standing_posture(model), np.array([0.2, -0.1, 1.0])
    feet = [contacts.point(name, normal=n if name == FEET[0] else (0.0, 0.0, 1.0)) for name in FEET]
    tasks = [control.CenterOfMassTask(ff.center_of_mass(model, q)), control.PostureTask(q, level=2)]
    most = rng.uniform(5.0, 12.0)
    options = {"contacts": feet, "bilateral": FEET[:1] if bilateral else ()}
    limited = control.WholeBodyProblem(model, tasks, limits=[control.NormalForceLimits(FEET[0], most)], **options)
    found, free = (p.solve(q, np.zeros(model.nv)) for p in (limited, control.WholeBodyProblem(model, tasks, **options)))
    for solution, more in ((found, False), (free, True)):
        force = n / np.linalg.norm(n) @ ff.frame_pose(model, q, FEET[0])[:3, :3] @ solution.forces[FEET[0]][:3]
        assert (force > most + 1e-6) == more
        close(solution.wrenches("contact")[FEET[0]][2], force, 1e-9)
    total = sum(free.wrenches("world").values())
    close(total[:3], np.array([0.0, 0.0, 9.81 * model.mass]), 1e-6)
    with pytest.raises(ff.InputError, match="'contact', got"):
        free.wrenches("floor")


def test_solutions_of_rolled_lines_keep_their_cones():
    """A humanoid on the edges of its soles, leaning: forces of both ends press, within friction about the vertical."""
    model = ff.robots.humanoid()
    q = ff.robots.standing_posture(model)
    edges = [contacts.line(f"{side}_sole", [(0.1, -0.05, 0.0), (0.1, 0.05, 0.0)], friction=0.3) for side in ("left", "right")]
    turn = np.zeros(model.nv)
    turn[4] = 0.4
    q = ff.integrate(model, q, turn)
    problem = control.WholeBodyProblem(model, [control.CenterOfMassTask(ff.center_of_mass(model, q) + [0.5, 0.0, 0.0])], edges)
    solution = problem.solve(q, np.zeros(model.nv))
    for name, w in solution.wrenches("contact").items():
        assert w[2] > 0.0
        assert np.hypot(*w[:2]) <= 0.3 * w[2] + 1e-6, name
