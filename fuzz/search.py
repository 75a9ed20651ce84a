"""Searches with random grids: the same with any number of workers, and however often killed."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from fuzz.campaign import Campaign, Outcome, demand
from fuzz.processes import forked, killed_after
from icvi_artmap import ICVIARTMAP, ICVIARTMAPSearch
from icvi_artmap.indices.registry import NAMES

#: What a run leaves in the results; its time is none of that.
COLUMNS = ("index_value", "n_clusters_found", "n_categories", "n_iter", "converged")


class Search(Campaign):
    """Small searches, in threads, or with a store and killed."""

    #: Threads of a search reserve addresses for their stacks.
    memory = 3 << 30

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        X = np.random.default_rng(0).normal(size=(30, 2))
        for index in NAMES:  # so that no case compiles
            ICVIARTMAP(3, index=index, rho_a=0.5, rho_ab=0.5).fit(X)

    def case(self, seed: int) -> Outcome:
        rng = random.Random(seed)
        options = random_grid(rng)
        table = np.random.default_rng(seed).normal(
            size=(rng.randrange(10, 60), rng.randrange(1, 5))
        )
        X = table + 5.0 * np.arange(len(table))[:, None] % 15
        begin = time.perf_counter()
        expected = ICVIARTMAPSearch(**options).fit(X)
        seconds = time.perf_counter() - begin
        if rng.random() < 0.3:
            with joblib.parallel_config(backend="threading"):
                found = ICVIARTMAPSearch(**options, n_jobs=2).fit(X)
            check_same_search(found, expected)
            return Outcome(True, "the same by two workers")
        return self.interrupted(rng, options, X, expected, seconds)

    def interrupted(
        self, rng: random.Random, options: dict[str, Any], X: Any, expected: Any, seconds: float
    ) -> Outcome:
        """Kill the search some times, then let it go on to its end."""
        store = self.folder / "search.jsonl"
        store.unlink(missing_ok=True)
        search = ICVIARTMAPSearch(**options, store=store)
        kills = 0
        for _ in range(rng.choice((1, 1, 2, 3))):
            kills += killed_after(forked(lambda: search.fit(X)), rng.uniform(0.0, 1.2 * seconds))
        check_same_search(search.fit(X), expected)
        return Outcome(True, f"the same after {kills} kills")


def random_grid(rng: random.Random) -> dict[str, Any]:
    index = rng.choice(NAMES)
    template = ICVIARTMAP(
        rng.randrange(2, 5), index=index, max_epochs=3, kmeans_trials=1, refine=False
    )
    return {
        "estimator": template,
        "rho_a": rng.sample([0.0, 0.3, 0.6, 0.9, 1.0], rng.randrange(1, 4)),
        "rho_ab": rng.sample([0.0, 0.5, 0.8, 1.0], rng.randrange(1, 3)),
        "index": rng.choice((None, [index, *rng.sample(sorted({*NAMES} - {index}), 1)])),
        "n_starts": rng.randrange(1, 3),
        "random_state": rng.randrange(100),
        "verbose": 0,
    }


def check_same_search(found: ICVIARTMAPSearch, expected: ICVIARTMAPSearch) -> None:
    """The same runs, the same best one, the same labels."""
    for name in COLUMNS:
        mine, other = (np.asarray(getattr(s.results_, name)) for s in (found, expected))
        demand(np.array_equal(mine, other), f"{name} of the runs differs")
    demand(found.best_params_ == expected.best_params_, "another best run")
    demand(np.array_equal(found.labels_, expected.labels_), "other labels")
