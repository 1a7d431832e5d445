"""Tables of whole-body control: tasks whose rows one call computes with the numbers of each, sizes of cycles,
chains."""

TASK_TABLES, JOINTS, CYCLES, SPLITS = 10, 11, 12, 13  # kinds of tables (see model/layout.py)

# velocities, 3 times as many, numbers of poses, motions and Jacobians of frames, of tasks; rows; tasks; then a record for each task
N_VELOCITIES, CENTER_SIZE, POSES_SIZE, MOTIONS_SIZE, JACOBIANS_SIZE, NUMBERS_SIZE, N_TASK_ROWS, N_TASKS = range(8)
TASKS_AT = 8

# a record: kind, number of the frame, first component, how many, then for each of six whether its row is kept
TASK_KIND, TASK_FRAME, TASK_FIRST, TASK_COUNT, TASK_KEPT, TASK_INTS = 0, 1, 2, 3, 4, 10
OF_FRAME, OF_CENTER, OF_MOMENTUM = 0, 1, 2  # kinds: a frame's mixed twist, the centre of mass, the centroidal momentum

# numbers: stiffness and damping; place (3) and axes (3, 3) of the target; its velocity and acceleration (6) in the task's rows
STIFFNESS, DAMPING, PLACE, AXES, VELOCITY, ACCELERATION, TASK_NUMBERS = 0, 1, 2, 5, 14, 20, 26

N_JOINTS = 0  # of joints with limits: how many

# of a cycle, behind the sizes of a condensation (optimization/layout.py): rows of the equations of motion, numbers of their matrix
# and of the forces' map; rows that hold, numbers of these; tasks that are met, tasks whose squares are least, numbers of both; rows
# of cones; motors; how many numbers of the sides and of what is given; then the rows without motors, and those of the motors
N_MOTIONS, MOTION_SIZE, MAPPED_SIZE, N_FIXED, FIXED_SIZE, N_MET, N_SQUARES, TASKS_SIZE, N_CONES, N_MOTORS = range(8, 18)
SIDES_SIZE, CYCLE_NUMBERS, CYCLE_TABLE = 18, 19, 20

MISSED, OUTSIDE, BEYOND, REGULARITY, UNMET = range(5)  # of a cycle's verdicts: see force_programs.py, least_level.py

# of a motion in two parts: velocities, 6 times as many, numbers of the mass matrix; rows of contacts, numbers of these; of tasks,
# likewise; kept velocities, loose ones, those of s, kept ones and s; rows of tasks and two; branches. Then the kept velocities, the
# loose ones, and for each branch: how many, whether it is compressed, its velocities, their places among the loose ones
N_SPLIT, MOMENTUM_SIZE, MASS_SIZE, N_CONTACT_ROWS, CONTACTS_SIZE, N_SPLIT_TASKS, SPLIT_TASKS_SIZE = range(7)
N_KEPT, N_LOOSE, N_COMPRESSED, N_PARTS, N_VERDICTS, N_BRANCHES, KEPT_AT = range(7, 14)
COMPRESSED = 1

LEAST_MOMENTUM, LEAST_ROW, ROWS_LEFT = 0, 1, 2  # of its verdicts: see reduction.py
