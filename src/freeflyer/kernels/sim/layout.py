"""Where each number of the tables of simulations with ground lies."""

from freeflyer.kernels.model.layout import OTHERS, SET_HEADER

GROUND, SAMPLES = 21, 22  # kinds of tables: points that touch ground; steps

# the table of a robot with ground is that of the constraint set that also holds (model/layout.py). In it how long the input of
# settings is, how many forces are kept from step to step, contacts, and samples of one call; behind its header more places
# (_AT: of integers from the table's beginning, of NUMBERS in parameters), then the integers
N_SETTINGS, N_KEPT, N_CONTACTS, N_TAKEN = OTHERS, OTHERS + 1, OTHERS + 2, OTHERS + 3
N_POINTS, N_BETWEEN = range(SET_HEADER, SET_HEADER + 2)  # points that may touch; steps from one sample to the next
N_LIMITED, N_DRY, SURFACE, POINTS_AT, LIMITED_AT, DRY_AT = range(SET_HEADER + 2, SET_HEADER + 8)
POINT_NUMBERS, LIMIT_NUMBERS, DRY_NUMBERS, GRID_NUMBERS = range(SET_HEADER + 8, SET_HEADER + 12)
GRID_X, GRID_Y = SET_HEADER + 12, SET_HEADER + 13  # points of the grid of heights
YIELDING = SET_HEADER + 14  # how the ground yields
GROUND_HEADER = 15  # numbers behind the set's header

RIGID, COMPLIANT, VISCOELASTIC, SOFT = 0, 1, 2, 3  # springs along the normal; along all axes; accelerations as MuJoCo's contacts
LEVEL, GRID, GIVEN = 0, 1, 2  # surfaces: a level plane; heights on a grid; a plane for each point, in the settings
POINT_INTS = 4
POINT_FRAME, POINT_KIND, POINT_LAST, POINT_CONTACT = 0, 1, 2, 3  # LAST: of the coordinates that move it, or -1
TIP, BALL, DISC = 0, 1, 2  # kinds of points: itself; the lowest point of a ball about it, and of a disc's edge
POINT_FLOATS = 9
PLACE, RADIUS, AXIS, FRICTION, RESTITUTION = 0, 3, 4, 7, 8  # in the frame's axes
LIMITED_INTS = 2
LIMITED_V, LIMITED_Q = 0, 1
GRID_FLOATS = 4  # before the heights: the first x and y, then from one to the next

# settings: the step, gravity, the height of the plane or above the grid's, friction and restitution of points that have none of
# their own, springs and dampers below the points (of soft ground as accelerations, and its share of the gain), then planes (normal,
# offset) if given, then mean forces of the step before
STEP, GRAVITY, HEIGHT, GROUND_FRICTION, GROUND_RESTITUTION, STIFFNESS, DAMPING, SHARE, PLANES = 0, 1, 4, 5, 6, 7, 8, 9, 10
PLANE_FLOATS = 4

FACTS = 5
MISSING, ENOUGH, ROUNDS, PENETRATION, TOUCHING = 0, 1, 2, 3, 4  # residual, what counts as none, rounds, depth, points with a force
