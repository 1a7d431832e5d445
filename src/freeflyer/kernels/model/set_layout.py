"""Where the tables of constraint sets lie behind a model's topology, and of equations that are given by their matrices.

A set's rows stand in the order: rows of loops and couplings, locked coordinates, then contacts and rolling bodies ("items"). The
numbers of an item lie behind the model's parameters: of a held one k unit wrenches whose forces count as the point forces do (k,
6), what makes multipliers of the public rows of them (k, k), and the unit wrenches of the public rows (k, 6), all in the frame's
axes at its origin; of a rolling one its radius and axis. Last, of both, in world axes, two directions in the plane and its normal.
"""

SETS, SYSTEMS = 5, 6  # kinds of tables (see layout.py)

# a set's table; places named _AT are counted from its beginning
N_ITEMS, N_SET_ROWS, N_ITEM_ROWS, VERDICT_SIZE = 0, 1, 2, 3  # rows of all, and those of items alone; numbers of a verdict
OTHERS, N_OTHERS = 4, 4  # sizes for entries of other packages (estimation/contact.py); 0 in a set's own table
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

# a system's table: how long its input is, unknowns, rows, numbers of a verdict, first row that is free (as FIRST_FREE)
SYSTEM_SIZE, N_UNKNOWNS, N_SYSTEM_ROWS, SYSTEM_VERDICT, SYSTEM_FREE = 0, 1, 2, 3, 4

# a verdict: the square of the worst contradiction, how many rows depend on others, then of each row 1, or 0 if it depends on some
CONTRADICTION, DEPENDENT, FLAGS = 0, 1, 2
