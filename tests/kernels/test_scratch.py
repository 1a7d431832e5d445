"""Scratch: never more than `scratch_need`, refused where there is less; nothing beside it or the outputs is written."""

import numpy as np
import pytest
from compiled_parts import aligned
from entry_subjects import ENTRIES, raw_call, subjects
from freeflyer.kernels import plain
from freeflyer.kernels.compiler import build
from freeflyer.kernels.compiler.calls.running import batch_lanes
from freeflyer.kernels.compiler.entry_code import scratch_need
from freeflyer.kernels.entry import ARGUMENT, OK, REFUSED, ROWS, SHORT_SCRATCH, TAKEN
from kernel_samples import Subject

GUARD = 64  # numbers before and after what an entry may write
CANARY = -1.2345678901234567e300
MARGIN = 0.75  # of what is there: the most that any entry may take on these robots

need_of = plain.function(scratch_need)


@pytest.fixture(scope="module")
def found() -> dict[str, list[Subject]]:
    every = subjects(random_robots=3)
    return {name: [x for x in every if x.entry.name == name] for name in ENTRIES}


def guarded(n: int) -> tuple[np.ndarray, np.ndarray]:
    """(buffer, its middle n numbers): canaries all around, NaN inside."""
    buffer = np.full(n + 2 * GUARD, CANARY)
    inside = buffer[GUARD : GUARD + n]
    inside[:] = np.nan
    return buffer, inside


def intact(buffer: np.ndarray) -> bool:
    return bool((buffer[:GUARD] == CANARY).all() and (buffer[-GUARD:] == CANARY).all())


def run(x: Subject, lanes: int, states: int, scratch: int) -> tuple[int, list[int], list[np.ndarray], np.ndarray]:
    """(status, where, outputs, memory) of a call with so many numbers of scratch, in a larger memory full of canaries."""
    entry, own = x.entry, len(x.entry.inputs)
    inputs = [np.ascontiguousarray(np.tile(a, (states, 1))) if k < own else a for k, a in enumerate(x.inputs)]
    outs = [guarded(states * int(np.prod(shape))) for shape in x.shapes]
    memory = aligned(scratch + 2 * GUARD)
    memory[:] = CANARY
    sizes = [a.shape[-1] for a in inputs] + [int(np.prod(shape)) for shape in x.shapes]
    status, where = raw_call(build.address(entry, lanes), x.handle, [a.ctypes.data for a in inputs], x.options,
        [inside.ctypes.data for _, inside in outs], sizes, states, (memory[GUARD:].ctypes.data, scratch))  # fmt: skip
    assert all(intact(buffer) for buffer, _ in outs), f"{entry.name} on {x.label} wrote beside its outputs"
    assert intact(memory), f"{entry.name} on {x.label} wrote beside its scratch"
    return status, where, [inside for _, inside in outs], memory


def need(x: Subject, lanes: int, states_at_once: int) -> int:
    """What the entry needs."""
    status, where, outputs, memory = run(x, lanes, 1, 16)
    assert status == SHORT_SCRATCH
    assert all(np.isnan(out).all() for out in outputs), "a refused state was written"
    assert (memory == CANARY).all()
    at_once = 1 if x.entry.one_by_one else states_at_once
    assert where[TAKEN] >= need_of(x.topology.tolist(), at_once, x.entry.square)
    return where[TAKEN]


@pytest.mark.parametrize("lanes", ["one state", "a batch"])
@pytest.mark.parametrize("name", ENTRIES)
def test_scratch_is_enough_and_no_more_is_written(name, lanes, found):
    """One state; as many as make one whole Pack and a part of one."""
    alone = lanes == "one state"
    lanes = 1 if alone else batch_lanes(ENTRIES[name])
    for x in found[name][:: 1 if alone else max(1, len(found[name]) // 6)]:
        needed = need(x, lanes, lanes)
        for states in (1,) if alone else (1, lanes + 3):
            status, where, outputs, _ = run(x, lanes, states, needed)
            assert status in (OK, REFUSED), f"{name} on {x.label}: {status}, {where}"
            assert 0 <= where[TAKEN] <= MARGIN * needed, f"{name} on {x.label} takes {where[TAKEN]} of {needed}"
            assert status == REFUSED or x.entry.partial or all(np.isfinite(out).all() for out in outputs)
        short, _, outputs, _ = run(x, lanes, states, needed - 1)
        assert short == SHORT_SCRATCH
        assert all(np.isnan(out).all() for out in outputs)


def test_alignment_and_sizes(found):
    """Workspaces begin at a cache line wherever the memory does."""
    x = found["crba"][0]
    needed = need(x, 1, 1)
    memory, out = np.full(needed + 2 * GUARD, CANARY), np.empty(x.shapes[0])
    results = []
    for shift in range(9):
        memory[:] = CANARY
        at = memory[GUARD + shift :].ctypes.data
        status, _ = raw_call(build.address(x.entry, 1), x.handle, [x.inputs[0].ctypes.data], (), [out.ctypes.data],
                             [x.inputs[0].size, out.size], 1, (at, needed))  # fmt: skip
        assert status == OK
        assert (memory[: GUARD + shift] == CANARY).all()
        assert (memory[GUARD + shift + needed :] == CANARY).all()
        results.append(out.copy())
    assert all((r == results[0]).all() for r in results)
    # The first array that does not fit the model is named
    x = found["rnea_gradient"][0]
    outputs = x.outputs()
    right = [a.size for a in (*x.inputs, *outputs)]
    arrays = [a.ctypes.data for a in x.inputs], [o.ctypes.data for o in outputs]
    memory = np.empty(need(x, 1, 1))
    for k in range(len(right)):
        for wrong in (right[k] + 1, right[k] - 1, 0, -1, 2**62, -(2**63)):
            sizes = [*right[:k], wrong, *right[k + 1 :]]
            scratch = memory.ctypes.data, memory.size
            status, where = raw_call(build.address(x.entry, 1), x.handle, arrays[0], (), arrays[1], sizes, 1, scratch)
            assert (status, where[ARGUMENT]) == (1, k)
    assert all(np.isnan(o).all() for o in outputs)
    assert ROWS == 2
