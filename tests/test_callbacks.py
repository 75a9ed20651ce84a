"""scikit-learn's callbacks: every task begins and ends, and a callback can stop a fit."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from icvi_artmap import ICVIARTMAP
from icvi_artmap._support import callbacks as ours

callbacks = pytest.importorskip("sklearn.callback", reason="scikit-learn has them from 1.9 on")

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 2)) + 3.0 * rng.normal(size=(5, 2))[np.arange(150) % 5]
Y = np.arange(150) % 5


class Recorder:
    """Writes down what happens; stops after so many tasks of a name."""

    def __init__(self, stop: str = "", after: int = 1) -> None:
        self.events: list[tuple[str, str, int]] = []
        self.models: list[Any] = []
        self.stop, self.after = stop, after

    def setup(self, estimator: Any, context: Any) -> None:
        self.events.append(("setup", context.task_name, 0))

    def teardown(self, estimator: Any, context: Any) -> None:
        self.events.append(("teardown", context.task_name, 0))

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        depth = 0 if context.parent is None else 1 if context.parent.parent is None else 2
        self.events.append(("begin", context.task_name, depth))

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, X: Any = None, y: Any = None, fitted_estimator: Any
    ) -> bool:
        assert X is not None
        self.events.append(("end", context.task_name, context.task_id))
        if fitted_estimator is not None:
            self.models.append((context.task_name, fitted_estimator))
        return context.task_name == self.stop and self.count("end", self.stop) == self.after

    def count(self, event: str, task: str) -> int:
        return sum(one[:2] == (event, task) for one in self.events)


def fitted(recorder: Recorder, **parameters: Any) -> ICVIARTMAP:
    model = ICVIARTMAP(**{"n_clusters": 5, "index": "CH", "random_state": 0, **parameters})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.set_callbacks(recorder).fit(X, Y)


def test_tasks_of_a_fit() -> None:
    recorder = Recorder()
    model = fitted(recorder, n_init=2, refine=True)
    assert recorder.events[:4] == [
        ("setup", "fit", 0),
        ("begin", "fit", 0),
        ("begin", "run", 1),
        ("begin", "epoch", 2),
    ]
    assert recorder.events[-2:] == [("end", "fit", 0), ("teardown", "fit", 0)]
    for task, n in (("fit", 1), ("run", 2), ("refine", 2)):
        assert recorder.count("begin", task) == recorder.count("end", task) == n
    assert recorder.count("begin", "epoch") == recorder.count("end", "epoch") >= model.n_iter_
    plain = ICVIARTMAP(5, index="CH", n_init=2, refine=True, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, plain.labels_)


def test_the_choice_of_a_number_of_clusters() -> None:
    recorder = Recorder()
    model = fitted(recorder, n_clusters=range(2, 5), index="NI")
    assert recorder.count("end", "partition") == 4  # from a single cluster on
    assert recorder.events.index(("end", "choose", 0)) < recorder.events.index(("begin", "run", 1))
    assert model.selection_.k.tolist() == [2, 3, 4]


def test_models_as_if_the_fit_ended_there() -> None:
    recorder = Recorder()
    model = fitted(recorder, refine=False, rho_a=0.8, rho_ab=0.9)
    epochs = [one for task, one in recorder.models if task == "epoch"]
    assert len(epochs) == model.n_iter_ > 1
    for n, one in enumerate(epochs, start=1):
        short = ICVIARTMAP(
            5, index="CH", random_state=0, refine=False, rho_a=0.8, rho_ab=0.9, max_epochs=n
        ).fit(X)
        assert one.n_iter_ == n
        assert one.index_value_ == short.index_value_
        np.testing.assert_array_equal(one.labels_, short.labels_)
        np.testing.assert_array_equal(one.predict(X), short.predict(X))
        np.testing.assert_array_equal(one.categories_, short.categories_)
        np.testing.assert_array_equal(one.map_field_, short.map_field_)
    task, last = recorder.models[-1]
    assert task == "fit"
    np.testing.assert_array_equal(last.labels_, model.labels_)


def test_a_callback_can_stop_a_run_and_the_runs() -> None:
    recorder = Recorder("epoch")
    model = fitted(recorder, refine=True)
    assert model.n_iter_ == 1
    assert recorder.count("begin", "refine") == 0
    recorder = Recorder("run", after=2)
    fitted(recorder, n_init=4)
    assert recorder.count("begin", "run") == 2


def test_after_an_error_callbacks_are_told() -> None:
    class Failing(Recorder):
        def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
            if context.task_name == "epoch":
                raise KeyError

    recorder = Failing()
    with pytest.raises(KeyError):
        fitted(recorder)
    assert recorder.events[-1] == ("teardown", "fit", 0)


def test_scores_of_every_epoch() -> None:
    monitor = callbacks.ScoringMonitor(scoring="adjusted_rand_score")
    model = ICVIARTMAP(5, index="CH", random_state=0, refine=False).set_callbacks(monitor)
    model.fit(X, Y)
    rows = [row for row in monitor.get_logs().data if row["task_name"] == "epoch"]
    assert len(rows) == model.n_iter_
    assert all(0.0 <= row["adjusted_rand_score"] <= 1.0 for row in rows)


def test_a_progress_bar(capsys: pytest.CaptureFixture) -> None:
    bar = callbacks.ProgressBar()
    ICVIARTMAP(5, index="CH", random_state=0).set_callbacks(bar).fit(X)
    assert "ICVIARTMAP - fit" in capsys.readouterr().out
    pipeline = make_pipeline(StandardScaler(), ICVIARTMAP(5, index="CH", random_state=0))
    pipeline.set_callbacks(bar).fit(X)
    shown = capsys.readouterr().out
    assert "ICVIARTMAP - fit" in shown
    assert "100%" in shown


def test_callbacks_come_with_a_clone_and_go() -> None:
    recorder = Recorder()
    model = clone(ICVIARTMAP(5, index="CH", random_state=0).set_callbacks(recorder)).fit(X)
    assert recorder.count("end", "fit") == 1
    model.set_callbacks().fit(X)
    assert recorder.count("end", "fit") == 1


def test_nobody_watches() -> None:
    assert ours.watched(object(), X, None, vars) is ours.UNWATCHED
    ours.UNWATCHED.begin("fit", 3)
    assert ours.UNWATCHED.end() is False


def test_without_callbacks_in_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.callback", None)
    spec = importlib.util.spec_from_file_location("callbacks_of_old", ours.__file__)
    old = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(old)
    assert old.with_callbacks(fitted) is fitted
    assert old.watched(old.CallbackSupportMixin(), X, None, vars) is old.UNWATCHED
