"""A humanoid squats in MuJoCo under whole-body control; squat.png shows it with the forces under its feet.

python examples/squat.py [seconds]
"""

import sys
from pathlib import Path

import freeflyer as ff
from freeflyer.plots.files import save_png
from freeflyer.plots.film import film_strip

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 4.0
result = ff.control.run_scenario("squat", "humanoid", duration=seconds)
cycle = sorted(result.solve_times)[len(result.solve_times) // 2]
print(f"{result.statuses}, fell: {result.fell}, a control cycle {1e6 * cycle:.0f} us")
for task, error in result.largest_errors().items():
    print(f"{task}: off by at most {error.m:.4f} m, {error.rad:.4f} rad")
save_png(film_strip(result.stance.model, result.run, count=5, feet=result.stance.feet), Path("squat.png"))
print("wrote squat.png")
