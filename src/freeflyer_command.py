"""The command `freeflyer`. It stands outside of the package, whose import takes a second in which Ctrl-C must end quietly, too."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of the command line."""
    try:
        from freeflyer.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise SystemExit(130) from None
    run()
