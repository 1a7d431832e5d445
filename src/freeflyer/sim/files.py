"""Runs read from files: archives, and folders with the pieces of a record."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

import numpy as np

from freeflyer.errors import FileError, format_value
from freeflyer.sim.events import Occurrence
from freeflyer.sim.parts import PART, gather_parts, joined
from freeflyer.sim.run import FORMAT, Run

PACKED = (ZIP_STORED, ZIP_DEFLATED)
LARGEST = 2**34  # bytes of a run that is read
READ = ("head", "t", "q", "v", "tau", "force", "ground", "event")  # first words of arrays that are read; others are the user's


def load(path: str | os.PathLike[str]) -> Run:
    """Run of a simulation, read from the file that `Run.save` wrote, or from the folder of a record.

    Args:
        path: A NumPy archive (.npz), or the folder to which simulate(record=) wrote its pieces. Each piece is such a file. Of a
            batch in parts, each part has a folder of its own in it.
    Raises: FileError for others, and for those too large for memory.

    Examples:
        >>> run = ff.sim.simulate(ff.robots.chain(1), [0.5], [0.0], dt=0.01, duration=0.1)
        >>> run.save("swing.npz")
        >>> ff.sim.load("swing.npz")
        Run of 'chain_1': 11 samples to 0.1 s, 0 events
    """
    if isinstance(path, str | os.PathLike) and os.path.isdir(path):
        return _load_folder(Path(path))
    try:
        with ZipFile(path) as archive:
            if (size := sum(x.file_size for x in archive.infolist())) > LARGEST:
                raise FileError(f"{str(path)!r} would take {size:.3g} bytes of memory, more than {LARGEST:.0e}", path=str(path))
            if any(x.compress_type not in PACKED for x in archive.infolist()):
                raise FileError(f"{str(path)!r} is packed otherwise than freeflyer packs runs", path=str(path))
        with np.load(Path(path), allow_pickle=False) as file:
            a = {name: file[name] for name in file.files if name.split(" ")[0] in READ}
        head = json.loads(str(a.pop("head")))
        if head["format"] != FORMAT:
            raise FileError(f"{str(path)!r} is a run of another format ({format_value(head['format'])}); {FORMAT!r} is read")
        _check_arrays(head, a)
        forces = {name: a[f"force {k}"] for k, name in enumerate(head["forces"])}
        events = tuple(
            Occurrence(e["name"], e["t"], a[f"event {k} q"], a[f"event {k} v"], a[f"event {k} v_after"], tuple(e["holding"]),
                       tuple(e.get("robot", ())))
            for k, e in enumerate(head["events"]))
        rest = {name: head[name] for name in ("failure", "settings", "robot", "digest")}
        ground = {name: a[f"ground {k}"] for k, name in enumerate(head.get("ground", ()))}
        return Run(a["t"], a["q"], a["v"], a["tau"], forces, events, **rest, ground=ground)
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"cannot read {str(path)!r}: {error.strerror or error}", path=str(path)) from None
    except KeyError as error:
        raise FileError(f"{str(path)!r} is no run that freeflyer wrote: it has no {error}", path=str(path)) from None
    except (ValueError, TypeError, EOFError, RuntimeError, MemoryError, BadZipFile, zlib.error) as error:
        raise FileError(f"{str(path)!r} is no run that freeflyer wrote: {format_value(str(error))}", path=str(path)) from None


def _load_folder(folder: Path) -> Run:
    """The run of which a folder holds the pieces, or folders of parts of the batch."""
    files, parts = sorted(folder.glob("piece_*.npz")), sorted(folder.glob(f"{PART}_*"))
    if not files and not parts:
        raise FileError(f"{str(folder)!r} holds no pieces of a run", path=str(folder))
    if (size := sum(file.stat().st_size for file in folder.rglob("piece_*.npz"))) > LARGEST:
        raise FileError(f"{str(folder)!r} would take {size:.3g} bytes of memory, more than {LARGEST:.0e}: load its "
                        "files one after the other", path=str(folder))  # fmt: skip
    try:
        if not files:
            return gather_parts([load(part) for part in parts], [part.name for part in parts])
        pieces = [load(file) for file in files]
        cut = None if files[-1].stem.endswith("_end") else f"at {pieces[-1].t[-1]:.6g} s: the record was cut off"
        return join_pieces(pieces, cut)
    except (ValueError, IndexError):
        raise FileError(f"{str(folder)!r} holds pieces of different runs", path=str(folder)) from None


def join_pieces(pieces: Sequence[Run], cut: str | None) -> Run:
    """One run of pieces that follow each other."""

    def in_turn(parts: list[np.ndarray | None]) -> np.ndarray:
        known = next(x for x in parts if x is not None)
        return np.concatenate([np.full((len(p.t), *known.shape[1:]), np.nan) if x is None else x for p, x in zip(pieces, parts)])

    return replace(pieces[-1], t=np.concatenate([p.t for p in pieces]), **joined(pieces, in_turn),
                   events=tuple(e for p in pieces for e in p.events), failure=cut or pieces[-1].failure)  # fmt: skip


def _check_arrays(head: Any, a: dict[str, np.ndarray]) -> None:
    """ValueError for what `save` does not write."""
    samples = a["t"].shape
    if len(samples) != 1 or not samples[0]:
        raise ValueError("t must hold at least one time")
    for name, x in a.items():
        if x.dtype != np.float64 or not x.ndim or (not name.startswith("event") and x.shape[:1] != samples):
            raise ValueError(f"{name} holds {x.dtype} of shape {x.shape}")
    for name, kinds in (("failure", str | None), ("settings", dict), ("robot", str), ("digest", str)):
        if not isinstance(head[name], kinds):
            raise ValueError(f"{name} is {format_value(head[name])}")
    if not all(isinstance(x, str) for x in (*head["forces"], *head.get("ground", ()))):
        raise ValueError("forces and what is known of the ground must be names")
    for event in head["events"]:
        if not isinstance(event["name"], str) or not isinstance(event["t"], float) or not isinstance(event["holding"], list):
            raise ValueError(f"an event is {format_value(event)}")
