"""The C header and source: sizes, prototypes, the model's arrays, functions that hand pointers to the object code;
and the example: it compares with Python's results and prints times."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from typing import Any

import numpy as np

from freeflyer.errors import InputError, format_value
from freeflyer.export.functions import Array, Call, Library, example_inputs
from freeflyer.export.library import filled
from freeflyer.kernels import entry as E
from freeflyer.kernels.compiler.calls.running import state
from freeflyer.kernels.model import layout
from freeflyer.text import unique_name

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
    """.split())
LONGEST = 48


def word(text: str) -> str:
    """Letters, digits and single underscores of a text, none of these at its ends; may be empty."""
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")[:LONGEST].strip("_")


def prefix_of(name: str, given: str | None = None) -> str:
    """The beginning of a robot's functions, and the name of its files: lower case, never that of a system library or header.

    Errors: InputError for a `given` one of other characters; without one, `name` gives it."""
    if given is not None and word(given) != given:
        raise InputError(f"prefix must be letters, digits and single underscores, got {format_value(given)}", prefix=given)
    prefix = word(name if given is None else given).lower()
    if not prefix or prefix[0].isdigit() or prefix in RESERVED:
        prefix = f"robot_{prefix}".strip("_")
    return prefix


def comment(text: object) -> str:
    """A text on one line of a C comment, which it cannot end."""
    shown = str(text).encode("ascii", "backslashreplace").decode()
    shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in shown)
    return shown.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?").rstrip("\\")


def identifier(taken: set[str], start: str, name: str) -> str:
    """An enumerator of a header, `start` and a name in capitals; later ones of the same name are numbered."""
    return unique_name(f"{start}_{word(name) or 'UNNAMED'}".upper(), taken)


STATUS = (
    ("OK", E.OK, "results are written"),
    ("WRONG_SIZE", E.WRONG_SIZE, "library and constants do not belong together"),
    ("NOT_FINITE", E.NOT_FINITE, "an input is NaN or infinite"),
    ("NOT_UNIT", E.NOT_UNIT, "a quaternion is not of unit length"),
    ("REFUSED", E.REFUSED, "a result is not finite, as where the mass matrix is singular; results mean nothing"),
    ("WRONG_OPTION", E.WRONG_OPTION, "no such frame or expression"),
    ("SHORT_SCRATCH", E.SHORT_SCRATCH, "scratch is too small; results mean nothing"),
    ("OVERLAP", E.OVERLAP, "an output shares memory with an input or another output"),
    ("WRONG_MODEL", E.WRONG_MODEL, "library and constants do not belong together"))
CONVENTIONS = """\
 * Units: m, kg, s, rad, N. Axes right-handed. Quaternions x, y, z, w. Twists [linear; angular], wrenches [force; torque].
 * Free joint: q is position, then quaternion; v is the twist of the body in its own axes (body twist), tau the wrench likewise.
 * Matrices row by row. Derivatives by q are by the step dv of q (+) dv, for a free joint a body twist.
 * Expression of a twist: BODY: axes and origin of the frame. MIXED: world axes, origin of the frame. WORLD: world axes, the point
 * of the body that passes the world's origin.
 *
 * A function returns a status. It allocates nothing, locks nothing and keeps nothing: calls may run at the same time on several
 * threads, each with a scratch of its own. `scratch` holds at least as many doubles as the function's ..._SCRATCH_...; its
 * contents before and after mean nothing. Pointers must not be null; outputs must not overlap inputs, scratch or each other."""


def header(library: Library) -> str:
    """The text of the header."""
    from freeflyer.version import __version__

    model, P = library.model, library.upper
    batches = any(call.batch for call in library.calls)
    lines = [
        f"/* Rigid-body dynamics of {comment(model.name)}, by freeflyer {__version__}, for the CPU {comment(library.cpu)}.",
        " *", CONVENTIONS, *([BATCHES] if batches else []), " */", f"#ifndef {P}_H", f"#define {P}_H", "",
        "#include <stdint.h>", "",
        "#ifdef __cplusplus", 'extern "C" {', "#endif", "",
        *sizes(library), "", *scratch(library), "", *enums(library), "",
        *(line for call in library.calls for line in [*function_comment(call), prototype(call) + ";", ""]),
        "#ifdef __cplusplus", "}", "#endif", "", "#endif",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


BATCHES = """\
 *
 * A ..._batch function takes any number of states, one after the other in each array: q[states][NQ]. Results differ from those
 * of single states by rounding. `refused`, unless it is null, gets the number of the state that was refused, or -1."""


def sizes(library: Library) -> list[str]:
    topology = library.model.topology
    numbers = [
        ("NQ", library.model.nq, "numbers of q"), ("NV", library.model.nv, "numbers of v, a and tau"),
        ("BODIES", int(topology[layout.N_BODIES]) + 1, "the world and the bodies that joints move"),
        ("COLUMNS", int(topology[layout.N_COLUMNS]), "motion directions of all joints"),
        ("FRAMES", int(topology[layout.N_FRAMES]), "links and sites")]  # fmt: skip
    if library.model.reduction:
        numbers.append(("WHOLE_NV", library.model.tree.nv, "velocities of all joints, loops open; NV of them are independent"))
    return [f"#define {library.upper}_{name} {n} /* {text} */" for name, n, text in numbers]


def scratch(library: Library) -> list[str]:
    each = [f"#define {call.scratch_name} {call.scratch}" for call in library.calls]
    return [*each, f"#define {library.upper}_SCRATCH {library.scratch} /* enough for each function */"]


def enums(library: Library) -> list[str]:
    P, model = library.upper, library.model
    taken = set[str]()
    statuses = [(f"{P}_{name}", k, text) for name, k, text in STATUS]
    frames = [(identifier(taken, f"{P}_FRAME", x), k, x) for k, x in enumerate(model.frame_names)]
    q = [(identifier(taken, f"{P}_Q", j.name), j.iq, f"{j.name}: {j.kind}, {j.nq} of q") for j in model.tree.joints if j.nv]
    v = [(identifier(taken, f"{P}_V", j.name), j.iv, f"{j.name}: {j.kind}, {j.nv} of v") for j in model.joints if j.nv]
    words = [(f"{P}_{x}", k, "") for k, x in enumerate(("BODY", "MIXED", "WORLD"))]
    return [
        *enum(f"{library.prefix}_status", "", statuses), "", *enum(f"{library.prefix}_expressed", "", words), "",
        *enum(f"{library.prefix}_frame", "Frames: links, then sites.", frames), "",
        *enum(f"{library.prefix}_q", "The first number in q of each joint.", q), "",
        *enum(f"{library.prefix}_v", "The first number in v, a and tau of each joint.", v)]  # fmt: skip


def enum(name: str, text: str, values: list[tuple[str, int, str]]) -> list[str]:
    if not values:  # C has no empty enum
        return []
    lines = [f"/* {text} */"] if text else []
    lines.append(f"enum {name} {{")
    for k, (key, value, text) in enumerate(values):
        comma = "," if k + 1 < len(values) else ""
        lines.append(f"    {key} = {value}{comma}" + (f" /* {comment(text)} */" if text else ""))
    return [*lines, "};"]


def function_comment(call: Call) -> list[str]:
    """The comment above a function."""
    each = "For each state: " if call.batch else ""
    rows = [_row(call, x, "in ") for x in call.parameters]
    rows += [f" *   in  {x}: {call.function.meaning(x)}, enum {call.prefix}_{x}" for x in call.entry.options]
    rows += [_row(call, x, "out") for x in call.outputs]
    return [
        f"/* {each}{call.function.summary}. Kernel: {call.entry.name}.", *rows, f" *   scratch[{call.scratch_name}] */"]


def _row(call: Call, x: Array, way: str) -> str:
    shape = "".join(f"[{d}]" for d in (*(["states"] if call.batch else []), *x.dimensions))
    return f" *   {way} {x.name}{shape}: {x.meaning}"


def prototype(call: Call) -> str:
    """Declaration without the semicolon."""

    def array(x: Array, const: str) -> str:
        return f"{const}double *{x.name}" if call.batch else f"{const}double {x.name}[{x.length}]"

    parts = ["int64_t states"] if call.batch else []
    parts += [array(x, "const ") for x in call.parameters]
    parts += [f"int64_t {x}" for x in call.entry.options]
    parts += [array(x, "") for x in call.outputs]
    parts += ["double *scratch", *(["int64_t *refused"] if call.batch else [])]
    return f"int64_t {call.name}({', '.join(parts)})"


ENTRY = (
    "int64_t {name}(const int64_t *topology, const double *parameters, const int64_t *inputs, const int64_t *options,\n"
    "    const int64_t *outputs, const int64_t *sizes, double *scratch, int64_t *where);")
PER_LINE = 8


def source(library: Library) -> str:
    """The text of the C file."""
    model, uses_zero = library.model, any(call.function.zero for call in library.calls)
    zero = [f"static const double zero[{library.upper}_NV] = {{0.0}};", ""] if uses_zero else []
    parts = [
        f"/* {comment(model.name)}: the model's constants, and calls of its compiled kernels. See {library.prefix}.h. */",
        f'#include "{library.prefix}.h"', "", "#include <stddef.h>", "",
        "#ifdef __cplusplus", 'extern "C" {', "#endif", "",
        *(ENTRY.format(name=call.kernel) for call in library.kernels), "",
        "#ifdef __cplusplus", "}", "#endif", "",
        array("int64_t", "topology", map(int, model.topology)), "",
        array("double", "parameters", map(float, model.parameters)), "",
        *zero, *(body(call) for call in library.calls)]  # fmt: skip
    return "\n".join(parts)


def array(kind: str, name: str, numbers: Iterable[Any]) -> str:
    """A constant array. repr() of a double is a decimal number that is read back as the same bits."""
    texts = [repr(x).replace("inf", "INFINITY") for x in numbers]
    lines = [", ".join(texts[k : k + PER_LINE]) for k in range(0, len(texts), PER_LINE)]
    return f"static const {kind} {name}[{len(texts)}] = {{\n    " + ",\n    ".join(lines) + "\n};"


def body(call: Call) -> str:
    """The definition of a function. An entry takes addresses as integers, in arrays."""
    addresses = ["zero" if x.name in call.function.zero else x.name for x in call.inputs]
    lengths = [x.length for x in call.arrays]
    states = "states" if call.batch else "1"
    lines = [
        prototype(call), "{",
        f"    const int64_t inputs[] = {{{', '.join(map(_address, addresses))}}};",
        f"    const int64_t outputs[] = {{{', '.join(_address(x.name) for x in call.outputs)}}};",
        *([f"    const int64_t options[] = {{{', '.join(call.entry.options)}}};"] if call.entry.options else []),
        f"    const int64_t sizes[] = {{{', '.join([call.scratch_name, states, *lengths])}}};",
        f"    int64_t where[{E.WHERE}] = {{{', '.join(['-1'] * E.WHERE)}}};"]  # fmt: skip
    options = "options" if call.entry.options else "NULL"
    called = f"{call.kernel}(topology, parameters, inputs, {options}, outputs, sizes, scratch, where)"
    if call.batch:
        lines += [
            f"    const int64_t status = {called};", "    if (refused != NULL) {", f"        *refused = where[{E.STATE}];", "    }",
            "    return status;"]  # fmt: skip
    else:
        lines.append(f"    return {called};")
    return "\n".join([*lines, "}", ""])


def _address(name: str) -> str:
    return f"(int64_t)(intptr_t){name}"


STATES = 16  # of a batch
HASH_START, HASH_FACTOR = 14695981039346656037, 1099511628211  # FNV-1a, of 64-bit words
EXPRESSED = 1  # mixed


def expected_results(library: Library, call: Call, given: dict[str, np.ndarray]) -> tuple[int, float, int]:
    """Of Python's call at the example's state: status, sum of absolute values of all results, hash of their bits."""
    inputs = [np.zeros(x.size) if x.name in call.function.zero else given[x.name] for x in call.inputs]
    outputs = [np.zeros(shape) for shape in call.entry.output_shapes(library.model.topology)]
    status, _ = state(call.entry, library.model.handle, *inputs, *options(library, call), *outputs)
    if status != E.OK:
        return status, 0.0, 0
    numbers = [float(x) for y in outputs for x in y.ravel()]
    total, bits = 0.0, HASH_START
    for x in numbers:  # one after the other, as in C
        total += abs(x)
        bits = ((bits ^ struct.unpack("<Q", struct.pack("<d", x))[0]) * HASH_FACTOR) % 2**64
    return status, total, bits


def options(library: Library, call: Call) -> tuple[int, ...]:
    """The last frame, in mixed expression."""
    chosen = {"frame": len(library.model.frame_names) - 1, "expressed": EXPRESSED}
    return tuple(chosen[x] for x in call.entry.options)


def main_c(library: Library) -> str:
    """The text of the program."""
    given = example_inputs(library)
    states = STATES if any(call.batch for call in library.calls) else 1
    room = max(sum(x.size for x in call.outputs) for call in library.calls)
    results = {call.name: expected_results(library, call, given) for call in library.calls if not call.batch}
    rows, functions = [], []
    for k, call in enumerate(library.calls):
        functions.append(_function(library, call, k))
        status, total, bits = results[f"{call.prefix}_{call.function.name}"]
        length = sum(x.size for x in call.outputs)
        count = STATES if call.batch else 1
        rows.append(f'    {{"{call.short_name}", call_{k}, {count}, {length}, {status}, {total!r}, UINT64_C({bits})}}')
    copies = [f"        memcpy({name} + s * {x.size}, example_{name}, sizeof example_{name});" for name, x in given.items()]
    return filled("main.c.txt", {
        "PREFIX": library.prefix, "UPPER": library.upper, "STATES": str(states), "ROOM": str(states * room),
        "EXAMPLES": "\n".join(array("double", f"example_{name}", map(float, x)) for name, x in given.items()),
        "ARRAYS": "\n".join(f"static double {name}[STATES * {x.size}];" for name, x in given.items()),
        "COPIES": "\n".join(copies), "FUNCTIONS": "\n".join(functions), "ROWS": ",\n".join(rows)})  # fmt: skip


def _function(library: Library, call: Call, k: int) -> str:
    arguments = ["STATES"] if call.batch else []
    arguments += [x.name for x in call.parameters] + [str(x) for x in options(library, call)]
    at = 0
    for x in call.outputs:
        arguments.append(f"results + {at}")
        at += x.size * (STATES if call.batch else 1)
    arguments += ["scratch", *(["NULL"] if call.batch else [])]
    return f"static int64_t call_{k}(void) {{ return {call.name}({', '.join(arguments)}); }}"
