"""Whole-body control: rows of tasks."""
