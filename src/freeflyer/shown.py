"""How values of lower rooms are drawn: by functions of an upper room, which the package hands down when it is imported.

A lower room may not import an upper one, and a run is to be plotted by its own method. So `freeflyer/__init__.py`, which knows all
rooms, gives this one a function that answers with `freeflyer.viewer.display`; that module is imported when it is first needed."""

from __future__ import annotations

TYPE_CHECKING = False  # `import typing` would take a third of the time of `import freeflyer`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_providers: list[Callable[[], Any]] = []


def provide_display(provider: Callable[[], Any]) -> None:
    """Sets what answers with the functions that draw: figure(value, **options), film(value, **options), html(value)."""
    _providers[:] = [provider]


def notebook_html(self: object) -> str:
    """HTML of a value, as a notebook shows it: the method `_repr_html_` of many classes."""
    return _providers[0]().html(self)


class Drawn:
    """Base of runs, which draw themselves."""

    _repr_html_ = notebook_html

    def plot(self, **options: Any) -> Any:
        """Figure (matplotlib) of the run over time; options as those of the picture of its kind, docs/viewer.md."""
        return _providers[0]().figure(self, **options)

    def film(self, **options: Any) -> Any:
        """Figure of a film strip: postures of the run with contact forces and the centre of mass; options as `plot`."""
        return _providers[0]().film(self, **options)
