"""Algorithms as papers print them, line by line, in plain NumPy: to be read beside the print, counted and compared."""
