"""Robots with closed linkages: constraint rows, which joints follow which, and closing a posture."""
