"""Streams: monitors beside the package cvi, partial_fit beside what scikit-learn and river have."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import Birch, MiniBatchKMeans
from sklearn.metrics import adjusted_rand_score

from benchmarks.common import duration, in_turns, table
from icvi_artmap import ICVIARTMAP
from icvi_artmap.streaming import IncrementalIndex

TEXT = """## Streams

A monitor (`IncrementalIndex`), time for a sample at d = 10 and k = 10: `add`; `add` and the index
after it; `add_many`. Beside it the package cvi, whose `get_cvi` adds a sample and returns the
index.

{monitors}

Learning {rows:,} × 10 rows of ten Gaussian clusters in batches of {batch:,}, from the start of the
model on: rows a second, how much the memory of the process has grown in the second half of the
stream, and the adjusted Rand index of new rows. Then the clusters are suddenly elsewhere: rows
until `drift_` tells of it, and the adjusted Rand index of new rows after 5,000 rows and after
50,000 (as far as the stream goes). Birch has a threshold of 4 and keeps all its subclusters;
river's learn row by row, and only the first {few:,} rows.

{learners}
"""

K, D = 10, 10


class Sizes(NamedTuple):
    samples: int  #: for monitors
    rows: int
    few: int  #: for those that learn row by row
    batch: int = 1000


FULL = Sizes(20_000, 1_000_000, 5_000)
QUICK = Sizes(5_000, 100_000, 2_000)
SMOKE = Sizes(200, 6_000, 100)

Rows = NDArray[np.float64]


def run(sizes: Sizes) -> str:
    return TEXT.format(
        monitors=_monitors(sizes),
        learners=_learners(sizes),
        rows=sizes.rows,
        batch=sizes.batch,
        few=sizes.few,
    )


# --- monitors ------------------------------------------------------------------------------------


def _monitors(sizes: Sizes) -> str:
    rng = np.random.default_rng(0)
    y = rng.integers(0, K, sizes.samples)
    X, labels = rng.normal(size=(len(y), D)) + y[:, None], y.tolist()
    rows = []
    for name in ("CH", "WB", "XB", "DB", "PBM", "NI"):
        measured = in_turns(_ways(name, X, labels), 3)
        cells = [
            duration(measured[way].median / count) if way in measured else "-"
            for way, count in _counts(len(X)).items()
        ]
        rows.append([name, *cells])
    return table(["index", "add", "add, value", "add_many", "cvi"], rows)


def _counts(n: int) -> dict[str, int]:
    """Samples that every way is given."""
    return {"add": n, "value": max(n // 20, 20), "many": n, "cvi": max(n // 20, 20)}


def _ways(name: str, X: Rows, labels: list[int]) -> dict[str, Callable[[], Any]]:
    monitor, counts = IncrementalIndex(name), _counts(len(X))
    monitor.add_many(X[:100], labels[:100])
    monitor.add(X[0], 0)
    assert monitor.value is not None  # all of it is compiled

    def add() -> None:
        for x, label in zip(X, labels, strict=True):
            monitor.add(x, label)

    def value() -> None:
        for s in range(counts["value"]):
            monitor.add(X[s], labels[s])
            monitor.values()

    ways: dict[str, Callable[[], Any]] = {
        "add": add,
        "value": value,
        "many": lambda: monitor.add_many(X, labels),
    }
    package = import_module("cvi") if find_spec("cvi") else None
    if package is not None and hasattr(package, name):
        theirs = getattr(package, name)()
        with np.errstate(all="ignore"):
            for s in range(100):
                theirs.get_cvi(X[s], labels[s])

        def peer() -> None:
            for s in range(counts["cvi"]):
                theirs.get_cvi(X[s], labels[s])

        ways["cvi"] = peer
    return ways


# --- learners ------------------------------------------------------------------------------------


class Stationary:
    """A stream of clusters that stay where they are, until they are told to move."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(1)
        self.centres = 4.0 * np.random.default_rng(0).normal(size=(K, D))

    def rows(self, n: int) -> tuple[Rows, NDArray[np.int64]]:
        y = self.rng.integers(0, K, n)
        return self.centres[y] + self.rng.normal(size=(n, D)), y

    def move(self) -> None:
        self.centres = 4.0 * np.random.default_rng(2).normal(size=(K, D))


class RowByRow:
    """A clusterer of river, with the methods of scikit-learn's."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def partial_fit(self, X: Rows) -> None:
        for x in X:
            self.model.learn_one(dict(enumerate(x.tolist())))

    def predict(self, X: Rows) -> list[int]:
        return [self.model.predict_one(dict(enumerate(x.tolist()))) for x in X]


def _models(forgetting: float) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for index in ("CH", "NI"):
        found[f"ours, {index}"] = ICVIARTMAP(K, index=index, random_state=0)
        found[f"ours, {index}, forgetting={forgetting}"] = ICVIARTMAP(
            K, index=index, forgetting=forgetting, random_state=0
        )
    found["MiniBatchKMeans"] = MiniBatchKMeans(K, n_init=3, random_state=0)
    found["Birch"] = Birch(n_clusters=K, threshold=4.0)
    if find_spec("river"):
        river = import_module("river.cluster")
        found["river DBSTREAM"] = RowByRow(
            river.DBSTREAM(clustering_threshold=4.0, fading_factor=0.001, cleanup_interval=100)
        )
        found["river CluStream"] = RowByRow(
            river.CluStream(n_macro_clusters=K, max_micro_clusters=100, time_gap=500, seed=0)
        )
    return found


def _learners(sizes: Sizes) -> str:
    test, y = Stationary().rows(5000)
    rows = []
    for name, model in _models(0.999).items():
        slow = isinstance(model, RowByRow)
        rows.append([name, *_stream(model, sizes, sizes.few if slow else sizes.rows)])
    first = Stationary().rows(min(sizes.rows, 20_000))[0]
    for index in ("CH", "NI"):
        full = ICVIARTMAP(K, index=index, random_state=0).fit(first)
        ari = adjusted_rand_score(y, full.predict(test))
        name = f"a full fit of {len(first):,} rows, {index}"
        rows.append([name, "-", "-", f"{ari:.3f}", "-", "-", "-"])
    header = ["", "rows/s", "memory", "ARI", "told after", "ARI, 5,000 later", "ARI, 50,000 later"]
    return table(header, rows)


def _stream(model: Any, sizes: Sizes, n_rows: int) -> list[str]:
    stream, seconds, memory = Stationary(), 0.0, 0
    for first in range(0, n_rows, sizes.batch):
        X, _ = stream.rows(min(sizes.batch, n_rows - first))
        begin = time.perf_counter()
        model.partial_fit(X)
        if first >= 2 * sizes.batch or n_rows <= 2 * sizes.batch:  # after the start
            seconds += time.perf_counter() - begin
        if first <= n_rows // 2:
            memory = _resident()
    grown = _resident() - memory
    learned = max(n_rows - 2 * sizes.batch, min(n_rows, 2 * sizes.batch))
    before = _agreement(model, stream)
    stream.move()
    told, later = "-", []
    for first in range(0, min(50_000, n_rows), sizes.batch):
        model.partial_fit(stream.rows(min(sizes.batch, n_rows))[0])
        drift = getattr(model, "drift_", None)
        if told == "-" and drift is not None and len(drift.told):
            told = f"{int(drift.told[-1]) - n_rows:,}"
        if first + sizes.batch in (5000, 50_000):
            later.append(f"{_agreement(model, stream):.3f}")
    later = [*later, "-", "-"][:2]
    return [f"{learned / seconds:,.0f}", f"{grown / 2**20:+.1f} MB", f"{before:.3f}", told, *later]


def _agreement(model: Any, stream: Stationary) -> float:
    X, y = stream.rows(1000)
    return float(adjusted_rand_score(y, model.predict(X)))


def _resident() -> int:
    """Memory of the process, where Linux tells it."""
    path = Path("/proc/self/statm")
    return int(path.read_text().split()[1]) * 4096 if path.exists() else 0
