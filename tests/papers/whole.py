"""Tables of reproductions: a text for each column, and no claim that fails."""


def check_tables(tables) -> None:
    for table in tables:
        for row in table.rows:
            assert len(row) == len(table.columns), table.title
            assert all(isinstance(cell, str) for cell in row)
            assert not any("FAILS" in cell for cell in row), row
