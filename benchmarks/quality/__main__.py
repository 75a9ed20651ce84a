"""Write docs/quality.md: python -m benchmarks.quality [--quick | --smoke] [--only SECTION ...]

The data folder is ../shared/data beside the checkout, or ICVI_ARTMAP_DATA; what is not there is
left out, and the page says so. With --only, sections of the page that is there are renewed.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from benchmarks import common
from benchmarks.quality import (
    any_shape,
    comparison,
    gaps,
    losses,
    number,
    real_tables,
    refining,
    sets,
)
from benchmarks.quality.methods import Comparison
from benchmarks.quality.sets import Sizes
from icvi_artmap._support.threads import one_thread

HEAD = """# Quality

Made by `{command}`; do not edit. ARI: adjusted Rand index with the true
classes, 1 for the same partition, about 0 for an unrelated one. One thread, compiling excluded.

- **iNI**: `ICVIARTMAP(k, random_state=seed)`, all else default: refined. **iNI, refine=False**: the
  paper's algorithm from the same k-means start.
- **GMM**: `GaussianMixture(k, n_init={starts}, reg_covar=10^(-12/d), max_iter=300)`, the ridge that
  of NI, `tol` its default 1e-3; one seed.
- **k-means**: `KMeans(k, n_init=10)`. **Ward**: `AgglomerativeClustering(k)`.
- **HDBSCAN**: scikit-learn's with its defaults (`min_cluster_size=5`); it is not told k, and its
  noise counts as one more cluster.
- **CEC**: cross-entropy clustering; from k-means (`n_init=10`) single samples move to the cluster
  that makes NI best, until none moves. No network, no merging and splitting.

Peers get standardised data; ours standardises by itself.

{machine}.
"""

#: The last section is about what the others have found.
SECTIONS: dict[str, Callable[[Sizes, list[Comparison]], str]] = {
    "paper": comparison.run_paper_sets,
    "generated": comparison.run_generated,
    "number": lambda sizes, _: number.run_number(sizes),
    "real": comparison.run_real,
    "tables": lambda sizes, _: real_tables.run_real_tables(sizes),
    "gaps": lambda sizes, _: gaps.run_gaps(sizes),
    "olivetti": lambda sizes, _: comparison.run_olivetti(sizes),
    "refining": lambda sizes, _: refining.run_refining(sizes),
    "scale": lambda sizes, _: refining.run_scale(sizes),
    "shapes": lambda sizes, _: any_shape.run_any_shape(sizes),
    "losses": losses.run_losses,
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="fewer and smaller, under 3 minutes")
    size.add_argument("--smoke", action="store_true", help="tiny sizes, to see that it runs")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[2] / "docs")
    chosen = parser.parse_args(arguments)
    name = "SMOKE" if chosen.smoke else "QUICK" if chosen.quick else "FULL"
    sizes: Sizes = getattr(sets, name)
    start = time.perf_counter()
    found: list[Comparison] = []
    sections = []
    with one_thread(), warnings.catch_warnings():
        # GaussianMixture and k-means that do not converge, choices of k that are not clear.
        warnings.simplefilter("ignore")
        common.compile_kernels()
        for section in chosen.only:
            begin = time.perf_counter()
            sections.append(SECTIONS[section](sizes, found))
            print(sections[-1], flush=True)
            seconds = time.perf_counter() - begin
            print(f"{section}: {seconds:.0f} s", file=sys.stderr, flush=True)
    options = "" if name == "FULL" else f" --{name.lower()}"
    head = HEAD.format(
        command=f"python -m benchmarks.quality{options}",
        starts=sizes.starts,
        machine=common.machine(),
    )
    chosen.out.mkdir(parents=True, exist_ok=True)
    page = chosen.out / "quality.md"
    if len(chosen.only) < len(SECTIONS) and page.exists():
        sections = renewed(page.read_text(encoding="utf-8"), sections)
    common.write(page, "\n".join([head, *sections]))
    minutes = (time.perf_counter() - start) / 60
    print(f"{minutes:.0f} minutes", file=sys.stderr, flush=True)


def renewed(page: str, sections: list[str]) -> list[str]:
    """The sections of a page with these in the place of those that have the same heading.

    A section that the page does not have comes before the last one, which is about all others.
    """
    kept = [f"## {part}" for part in page.split("\n## ")[1:]]
    for section in sections:
        heading = section.split("\n", 1)[0]
        places = [i for i, old in enumerate(kept) if old.split("\n", 1)[0] == heading]
        if places:
            kept[places[0]] = section
        else:
            kept.insert(max(len(kept) - 1, 0), section)
    return kept


if __name__ == "__main__":
    main()
