"""write_report: check, compute, render, write."""

from __future__ import annotations

import os
import platform
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icvi_artmap._support.files import replaced
from icvi_artmap._support.version import __version__
from icvi_artmap._support.wording import better
from icvi_artmap.inspection import uncertain
from icvi_artmap.report import page, points, quality, reading
from icvi_artmap.report.charts import Chart, line_chart, tree_chart
from icvi_artmap.report.distributions import Distributions, distributions
from icvi_artmap.samples.scaling import learn_scaling

if TYPE_CHECKING:
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP

#: The largest numbers of uncertain samples, of features in profiles and of features described.
UNCERTAIN, PROFILED, DESCRIBED = 25, 30, 200
#: Classes are counted per cluster if there are no more of them than this.
COUNTED_CLASSES = 40
#: The largest number of characters of a parameter's value.
LONGEST_VALUE = 300
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


def write_report(
    path: str | os.PathLike[str],
    model: ICVIARTMAP,
    X: ArrayLike,
    *,
    feature_names: Sequence[str] | None = None,
    ids: Sequence[Any] | None = None,
    truth: ArrayLike | None = None,
    title: str | None = None,
    notes: Sequence[str] = (),
    command: str | None = None,
    max_points: int = 5000,
    random_state: int | np.random.RandomState | None = 0,
) -> Path:
    """Write a report on a clustering: one HTML file that needs no network.

    It says what was clustered and how, how good and how stable the partition is, what sets the
    clusters apart and which samples are uncertain, and has a map of the samples to look around in.

    Parameters
    ----------
    path : str or path
        The file to write; one that exists is replaced.
    model : ICVIARTMAP
        Fitted.
    X : array-like of shape (n_samples, n_features)
        The data it was fitted on.
    feature_names : sequence of str, optional
        By default those of the DataFrame it was fitted on, or "feature 0", "feature 1", ...
    ids : sequence, optional
        What the samples are called. By default the row names of a DataFrame, or 0, 1, ...
    truth : array-like of shape (n_samples,), optional
        Known classes, to compare with; None and NaN where unknown.
    title : str, optional
    notes : sequence of str, default=()
        Remarks on the data, such as columns that were left out.
    command : str, optional
        The command that makes the report again. By default Python code for the model.
    max_points : int, default=5000
        Draw no more samples than this on the map.
    random_state : int, RandomState instance or None, default=0
        Seed of what is drawn at random: samples, starts of other methods, halves.

    Returns
    -------
    path : Path
        The file written.

    Notes
    -----
    Other methods and refits get at most 5,000 samples, drawn at random, or 2,000 if they have many
    features; the report says where that is so. The same arguments give the same file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from icvi_artmap import ICVIARTMAP, write_report
    >>> X = [[0.0, 5.0], [1.0, 5.0], [2.0, 6.0], [10.0, 5.0], [11.0, 6.0], [12.0, 6.0]]
    >>> model = ICVIARTMAP(n_clusters=2, index="CH", random_state=0).fit(X)
    >>> with TemporaryDirectory() as folder:
    ...     written = write_report(Path(folder) / "report.html", model, X, title="Six points")
    ...     "<title>Six points</title>" in written.read_text(encoding="utf-8")
    True
    """
    page.environment()  # if jinja2 is missing, it is known before anything is computed
    path = _check_path(path)
    inputs = _check(model, X, feature_names, ids, truth, title, notes, command, max_points)
    html = _report(inputs, max_points, random_state)
    with replaced(path) as temporary:
        temporary.write_text(html, encoding="utf-8", newline="\n")
    return path


@dataclass(frozen=True)
class Inputs:
    """The arguments of write_report, checked."""

    model: ICVIARTMAP
    X: NDArray[np.floating]  #: with NaN where values are missing
    names: list[str]
    told: list[str]  #: names of the features of profiles
    ids: Sequence[Any]
    classes: list[str]  #: names of the known classes, none if there are none
    truth: NDArray[np.int64]  #: class of every sample, -1 where unknown
    title: str
    notes: list[str]
    command: str


# --- checks --------------------------------------------------------------------------------------


def _check_path(path: str | os.PathLike[str]) -> Path:
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(
            f"{str(path)!r} is a folder; give the path of a file, for example "
            f"{str(path / 'report.html')!r}."
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"The folder {str(path.parent)!r} of {path.name!r} does not exist. Create it first, or "
            "give another path."
        )
    return path


def _check(
    model: Any,
    X: Any,
    feature_names: Sequence[str] | None,
    ids: Sequence[Any] | None,
    truth: Any,
    title: str | None,
    notes: Sequence[str],
    command: str | None,
    max_points: int,
) -> Inputs:
    from sklearn.utils import check_array
    from sklearn.utils.validation import check_is_fitted

    from icvi_artmap._support.validation import check_integer, refuse_sparse
    from icvi_artmap.estimators.fitted import rows_of
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP

    if not isinstance(model, ICVIARTMAP):
        hint = " Pass its best_estimator_." if hasattr(model, "best_estimator_") else ""
        raise TypeError(f"model must be a fitted ICVIARTMAP, got {type(model).__name__}.{hint}")
    check_is_fitted(model)
    check_integer("max_points", max_points, 1)
    if isinstance(notes, str):
        raise TypeError(f"notes must be a sequence of strings, got one string: use [{notes!r}].")
    rows = getattr(X, "index", None)  # of a DataFrame
    if ids is None and rows is not None and not callable(rows):
        ids = list(rows)
    refuse_sparse(X)
    if model.preparation_ is None:
        table = check_array(X, dtype=[np.float64, np.float32])
    else:
        with warnings.catch_warnings():  # names of columns may come by another way
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            table = rows_of(model, X)
    n, d = table.shape
    _check_same_data(model, table)
    if feature_names is None:
        feature_names = getattr(model, "feature_names_in_", [f"feature {f}" for f in range(d)])
    names = [_text(name) for name in feature_names]
    if len(names) != d:
        raise ValueError(f"feature_names has {len(names)} names, but X has {d} features.")
    ids = range(n) if ids is None else ids
    if len(ids) != n:
        raise ValueError(f"ids has {len(ids)} entries, but X has {n} samples.")
    classes, codes = _classes(truth, n)
    return Inputs(
        model=model,
        X=table,
        names=names,
        told=model.fitted_.profiled_names(names),
        ids=ids,
        classes=classes,
        truth=codes,
        title=f"Clusters of {n:,} rows" if title is None else _text(title),
        notes=[_text(note) for note in notes],
        command=_python(model) if command is None else _text(command),
    )


def _check_same_data(model: ICVIARTMAP, X: NDArray[np.floating]) -> None:
    """Refuse data on which the clusters of the model have other means."""
    from icvi_artmap.estimators.fitted import is_training_data

    expected = (len(model.sample_clusters_), model.n_features_in_)
    if X.shape != expected:
        raise ValueError(
            f"X has shape {X.shape}, but the model was fitted on data of shape {expected}. "
            "Pass the data it was fitted on."
        )
    if not is_training_data(model, X):
        raise ValueError(
            "X is not the data that the model was fitted on, or not in the same order: its "
            "clusters have other means. Pass the data of fit."
        )


def _classes(truth: Any, n: int) -> tuple[list[str], NDArray[np.int64]]:
    """Names of the classes, in their order if they have one, and the class of every sample."""
    if truth is None:
        return [], np.empty(0, np.int64)
    values = np.asarray(truth, dtype=object)
    if values.shape != (n,):
        raise ValueError(
            f"truth has shape {values.shape}, but X has {n} samples: {(n,)} is needed."
        )
    known = [value is not None and value == value for value in values]  # NaN is not itself
    different = {value for value, is_known in zip(values, known, strict=True) if is_known}
    if not different:
        raise ValueError("truth has no class that is known. Leave it out.")
    try:
        ordered = sorted(different)
    except TypeError:  # a mixture of types
        ordered = sorted(different, key=str)
    number = {value: i for i, value in enumerate(ordered)}
    codes = [
        number[value] if is_known else -1 for value, is_known in zip(values, known, strict=True)
    ]
    return [_text(value) for value in ordered], np.array(codes, np.int64)


def _text(value: Any) -> str:
    """The value as text that UTF-8 can encode."""
    return str(value).encode("utf-8", "replace").decode("utf-8")


def _python(model: ICVIARTMAP) -> str:
    """Python code that makes the report again."""
    fitted = "fit(X, trace=True)" if hasattr(model, "index_trace_") else "fit(X)"
    return (
        "from icvi_artmap import ICVIARTMAP, write_report\n\n"
        f"model = {model!r}.{fitted}\n"
        'write_report("report.html", model, X)'
    )


# --- the parts of the report ---------------------------------------------------------------------


def _report(
    given: Inputs, max_points: int, random_state: int | np.random.RandomState | None
) -> str:
    from sklearn.utils import check_random_state

    from icvi_artmap.inspection.profiles import profiles as profiles_of

    model, X = given.model, given.X
    seen = model.fitted_.prepared(X)
    (n, d), k = X.shape, model.n_clusters_
    rng = check_random_state(random_state)
    placed = np.flatnonzero(model.labels_ >= 0)  # all but noise
    evaluated = quality.evaluated_rows(placed, seen.shape[1], k, rng)
    comparison = quality.compare(model, seen, evaluated, rng) if k > 1 else None
    stability = quality.stability_of(model, seen, random_state)
    doubtful = uncertain.least_certain(model, X, UNCERTAIN, rng)
    wanted = np.empty(0, np.int64) if doubtful is None else doubtful.rows
    rows = points.chosen_rows(model.labels_, k, max_points, wanted, rng)
    profiles = profiles_of(model)
    ids = [_text(given.ids[s]) for s in rows]
    drawn = points.map_points(model, X, rows, given.told, ids, profiles)
    truth_agreement, truth_rows = _truth_agreement(given, comparison)
    return page.render(
        k,
        title=given.title,
        notes=given.notes,
        command=given.command,
        n=n,
        placed=len(placed),
        d=d,
        model=model,
        index=model.fitted_.index,
        readings=reading.readings(model, comparison, stability, truth_agreement),
        described=_columns(given),
        comparison=comparison,
        truth=_counts(given),
        truth_agreement=truth_agreement,
        truth_rows=truth_rows,
        stability=stability,
        pairs=[] if stability is None else reading.mixed_pairs(stability),
        clusters=_clusters(given, profiles, stability),
        profile=_profile(given, profiles),
        distributions=_distributions(given),
        told_columns=len(given.told),
        uncertain=_uncertain(given, doubtful, rows),
        doubtful=doubtful,
        drawn=drawn,
        points_json=drawn.json,
        selection=getattr(model, "selection_", None),
        selection_chart=selection_chart(model),
        course_chart=_course_chart(model),
        joins=getattr(model, "joins_", None),
        tree=tree_chart(model.joins_) if hasattr(model, "joins_") else None,
        parameters=_parameters(model),
        versions={
            "icvi-artmap": __version__,
            "Python": platform.python_version(),
            **{name: version(name) for name in PACKAGES},
        },
    )


def _truth_agreement(
    given: Inputs, comparison: quality.Comparison | None
) -> tuple[float | None, list[float]]:
    """Agreement with the known classes: of this partition, and of each on the compared rows."""
    if not given.classes:
        return None, []
    known = (given.truth >= 0) & (given.model.labels_ >= 0)
    whole = quality.agreement(given.truth[known], given.model.labels_[known])
    if comparison is None:
        return whole, []
    part = given.truth[comparison.rows]
    known = part >= 0
    each = [quality.agreement(part[known], labels[known]) for labels in comparison.partitions]
    return whole, each


def _counts(given: Inputs) -> dict[str, Any] | None:
    """Samples of every class in every cluster."""
    if not given.classes:
        return None
    known = (given.truth >= 0) & (given.model.labels_ >= 0)
    table = np.zeros((given.model.n_clusters_, len(given.classes)), np.int64)
    np.add.at(table, (given.model.sample_clusters_[known], given.truth[known]), 1)
    few = len(given.classes) <= COUNTED_CLASSES
    return {
        "classes": given.classes,
        "table": table if few else None,
        "unknown": int((given.truth < 0).sum()),
    }


def _columns(given: Inputs) -> dict[str, Any]:
    """Range, mean and deviation of every column."""
    whole = given.model.fitted_.filled(given.X)
    X, scaling = whole[:, :DESCRIBED], given.model.fitted_.scaling
    if given.model.preparation_ is not None:
        scaling = learn_scaling(whole)
    low, high = X.min(axis=0), X.max(axis=0)
    return {
        "rows": [
            (
                name,
                low[f],
                scaling.mean[f],
                high[f],
                0.0 if low[f] == high[f] else scaling.deviation[f],
            )
            for f, name in enumerate(given.names[:DESCRIBED])
        ],
        "constant": [
            name
            for name, a, b in zip(given.names, whole.min(axis=0), whole.max(axis=0), strict=True)
            if a == b
        ],
    }


def _clusters(given: Inputs, profiles: Any, stability: quality.Stability | None) -> list[Any]:
    """Size, stability and description of every cluster."""
    from icvi_artmap.inspection.profiles import sizes

    n = sizes(given.model)
    return [
        {
            "n": int(n[i]),
            "overlap": np.nan if stability is None else stability.overlap[i],
            "text": reading.telling(profiles, i, given.told),
        }
        for i in range(given.model.n_clusters_)
    ]


def _profile(given: Inputs, profiles: Any) -> dict[str, Any]:
    """Means of the features that tell most, standardised and in the units of the data."""
    d = len(given.told)
    features = np.arange(d) if d <= PROFILED else points.most_telling(given.model)[:PROFILED]
    return {
        "names": [given.told[f] for f in features],
        "standardised": given.model.fitted_.profiled()[0][:, features],
        "mean": profiles.mean[:, features],
    }


def _distributions(given: Inputs) -> Distributions:
    """The columns as they are described, cluster by cluster."""
    model, X = given.model, given.X
    described = X if model.preparation_ is None else model.preparation_.described(X)
    return distributions(model, described, given.told, points.most_telling(model))


def _uncertain(
    given: Inputs, doubtful: uncertain.Uncertain | None, rows: NDArray[np.int64]
) -> list[Any]:
    """Rows of the table, with their places among the points of the map."""
    if doubtful is None:
        return []
    at = {int(row): i for i, row in enumerate(rows)}
    return [
        {
            "id": _text(given.ids[int(s)]),
            "cluster": int(given.model.sample_clusters_[s]),
            "runner_up": int(doubtful.runner_up[i]),
            "margin": float(doubtful.margin[i]),
            "point": at.get(int(s)),
        }
        for i, s in enumerate(doubtful.rows)
    ]


def selection_chart(model: ICVIARTMAP) -> Chart | None:
    """The criterion over the numbers of clusters that were tried."""
    selection = getattr(model, "selection_", None)
    if selection is None:
        return None
    return line_chart(
        selection.k,
        selection.criterion,
        x_label="number of clusters",
        y_label=f"{selection.rule} (least wins)",
        text=f"{selection.rule} for {selection.k[0]} to {selection.k[-1]} clusters; least at "
        f"{selection.n_clusters}.",
        marked=float(selection.n_clusters),
    )


def _course_chart(model: ICVIARTMAP) -> Chart | None:
    """The index during training: after every presentation if these values were kept."""
    name = model.fitted_.index.name
    label = f"{name} ({better(model.fitted_.index.direction)} is better)"
    if hasattr(model, "index_trace_"):
        trace = model.index_trace_
        n = len(trace) // model.n_iter_
        return line_chart(
            np.arange(1, len(trace) + 1),
            trace,
            x_label="presentations (lines: ends of epochs)",
            y_label=label,
            text=f"{name} after each of {len(trace):,} presentations.",
            borders=np.arange(n, len(trace), n),
        )
    history, epochs = model.index_history_, model.n_iter_
    refined = len(history) > epochs + 1
    return line_chart(
        np.arange(len(history)),
        history,
        x_label="epochs, then steps of refinement (from the line on)" if refined else "epochs",
        y_label=label,
        text=f"{name} at the start and after each of {len(history) - 1} steps.",
        borders=np.array([epochs + 0.5]) if refined else None,
    )


def _parameters(model: ICVIARTMAP) -> list[tuple[str, str, bool]]:
    """Name and value of every parameter, and whether the value differs from the default."""
    defaults = type(model)().get_params()
    found = []
    for name, value in model.get_params().items():
        if name == "index":
            text = model.fitted_.index.name
        elif isinstance(value, (list, tuple, np.ndarray)):
            text = f"array of shape {np.shape(value)}"
        else:
            text = _text(repr(value))[:LONGEST_VALUE]
        plain = isinstance(value, (str, int, float, type(None)))
        found.append((name, text, not (plain and value == defaults[name])))
    return found
