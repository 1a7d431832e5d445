"""Dynamics of a model: pure functions, each with leading batch axes."""
