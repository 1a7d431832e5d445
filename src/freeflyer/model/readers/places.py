"""Where parts of a robot stand in its URDF file, for errors that are found in the robot as a whole."""

from __future__ import annotations

import os

from freeflyer.errors import DescriptionError
from freeflyer.model.readers.safe_file import read_xml

TAGS = {  # entries of an error's data, and the elements that they name; the first that is there counts
    "actuated": "actuated", "coupling": "coupling", "keyframe": "keyframe", "loop": "loop", "site": "site", "joints": "joint",
    "joint": "joint", "links": "link", "link": "link", "roots": "link",
}  # fmt: skip
SHOWN = 6


def located(error: DescriptionError, source: str | os.PathLike[str]) -> DescriptionError:
    """The error with the file and the lines of what it is about in front; as it is where the file declares none of that."""
    root, where = read_xml(source, "robot file")
    key = next((k for k in TAGS if k in error.data), "joint")
    names = error.data.get(key)
    names = names if isinstance(names, tuple) else (names,)
    parts = [e for e in [*root, *root.findall("freeflyer/*")] if e.tag == TAGS[key]]
    lines = [str(e.sourceline) for e in parts if e.get("name", e.get("joint")) in names]
    if not lines:
        return error
    shown = ", ".join(lines[:SHOWN]) + (f", ... ({len(lines)} in all)" if len(lines) > SHOWN else "")
    return DescriptionError(f"{where}, line{'s' * (len(lines) > 1)} {shown}: {error}", **error.data)
