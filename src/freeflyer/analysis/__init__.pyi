"""Public names of the room and where they are defined; each is imported when it is first used."""

from .checks.checking import Check as Check, check as check, check_description as check_description
from .checks.findings import Finding as Finding, Gap as Gap, loop_gaps as loop_gaps
from .checks.laws import Identity as Identity, identities as identities
from .estimators import multiple_correlation as multiple_correlation
from .facts import (
    Conditioning as Conditioning,
    Matrices as Matrices,
    Overview as Overview,
    conditioning as conditioning,
    matrices as matrices,
    overview as overview,
)
from .flight import (
    FallStudy as FallStudy,
    Flight as Flight,
    free_fall as free_fall,
    free_flight as free_flight,
    middle_posture as middle_posture,
)
from .linkage import Linkages as Linkages, Transmission as Transmission, linkages as linkages
