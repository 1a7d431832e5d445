"""Linearised dynamics of one robot: accuracy, modes, recovery after a push."""
