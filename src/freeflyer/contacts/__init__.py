"""What a robot touches: points, lines and surfaces of its frames that are held, wheels and balls that roll. Descriptions only.

import freeflyer as ff

feet = [ff.contacts.surface("left_sole"), ff.contacts.surface("right_sole")]
stance = ff.ConstraintSet(model, contacts=feet)"""

from freeflyer.contacts.description import Contact, Rolling, line, point, rolling, surface
from freeflyer.contacts.feet import feet_of, held_feet, sole
from freeflyer.contacts.forces import express_wrenches
from freeflyer.contacts.soles import feet_in_file

__all__ = [
    "Contact", "Rolling", "express_wrenches", "feet_in_file", "feet_of", "held_feet", "line", "point", "rolling", "sole", "surface",
]  # fmt: skip
