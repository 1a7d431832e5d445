"""Contacts of a robot: points, lines and surfaces of its frames that are held, wheels and balls that roll. Descriptions only.

import freeflyer as ff

feet = [ff.contacts.surface("left_sole"), ff.contacts.surface("right_sole")]
stance = ff.ConstraintSet(model, contacts=feet)"""

from freeflyer.contacts.description import VERTICAL as VERTICAL, Contact, Rolling as Rolling, line, point, rolling, surface
from freeflyer.contacts.feet import (
    anchored_feet, complete_feet as complete_feet, contact_from_points, contact_points as contact_points, feet_by_name,
    feet_from_file)
from freeflyer.contacts.sets.constraint_set import ConstraintSet as ConstraintSet, check_set as check_set
from freeflyer.contacts.sets.forces import wrenches_in as wrenches_in
from freeflyer.contacts.sets.tables import (
    corners_of as corners_of, path as path, surface_points as surface_points, widen as widen, wrenches_of as wrenches_of)
from freeflyer.contacts.wrenches import (
    Cone as Cone, ContactExpressed as ContactExpressed, cone_of_generators as cone_of_generators, express_at as express_at,
    express_wrenches, friction_cone as friction_cone, normal_forces as normal_forces, point_basis as point_basis,
    pyramid_edges as pyramid_edges, sole_axis as sole_axis)

__all__ = ["Contact", "anchored_feet", "contact_from_points", "express_wrenches", "feet_by_name", "feet_from_file",
           "line", "point", "rolling", "surface"]
