"""Public names of the room and where they are defined; each is imported when it is first used."""

from .page import write_report as write_report
from .reporting import report as report
