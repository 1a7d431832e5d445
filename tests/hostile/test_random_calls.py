"""Random hostile calls (see random_calls.py) end in errors that name the argument, or in results.

FREEFLYER_HOSTILE_CALLS=5000 makes so many of them; `python tests/hostile/random_calls.py 5000` does it with counts.
"""

import os

from random_calls import attack
from seeds import fresh

COUNT = int(os.environ.get("FREEFLYER_HOSTILE_CALLS", "400"))


def test_each_call_ends_in_an_error_of_ours_or_in_a_result():
    ends, leaks = attack(COUNT, fresh("hostile calls"))
    assert not leaks, "\n".join(leaks)
    assert ends["refused"] > 0.5 * COUNT  # values are hostile indeed
