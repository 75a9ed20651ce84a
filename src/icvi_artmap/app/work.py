"""What a process of the workbench does: look at a file, fit, explain, write results.

One process does one fit and keeps its result, so that it can be asked about it. It ends when the
result is no longer wanted, and its memory with it.
"""

from __future__ import annotations

import csv
import io
import json
import os
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.callbacks import Watch
from icvi_artmap._support.progress import Bar, watch_fit
from icvi_artmap._support.wording import better, counted, number, short_percent
from icvi_artmap.app import columns
from icvi_artmap.preparation.used_columns import FILLED_WITH, with_note_on_gaps, without_constant
from icvi_artmap.tables import read_table, write_table
from icvi_artmap.tables.reading import missing_labels

if TYPE_CHECKING:
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
    from icvi_artmap.inspection.profiles import Profiles
    from icvi_artmap.tables import Table

#: The largest number of rows on a map.
DRAWN = 5_000
#: What stands for a row of no cluster.
NOISE = -1


class Request(NamedTuple):
    """A table to read, and how it is to be clustered."""

    path: str
    name: str  #: what messages, titles and commands call the file
    columns: list[str]
    settings: dict[str, Any]
    label_column: str | None = None
    id_column: str | None = None


class Work:
    """The result of a fit, and what can be asked about it."""

    def __init__(self) -> None:
        self.request: Request
        self.table: Table
        self.model: ICVIARTMAP
        self.notes: list[str]
        self.truth: NDArray[Any] | None

    # --- before a fit ----------------------------------------------------------------------------

    def look(self, path: str) -> bytes:
        """The columns of a file."""
        return _json(columns.described_columns(_beside(path)))

    def prepare(self) -> None:
        """Import what a fit needs, so that it begins at once when it is asked for."""
        import icvi_artmap.estimators.icvi_artmap
        import icvi_artmap.estimators.table_fit
        import icvi_artmap.report.writing  # noqa: F401

    # --- the fit ---------------------------------------------------------------------------------

    def fit(self, bar: Bar, **given: Any) -> bytes:
        """Fit, and return all that the page shows."""
        from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
        from icvi_artmap.estimators.table_fit import fit_table

        self.request = Request(**given)
        began = time.perf_counter()
        bar.say("reading")
        self.table = self._read()
        self.truth = _known(self.table.labels)
        self.model = ICVIARTMAP(**self.request.settings)
        watch = _Keeping(watch_fit(bar))
        bar.say("fitting")
        self.notes, rows = fit_table(self.model, self.table, watch)
        seconds = time.perf_counter() - began
        bar.say("drawing")
        return self._result(rows, watch.partitions, seconds)

    def _read(self) -> Table:
        asked = self.request
        fills = asked.settings["missing"] in FILLED_WITH
        table = read_table(
            _beside(asked.path),
            columns=asked.columns,
            label_column=asked.label_column,
            id_column=asked.id_column,
            missing="keep" if fills else _reader_word(asked.settings["missing"]),
        )
        table = without_constant(table, asked.name)
        return with_note_on_gaps(table, FILLED_WITH[asked.settings["missing"]]) if fills else table

    def _result(
        self, X: NDArray[np.floating], partitions: list[NDArray[np.int32]], seconds: float
    ) -> bytes:
        from icvi_artmap.inspection.profiles import profiles as profiles_of
        from icvi_artmap.report import points
        from icvi_artmap.report.reading import readings

        model, table = self.model, self.table
        index, names = model.fitted_.index, model.fitted_.profiled_names(list(table.columns))
        profiles = profiles_of(model)
        rng = np.random.RandomState(0)
        nobody = np.empty(0, np.int64)
        rows = points.chosen_rows(model.labels_, model.n_clusters_, DRAWN, nobody, rng)
        ids = [self._names()[row] for row in rows]
        drawn = points.map_points(model, X, rows, names, ids, profiles)
        facts = {
            "rows": len(table),
            "columns": len(table.columns),
            "n_clusters": model.n_clusters_,
            "index": index.name,
            "index_value": number(model.index_value_),
            "better": better(index.direction),
            "noise": int((model.labels_ == NOISE).sum()),
            "seconds": round(seconds, 1),
            "readings": [
                {"tone": sentence.tone, "text": sentence.text}
                for sentence in readings(model, None, None, self._agreement_with_truth())
            ],
            "notes": self.notes,
            "clusters": self._clusters(profiles, names),
            "settings": self._settings(),
            "asked": self._asked(),
            "drawn": rows.tolist(),
            "path": self._path(partitions, rows),
        }
        return _json(facts)[:-1] + b',"map":' + drawn.json.encode() + b"}"

    def _clusters(self, profiles: Profiles, names: list[str]) -> list[dict[str, Any]]:
        from icvi_artmap.inspection.profiles import sizes
        from icvi_artmap.report.reading import telling

        n = sizes(self.model)
        return [
            {
                "rows": int(n[i]),
                "share": short_percent(n[i] / len(self.table)),
                "text": telling(profiles, i, names),
            }
            for i in range(self.model.n_clusters_)
        ]

    def _asked(self) -> dict[str, Any]:
        """What the page asks for to have this fit again."""
        settings = dict(self.request.settings)
        return {
            "columns": self.request.columns,
            "label_column": self.request.label_column,
            "id_column": self.request.id_column,
            "seed": settings.pop("random_state"),
            **settings,
        }

    def _settings(self) -> list[str]:
        """The settings that tell this fit from another, in words."""
        asked = self.request.settings
        used = counted(len(self.request.columns), "column")
        words = [f"{asked['n_clusters']} clusters", asked["index"], used]
        if asked["shape"] != "gaussian":
            words.append(f"shape {asked['shape']}")
        if asked["missing"] != "error":
            words.append(f"missing values: {asked['missing']}")
        if asked["transform_columns"] != "clip":
            words.append(f"long tails: {asked['transform_columns']}")
        if asked["noise"]:
            words.append("noise left out")
        return [*words, f"seed {asked['random_state']}"]

    def _path(
        self, partitions: list[NDArray[np.int32]], rows: NDArray[np.int64]
    ) -> dict[str, Any] | None:
        """The numbers of clusters that were tried, and the partition into each on the map."""
        from icvi_artmap.report.page import environment
        from icvi_artmap.report.writing import selection_chart

        selection = getattr(self.model, "selection_", None)
        if selection is None or not partitions or selection.joins:
            return None
        chart: Any = environment().get_template("charts.html.j2").module
        drawn = selection_chart(self.model)
        return {
            "k": selection.k.tolist(),
            "chosen": selection.n_clusters,
            "rule": selection.rule,
            "criterion": [number(value) for value in selection.criterion],
            "chart": "" if drawn is None else str(chart.line(drawn)),
            "partitions": {
                int(labels.max()) + 1: self._preview(self._for_all_rows(labels), rows)
                for labels in partitions
            },
        }

    def _for_all_rows(self, labels: NDArray[np.int32]) -> NDArray[np.int64]:
        """Rows that clusters were not found on are in none."""
        trained = self.model.fitted_.trained
        if trained is None:
            return labels.astype(np.int64)
        whole = np.full(len(self.table), NOISE)
        whole[trained] = labels
        return whole

    def _preview(self, labels: NDArray[np.int64], rows: NDArray[np.int64]) -> dict[str, Any]:
        """A partition as the map has it: numbered by size, in colours of the fitted clusters.

        A cluster has the colour of the fitted one that it shares most rows with.
        """
        from icvi_artmap._support.colours import style

        labels, sizes = _by_size(labels)
        looks = [style(i) for i in _colours(labels, self.model.labels_, len(sizes))]
        return {
            "clusters": labels[rows].tolist(),
            "sizes": sizes.tolist(),
            "colours": [look.colour for look in looks],
            "marks": [look.marker for look in looks],
        }

    # --- questions about the result --------------------------------------------------------------

    def explain(self, row: int) -> bytes:
        """Why a row, by its position in the table, is in its cluster."""
        from dataclasses import replace

        from icvi_artmap.inspection.explain import explain

        if not 0 <= row < len(self.table):
            raise ValueError(f"There is no row {row}: positions are 0 to {len(self.table) - 1}.")
        found = explain(self.model, self.table.cells()[[row]], samples=[row])
        name = self._names()[row]
        found = replace(found, sample_names=[name])
        return _json(
            {
                "row": row,
                "name": name,
                "cluster": int(self.model.labels_[row]),
                "text": found.to_text(),
            }
        )

    def find(self, name: str) -> bytes:
        """Explain the first row that is called so."""
        names = [known.strip() for known in self._names()]
        if name.strip() not in names:
            raise ValueError(f"There is no row {name.strip()!r}. The first is {names[0]!r}.")
        return self.explain(names.index(name.strip()))

    def partition(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Places of the rows in the file, and their clusters."""
        return self.table.rows, self.model.labels_

    def agreement(self, rows: NDArray[np.int64], labels: NDArray[np.int64]) -> bytes:
        """How much this partition and another agree, on rows that both have in a cluster."""
        from icvi_artmap.report.quality import agreement

        _, mine, theirs = np.intersect1d(self.table.rows, rows, return_indices=True)
        ours, others = self.model.labels_[mine], labels[theirs]
        both = (ours >= 0) & (others >= 0)
        return _json(
            {
                "rows": int(both.sum()),
                "agreement": agreement(ours[both], others[both]) if both.any() else None,
            }
        )

    # --- results as files ------------------------------------------------------------------------

    def labels(self, path: str) -> None:
        """The cluster of every row."""
        table, ids = self.table, self.table.ids
        names = {"row": table.rows + 1} if ids is None else {"id": np.array(ids, dtype=str)}
        write_table(path, {**names, "cluster": self.model.labels_})

    def save(self, path: str) -> None:
        """The model, for predict and explain."""
        from icvi_artmap.persistence.save_load import save

        save(self.model, path)

    def report(self, path: str, bar: Bar) -> None:
        """The report."""
        from icvi_artmap.report import write_report

        bar.say("writing the report")
        write_report(
            path,
            self.model,
            self.table.cells(),
            feature_names=self.table.columns,
            ids=self._names(),
            truth=self.truth,
            title=f"Clusters of {self.request.name}",
            notes=self.notes,
            command=_command(self.request),
            random_state=self.model.random_state,
        )

    # --- what these share ------------------------------------------------------------------------

    def _names(self) -> list[str]:
        """What the rows are called."""
        if self.table.ids is not None:
            return self.table.ids
        return [str(row + 1) for row in self.table.rows]

    def _agreement_with_truth(self) -> float | None:
        from icvi_artmap.report.quality import agreement

        if self.truth is None:
            return None
        known = np.array([group is not None for group in self.truth]) & (self.model.labels_ >= 0)
        return agreement(self.truth[known].astype(str), self.model.labels_[known])


class _Keeping(Watch):
    """A watch that keeps the partitions tried, and tells another of all else."""

    wants_partitions = True

    def __init__(self, other: Watch) -> None:
        self._other = other
        self.partitions: list[NDArray[np.int32]] = []

    def begin(self, task: str, n_subtasks: int | None = 0) -> None:
        if task == "choose":
            self.partitions = []  # those of a trial before this fit
        self._other.begin(task, n_subtasks)

    def end(self, subject: Any = None) -> bool:
        return self._other.end(subject)

    def tried(self, labels: NDArray[np.int64]) -> None:
        self.partitions.append(labels.astype(np.int32))


def _beside(path: str) -> str:
    """The path from the folder that the file is in, where we go: so messages have no folders."""
    folder, name = os.path.split(path)
    os.chdir(folder)
    return os.path.join(".", name)


def _reader_word(missing: str) -> Any:
    """What the reader of tables calls a treatment of missing values."""
    return "refuse" if missing == "error" else missing


def _known(labels: NDArray[Any] | None) -> NDArray[Any] | None:
    """Known groups with None where there is none; None if there are none at all."""
    if labels is None or missing_labels(labels).all():
        return None
    groups = labels.astype(object)
    groups[missing_labels(labels)] = None
    return groups


def _by_size(labels: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Clusters numbered by size, the largest first, and their sizes; noise stays noise."""
    sizes = np.bincount(labels[labels >= 0])
    order = np.argsort(-sizes, kind="stable")
    number_of = np.empty(len(sizes) + 1, np.int64)
    number_of[order], number_of[-1] = np.arange(len(sizes)), NOISE
    return number_of[labels], sizes[order]


def _colours(labels: NDArray[np.int64], fitted: NDArray[np.int64], k: int) -> list[int]:
    """For every cluster the number whose colour it gets.

    It is that of the fitted cluster that it shares most rows with, if no other cluster shares more
    with that one; else one that no fitted cluster has.
    """
    from scipy.optimize import linear_sum_assignment

    both = (labels >= 0) & (fitted >= 0)
    common = np.zeros((k, int(fitted.max(initial=0)) + 1))
    np.add.at(common, (labels[both], fitted[both]), 1.0)
    colours = [-1] * k
    for mine, theirs in zip(*linear_sum_assignment(-common), strict=True):
        if common[mine, theirs] > 0:
            colours[mine] = int(theirs)
    fresh = iter(range(common.shape[1], common.shape[1] + k))
    return [next(fresh) if colour < 0 else colour for colour in colours]


def _command(request: Request) -> str:
    """The command that makes the same clusters."""
    asked, line = request.settings, io.StringIO()
    csv.writer(line, lineterminator="").writerow(request.columns)
    words = ["icvi-artmap", "fit", request.name, "-k", str(asked["n_clusters"])]
    words += ["--index", asked["index"], "--columns", line.getvalue()]
    words += ["--missing", _reader_word(asked["missing"])]
    words += ["--transform", asked["transform_columns"], "--shape", asked["shape"]]
    words += ["--seed", str(asked["random_state"])]
    if asked["noise"]:
        words.append("--noise")
    if request.label_column is not None:
        words += ["--label-column", request.label_column]
    if request.id_column is not None:
        words += ["--id-column", request.id_column]
    return shlex.join([*words, "--report", f"{Path(request.name).stem}.html"])


def _json(content: Any) -> bytes:
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()
