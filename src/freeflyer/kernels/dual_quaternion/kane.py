"""Kane's equations: dual quaternion paper, eqs. (57)-(60). Partial twists of the centres of mass times inertia wrenches, and times
active ones.

The partial twist of c_i by a joint's velocity is that joint's own twist in the frame c_i, and the power of a wrench and a twist
does not depend on the frame in which both are: so each body's wrenches go to the world, from joint to joint, and each joint on the
way takes its part.
"""

from freeflyer.kernels.backend.buffers import load, load_int, store, workspace
from freeflyer.kernels.dual_quaternion.algebra import com_of, translate
from freeflyer.kernels.dual_quaternion.newton_euler import BODY_SIZE, WRENCH, forward, put_armature, work_size
from freeflyer.kernels.marks import kernel
from freeflyer.kernels.math.algebra import ZERO, load3, rotate_back, scale
from freeflyer.kernels.math.spatial import load_spatial
from freeflyer.kernels.model.access import body_floats, body_ints, joint_row
from freeflyer.kernels.model.joints.motion import add_joint_forces
from freeflyer.kernels.model.joints.placement import joint_angles, joint_at, origin, to_parent
from freeflyer.kernels.model.layout import MASS, N_BODIES, N_V, PARENT
from freeflyer.kernels.tree.wrenches import body_pose


@kernel
def project_on_partial_twists(topology, parameters, q, work, i, zeta, forces):
    """forces (nv,) grow by J^T zeta, of a wrench on body i at its origin in its axes; work holds the joints' angles."""
    force, moment = zeta
    while i > 0:
        joint = joint_at(topology, work, i)
        add_joint_forces(joint, parameters, force, moment, forces)
        force, moment = translate(origin(joint, parameters, q), to_parent(joint, parameters, q, force, moment))
        i = load_int(topology, body_ints(i) + PARENT)


@kernel
def kane(topology, parameters, q, v, a, gravity, inertial, active):
    """inertial (nv,): phi, of the wrenches Psi a + S nu, armature included; active (nv,): those (60) of gravity."""
    g, work = load3(gravity, 0), workspace(q, work_size(topology))
    joint_angles(topology, parameters, q, work)
    forward(topology, parameters, q, v, v, True, a, ZERO, work)
    put_armature(topology, parameters, v, a, inertial)
    for j in range(load_int(topology, N_V)):
        store(active, j, 0.0 * load(v, j))
    for i in range(1, load_int(topology, N_BODIES) + 1):
        at, zeta = body_floats(i), load_spatial(work, 3 * joint_row(topology) + BODY_SIZE * i + WRENCH)
        project_on_partial_twists(topology, parameters, q, work, i, zeta, inertial)
        R, _ = body_pose(topology, parameters, q, work, i)
        weight = scale(load(parameters, at + MASS), rotate_back(R, g))
        zeta = translate(com_of(parameters, at), (weight, scale(0.0, weight)))
        project_on_partial_twists(topology, parameters, q, work, i, zeta, active)
