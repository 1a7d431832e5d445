"""Timings of freeflyer: what is timed (`algorithms`), one runner, results that plots and tables take."""
