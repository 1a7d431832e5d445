"""The errors of closed linkages."""

from __future__ import annotations

from freeflyer.errors import FreeflyerError


class AssemblyError(FreeflyerError, ValueError):
    """A linkage that does not close; `.data` holds the worst loop, its gap and the posture that came nearest."""


class OpenLoopWarning(UserWarning):
    """Redundant directions of loops that stay open though the linkage counts as closed."""


class LinkageError(FreeflyerError, ValueError):
    """A linkage whose motors, loops or posture do not determine its dependent joints."""
