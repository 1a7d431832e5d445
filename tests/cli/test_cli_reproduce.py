"""`freeflyer reproduce`: tables to the terminal, pictures and numbers to a folder."""

from __future__ import annotations

import json

import numpy as np
import pytest
from command import run

from freeflyer import papers
from freeflyer.papers.linearization import cost, recursion


@pytest.fixture
def small(monkeypatch):
    """The same reproduction, on small chains."""
    monkeypatch.setattr(cost, "SIZES", (3, 5))
    monkeypatch.setattr(cost, "BLOCKS", 3)
    monkeypatch.setattr(cost, "BLOCK_SECONDS", 1e-3)
    monkeypatch.setattr(recursion, "SIZES", (2, 4, 6, 8))


def test_the_list():
    result = run("reproduce")
    assert result.exit_code == 0
    assert all(key in result.stdout for key in papers.names())


def test_linearization(small, tmp_path):
    folder = tmp_path / "new" / "folder"
    result = run("reproduce", "linearization", "-o", folder, "--json", tmp_path / "copy.json")
    assert result.exit_code == 0, result.output
    assert "Table 1" in result.stdout
    assert "Fig 5" in result.stdout
    assert "holds" in result.stdout
    assert "FAILS" not in result.stdout
    pictures = sorted(folder.glob("*.png"))
    assert len(pictures) == 4
    assert all(p.read_bytes().startswith(b"\x89PNG") and len(p.read_bytes()) > 10_000 for p in pictures)
    document = json.loads((folder / "linearization.json").read_text())
    assert document == json.loads((tmp_path / "copy.json").read_text())
    assert document["command"] == "reproduce linearization"
    data = document["data"]
    assert all(c["holds"] in (True, None) for c in data["checks"])
    assert np.argmin(data["differences"][0]["maximal"]) == data["differences"][0]["best"]


def test_json_on_stdout_is_all_of_stdout(tmp_path, monkeypatch):
    said = []
    tiny = papers.Reproduction(
        "tiny", "A paper", lambda progress: said.append(progress(0.0, "now")) or {"answer": 42},
        lambda result: [papers.Table("of answers", ("answer",), [(str(result["answer"]),)], note="that is all")], lambda result: {},
    )  # fmt: skip
    monkeypatch.setattr(papers, "reproduction", lambda key: tiny)
    result = run("reproduce", "tiny", "-o", tmp_path, "--json", "-")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["data"] == {"answer": 42}
    assert "42" in result.stderr
    assert "that is all" in result.stderr
    assert said == [None]


def test_unknown_papers_and_folders_that_cannot_be(tmp_path):
    result = run("reproduce", "linearisation", "-o", tmp_path / "never")
    assert result.exit_code == 2
    assert "Did you mean 'linearization'" in result.stderr
    assert not (tmp_path / "never").exists()
    (tmp_path / "taken").write_text("a file")
    for folder in (tmp_path / "taken", tmp_path / "taken" / "below"):
        result = run("reproduce", "linearization", "-o", folder)
        assert result.exit_code == 2
        assert result.stderr.startswith("error: ")
        assert "Traceback" not in result.output
    assert (tmp_path / "taken").read_text() == "a file"
