"""Reproductions as a whole: computed with less work, and their tables."""

import pytest


def briefly(compute, *changes):
    """compute(progress) while (module, name, value) are changed."""
    with pytest.MonkeyPatch.context() as patch:
        for change in changes:
            patch.setattr(*change)
        return compute(lambda fraction, what: None)


def check_tables(tables) -> None:
    """A text for each column, and no claim that fails."""
    for table in tables:
        for row in table.rows:
            assert len(row) == len(table.columns), table.title
            assert all(isinstance(cell, str) for cell in row)
            assert not any("FAILS" in cell for cell in row), row
