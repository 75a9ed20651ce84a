"""What ``partial_fit`` goes on with, to a file and back: the same rows then give the same model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
from icvi_artmap.estimators.restored import network_parameters
from icvi_artmap.network.resonance import BELOW_AB, RHO_A, RHO_AB
from icvi_artmap.persistence.contents import (
    ANY_CLUSTERS,
    CLUSTERS_PER_CATEGORY,
    LARGEST_MOMENT,
    MOST_SAMPLES,
    Contents,
    check_between,
    check_scatter,
)
from icvi_artmap.persistence.file_format import Arrays, ContentError
from icvi_artmap.samples.moments import Moments
from icvi_artmap.training.run import FitResult
from icvi_artmap.training.stream import (
    Start,
    Stream,
    StreamSettings,
    data_of,
    network_of,
    roomy,
)

#: The whole numbers of a stream, in their order.
NUMBERS = (
    "n_seen",
    "n_samples_seen",
    "seed",
    "n_clusters",
    "levels_at",
    "next_try",
    "n_start",
    "since_farther",
    "since_nearer",
    "quiet",
    "waiting",
)
#: Of the detector.
LEVELS = ("usual", "known", "farther", "nearer")
#: Seeds of a stream.
SEEDS = np.iinfo(np.int32).max
#: A detector that is quiet for good.
FOR_GOOD = np.iinfo(np.int64).max


def stream_arrays(model: ICVIARTMAP) -> Arrays:
    """What a stream knows beside the attributes of the model."""
    stream, k = model.stream_, model.stream_.k
    detector, moments = stream.detector, stream.moments
    arrays: Arrays = {
        "stream.numbers": np.array(
            [
                stream.n_seen,
                model.n_samples_seen_,
                stream.settings.seed,
                stream.settings.n_clusters,
                stream.levels_at,
                stream.next_try,
                len(stream.start.history),
                *detector.since,
                detector.quiet[0],
                stream.waiting is not None,
            ],
            np.int64,
        ),
        "stream.levels": np.array([detector.usual[0], detector.known[0], *detector.level]),
        "stream.table": stream.data.table,
        "stream.standardised": stream.data.turned,
        "stream.labels": stream.labels,
        "stream.categories": stream.alive_numbers()[stream.members.category],
        "stream.weights": moments.n[:k].astype(np.float64),
        "stream.mean": moments.mean[:k],
        "stream.compactness": moments.compactness[:k],
        "stream.scatter": moments.scatter[:k],
    }
    if stream.breaks:
        arrays["stream.breaks"] = np.array(stream.breaks, np.int64)
    if stream.waiting:
        arrays["stream.waiting"] = np.concatenate(stream.waiting)
    return arrays


def restore_stream(model: ICVIARTMAP, result: FitResult, contents: Contents) -> None:
    """Give a restored model the stream that it goes on with."""
    index, scaling = model.fitted_.index, model.fitted_.scaling
    n_categories, k = result.map_field.shape
    d = len(scaling.minimum)
    numbers = _take_numbers(contents, len(result.history))
    table = contents.take("stream.table", np.float64, None, d)
    check_between("stream.table", table, 0.0, 1.0)
    standardised = contents.take("stream.standardised", np.float64, len(table), d)
    check_between("stream.standardised", standardised, -LARGEST_MOMENT, LARGEST_MOMENT)
    check_between("stream.numbers", np.array([numbers["n_clusters"]]), 1, _most_clusters(table, k))
    categories = contents.positions("stream.categories", len(table), n_categories)
    if len(np.unique(categories)) < n_categories:
        raise ContentError("'stream.categories' leaves out a category")
    settings = StreamSettings(
        index, network_parameters(model), numbers["n_clusters"], model.forgetting, numbers["seed"]
    )
    data = data_of(table, standardised, scaling)
    network, members = network_of(
        result.boxes, result.map_field, categories, data, settings.n_clusters
    )
    reach = result.vigilances
    network.reach[[RHO_A, RHO_AB, BELOW_AB]] = reach.most_a, reach.most_ab, reach.above_ab
    at, weighted = numbers["n_start"], _take_weighted(contents, k, d, index.needs_scatter)
    stream = Stream(
        settings,
        scaling,
        Start(result.history[:at], result.epochs, result.converged),
        network,
        members,
        data,
        contents.positions("stream.labels", len(table), k),
        roomy(weighted, max(settings.n_clusters, k), index),
        numbers["n_seen"],
    )
    stream.history = result.history[at:]
    stream.levels_at, stream.next_try = numbers["levels_at"], numbers["next_try"]
    _set_detector(stream, numbers, contents.take("stream.levels", np.float64, len(LEVELS)))
    _set_breaks(stream, numbers, contents, d)
    model.stream_, model.n_samples_seen_ = stream, numbers["n_samples_seen"]
    model.drift_ = stream.drift


def _take_numbers(contents: Contents, n_history: int) -> dict[str, int]:
    array = contents.take("stream.numbers", np.int64, len(NUMBERS))
    numbers = dict(zip(NUMBERS, array.tolist(), strict=True))
    most = {"seed": SEEDS, "n_start": n_history, "waiting": 1, "quiet": FOR_GOOD}
    for name, number in numbers.items():
        highest = most.get(name, MOST_SAMPLES)
        if not 0 <= number <= highest:
            raise ContentError(f"its {name} is {number}, expected 0 to {highest}")
    return numbers


def _most_clusters(table: NDArray[np.float64], k: int) -> int:
    return max(ANY_CLUSTERS, CLUSTERS_PER_CATEGORY * len(table), k)


def _take_weighted(contents: Contents, k: int, d: int, with_scatter: bool) -> Moments:
    """Moments of all samples so far, whose frequencies are weights."""
    side = d if with_scatter else 0
    weights = contents.take("stream.weights", np.float64, k)
    mean = contents.take("stream.mean", np.float64, k, d)
    compactness = contents.take("stream.compactness", np.float64, k)
    scatter = contents.take("stream.scatter", np.float64, k, side, side)
    if not (weights > 0.0).all():
        raise ContentError("'stream.weights' has values that are not above 0")
    check_between("stream.weights", weights, 0.0, MOST_SAMPLES)
    check_between("stream.mean", mean, -LARGEST_MOMENT, LARGEST_MOMENT)
    check_between("stream.compactness", compactness, 0.0, LARGEST_MOMENT)
    check_between("stream.scatter", scatter, -LARGEST_MOMENT, LARGEST_MOMENT)
    for i in range(k if side else 0):
        check_scatter("stream.scatter", scatter[i], i)
    return Moments._make([np.array([k]), weights, mean, compactness, scatter, np.zeros(k)])


def _set_detector(stream: Stream, numbers: dict[str, int], levels: NDArray[np.float64]) -> None:
    check_between("stream.levels", levels, 0.0, LARGEST_MOMENT)
    detector = stream.detector
    detector.usual[0], detector.known[0] = levels[:2]
    detector.level[:] = levels[2:]
    detector.since[:] = numbers["since_farther"], numbers["since_nearer"]
    detector.quiet[0] = numbers["quiet"]


def _set_breaks(stream: Stream, numbers: dict[str, int], contents: Contents, d: int) -> None:
    if "stream.breaks" in contents:
        breaks = contents.take("stream.breaks", np.int64, None, 2)
        check_between("stream.breaks", breaks, 0, MOST_SAMPLES)
        stream.breaks = [(int(where), int(told)) for where, told in breaks]
    if numbers["waiting"]:
        stream.waiting = []
    if "stream.waiting" in contents:
        rows = contents.take("stream.waiting", np.float64, None, d)
        if stream.waiting is None:
            raise ContentError("'stream.waiting' has rows that nothing waits for")
        stream.waiting.append(rows)
