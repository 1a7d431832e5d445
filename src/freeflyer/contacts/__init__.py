"""Contacts of a robot: points, lines and surfaces of its frames that are held, wheels and balls that roll. Descriptions only.

import freeflyer as ff

feet = [ff.contacts.surface("left_sole"), ff.contacts.surface("right_sole")]
stance = ff.ConstraintSet(model, contacts=feet)"""

from freeflyer.contacts.description import Contact, line, point, rolling, surface
from freeflyer.contacts.feet import anchored_feet, contact_from_points, feet_by_name, feet_from_file
from freeflyer.contacts.wrenches import express_wrenches

__all__ = ["Contact", "anchored_feet", "contact_from_points", "express_wrenches", "feet_by_name", "feet_from_file",
           "line", "point", "rolling", "surface"]
