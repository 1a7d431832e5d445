"""Studies of estimators of a closed robot: accuracy along a motion, calibration, times."""
