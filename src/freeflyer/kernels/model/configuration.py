"""Moving on the configuration manifold, q (+) dv, and its inverse.

Coordinates of screws add; a joint's quaternion is multiplied by exp(dv); a floating body's pose by exp of a body twist, so that q
(+) dv is where a constant body velocity dv leads in one second.
"""

from freeflyer.kernels.backend.buffers import load_int
from freeflyer.kernels.marks import kernel
from freeflyer.kernels.model.joints.kinds import integrate_joint, joint_difference
from freeflyer.kernels.model.layout import N_BODIES


@kernel
def integrate(topology, parameters, q, dv, out):
    """out (nq,): q (+) dv."""
    for i in range(1, load_int(topology, N_BODIES) + 1):
        integrate_joint(topology, i, q, dv, out)


@kernel
def difference(topology, parameters, q0, q1, dv):
    """dv (nv,): q0 (+) dv = q1, by the shortest turns."""
    for i in range(1, load_int(topology, N_BODIES) + 1):
        joint_difference(topology, i, q0, q1, dv)
