"""Runs as tables of named columns: CSV files, data frames, curves."""

from __future__ import annotations

import io
import os
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from freeflyer.errors import MissingExtraError
from freeflyer.files import write_atomically
from freeflyer.model import Model
from freeflyer.shown import Drawn

POSE = ("x", "y", "z", "qx", "qy", "qz", "qw")
TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")
WRENCH = ("fx", "fy", "fz", "tx", "ty", "tz")


class RecordedRun(Drawn):
    """Base of runs: their samples as a table, and their pictures."""

    @abstractmethod
    def columns(self) -> dict[str, np.ndarray]:
        """Arrays (T,) by name, "t" the first; (T, ...) of runs of several robots."""

    def to_csv(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """CSV file of `columns`, 17 digits; of several robots one below the other, their numbers in the column "robot".

        Errors: FileError for a file that is there."""
        table = _long(self.columns())
        text = io.StringIO()
        np.savetxt(text, np.column_stack([*table.values()]), fmt="%.17g", delimiter=",", header=",".join(map(_quoted, table)),
                   comments="")  # fmt: skip
        write_atomically(path, text.getvalue(), overwrite)

    def to_pandas(self) -> Any:
        """pandas.DataFrame of the same table. Errors: MissingExtraError without pandas."""
        try:
            import pandas
        except ImportError:
            raise MissingExtraError("a data frame needs pandas: pip install pandas, or write a file with to_csv(path)") from None
        return pandas.DataFrame(_long(self.columns()))


def _quoted(name: str) -> str:
    quote = '"'
    return f'"{name.replace(quote, quote + quote)}"' if set(name) & set(',"\n\r') else name


def _long(columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Columns (T n,) of columns (T, n...)."""
    shape = max((x.shape for x in columns.values()), key=len)
    if len(shape) == 1:
        return dict(columns)
    count = int(np.prod(shape[1:]))
    found = {"robot": np.repeat(np.arange(count), shape[0])}
    for name, x in columns.items():
        wide = np.broadcast_to(x.reshape(*x.shape, *(1,) * (len(shape) - x.ndim)), shape)
        found[name] = wide.reshape(shape[0], count).T.ravel()
    return found


def position_names(model: Model) -> list[str]:
    """Names of the entries of q."""
    names = [""] * model.nq
    for joint in model.tree.joints:
        parts = POSE[-joint.nq :] if joint.kind in ("free", "spherical") else tuple(map(str, range(joint.nq)))
        for k in range(joint.nq):
            names[joint.iq + k] = joint.name if joint.nq == 1 else f"{joint.name}.{parts[k]}"
    return names


def velocity_names(model: Model) -> list[str]:
    """Names of the entries of v."""
    names = [f"v{k}" for k in range(model.nv)]
    tree = {j.name: j for j in model.tree.joints}
    for joint in model.joints:
        parts = TWIST[-joint.nv :] if joint.kind in ("free", "spherical") and joint.nv == tree[joint.name].nv else None
        for k in range(joint.nv if joint.mimic is None else 0):
            names[joint.iv + k] = joint.name if joint.nv == 1 else f"{joint.name}.{parts[k] if parts else k}"
    return names


def state_columns(model: Model | None, t: np.ndarray, q: np.ndarray, v: np.ndarray, tau: np.ndarray | None = None,
                  forces: Mapping[str, np.ndarray] | None = None) -> dict[str, np.ndarray]:  # fmt: skip
    """Columns of the samples of a motion; entries are numbered where the model is not known."""
    q_names = [f"{k}" for k in range(q.shape[-1])] if model is None else position_names(model)

    def v_names(x: np.ndarray) -> list[str]:
        n = x.shape[-1]
        return list(map(str, range(n))) if model is None else velocity_names(model if n == model.nv else model.tree)

    columns = {"t": t, **{f"q {name}": q[..., k] for k, name in enumerate(q_names)}}
    columns |= {f"v {name}": v[..., k] for k, name in enumerate(v_names(v))}
    if tau is not None:
        columns |= {f"tau {name}": tau[..., k] for k, name in enumerate(v_names(tau))}
    for foot, wrench in (forces or {}).items():
        columns |= {f"force {foot}.{part}": wrench[..., k] for k, part in enumerate(WRENCH)}
    return columns
