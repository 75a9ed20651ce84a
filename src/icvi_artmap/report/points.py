"""The points of the map: which rows are drawn, along which axes, as JSON that HTML may hold."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.colours import style
from icvi_artmap._support.wording import short_percent
from icvi_artmap.inspection.profiles import sizes
from icvi_artmap.report.directions import principal, separating

if TYPE_CHECKING:
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
    from icvi_artmap.inspection.profiles import Profiles

#: The least number of rows drawn of every cluster that has them.
FROM_EVERY_CLUSTER = 10
#: The largest number of features to choose axes from; 5,000 points of 6 digits then take 2 MB.
MOST_AXES = 50
#: Significant digits of a number that is not whole.
DIGITS = 6
#: A whole number up to this is exact in JavaScript.
EXACT = 2**53
#: The number of features in a tooltip beside those of the axes.
IN_TOOLTIP = 6


@dataclass(frozen=True)
class Points:
    """The rows on the map and the axes to draw them along.

    Attributes
    ----------
    rows : ndarray of int
        The rows drawn.
    features : ndarray of int
        The features that can be chosen.
    variance : ndarray of shape (2,) or (0,)
        Part of the variance along the two principal components.
    separation : ndarray of shape (2,) or (0,)
        Part of what separates the clusters along the two directions that do so best.
    json : str
        Everything the map needs, for a script element.
    """

    rows: NDArray[np.int64]
    features: NDArray[np.int64]
    variance: NDArray[np.float64]
    separation: NDArray[np.float64]
    json: str


def chosen_rows(
    labels: NDArray[np.int64],
    k: int,
    most: int,
    wanted: NDArray[np.int64],
    rng: np.random.RandomState,
) -> NDArray[np.int64]:
    """At most ``most`` rows, in their order: a few of every cluster, the wanted ones, then any."""
    n = len(labels)
    if n <= most:
        return np.arange(n)
    order = rng.permutation(n)
    at_least = min(FROM_EVERY_CLUSTER, most // (2 * k))
    sorted_order = order[np.argsort(np.maximum(labels[order], -1), kind="stable")]
    counts = np.bincount(np.maximum(labels, -1) + 1, minlength=k + 1)  # noise is -1
    begin = np.concatenate([[0], np.cumsum(counts)[:-1]])
    rank = np.arange(n) - np.repeat(begin, counts)
    few = sorted_order[rank < at_least]
    ranked = np.concatenate([few, wanted, order])
    _, first = np.unique(ranked, return_index=True)
    return np.sort(ranked[np.sort(first)[:most]])


def map_points(
    model: ICVIARTMAP,
    X: NDArray[np.floating],
    rows: NDArray[np.int64],
    names: list[str],
    ids: list[str],
    profiles: Profiles,
) -> Points:
    """Place the rows along pairs of directions (:mod:`directions`) and along every feature."""
    features = most_telling(model)[:MOST_AXES]
    features = np.sort(features)
    shown = X[rows]
    if model.preparation_ is not None:
        shown = model.preparation_.described(shown)
    d = shown.shape[1]
    place = {int(f): i for i, f in enumerate(features)}
    table = model.fitted_.in_deviations(X[rows])
    clusters = np.maximum(model.labels_[rows], -1)
    varied, apart = principal(table), separating(table, clusters)
    directions = np.hstack([varied.vectors, apart.vectors])
    columns = ((table - table.mean(axis=0)) @ directions).T
    called = [
        *(f"component {i + 1} ({short_percent(part)})" for i, part in enumerate(varied.parts)),
        *(
            f"direction {i + 1} ({short_percent(part) if part else 'what is left'})"
            for i, part in enumerate(apart.parts)
        ),
    ]
    axes = [
        {"name": name, "values": _short(column)}
        for name, column in zip(called, columns, strict=True)
    ]
    views = [{"name": "principal components", "axes": [0, 1]}] if len(varied.parts) else []
    if len(apart.parts):
        views.append({"name": "best separating directions", "axes": [2, 3]})
    first = len(axes)
    axes += [{"name": names[f], "values": _short(shown[:, f])} for f in features]
    telling = [
        [first + place[int(f)] for f in order if int(f) in place][:IN_TOOLTIP]
        for order in profiles.order
    ]
    # Two features are drawn as they are; one feature against the clusters, which is axis -1.
    start = [0, -1] if d == 1 else [first, first + 1] if d == 2 else [0, 1]
    looks = [style(i) for i in range(model.n_clusters_)]
    content = {
        "clusters": clusters.tolist(),
        "ids": ids,
        "axes": axes,
        "components": first,
        "views": views,
        "start": start,
        "colours": [look.colour for look in looks],
        "marks": [look.marker for look in looks],
        "sizes": sizes(model).tolist(),
        "pieces": _pieces(model, directions, table.mean(axis=0), features),
        "telling": telling,
        "digits": DIGITS,
    }
    return Points(rows, features, varied.parts, apart.parts, script_json(content))


def _pieces(
    model: ICVIARTMAP,
    directions: NDArray[np.float64],
    middle: NDArray[np.float64],
    features: NDArray[np.int64],
) -> dict[str, Any] | None:
    """The components that clusters were joined of, along every axis; None if they were not.

    "spreads" has the covariances of every two axes, row by row up to the diagonal. They are not
    many: a component has as many samples as a covariance has numbers, or more. Those of prepared
    rows are ellipses among these only, and are not drawn.
    """
    if not hasattr(model, "components_") or model.preparation_ is not None:
        return None
    found, scaling = model.components_, model.fitted_.scaling
    principal = (model.fitted_.in_deviations(found.means) - middle) @ directions
    centres = np.hstack([principal, found.means[:, features]])
    every = np.vstack([directions.T / scaling.deviation, np.eye(found.means.shape[1])[features]])
    spreads = every @ found.covariances @ every.T
    below = np.tril_indices(len(every))
    return {
        "clusters": found.clusters.tolist(),
        "centres": [_short(row) for row in centres],
        "spreads": [_short(spread[below]) for spread in spreads],
    }


def most_telling(model: ICVIARTMAP) -> NDArray[np.int64]:
    """Features by the part of their variance that lies between clusters, the largest first."""
    n, mean = model.fitted_.moments.n, model.fitted_.profiled()[0]
    between = (n[:, None] * mean**2).sum(axis=0)
    return np.argsort(-between, kind="stable")


def script_json(content: Any) -> str:
    """JSON that cannot end the script element it is in, whatever the strings are."""
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _short(values: NDArray[np.floating]) -> list[float]:
    """Whole numbers without change, others rounded to DIGITS."""
    found: list[float] = []
    for value in values.tolist():
        if abs(value) < EXACT and value == int(value):
            found.append(int(value))
        else:
            found.append(float(f"{value:.{DIGITS}g}"))
    return found
