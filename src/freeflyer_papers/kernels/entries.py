"""Compiled entries of the papers' experiments: a second table, which freeflyer itself does not know."""

from freeflyer.kernels.entry import Entry
from freeflyer_papers.kernels.layout import HOPPERS

# a hopping robot: a run's record, some steps on
HOP_STEPS = Entry("hop_steps", "freeflyer_papers.kernels.hopping:hop_steps", "m", (("table 0",), ("table 1", "table 2")),
    table=HOPPERS)  # fmt: skip
