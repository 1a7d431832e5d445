"""Every tolerance above the kernels: its name, value, unit and reason. Relative ones are of what their comment names."""

# checks of descriptions and laws
CLOSED_GAP = 1e-6  # m or rad: what the rounding of a file's digits may leave open
LARGEST_REACH = 100.0  # m: beyond, lengths are probably millimetres
NEGLIGIBLE_INERTIA = 1e-15  # kg m^2: less than a grain of dust has
POINT_MASS_RADIUS = 1e-8  # m: a radius of gyration that stands for a point mass
FILE_INERTIA_ROUNDING = 1e-4  # what the digits of a file may break a physical inequality by, relative to the largest moment
LAW_ROUNDING = 1e-10  # laws without a solve: rounding of a few hundred operations, with room
LAW_TIME_STEP = 1e-5  # s, of the central differences; their error is of order h^2 times a third derivative
LAW_MIN_SPEED = 1e-3  # rad/s or m/s: velocities of joints that are taken as no smaller when errors are made relative
LAW_DIFFERENCED = 1e-5  # laws with a finite difference
LAW_FLIGHT = 1e-6  # straight flight, likewise: armature of 1e-6 of the mass that flies shows
MIN_EIGENVALUE = 1e-12  # of the unit-free mass matrix, whose diagonal is one
MIN_DIAGONAL_RATIO = 1e-14  # diagonal entry over the largest: a coordinate without any inertia
UNBOUNDED_POSITION = 100.0  # rad or m: files write "no limit" as 1e16, where an angle has no digits left for its turn
MAX_RANDOM_SPEED = 3.0  # rad/s or m/s: passive joints may outrun the motors many times
MIN_PERTURBATION = 1e-6  # rad or m: steps from the neutral posture are shortened to this where loops do not close beyond
MAX_LAW_ROUNDING = 1e-3  # laws with a solve: what a badly conditioned mass matrix may lose at most
MIN_LAW_SIZE = 1e-12  # SI: sides of a law that are smaller count as this, so that zero can be compared
INERTIA_ROUNDING = 1e-9  # of the largest moment: by how much signs and sums of moments may miss
HEAVIEST_LINK, LIGHTEST_LINK = 1e4, 1e-6  # kg: outside, the unit of mass is probably another one
MIN_GYRATION_RADIUS = 1e-4  # m: a link of more than LIGHT_MASS is larger than this
LIGHT_MASS = 1e-2  # kg

# constraints, closed models and sets
COMPLEX_STEP = 2.0**-100  # of complex differences: its square vanishes beside one, its products do not underflow
ROW_PRODUCT_RANK_RATIO = 1e-11  # of the largest eigenvalue of J M^-1 J^T: the square of that of J
SOLVED_RESIDUAL_RATIO = 1e-6  # of the right-hand side: residual of a consistent system
FORCE_RANK_RATIO = 1e-6  # of the largest singular value: what is zero
BALANCE_RATIO = 1e-6  # of the forces: what may remain of them on coordinates without motors, and of accelerations along the rows
HELD_DIRECTION_RANK_RATIO = 1e-9  # of the largest singular value: what counts as a direction that constraints hold
FACTOR_RANK_RATIO = 1e-6  # of the largest pivot: rows whose pivots are smaller depend on others
REDUNDANT_ROW_GAP = 5e-3  # m or rad: what redundant rows may stay open by where the independent ones are closed
CLEAR_RANK_RATIO = 1e-3  # of a block's largest singular value: rank that rounded digits cannot make (2e-6 on Kangaroo's hip)
MIN_BLOCK_RATIO_OF_MOVES = 1e-3  # of a block's smallest singular value: the motion ends where it is smaller
CONTRADICTION_RATIO = 1e-6  # of the size of its terms: what a row that depends on others may leave of its own
ROW_TOLERANCE = 1e-10  # m and rad: what counts as held
MIN_AXIS_SINE = 1e-12  # sine of the angle between a wheel's axis and its plane's normal

# soles and contacts
COLLINEAR_RATIO = 1e-6  # of the points' extent: points nearer to a line (or to one point) than this are on it
SOLE_HEIGHT = 0.01  # m above the lowest point of all: what still stands
SOLE_THICKNESS = 5e-3  # m above a foot's lowest shape: shapes that stand, too
SOLE_TILT = 0.17  # rad from level: faces, rims and lines of a shape on which it stands
POINT_FOOT = 0.02  # m: a sole without a longer side is a point, as the mesh of a ball is
CONE_ROUNDING = 1e-9  # of the largest unit force: spread of a cone's generators that counts as none

# decoupling
CONSERVED_RATIO = 1e-9  # of the size of its terms: what rounding leaves of a drift of the momentum, or of a torsion, that is zero
SINGULAR_MAP = 1e12  # condition number of a matrix of units of one kind: beyond, no digit of its inverse is of use

# control
SPIN_RATIO = 1e-6  # of the root of a motion's kinetic energy: what a free spin may move mass centres, inputs and other states by
CONTROLLABLE_RANK_RATIO = 1e-9  # of the size of A: what counts as a new direction
STABILITY_RATIO = 1e-6  # of the size of A: closer to the stability boundary counts as on it
EQUILIBRIUM_RATIO = 1e-9  # of the largest generalised force of gravity: what counts as balanced
INPUT_RANK_RATIO = 1e-10  # of the largest singular value: what counts as a direction that inputs do not push
DECAY_ROUNDING = 1e-7  # decay, relative to the fastest (per step: to one), that a pair of poles at rest can feign: the root of eps
MAX_SAMPLE_GAP = 1e-6  # m, rad, m/s, rad/s: distance of a sample from the end of the step before it
NAMED_SHARE = 0.3  # of the largest part of a direction: smaller ones are not named
IK_STEP = 1.0  # rad or m: no entry of a step of inverse kinematics is longer; J is good for no more
IK_RANK_RATIO = 1e-8  # of the largest singular value of rows of unit length: smaller ones are none
IK_LIMIT_GAP = 1e-9  # rad or m: joints nearer to a limit stand at it
IK_LIMIT_DISTANCE = 1e-6  # rad or m: a joint nearer to a limit goes to it if a level pushes it there
IK_CURVATURE_RATIO = 1e-6  # of the largest curvature of a level, in coordinates of equal curvature: less is rounding
IK_LEAST_CURVATURE = 1e-10  # of the largest curvature of a level: rounding of its gradient hides less
IK_STATIONARY = 1e-8  # of the norms of J and e: a projected gradient at which a level ends
IK_STATIONARY_RESULT = 1e-6  # likewise: what levels below may leave of it
IK_ROUNDING = 1e-13  # of a sum of squares: smaller differences are rounding

BRANCH_MOMENTUM_RATIO = 1e-4  # of a branch's largest direction of average velocity: below, the inertia of the least is lost
CONTROL_MET_TOLERANCE = 1e-6  # of the size of a row's terms: what a solution may miss it by and still meets it
CONTROL_DAMPING_TIME = 0.1  # s in which joints are slowed where no solution is at hand
CONTROL_TOLERANCE = 1e-9  # of the size of a row's terms: violations of a controller's rows that count as none

# dynamics
HALF_TURN_DISTANCE = 1e-7  # rad from half a turn: within it the shortest turn is not unique to working precision
OVERFLOWING_INPUT = 1e100  # inputs above it explain results that are not finite
NAMED_JOINT_SHARE = 1e-3  # joints with less of the unit motion that takes no force are not named

# estimation
CALIBRATION_TOLERANCE = 1e-4  # norm of closure and encoder errors, m and rad: Kangaroo paper
LEAST_GAIN = 1e-4  # with more encoders than motors: a step that lessens the error by less, of it or of the tolerance, is the last
LOOP_WEIGHT = 1e3  # of loops beside encoders, where there are more encoders than motors
MIN_CALIBRATION_SENSITIVITY = 1e-6  # smallest singular value of the encoders' view of the motors, relative to the largest
MIN_CUTOFF = 1e-6  # cutoff of a low-pass filter over the rate of its samples: below, its coefficients are lost in rounding
MIN_CONTACT_VIEW_RATIO = 1e-8  # smallest singular value of the motors' view of the feet, relative to the largest
MIN_ENCODER_SENSITIVITY = 1e-6  # rad or m a stroke, and of the largest: motors whose sensitivity is below this are unobservable
UNEVEN_SAMPLE = 1e-3  # of a sample: how far samples may lie off an even clock
MAX_CORRECTION_PER_STEP = 2.0  # alpha dt and beta dt beyond this make the corrections grow from step to step
DEFAULT_STROKE = 1.0  # rad or m: the stroke given to a joint without limits
ENCODER_MARGIN = 0.02  # of a stroke: how far beyond its limits an encoder may read
MIN_COUPLING = 1e-9  # rad or m a rad or m: coupling ratio below which a joint is decoupled
LEVEL_TOLERANCE = 0.02  # m: the points of all soles lie within this of one level plane, or the robot does not stand

# other formulations
CONSTRAINT_RANK_RATIO = 1e-9  # of rows of unit length in the kinetic metric: what depends on others
ZERO_ROW_RATIO = 1e-12  # of the largest entry of all rows: rows whose entries are smaller are rounding
MIN_PIVOT_RATIO = 1e-13  # smallest pivot, relative to the inertia that it is of
ADDED_INERTIA = 1e-3  # of its leader's inertia, to each mimic joint, in the inverse of the tree's mass matrix

# closed linkages as machines
WARNING_GAP = 1e-5  # m or rad: above what rounded digits of files leave open (2e-7)
MIN_DISTANCE = 1e-3  # rad or m: postures nearer than this are the same
MIN_MOTOR_STEP = 1e-9  # m: a motor step so short means that the limits allow no more
LIMIT_DISTANCE = 1e-6  # rad or m from a limit: it is the one that holds
SELECTED_JOINT_STEP = 0.05  # rad or m: steps of the selected joints
SELECTED_POSITION_TOLERANCE = 1e-10  # rad or m: what the selected joints may miss
LIMIT_TOLERANCE = 1e-9  # rad or m: what counts as outside of a limit
MIN_SINGULAR_VALUE = 1e-6  # of the unit-free smallest singular value of P J_m: selected joints that do not determine the motors
DISTANCE_RESOLUTION = 1e-7  # m or rad, of the distance to a singularity; closer to it Newton's method does not converge
EQUAL_INDEPENDENCE = 3.0  # blocks whose independence is within this factor of the smallest one count as singular together
MAX_REMAINING_STEP = 1e-3  # rad or m: after a Newton step below this the independent rows are closed on their own
GUESS_SPREAD = 0.1  # rad or m: how much further around a known posture each guess starts
MAX_CLOSED_STEP = 0.2  # rad or m of each coordinate: longer steps are halved, so that a test at both ends of a step is enough
MIN_BLOCK_RATIO_OF_STEPS = 5e-4  # of a block's smallest singular value, columns at unit length: the root of a file's rounding
NEARLY_REAL_RATIO = 0.3  # |imaginary| / |real|: two eigenvalues that change signs together come out as a pair
ZERO_EIGENVALUE = 1e-9  # of an eigenvalue of A0^-1 A1: a singular end
DEAD_POINT_RATIO = 1e-6  # m/m or m/rad: a frame that moves less than that with its motor is at a dead point

# files, descriptions, configurations
AXIS_ROUNDING = 1e-15  # sines and cosines below this are zero: axes that are parallel, or at right angles
UNLIMITED_POSITION = 1e5  # rad or m: files write "no limit" as 1e10 or 1e16, where an angle has few digits or none for its turn
RIGID_LOOP_GAP = 1e-5  # m and rad: what a loop that becomes rigid may be off (files round, loops are closed by iteration)
SAME_POSITION = 1e-6  # rad or m: two ways of giving one position
ABSENT_BASE_OFFSET = 1e-9  # m or of a quaternion: how far a base that MuJoCo lacks may stand from where the file draws it
LARGEST_NUMBER = 1e12  # no length, mass, inertia or loss of a robot is larger, in SI units
SMALLEST_INERTIA = 1e-100  # kg or kg m^2: solves multiply inertias, and below 1e-154 products of two are zero in float64
ROTATION_ROUNDING = 1e-8  # departure of R'R from the identity that rounding in a file explains
INERTIA_EIGENVALUE_ROUNDING = 1e-9  # of an inertia's largest eigenvalue: how far below zero rounding may put the least
UNLIMITED_WRITTEN = 1e9  # in SI units: written for limits that URDF requires and the robot lacks
MIN_AXIS_LENGTH = 1e-9  # length of a given axis: a shorter one has no direction
PARALLEL_SINE = 1e-6  # sine of the angle between two axes of a joint: less, and they count as one
GIVEN_UNIT_ERROR = 1e-6  # of a given quaternion's length: digits of a file
MIN_QUATERNION_LENGTH = 1e-12  # a shorter quaternion has no direction to be normalised along
ZERO_QUATERNION_LENGTH = 1e-15  # of a keyframe in MJCF: MuJoCo reads a shorter one as no turn
HALF_TURN_SQUARED_SINE = 1e-12  # squared sine of the angle to -z: below it the axis of the short turn from z is rounding
EQUAL_BOUNDS_ROUNDING = 1e-12  # of a force range: by how much its two ends may differ and count as symmetric
EQUAL_AXES_ROUNDING = 1e-9  # of unit vectors: by how much the axes of a planar joint may miss those of MJCF's parts
UNIT_LENGTH_ROUNDING = 4e-16  # of an axis: rounding that normalising cannot improve
FLAT_BODY_ROUNDING = 1e-12  # of the sum of two moments: excess of the third that is rounding

# quadratic programs
MULTIPLIER_ROUNDING = 1e-13  # of the largest multiplier: smaller ones are zero
CERTIFICATE_ZERO_RATIO = 1e-9  # relative: to what a combination of rows counts as zero
PROXIMAL_STEP = 1e-12  # length of a proximal step at which daqp has converged
DESCENT_CURVATURE_RATIO = 1e-10  # of the largest: curvature below counts as none in an active-set method
DESCENT_RATE_RATIO = 1e-9  # of the longest entry of a step: rows of length 1 that change less do not change
DESCENT_STEP = 1e-11  # of the size of x: shorter steps are none
DESCENT_TIE = 1e-12  # steps by which rows that meet their limits may differ and still meet them together
DESCENT_ZERO = 1e-12  # of the size of a slope: multipliers below are none
SOLVER_TOLERANCE_SHARE = 0.1  # of the tolerance: how far daqp may exceed a limit, whose rows it scales to length 1
DEPENDENT_DIRECTION_RATIO = 1e-9  # of the largest singular value: directions below count as left free
UNMET_TOLERANCES = 100.0  # tolerances: violations above, relative to the size of the row's terms, are violations
HESSIAN_ROUNDING = 1e-9  # of the largest entry of H: what symmetry and negative eigenvalues may miss
QUICK_SHARE = 1e-4  # of the tolerance: smaller sums of squares of residuals are accepted without single entries
MAX_POLISHING_MOVE = 1e-2  # of the size of x: how far polishing may move it before proofs that there is no answer are sought
DOUBTFUL_SIZE = 1e6  # of a unit: a larger x is checked as well
UNDECIDABLE_SIZE = 1e5  # of a unit of the scaled program: beyond it rounding hides whether there is an answer
SMALL_EQUATION_RATIO = 1e-3  # of the largest size of an equation: equations with smaller terms are compared with this
ACTIVE_RATIOS = (1e-9, 1e-6, 1e-4)  # of the largest multiplier: those below do not count as active; tried one after the other
POLISHING_RANK_RATIO = 1e-13  # of the largest singular value: what counts as zero in the system of active limits

# simulation
VELOCITY_TOLERANCE = 1e-6  # m/s and rad/s (of the largest velocity) by which a velocity may miss the constraints
TIME_ACCURACY = 1e-12  # of a step: how well the time of an event is found
TOUCH_GAP = 1e-8  # m: points so near to the floor touch it
NEGLIGIBLE_CONTACT = 1e-8  # m/s, m/s^2 (beside gravity's), N (beside the robot's weight): what counts as none
TILT_HEIGHT = 1e-3  # m that the points of a surface or line may lie above the plane when the first of them reaches it
PLANT_LOOP_GAP = 1e-6  # m or rad: by how much the simulator's loops may be open where the model's are closed
IDLE_RATIO = 1e-9  # of the others that an idle turn moves, m or rad a rad
PLANT_POSE_TOLERANCE = 1e-6  # m: how well the simulator's bodies stand where the model's links stand
MAX_DELAY = 1e6  # s: a longer delay of sensors is refused as a mistake
QUARTER_TURN = 1.5  # rad: coordinates begin anew where a body has turned so far, for they are singular at 2 pi
CHATTER_TIME = 2.0**-18  # of dt: the same event twice within less chatters
SHORTEST_STEP_RATIO = 1e-12  # of dt: shorter parts are joined to the next
SIMULTANEOUS_RATIO = 1e-9  # of a step: events nearer in time than this happen at once

# spatial algebra
UNIT_TOLERANCE = 1e-6  # of a quaternion's norm, and of a rotation matrix: numbers rounded to single precision pass
SERIES_SWITCH = 4.0  # angle^2: below it power series are used, above it the closed forms
NEAR_HALF_A_TURN = -0.9  # cosine of the angle: beyond it the axis comes from the symmetric part of the rotation

# studies of a robot
BASE_MASS_ROUNDING = 1e-9  # of the robot's mass: by how much that which the base carries may differ from it
IMAGINARY_AXIS_RATIO = 1e-6  # of the fastest rate: nearer to the imaginary axis counts as on it
ZERO_RATE = 1e-3  # of the fastest rate: nearer to zero counts as zero, as rounding spreads four equal zeros by its fourth root
RECOVERED_RATIO = 0.02  # of the first error, by the end (kinetic energy and attitude)
