"""Stores of searches altered at random: made whole again, or refused; never another result."""

from __future__ import annotations

import json
import random
import warnings
from pathlib import Path

import numpy as np

from fuzz.campaign import Campaign, Outcome, clear, demand
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
        self.records = [content_of(line) for line in self.content.splitlines()[1:]]

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
        content = alter(rng, self.content)
        self.path.write_bytes(content)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                search = self.search().fit(self.X)
            except ValueError as error:
                return clear(error)
        check_same_search(search, self.expected)
        damaged = self.damaged(content)
        told = [str(warning.message) for warning in caught]
        told = [message for message in told if "damaged line" in message]
        expected = [f"has {damaged} damaged line"] if damaged else []
        demand(
            len(told) == len(expected) and all(map(str.__contains__, told, expected)),
            f"{damaged} damaged lines, but told was {told}",
        )
        return Outcome(True, "the same results, " + ("and told" if damaged else "nothing damaged"))

    def damaged(self, content: bytes) -> int:
        """The number of whole lines below the first that are no records of the store."""
        whole = content[: content.rfind(b"\n") + 1]
        return sum(content_of(line) not in self.records for line in whole.splitlines()[1:])


def content_of(line: bytes) -> str:
    """What a line holds, in one form of JSON: 1 and 1.0 differ. Empty if it is no JSON."""
    try:
        return json.dumps(json.loads(line))
    except (ValueError, RecursionError):
        return ""
