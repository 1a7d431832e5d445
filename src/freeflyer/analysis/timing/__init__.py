"""Timings of freeflyer and its peers: data (`algorithms`, `robots`), one runner, results that plots and tables take."""
