"""Where each number of a compiled model lies in its two flat arrays, and of the kinematics in a work array.

Bodies are the links that joints move, numbered from 1 in depth-first order; body 0 is the world. A body has one column (a motion
direction) per degree of freedom of its joint; a column belongs to one velocity coordinate, which mimic joints share. `topology`
holds: header, bodies, columns, velocity coordinates, frames, quaternions, loops, couplings. `parameters` holds: gravity, bodies,
armature per velocity coordinate, frames, couplings, tiles.

Behind them lie, if there are any: the structure of a closed linkage, the table of a constraint set, of equations given by their
matrices, or of another entry of its own."""

# header of topology
N_BODIES, N_Q, N_V, N_COLUMNS, N_FRAMES = 0, 1, 2, 3, 4
COLUMNS_AT, COORDINATES_AT, FRAMES_AT = 5, 6, 7  # first record in topology
ARMATURE_AT, PLACEMENTS_AT = 8, 9  # first entry in parameters
SINES_AT, POSES_AT, DIRECTIONS_AT, FREE_AT = 10, 11, 12, 13  # in work: sines, body poses, columns, first free entry
N_QUATERNIONS, QUATERNIONS_AT = 14, 15  # how many, and where topology lists their first entries in q
MAX_DEPTH, COLUMN_ROW = 16, 17  # COLUMN_ROW: the number of columns, padded to whole rows of eight
TILES_AT = 18  # in parameters: the first TILE numbers of all bodies' records, in tiles of eight
N_LOOPS, LOOPS_AT = 19, 20  # loop constraints, first record in topology
N_COUPLINGS, COUPLINGS_AT = 21, 22  # joint equalities, first record in topology
N_ROWS = 23  # rows of all loops and couplings
POSE_VECTORS_AT = 24  # in work: vectors of the poses while they are computed
ORDER_AT = 25  # where topology lists the bodies by depth, so that neighbours in the list are rarely parent and child
N_ARMATURES, ARMATURES_AT = 26, 27  # joints with quaternions that have armature; where topology lists their bodies
TABLE_AT, TABLE_KIND = 28, 29  # where a table of an entry's own begins in topology, if there is one, and which
N_PAIRS = 32  # pairs of different columns of one joint, of all joints
HEADER = 40

MEASURED, STANDING, PLAN, FRAMES, SETS, SYSTEMS, PROGRAMS = 1, 2, 3, 4, 5, 6, 7  # kinds of tables

# a body in topology, record 0 being the world
BODY_INTS = 9
PARENT, KIND, FIRST_Q, FIRST_COLUMN, COLUMN_COUNT, LAST_BODY = 0, 1, 2, 3, 4, 5  # LAST_BODY: last of its subtree
FIRST_V, DEPTH = 6, 7  # velocity coordinate of the first column; joints between the body and the world
IS_REFERENCE = 8  # whether matrices of its tree refer to its origin: the first body with mass

# a column in topology
COLUMN_INTS = 4
COLUMN_BODY, COORDINATE = 0, 1
PARENT_COLUMN, LAST_COLUMN = 2, 3  # before it on the way to the world, or -1; last of its subtree

# a velocity coordinate in topology
COORDINATE_INTS = 3
PARENT_COORDINATE, LAST_COORDINATE = 0, 1  # for the sparsity of the mass matrix (-1: none; last of its subtree)
LINE_START = 2  # the first of the coordinates that end here and each of which is the parent of the next number

# a frame in topology
FRAME_INTS = 1  # its body

# a loop in topology: its two frames, the bits of its mask (x first), its first row
LOOP_INTS = 4
FRAME_A, FRAME_B, MASK, FIRST_ROW = 0, 1, 2, 3

# a coupling in topology: entries of q and v of its two joints (-1: no second joint), its numbers in parameters, how many
# coefficients. One row each, after the loops' rows
COUPLING_INTS = 6
FIRST_POSITION, FIRST_VELOCITY, SECOND_POSITION, SECOND_VELOCITY, NUMBERS_AT, N_COEFFICIENTS = 0, 1, 2, 3, 4, 5
COUPLING_RATIOS = 4  # numbers: ratio and offset of the first and of the second joint (of mimics), then coefficients

# joint kinds, see joints/__init__.py
SCREW, BALL, FLOATING = 0, 1, 2
QUATERNION = {BALL: 0, FLOATING: 3}  # of the kinds that have one: where it begins among the joint's coordinates
TRANSLATED = {FLOATING}  # kinds of several columns that move the body's origin

# parameters
GRAVITY = 0
BODIES = 4  # first body record (body 0)
BODY_FLOATS = 37
ROTATION, TRANSLATION, MASS, COM, INERTIA = 0, 9, 12, 13, 16  # joint placement in parent body; inertia about the CoM
TURN, SLIDE, TURN_OFFSET, SLIDE_OFFSET = 22, 23, 24, 25  # a screw turns by TURN q + TURN_OFFSET, slides likewise
SUBTREE_MASS = 26  # of the body and all bodies that it carries
MOMENT, SECOND = 27, 30  # first (3) and second (6) moment of mass about the body's origin
SUBTREE_SPREAD = 36  # at least the mass of what the body carries times squared distance from its origin, in any posture
TILE = 26  # of a body's record, all before SUBTREE_MASS
PLACEMENT_FLOATS = 12  # a frame: rotation, translation

# the kinematics in a work array
# in world axes: rotation (9, column by column), position from the reference body, offset from the parent's origin, position
POSE = 18
POSE_VECTORS = 24  # the same six vectors, four entries each
DIRECTION = 8  # a column: linear (3), angular (3), nothing (2); at its body's origin, in world axes

# a program's table: variables, limited rows (bounds of variables, then rows of A), numbers of H, numbers of A, rows of A
N_VARIABLES, N_LIMITS, H_SIZE, A_SIZE, N_A_ROWS = 0, 1, 2, 3, 4

# The structure of a closed linkage. A block is a set of constraint rows and as many dependent velocity coordinates; its rows touch
# these and coordinates "outside": independent ones, or dependent ones of blocks before it. So dependent rates follow from
# independent ones block by block.
LINKAGE_AT, N_INDEPENDENT = 30, 31  # in the header of topology: where the linkage begins, how many rates are free
# its header; places named _AT are counted from the beginning of topology
N_BLOCKS, INDEPENDENTS_AT, BLOCKS_AT, SUPPORTS_AT = 0, 1, 2, 3
INVERSES, LARGEST_SIZE = 4, 5  # how many numbers the inverses take; rows of the largest block
LINKAGE_HEADER = 8

# a block
BLOCK_INTS = 8
SIZE, N_OUTSIDE = 0, 1
PLACES_AT, ROWS_AT = 2, 3  # places: its dependent coordinates, then those outside; rows: their numbers
INVERSE, STRIDE = 4, 5  # where its [., inverse] begins among the inverses, and the length of its rows there

# which independent rates move a velocity coordinate: first entry in topology, and how many
SUPPORT_INTS = 2

CONSISTENT = 1e-6  # relative: by how much a velocity may miss the loops

# A constraint set. Its rows stand in the order: rows of loops and couplings, locked coordinates, then contacts and rolling bodies
# ("items"). The numbers of an item lie behind the model's parameters: of a held one k unit wrenches whose forces count as the point
# forces do (k, 6), what makes multipliers of the public rows of them (k, k), and the unit wrenches of the public rows (k, 6), all
# in the frame's axes at its origin; of a rolling one its radius and axis. Last, of both, in world axes, two directions in the plane
# and its normal.

# a set's table; places named _AT are counted from its beginning
N_ITEMS, N_SET_ROWS, N_ITEM_ROWS, VERDICT_SIZE = 0, 1, 2, 3  # rows of all, and those of items alone; numbers of a verdict
OTHERS, N_OTHERS = 4, 4  # sizes of inputs and results of further entries (estimation.py, simulations)
N_ANCHORS, N_STEPS = OTHERS, OTHERS + 1  # numbers of a set's anchors; steps of one call
FIRST_FREE = 8  # the first row whose forces are chosen where rows depend on each other: behind loops and locks
N_PATH, PATH_AT = 9, 10  # velocity coordinates that move any row, descending
ITEMS_AT, N_LOOP_ROWS, LOOP_ROWS_AT, N_LOCKS, LOCKS_AT = 11, 12, 13, 14, 15
SET_HEADER = 16

# an item
ITEM_INTS = 5
ITEM_KIND, ITEM_FRAME, ITEM_FIRST_ROW, ITEM_ROWS, ITEM_NUMBERS = 0, 1, 2, 3, 4
HELD, WHEEL, SPHERE = 0, 1, 2  # kinds of items
RADIUS, AXIS, ROLLING_NUMBERS = 0, 1, 4  # numbers of a rolling one before its axes
FIRST_TANGENT, SECOND_TANGENT, NORMAL, AXES = 0, 3, 6, 9  # of its axes

# a set's anchors: the length of a step, the pose (rotation, position) at which each item is held, then the configuration of locks
ANCHOR_STEP, ANCHORS, ANCHOR = 0, 1, 12

# a system's table: how long its input is, unknowns, rows, numbers of a verdict, first row that is free (as FIRST_FREE)
SYSTEM_SIZE, N_UNKNOWNS, N_SYSTEM_ROWS, SYSTEM_VERDICT, SYSTEM_FREE = 0, 1, 2, 3, 4

# a verdict: the square of the worst contradiction, how many rows depend on others, then of each row 1, or 0 if it depends on some
CONTRADICTION, DEPENDENT, FLAGS = 0, 1, 2
