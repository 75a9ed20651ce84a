"""Whether a change of the code leaves all results as they were.

    python -m benchmarks.same_results write FILE     make a fixed set of runs, write what they give
    python -m benchmarks.same_results compare A B    say what differs between two such files

The file is an .npz with an array for every result, named ``run/what``. Runs whose name begins with
``paper`` (``refine=False``) or ``art`` (the ART family) must be the same bit by bit. For the others
labels must be the same, and numbers agree to a relative 1e-9. Only public names are used here, so
the script runs with any version of the package.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine

from benchmarks.common import INDICES
from icvi_artmap import (
    ICVIARTMAP,
    DualVigilanceFuzzyART,
    FuzzyART,
    FuzzyARTMAP,
    ICVIARTMAPSearch,
    custom_index,
    explain,
    index_value,
    ivat,
    load,
    save,
    vat,
)
from icvi_artmap.datasets import make_ellipsoid_clusters, make_gaussian_clusters

#: Runs that must not change by a bit.
STRICT = ("paper", "art")
#: How far numbers of the other runs may be apart, relative to the larger or to 1.
CLOSE = 1e-9

Results = dict[str, NDArray[Any]]


def data_sets() -> dict[str, tuple[NDArray[np.float64], NDArray[np.int64], int]]:
    """Tables with their classes and numbers of clusters: ties, turned axes, many rows."""
    iris, wine = load_iris(), load_wine()
    few = make_gaussian_clusters(4, 2, random_state=0)
    overlapping = make_ellipsoid_clusters(10, 10, n_samples=1_500, random_state=0)
    wide = make_ellipsoid_clusters(5, 40, n_samples=1_000, random_state=1)
    return {
        "gaussian": (*few, 4),
        "iris": (iris.data, iris.target, 3),
        "wine": (wine.data, wine.target, 3),
        "ellipsoid": (*overlapping, 10),
        "wide": (*wide, 5),
    }


def of_model(model: ICVIARTMAP, X: NDArray[np.float64]) -> Results:
    """All that a fit leaves behind, and what the model says of new rows."""
    found: Results = {
        name: np.asarray(getattr(model, name))
        for name in (
            "labels_",
            "cluster_centers_",
            "index_value_",
            "index_history_",
            "n_iter_",
            "converged_",
            "categories_",
            "category_labels_",
            "map_field_",
            "sample_categories_",
            "vigilances_",
        )
    }
    found |= {f"history_{name}": values for name, values in model.history_.items()}
    if hasattr(model, "index_trace_"):
        found["index_trace_"] = model.index_trace_
    if hasattr(model, "selection_"):
        chosen = model.selection_
        for name in ("n_clusters", "k", "criterion", "index_values", "margin", "clear", "rule"):
            found[f"selection_{name}"] = np.asarray(getattr(chosen, name))
    new = X[::3] + 0.1 * X.std(axis=0)
    for rule in ("index", "category"):
        model.prediction = rule
        found[f"predict_labels_{rule}"] = model.predict(new)
    model.prediction = "auto"
    found["transform"] = model.transform(new)
    return found


def fits() -> Iterator[tuple[str, Results]]:
    """The paper's algorithm, and what goes beyond it."""
    sets = data_sets()
    for name, (X, _, k) in sets.items():
        for index in INDICES:
            for refine in (False, True):
                model = ICVIARTMAP(k, index=index, refine=refine, random_state=0).fit(X)
                yield f"{'refined' if refine else 'paper'}-{index}-{name}", of_model(model, X)
            values = np.array([index_value(X, sets[name][1], index)])
            yield f"paper-value-{index}-{name}", {"value": values}
    options: dict[str, dict[str, Any]] = {
        "vigilant": {"rho_a": 0.7, "rho_ab": 0.6},
        "slow": {"rho_a": 0.5, "beta_a": 0.5, "beta_ab": 0.2},
        "batch": {"evaluation": "batch", "max_epochs": 2},
        "starts": {"n_init": 3, "kmeans_trials": 1},
        "vat": {"order": "vat"},
        "given": {"init": sets["iris"][0][[0, 60, 110]], "shuffle": False},
    }
    X, _, k = sets["iris"]
    for name, given in options.items():
        for index in ("NI", "CH", "DB", "PBM"):
            model = ICVIARTMAP(k, index=index, refine=False, random_state=1, **given)
            yield f"paper-{name}-{index}", of_model(model.fit(X, trace=True), X)
    for index in ("NI", "CH"):
        for name in ("gaussian", "wine", "wide"):
            model = ICVIARTMAP("auto", index=index, random_state=0).fit(sets[name][0])
            yield f"auto-{index}-{name}", of_model(model, sets[name][0])
    X, _ = make_gaussian_clusters(8, 3, n_samples=30_000, random_state=0)
    yield "refined-many", of_model(ICVIARTMAP(8, random_state=0).fit(X), X)
    yield "auto-many", of_model(ICVIARTMAP(range(6, 11), random_state=0).fit(X), X)


def others() -> Iterator[tuple[str, Results]]:
    """An index of one's own, the search, explanations, a file and back, VAT."""
    X, _, k = data_sets()["iris"]

    @custom_index(better="smaller")
    def spread(n, mean, compactness, scatter):  # type: ignore[no-untyped-def]
        return (compactness / n).sum() + 0.01 * scatter[0, 0, 0]

    model = ICVIARTMAP(k, index=spread, refine=False, random_state=0).fit(X)
    yield "paper-own", of_model(model, X)
    search = ICVIARTMAPSearch(
        ICVIARTMAP(k, refine=False),
        rho_a=[0, 0.4, 0.8],
        rho_ab=[0.5, 1],
        index=["NI", "CH"],
        n_starts=2,
        random_state=0,
        verbose=0,
    ).fit(X)
    rows = {
        name: np.asarray(getattr(search.results_, name))
        for name in ("index_value", "n_clusters_found", "n_categories", "n_iter", "converged")
    }
    yield "paper-search", {"labels": search.labels_, "best": np.array(search.best_run_), **rows}
    model = ICVIARTMAP(k, random_state=0).fit(X)
    why = explain(model, X[:20] + 0.05)
    names = ("index_values", "margin", "slack", "category", "best")
    yield "refined-explain", {name: getattr(why, name) for name in names}
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder) / "model.icvi")
        yield "refined-file", of_model(load(Path(folder) / "model.icvi"), X)
    yield "paper-vat", {"order": vat(X), "image": np.asarray(ivat(X))}


def art_family() -> Iterator[tuple[str, Results]]:
    """Fuzzy ART, dual vigilance fuzzy ART and fuzzy ARTMAP, at once and in parts."""
    names = ("categories_", "category_labels_", "sample_categories_", "n_iter_", "converged_")
    for name, (X, y, _) in data_sets().items():
        models: dict[str, Any] = {
            "fuzzy": FuzzyART(0.8, max_epochs=5),
            "slow": FuzzyART(0.6, beta=0.5, max_epochs=3, shuffle=True, random_state=0),
            "dual": DualVigilanceFuzzyART(0.9, 0.7, max_epochs=None, order="vat"),
            "artmap": FuzzyARTMAP(0.5),
            "shared": FuzzyARTMAP(0.2, 0.5, epsilon=-0.01, beta_ab=0.5, beta=0.7),
        }
        for kind, template in models.items():
            for parts in (1, 3):
                model = clone(template)
                if parts == 1:
                    model.fit(X, y)
                else:
                    model.set_params(feature_range=(X.min(axis=0), X.max(axis=0)))
                    for part in np.array_split(np.arange(len(X)), parts):
                        model.partial_fit(X[part], y[part])
                found = {one: np.asarray(getattr(model, one)) for one in names}
                found["predict_labels"] = model.predict(X)
                if hasattr(model, "map_field_"):
                    found["map_field_"] = model.map_field_
                yield f"art-{kind}-{parts}-{name}", found


def write(path: Path) -> None:
    found: Results = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for runs in (fits(), others(), art_family()):
            for name, results in runs:
                found |= {f"{name}/{what}": array for what, array in results.items()}
                print(name, flush=True)
    np.savez_compressed(path, allow_pickle=False, **found)


def difference(name: str, old: NDArray[Any], new: NDArray[Any]) -> str | None:
    """What is wrong with a result, or None."""
    if old.shape != new.shape:
        return f"shape {old.shape} has become {new.shape}"
    if old.dtype.kind != "f" or name.startswith(STRICT):
        same = old.tobytes() == new.astype(old.dtype).tobytes()
        return None if same else f"{np.count_nonzero(old != new)} of {old.size} entries differ"
    close = np.isclose(old, new, rtol=CLOSE, atol=CLOSE, equal_nan=True)
    return None if close.all() else f"up to {np.abs(new - old).max():.3g} apart"


def compare(before: Path, after: Path) -> int:
    with np.load(before) as old, np.load(after) as new:
        found = {name: "is missing" for name in set(old.files) ^ set(new.files)}
        bits = 0
        for name in set(old.files) & set(new.files):
            wrong = difference(name, old[name], new[name])
            if wrong is not None:
                found[name] = wrong
            bits += old[name].tobytes() == new[name].tobytes()
        for name in sorted(found):
            print(f"{name}: {found[name]}")
        runs = len({name.partition("/")[0] for name in old.files})
        print(
            f"{runs} runs, {len(old.files)} results: {len(found)} differ, "
            f"{bits} are the same to the last bit"
        )
    return int(bool(found))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same_results", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("write").add_argument("file", type=Path)
    both = commands.add_parser("compare")
    both.add_argument("before", type=Path)
    both.add_argument("after", type=Path)
    chosen = parser.parse_args()
    if chosen.command == "write":
        write(chosen.file)
        return 0
    return compare(chosen.before, chosen.after)


if __name__ == "__main__":
    sys.exit(main())
