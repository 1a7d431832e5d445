"""Progress of long work: functions that take `progress` call it now and then, as progress(fraction, what)."""

from collections.abc import Callable

Progress = Callable[[float, str], object]  # the share that is done of the work `what`, 0 to 1; a new `what` begins at 0


class NoProgress:
    """Default of `progress`, which does nothing; signatures show its name."""

    def __call__(self, fraction: float, what: str, /) -> None:
        """Nothing."""

    def __repr__(self) -> str:
        return "no_progress"


no_progress: Progress = NoProgress()


def part_of(progress: Progress, what: str, begin: float = 0.0, share: float = 1.0) -> Progress:
    """What a part of the work `what` calls: its fractions count as begin + share * fraction."""
    return lambda fraction, _: progress(begin + share * fraction, what)
