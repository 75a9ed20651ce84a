"""Stores of searches altered at random: made whole again, or refused; never another result."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np

from fuzz.campaign import Campaign, Outcome, clear
from fuzz.mutations import altered_bytes, altered_lines
from fuzz.search import check_same_search
from icvi_artmap import ICVIARTMAP, ICVIARTMAPSearch


class Stores(Campaign):
    """Bits flipped, lines cut, lost, doubled and exchanged."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.path = folder / "search.jsonl"
        rng = np.random.default_rng(0)
        self.X = rng.normal(size=(30, 2)) + 5.0 * rng.integers(0, 3, (30, 1))
        self.expected = self.search().fit(self.X)
        self.content = self.path.read_bytes()

    def search(self) -> ICVIARTMAPSearch:
        return ICVIARTMAPSearch(
            ICVIARTMAP(3, index="CH", max_epochs=2, kmeans_trials=1),
            rho_a=[0.0, 0.7],
            rho_ab=[0.5, 1.0],
            n_starts=2,
            store=self.path,
            random_state=0,
            verbose=0,
        )

    def case(self, seed: int) -> Outcome:
        rng = random.Random(seed)
        alter = rng.choice((altered_bytes, altered_bytes, altered_lines))
        self.path.write_bytes(alter(rng, self.content))
        try:
            search = self.search().fit(self.X)
        except ValueError as error:
            return clear(error)
        check_same_search(search, self.expected)
        return Outcome(True, "the same results")
