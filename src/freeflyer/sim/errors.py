"""Errors of simulations: each ends a run, which keeps the samples before it."""

from __future__ import annotations

from freeflyer.errors import FreeflyerError


class StepError(FreeflyerError, ArithmeticError):
    """A step after which the state is not finite, or an integration error above its tolerance."""


class EventError(FreeflyerError, ArithmeticError):
    """Events that follow each other without end, or contacts for which no consistent choice exists."""


class ReplayError(FreeflyerError, ArithmeticError):
    """A run that did not come out as before."""
