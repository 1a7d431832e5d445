"""What the viewer shows of every robot file of some folders, and how fast it is.

    python -m benchmarks.viewing FOLDER ...          a table of robots: shapes, notes, times
    python -m benchmarks.viewing --times KANGAROO.xml TALOS.urdf    a slider's event, playback, the first view in Chromium
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import freeflyer as ff
from freeflyer.model.visuals.reading import visuals
from freeflyer.tables import Table
from freeflyer.text import number

HEADS = ("robot", "links", "shapes of the file", "of inertias", "triangles", "loops", "notes", "read s", "picture s", "page s",
         "why not")  # fmt: skip
SECONDS, RATE = 20.0, 60.0


def files(folders: list[str]) -> list[Path]:
    """Robot files below folders, sorted."""
    found = (p for folder in folders for kind in ("*.urdf", "*.xml") for p in Path(folder).rglob(kind))
    return sorted(p for p in found if p.suffix == ".urdf" or "<mujoco" in p.read_text(errors="replace")[:4000])


def timed(function: Any, *arguments: Any, **options: Any) -> tuple[Any, float]:
    begin = time.perf_counter()
    return function(*arguments, **options), time.perf_counter() - begin


def show(path: Path) -> tuple[str, ...]:
    """A row of the table: the robot is read, drawn, and served once."""
    name = f"{path.parent.name}/{path.name}"
    try:
        model, loops = ff.load(path), "-"
    except ff.FreeflyerError as error:
        return (name, *[""] * 9, str(error)[:110])
    if model.loops:
        try:
            model, loops = ff.close_loops(model), f"{len(model.loops)} closed"
        except ff.FreeflyerError:
            loops = f"{len(model.loops)} open"
    found, reading = timed(visuals, model)
    image, drawing = timed(ff.viewer.picture, model, width=480, height=480)
    page, serving = timed(ff.viewer.show, model, browser=False)
    page.close()
    seen = bool((image != image[0, 0]).any())
    origins = [s.origin for s in found.shapes]
    return (name, str(len(model.link_names)), str(origins.count("file")), str(origins.count("inertia")),
            str(sum(len(s.mesh.faces) for s in found.shapes)), loops, str(len(found.notes)),
            *(number(x, 2) for x in (reading, drawing, serving)), "" if seen else "the picture is empty")  # fmt: skip


def slider_times(path: str) -> list[tuple[float, float]]:
    """(seconds, seconds of the processor) from the event of a motor's slider to the message with the new poses, 300 times."""
    page = ff.viewer.show(ff.close_loops(ff.load(path)), browser=False)
    found = []
    for value in 0.045 - 0.045 * np.cos(np.linspace(0.0, 6.0 * np.pi, 300)):
        begin = time.thread_time()
        _, taken = timed(page.move, "leg_left_length_motor", value)
        found.append((taken, time.thread_time() - begin))
    page.close()
    return found[1:]


def playback(path: str) -> tuple[float, int, int]:
    """(seconds that 20 s of Kangaroo take, frames sent, frames)."""
    model = ff.close_loops(ff.load(path))
    t = np.arange(0.0, SECONDS, 1e-3)
    page = ff.viewer.show(model, browser=False)
    strokes = np.linspace(0.0, 0.09, 100)
    postures = [page.q for x in strokes if page.move("leg_left_length_motor", x) == ""]
    page.close()
    q = np.array(postures)[np.abs(99.0 * np.sin(t)).astype(int)]
    run = ff.sim.Run(t, q, np.zeros((len(t), model.nv)), np.zeros((len(t), model.nv)), robot=model.name, model=model,
                     digest=ff.sim.simulate(model, q[0], np.zeros(model.nv), dt=1e-3, duration=1e-3).digest)  # fmt: skip
    player = ff.viewer.play(run, browser=False)
    before, begin = player.sent, time.perf_counter()
    player.play()
    while player.playing:
        time.sleep(0.005)
    took, sent = time.perf_counter() - begin, player.sent - before
    player.close()
    return took, sent, player.frames


def processor_time(group: int) -> float:
    """Seconds of this process and of the living ones of a process group (Linux)."""
    total, tick = time.process_time(), os.sysconf("SC_CLK_TCK")
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[2]) == group:
                total += (int(fields[11]) + int(fields[12])) / tick
    return total


def first_view(path: str) -> tuple[float, float, float]:
    """Seconds from reading the file to the served page, to the robot in Chromium, which runs already, and of all processors."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "viewer"))
    from chromium import Page

    browser = Page()
    try:
        begin, used = time.perf_counter(), processor_time(browser.process.pid)
        page = ff.viewer.show(ff.load(path), browser=False)
        served = time.perf_counter() - begin
        browser.open(page.url)
        browser.wait(lambda: (browser.picture()[160:, :600].astype(int).min(axis=2) < 150).sum() > 2000)  # dark parts of TALOS
        seen, used = time.perf_counter() - begin, processor_time(browser.process.pid) - used
        page.close()
    finally:
        browser.close()
    return served, seen, used


def main(words: list[str]) -> None:
    """Prints the tables."""
    warnings.simplefilter("ignore")
    if words[:1] == ["--times"]:
        slider = 1e3 * np.array(slider_times(words[1]))
        for what, x in zip(("elapsed", "of the processor"), slider.T):
            print(f"slider of a motor of Kangaroo: median {np.median(x):.2f} ms, 99 % below {np.percentile(x, 99):.2f} ms {what}")
        took, sent, frames = playback(words[1])
        print(f"playback of {SECONDS:g} s at {RATE:g} frames a second: {took:.2f} s, {sent} of {frames} frames sent")
        served, seen, used = first_view(words[2])
        print(f"first view of TALOS: served after {served:.2f} s, seen after {seen:.2f} s, {used:.2f} s of processors")
        return
    rows = [show(path) for path in files(words)]
    table = Table("robots on the screen", HEADS, rows)
    print("| " + " | ".join(table.columns) + " |\n|" + "---|" * len(HEADS))
    for row in rows:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])
