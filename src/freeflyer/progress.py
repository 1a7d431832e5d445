"""Progress of long work: functions that take `progress` call it now and then."""


def no_progress(*_: object) -> None:
    """What is called where no `progress` is given."""
