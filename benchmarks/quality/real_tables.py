"""Real tables with known classes: transforms of the columns, and peers."""

from __future__ import annotations

import os
from pathlib import Path
from statistics import fmean
from typing import Literal, get_args

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.common import Problem, data_folder, table
from benchmarks.quality import sets
from benchmarks.quality.methods import best_bold, hdbscan, kmeans, mixture
from benchmarks.quality.sets import Sizes
from icvi_artmap import ICVIARTMAP, read_table

Transform = Literal["none", "clip", "power", "auto"]
TRANSFORMS: tuple[Transform, ...] = get_args(Transform)
#: Rows of a table that are looked at, drawn at random from larger ones.
MOST_ROWS = 2_000
#: Pictures, by their names in the data folder; of their pixels the first principal components.
PICTURES = ("usps", "mnist", "fashion-mnist", "olivetti")
COMPONENTS = 20
PEERS = {"k-means": kmeans, "GMM": mixture, "HDBSCAN": hdbscan}
#: How much of the ARI of "none" a transform may lose and still be as good.
LOSS = 0.02

TEXT = """## Real tables

ARI with k given, and the number of clusters that `"auto"` chooses, on tables with known classes:
those of scikit-learn, the pictures of the data folder (their first {components} principal
components), and the NPZ files (`X`, `y`) of the folder that `ICVI_ARTMAP_TABLES` names, if it does.
Of more than {rows:,} rows so many are drawn at random. The columns of iNI are its
`transform_columns`; one seed. [Real tables](real_tables.md) says what this decided.
"""

MIXED_TEXT = """With categories: the CSV files of that folder; their column `class` has the classes.
ARI with k given; numbers alone, or with text and columns of two values (`categories`). All are
drawn in ("clip").
"""


def run_real_tables(sizes: Sizes) -> str:
    problems = _problems(sizes)
    aris: dict[str, list[float]] = {name: [] for name in (*TRANSFORMS, *PEERS)}
    chosen: dict[str, list[int]] = {name: [] for name in TRANSFORMS}
    rows = []
    for problem in problems:
        for transform in TRANSFORMS:
            aris[transform].append(_ari(problem, _labels(problem, transform, problem.k)))
            chosen[transform].append(len(np.unique(_labels(problem, transform, "auto"))))
        for name, method in PEERS.items():
            aris[name].append(_ari(problem, method(problem, 0, sizes.starts)))
        shape = f"{len(problem.X):,} × {problem.X.shape[1]}, k = {problem.k}"
        last = [values[-1] for values in aris.values()]
        numbers = [str(numbers[-1]) for numbers in chosen.values()]
        rows.append([f"{problem.name}: {shape}", *best_bold(last), *numbers])
    away = [_away(problems, numbers) for numbers in chosen.values()]
    rows.append(["mean", *best_bold([fmean(values) for values in aris.values()]), *away])
    header = ["set", *(f"iNI, {name}" for name in TRANSFORMS), *PEERS]
    header += [f"k: {name}" for name in TRANSFORMS]
    text = TEXT.format(components=COMPONENTS, rows=MOST_ROWS)
    note = "The mean of k is the mean of |ln(chosen / classes)|: 0.69 is twice or half as many."
    parts = [text, table(header, rows), "", note, "", _losses(problems, aris), "", _mixed(sizes)]
    return "\n".join(parts)


def _mixed(sizes: Sizes) -> str:
    """Numbers and categories, left out or used."""
    folder = os.environ.get("ICVI_ARTMAP_TABLES")
    paths = sorted(Path(folder).glob("*.csv"))[: sizes.tables] if folder else []
    if not paths:
        return ""
    header = ["set", *(f"{index}, {how}" for index in ("NI", "CH") for how in ("leave", "use"))]
    found = [_leave_and_use(path) for path in paths]
    rows = [[path.stem, *best_bold(aris)] for path, aris in zip(paths, found, strict=True)]
    means = [fmean(column) for column in zip(*found, strict=True)]
    return "\n".join([MIXED_TEXT, table(header, [*rows, ["mean", *best_bold(means)]]), ""])


def _leave_and_use(path: Path) -> list[float]:
    """ARI of NI and CH, each without and with the categories."""
    data = read_table(path, label_column="class", categories="use")
    rows = np.sort(np.random.RandomState(0).permutation(len(data))[:MOST_ROWS])
    assert data.labels is not None
    cells, y = data.cells()[rows], data.labels[rows]
    two = [f for f, column in enumerate(data.X[rows].T) if len(np.unique(column)) <= 2]
    coded = sorted({*two, *(data.columns.index(name) for name in data.words)})
    numbers = [f for f in range(len(data.columns)) if f not in coded]
    aris = []
    for index in ("NI", "CH"):
        model = ICVIARTMAP(len(np.unique(y)), index=index, transform_columns="clip", random_state=0)
        alone = model.fit(data.X[rows][:, numbers]).labels_
        both = model.set_params(categories=coded).fit(cells).labels_
        aris += [float(adjusted_rand_score(y, labels)) for labels in (alone, both)]
    return aris


def _losses(problems: list[Problem], aris: dict[str, list[float]]) -> str:
    """Against columns as they are: the sets that lose, and the worst."""
    rows = []
    for name in TRANSFORMS[1:]:
        leads = np.subtract(aris[name], aris["none"])
        worst, best = int(leads.argmin()), int(leads.argmax())
        rows.append(
            [
                name,
                str(int((leads > LOSS).sum())),
                str(int((np.abs(leads) <= LOSS).sum())),
                str(int((leads < -LOSS).sum())),
                f"{problems[worst].name}, {leads[worst]:+.2f}",
                f"{problems[best].name}, {leads[best]:+.2f}",
            ]
        )
    header = ["against none", "better", f"within {LOSS}", "worse", "worst set", "best set"]
    return table(header, rows)


def _problems(sizes: Sizes) -> list[Problem]:
    """The tables that are at hand, each with at most so many rows."""
    found = [sets.real_problem(name) for name in sizes.real if "PCA" not in name]
    paths = [data_folder() / "real" / f"{name}.npz" for name in PICTURES]
    folder = os.environ.get("ICVI_ARTMAP_TABLES")
    if folder:
        paths += sorted(Path(folder).glob("*.npz"))
    known = {problem.name for problem in found}
    for path in paths[: sizes.tables]:
        if path.exists() and path.stem not in known:
            found.append(_table(path))
    return found


def _table(path: Path) -> Problem:
    with np.load(path) as file:
        X, y = np.asarray(file["X"], float), file["y"].astype(np.int64)
    X = X.reshape(len(X), -1)
    rows = np.sort(np.random.RandomState(0).permutation(len(X))[:MOST_ROWS])
    X, y = X[rows], y[rows]
    X = sets.reduced(X, COMPONENTS) if path.stem in PICTURES else X[:, X.std(axis=0) > 0.0]
    return Problem(path.stem, np.ascontiguousarray(X), y, len(np.unique(y)))


def _labels(problem: Problem, transform: Transform, k: int | Literal["auto"]) -> np.ndarray:
    return ICVIARTMAP(k, transform_columns=transform, random_state=0).fit(problem.X).labels_


def _ari(problem: Problem, labels: np.ndarray) -> float:
    return float(adjusted_rand_score(problem.y, labels))


def _away(problems: list[Problem], numbers: list[int]) -> str:
    ratios = [abs(np.log(k / one.k)) for k, one in zip(numbers, problems, strict=True)]
    return f"{fmean(ratios):.2f}"
