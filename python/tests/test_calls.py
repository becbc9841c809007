"""How calls behave: memory, Ctrl-C, the GIL, failures, callbacks."""

from __future__ import annotations

import gc
import importlib.util
import io
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from conftest import planted

import greedystep
from greedystep import Event, GreedystepClassifier, ProgressBar

needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")


def run_python(text: str, **keywords) -> subprocess.CompletedProcess:
    script = textwrap.dedent(text)
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, **keywords)


# ---- paths --------------------------------------------------------------------------------------


def test_a_path_with_a_nul_is_a_value_error_and_no_shorter_path(tmp_path):
    X, y = np.eye(4), [0, 1, 0, 1]
    model = greedystep.train(X, y)
    model.save(tmp_path / "a")
    (tmp_path / "a.svm").write_text("1 1:1\n0 2:1\n")
    cut = f"{tmp_path}/a\0b"
    for function in (
        lambda: greedystep.load(cut),
        lambda: model.save(cut),
        lambda: model.save(cut, state=False),
        lambda: greedystep.train(f"{tmp_path}/a.svm\0b"),
        lambda: model.predict(f"{tmp_path}/a.svm\0b"),
        lambda: greedystep.comparison.write_rows(f"{tmp_path}/rows.svm\0b", X, y),
    ):
        with pytest.raises(ValueError, match="null"):
            function()
    assert sorted(os.listdir(tmp_path)) == ["a", "a.state", "a.svm"]


# ---- memory -------------------------------------------------------------------------------------

GROWTH = """
    import numpy as np, scipy.sparse as sp
    from greedystep import GreedystepClassifier

    def peak():
        with open("/proc/self/status") as status:
            return next(int(l.split()[1]) for l in status if l.startswith("VmHWM")) / 1024

    random = np.random.default_rng(0)
    n = {n_rows}
    y = (random.random(n) < 0.5).astype(np.int64)
    GreedystepClassifier().fit(np.eye(4), [0, 1, 0, 1])
    X = {make}
    size = ({size}) / 2**20
    estimator = GreedystepClassifier(passes=1, method="paper", n_jobs=1)
    with open("/proc/self/clear_refs", "w") as clear:
        clear.write("5")
    before = peak()
    estimator.fit(X, y)
    learned = peak() - before
    estimator.decision_function(X)
    print(size, learned, peak() - before)
"""

SPARSE = (
    "sp.csr_matrix((random.random(n * 20).astype({dtype!r}),"
    " random.integers(0, 50, n * 20).reshape(n, 20).cumsum(1, dtype=np.int32).ravel(),"
    " np.arange(0, n * 20 + 1, 20, dtype=np.int32)), shape=(n, 1001))"
)
DENSE = "random.random((n, 100), dtype=np.float32).astype({dtype!r}, order={order!r})"
GAP = "(lambda X: (X.__setitem__((5, 5), np.nan), X)[1])({make})"
BYTES = "X.data.nbytes + X.indices.nbytes"


@needs_proc
@pytest.mark.parametrize(
    ("make", "size", "n_rows"),
    [
        (DENSE.format(dtype="float32", order="C"), "X.nbytes", 700_000),
        (GAP.format(make=DENSE.format(dtype="float32", order="C")), "X.nbytes", 700_000),
        (DENSE.format(dtype="float64", order="C"), "X.nbytes", 350_000),
        (DENSE.format(dtype="float64", order="F"), "X.nbytes", 350_000),
        (SPARSE.format(dtype="float32"), BYTES, 2_000_000),
        (SPARSE.format(dtype="float64"), BYTES, 1_500_000),
    ],
    ids=["dense float32", "with a gap", "dense float64", "Fortran float64", "csr float32", "csr float64"],
)
def test_no_array_is_copied_as_a_whole(make, size, n_rows):
    done = run_python(GROWTH.format(make=make, size=size, n_rows=n_rows))
    assert done.returncode == 0, done.stderr
    size_mb, learned, predicted = map(float, done.stdout.split())
    assert size_mb > 250
    # Two blocks of the engine, a buffer of ours, labels and predictions: none grows with X.
    assert learned < 160, f"{learned:.0f} MB beyond an array of {size_mb:.0f} MB"
    assert predicted < 160


# ---- Ctrl-C and the GIL -------------------------------------------------------------------------

INTERRUPTED = """
    import sys, time
    import numpy as np, scipy.sparse as sp
    from greedystep import GreedystepClassifier

    random = np.random.default_rng(0)
    n = 300_000
    starts = np.arange(0, n * 20 + 1, 20, dtype=np.int32)
    indices = np.arange(n * 20, dtype=np.int32) % 199
    X = sp.csr_matrix((random.random(n * 20, dtype=np.float32), indices, starts))
    y = random.integers(0, {n_classes}, n)
    estimator = GreedystepClassifier(passes=1).fit(X[:1000], y[:1000])
    before = estimator.coef_
    estimator.passes = 100_000
    print("learning", flush=True)
    try:
        estimator.fit(X{rows}, y{rows})
    except KeyboardInterrupt:
        print("interrupted", time.time(), flush=True)
    assert np.array_equal(estimator.coef_, before)
    estimator.passes = 1
    estimator.fit(X[:1000], y[:1000])
    assert np.array_equal(estimator.coef_, before)
    print("usable", flush=True)
"""


@pytest.mark.parametrize(("rows", "n_classes"), [("", 2), ("[:50_000]", 20)], ids=["one state", "a team"])
def test_ctrl_c_is_answered_within_a_second(rows, n_classes):
    script = textwrap.dedent(INTERRUPTED.format(rows=rows, n_classes=n_classes))
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "learning\n"
    time.sleep(1)
    sent = time.time()
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()  # one that did not listen would learn for hours
    words = out.split()
    assert words[::2] == ["interrupted", "usable"], out + err
    assert float(words[1]) - sent < 1


def test_other_threads_run_while_the_library_learns():
    X, y = planted(60_000, 100, 2, seed=1)
    counted, done = 0, threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    began = time.monotonic()
    GreedystepClassifier(passes=20, method="paper", n_jobs=1).fit(X, y)
    seconds = time.monotonic() - began
    done.set()
    thread.join()
    assert counted > 100 * seconds


def test_several_threads_learn_side_by_side():
    X, y = planted(3000, 50, 2, seed=1)
    expected = GreedystepClassifier().fit(X, y).coef_
    found = [None] * 4

    def learn(i):
        found[i] = GreedystepClassifier().fit(X, y).coef_

    threads = [threading.Thread(target=learn, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(one, expected) for one in found)


# ---- failures -----------------------------------------------------------------------------------


def test_errors_say_where(tmp_path):
    path = tmp_path / "bad.txt"
    path.write_text("1 1:2\n0 2:1\n1 3:x\n")
    with pytest.raises(greedystep.GreedystepValueError) as caught:
        greedystep.train(path)
    assert caught.value.line == 3
    assert "bad.txt" in str(caught.value)
    assert isinstance(caught.value, RuntimeError)
    skipped = greedystep.train(path, skip_bad_rows=True)
    assert skipped.n_features == 2


def test_a_row_that_cannot_be_learned_is_named():
    X, y = planted(100, 5, 2, seed=1)
    weights = np.ones(100)
    weights[17] = np.inf
    with pytest.raises(ValueError, match="row 18"):
        greedystep.train(X, y, weight=weights)


def test_what_fails_in_an_array_comes_out_with_its_traceback():
    class Broken(np.ndarray):
        def __getitem__(self, key):
            raise LookupError("no such rows")

    X = np.zeros((10, 3)).view(Broken)
    from greedystep._given import Given, Numbers
    from greedystep._rows import Dense
    from greedystep._run import Run
    from greedystep.training import State, train_on

    features = Dense(np.zeros((10, 3)))
    features._array = X
    given = Given(features, Numbers(np.arange(10) % 2))
    with pytest.raises(LookupError, match="no such rows") as caught:
        train_on(State.new({}), given, None, Run(), 1)
    assert "__getitem__" in str(caught.traceback[-1])


def test_sorted_labels_of_a_long_array_are_warned_of():
    X, y = planted(70_000, 10, 2, seed=1)
    order = np.argsort(y, kind="stable")
    with pytest.warns(greedystep.NoticeWarning, match="sorted by label"):
        GreedystepClassifier(passes=1).fit(X[order], y[order])


# ---- callbacks ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [3000, 70_000])
def test_a_callback_is_told_of_rows_and_passes(n_rows, monkeypatch):
    monkeypatch.setattr("greedystep.callbacks.INTERVAL", 0.0)
    X, y = planted(n_rows, 20, 2, seed=1)
    events: list[Event] = []
    fitted = GreedystepClassifier(callback=events.append, passes=3).fit(X, y)
    passes = [event for event in events if event.kind == "pass"]
    assert [event.passes for event in passes] == [1, 2, 3]
    assert np.isnan(passes[0].loss) == (n_rows <= 8192)  # they waited to be solved, and were not predicted before
    assert 0 < passes[-1].held_out_loss < passes[1].loss < 1
    assert any(event.kind == "rows" and event.rows > 0 for event in events)
    assert all(later.seconds >= event.seconds for event, later in zip(events, events[1:]))
    assert np.array_equal(fitted.coef_, GreedystepClassifier(passes=3).fit(X, y).coef_)


def test_a_callback_is_told_of_penalties_and_about_how_many_there_are():
    X, y = planted(3000, 20, 2, seed=1)
    events: list[Event] = []
    shown = io.StringIO()
    fitted = GreedystepClassifier(callback=events.append).fit(X, y)
    tried = [event for event in events if event.kind == "penalty"]
    assert [event.penalties for event in tried] == list(range(1, len(tried) + 1))
    assert all(event.of_about >= event.penalties for event in tried) and len(tried) > 2
    assert tried[-1].held_out_loss == min(event.held_out_loss for event in tried)
    assert tried[-1].held_out_loss == pytest.approx(events[-1].held_out_loss, rel=0.1)
    with pytest.raises(LookupError, match="enough"):
        GreedystepClassifier(callback=_raises).fit(X, y)
    if importlib.util.find_spec("tqdm") is not None:
        with ProgressBar(file=shown, mininterval=0) as bar:
            greedystep.train(X, y, callback=bar)
        assert f"penalty {len(tried)} of about" in shown.getvalue()
    assert np.array_equal(fitted.coef_, GreedystepClassifier().fit(X, y).coef_)


def _raises(event: Event) -> None:
    raise LookupError("enough")


def test_progress_bar():
    pytest.importorskip("tqdm")
    X, y = planted(3000, 20, 2, seed=1)
    shown = io.StringIO()
    with ProgressBar(file=shown) as bar:
        greedystep.train(X, y, callback=bar, passes=2)
    assert "loss=" in shown.getvalue()
    assert "passes=2" in shown.getvalue()


@pytest.mark.parametrize("from_main", [True, False], ids=["main thread", "another thread"])
def test_callbacks_run_in_the_thread_that_called(from_main):
    X, y = planted(500, 40, 2)
    told = []

    def fit():
        GreedystepClassifier(callback=lambda event: told.append(threading.get_ident()), passes=2).fit(X, y)
        told.append(threading.get_ident())

    if from_main:
        fit()
    else:
        thread = threading.Thread(target=fit)
        thread.start()
        thread.join()
    assert len(told) > 2
    assert len(set(told)) == 1


OFTEN = """
    import os, random, signal, threading
    import numpy as np
    from greedystep import GreedystepClassifier, callbacks

    callbacks.INTERVAL = 0.0
    draw = random.Random(0)
    X = np.random.default_rng(0).normal(size=(2000, 5))
    y = (X[:, 0] > 0).astype(int)
    interrupted = 0
    for _ in range(200):
        timer = threading.Timer(draw.uniform(0.001, 0.02), os.kill, [os.getpid(), signal.SIGINT])
        try:
            timer.start()
            GreedystepClassifier(callback=lambda event: None, passes=1000).fit(X, y)
        except KeyboardInterrupt:
            interrupted += 1
        timer.join()
    print(interrupted)
"""


def test_ctrl_c_may_come_at_any_moment():
    done = run_python(OFTEN, timeout=300)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 190  # Python itself loses one that comes while an object is freed


def test_ctrl_c_in_a_callback_ends_the_run():
    X, y = planted(500, 40, 2)
    calls = []

    def interrupted(event):
        calls.append(event)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        GreedystepClassifier(callback=interrupted, passes=100_000).fit(X, y)
    assert len(calls) == 1


def test_a_callback_may_train():
    X, y = planted(500, 40, 2)
    inner = []
    GreedystepClassifier(callback=lambda event: inner.append(greedystep.train(X, y, passes=1)), passes=2).fit(X, y)
    assert all(np.array_equal(model.coef, inner[0].coef) for model in inner)


# ---- functions ----------------------------------------------------------------------------------


def test_models_go_to_scikit_learn(rows):
    X, y, n_classes = rows
    model = greedystep.train(X, y)
    other = model.to_sklearn()
    assert np.allclose(other.predict(X), model.predict(X), rtol=1e-5)
    if n_classes > 1:
        assert np.allclose(other.predict_proba(X), model.predict_proba(X), atol=1e-6)
        hinge = greedystep.train(X, y, loss="hinge")
        assert np.array_equal(hinge.to_sklearn().predict(X), hinge.predict(X))
        with pytest.raises(ValueError, match="no probabilities"):
            hinge.predict_proba(X)


def test_an_evaluation_has_precision_recall_f1_and_confusion_as_scikit_learn_has_them(rows):
    from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

    X, y, n_classes = rows
    model = greedystep.train(X, y)
    found, guess = model.evaluate(X, y), model.predict(X)
    if n_classes == 1:
        assert found.classes == {}
        return
    expected = precision_recall_fscore_support(y, guess, labels=model.classes, zero_division=0)
    for i, (label, one) in enumerate(found.classes.items()):
        assert label == str(model.classes[i])
        assert [one[name] for name in ("precision", "recall", "f1", "rows")] == pytest.approx([e[i] for e in expected])
    if n_classes == 2:
        counts = ("true_negatives", "false_positives", "false_negatives", "true_positives")
        assert [found[name] for name in counts] == confusion_matrix(y, guess).ravel().tolist()
        positive = model.predict_proba(X)[:, 1] >= found["best_threshold"]
        f1 = precision_recall_fscore_support(y == model.classes[1], positive, average="binary")[2]
        assert f1 == pytest.approx(found["best_f1"]) and f1 >= found["f1"]


def test_labels_unknown_to_the_model_are_told_and_an_error_if_it_knows_none():
    X = np.random.default_rng(1).normal(size=(200, 3))
    y = np.where(X[:, 0] > 0, "yes", "no")
    model = greedystep.train(X, y)
    some = np.where(np.arange(200) < 20, "maybe", y)
    with pytest.warns(greedystep.NoticeWarning, match=r"labels of 20 of 200 rows \(10 %\), such as 'maybe'"):
        assert model.evaluate(X, some)["unknown_labels"] == 20
    with pytest.raises(
        ValueError, match=r"knows no label of these 200 rows, such as '[01]', '[01]'; it knows 'no', 'yes'"
    ):
        model.evaluate(X, (y == "yes").astype(int))


def test_models_are_evaluated_saved_pickled_and_merged(rows, tmp_path):
    import pickle

    X, y, n_classes = rows
    model = greedystep.train(X, y)
    found = model.evaluate(X, y)
    if n_classes == 1:
        assert found["rmse"] == pytest.approx(np.sqrt(np.mean((model.predict(X) - y) ** 2)))
    else:
        assert found["accuracy"] == pytest.approx((model.predict(X) == y).mean())
    model.save(tmp_path / "model")
    for other in (greedystep.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(other.coef, model.coef)
        assert np.array_equal(other.predict(X), model.predict(X))
    halves = [greedystep.train(X[i::2], y[i::2]) for i in (0, 1)]
    merged = halves[0].merge(halves[1])
    assert merged.n_rows == sum(half.n_rows for half in halves)
    model.save(tmp_path / "alone", state=False)
    with pytest.raises(ValueError, match="no state"):
        greedystep.load(tmp_path / "alone").merge(model)
    started = greedystep.train(X[:100], y[:100], start_from=model, passes=1)
    assert started.n_features == model.n_features


def test_weights_outlive_their_model():
    X, y = planted(300, 2000, 2, seed=1)
    expected = greedystep.train(X, y).coef.copy()
    found = [greedystep.train(X, y).coef for _ in range(5)]
    gc.collect()
    assert all(np.array_equal(one, expected) for one in found)
    with pytest.raises(ValueError, match="read-only"):
        found[0][0, 0] = 1


def test_methods_are_compared(tmp_path):
    pytest.importorskip("pandas")
    X, y = planted(500, 20, 2, seed=1)
    found = greedystep.compare(X, y, methods=["gsa", "sgd:0.1"], passes=2, seeds=2)
    assert set(found.method) == {"gsa", "sgd"}
    assert len(found) == 2 * 2 * 2 * 2
    assert found.loss.between(0, 1).all()
    with pytest.raises(greedystep.GreedystepError, match="nonsense"):
        greedystep.compare(X, y, methods="nonsense")


def test_version_is_the_librarys():
    assert greedystep.__version__.count(".") == 2
