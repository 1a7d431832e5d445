"""`freeflyer warm`: compile before functions are needed."""

from __future__ import annotations

from typing import Annotated

import typer

from freeflyer.cli.options import DebugOption


def warm(
    functions: Annotated[
        str | None,
        typer.Option(help="Names of functions, separated by commas; or loads, loops, closed, estimation. All if left out."),
    ] = None,
    debug: DebugOption = False,
) -> None:
    """Compile functions on all cores and keep them in the cache, so that first calls take milliseconds."""
    from time import perf_counter

    from freeflyer.cli.output import console
    from freeflyer.cli.progress import status
    from freeflyer.dynamics import warming
    from freeflyer.progress import part_of

    names = None if functions is None else [name.strip() for name in functions.split(",") if name.strip()]
    start = perf_counter()
    with status("compiling") as progress:
        count = warming.warm(names, part_of(progress, "compiling"))
    made = f"{count} functions compiled in {perf_counter() - start:.1f} s"
    console().print(made if count else "nothing to do: all of them are in the cache")
