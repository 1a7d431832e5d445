"""The compiled entries of closed linkages, on the arrays of a `Projection`'s model, under short names."""

from freeflyer.kernels.entries import CONSTRAINED_ACCELERATIONS as ACCELERATIONS
from freeflyer.kernels.entries import DRIVING_FORCES, MAP_RATES, SHARED_FORCES
from freeflyer.kernels.entries import MOVE_CLOSED as MOVE
from freeflyer.kernels.entries import PROJECTED_EQUATIONS as EQUATIONS
from freeflyer.kernels.entries import PROJECTED_FORCE_DERIVATIVES as FORCE_DERIVATIVES
from freeflyer.kernels.entries import PROJECTED_FORWARD_DYNAMICS as FORWARD_DYNAMICS
from freeflyer.kernels.entries import PROJECTED_FORWARD_GRADIENT as FORWARD_GRADIENT
from freeflyer.kernels.entries import PROJECTED_INVERSE_DYNAMICS as INVERSE_DYNAMICS
from freeflyer.kernels.entries import PROJECTED_INVERSE_GRADIENT as INVERSE_GRADIENT
from freeflyer.kernels.entries import PROJECTED_INVERSE_MASS as INVERSE_MASS
from freeflyer.kernels.entries import PROJECTED_MASS as MASS
from freeflyer.kernels.entries import PROJECTED_MOTION as MOTION
from freeflyer.kernels.entries import PROJECTION_MAP as MAP
from freeflyer.kernels.entries import STEP_CLOSED as STEP

__all__ = [
    "ACCELERATIONS", "DRIVING_FORCES", "EQUATIONS", "FORCE_DERIVATIVES", "FORWARD_DYNAMICS", "FORWARD_GRADIENT",
    "INVERSE_DYNAMICS", "INVERSE_GRADIENT", "INVERSE_MASS", "MAP", "MAP_RATES", "MASS", "MOTION", "MOVE", "SHARED_FORCES", "STEP",
]  # fmt: skip
