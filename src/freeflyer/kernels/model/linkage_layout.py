"""Where the structure of a closed linkage lies behind a model's topology.

Such a topology is a model's own, followed by the linkage's header, its blocks and the lists they point to. A block is a set of
constraint rows and as many dependent velocity coordinates; its rows touch these and coordinates "outside": independent ones, or
dependent ones of blocks before it. So dependent rates follow from independent ones block by block.
"""

LINKAGE_AT, N_INDEPENDENT = 30, 31  # in the header of topology: where the linkage begins, how many rates are free

# the linkage's header; places named _AT are counted from the beginning of topology
N_BLOCKS, INDEPENDENTS_AT, BLOCKS_AT, SUPPORTS_AT = 0, 1, 2, 3
INVERSES, LARGEST_SIZE = 4, 5  # how many numbers the inverses take; rows of the largest block
LINKAGE_HEADER = 8

# a block
BLOCK_INTS = 8
SIZE, N_OUTSIDE, PLACES_AT, ROWS_AT = (
    0,
    1,
    2,
    3,
)  # places: its dependent coordinates, then those outside; rows: their numbers
INVERSE, STRIDE = 4, 5  # where its [., inverse] begins among the inverses, and the length of its rows there

# which independent rates move a velocity coordinate: first entry in topology, and how many
SUPPORT_INTS = 2

CONSISTENT = 1e-6  # relative: by how much a velocity may miss the loops
