"""Closed models: linkages in the velocities that move them, through v = G u."""
