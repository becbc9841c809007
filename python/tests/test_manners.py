"""How the package speaks: keywords, names, messages, progress."""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import planted, run_command

import greedystep
from greedystep import GreedystepClassifier, GreedystepLinearSVC, GreedystepRegressor
from greedystep.distributed import Rows, begin, scan

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

ROOT = Path(__file__).parents[2]
ESTIMATORS = [GreedystepClassifier, GreedystepRegressor, GreedystepLinearSVC]


@pytest.fixture
def visits():
    """A frame of numbers, in which minutes decide."""
    random = np.random.default_rng(5)
    age, minutes = random.normal(50, 10, 300), random.normal(size=300)
    return pd.DataFrame({"age": age, "minutes": minutes, "came": (minutes + random.normal(size=300) > 0) * 1})


# ---- keywords and columns -----------------------------------------------------------------------


@pytest.mark.parametrize(("typed", "meant"), [("lable", "label"), ("pases", "passes"), ("ignored", "ignore")])
def test_train_suggests_the_keyword_that_was_meant(typed, meant, visits):
    with pytest.raises(TypeError, match=rf"train\(\) got an unexpected .*'{typed}'; did you mean '{meant}'\?"):
        greedystep.train(visits, **{typed: "came"})


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_estimators_suggest_the_keyword_that_was_meant(kind):
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'pases'.*[dD]id you mean 'passes'\?"):
        kind(pases=3)
    assert "passes" in inspect.signature(kind).parameters
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'zzz'$"):
        kind(zzz=3)


def test_models_suggest_the_keyword_that_was_meant(visits):
    model = greedystep.train(visits, label="came")
    for use, name, typed, near in (
        (model.predict, "predict", "n_job", "n_jobs"),
        (model.predict_proba, "predict_proba", "n_job", "n_jobs"),
        (model.decision_function, "decision_function", "ignored", "ignore"),
        (model.evaluate, "evaluate", "lable", "label"),
    ):
        with pytest.raises(TypeError, match=rf"Model\.{name}\(\) got .*'{typed}'; did you mean '{near}'\?"):
            use(visits, **{typed: 2})
        assert near in inspect.signature(use).parameters


def test_the_column_of_weights_that_was_meant_is_suggested(visits):
    with pytest.raises(ValueError, match=r"no column 'minuts' \(did you mean 'minutes'\?\); the columns are"):
        greedystep.train(visits[["age", "minutes"]], visits["came"], weight="minuts")


def test_engines_suggest_the_keyword_that_was_meant():
    X, y = planted(100, 5, 2)
    with pytest.raises(TypeError, match=r"begin\(\) got .* did you mean 'passes'\?"):
        begin([scan(Rows(X, y), 1)], pass_=3)


@pytest.mark.parametrize("form", ["frame", "file"])
def test_the_column_that_was_meant_is_suggested(form, visits, tmp_path):
    data = visits
    if form == "file":
        visits.to_csv(tmp_path / "visits.csv", index=False)
        data = tmp_path / "visits.csv"
    for keywords in ({"label": "cme"}, {"label": "came", "ignore": ["minuts"]}, {"label": "came", "weight": "agee"}):
        meant = {"cme": "came", "came": "minutes"}.get(next(iter(keywords.values())), "")
        meant = "age" if "weight" in keywords else meant
        with pytest.raises(ValueError, match=rf"no column '\w+' \(did you mean '{meant}'\?\); the columns are"):
            greedystep.train(data, **keywords)
    with pytest.raises(ValueError, match=r"no column 'q'; the columns are age, minutes, came"):
        greedystep.train(data, label="q")


def test_a_column_that_the_model_does_not_know_can_be_ignored_as_the_message_says(visits):
    model = greedystep.train(visits, label="came")
    more = visits.assign(id=1.0)
    with pytest.raises(ValueError, match=r"'id' that the model does not have; ignore it \(ignore=\.\.\.\)"):
        model.predict(more)
    assert np.array_equal(model.predict_proba(more, ignore=["id"]), model.predict_proba(visits))
    assert model.evaluate(more, label="came", ignore=["id"]) == model.evaluate(visits, label="came")


# ---- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [lambda frame: frame, pl.from_pandas], ids=["pandas", "polars"])
def test_features_of_a_frame_of_numbers_keep_their_names(form, visits, tmp_path):
    X, y = form(visits[["age", "minutes"]]), visits.came.to_numpy()
    fitted = GreedystepClassifier().fit(X, y)
    learned = GreedystepClassifier().partial_fit(X, y, classes=[0, 1])
    for model in (greedystep.train(X, y), fitted.model_, learned.model_):
        assert {one.name for one in model.strongest()} == {"age", "minutes"}
        model.save(tmp_path / "model")
        assert greedystep.load(tmp_path / "model").strongest() == model.strongest()
        told = json.loads(run_command("inspect", tmp_path / "model", "--json"))
        assert {one["name"] for one in told["top"]} == {"age", "minutes"}


def test_features_without_names_are_counted_from_1_as_inspect_counts(tmp_path):
    X, y = planted(300, 4, 2)
    for rows in (X, X.toarray(), pd.DataFrame(X.toarray())):
        model = greedystep.train(rows, y)
        assert {one.name for one in model.strongest()} == {"1", "2", "3", "4"}
    model.save(tmp_path / "model")
    told = json.loads(run_command("inspect", tmp_path / "model", "--json"))["top"]
    assert {str(one["index"]): one["weight"] for one in told} == pytest.approx(
        {one.name: one.weight for one in model.strongest()}
    )


def test_weights_of_models_and_estimators_are_drawn(visits):
    plot = pytest.importorskip("greedystep.plot")
    fitted = GreedystepClassifier().fit(visits[["age", "minutes"]], visits.came)
    for source in (fitted, fitted.model_, greedystep.train(visits, label="came")):
        drawn = plot.weights(source)
        assert {label.get_text() for label in drawn.get_yticklabels()} == {"age", "minutes"}


def test_only_what_is_public_is_listed():
    listed = [name for name in dir(greedystep) if not name.startswith("__")]
    assert set(greedystep.__all__) <= set(listed)
    assert not [name for name in listed if name.startswith("_")]
    assert set(listed) - set(greedystep.__all__) == {"callbacks", "distributed", "plot", "report", "spark"}
    assert greedystep.distributed.scan is scan


# ---- messages -----------------------------------------------------------------------------------


def texts_of_package():
    """Yield the texts of exceptions and warnings of the package."""
    for path in (ROOT / "python" / "greedystep").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            called = getattr(node, "func", None)
            name = getattr(called, "id", getattr(called, "attr", "")) if isinstance(node, ast.Call) else ""
            if name.endswith("Error") or name == "warn":
                for one in ast.walk(node):
                    if isinstance(one, ast.Constant) and isinstance(one.value, str):
                        yield f"{path.name}: {one.value}"


def texts_of_library():
    """Yield the texts of the library, but for those of includes and attributes."""
    for path in (ROOT / "src").rglob("*.c"):
        if path.parent.name not in ("baseline", "mpi"):
            for line in path.read_text().splitlines():
                if not line.lstrip().startswith(("#", "/*", "*", "_Static_assert", "GSAI_STATIC")):
                    yield from (f"{path.name}: {text}" for text in re.findall(r'"((?:[^"\\]|\\.)*)"', line))


def test_messages_name_neither_c_functions_nor_options_of_the_command():
    texts = [*texts_of_package(), *texts_of_library()]
    assert len(texts) > 100
    wrong = [text for text in texts if re.search(r"\bgsai?_\w+|(?<![\w-])--[a-z]", text.partition(": ")[2])]
    assert not [text for text in wrong if "train --trace" not in text]  # which makes the file that is drawn


# ---- progress -----------------------------------------------------------------------------------


def test_verbose_shows_a_bar_and_calls_the_callback_too(capsys):
    pytest.importorskip("tqdm")
    X, y = planted(300, 5, 2)
    told = []
    greedystep.train(X, y, passes=2, verbose=True, callback=told.append)
    assert "rows" in capsys.readouterr().err
    assert [event.passes for event in told if event.kind == "pass"] == [1, 2]
    fitted = GreedystepClassifier(passes=2, verbose=1).fit(X, y)
    assert "passes=2" in capsys.readouterr().err
    assert np.array_equal(fitted.coef_, GreedystepClassifier(passes=2).fit(X, y).coef_)
    assert capsys.readouterr().err == ""


def test_verbose_prints_lines_where_there_is_no_tqdm(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    X, y = planted(300, 5, 2)
    GreedystepRegressor(passes=2, verbose=True).fit(X, y)
    lines = [re.sub(r"[\d.]+", "#", line) for line in capsys.readouterr().err.splitlines()]
    # rows that waited to be solved were not predicted before they were learned
    assert lines == ["greedystep: # rows, passes #, # s", "greedystep: # rows, loss #, passes #, # s"]


# ---- numbers and names in words -----------------------------------------------------------------


def test_a_model_of_one_class_and_one_feature_is_shown_so():
    model = greedystep.train(np.ones((4, 1)), [0, 0, 0, 0])
    assert repr(model) == "<greedystep.Model: logistic, 1 class, 0 features>"  # none has a weight
    model = greedystep.train(np.array([[0.0], [1.0], [0.0], [1.0]]), [0.0, 1.0, 0.0, 1.5], loss="squared")
    assert repr(model) == "<greedystep.Model: squared, numbers, 1 feature>"
    model = greedystep.train(np.eye(4), [0, 1, 0, 1])
    assert repr(model) == "<greedystep.Model: logistic, 2 classes, 4 features>"


def test_messages_show_classes_as_python_writes_them():
    X = np.eye(4)
    with pytest.raises(ValueError, match="the data has one class, 0: "):
        GreedystepClassifier().fit(X, np.zeros(4, int))
    with pytest.raises(ValueError, match=r"label 2 is not among the classes \[0, 1\]"):
        GreedystepClassifier().partial_fit(X, np.array([0, 1, 2, 1]), classes=[0, 1])


def test_onnx_shows_the_one_class_as_python_writes_it():
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match="the model knows one class, 0: "):
        greedystep.train(np.ones((4, 1)), [0, 0, 0, 0]).to_onnx()


# ---- features and outputs -----------------------------------------------------------------------


def test_features_and_outputs_that_the_model_does_not_have_are_refused():
    X = np.eye(6)
    two, three = greedystep.train(X, [0, 1] * 3), greedystep.train(X, [0, 1, 2] * 2)
    assert [two.feature_name(feature) for feature in (0, 5)] == ["1", "6"]
    for feature in (-1, 6, 99):
        with pytest.raises(ValueError, match=f"no feature {feature}: the model has 6"):
            two.feature_name(feature)
    assert len(three.strongest(3, output=2)) == 3
    for model, output in ((two, 1), (two, 5), (two, -1), (three, 3)):
        with pytest.raises(ValueError, match=f"no output {output}: the model has"):
            model.strongest(3, output=output)
