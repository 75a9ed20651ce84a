"""Fits of random small problems: right, or refused with a clear error."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from fuzz.campaign import BrokenPromiseError, Campaign, Outcome, clear, demand
from fuzz.problems import MOST_SAMPLES, fingerprint, random_form, random_table
from fuzz.watchdog import resident_memory
from icvi_artmap import (
    ICVIARTMAP,
    DualVigilanceFuzzyART,
    FuzzyART,
    FuzzyARTMAP,
    index_value,
)
from icvi_artmap.estimators.fitted import rows_of
from icvi_artmap.estimators.preparing import DROPPED
from icvi_artmap.indices.registry import NAMES

#: How far the index value of a fit may be from that of its labels.
CLOSE = 1e-7
#: One case of this many looks for a leak instead.
LEAK_EVERY = 1000
#: Fits of such a case, and bytes by which memory may have grown after them.
LEAK_FITS, LEAK = 200, 8 << 20
#: Part of the cases in which a parameter makes no sense.
SPOILED = 0.05
#: Types that make sense for a parameter after all: any number is a verbosity, and without a seed
#: nobody promises that two fits are equal.
SENSIBLE: dict[str, type] = {"verbose": int, "random_state": type(None)}
#: An estimator, a table and, for a classifier, classes.
Problem = tuple[Any, Any, NDArray[np.int64] | None]
#: Samples at most where every trial is computed from the data, or k is mostly chosen.
FEW = 40


class Fitting(Campaign):
    """A campaign of fits with random parameters."""

    #: Indices with which trials are computed from the data now and then.
    batches: ClassVar[tuple[str, ...]] = NAMES

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        compile_all(self.batches)

    def problem(self, rng: np.random.Generator) -> Problem:
        model, X, y = random_problem(rng)
        compiled = {name.upper() for name in self.batches}
        if isinstance(model, ICVIARTMAP) and str(model.index).upper() not in compiled:
            model.set_params(evaluation="incremental")
        return model, X, y


class Fits(Fitting):
    """All estimators, on random tables with random parameters."""

    def case(self, seed: int) -> Outcome:
        if seed % LEAK_EVERY == LEAK_EVERY - 1:
            return leak(seed)
        rng = np.random.default_rng(seed)
        model, X, y = self.problem(rng)
        if rng.random() < SPOILED:
            spoil(rng, model)
        return tried(model, X, y)


def compile_all(batches: Sequence[str]) -> None:
    """Load or compile what fits need, so that no case is charged for it."""
    import pandas as pd

    X = np.random.default_rng(0).normal(size=(30, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for index in NAMES:
            ways: list[dict[str, Any]] = [{"refine": True}]
            if index in batches:
                ways.append({"evaluation": "batch", "rho_ab": 0.5})
            for options in ways:
                model = ICVIARTMAP(3, index=index, random_state=0, **options)
                checked_partition(model.fit(X), X)
            ICVIARTMAP(range(2, 4), index=index, random_state=0).fit(X)
        ICVIARTMAP(2, order="vat").fit(np.hstack([X] * 10))
        for art in (FuzzyART(), DualVigilanceFuzzyART(), FuzzyARTMAP()):
            art.fit(pd.DataFrame(X, columns=["a", "b"]), np.arange(30) % 2)


# --- problems ------------------------------------------------------------------------------------


def random_problem(rng: np.random.Generator) -> Problem:
    if rng.random() < 0.25:
        X = random_table(rng)
        y = rng.integers(0, int(rng.integers(1, 5)), len(X))
        return random_art(rng), random_form(rng, X), y
    options = random_options(rng)
    few = options["evaluation"] == "batch" or rng.random() < 0.15
    X = random_table(rng, FEW if few else MOST_SAMPLES)
    options["n_clusters"] = random_n_clusters(rng, len(X), few)
    wanted = options["n_clusters"]
    if rng.random() < 0.2 and isinstance(wanted, int) and wanted >= 0:
        options["init"] = random_centres(rng, X, wanted)
    return ICVIARTMAP(**options), random_form(rng, X), None


def choice(rng: np.random.Generator, *values: Any) -> Any:
    return values[rng.integers(len(values))]


def random_options(rng: np.random.Generator) -> dict[str, Any]:
    """Defaults mostly; the others are at the ends of what is allowed."""
    options: dict[str, Any] = {
        "index": choice(rng, *NAMES, "ni", "ch"),
        "shape": choice(rng, *("gaussian",) * 6, "any", "auto"),
        "refine": choice(rng, "auto", "auto", True, False),
        "evaluation": choice(rng, *("incremental",) * 9, "batch"),
        "prediction": choice(rng, "auto", "index", "category"),
        "order": choice(rng, None, None, None, "vat"),
        "shuffle": bool(rng.random() < 0.8),
        "noise": bool(rng.random() < 0.3),
        "missing": choice(rng, *("error",) * 4, "drop", "mean", "median", "neighbours"),
        "transform_columns": choice(rng, *("none",) * 4, "clip", "power", "auto"),
        "categories": choice(rng, *(None,) * 6, "auto"),
        "n_init": choice(rng, 1, 1, 1, 3),
        "kmeans_trials": choice(rng, 1, 10),
        "random_state": int(rng.integers(100)),
    }
    extremes: dict[str, tuple[Any, ...]] = {
        "rho_a": (0.0, 0.5, 0.9, 1.0, 5e-324, rng.random()),
        "rho_ab": (0.0, 0.5, 1.0, rng.random()),
        "beta_a": (1.0, 0.5, 5e-324, 1e-9, rng.random()),
        "beta_ab": (1.0, 0.5, 5e-324, rng.random()),
        "alpha": (5e-324, 1e-300, 1.0, 1e300, rng.random()),
        "epsilon": (0.0, 1.0, 5e-324, rng.random()),
        "tol": (0.0, 1.0, 1e300),
        "max_epochs": (1, 2, 100),
    }
    for name, values in extremes.items():
        if rng.random() < 0.25:
            options[name] = choice(rng, *values)
    return options


def spoil(rng: np.random.Generator, model: Any) -> None:
    """Give one parameter a value that makes no sense."""
    wrong: tuple[Any, ...] = (None, "", "x" * 500, np.nan, np.inf, -1, 2.5, True, 10**400, 1j)
    wrong += ([], [0.5], {"a": 1}, np.zeros(1000), np.zeros((3, 3)), object(), range(0), b"x")
    name = choice(rng, *model.get_params(deep=False))
    setattr(
        model, name, choice(rng, *(v for v in wrong if not isinstance(v, SENSIBLE.get(name, ()))))
    )


def random_n_clusters(rng: np.random.Generator, n: int, few: bool) -> Any:
    """Any number, also more than there are samples; a choice mostly if there are few samples."""
    if rng.random() < (0.6 if few else 0.04):
        return choice(rng, "auto", range(2, 2 + int(rng.integers(0, 10))))
    if rng.random() < 0.02:
        return choice(rng, 0, -1)
    return int(rng.integers(2, choice(rng, 4, 10, n + 3) + 1))


def random_centres(rng: np.random.Generator, X: NDArray[np.float64], k: int) -> Any:
    """Centres to start from, good or bad."""
    d, kind = X.shape[1], int(rng.integers(6))
    with np.errstate(all="ignore"):
        if kind == 0:
            return np.zeros((k, d))
        if kind == 1:
            return X[rng.integers(0, len(X), k)]
        if kind == 2:
            return 10.0 ** rng.uniform(0, 300) * rng.normal(size=(k, d))
        if kind == 3:  # standardised by mistake
            standard = (X - X.mean(axis=0)) / X.std(axis=0)
            return standard[rng.integers(0, len(X), k)]
        if kind == 4:
            return X.mean(axis=0) + np.zeros((k, d))
        return rng.normal(size=(k + int(rng.integers(2)), d)).tolist()


def random_art(rng: np.random.Generator) -> Any:
    """An estimator of the ART family."""
    options: dict[str, Any] = {
        "alpha": choice(rng, 1e-3, 1e-3, 5e-324, 1.0, 1e300),
        "beta": choice(rng, 1.0, 1.0, 1.0, 0.5, 0.1),
        "max_epochs": choice(rng, 1, 5, 50),
        "shuffle": bool(rng.random() < 0.5),
        "order": choice(rng, None, None, "vat"),
        "random_state": int(rng.integers(100)),
    }
    rho, kind = choice(rng, 0.0, 0.5, 0.9, 1.0, rng.random()), int(rng.integers(3))
    if kind == 2:
        epsilon = choice(rng, 1e-3, 0.0, -1e-3, 1.0, -1.0)
        rates = {"rho_ab": choice(rng, 1.0, 0.5, 0.0), "beta_ab": choice(rng, 1.0, 0.5, 5e-324)}
        return FuzzyARTMAP(rho, epsilon=epsilon, **rates, **options)
    options["max_epochs"] = choice(rng, 1, 5, None)
    if kind == 1:
        return DualVigilanceFuzzyART(rho, rho * rng.random(), **options)
    return FuzzyART(rho, **options)


# --- what must hold ------------------------------------------------------------------------------


def tried(model: Any, X: Any, y: NDArray[np.int64] | None) -> Outcome:
    """Fit twice, and check all that is promised."""
    before = fingerprint(X)
    try:
        model.fit(X, y)
    except Exception as error:
        demand(fingerprint(X) == before, "the input was changed")
        finite = np.isfinite(np.asarray(X, np.float64)).all()
        if finite and str(error).startswith("Input X contains"):
            raise BrokenPromiseError(f"finite input, but: {error}") from error
        return clear(error)
    again = clone(model).fit(X, y)
    demand(fingerprint(X) == before, "the input was changed")
    check_same(model, again)
    check_finite(model)
    kind = type(model).__name__
    if isinstance(model, FuzzyARTMAP):
        checked_classes(model, X)
    else:
        checked_partition(model, X)
        kind += f" {str(model.index).upper()}" if isinstance(model, ICVIARTMAP) else ""
    return Outcome(True, kind)


def check_same(model: Any, again: Any) -> None:
    """The same seed gives the same fit."""
    for name in ("labels_", "categories_", "index_value_", "category_labels_", "n_iter_"):
        if hasattr(model, name):
            mine, other = getattr(model, name), getattr(again, name)
            demand(np.array_equal(mine, other, equal_nan=False), f"{name} of a second fit differ")


def check_finite(model: Any) -> None:
    """No attribute has NaN; only values of the index may be infinite."""
    for name, value in vars(model).items():
        if not name.endswith("_") or not isinstance(value, (np.ndarray, float)):
            continue
        array = np.asarray(value)
        if array.dtype.kind == "f":
            demand(not np.isnan(array).any(), f"NaN in {name}")
            demand(name.startswith("index_") or np.isfinite(array).all(), f"infinity in {name}")


def checked_partition(model: Any, X: Any) -> None:
    """Labels without gaps, the index of the clusters, and predictions in range."""
    k = model.n_clusters_
    own = model.labels_[model.labels_ >= 0]
    demand(np.array_equal(np.unique(own), np.arange(k)), "labels have gaps")
    if isinstance(model, ICVIARTMAP):
        checked_noise(model, X)
        fitted = model.fitted_
        trained = slice(None) if fitted.trained is None else fitted.trained
        seen = fitted.prepared(rows_of(model, X))[trained]
        value = index_value(
            seen, model.sample_clusters_[trained], model.index, resolution=model.resolution_
        )
        close = np.isclose(model.index_value_, value, rtol=CLOSE, atol=CLOSE)
        demand(bool(close), f"index_value_ is {model.index_value_!r}, of the labels {value!r}")
    for rows in (X, *new_rows(X)):
        rules = ("index", "category") if isinstance(model, ICVIARTMAP) else ("",)
        for rule in rules:
            if rule:
                model.set_params(prediction=rule)
            predicted = model.predict(rows)
            demand(predicted.shape == (len(rows),), f"predict gives shape {predicted.shape}")
            least = -1 if getattr(model, "noise", False) else 0
            least = DROPPED if getattr(model, "missing", "") == "drop" else least
            within = least <= predicted.min() <= predicted.max() < k
            demand(within, f"predict ({rule}) out of range")
        choices = np.asarray(model.transform(rows))
        demand(choices.shape == (len(rows), k), f"transform gives shape {choices.shape}")
        demand(bool(np.isfinite(choices).all()), "transform is not finite")


def checked_noise(model: ICVIARTMAP, X: Any) -> None:
    """Noise is what has a high outlier score; memberships add up to 1."""
    for rows in (X, *new_rows(X)):
        scores, parts = model.outlier_score(rows), model.membership(rows)
        demand(bool(((scores >= 0.0) & (scores <= 1.0)).all()), "outlier scores out of range")
        demand(bool(np.allclose(parts.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)), "no memberships")
        if model.noise:
            labels = model.predict(rows)
            kept = labels != DROPPED
            same = np.array_equal(labels[kept] == -1, scores[kept] > 0.5)
            demand(same, "noise is not what has a high score")
    expected = model.sample_clusters_
    if model.noise:
        expected = np.where(model.outlier_score(X) > 0.5, -1, expected)
    kept = model.labels_ != DROPPED
    same = np.array_equal(model.labels_[kept], expected[kept])
    demand(same, "labels are neither clusters nor noise")


def checked_classes(model: FuzzyARTMAP, X: Any) -> None:
    for rows in (X, *new_rows(X)):
        demand(bool(np.isin(model.predict(rows), model.classes_).all()), "no known class")
        shares = model.predict_proba(rows)
        demand(bool(np.allclose(shares.sum(axis=1), 1.0)), "shares do not add up to 1")


def new_rows(X: Any) -> list[Any]:
    """Rows near and far, of the same names."""
    table = np.asarray(X, np.float64)[:20]
    spread = np.abs(table).max(axis=0, initial=0.0)
    found = [table + 0.01 * spread, table - 0.9 * spread]
    with np.errstate(over="ignore"):
        found.append(np.clip(1e6 * table + 1e6 * spread, -1e300, 1e300))
    found = [rows for rows in found if np.isfinite(rows).all()]
    if hasattr(X, "columns"):
        return [type(X)(rows, columns=X.columns) for rows in found]
    return list(found)


def leak(seed: int) -> Outcome:
    """After many fits there is as much memory in use as before."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 2))
    kinds: list[Any] = [ICVIARTMAP(3, index=index, random_state=0) for index in NAMES]
    kinds += [FuzzyART(0.9), FuzzyARTMAP(0.9)]
    model, y = choice(rng, *kinds), np.arange(20) % 2
    for count in (LEAK_FITS // 4, LEAK_FITS):
        gc.collect()
        before = resident_memory()
        for _ in range(count):
            model.fit(X, y).predict(X)
    gc.collect()
    grown = resident_memory() - before
    demand(grown < LEAK, f"{grown / 2**20:.1f} MB more after {LEAK_FITS} fits")
    return Outcome(True, f"no leak in {LEAK_FITS} fits")
