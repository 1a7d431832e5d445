"""The C source: the model's arrays as constants, and functions that hand pointers and sizes to the object code."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from freeflyer.export.calls import Call, Library
from freeflyer.export.header import comment, prototype
from freeflyer.kernels.entry import STATE, WHERE

ENTRY = (
    "int64_t {name}(const int64_t *topology, const double *parameters, const int64_t *inputs, const int64_t *options,\n"
    "    const int64_t *outputs, const int64_t *sizes, double *scratch, int64_t *where);"
)
PER_LINE = 8


def source(library: Library) -> str:
    """The text of the C file."""
    model = library.model
    zero = [f"static const double zero[{library.upper}_NV] = {{0.0}};", ""] if _zeros(library) else []
    parts = [
        f"/* {comment(model.name)}: the model's constants, and calls of its compiled kernels. See {library.prefix}.h. */",
        f'#include "{library.prefix}.h"', "", "#include <stddef.h>", "",
        "#ifdef __cplusplus", 'extern "C" {', "#endif", "",
        *(ENTRY.format(name=call.kernel) for call in library.kernels), "",
        "#ifdef __cplusplus", "}", "#endif", "",
        array("int64_t", "topology", map(int, model.topology)), "",
        array("double", "parameters", map(float, model.parameters)), "",
        *zero, *(body(call) for call in library.calls),
    ]  # fmt: skip
    return "\n".join(parts)


def array(kind: str, name: str, numbers: Iterable[Any]) -> str:
    """A constant array. repr() of a double is a decimal number that is read back as the same bits."""
    texts = [repr(x).replace("inf", "INFINITY") for x in numbers]
    lines = [", ".join(texts[k : k + PER_LINE]) for k in range(0, len(texts), PER_LINE)]
    return f"static const {kind} {name}[{len(texts)}] = {{\n    " + ",\n    ".join(lines) + "\n};"


def body(call: Call) -> str:
    """The definition of a function. An entry takes addresses as integers, in arrays."""
    addresses = ["zero" if x.name in call.function.zero else x.name for x in call.inputs]
    lengths = [x.length for x in (*call.inputs, *call.outputs)]
    states = "states" if call.batch else "1"
    lines = [
        prototype(call), "{",
        f"    const int64_t inputs[] = {{{', '.join(map(_address, addresses))}}};",
        f"    const int64_t outputs[] = {{{', '.join(_address(x.name) for x in call.outputs)}}};",
        *([f"    const int64_t options[] = {{{', '.join(call.options)}}};"] if call.options else []),
        f"    const int64_t sizes[] = {{{', '.join([call.scratch_name, states, *lengths])}}};",
        f"    int64_t where[{WHERE}] = {{{', '.join(['-1'] * WHERE)}}};",
    ]  # fmt: skip
    options = "options" if call.options else "NULL"
    called = f"{call.kernel}(topology, parameters, inputs, {options}, outputs, sizes, scratch, where)"
    if call.batch:
        lines += [
            f"    const int64_t status = {called};", "    if (refused != NULL) {", f"        *refused = where[{STATE}];", "    }",
            "    return status;",
        ]  # fmt: skip
    else:
        lines.append(f"    return {called};")
    return "\n".join([*lines, "}", ""])


def _address(name: str) -> str:
    return f"(int64_t)(intptr_t){name}"


def _zeros(library: Library) -> bool:
    return any(call.function.zero for call in library.calls)
