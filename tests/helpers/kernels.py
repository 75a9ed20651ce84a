"""Compile what the tests use of the package once, before they begin.

Every process compiles the kernels that it does not find on the disk. Workers that start together
would find none, and each would compile them all.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

#: The slowest to compile comes first.
INDICES = ("NI", "rH", "rCIP", "DB", "SIL", "PS", "GD43", "GD53", "XB", "PBM", "WB", "CH")
#: Of these, those that tests learn streams with,
OF_STREAMS = ("NI", "XB", "CH")
#: and those of which every trial is computed anew in compiled code: some of different
#: kinds. As plain Python all are.
OF_BATCHES = ("NI", "XB", "SIL", "CH")


def compile_once(n_processes: int = 2) -> None:
    """Compile the kernels of all indices, if the folder for compiled code is new."""
    from icvi_artmap._compile.cache import cache_directory

    folder = cache_directory()
    if not folder or os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
        return
    # Another version of this file may want more kernels.
    version = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]
    done = Path(folder) / f"tests-{version}"
    if not done.exists():
        with ProcessPoolExecutor(n_processes, get_context("spawn")) as pool:
            waiting = [pool.submit(use_index, index) for index in INDICES]
            waiting.append(pool.submit(use_the_art_family))
            for use in waiting:
                use.result()
        done.touch()


def use_index(index: str) -> None:
    """Fit, predict and explain on a small table, in all ways that have kernels of their own."""
    from icvi_artmap import ICVIARTMAP, explain, index_value
    from icvi_artmap.datasets import make_gaussian_clusters
    from icvi_artmap.streaming import IncrementalIndex
    from icvi_artmap.training import first_run

    first_run._SEEN.add(index)  # all processors have work already
    X, y = make_gaussian_clusters(3, 2, n_samples=60, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ICVIARTMAP(3, index=index, refine=True, random_state=0).fit(X, trace=True)
        for prediction in ("index", "category"):
            model.set_params(prediction=prediction).predict(X)
        explain(model, X[:1])
        explain(model, X[:1], samples=[0])
        index_value(X, y, index)
        ICVIARTMAP(3, index=index, rho_a=0.5, rho_ab=0.5, random_state=0).fit(X)
        if index in OF_BATCHES:
            ICVIARTMAP(3, index=index, evaluation="batch", refine=False, random_state=0).fit(X)
        if index in OF_STREAMS:
            ICVIARTMAP(3, index=index, warm_up=30, memory=30).partial_fit(X[:40]).partial_fit(X)
    monitor = IncrementalIndex(index)
    monitor.add_many(X, y)
    monitor.trial_moves(X[0], y[0])


def use_the_art_family() -> None:
    from icvi_artmap import DualVigilanceFuzzyART, FuzzyART, FuzzyARTMAP, vat
    from icvi_artmap.datasets import make_gaussian_clusters

    X, y = make_gaussian_clusters(3, 2, n_samples=60, random_state=0)
    vat(X)
    for model in (FuzzyART(0.5), DualVigilanceFuzzyART(0.7, 0.6), FuzzyARTMAP(0.5)):
        model.fit(X, y).predict(X)
