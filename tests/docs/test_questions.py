"""Each of the ten questions of docs/questions.md leads to a section whose words answer it, and names files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from page_blocks import DOCS

ROOT = Path(__file__).parents[2]
TEXT = (DOCS / "questions.md").read_text()
PARTS = re.split(r"^\*\*(.*\?)\*\*$", TEXT, flags=re.MULTILINE)[1:]
QUESTIONS = dict(zip(PARTS[::2], PARTS[1::2]))
ANSWERS = {  # what stands in the section that a question leads to
    "Where is the mass matrix computed?": "src/freeflyer/kernels/tree/mass_matrix.py",
    "What is the sign of a contact force?": "act on the robot",
    "How do I add a joint kind?": "src/freeflyer/model/placements.py",
    "Which function gives the motor force for an ankle torque?": "linkages.transmission(model, q, ankle, motors)",
    "How do I run a thousand states at once?": "ff.inverse_dynamics(model, Q, V, A)",
    "How do I get from MuJoCo's qpos to q?": "ff.from_mujoco(model, data.qpos",
    "How do I write a task?": "def jacobian(self, model",
    "What do I install on the robot?": "Only the library",
    "Why is my posture refused as singular?": "a dead point",
    "Which equation of which paper is this?": "RBDA table 6.2",
}


def slug(heading: str) -> str:
    """The anchor that Python-Markdown makes of a heading."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading.lower())).strip("-")


def section(page: Path, anchor: str) -> str:
    parts = re.split(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)[1:]
    found = {slug(heading): text for heading, text in zip(parts[::2], parts[1::2])}
    assert anchor in found, f"{page.name} has no section {anchor!r}: {', '.join(found)}"
    return found[anchor]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_leads_to_its_answer(question: str) -> None:
    links = re.findall(r"\]\(([^)#]+)#([^)]+)\)", QUESTIONS[question])
    assert len(links) == 1
    page, anchor = links[0]
    assert ANSWERS[question] in section(DOCS / page, anchor)


@pytest.mark.parametrize("page", ["questions.md", "extending.md", "theory/linearization.md"])
def test_files_named_exist(page: str) -> None:
    named = re.findall(r"`((?:src|tests)/[\w./]+|CONTRIBUTING\.md)`", (DOCS / page).read_text())
    assert named
    for path in named:
        assert (ROOT / path).exists(), path
