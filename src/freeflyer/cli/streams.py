"""Standard output and error: terminals limited to ASCII, full disks, Ctrl-C."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import NoReturn

SPELT = {
    "→": "->", "…": "...", "²": "^2", "³": "^3", "∞": "inf", "°": " deg", "·": ".", "µ": "u", "μ": "u", "–": "-", "—": "-",
    "×": "x", "±": "+-", "≤": "<=", "≥": ">=", "├": "|", "└": "`", "│": "|", "─": "-", "█": "#", "━": "-",
}  # fmt: skip
INTERRUPTED, FAILED = 130, 2


@contextlib.contextmanager
def guard_output() -> Iterator[None]:
    """Within it all characters can be printed; an output that cannot be written ends with a sentence and exit code 2."""
    codecs.register_error("freeflyer", spell)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="freeflyer")
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # here, as the interpreter's own last flush ends in a traceback
    except (KeyboardInterrupt, ImportError) as error:  # the import of an extension module turns the first into the second
        cause: BaseException = error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        if not isinstance(cause, KeyboardInterrupt):
            raise
        exit_with("interrupted", INTERRUPTED)
    except OSError as error:
        if "--debug" in sys.argv:
            raise
        from freeflyer.errors import format_value

        where = f" {format_value(error.filename)}" if error.filename else " the output"
        exit_with(f"error: cannot read or write{where}: {error.strerror or error}", FAILED)


def spell(error: UnicodeError) -> tuple[str, int]:
    """What to print for characters that the terminal's encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(SPELT.get(c) or c.encode("ascii", "backslashreplace").decode() for c in text), error.end


def exit_with(sentence: str, code: int) -> NoReturn:
    """Leave with a sentence on stderr, if that can be written; text that still waits in stdout is dropped."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(sentence + "\n")
        sys.stderr.flush()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    raise SystemExit(code) from None
