"""Errors of simulations: each ends a run, which keeps what came before."""

from __future__ import annotations

from freeflyer.errors import FreeflyerError


class StepError(FreeflyerError, ArithmeticError):
    """A step that leads out of the numbers, or an error that cannot be kept below what is allowed."""


class EventError(FreeflyerError, ArithmeticError):
    """Events that follow each other without end, or contacts for which no consistent choice exists."""


class ReplayError(FreeflyerError, ArithmeticError):
    """A run that did not come out as before."""
