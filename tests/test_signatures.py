"""Rules that the signatures of all public functions keep: one word for one thing, options by keyword."""

import inspect
from freeflyer.progress import no_progress
from public_names import public_functions

BY_KEYWORD = {"atol", "constraints", "count", "events", "external", "frames", "gravity", "limits", "loops", "on_failure",
              "out", "progress", "redundant", "restitution", "rtol", "seed", "sensing", "solver", "start", "strict",
              "tolerance", "warm"}  # fmt: skip
ARGUMENT_ITSELF = {("load", "gravity"), ("load", "loops"), ("with_gravity", "gravity")}  # what the function is about
OTHER_WORDS = {  # the word for it
    "step": "dt", "h": "dt", "timestep": "dt", "time_step": "dt", "configuration_": "q", "qd": "v", "dq": "v", "ddq": "a",
    "frame_name": "frame", "verbose": "progress", "random_state": "seed", "tol": "tolerance", "robot_model": "model",
}  # fmt: skip
OF_OTHER_LIBRARIES = {"mj_model", "pin_model"}  # imported only where they are used
ANY_INPUT = {"inputs", "targets"}  # a function, or an object with a method


PARAMETERS = {  # of robots: spatial mathematics has letters of its own
    name: inspect.signature(found).parameters for name, found in public_functions().items() if not name.startswith("spatial.")
}


def test_every_signature():
    wrong = []
    for name, parameters in PARAMETERS.items():
        short = name.rpartition(".")[2]
        for p in parameters.values():
            said = f"{name}({p.name})"
            by_keyword = p.name in BY_KEYWORD and p.default is not p.empty and (short, p.name) not in ARGUMENT_ITSELF
            wrong += [f"{said}: by keyword only"] * (by_keyword and p.kind is not p.KEYWORD_ONLY)
            wrong += [f"{said}: the word is {OTHER_WORDS.get(p.name)}"] * (p.name in OTHER_WORDS)
            wrong += [f"{said}: no type"] * (p.annotation is p.empty)
            wrong += [f"{said}: Any"] * (p.annotation == "Any" and p.name not in OF_OTHER_LIBRARIES | ANY_INPUT)
            if p.name == "progress":
                wrong += [f"{said}: no Progress"] * (p.annotation != "Progress" or p.default is not no_progress)
        if "external" in parameters and name != "sim.replay":  # a run has the expression among its settings
            wrong += [f"{name}: external without expressed"] * ("expressed" not in parameters)
    assert not wrong, "\n".join(wrong)
