"""`freeflyer reproduce`, `freeflyer hop` and `freeflyer estimate`; every key leads to a reproduction."""

import freeflyer as ff
import freeflyer_papers as papers
import inspect
import json
import numpy as np
import pytest
import re
from closeness import refused
from command import json_of, printed, refusal, run, run_json
from freeflyer.cli import output
from freeflyer.plots.style import new_figure
from freeflyer.tables import Table
from freeflyer_papers import page
from freeflyer_papers.estimation import estimators
from freeflyer_papers.registry import MODULES, Reproduction
from outline import Outline


@pytest.mark.papers
def test_the_list_and_unknown_papers(tmp_path, monkeypatch):
    shown = printed("reproduce")
    assert list(papers.names()) == sorted(MODULES)
    assert all(key in shown for key in MODULES)
    assert "Did you mean 'linearization'" in refusal("reproduce", "linearisation", "-o", tmp_path / "never")
    assert not (tmp_path / "never").exists()
    (tmp_path / "taken").write_text("a file")
    for folder in (tmp_path / "taken", tmp_path / "taken" / "below"):
        assert refusal("reproduce", "linearization", "-o", folder).startswith("error: ")
    assert (tmp_path / "taken").read_text() == "a file"
    two_papers(monkeypatch)
    heard = []
    done = list(page.outcomes(lambda fraction, what: heard.append((fraction, what))))
    assert heard == [(0.5, "1 of 2, fails: half way"), (1.0, "2 of 2, works: all of it")]
    assert [bool(x.failure) for x in done] == [True, False]


@pytest.mark.papers
@pytest.mark.parametrize("key", papers.names())
def test_every_key_leads_to_a_reproduction(key):
    paper = papers.reproduction(key)
    assert paper.key == key
    assert len(paper.paper) > 20
    assert list(inspect.signature(paper.compute).parameters)[1:] == list(paper.options)


@pytest.mark.papers
@pytest.mark.parametrize("key", ["linearisation", "", None, 3, ["linearization"]])
def test_unknown_keys_come_with_what_exists(key):
    refused(ff.UnknownNameError, "linearization", papers.reproduction, key)


@pytest.mark.papers
def test_json_on_stdout_is_all_of_stdout(tmp_path, monkeypatch):
    two_papers(monkeypatch)
    monkeypatch.setattr(papers, "reproduction", page.reproduction)
    folder = tmp_path / "new" / "folder"
    result = run("reproduce", "works", "-o", folder, "--json", "-")
    assert (result.exit_code, json.loads(result.stdout)["data"]) == (0, {"answer": 42})
    assert json.loads((folder / "works.json").read_text()) == json.loads(result.stdout)
    assert [path.name for path in sorted(folder.glob("*.png"))] == ["works_fig1.png"]
    assert "42" in result.stderr
    assert "It differs by 1." in result.stderr


def two_papers(monkeypatch):
    """A paper that works and one that fails, in place of the registry."""
    figure = new_figure(2.0, 2.0)[0]

    def work(progress):
        progress(1.0, "all of it")
        return {"answer": 42}

    works = Reproduction("works", "A paper <that> works", work,
        lambda result: [Table("answers & more", ("paper",), [(f"{result['answer']}",)], note="It differs by 1.")],
        lambda result: {"fig1": figure}, captions={"fig1": "Fig 1: an empty plane."})  # fmt: skip

    def compute(progress):
        progress(0.5, "half way")
        raise ValueError("no <root> was found")

    fails = Reproduction("fails", "A paper that fails", compute, lambda result: [], lambda result: {})
    monkeypatch.setattr(page, "names", lambda: ("fails", "works"))
    monkeypatch.setattr(page, "reproduction", {"fails": fails, "works": works}.__getitem__)


@pytest.mark.papers
def test_all_of_them(tmp_path, monkeypatch):
    two_papers(monkeypatch)
    result = run("reproduce", "--all", "-o", tmp_path, "--json", tmp_path / "all.json")
    assert result.exit_code == 1, "one failed"
    assert "ValueError: no <root> was found" in result.stdout
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert Outline(page).tags.count("img") == 1
    for text in ("A paper &lt;that&gt; works", "answers &amp; more", "It differs by 1.", "Fig 1: an empty plane.",
                 "1 table, 1 picture", "ValueError: no &lt;root&gt; was found", "data:image/png;base64,"):  # fmt: skip
        assert text in page, text
    document = json.loads((tmp_path / "works.json").read_text())
    assert (document["command"], document["data"]) == ("reproduce works", {"answer": 42})
    assert (tmp_path / "works_fig1.png").read_bytes().startswith(b"\x89PNG")
    assert not (tmp_path / "fails.json").exists()
    data = json.loads((tmp_path / "all.json").read_text())["data"]
    assert data == {"fails": {"failure": "ValueError: no <root> was found"}, "works": {"answer": 42}}
    for options in (("linearization",), ("--robot", "x.urdf"), ("--peer", "y.urdf")):
        assert "--all takes every paper as it is" in refusal("reproduce", "--all", *options, "-o", tmp_path / "never")
    assert not (tmp_path / "never").exists()


@pytest.mark.slow
def test_an_experiment_with_pictures(tmp_path):
    data = json_of("hop", "prismatic-III", "--duration", 0.6, "-o", tmp_path / "hop")
    assert data["events"]["touch-down"] >= 1
    assert data["time"] == pytest.approx(0.6)
    drawn = {path.suffix for path in (tmp_path / "hop").iterdir()}
    assert ".png" in drawn


def test_without_an_experiment_they_are_listed():
    shown = printed("hop")
    assert "prismatic-I" in shown
    assert "revolute-VI" in shown


def test_encoders_and_feet(models_folder):
    arguments = [x for joint in ("left_knee", "right_knee") for x in ("--encoder", joint)]
    result = run("estimate", "kangaroo_like", "--duration", 1.5, "--starts", 3, *arguments)  # refused behind the first table
    assert result.exit_code == 2
    assert re.search("do not determine the positions.*left_yaw_motor", " ".join(result.stderr.split()))
    folder = models_folder / "five_bar"
    file = "estimate", folder / "robot.urdf", "--loops", folder / "robot.yaml", "--base", "fixed"
    result, data = run_json(*file, "--duration", 1.5, "--starts", 2)
    assert set(data) == {"tracking", "calibration"}
    assert "off by at most (m or rad)" in result.stderr  # its motors turn
    data = json_of("estimate", "kangaroo_like", "--duration", 1.5, "--starts", 0)
    rows = data["tracking"]
    assert list(data) == ["tracking"]
    assert [(r["encoders"], r["alpha"]) for r in rows][::2] == [("ideal", 1.0), ("quantised", 1.0), ("noisy, quantised", 1.0)]
    at = {(r["encoders"], r["alpha"]): r for r in rows}
    assert at["ideal", 1000.0]["passive_rms"] < 1e-5 < at["noisy, quantised", 1000.0]["passive_rms"] < 2e-3
    assert at["ideal", 1000.0]["closure"] < at["ideal", 1.0]["closure"]


@pytest.mark.slow
def test_everything_and_its_pictures(tmp_path, monkeypatch):
    monkeypatch.setattr(estimators, "BLOCKS", 1)
    result, data = run_json("estimate", "kangaroo_like", "--duration", 1.5, "--starts", 5, "--bench", "--swing",
                            "--frequency", 0.5, "--amplitude", 0.03, "-o", tmp_path / "pictures")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert data["calibration"]["right"] == data["calibration"]["starts"] == 5
    assert len(data["calibration"]["encoders"]) == 12
    assert 0.0 < data["times"]["step"] < data["times"]["state_and_torques"]
    assert 0.0 < data["times"]["contact_wrenches"] < data["times"]["contacts"]
    lines = {x["source"]: x for x in data["swing"]["lines"]}
    for source in ("motors", "balanced", "moving"):
        assert lines[source]["weight_error"] < 0.02
        assert lines[source]["inside"] > 0.0
    assert lines["moving"]["zmp"][0][1] < lines["balanced"]["zmp"][0][1]
    drawn = {p.name for p in (tmp_path / "pictures").iterdir()}
    names = ("tracking", "calibration", "swing_stances", "swing_forces", "swing_balance")
    assert drawn == {f"{n}.{kind}" for n in names for kind in ("png", "svg")}


def test_slow_work_says_in_a_pipe_how_far_it_is(monkeypatch, capsys):
    monkeypatch.setattr(output, "QUIET", 0.0)
    with output.status() as progress:
        progress(np.float64(0.25), "hopping")
    assert "hopping: 25%" in capsys.readouterr().err
