"""Rows are held out by group or by time, whichever way they come, so the loss is that of new groups or later rows."""

from __future__ import annotations

import datetime
import pickle

import numpy as np
import pytest
from conftest import assert_same_model, run_command
from scipy import sparse
from sklearn import config_context
from sklearn.metrics import log_loss
from sklearn.model_selection import GroupKFold, TimeSeriesSplit, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import greedystep
from greedystep import GreedystepClassifier, GreedystepLinearSVC, GreedystepRegressor, NoticeWarning
from greedystep.distributed import Rows, schema_of

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

ALL = [GreedystepClassifier, GreedystepRegressor, GreedystepLinearSVC]
METHODS = ["optimum", "gsa"]


def people(n_people=60, n_rows=10, seed=0):
    """Return rows that are nearly those of their person, whose label hardly follows from them; and the persons."""
    random = np.random.default_rng(seed)
    who = np.repeat(np.arange(n_people), n_rows)
    X = random.normal(size=(n_people, 25))[who] + 0.02 * random.normal(size=(len(who), 25))
    label = random.normal(size=n_people) > 0
    y = np.where(random.random(len(who)) < 0.05, ~label[who], label[who]).astype(int)
    mixed = random.permutation(len(who))
    return X[mixed], y[mixed], who[mixed]


def days(n=1200, seed=0):
    """Return rows whose label follows from a number, and less so in the last quarter, and when they were."""
    random = np.random.default_rng(seed)
    when = random.permutation(n)
    X = random.normal(size=(n, 3))
    slope = np.where(when < 3 * n // 4, 2.0, 0.5)
    return X, (slope * X[:, 0] + random.logistic(size=n) > 0).astype(int), when


def as_table(X, y, **others):
    """Return a frame with a label; floats have the digits that text keeps."""
    return pd.DataFrame({"y": y, **others, **{f"c{i}": np.float32(column) for i, column in enumerate(X.T)}})


def saved(model, folder) -> bytes:
    model.save(folder / "saved")
    return (folder / "saved").read_bytes() + (folder / "saved.state").read_bytes()


def assert_same(one, other):
    assert_same_model(one, other)
    assert one.summary == other.summary


# ---- what the loss is that of --------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_the_loss_is_that_of_new_people(method):
    X, y, who = people()
    new_X, new_y, _ = people(seed=1)
    rows = GreedystepClassifier(method=method).fit(X, y)
    whole = GreedystepClassifier(method=method).fit(X, y, groups=who)
    assert whole.summary_["groups"] == (60 if method == "optimum" else pytest.approx(6, abs=5))
    assert whole.cv_loss_ > rows.cv_loss_ + 0.1
    # The persons that were learned say nothing about new ones: the least loss is about log 2.
    assert abs(whole.cv_loss_ - log_loss(new_y, whole.predict_proba(new_X))) < 0.15
    assert log_loss(new_y, whole.predict_proba(new_X)) < log_loss(new_y, rows.predict_proba(new_X))


@pytest.mark.parametrize("method", METHODS)
def test_the_loss_is_that_of_later_rows(method):
    X, y, when = days(8000)
    rows = GreedystepClassifier(method=method).fit(X, y)
    later = GreedystepClassifier(method=method).fit(X, y, time=when)
    assert later.summary_["latest"] == (1000 if method == "optimum" else pytest.approx(800, abs=100))
    new_X, new_y, when = days(8000, seed=1)
    truth = log_loss(new_y[when >= 6000], later.predict_proba(new_X[when >= 6000]))
    assert rows.cv_loss_ + 0.05 < truth == pytest.approx(later.cv_loss_, abs=0.05)
    assert "groups" not in later.summary_ and "latest" not in rows.summary_


def test_the_summary_has_what_the_command_prints(tmp_path):
    X, y, who = people()
    as_table(X, y, who=who).to_csv(tmp_path / "rows.csv", index=False)
    told = run_command("train", tmp_path / "rows.csv", "--group", "who", "-o", tmp_path / "m", "--json", "--quiet")
    model = greedystep.train(tmp_path / "rows.csv", group="who")
    assert isinstance(model.summary["groups"], int) and f'"groups": {model.summary["groups"]}' in told
    assert "groups" in repr(model.summary)


# ---- the same model from every kind of input ----------------------------------------------------------


@pytest.fixture
def table(tmp_path):
    """Rows with persons and days, in a file, too."""
    X, y, who = people()
    when = np.datetime64("2024-01-01") + np.arange(600) * 7 % 353
    frame = as_table(X, y, who=who, when=when)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return frame


OPTIONS = [
    {"group": "who", "ignore": ["when"]},
    {"time": "when", "ignore": ["who"]},
    {"time": "when", "ignore": ["who", "when"]},
]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("options", OPTIONS)
def test_files_frames_and_tables_have_the_bytes_of_the_command(table, tmp_path, method, options):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    told = [f"--{name}={value if isinstance(value, str) else ','.join(value)}" for name, value in options.items()]
    command = ["train", tmp_path / "rows.csv", "--label", "y", *told, "--method", method, "--quiet"]
    run_command(*command, "-o", tmp_path / "m")
    expected = (tmp_path / "m").read_bytes() + (tmp_path / "m.state").read_bytes()
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    parquet.write_table(arrow, tmp_path / "rows.parquet")
    for data in (tmp_path / "rows.csv", table, pl.from_pandas(table), arrow, tmp_path / "rows.parquet"):
        model = greedystep.train(data, label="y", method=method, **options)
        assert saved(model, tmp_path) == expected, type(data)
        assert saved(greedystep.load(tmp_path / "saved"), tmp_path) == expected


@pytest.mark.parametrize("method", METHODS)
def test_arrays_have_the_weights_of_the_command(table, tmp_path, method):
    run = ["train", tmp_path / "rows.csv", "--label", "y", "--method", method, "--quiet"]
    run_command(*run, "--group", "who", "--ignore", "when", "-o", tmp_path / "who")
    run_command(*run, "--time", "when", "--ignore", "who,when", "-o", tmp_path / "when")
    X, y = table.filter(like="c"), table["y"]
    forms = {
        "array": X.to_numpy(),
        "float64": X.to_numpy(np.float64),
        "sparse": sparse.csr_matrix(X.to_numpy()),
        "csc": sparse.csc_matrix(X.to_numpy()),
        "pandas": X,
        "polars": pl.from_pandas(X),
    }
    for by in ("who", "when"):
        expected, option = greedystep.load(tmp_path / by), {"who": "group", "when": "time"}[by]
        for form in forms.values():
            assert_same(expected, greedystep.train(form, y.to_numpy(), method=method, **{option: table[by]}))
            keyword = {"group": "groups", "time": "time"}[option]
            fitted = GreedystepClassifier(method=method).fit(form, y, **{keyword: table[by]})
            assert_same(expected, fitted.model_)


@pytest.mark.parametrize("by", ["group", "time"])
def test_a_column_of_a_frame_is_as_an_array(table, by):
    column = {"group": "who", "time": "day"}[by]
    frame = table.drop(columns="when").assign(day=(table["when"] - table["when"].min()).dt.days)
    X, y = frame.drop(columns="y"), frame["y"]
    X = X.drop(columns="day" if by == "group" else "who")
    without = X.drop(columns="who") if by == "group" else X
    expected = greedystep.train(without, y, **{by: frame[column]})
    keyword = {"group": "groups", "time": "time"}[by]
    pa = pytest.importorskip("pyarrow")
    for form in (X, pl.from_pandas(X), pa.Table.from_pandas(X, preserve_index=False)):
        if not isinstance(form, pa.Table):  # train reads its columns by name
            assert_same(expected, greedystep.train(form, y.to_numpy(), **{by: column}))
        fitted = GreedystepClassifier().fit(form, y, **{keyword: column})
        assert_same(expected, fitted.model_)
        # Later rows may have the column of groups, or not.
        assert np.array_equal(fitted.predict(form), fitted.predict(without))
        assert fitted.n_features_in_ == without.shape[1]


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("by", ["groups", "time"])
def test_words_and_gaps_make_no_difference(kind, by):
    X, y, who = people()
    frame = as_table(X, y, town=np.where(X[:, 0] > 0, "oslo", "rome")).drop(columns="y")
    gaps = np.where(np.arange(X.size).reshape(X.shape) % 97, X, np.nan)
    for rows in (frame, pl.from_pandas(frame), gaps, pd.DataFrame(gaps).rename(columns=str)):
        plain = kind().fit(rows, y)
        fitted = kind().fit(rows, y, **{by: who})
        assert fitted.summary_[{"groups": "groups", "time": "latest"}[by]] > 0
        assert fitted.model_.n_features == plain.model_.n_features  # neither is a feature
        assert np.isfinite(fitted.predict(rows)).all()
        again = pickle.loads(pickle.dumps(fitted))
        assert np.array_equal(
            again.decision_function(rows) if kind is not GreedystepRegressor else again.predict(rows),
            fitted.decision_function(rows) if kind is not GreedystepRegressor else fitted.predict(rows),
        )


def test_gaps_in_an_array_have_the_weights_of_a_table(tmp_path):
    X, y, who = people()
    X = np.where(np.arange(X.size).reshape(X.shape) % 97, X, np.nan)
    frame = as_table(X, y, who=who)
    for options in ({"group": "who"}, {"time": "who", "ignore": ["who"]}):
        expected = greedystep.train(frame, label="y", **options)
        by = next(iter(options))
        assert_same(expected, greedystep.train(np.float32(X), y, **{by: who}))


def test_a_column_of_times_keeps_its_digits_in_a_frame_with_gaps():
    X, y, when = days()
    X[5, 1] = np.nan
    frame = as_table(X, y, when=when / 1e7 + 2024)  # a float has the same for about a thousand of them
    expected = greedystep.train(frame, label="y", time="when")
    assert expected.summary["latest"] == 150
    assert_same(expected, greedystep.train(frame.drop(columns="y"), y, time="when"))


# ---- kinds of groups and times -------------------------------------------------------------------


def test_groups_of_any_kind_are_held_out_alike():
    X, y, who = people()
    expected = greedystep.train(X, y, group=who)
    texts = who.astype(str)
    for groups in (texts, list(texts), who.astype(np.float32), pd.Series(who), pd.Series(texts, dtype="category"),
                   pl.Series(who), pl.Series(texts), [f" {text} " for text in texts], np.array(texts, object),
                   pd.Series(who, dtype="Int64"), np.char.encode(texts)):  # fmt: skip
        assert_same(expected, greedystep.train(X, y, group=groups))
    for groups in (np.datetime64("2024-01-01") + who, [(int(one), "a") for one in who]):
        if isinstance(groups, list):
            groups = pd.Series(groups)
        assert greedystep.train(X, y, group=groups).summary["groups"] == 60


def test_rows_without_a_group_are_one_group():
    X, y, who = people()
    expected = greedystep.train(X, y, group=np.where(who < 5, "", who.astype(str)))
    for missing in (None, np.nan, pd.NA, ""):
        groups = np.array([missing if one < 5 else str(one) for one in who], object)
        assert_same(expected, greedystep.train(X, y, group=groups))
    assert_same(expected, greedystep.train(X, y, group=np.where(who < 5, np.nan, who)))
    frame = as_table(X, y, who=np.where(who < 5, np.nan, who))
    frame["who"] = frame["who"].astype("Int64")
    assert_same(expected, greedystep.train(frame.drop(columns="y"), y, group="who"))


def test_times_of_any_kind_are_held_out_alike():
    X, y, when = days()
    expected = greedystep.train(X, y, time=when)
    stamps = np.datetime64("2024-01-01T00:00:00.000") + when * np.timedelta64(3600, "s")
    python_stamps = [datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=int(one)) for one in when]
    zoned = pd.Series(stamps).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    python_dates = [datetime.date(2024, 1, 1) + datetime.timedelta(days=int(one)) for one in when]
    for times in (when - 600.5, when.astype(np.float32), list(when), pd.Series(when), pl.Series(when), stamps, zoned,
                  python_stamps, python_dates, pd.Series(stamps), pl.Series(stamps), list(zoned), stamps - stamps.min(),
                  stamps.astype("datetime64[ns]")):  # fmt: skip
        assert_same(expected, greedystep.train(X, y, time=times))


@pytest.mark.parametrize("kind", ALL)
def test_a_time_that_is_missing_is_refused_as_the_command_does(kind, tmp_path):
    X, y, when = days(200)
    for bad, dtype in ((np.nan, float), (np.inf, float), (None, object), ("later", object), ("NaT", "datetime64[D]")):
        times = when.astype(dtype)
        times[7] = bad
        with pytest.raises(ValueError, match=r"row 7 has the time .*must be a number, a date or a timestamp"):
            kind().fit(X, y, time=times)
    times = when.astype(float)
    times[7] = np.nan
    frame = as_table(X, y, when=times)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    for data in (frame, tmp_path / "rows.csv"):
        with pytest.raises(ValueError, match=r"time of a row must be a number or a date"):
            greedystep.train(data, label="y", time="when")


# ---- scikit-learn --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
def test_groups_are_routed_through_cross_validation_and_pipelines(kind):
    X, y, who = people()
    with config_context(enable_metadata_routing=True):
        asked = kind().set_fit_request(groups=True, time=False)
        for estimator in (asked, make_pipeline(StandardScaler(), asked)):
            found = cross_validate(
                estimator, X, y, params={"groups": who}, cv=GroupKFold(3), return_estimator=True, return_indices=True
            )
            for one, rows in zip(found["estimator"], found["indices"]["train"]):
                fitted = one if estimator is asked else one[-1]
                assert fitted.summary_["groups"] == 40 == len(set(who[rows]))
        fitted = make_pipeline(StandardScaler(), asked).fit(X, y, groups=who)
        assert fitted[-1].summary_["groups"] == 60


def test_times_are_routed_through_cross_validation_and_pipelines():
    X, y, when = days()
    order = np.argsort(when)
    X, y, when = X[order], y[order], when[order]
    with config_context(enable_metadata_routing=True):
        asked = GreedystepClassifier().set_fit_request(time=True)
        pipeline = make_pipeline(StandardScaler(), asked)
        found = cross_validate(pipeline, X, y, params={"time": when}, cv=TimeSeriesSplit(2), return_estimator=True)
        assert [one[-1].summary_["latest"] for one in found["estimator"]] == [50, 100]


def test_groups_are_sliced_whatever_holds_them():
    X, y, who = people()
    with config_context(enable_metadata_routing=True):
        asked = GreedystepClassifier().set_fit_request(groups=True)
        for groups in (list(who), pd.Series(who.astype(str)), pl.Series(who)):
            found = cross_validate(asked, X, y, params={"groups": groups}, cv=GroupKFold(2), return_estimator=True)
            assert [one.summary_["groups"] for one in found["estimator"]] == [30, 30]


@pytest.mark.parametrize("kind", ALL)
def test_chunks_of_partial_fit_are_held_out_by_group(kind):
    X, y, who = people()
    classes = {} if kind is GreedystepRegressor else {"classes": [0, 1]}
    one, other, plain = kind(), kind(), kind()
    one.partial_fit(X, y, groups=who, **classes)
    plain.partial_fit(X, y, **classes)
    for at in range(0, 600, 150):
        part = slice(at, at + 150)
        other.partial_fit(X[part], y[part], groups=who[part], **classes)
        other = pickle.loads(pickle.dumps(other))
    assert_same(one.model_, other.model_)
    assert one.summary_["groups"] == 60 and "groups" not in plain.summary_
    with pytest.raises(ValueError, match=r"some rows have groups and others have not"):
        other.partial_fit(X, y)
    times = kind().partial_fit(X, y, time=np.arange(600), **classes)
    assert times.summary_["latest"] > 0


@pytest.mark.parametrize("form", ["numbers", "gaps", "words"])
def test_a_warm_start_takes_groups_again(form):
    X, y, who = people()
    X = X.astype(np.float32)
    if form == "gaps":
        X[::50, 3] = np.nan
    rows = as_table(X, y, town=np.where(y, "oslo", "rome")).drop(columns="y") if form == "words" else X
    fitted = GreedystepClassifier(warm_start=True).fit(rows, y, groups=who)
    fitted.fit(rows, y, groups=who)
    assert fitted.summary_["groups"] == 60 and "prior_share" in fitted.summary_
    if form != "numbers":
        with pytest.raises(ValueError, match=r"the model was trained on rows with groups: give them"):
            fitted.fit(rows, y)
        with pytest.raises(ValueError, match=r"the rows have times, and the rows of the model had none"):
            fitted.fit(rows, y, time=np.arange(600))


def test_a_run_that_starts_from_a_model_of_a_table_needs_the_column(table):
    frame = table.drop(columns="when")
    model = greedystep.train(frame, label="y", group="who")
    more = greedystep.train(frame, label="y", start_from=model)
    assert more.summary["groups"] == 60
    assert_same(more, greedystep.train(frame.drop(columns="y"), frame["y"], group="who", start_from=model))
    with pytest.raises(ValueError, match=r"no column 'who', which the model has"):
        greedystep.train(frame.drop(columns="who"), label="y", start_from=model)
    bare = frame.drop(columns="who")
    assert np.array_equal(model.predict(bare), model.predict(frame))
    assert model.evaluate(bare, label="y") == model.evaluate(frame, label="y")
    assert model.evaluate(bare.drop(columns="y"), bare["y"]) == model.evaluate(frame, label="y")
    ignored = greedystep.train(table.drop(columns="who"), label="y", time="when", ignore=["when"])
    assert greedystep.train(table.drop(columns="who"), label="y", start_from=ignored).summary["latest"] > 0
    plain = greedystep.train(table, label="y")
    for options in ({"time": "when"}, {"group": "who"}):
        with pytest.raises(ValueError, match=rf"{next(iter(options))} column contradicts the model about"):
            greedystep.train(table, label="y", start_from=plain, **options)


# ---- refusals ------------------------------------------------------------------------------------


def test_both_at_once_are_refused(table):
    X, y, who = people()
    for kind in ALL:
        with pytest.raises(ValueError, match=r"by group or by time, and both groups and time were given"):
            kind().fit(X, y, groups=who, time=who)
    with pytest.raises(ValueError, match=r"by group or by time, and both group and time were given"):
        greedystep.train(X, y, group=who, time=who)
    with pytest.raises(ValueError, match=r"by group or by time"):
        greedystep.train(table, label="y", group="who", time="when")


def test_lengths_that_differ_are_refused():
    X, y, who = people()
    gaps, frame = np.where(X > 2, np.nan, X), as_table(X, y, town="oslo").drop(columns="y")
    for rows in (X, sparse.csr_matrix(X), gaps, frame):
        for name in ("groups", "time"):
            with pytest.raises(
                ValueError, match=rf"a {name.rstrip('s')} per row: there are 600 rows, and {name} has 599"
            ):
                GreedystepClassifier().fit(rows, y, **{name: who[1:]})
            by = name.rstrip("s")
            with pytest.raises(ValueError, match=rf"a {by} per row: there are 600 rows, and {by} has 599"):
                greedystep.train(rows, y, **{by: who[1:]})
    with pytest.raises(ValueError, match=r"one value per row in groups, found 2 dimension"):
        GreedystepClassifier().fit(X, y, groups=X)


def test_columns_that_are_not_there_are_refused(table):
    X, y, _ = people()
    frame = table.drop(columns=["y", "when"])
    with pytest.raises(ValueError, match=r"no column 'whoo' \(did you mean 'who'\?\); the columns are .* \(groups="):
        GreedystepClassifier().fit(frame, y, groups="whoo")
    with pytest.raises(ValueError, match=r"no column 'whoo' \(did you mean 'who'\?\); the columns are"):
        greedystep.train(frame, y, group="whoo")
    with pytest.raises(ValueError, match=r"no column 'whoo' \(did you mean 'who'\?\); the columns are"):
        greedystep.train(table, label="y", group="whoo")
    with pytest.raises(ValueError, match=r"groups= names a column, and X is no frame: give an array of groups"):
        GreedystepClassifier().fit(X, y, groups="who")
    with pytest.raises(ValueError, match=r"group= names a column, and rows in an array have no names"):
        greedystep.train(X, y, group="who")


def test_tables_and_files_have_groups_in_a_column(table, tmp_path):
    for data, who in ((tmp_path / "rows.csv", "files have"), (table, "a table has")):
        with pytest.raises(ValueError, match=rf"{who} groups in a column: name it by group="):
            greedystep.train(data, label="y", group=table["who"])
        with pytest.raises(ValueError, match=rf"{who} times in a column: name it by time="):
            greedystep.train(data, label="y", time=table["when"])


def test_shards_take_neither():
    X, y, who = people()
    with pytest.raises(ValueError, match=r"rows of shards are not held out by group or time"):
        schema_of(Rows(X, y, group=who))


def test_one_group_or_one_time_is_told():
    X, y, _ = people()
    with pytest.warns(NoticeWarning, match=r"not held out by their groups, which are too few"):
        fitted = GreedystepClassifier().fit(X, y, groups=np.zeros(600))
    assert fitted.summary_["groups"] == 0 and fitted.cv_loss_ == GreedystepClassifier().fit(X, y).cv_loss_
    with pytest.warns(NoticeWarning, match=r"not held out by their times, which are too few"):
        model = greedystep.train(X, y, time=np.zeros(600))
    assert model.summary["latest"] == 0


def test_a_model_that_holds_out_no_rows_says_nothing_of_groups(recwarn):
    X, y, who = people()
    GreedystepClassifier(holdout="none").fit(X, y, groups=who)
    greedystep.train(X, y, group=who, method="paper")
    assert not [one for one in recwarn if issubclass(one.category, NoticeWarning)]


def test_the_keyword_that_was_meant_is_suggested():
    X, y, who = people()
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'groups'; did you mean 'group'\?"):
        greedystep.train(X, y, groups=who)
