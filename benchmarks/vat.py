"""VAT against artlib, and for more samples than artlib has memory for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.common import duration, gaussians, in_turns, table
from icvi_artmap import vat

TEXT = """## VAT

`vat(X)` on 10 features, one thread. artlib's `VAT` keeps the matrix of distances, and its time
grows with the cube of the samples. Both must give the same order.
"""


class Sizes(NamedTuple):
    both: tuple[int, ...]
    alone: tuple[int, ...]


FULL = Sizes((500, 1_000, 1_500), (10_000, 30_000))
QUICK = Sizes((500,), (10_000,))
SMOKE = Sizes((30,), (60,))


def run(sizes: Sizes) -> str:
    vat(np.zeros((2, 10)))  # compiled here
    rows = []
    try:
        from artlib import VAT
    except ImportError as error:
        text = f"{TEXT}\nartlib was not measured: {error}.\n"
    else:
        text = TEXT
        for n in sizes.both:
            X = gaussians(n).X
            peer = in_turns({"artlib": lambda X=X: VAT(X)[1]}, 1)["artlib"]  # type: ignore[misc]
            ours = in_turns({"ours": lambda X=X: vat(X)}, 5)["ours"]  # type: ignore[misc]
            if not np.array_equal(peer.result, ours.result):
                raise AssertionError(f"The orders of {n} samples differ.")
            ratio = f"{peer.median / ours.median:,.0f}"
            rows.append([f"{n:,}", duration(peer.median), duration(ours.median), ratio])
    for n in sizes.alone:
        X = gaussians(n).X
        ours = in_turns({"ours": lambda X=X: vat(X)}, 3)["ours"]  # type: ignore[misc]
        rows.append([f"{n:,}", "", duration(ours.median), ""])
    return f"{text}\n{table(['samples', 'artlib', 'ours', 'ratio'], rows)}\n"
