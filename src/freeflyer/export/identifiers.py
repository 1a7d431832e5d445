"""Names from robots as C identifiers, and as text in C comments: such names may hold anything."""

from __future__ import annotations

import re

RESERVED = frozenset(  # names of libraries, of other files, and of headers of C23, POSIX, compilers and their C libraries
    """
    c dl gcc m main objects rt util
    assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic stdbit stdbool
    stdckdint stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype
    aio cpio dirent dlfcn fcntl fmtmsg fnmatch ftw glob grp iconv langinfo libgen monetary mqueue ndbm netdb nl_types poll pthread
    pwd regex sched search semaphore spawn strings stropts syslog tar termios trace ulimit unistd utime utmpx wordexp
    alloca byteswap cet cpuid elf endian err error execinfo features features_time64 getopt link malloc memory omp stdc_predef
    syscall syslimits ucontext unwind values varargs wait
    availability availabilityinternal availabilitymacros availabilityversions conio corecrt crtdbg crtdefs direct io process sal
    standards tchar vadefs vcruntime windows xlocale
    """.split()
)
LONGEST = 48


def word(text: str) -> str:
    """Letters, digits and single underscores of a text, none of these at its ends; may be empty."""
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")[:LONGEST].strip("_")


def prefix_of(name: str) -> str:
    """The beginning of a robot's functions, and the name of its files: lower case, never that of a system library or header."""
    prefix = word(name).lower()
    if not prefix or prefix[0].isdigit() or prefix in RESERVED:
        prefix = f"robot_{prefix}".strip("_")
    return prefix


def comment(text: object) -> str:
    """A text on one line of a C comment, which it cannot end."""
    shown = str(text).encode("ascii", "backslashreplace").decode()
    shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in shown)
    return shown.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?").rstrip("\\")


class Identifiers:
    """Enumerators of one header: each name once, later ones numbered."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def new(self, start: str, name: str) -> str:
        """`start` and a name, in capitals."""
        first = f"{start}_{word(name) or 'UNNAMED'}".upper()
        found, k = first, 2
        while found in self._taken:
            found, k = f"{first}_{k}", k + 1
        self._taken.add(found)
        return found
