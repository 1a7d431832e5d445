"""Cones of contacts whose points carry digits of a file."""

import numpy as np
from freeflyer.contacts.cones import NORMAL, cone_of_generators, pyramid_edges
from freeflyer.contacts.wrenches import point_wrenches
from freeflyer.spatial import quaternion
from scipy.spatial import ConvexHull
from seeds import fresh


def generators(points):
    return np.concatenate([pyramid_edges(0.6) @ point_wrenches(p) for p in points])


def test_facets_that_digits_of_a_file_tell_apart_are_one():
    """Of a sole that is tilted a little, in numbers of nine digits; the facets lie inside of all its own."""
    rng = fresh()
    corners = np.array([[x, y, 0.0] for x in (-0.1, 0.1) for y in (-0.05, 0.05)])
    for _ in range(20):
        tilted = corners @ quaternion.to_matrix(quaternion.exp(3e-5 * rng.standard_normal(3))).T
        G = generators(np.round(tilted, 9))
        cone, own = cone_of_generators(G), ConvexHull(np.delete(G, NORMAL, axis=1)).equations
        assert len(cone.C) < len(np.unique(np.round(own, 9), axis=0))
        assert (cone.C @ G.T).max() < 1e-4  # what it leaves out
        y = rng.dirichlet(0.1 * np.ones(len(G)), 2000) @ G + 1e-5 * rng.standard_normal((2000, 6))
        y[:, NORMAL] = 1.0
        y = y[(y @ cone.C.T <= 0.0).all(axis=1)]
        assert len(y) > 100
        assert (np.delete(y, NORMAL, axis=1) @ own[:, :-1].T + own[:, -1]).max() < 1e-12
