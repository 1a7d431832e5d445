"""The compiled code behind builtin functions (calls/python_calls.py): from Python's objects to an entry and back. Imported only to
compile.

One code serves all entries: an entry's record (python_calls.record) holds its inputs and the shapes of its outputs. It returns the
results, or None for arguments that it does not take and for states that the entry refuses.
"""

from freeflyer.kernels.compiler import call_layout as L
from freeflyer.kernels.compiler.meanings import objects as C
from freeflyer.kernels.entry import OK, REFUSED, ROWS, SCRATCH, STATES, value
from freeflyer.kernels.model.layout import N_V, TABLE_KIND

SHAPE, AXES = 4, 3  # words of an output's shape; where the number of its axes is
SHAPE_ROW = 3 * L.MAX_ARRAYS + ROWS + 2 * L.MAX_ARRAYS  # in the words on the stack
PACKED_ROW = SHAPE_ROW + SHAPE * L.MAX_ARRAYS
# words on the stack: addresses of inputs, options, addresses of outputs, MAX_ARRAYS each; sizes; shapes; MAX_ARRAYS wrenches
WORDS = PACKED_ROW + 6 * L.MAX_ARRAYS


def is_array(known, x, axes, flags):
    """Whether an object is a plain float64 array of so many axes, with these flags."""
    return (
        C.word(x, L.TYPE) == known[L.ARRAY]
        and C.word(x, L.DESCR) == known[L.FLOAT64]
        and C.load_int32(x, L.AXES) == axes
        and C.load_int32(x, L.FLAGS) & flags == flags
    )


def integer(x):
    """The value of an int object; -1 if it has more than 64 bits."""
    value = C.as_integer(x)
    if value == -1 and C.error_occurred() != 0:
        C.error_clear()
    return value


def lead(known, x, axes):
    """The length of the batch axis that comes before so many axes: 0 without one, -1 for no such array and for no states."""
    if is_array(known, x, axes, L.READABLE):
        return 0
    if not is_array(known, x, axes + 1, L.READABLE):
        return -1
    states = C.integers_at(C.word(x, L.SHAPE))[0]
    return states if states > 0 else -1


def batch_states(known, entry, arguments):
    """How many states the inputs hold: 0 for one state without batch axes."""
    for k in range(entry[L.OWN_INPUTS]):
        states = lead(known, arguments[1 + k], entry[L.LAYOUT + k])
        if states > 0:
            return states
    return 0


def put_wrenches(known, x, row):
    """Writes a tuple of arrays (6,), MAX_ARRAYS at most, one after the other; returns how many numbers these are, -1 for any other
    object."""
    if C.word(x, L.TYPE) != known[L.TUPLE] or C.tuple_size(x) > L.MAX_ARRAYS:
        return -1
    for n in range(C.tuple_size(x)):
        w = C.tuple_item(x, n)
        if not is_array(known, w, 1, L.READABLE) or C.integers_at(C.word(w, L.SHAPE))[0] != 6:
            return -1
        numbers = C.integers_at(C.word(w, L.DATA))
        for j in range(6):
            row[6 * n + j] = numbers[j]
    return 6 * C.tuple_size(x)


def is_model(known, x):
    return C.word(x, L.TYPE) == known[L.CAPSULE] and C.word(x, L.NAME) == known[L.MODEL]


def put_arguments(known, entry, arguments, states, rows, options, sizes, packed):
    """Writes addresses and sizes of inputs, and options; whether they are arrays of so many states, or of one that all share, and
    integers."""
    inputs = entry[L.INPUTS]
    for k in range(inputs):
        x, axes, own, found = arguments[1 + k], entry[L.LAYOUT + k], k < entry[L.OWN_INPUTS], 0
        size = put_wrenches(known, x, C.integers_at(packed)) if axes == 2 else -1
        if size >= 0:
            rows[k] = packed
        else:
            found = lead(known, x, axes)
            if found < 0 or (found > 0 and not (own and found == states)):
                return False
            if found == 0 and own and states > 0 and entry[L.ALONE] != 0:
                return False
            shape, first, size = C.integers_at(C.word(x, L.SHAPE)), 1 if found > 0 else 0, 1
            if axes == 2 and shape[first + 1] != 6:
                return False
            for n in range(first, first + axes):
                size *= shape[n]
            rows[k] = C.word(x, L.DATA)
        sizes[ROWS + k] = -size if states > 0 and found == 0 and own else size
    for k in range(entry[L.OPTIONS]):
        if C.word(arguments[1 + inputs + k], L.TYPE) != known[L.INT]:
            return False
        options[k] = integer(arguments[1 + inputs + k])
    return True


def put_shape(topology, entry, k, states, shape):
    """Writes the shape of output k and, behind it, how many axes it has; returns how many numbers of one state it holds."""
    at, first, size = L.LAYOUT + entry[L.INPUTS] + L.OUTPUT_WORDS * k, 1 if states > 0 else 0, 1
    shape[0], shape[AXES] = states, first + entry[at]
    for j in range(at + 1, at + 1 + 3 * entry[at], 3):
        shape[first] = max(value((entry[j], entry[j + 1], entry[j + 2]), topology), 0)
        size *= shape[first]
        first += 1
    return size


def are_outputs(known, outputs, out, shapes):
    """Whether `out` is an output, or a tuple of all of several, of the right shapes."""
    if outputs > 1 and (C.word(out, L.TYPE) != known[L.TUPLE] or C.tuple_size(out) != outputs):
        return False
    for k in range(outputs):
        x, shape = C.tuple_item(out, k) if outputs > 1 else out, C.integers_at(shapes + 8 * SHAPE * k)
        if not is_array(known, x, shape[AXES], L.WRITABLE):
            return False
        found = C.integers_at(C.word(x, L.SHAPE))
        for j in range(shape[AXES]):
            if found[j] != shape[j]:
                return False
    return True


def new_outputs(known, outputs, shapes):
    """A new array, or a tuple of several; 0 with Python's error where there is no memory."""
    made = C.new_tuple(outputs) if outputs > 1 else 1
    for k in range(outputs if made != 0 else 0):
        shape = C.integers_at(shapes + 8 * SHAPE * k)
        x = C.new_array(known, shape[AXES], shape)
        if outputs == 1:
            return x
        if x == 0:
            C.decref(made)
            return 0
        C.set_tuple_item(made, k, x)
    return made


def refused(known):
    C.incref(known[L.NONE])
    return known[L.NONE]


def call(self, arguments, given):
    entry = C.integers_at(C.word(self, L.DATA))
    known, inputs, options, outputs = C.integers_at(entry[L.KNOWN]), entry[L.INPUTS], entry[L.OPTIONS], entry[L.OUTPUTS]
    if given != 2 + inputs + options:
        C.bad_argument()
        return 0
    states = batch_states(known, entry, arguments)
    if states > L.MAX_STATES or not is_model(known, arguments[0]):
        return refused(known)
    function = entry[L.FUNCTION] if states == 0 else entry[L.BATCH]
    model = C.integers_at(C.word(arguments[0], L.POINTER))
    topology = C.integers_at(model[L.TOPOLOGY])
    if model[L.CODE] != 0:
        own = C.integers_at(model[L.CODE])[2 * entry[L.NUMBER] + (1 if states > 0 else 0)]
        function = own if own != 0 else function
    if function == 0 or (entry[L.TABLE] != 0 and topology[TABLE_KIND] != entry[L.TABLE]):
        return refused(known)
    stack = C.stack_integers(WORDS)
    input_rows, option_row, output_rows, sizes = tuple(C.integers_at(stack + 8 * L.MAX_ARRAYS * k) for k in range(4))
    shapes, work = stack + 8 * SHAPE_ROW, entry[L.OWN_INPUTS] * topology[N_V]
    for k in range(outputs):
        size = put_shape(topology, entry, k, states, C.integers_at(shapes + 8 * SHAPE * k))
        sizes[ROWS + inputs + k] = size
        work += size
    if states > 0 and work * states * entry[L.WEIGHT] > known[L.SHORT_WORK]:
        return refused(known)
    out = arguments[1 + inputs + options]
    fresh = out == known[L.NONE]
    if fresh:
        out = new_outputs(known, outputs, shapes)
        if out == 0:
            return 0
    elif not are_outputs(known, outputs, out, shapes):
        return refused(known)
    for k in range(outputs):
        output_rows[k] = C.word(C.tuple_item(out, k) if outputs > 1 else out, L.DATA)
    sizes[SCRATCH], sizes[STATES], status = known[L.SCRATCH_SIZE], max(states, 1), REFUSED
    # inputs only now: a new tuple may have called finalizers, which may change arrays
    if put_arguments(known, entry, arguments, states, input_rows, option_row, sizes, stack + 8 * PACKED_ROW):
        status = C.call_entry(
            function, model[L.TOPOLOGY], model[L.PARAMETERS], stack, stack + 8 * L.MAX_ARRAYS, stack + 16 * L.MAX_ARRAYS,
            stack + 24 * L.MAX_ARRAYS, known[L.SCRATCH_AT], entry[L.KNOWN] + 8 * L.WHERE_AT,
        )  # fmt: skip
    if status == OK:
        if not fresh:
            C.incref(out)
        return out
    if fresh:
        C.decref(out)
    return refused(known)


def release(capsule):
    """The destructor of a model's handle: gives up the arrays that it kept."""
    C.decref(C.word(capsule, L.CONTEXT))
    return 0
