"""Exported libraries compute what Python computes, to the bit on this CPU, keep nothing between calls and need nothing but libc."""

import ctypes
import freeflyer as ff
import numpy as np
import pytest
import re
import shutil
import sys
from c_program import STRICT, needs_cc, needs_nm, program, run, undefined, with_mimic
from closeness import fresh, refused
from freeflyer.kernels import entry as status
from pathlib import Path
from robots_on_disk import example, needs_examples

ALLOWED = {"memcpy", "memset", "memmove", "sin", "cos", "sincos", "tan", "atan", "atan2", "asin", "acos", "exp", "log",
           "pow"} | {"sqrt", "fma", "fmod", "floor", "ceil", "hypot", "sinh", "cosh"}  # fmt: skip
pytestmark = [needs_cc, pytest.mark.skipif(sys.platform != "linux", reason="C programs of these tests are for Linux")]

@needs_examples
@needs_nm
def test_all_functions_need_nothing_but_libc(tmp_path):
    """Nor keep anything between calls; and each has the bits of Python's results."""
    folder, model = tmp_path / "c", ff.load(example("talos_reduced.urdf"))
    made = ff.export.export(model, folder, "all")
    for path in (*(folder / "objects").glob("*.o"), folder / "libtalos.so"):
        assert undefined(path) <= ALLOWED, path.name
    for path in (folder / "objects").glob("*.o"):  # without memory of their own, many threads may call them
        assert not re.search(r" [bBdDC] ", run("nm", path, folder=folder)), path.name
    table = run(program(folder, "main.c", "talos.c"), folder=folder)
    assert table.count("same bits, status 0") == len(made.functions), table
    library = ctypes.CDLL(str(folder / "libtalos.so"))
    sizes = dict(re.findall(r"define (TALOS_SCRATCH\w*) (\d+)", (folder / "talos.h").read_text()))
    scratch = np.empty(int(sizes["TALOS_SCRATCH"]))
    assert len(scratch) == max(map(int, sizes.values())), "it is enough for each function"
    rng = fresh("talos")
    for _ in range(64):
        q, v, a = ff.random_configuration(model, rng), *rng.standard_normal((2, model.nv))
        for name, given in (("inverse_dynamics", (q, v, a)), ("forward_dynamics", (q, v, a)), ("mass_matrix", (q,))):
            expected = getattr(ff, name)(model, *given)
            out = np.empty_like(expected)
            assert library[f"talos_{name}"](*[ctypes.c_void_p(x.ctypes.data) for x in (*given, out, scratch)]) == status.OK
            np.testing.assert_array_equal(out, expected)


@needs_nm
def test_a_specialised_robot(tmp_path):
    """Its library holds its own code, and computes the bits of Python's specialised model."""
    model = ff.specialize(ff.robots.make("quadruped"), ["inverse_dynamics", "forward_dynamics"])
    ff.export.export(model, tmp_path, "inverse_dynamics,forward_dynamics,mass_matrix", batch=True)
    names = {f"{x}{batch}" for x in ("rnea_of_robot", "aba_of_robot", "crba") for batch in ("", "_batch")}
    assert {p.stem for p in (tmp_path / "objects").iterdir()} == names
    for path in (tmp_path / "objects").iterdir():
        assert undefined(path) <= ALLOWED, path.name
    table = run(program(tmp_path, "main.c", "quadruped.c"), folder=tmp_path)
    assert table.count("same bits, status 0") == 3, table
    assert table.count("same to 1e-9, status 0") == 3, table


@needs_nm
def test_shared_coordinates_and_batches(tmp_path):
    folder = tmp_path / "c"
    ff.export.export(with_mimic(), folder, "forward_dynamics,inverse_mass_matrix")
    assert {p.stem for p in (folder / "objects").iterdir()} == {"shared_forward_dynamics", "shared_minv"}
    for path in (folder / "objects").iterdir():
        assert undefined(path) <= ALLOWED, path.name
    assert run(program(folder, "main.c", "with_mimic.c"), folder=folder).count("same bits") == 2
    folder = tmp_path / "d"
    made = ff.export.export(ff.robots.make("quadruped"), folder, "inverse_dynamics,bias_forces", batch=True)
    assert made.functions == ("quadruped_inverse_dynamics", "quadruped_inverse_dynamics_batch", "quadruped_bias_forces")
    assert "no batch" in made.notes[0]
    assert undefined(folder / "objects" / "rnea_batch.o") <= ALLOWED
    table = run(program(folder, "main.c", "quadruped.c"), folder=folder)
    assert re.search(r"inverse_dynamics_batch +\S+  same to 1e-9, status 0", table)


@pytest.mark.slow
@needs_nm
def test_closed_robots(tmp_path):
    """Their functions take independent velocities; batches and single states alike."""
    folder, model = tmp_path / "c", ff.close_loops(ff.robots.make("kangaroo_like"))
    made = ff.export.export(model, folder, "all", batch=True, prefix="kangaroo")
    assert "#define KANGAROO_NV 18 " in (folder / "kangaroo.h").read_text()
    assert "#define KANGAROO_WHOLE_NV 82 " in (folder / "kangaroo.h").read_text()
    for path in (folder / "objects").glob("*.o"):
        assert undefined(path) <= ALLOWED, path.name
    table = run(program(folder, "main.c", "kangaroo.c"), folder=folder)
    single = [name for name in made.functions if not name.endswith("_batch")]
    assert table.count("same bits, status 0") == len(single) == 15, table
    assert table.count("same to 1e-9, status 0") == len(made.functions) - len(single), table
    refused(ff.UnknownNameError, "closed models", ff.export.export, model, tmp_path / "d", "coriolis_matrix")


STATUS = r"""
#include "quadruped.h"
#include <math.h>
#include <stdio.h>

int main(void)
{
    static double q[QUADRUPED_NQ], v[QUADRUPED_NV], tau[QUADRUPED_NV], X[16], scratch[1 << 20];
    int64_t refused = 0;
    double two[2 * QUADRUPED_NQ] = {0.0}, out[2 * QUADRUPED_NV] = {0.0};
    q[6] = two[6] = two[QUADRUPED_NQ + 6] = 1.0;
    printf("%d", (int)quadruped_inverse_dynamics(q, v, v, tau, scratch));
    v[3] = NAN;
    printf(" %d", (int)quadruped_inverse_dynamics(q, v, v, tau, scratch));
    v[3] = 0.0;
    q[6] = 1.1;
    printf(" %d", (int)quadruped_inverse_dynamics(q, v, v, tau, scratch));
    q[6] = 1.0;
    printf(" %d", (int)quadruped_inverse_dynamics(q, v, v, v, scratch));
    v[8] = 1e200;
    printf(" %d", (int)quadruped_inverse_dynamics(q, v, v, tau, scratch));
    v[8] = 0.0;
    printf(" %d", (int)quadruped_frame_pose(q, QUADRUPED_FRAMES - 1, X, scratch));
    printf(" %d", (int)quadruped_frame_pose(q, QUADRUPED_FRAMES, X, scratch));
    printf(" %d", (int)quadruped_frame_pose(q, -1, X, scratch));
    two[QUADRUPED_NQ + 6] = 2.0;
    printf(" %d", (int)quadruped_inverse_dynamics_batch(2, two, out, out, out, scratch, NULL));
    printf(" %d", (int)quadruped_inverse_dynamics_batch(0, two, out, out, tau, scratch, &refused));
    printf(" %d", (int)quadruped_inverse_dynamics_batch(2, two, (double[2 * QUADRUPED_NV]){0.0},
        (double[2 * QUADRUPED_NV]){0.0}, out, scratch, &refused));
    printf(" of state %d\n", (int)refused);
    return 0;
}
"""


def test_two_robots_and_other_constants(tmp_path):
    """Their kernels have the same names, as they are the same code."""
    for robot in ("quadruped", "chain"):
        ff.export.export(ff.robots.make(robot), tmp_path / robot, "mass_matrix", prefix=robot)
    (tmp_path / "two.c").write_text(
        '#include "quadruped.h"\n#include "chain.h"\nint main(void)\n{\n'
        "    static double q[QUADRUPED_NQ + CHAIN_NQ], M[QUADRUPED_NV * QUADRUPED_NV + CHAIN_NV * CHAIN_NV];\n"
        "    static double scratch[QUADRUPED_SCRATCH + CHAIN_SCRATCH];\n    q[6] = 1.0;\n"
        "    return (int)(quadruped_mass_matrix(q, M, scratch) + chain_mass_matrix(q + QUADRUPED_NQ, M, scratch));\n}\n"
    )
    libraries = ("-Iquadruped", "-Ichain", "two.c", "quadruped/libquadruped.a", "chain/libchain.a", "-lm", "-o", "two")
    run("cc", *STRICT, *libraries, folder=tmp_path)
    run(tmp_path / "two", folder=tmp_path)
    folder = tmp_path / "c"
    ff.export.export(ff.robots.make("quadruped"), folder, "mass_matrix,gravity_forces")
    text = (folder / "quadruped.c").read_text()
    assert text.count("0.0, 0.0, -9.81, 0.0") == 1
    (folder / "quadruped.c").write_text(text.replace("-9.81", "-9.80"))
    table = run(program(folder, "main.c", "quadruped.c"), folder=folder, status=1)
    assert re.search(r"gravity_forces +\S+  differs, status 0", table)
    assert re.search(r"mass_matrix +\S+  same bits, status 0", table)
    folder = tmp_path / "d"
    ff.export.export(ff.robots.make("quadruped"), folder, "inverse_dynamics,frame_pose", batch=True)
    (folder / "status.c").write_text(STATUS)
    found = run(program(folder, "status.c", "quadruped.c"), folder=folder)
    S = status
    expected = [S.OK, S.NOT_FINITE, S.NOT_UNIT, S.OVERLAP, S.REFUSED, S.OK, S.WRONG_OPTION, S.WRONG_OPTION]
    expected += [S.OVERLAP, S.OK, S.NOT_UNIT]
    assert found == f"{' '.join(map(str, expected))} of state 1\n"


PLANTED = {
    "nv": (r"(#define QUADRUPED_NV) \d+", r"\1 17", "quadruped.h", status.WRONG_SIZE),
    "nq": (r"(#define QUADRUPED_NQ) \d+", r"\1 20", "quadruped.h", status.WRONG_SIZE),
    "scratch": (r"(#define QUADRUPED_SCRATCH_\w+) \d+", r"\1 512", "quadruped.h", status.SHORT_SCRATCH),
    "topology": (r"(int64_t topology.*?\{\s*\d+, )\d+", r"\g<1>7", "quadruped.c", status.WRONG_SIZE),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_errors_of_sizes_are_seen(tmp_path, name):
    """A header or constants of another robot than the library's: a status, and no results."""
    pattern, replacement, file, expected = PLANTED[name]
    folder = tmp_path / "c"
    ff.export.export(ff.robots.make("quadruped"), folder, "mass_matrix")
    text = (folder / file).read_text()
    changed = re.sub(pattern, replacement, text, flags=re.DOTALL)
    assert changed != text
    (folder / file).write_text(changed)
    (folder / "planted.c").write_text(
        '#include "quadruped.h"\nint main(void)\n{\n    static double q[99] = {0, 0, 0, 0, 0, 0, 1}, M[9999], scratch[1 << 20];\n'
        "    return M[0] == 0.0 ? (int)quadruped_mass_matrix(q, M, scratch) : 99;\n}\n"
    )
    run(program(folder, "planted.c", "quadruped.c"), folder=folder, status=expected)


@pytest.mark.parametrize("cpu", ["x86-64-v2", "haswell"])
def test_other_cpus(tmp_path, cpu):
    from freeflyer.export.library import known_cpus

    if cpu not in known_cpus():
        pytest.skip(f"this machine's kind is not that of {cpu}")
    folder = tmp_path / "c"
    model = ff.robots.make("quadruped")
    made = ff.export.export(model, folder, "inverse_dynamics,mass_matrix", cpu=cpu)
    assert made.cpu == cpu
    if shutil.which("objdump"):
        code = run("objdump", "-d", *(folder / "objects").iterdir(), folder=folder)
        assert "zmm" not in code
        assert ("ymm" in code) == (cpu == "haswell")
    if cpu == "haswell" and "avx2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this machine cannot run code for haswell")
    main = folder / "main.c"
    main.write_text(main.read_text().replace("#define TOLERANCE 1e-9", "#define TOLERANCE 1e-12"))
    table = run(program(folder, "main.c", "quadruped.c"), folder=folder)
    assert table.count("  same") == 2, table
    assert "differs" not in table, table
