"""Where the numbers of a hopping robot's run lie: in its table, its record and its trace."""

HOPPERS = 9  # the kind of table (see model/layout.py)

# the table: numbers of a record; rows and columns of a trace; steps that one call tries; the foot's frame; 1 where the polar
# controller turns the frame of the centre of mass, 0 where it turns the line to the foot
RECORD_SIZE, TRACE_ROWS, TRACE_COLUMNS, ATTEMPTS, FOOT, LOCKED = 0, 1, 2, 3, 4, 5

# a record: where the run is
TIME, END, STEP, PHASE, STATUS = 0, 1, 2, 3, 4  # END: when it ends; STEP: the length to try next
ANCHOR = 5  # where the foot touched down, m
# an event lies between steps of the lengths BEFORE and WINDOW, if that is above 0; the guard there, and where the step begins
WINDOW, BEYOND, GUARD, TRIALS, BEFORE, START = 6, 7, 8, 9, 31, 32
APEXES, CALM, LAST_EVENT, CROWD = 10, 11, 12, 13  # CALM: apexes that repeat the one before; CROWD: events in close succession
# of the controllers and the floor
RADIAL_GAIN, RADIAL_DAMPING, STANCE_DAMPING, POLAR_GAIN, POLAR_DAMPING, ENERGY_GAIN = 14, 15, 16, 17, 18, 19
LENGTH, ANGLE, ENERGY = 20, 21, 22  # commanded
FLOOR_STIFFNESS, FLOOR_DAMPING = 23, 25  # along x and z
TOLERANCE, FALLEN_HEIGHT, CALM_TOLERANCE, MOST_APEXES = 27, 28, 29, 30
STATE = 33  # then q (nv), v (nv), the controlled angle, PORTS works; then q and v at the last apex

EXTERNAL, JOINT, FLOOR, DAMPER, ENERGY_PORT, POLAR = 0, 1, 2, 3, 4, 5
PORTS = 6

RISING, FALLING, LOADED, UNLOADED = 0, 1, 2, 3  # phases: flight; the foot on the ground, pressed or not
RUNNING, ENDED, FALLEN, SETTLED, STUCK, CHATTERING, COUNTED = 0, 1, 2, 3, 4, 5, 6  # statuses
NOTHING, PASSED, TOUCH_DOWN, RELEASE, PRESS, LIFT_OFF, APEX = 0, 1, 2, 3, 4, 5, 6  # what a try ended with
TRACE_TIME, TRACE_CODE, TRACE_PHASE, TRACE_STATE = 0, 1, 2, 3  # a row of the trace; from TRACE_STATE on as from STATE
