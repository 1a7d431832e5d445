"""Timings of freeflyer beside other libraries: `python -m benchmarks`."""
