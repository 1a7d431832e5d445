"""The command `freeflyer`."""

from __future__ import annotations


def main() -> None:
    """Entry point of the command line."""
    from freeflyer.cli.app import app

    app(prog_name="freeflyer")
