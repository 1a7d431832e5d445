"""Exported robots: compiled kernels as a C library that needs neither Python nor Numba to run."""

from freeflyer.export.exporting import Export, export
from freeflyer.export.functions import exportable

__all__ = ["Export", "export", "exportable"]
