"""Exported robots: compiled kernels as a C library that needs no Python to run."""

from freeflyer.export.controller import export_controller
from freeflyer.export.exporting import Export, export

__all__ = ["Export", "export", "export_controller"]
