"""What the compiled code of every entry has in common: checks, scratch, batches, and the way from Python's objects."""
