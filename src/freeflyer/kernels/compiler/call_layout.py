"""Where CPython and NumPy keep what a compiled call reads (PyObject; PyCapsule; PyArrayObject_fields, stable since NumPy 1.7), and
what the records of entries and models hold. Whether it is so is checked at start (calls/python_calls.py)."""

HEAD = object.__basicsize__  # of every object: reference count and, last, type
TYPE = HEAD - 8
DATA, AXES, SHAPE, DESCR, FLAGS = HEAD, HEAD + 8, HEAD + 16, HEAD + 40, HEAD + 48  # of an array
POINTER, NAME, CONTEXT = HEAD, HEAD + 8, HEAD + 16  # of a capsule
READABLE, WRITABLE = 0x101, 0x501  # C-contiguous and aligned; and writable
PY_ARRAY_NEW, NPY_DOUBLE, METH_FASTCALL = 93, 12, 0x80
MODEL_NAME = b"freeflyer.model"  # of the capsules that are models'; no others have it at this address
MAX_ARRAYS = 8  # inputs, options, outputs of an entry
MAX_STATES = 4096  # of a batch under the interpreter lock

# an entry's record (`record`), what all of them need (`known`), a model's record
FUNCTION, BATCH, OWN_INPUTS, INPUTS, OPTIONS, OUTPUTS, TABLE, ALONE, WEIGHT, NUMBER, KNOWN, LAYOUT = range(12)
OUTPUT_WORDS = 7  # in the layout: an output's number of axes, then each axis as a formula (entry.formula)
ARRAY, FLOAT64, INT, TUPLE, NONE, CAPSULE, MODEL, NEW_ARRAY, SHORT_WORK, SCRATCH_AT, SCRATCH_SIZE, WHERE_AT = range(12)
TOPOLOGY, PARAMETERS, CODE = range(3)  # CODE: of functions of its own, for one state and a batch, by an entry's NUMBER; or 0
