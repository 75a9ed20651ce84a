"""The paper's figures: partitions of the six variants, and their index during training."""

from __future__ import annotations

from typing import Any

import numpy as np

from icvi_artmap._support.wording import fixed
from icvi_artmap.deep.training import PRETRAINING
from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
from icvi_artmap.plotting.index_trace import IndexTraceDisplay
from icvi_artmap.plotting.partition import PartitionDisplay
from icvi_artmap.reproduction import paper
from icvi_artmap.reproduction.latents import Latents
from icvi_artmap.reproduction.ledger import Ledger
from icvi_artmap.reproduction.protocol import Problem
from icvi_artmap.reproduction.ranks import DECIMALS

#: The set of the paper's Figs. partition_a and partition_b.
FIGURE_SET = "2d-10c-no0"


def best_fits(problem: Problem, ledger: Ledger) -> dict[str, ICVIARTMAP]:
    """The fits behind a row of the synthetic table, made again with their traces."""
    fits = {}
    for index in paper.INDICES:
        outcome = ledger.outcomes[problem.name, f"{index} 0"]
        fits[index] = ICVIARTMAP(
            problem.k,
            index=index,
            **outcome["at"]["best"],
            init=problem.centres(problem.seed),
            shuffle=False,
            refine=False,
            random_state=problem.seed,
        ).fit(problem.X, trace=True)
    return fits


def _panels(height: float) -> tuple[Any, Any]:
    import matplotlib.pyplot as plt

    return plt.subplots(2, 3, figsize=(15, height), layout="constrained")


def partitions(problem: Problem, fits: dict[str, ICVIARTMAP]) -> Any:
    """Fig. partition_a as a matplotlib figure."""
    figure, axes = _panels(9)
    for (index, model), ax in zip(fits.items(), axes.flat, strict=True):
        PartitionDisplay.from_estimator(model, problem.X).plot(ax=ax)
        ax.set_title(f"i{index}, ARI {fixed(problem.ari(model.labels_), DECIMALS)}")
    return figure


def traces(problem: Problem, fits: dict[str, ICVIARTMAP]) -> Any:
    """Fig. partition_b as a matplotlib figure; dashed: the true partition."""
    figure, axes = _panels(7)
    truth = np.unique(problem.y, return_inverse=True)[1]
    for (index, model), ax in zip(fits.items(), axes.flat, strict=True):
        IndexTraceDisplay.from_estimator(model, problem.X, reference=truth).plot(ax=ax)
        ax.set_title(f"i{index}")
    return figure


def curves(made: dict[str, list[Latents]]) -> Any:
    """The ARI of k-means on latents while they were trained, a panel for every set."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(made), figsize=(4.5 * len(made), 3.6), squeeze=False)
    for axis, (name, found) in zip(axes[0], made.items(), strict=True):
        for one in found:
            first = [point.iteration for point in one.curve if point.stage == PRETRAINING]
            end = max(first, default=0)
            x = [p.iteration + (0 if p.stage == PRETRAINING else end) for p in one.curve]
            axis.plot(x, [point.ari for point in one.curve], marker=".", label=f"seed {one.seed}")
            axis.axvline(end, color="grey", linestyle="--", linewidth=1.0)
        axis.set(title=name, xlabel="iterations", ylim=(0.0, 1.0))
        axis.locator_params(axis="x", nbins=5)
        axis.legend(loc="lower right")
    axes[0, 0].set_ylabel("ARI of k-means")
    figure.tight_layout()
    return figure
