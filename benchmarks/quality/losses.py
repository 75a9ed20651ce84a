"""Where a peer is better, and whether that is the index's doing or the search's."""

from __future__ import annotations

from benchmarks.common import table
from benchmarks.quality import sets
from benchmarks.quality.methods import EPS, METHODS, TIE, Comparison, best_bold, compare
from benchmarks.quality.sets import Sizes

TEXT = """## Where we lose, and why

Every set above on which a peer's ARI is larger than that of iNI by more than {tie}, with the best
such peer and NI (smaller is better) of our partition and of the true one. If ours has the smaller
NI, the index itself prefers it to the truth: "index". If not, a better partition exists that the
search has not found: "search".
"""

SHAPES = """By their nature out of reach are clusters that no Gaussian describes; HDBSCAN follows
density instead. 1,000 samples each, k = 2.
"""


def run_losses(sizes: Sizes, found: list[Comparison]) -> str:
    lost = [one for one in found if one.ahead()]
    reasons = [_reason(one) for one in lost]
    count = (
        f"{len(lost)} of {len(found)} sets: {reasons.count('index')} by the index, "
        f"{reasons.count('search')} by the search."
    )
    header = ["set", "iNI", "best peer", "its ARI", "also ahead", "NI: iNI", "NI: truth", "by"]
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
    parts = [TEXT.format(tie=TIE), count, ""]
    if lost:
        parts += [table(header, [_row(one) for one in lost]), ""]
    return "\n".join([*parts, SHAPES, table(shape_header, shape_rows), ""])


def _reason(one: Comparison) -> str:
    if not one.ahead():
        return "not lost"
    return "search" if one.truth < one.ours.value - EPS else "index"


def _row(one: Comparison) -> list[str]:
    (best, fits), *others = one.ahead().items()
    return [
        one.problem.name,
        f"{one.ours.ari:.4f}",
        best,
        f"{fits.ari:.4f}",
        ", ".join(name for name, _ in others),
        f"{one.ours.value:.4f}",
        f"{one.truth:.4f}",
        _reason(one),
    ]
