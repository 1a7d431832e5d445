"""Other ways to the same equations of motion: algorithms of the papers, written to be read, each beside its source."""
