"""The command `freeflyer`."""

from __future__ import annotations


def main() -> None:
    """Run the command line; errors of terminals and disks end in one sentence."""
    from freeflyer.cli.streams import guard_output

    with guard_output():
        from freeflyer.cli.app import app

        app(prog_name="freeflyer")
