"""Pictures of results: each function draws a result that it is given, and computes nothing."""
