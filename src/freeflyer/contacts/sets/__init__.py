"""Constraint sets: rows of contacts, locks, rolling and loops, their forces and projections."""
