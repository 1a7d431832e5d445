"""The table that stands for a quadratic program: its sizes."""

PROGRAMS = 7  # the kind of table (see layout.py)

# variables, limited rows (bounds of variables, then rows of A), numbers of H, numbers of A, rows of A
N_VARIABLES, N_LIMITS, H_SIZE, A_SIZE, N_A_ROWS = 0, 1, 2, 3, 4
