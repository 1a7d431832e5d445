"""Writers: a robot back to a file. What is written reads back as the same robot, to rounding."""
