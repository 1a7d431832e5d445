"""Public names of the room and where they are defined; each is imported when it is first used."""

from .checks.checking import check as check
from .checks.laws import identities as identities
from .facts import conditioning as conditioning, matrices as matrices, overview as overview
from .flight import free_fall as free_fall, free_flight as free_flight, middle_posture as middle_posture
from .linkage import linkages as linkages
