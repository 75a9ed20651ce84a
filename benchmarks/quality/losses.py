"""Where a peer is better, and whether that is the index's doing or the search's."""

from __future__ import annotations

from sklearn.metrics import adjusted_rand_score

from benchmarks.common import table
from benchmarks.quality import sets
from benchmarks.quality.methods import (
    EPS,
    METHODS,
    TIE,
    Comparison,
    best_bold,
    compare,
    digits,
    largest_cluster,
)
from benchmarks.quality.sets import Sizes
from icvi_artmap import ICVIARTMAP

TEXT = """## Where we lose, and why

Every set above, Olivetti aside, on which the ARI of another method (iNI without refining included)
is larger than that of iNI by more than {tie}, with the best such method and NI (smaller is better)
of our partition (mean over the seeds) and of the true one. If ours has the smaller NI, the index
itself prefers it to the truth: "index". If not, a better partition exists that the search has not
found: "search", and NI and ARI with `n_init={starts}` are shown. Largest: samples in the largest
cluster; one that is larger than every true one has gathered from several.
"""

SHAPES = """By their nature out of reach of iNI, whose clusters are Gaussian, are clusters that no
Gaussian describes: they need `shape="any"` ([Any shape](#any-shape)), or HDBSCAN, which follows
density too. 1,000 samples each, k = 2.
"""


def run_losses(sizes: Sizes, found: list[Comparison]) -> str:
    lost = [one for one in found if one.ahead()]
    reasons = [_reason(one) for one in lost]
    count = (
        f"{len(lost)} of {len(found)} sets: {reasons.count('index')} by the index, "
        f"{reasons.count('search')} by the search."
    )
    header = ["set", "iNI", "best", "its ARI", "also ahead", "NI: iNI", "NI: truth", "by"]
    header += [
        "largest: iNI",
        "largest: truth",
        f"NI: n_init={sizes.starts}",
        f"ARI: n_init={sizes.starts}",
    ]
    shapes = [compare(problem, 1, sizes.starts) for problem in sets.odd_shapes()]
    shape_rows = [
        [
            one.problem.name,
            *best_bold(one.aris()),
            f"{one.ours.value:.4f}",
            f"{one.truth:.4f}",
            _reason(one),
        ]
        for one in shapes
    ]
    shape_header = ["set", *METHODS, "NI: iNI", "NI: truth", "by"]
    parts = [TEXT.format(tie=TIE, starts=sizes.starts), count, ""]
    if lost:
        parts += [table(header, [_row(one, sizes.starts) for one in lost]), ""]
    return "\n".join([*parts, SHAPES, table(shape_header, shape_rows), ""])


def _reason(one: Comparison) -> str:
    if not one.ahead():
        return "not lost"
    return "search" if one.truth < one.ours.value - EPS else "index"


def _row(one: Comparison, starts: int) -> list[str]:
    (best, fits), *others = one.ahead().items()
    reason, again = _reason(one), ["", ""]
    if reason == "search":
        model = ICVIARTMAP(one.problem.k, n_init=starts, random_state=0).fit(one.problem.X)
        ari = adjusted_rand_score(one.problem.y, model.labels_)
        again = digits([model.index_value_, ari])
    return [
        one.problem.name,
        f"{one.ours.ari:.4f}",
        best,
        f"{fits.ari:.4f}",
        "; ".join(name for name, _ in others),
        f"{one.ours.value:.4f}",
        f"{one.truth:.4f}",
        reason,
        f"{one.ours.largest:.0f}",
        str(largest_cluster(one.problem.y)),
        *again,
    ]
