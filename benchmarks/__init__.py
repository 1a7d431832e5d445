"""Timings of freeflyer beside other libraries: `python -m benchmarks`."""


class NoPeerError(Exception):
    """Why a robot cannot be put beside another library; the sentence goes under its table."""
