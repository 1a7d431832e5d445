"""The table of a control program: its unknowns and rows, where the tables of its parts lie, and a record of each piece of rows.

Unknowns are accelerations alpha (n,) and forces F (k,) in the rows of the contacts. Rows stand level by level: dynamics and torque
limits; contacts, loops, cones, limits of accelerations and forces; then tasks."""

CONTROL, SPLITS = 12, 13  # kinds of tables (see model/layout.py)

# motors, velocities of the model, forces, unknowns, rows, numbers that are given, contacts; accelerations among the unknowns
N_MOTORS, N_VELOCITIES, N_FORCES, N_UNKNOWNS, N_ROWS, N_NUMBERS, N_CONTACTS, N_ALPHA = range(8)
# which accelerations; rows of the equations of motion without motors; rows of loops; where in the table lie the set of contacts,
# the frames, the levels, the split into two parts (0: none), the numbers of the rows without motors and with, the pieces; how many
FORM, N_FREE, N_LOOP_ROWS, SET_AT, FRAMES_AT, LEVELS_AT, SPLIT_AT, MOTORS_AT, PIECES_AT, N_PIECES = range(8, 18)
# rows of the first two levels; the first row of contacts, of the last level; forces of contacts alone, without
# locked coordinates; where in the parameters the constants lie
N_HARD_ROWS, CONTACTS_ROW, LAST_ROW, N_ITEM_FORCES, CONSTANTS_AT, CONTROL_HEADER = range(18, 24)

TREE, CLOSED, ALL_JOINTS = 0, 1, 2  # forms: those of a tree, the independent ones of a closed model, those of all its joints
CONTACT_DAMPING, FORCE_METRIC = 0, 1  # constants; the last are the weighted metric (k, k) of the forces

# a piece: its kind, first row, how many rows; where its list lies in the table, its numbers among those that are given, its
# constants in the parameters
PIECE_KIND, PIECE_ROW, PIECE_COUNT, PIECE_LIST, PIECE_NUMBERS, PIECE_CONSTANTS, PIECE_INTS = range(7)
# kinds, with list | numbers | constants; rows of weight 0 are left out
DYNAMICS = 0  # | |
MOTOR_LIMITS = 1  # | | lower, upper
CONTACTS, LOOPS = 2, 3  # | |
ACCELERATIONS = 4  # columns | | lower, upper
JOINTS = 5  # pairs: in q, in the tree's velocities | | lower, upper, fastest, braking acceleration, length of a cycle
POSITIONS = 6  # pairs as of JOINTS | | lower, upper
GIVEN_TORQUES = 7  # | A (rows, motors), lower, upper |
GIVEN = 8  # columns of the model's velocities | A (rows, velocities), lower, upper |
CONE = 9  # column, columns, contact, how it turns | | C (rows, columns), lower; of a line its direction (3) and moments (2, 3)
NORMAL_FORCE = 10  # column, contact, whether it turns | | row (3), lower, upper
GIVEN_FORCES = 11  # column, columns | A (rows, columns), lower, upper |
FRAME, CENTER, MOMENTUM = 12, 13, 14  # tasks: frame, components, places in the motion | gains, target, motion | 1 over the mass
POSTURE = 15  # columns, then places in the tree's velocities | gains, velocity, acceleration (rows), target (q) |

RIGID, OF_POINT, OF_LINE = 0, 1, 2  # how a cone turns against its frame

# numbers of a task: stiffness and damping; place (3) and axes (3, 3) of the target; its velocity and acceleration (6)
STIFFNESS, DAMPING, PLACE, AXES, VELOCITY, ACCELERATION, TASK_NUMBERS = 0, 1, 2, 5, 14, 20, 26

# of a motion in two parts: kept velocities, loose ones, those of s, branches, rows without motors. Then the kept velocities, the
# loose ones, the places of the rows without motors among the kept ones, and for each branch: how many, whether it is compressed,
# its velocities, their places among the loose ones
N_KEPT, N_LOOSE, N_COMPRESSED, N_BRANCHES, N_FREE_ROWS, KEPT_AT = range(6)
COMPRESSED = 1

WAY, ROUNDS, RAN_OUT, CONTRADICTED, N_FACTS = range(5)  # of a cycle: how it was solved, rounds, 1 if they ran out, hard rows
AT_ONCE, IN_TWO_PARTS, BY_ROUNDS = 0, 1, 2

# of steps of inverse kinematics: the row before which tasks count, the one before which squares are to be lessened, the largest
# error that is met, steps at most, the sum of squares at the place before (infinite: none), 1 if rows are given anew at each place;
# the largest entry of a step, by how much joints may be beyond their limits, what a step may leave of a sum of squares
USED, UPTO, TOLERANCE, MOST, BEFORE, ALONE, LONGEST, GAP, CONTRACTION, N_PLAN = range(10)
ENDED, GOING, REFUSED = 0.0, 1.0, 2.0  # the place is where steps end; rows are wanted at the next place; it is no better
STATE, STEPS, SQUARE, N_PROGRESS = range(4)
