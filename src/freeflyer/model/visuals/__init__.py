"""Shapes in which a robot is seen: those of its file, meshes included, and balls and boxes of its inertias where there are none."""
