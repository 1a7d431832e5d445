"""Kernels of the solvers' interface."""
