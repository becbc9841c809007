"""The page about a run is one file that runs nothing, fetches nothing and says what there is."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import trace_events as events
from conftest import run_command

import greedystep
from greedystep import report
from greedystep.plot_columns import of_trace
from greedystep.plot_evaluation import evaluated
from greedystep.report_page import page_of
from greedystep.report_text import number, seconds, size

RUNS = {
    "two classes": events.two_classes(),
    "two classes, no probabilities": events.two_classes(probabilities=False),
    "rows that were learned": events.two_classes(rows="training"),
    "five classes": events.many_classes(5),
    "thirty classes": events.many_classes(30),
    "numbers": events.regression(),
    "just begun": [events.start()],
    "cut short": events.learning()[:8],
    "failed": [events.start(), events.end(status="failed", message="bad.csv:3: <b>no</b>")],
    "stopped": [*events.learning(), events.model(["a", "b"]), events.end(status="stopped")],
    "from a pipe": [*events.learning(), events.model(["a", "b"]), events.end()],
    "twelve rows": [events.start(), events.progress(10), events.passed(10, 1), events.end()],
}


class Look(HTMLParser):
    """What a page has in it."""

    VOID = frozenset({"meta", "br", "path", "use", "rect", "circle", "line"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == [], self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        if tag in self.VOID:
            return
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.mark.parametrize("name", RUNS)
def test_the_page_is_whole_runs_nothing_and_fetches_nothing(name: str) -> None:
    html = page_of(RUNS[name])
    look = Look(html)
    assert not {"script", "link", "img", "iframe", "object", "image", "foreignobject", "a"} & set(look.tags)
    assert not [a for a, _value in look.attributes if a.startswith("on") or a in ("src", "srcset", "xlink:href")]
    assert all(value.startswith("#") for a, value in look.attributes if a == "href")
    assert "http:" not in html and "https:" not in html and "@import" not in html
    assert re.findall(r"url\((?!#)", html) == []


@pytest.mark.parametrize("name", RUNS)
def test_parts_of_pictures_have_names_of_their_own(name: str) -> None:
    html = page_of(RUNS[name])
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    used = re.findall(r"url\(#([^)]+)\)", html) + re.findall(r'href="#([^"]+)"', html)
    assert set(used) <= set(ids)


def test_names_with_markup_are_shown_and_inert() -> None:
    html = page_of(events.two_classes())
    assert "<script" not in html
    assert html.count("&lt;script&gt;alert(") >= 4  # class, table of features, caption, pictures


def test_the_page_has_what_the_run_has() -> None:
    words = " ".join(Look(page_of(events.two_classes())).words)
    for expected in (
        ["greedystep", "train", "'a", "file.csv'"][0],
        "'a file.csv'",
        "done",
        "ROC, test rows",
        "AUC 0.8400",
        "Calibration, test rows",
        "Confusion matrix, test rows",
        "Strongest features",
        "comma-separated",
        "20 MB",
        "reading and training",
        "greedystep 0.1.0",
    ):
        assert expected in words, expected


def test_what_was_learned_is_called_so() -> None:
    html = page_of(events.two_classes(rows="training"))
    assert "ROC, training rows" in html and "--test" in html
    assert "ROC, test rows" not in html


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("numbers", ["Residuals", "Prediction and truth", "root mean squared error"]),
        ("thirty classes", ["Classes most missed", "Calibration"]),
        ("five classes", ["Confusion matrix"]),
        ("just begun", ["no end: still running, or killed"]),
        ("cut short", ["no end: still running, or killed", "has not come to its evaluation"]),
        ("stopped", ["can be resumed", "A run that was stopped is not evaluated", "Strongest features"]),
        ("from a pipe", ["could be read only once"]),
        ("failed", ["failed before its evaluation", "bad.csv:3: &lt;b&gt;no"]),
        ("twelve rows", ["too few rows for pictures"]),
    ],
)
def test_each_kind_of_run_has_its_own_page(name: str, expected: list[str]) -> None:
    html = page_of(RUNS[name])
    assert [text for text in expected if text not in html] == []


def cards_of(html: str) -> list[tuple[str, str]]:
    return re.findall(r'<div class="card"><b>([^<]*)</b><span>([^<]*)</span>', html)


def test_figures_of_rows_that_the_model_was_not_trained_on_come_first() -> None:
    chosen = {"C": 0.25, "standardised": True, "penalties_tried": 12}
    results = {"baseline_loss": 0.69, "accuracy": 0.8, "auc": 0.9, "chosen": chosen}
    solved = [*events.two_classes(rows="training")[:-1], events.end(held_out=4096, passes=1, **results)]
    html = page_of(solved)
    assert cards_of(html)[:4] == [
        ("0.45", "log loss, cross-validated (baseline 0.69)"),
        ("0.8", "accuracy, cross-validated"),
        ("0.9", "AUC, cross-validated"),
        ("4,096", "rows"),
    ]
    assert ("0.25", "penalty (C of scikit-learn)") in cards_of(html)
    assert not [name for _value, name in cards_of(html) if "training" in name]
    assert "<th>features standardised</th><td>yes</td>" in html
    of_numbers = [*events.regression()[:-1], events.end(loss="squared", held_out_loss=0.02, r2=0.5)]
    assert cards_of(page_of(of_numbers))[:2] == [
        ("0.2", "root mean squared error, held-out rows"),
        ("0.5", "R², held-out rows"),
    ]
    assert cards_of(page_of(events.two_classes()))[0] == ("0.4", "log loss, test rows")


@pytest.mark.parametrize("name", RUNS)
def test_pictures_come_before_tables(name: str) -> None:
    html = re.sub("<details>.*?</details>", "", page_of(RUNS[name]))  # closed until it is clicked
    tags = [tag for tag in Look(html).tags if tag in ("svg", "table")]
    assert tags == sorted(tags)


def test_equal_traces_give_equal_pages() -> None:
    assert page_of(events.two_classes()) == page_of(events.two_classes())


def test_colours_follow_the_scheme_of_the_page() -> None:
    html = page_of(events.two_classes())
    drawn = html[html.index("<svg") :]
    assert re.findall(r"#[0-9a-f]{6}", drawn) == []
    assert "prefers-color-scheme: dark" in html


def test_numbers_are_for_people() -> None:
    assert [number(n) for n in (None, float("nan"), 3.0, 12345, 0.123456, 2345.6)] == [
        "undefined", "undefined", "3", "12,345", "0.1235", "2,346",
    ]  # fmt: skip
    assert [seconds(s) for s in (0.0123, 0.5, 59.4, 200, 7500)] == [
        "12 ms",
        "0.5 s",
        "59.4 s",
        "3 min 20 s",
        "2 h 5 min",
    ]
    assert [size(n) for n in (12, 1234, 5.6e6)] == ["12 bytes", "1.23 kB", "5.6 MB"]


# ---- the command ----------------------------------------------------------------------------------------------------


def test_the_command_writes_beside_the_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = events.write(tmp_path / "run.jsonl", events.two_classes())
    assert report.main([str(path)]) == 0
    assert (tmp_path / "run.html").read_text(encoding="utf-8") == page_of(path)
    assert capsys.readouterr().out == f"{tmp_path / 'run.html'}\n"
    assert sorted(os.listdir(tmp_path)) == ["run.html", "run.jsonl"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["missing.jsonl"], 1, "cannot read missing.jsonl"),
        (["run.jsonl", "run.jsonl"], 2, "one run"),
        (["run.jsonl", "-o", "run.jsonl"], 2, "the trace itself"),
        (["run.jsonl", "-o", "missing/run.html"], 1, "cannot write missing/run.html"),
        (["other.csv"], 1, "--trace"),
    ],
)
def test_what_cannot_be_done_is_said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    events.write(tmp_path / "run.jsonl", events.two_classes())
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    before = (tmp_path / "run.jsonl").read_bytes()
    assert report.main(arguments) == code
    assert message in capsys.readouterr().err
    assert sorted(os.listdir(tmp_path)) == ["other.csv", "run.jsonl"]
    assert (tmp_path / "run.jsonl").read_bytes() == before


def test_a_page_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "run.html"
    target.write_text("old")

    def fail(*_arguments: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no room"):
        report.write_report(events.two_classes(), target)
    assert os.listdir(tmp_path) == ["run.html"] and target.read_text() == "old"


@pytest.mark.skipif(shutil.which("greedystep") is None, reason="the command is not on the PATH")
@pytest.mark.parametrize("classes", [1, 2, 4, 30])
def test_a_trace_of_the_command_becomes_a_page(tmp_path: Path, classes: int) -> None:
    def run(*words: object) -> None:
        subprocess.run(["greedystep", *map(str, words)], check=True, cwd=tmp_path, capture_output=True)

    run("generate", "--rows", 3000, "--features", 60, "--nnz", 6, "--classes", classes, "-o", "all.svm")
    run("train", "all.svm", "-o", "m", "--passes", 2, "--trace", "run.jsonl", "--quiet")
    html = page_of(tmp_path / "run.jsonl")
    Look(html)
    assert "training rows" in html and "Strongest features" in html
    wanted = {1: "Residuals", 2: "ROC", 4: "Confusion matrix", 30: "Classes most missed"}
    assert wanted[classes] in html


@pytest.mark.skipif(shutil.which("greedystep") is None, reason="the command is not on the PATH")
def test_the_page_of_a_solved_run_begins_with_cross_validation(tmp_path: Path) -> None:
    def run(*words: object) -> None:
        subprocess.run(["greedystep", *map(str, words)], check=True, cwd=tmp_path, capture_output=True)

    run("generate", "--rows", 2000, "--features", 20, "--nnz", 6, "--classes", 2, "-o", "all.svm")
    run("train", "all.svm", "-o", "m", "--trace", "run.jsonl", "--quiet")
    html = page_of(tmp_path / "run.jsonl")
    names = [name for _value, name in cards_of(html)]
    assert [name.partition(" (")[0] for name in names[:4]] == [
        "log loss, cross-validated",
        "accuracy, cross-validated",
        "AUC, cross-validated",
        "rows",
    ]
    assert "penalty (C of scikit-learn)" in names and "Chosen in training" in html


def test_the_page_says_in_plain_words_how_many_features_the_model_uses() -> None:
    words = " ".join(Look(page_of(RUNS["two classes"])).words)
    assert "features that the model uses" in words and "with a weight" not in words


# ---- columns --------------------------------------------------------------------------------------------------------


def curved(folder: Path, *options: str) -> Path:
    """Train a model with curves, `a` the strongest, and return its trace."""
    random = np.random.default_rng(6)
    rows = random.normal(size=(4000, 3)).round(3)
    word = random.choice(["odd", "even"], 4000)
    y = 3 * abs(rows[:, 0]) + abs(rows[:, 1]) + (word == "odd") + random.normal(size=4000) / 4
    if options:
        y = np.digitize(y, [2.5, 4])
    lines = [f"{y[i]},{rows[i, 0]},{rows[i, 1]},{rows[i, 2] + 70000},{word[i]}" for i in range(4000)]
    for name, part in (("rows", lines[:3000]), ("test", lines[3000:])):
        (folder / f"{name}.csv").write_text("\n".join(["y,a,<b>,far,word", *part, ""]))
    files = (
        folder / "rows.csv",
        "--test",
        folder / "test.csv",
        "-o",
        folder / "model",
        "--trace",
        folder / "run.jsonl",
    )
    run_command("train", *files, "--label", "y", "--curves", "auto", "--quiet")
    return folder / "run.jsonl"


@pytest.mark.parametrize("options", [(), ("classes",)], ids=["number", "classes"])
def test_columns_that_bend_have_a_picture_and_all_columns_a_share(tmp_path: Path, options: tuple[str, ...]) -> None:
    pd = pytest.importorskip("pandas")
    path = curved(tmp_path, *options)
    trace, model = evaluated(str(path)), greedystep.load(tmp_path / "model")
    found = of_trace(trace)
    assert [one["name"] for one in found[:2]] == ["a", "<b>"]
    assert {one["name"] for one in found} == {one.name for one in model.curves()}
    test = pd.read_csv(tmp_path / "test.csv").drop(columns="y")
    explained = model.explain(test)
    values = explained.values.reshape(len(test), 4, -1)
    off = values - values.mean(axis=0)
    margin = off.sum(axis=1)
    expected = np.einsum("rjk,rk->j", off, margin) / (margin**2).sum()
    shares = {one["column"]: one["share"] for one in trace.evaluation()["columns"]}
    assert shares == pytest.approx(dict(zip(explained.feature_names, expected)), abs=1e-6)
    assert sum(shares.values()) == pytest.approx(1)
    for one in found:
        assert one["part"] == shares[one["name"]]
        assert sum(one["share"]) == len(test)
        low, high = np.quantile(test[one["name"]], [0.005, 0.995])
        assert one["range"] == pytest.approx([low, high], rel=0.01, abs=0.01)
    html = page_of(str(path))
    look = Look(html)
    words = " ".join(look.words)
    assert f"a, {100 * shares['a']:.0f} %" in words and "<b>," in words
    assert html.count('role="img"') >= len(found)
    assert "the shares of 4 columns" in words and "variance of the margins of the test rows" in words
    assert ("Classes: 0 blue" in words) == bool(options)
    assert 'aria-label="&lt;b&gt;"' in html and "nan" not in words.split()


def test_curves_are_shown_without_the_rows(tmp_path: Path) -> None:
    path = curved(tmp_path)
    for name in ("rows.csv", "test.csv"):
        (tmp_path / name).unlink()
    html = page_of(str(path))
    assert "A line shows what a column adds" in html and "variance of the margins" not in html
    assert 'aria-label="a"' in html


def test_models_of_lines_have_shares_and_no_pictures_of_columns(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(
        "y,a,w\n" + "".join(f"{i % 50 + i % 2},{i % 50},{'xz'[i % 2]}\n" for i in range(500))
    )
    files = (tmp_path / "rows.csv", "-o", tmp_path / "model", "--trace", tmp_path / "run.jsonl")
    run_command("train", *files, "--label", "y", "--quiet")
    html = page_of(str(tmp_path / "run.jsonl"))
    assert "the shares of 2 columns" in html and "A line shows" not in html
