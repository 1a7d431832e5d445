"""A robot's dynamics as a C library, in a folder that is written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from freeflyer.errors import FileError, InputError
from freeflyer.export.functions import USUAL, Call, Library, select_functions
from freeflyer.export.header import header, main_c, prefix_of, source
from freeflyer.export.library import NATIVE, build, cmake, code_of, target_of
from freeflyer.files import check_path
from freeflyer.kernels.compiler.calls.running import batch_lanes
from freeflyer.model import Model, public
from freeflyer.progress import Progress, no_progress


@dataclass(frozen=True)
class Export:
    """Result of an export, with the written files.

    Attributes:
        prefix: Beginning of the names of functions and files.
        cpu: The CPU that the object code is for.
        functions: Names of the C functions.
        files: Paths in the folder, sorted.
        notes: Sentences about files that could not be made, such as libraries without a C compiler.

    Examples:
        >>> made = ff.export.export(ff.robots.chain(1), "arm_c", "mass_matrix", prefix="arm")
        >>> made.prefix, "arm.h" in made.files, [x for x in made.files if x.startswith("objects/")]
        ('arm', True, ['objects/crba.o'])
    """

    folder: Path
    prefix: str
    cpu: str
    functions: tuple[str, ...]
    files: tuple[str, ...]
    notes: tuple[str, ...]


@public
def export(model: Model, folder: str | os.PathLike[str], functions: str | Sequence[str] = USUAL, *, cpu: str = NATIVE,
           batch: bool = False, prefix: str | None = None, overwrite: bool = False,
           progress: Progress = no_progress) -> Export:  # fmt: skip
    """C library of a robot's functions that needs no Python, written to a folder.

    The folder gets a header, the model's constants and calls as a C source, and the kernels' object code. It also gets a program
    that compares with Python's results and prints times (main.c), and CMakeLists.txt. With a C compiler it gets a static and a
    shared library.

    Args:
        model: A robot that moves: a tree, or one whose loops are closed (freeflyer.close_loops). Of a specialised model
            (freeflyer.specialize) the library has the specialised code.
        folder: Where to; made if it is not there. It is written whole or not at all.
        functions: Names of public functions, also as 'name,name'; 'all' for those of `freeflyer export --list`. The default is
            inverse_dynamics, forward_dynamics and mass_matrix.
        cpu: A CPU that LLVM supports ('x86-64-v3', 'haswell', ...), one of another kind of machine ('aarch64',
            'aarch64:cortex-a72'), or 'native', this machine's, with the bits of Python's results.
        batch: Also functions of any number of states at a time.
        prefix: Beginning of the names of functions and files, instead of the robot's name; in lower case.
        overwrite: Whether files may be replaced in a folder that is not empty.

    Raises:
        InputError: For robots whose loops are open, and for ones that do not move. Also for a prefix of other characters than
            letters, digits and single underscores, and for a CPU that is not of the kind named.
        UnknownNameError: For functions that cannot be exported and CPUs that LLVM does not support.
        FileError: For a folder that is not empty, or cannot be written.

    Examples:
        >>> made = ff.export.export(ff.robots.chain(2), "chain_c", "mass_matrix")
        >>> made.functions
        ('chain_2_mass_matrix',)
    """
    wanted = select_functions(functions, model)
    refuse_model(model)
    begin = prefix_of(model.name, prefix)
    check_path(folder)
    target = Path(folder)
    refuse_to_replace(target, overwrite)  # before the long work
    machine = target_of(cpu)
    notes, calls, codes = [], [], {}
    for k, function in enumerate(wanted):
        entry = function.entry_of(model)
        progress(k / len(wanted), f"compiling {entry.name}")
        ways = [1]
        if batch and function.zero:
            notes.append(f"{function.name} has no batch function: that of inverse_dynamics computes it, at zero acceleration")
        elif batch:
            ways.append(batch_lanes(entry, machine))
        for lanes in ways:
            own = model.entry_of(entry, lanes > 1)
            symbol, code = code_of(own, lanes, cpu)
            codes[symbol] = code
            calls.append(Call(begin, function, own, lanes, symbol, model))
    library = Library(model, begin, machine.cpu if cpu == NATIVE else cpu, tuple(calls))
    kernels = {f"{k.entry.name}{'_batch' if k.batch else ''}": codes[k.kernel] for k in library.kernels}
    progress(0.0, "writing")
    texts = {f"{begin}.h": header(library), f"{begin}.c": source(library), "main.c": main_c(library)}
    names = tuple(call.name for call in calls)
    files, more = write_library(target, overwrite, begin, kernels, texts, machine.triple)
    return Export(target, begin, library.cpu, names, files, (*notes, *more))


def write_library(folder: Path, overwrite: bool, prefix: str, kernels: Mapping[str, bytes], texts: Mapping[str, str],
                  triple: str) -> tuple[tuple[str, ...], list[str]]:
    """Writes the object code of kernels by name, and texts by the names of their files, and makes the libraries; (paths of all
    files, notes)."""
    objects = {f"objects/{name}.o": code for name, code in kernels.items()}
    with whole_folder(folder, overwrite) as new:
        (new / "objects").mkdir()
        for name, code in objects.items():
            (new / name).write_bytes(code)
        for name, text in {**texts, "CMakeLists.txt": cmake(prefix, list(objects))}.items():
            (new / name).write_text(text, encoding="ascii")
        notes = build(new, prefix, list(objects), triple)
        return tuple(sorted(str(p.relative_to(new)) for p in new.rglob("*") if p.is_file())), notes


def refuse_model(model: Model) -> None:
    """Errors: InputError for robots that no library is made of."""
    if model.constraint_rows[0] and not model.reduction:
        raise InputError(
            f"the loops of {model.name!r} are open: its functions would compute a tree that its robot is not. Close them: "
            "freeflyer.close_loops(model), or load the file without loops", rows=model.constraint_rows[0])
    if not model.nv:
        raise InputError(f"nothing of {model.name!r} moves, so there is nothing to export")


def refuse_to_replace(folder: Path, overwrite: bool) -> None:
    """Errors: FileError for a file, and for a folder that holds anything, unless `overwrite`."""
    try:
        if folder.is_dir():
            if not overwrite and any(folder.iterdir()):
                raise FileError(
                    f"the folder {str(folder)!r} is not empty: name another, or allow files in it to be replaced, overwrite=True",
                    path=str(folder))
        elif folder.exists() or folder.is_symlink():
            raise FileError(f"cannot write the folder {str(folder)!r}: there is a file of that name", path=str(folder))
    except FileError:
        raise
    except (OSError, ValueError) as error:  # also null characters in the name
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"cannot read the folder {str(folder)!r}: {reason}", path=str(folder)) from error


@contextmanager
def whole_folder(folder: Path, overwrite: bool) -> Iterator[Path]:
    """An empty folder to write into, whose files go to `folder` at the end if there was no error.

    Files of other names stay in `folder`."""
    refuse_to_replace(folder, overwrite)
    unfinished = None
    try:
        folder = folder.resolve()
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = folder if folder.exists() else folder.parent  # of the same file system
        unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name[:40]}.", suffix=".part", dir=beside))
        new = unfinished / "new"
        new.mkdir()
        yield new
        if not folder.exists():
            os.rename(new, folder)
            return
        paths = [path.relative_to(new) for path in sorted(new.rglob("*"))]
        for path in paths:
            there, is_folder = folder / path, (new / path).is_dir()
            if there.exists() and (there.is_dir() != is_folder or not (is_folder or overwrite)):
                what = "a folder" if there.is_dir() else "a file"
                raise FileError(f"cannot write {str(there)!r}: there is {what} of that name", path=str(there))
        for path in paths:
            if (new / path).is_dir():
                (folder / path).mkdir(exist_ok=True)
            else:
                os.replace(new / path, folder / path)
    except OSError as error:
        text = f"cannot write the folder {str(folder)!r}: {error.strerror or error}"
        raise FileError(text, path=str(folder)) from error
    finally:
        if unfinished is not None:
            shutil.rmtree(unfinished, ignore_errors=True)
