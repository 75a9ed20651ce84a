"""``icvi-artmap watch``: clusters of rows that keep coming."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from icvi_artmap._support.wording import counted, number
from icvi_artmap.cli.common import (
    MODEL_SUFFIXES,
    STANDARD_STREAM,
    ColumnsOption,
    IndexName,
    IndexOption,
    QuietOption,
    SeedOption,
    Target,
    check_targets,
    name_of,
    parse_clusters,
    parse_names,
)

if TYPE_CHECKING:
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP

RowsArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A file of text that grows, cells between commas, semicolons, tabs or blanks; - is "
        "standard input.",
        show_default=False,
    ),
]
ClustersOption = Annotated[
    str,
    typer.Option(
        "-k",
        "--clusters",
        metavar="N",
        help="The number of clusters: 8; auto; or 2:20 to choose from, by the first rows.",
    ),
]
KeptOption = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        metavar="FILE",
        help="Where the model is kept (.icvi). If it is there, it goes on learning.",
        show_default=False,
    ),
]
EveryOption = Annotated[
    float,
    typer.Option(min=0.0, metavar="SECONDS", help="Write the model, and print, so often."),
]
WarmUpOption = Annotated[
    int, typer.Option(min=2, metavar="ROWS", help="Rows that are collected before the start.")
]
MemoryOption = Annotated[
    int, typer.Option(min=2, metavar="ROWS", help="Rows that are remembered, at most --warm-up.")
]
ForgettingOption = Annotated[
    float,
    typer.Option(
        min=0.0,
        max=1.0,
        metavar="PART",
        help="What the weight of earlier rows is multiplied by with every row, as 0.999.",
    ),
]
FollowOption = Annotated[
    bool, typer.Option("--follow/--no-follow", help="Wait for more rows at the end of the file.")
]
LinesOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object a line, for scripts.")
]


def watch(
    data: RowsArgument,
    model: KeptOption,
    clusters: ClustersOption = "8",
    index: IndexOption = IndexName.NI,
    columns: ColumnsOption = None,
    every: EveryOption = 10.0,
    warm_up: WarmUpOption = 1000,
    memory: MemoryOption = 1000,
    forgetting: ForgettingOption = 1.0,
    follow: FollowOption = True,
    seed: SeedOption = 0,
    quiet: QuietOption = False,
    as_json: LinesOption = False,
) -> None:
    """Learn clusters from rows that keep coming, and say how they change.

    The model is written again and again. However the program ends, the same command goes on: of a
    file no row is lost, of standard input those since the model was last written.
    """
    check_targets([Target("--model", model, MODEL_SUFFIXES)], [data])
    settings = {
        "n_clusters": parse_clusters(clusters),
        "index": index.value,
        "warm_up": warm_up,
        "memory": memory,
        "forgetting": forgetting,
        "random_state": seed,
    }
    teller = Teller(quiet, as_json)
    Watcher(model, settings, data, parse_names(columns), every, teller).run(follow)


class Teller:
    """Prints what has changed, a line at a time."""

    def __init__(self, quiet: bool, as_json: bool) -> None:
        self.quiet, self.as_json = quiet, as_json
        self._rows = -1  # of the model that was told of last
        if quiet:
            import os

            os.environ["ICVI_ARTMAP_QUIET"] = "1"  # silences the compiler, too

    def tell(self, event: str, model: ICVIARTMAP, left_out: int, break_at: int | None) -> None:
        """``event``: "goes on", "begins", "now" or "break"."""
        told_already = event == "now" and model.n_samples_seen_ == self._rows
        if self.quiet or told_already:
            return
        self._rows = model.n_samples_seen_
        facts = self._facts(event, model, left_out, break_at)
        if self.as_json:
            import json

            print(json.dumps(facts), flush=True)
        else:
            print(self._line(facts), flush=True)

    @staticmethod
    def _facts(
        event: str, model: ICVIARTMAP, left_out: int, break_at: int | None
    ) -> dict[str, Any]:
        moments = model.fitted_.moments
        value = model.index_value_
        return {
            "event": event,
            "rows": model.n_samples_seen_,
            "left_out": left_out,
            "index": model.fitted_.index.name,
            "value": value if abs(value) < float("inf") else None,
            "clusters": (moments.n / moments.n.sum()).round(4).tolist(),
            "drift": round(model.drift_.level, 3),
            "break": break_at,
        }

    @staticmethod
    def _line(facts: dict[str, Any]) -> str:
        shares = " ".join(f"{100.0 * share:.1f}%" for share in facts["clusters"])
        line = (
            f"{counted(facts['rows'], 'row')}: {facts['index']} = {number(facts['value'], 6)}, "
            f"{counted(len(facts['clusters']), 'cluster')}: {shares}"
        )
        if facts["left_out"]:
            line += f"; {counted(facts['left_out'], 'line')} left out"
        if facts["event"] == "break":
            return f"The clusters changed after row {facts['break']:,}.\n{line}"
        return f"Going on after {line}" if facts["event"] == "goes on" else line


class Watcher:
    """Reads rows, learns them, and writes the model at intervals."""

    def __init__(
        self,
        path: str,
        settings: dict[str, Any],
        data: str,
        columns: list[str] | None,
        every: float,
        teller: Teller,
    ) -> None:
        self.path, self.settings, self.data = path, settings, data
        self.columns, self.every, self.teller = columns, every, teller
        self.model: ICVIARTMAP
        self.names: list[str] | None = None  #: of the columns
        self._to_skip = 0  # rows that the model has learned
        self._seen = 0  # rows that were read
        self._kept = 0  # rows that the model in the file has learned
        self._breaks = 0  # that were told

    def run(self, follow: bool) -> None:
        import time

        from icvi_artmap.tables.following import FollowedRows

        self._begin()
        rows = FollowedRows(self.data, self.columns or self.names, follow)
        written = time.monotonic()
        try:
            for X in rows:
                self._learn(self._new(X), rows.names, rows.left_out)
                if time.monotonic() - written >= self.every:
                    self._write(rows.left_out)
                    written = time.monotonic()
            self._check_rows()
        finally:
            self._write(rows.left_out)

    def _begin(self) -> None:
        """Make a model, or go on with the one that is there."""
        from pathlib import Path

        from icvi_artmap.cli.models import load_model
        from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP

        if not Path(self.path).exists():
            self.model = ICVIARTMAP(**self.settings)
            self._check_settings()
            return
        self.model, self.names = load_model(self.path)
        if not hasattr(self.model, "stream_"):
            raise ValueError(
                f"{self.path!r} was not written by watch: it has no rows to go on with. Give "
                "--model another name."
            )
        before = self.model.get_params()
        other = [name for name, value in self.settings.items() if before[name] != value]
        if other:
            raise ValueError(
                f"{self.path!r} was made with another {', '.join(other)}. Use the same options to "
                "go on with it, or give --model another name."
            )
        self._breaks = len(self.model.drift_.breaks)
        self._kept = self.model.n_samples_seen_
        if self.data != STANDARD_STREAM:
            self._to_skip = self.model.n_samples_seen_
        self.teller.tell("goes on", self.model, 0, None)

    def _check_settings(self) -> None:
        if self.settings["forgetting"] == 0.0:
            raise ValueError("--forgetting must be above 0.")
        if self.settings["memory"] > self.settings["warm_up"]:
            raise ValueError("--memory must be at most --warm-up.")

    def _new(self, X: Any) -> Any:
        """The rows that the model has not seen."""
        self._seen += len(X)
        skipped = min(self._to_skip, len(X))
        self._to_skip -= skipped
        return X[skipped:]

    def _check_rows(self) -> None:
        if self._to_skip:
            raise ValueError(
                f"{name_of(self.data)!r} has {counted(self._seen, 'row')}, but the model has "
                f"learned {self.model.n_samples_seen_:,} of them. Is it another file?"
            )

    def _learn(self, X: Any, names: list[str], left_out: int) -> None:
        if len(X) == 0:
            return
        started = hasattr(self.model, "stream_")
        k = getattr(self.model, "n_clusters_", None)
        self.model.partial_fit(X)
        self.names = names
        if not hasattr(self.model, "stream_"):
            return
        breaks = self.model.drift_.breaks
        if len(breaks) > self._breaks:
            self._breaks = len(breaks)
            self.teller.tell("break", self.model, left_out, int(breaks[-1]))
        elif not started:
            self.teller.tell("begins", self.model, left_out, None)
        elif self.model.n_clusters_ != k:
            self.teller.tell("now", self.model, left_out, None)

    def _write(self, left_out: int) -> None:
        """Keep the model, if there is one and it has learned something."""
        if not hasattr(self.model, "stream_") or self.model.n_samples_seen_ == self._kept:
            return
        import numpy as np

        from icvi_artmap.persistence.save_load import save

        self.model.feature_names_in_ = np.array(self.names, dtype=object)
        save(self.model, self.path)
        del self.model.feature_names_in_
        self._kept = self.model.n_samples_seen_
        self.teller.tell("now", self.model, left_out, None)
