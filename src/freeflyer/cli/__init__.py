"""The command `freeflyer`."""

from __future__ import annotations


def main() -> None:
    """Run the command line; what terminals and disks do wrong ends in one sentence."""
    from freeflyer.cli.streams import guard_output

    with guard_output():
        from freeflyer.cli.app import app

        app(prog_name="freeflyer")
