"""The tables that stand for equations under which an energy is least, and for strict hierarchies: their sizes."""

# unknowns, numbers of M, numbers of K, rows of K, of these the last ones with a free right side; forces of which the free sides
# are a linear map, numbers of their metric, of that map
N_UNKNOWNS, M_SIZE, K_SIZE, N_ROWS, N_FREE, N_FORCES, METRIC_SIZE, MAP_SIZE = range(8)

HIERARCHIES = 8  # the kind of table (see model/layout.py)

# unknowns, numbers of the metric (0: the identity), numbers of the rows, rows, levels; then the row at which each level ends
N_COLUMNS, METRIC_NUMBERS, ROW_NUMBERS, N_HELD_ROWS, N_LEVELS, LEVEL_ENDS = range(6)
