"""Experiments of the Kangaroo paper, section VI, on any closed robot: estimators on sinusoids, calibration, a lateral swing."""
