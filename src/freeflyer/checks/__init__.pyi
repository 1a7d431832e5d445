"""Public names of the room and where they are defined; each is imported when it is first used."""

from .checking import Check as Check, check as check, check_description as check_description
from .closure import Gap as Gap, loop_gaps as loop_gaps
from .findings import Finding as Finding
from .laws import Identity as Identity, identities as identities
