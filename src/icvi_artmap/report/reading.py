"""Sentences about the numbers, for readers who do not know the methods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.wording import (
    counted,
    fixed,
    listed,
    number,
    parameter,
    percent,
    plural,
)
from icvi_artmap.inspection.profiles import n_shared, sizes
from icvi_artmap.report.quality import MIXTURE, Comparison, Stability

if TYPE_CHECKING:
    from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
    from icvi_artmap.inspection.profiles import Profiles

#: Agreement (adjusted Rand index) from which two partitions are nearly the same, or much alike.
SAME, ALIKE = 0.9, 0.7
#: Index values that differ by no more than this part are as good as each other.
CLOSE = 0.01
#: Overlap (Jaccard) below which a cluster is not found again: Hennig's bound.
LOST = 0.6
#: Two clusters are hard to tell apart if at least this part of their pairs of rows come together.
MIXED = 0.1
#: Effect (Cohen's d) from which a difference is named, is clear, is large.
NAMED, CLEAR, LARGE = 0.5, 0.8, 2.0
#: The largest numbers of pairs, clusters and features in a sentence.
MOST_PAIRS, MOST_CLUSTERS, MOST_FEATURES = 3, 5, 3
#: A cluster of fewer rows looks like outliers, unless the data have few rows in all.
FEW_ROWS, FEW_PART = 5, 0.01


@dataclass(frozen=True)
class Sentence:
    """A statement, and whether it reassures ("good"), warns ("beware") or only tells ("plain")."""

    tone: str
    text: str


def readings(
    model: ICVIARTMAP,
    comparison: Comparison | None,
    stability: Stability | None,
    truth_agreement: float | None,
    pairs: bool = True,
) -> list[Sentence]:
    """The sentences at the head of the report. ``pairs``: also which are hard to tell apart."""
    return [
        *_sizes(model),
        *_preparation(model),
        *_choice(model),
        *_training(model),
        *_stability(stability, pairs),
        *_comparison(model, comparison),
        *_truth(truth_agreement),
    ]


def _sizes(model: ICVIARTMAP) -> Iterator[Sentence]:
    noise, n = model.labels_ == -1, sizes(model)
    total, every, k = int(n.sum()), n_shared(model), model.n_clusters_
    if left_out := int((model.labels_ < -1).sum()):
        yield Sentence(
            "plain",
            f"{counted(left_out, 'row')} with missing values {'was' if left_out == 1 else 'were'} "
            "left out.",
        )
    if noise.any():
        yield Sentence(
            "plain",
            f"{counted(int(noise.sum()), 'row')} ({percent(noise.sum() / every)}) lie far from all "
            "clusters: noise, which belongs to none. The rest is about the others.",
        )
    if k == 1:
        yield Sentence("beware", f"All {total:,} rows are in one cluster: nothing was separated.")
        return
    largest, smallest = int(n.argmax()), int(n.argmin())
    if n[largest] == n[smallest]:
        told = f", with {n[largest]:,} rows each."
    else:
        told = (
            f". The largest is cluster {largest} with {n[largest]:,} rows "
            f"({percent(n[largest] / every)}), the smallest cluster {smallest} with "
            f"{n[smallest]:,} ({percent(n[smallest] / every)})."
        )
    joined = ""
    if hasattr(model, "joins_"):
        joined = f", joined of {counted(len(model.joins_.clusters), 'component')}"
    yield Sentence("plain", f"The {total:,} rows fall into {k} clusters{joined}{told}")
    few = np.flatnonzero((n < FEW_ROWS) & (n < FEW_PART * total))
    if len(few):
        yield Sentence(
            "beware",
            f"{_clusters(few, MOST_CLUSTERS)} {'has' if len(few) == 1 else 'have'} fewer than "
            f"{FEW_ROWS} rows: perhaps outliers rather than a group.",
        )
    d = model.fitted_.moments.mean.shape[1]
    starved = np.flatnonzero((n <= d) & ~((n < FEW_ROWS) & (n < FEW_PART * total)))
    if len(starved) and model.fitted_.index.gaussian:
        yield Sentence(
            "beware",
            f"{_clusters(starved, MOST_CLUSTERS)} {'has' if len(starved) == 1 else 'have'} no more "
            f"rows than the {d} columns: too few to tell a shape, which is guessed.",
        )


#: What was done to columns, in words.
TRANSFORMED = {
    "clip": "values beyond 3 robust deviations from the median were drawn in",
    "power": "every column was raised to a power that makes it less skewed",
}


def _preparation(model: ICVIARTMAP) -> Iterator[Sentence]:
    """What was done to the rows before, and what casts a doubt on the result."""
    made = model.preparation_
    if made is not None and model.fitted_.trained is not None and not made.drop:
        n = int(model.fitted_.trained.sum())
        yield Sentence(
            "plain",
            f"The clusters were found on the {n:,} rows without missing values; the other "
            f"{len(model.labels_) - n:,} were filled in and went to the clusters they fit best.",
        )
    if model.transform_columns == "auto":
        chosen = "none" if made is None else made.chosen
        yield Sentence(
            "plain",
            "Of three ways to treat long tails, that under which clusters describe the data best "
            f"was taken: {TRANSFORMED.get(chosen, 'the columns were left as they are')}.",
        )
    elif made is not None and made.chosen in TRANSFORMED:
        done = TRANSFORMED[made.chosen]
        yield Sentence("plain", f"{done[0].upper()}{done[1:]} before clusters were found.")
    for caution in model.cautions_:
        yield Sentence("beware", caution)


def _choice(model: ICVIARTMAP) -> Iterator[Sentence]:
    selection = getattr(model, "selection_", None)
    k = model.n_clusters_
    if selection is None:
        if isinstance(model.n_clusters, int) and k < model.n_clusters:
            yield Sentence(
                "beware", f"{model.n_clusters} clusters were asked for, but only {k} were found."
            )
        return
    low, high, chosen = int(selection.k[0]), int(selection.k[-1]), selection.n_clusters
    if selection.single:
        yield Sentence(
            "beware",
            f"{chosen} is the best number of clusters from {low} to {high}, but the data look like "
            "a single cluster: that would be better still.",
        )
    elif selection.repeated:
        yield Sentence(
            "beware",
            f"{chosen} clusters were found, one for at least every second different row: the "
            "values repeat, and each repeated row looks like a cluster.",
        )
    elif selection.limited:
        yield Sentence(
            "beware",
            f"The search for the number of clusters ended at {high}, where it still got better: "
            "there may be more clusters.",
        )
    elif selection.copies:
        yield Sentence(
            "beware",
            f"{chosen} is the best number of clusters from {low} to {high}. "
            f"{counted(selection.copies, 'row')} were left out of that choice: exact copies of "
            "others, more than rounding explains.",
        )
    elif selection.halves and selection.halves[-1] != chosen:
        yield Sentence(
            "beware",
            f"{chosen} is the best number of clusters from {low} to {high}, but not a sure one: on "
            f"a half of the rows {selection.halves[-1]} is better.",
        )
    elif selection.cautioned:
        yield Sentence(
            "plain",
            f"{chosen} is better than the other numbers of clusters from {low} to {high} by far, "
            "but what was said casts a doubt on the clusters.",
        )
    elif not selection.clear:
        rest = selection.k != chosen
        other = int(selection.k[rest][selection.criterion[rest].argmin()])
        yield Sentence(
            "beware",
            f"{chosen} is the best number of clusters from {low} to {high}, but {other} is nearly "
            "as good.",
        )
    else:
        # Halves are asked where clusters are Gaussian; joined ones were compared in one way only.
        how = "the best" if selection.joins else "clearly the best"
        again = ", also on both halves of the rows" if selection.halves else ""
        yield Sentence("good", f"{chosen} is {how} number of clusters from {low} to {high}{again}.")


def _training(model: ICVIARTMAP) -> Iterator[Sentence]:
    if not model.converged_:
        yield Sentence(
            "beware",
            f"Training was stopped after {model.n_iter_} epochs, before it had settled. "
            f"A larger {parameter('max_epochs')} may give better clusters.",
        )


def _stability(stability: Stability | None, pairs: bool = True) -> Iterator[Sentence]:
    if stability is None:
        return
    mean = float(stability.agreement.mean())
    halves = counted(len(stability.agreement), "random half")
    again = (
        f"Repeated on {halves} of {stability.n_rows:,} rows, the clustering came out {{}} "
        f"(agreement {fixed(mean, 2)}; 1 is the same, 0 is chance)."
    )
    if mean >= SAME:
        yield Sentence("good", again.format("nearly the same"))
    elif mean >= ALIKE:
        yield Sentence("plain", again.format("much alike, but not the same"))
    else:
        yield Sentence(
            "beware", again.format("differently") + " Do not rely on the borders of its clusters."
        )
    for i, j, part in mixed_pairs(stability)[:MOST_PAIRS] if pairs else ():
        yield Sentence(
            "beware",
            f"Clusters {i} and {j} are hard to tell apart: on such halves, a row of one and a row "
            f"of the other came into the same cluster in {percent(part)} of the cases.",
        )
    lost = lost_clusters(stability)
    if len(lost):
        yield Sentence(
            "beware",
            f"{_clusters(lost)} {'was' if len(lost) == 1 else 'were'} mostly not found "
            f"again: less than {percent(LOST)} overlap with any cluster there.",
        )


def lost_clusters(stability: Stability) -> NDArray[np.int64]:
    """Clusters that were mostly not found again."""
    return np.flatnonzero(stability.overlap < LOST)


def mixed_pairs(stability: Stability) -> list[tuple[int, int, float]]:
    """Pairs of clusters that are hard to tell apart, the hardest first."""
    mixing = np.triu(stability.mixing, 1)
    found = [(int(i), int(j), float(mixing[i, j])) for i, j in np.argwhere(mixing >= MIXED)]
    return sorted(found, key=lambda pair: -pair[2])


def _comparison(model: ICVIARTMAP, comparison: Comparison | None) -> Iterator[Sentence]:
    if comparison is None or len(comparison.names) == 1:
        return
    at = [index.name for index in comparison.indices].index(model.fitted_.index.name)
    name, values = model.fitted_.index.name, comparison.values[at]
    ours, others = values[0], values[1:]
    named = " and ".join(
        f"{_peer(peer)} ({number(value)})"
        for peer, value in zip(comparison.names[1:], others, strict=True)
    )
    lead = model.fitted_.index.direction * (ours - others)
    close = CLOSE * np.abs(values).max()
    sampled = len(comparison.rows) < np.count_nonzero(model.labels_ >= 0)
    where = f" on the {len(comparison.rows):,} rows compared" if sampled else ""
    if not np.isfinite(lead).all() or hasattr(model, "joins_"):
        pass  # one value is an infinity: the table shows it; joined clusters are not what NI seeks
    elif (lead > close).all():
        yield Sentence(
            "good",
            f"By {name}, which it goes by, it is better ({number(ours)}{where}) than {named}.",
        )
    elif (lead >= -close).all():
        yield Sentence(
            "plain",
            f"By {name}, which it goes by, no other method is better: {number(ours)}{where}, "
            f"beside {named}.",
        )
    else:
        worst = 1 + int(lead.argmin())
        told = (
            f"By {name}, which it goes by, {_peer(comparison.names[worst])} is better "
            f"({number(values[worst])} against {number(ours)}{where})"
        )
        # Others were fitted to the sample, this partition was not: that alone can be the reason.
        yield (
            Sentence("plain", f"{told}, to which alone it was fitted.")
            if sampled
            else Sentence(
                "beware", f"{told}: a larger {parameter('n_init')} may find a better partition."
            )
        )
    likeness = [
        f"{_likeness(a)} {_peer(peer)} (agreement {fixed(a, 2)})"
        for peer, a in zip(comparison.names[1:], comparison.agreement[0, 1:], strict=True)
    ]
    yield Sentence("plain", f"The clusters are {' and '.join(likeness)}.")


def _peer(name: str) -> str:
    """The name of a method in a sentence."""
    return f"a {name}" if name == MIXTURE else name


def _likeness(agreement: float) -> str:
    if agreement == 1.0:
        return "the same as those of"
    if agreement >= SAME:
        return "nearly those of"
    return "much like those of" if agreement >= ALIKE else "other than those of"


def _truth(agreement: float | None) -> Iterator[Sentence]:
    if agreement is None:
        return
    if agreement >= SAME:
        how = "are nearly"
    else:
        how = "are much like" if agreement >= ALIKE else "differ from"
    yield Sentence(
        "good" if agreement >= SAME else "plain",
        f"The clusters {how} the known classes (agreement {fixed(agreement, 2)}; 1 is the same, 0 "
        "is chance).",
    )


def telling(profiles: Profiles, i: int, names: list[str]) -> str:
    """What sets cluster i apart, in words."""
    effect = profiles.effect[i]
    parts = []
    for f in profiles.order[i][:MOST_FEATURES]:
        size = abs(effect[f])
        if size < NAMED:
            break
        much = "far " if size >= LARGE else "clearly " if size >= CLEAR else "somewhat "
        way = "higher" if effect[f] > 0 else "lower"
        parts.append(
            f"{names[f]} is {much}{way} (mean {number(profiles.mean[i, f])}, elsewhere "
            f"{number(profiles.rest_mean[i, f])})"
        )
    if not parts:
        return "No single column sets it apart."
    return "; ".join(parts) + "."


def _clusters(numbers: NDArray[np.int64], most: int | None = None) -> str:
    """ "Cluster 3", "Clusters 3, 4 and 9"; of more than ``most`` clusters the first ones."""
    return f"{plural(len(numbers), 'Cluster')} {listed(numbers, most)}"
