"""The table that stands for a strict hierarchy: its sizes."""

HIERARCHIES = 8  # the kind of table (see model/layout.py)

# unknowns, numbers of the metric (0: the identity), numbers of the rows, rows, levels; then the row at which each level ends
N_COLUMNS, METRIC_NUMBERS, ROW_NUMBERS, N_HELD_ROWS, N_LEVELS, LEVEL_ENDS = range(6)
