"""ICVIARTMAPSearch: many runs, of which the index value picks the best (the paper's appendix)."""

from __future__ import annotations

import hashlib
import inspect
import itertools
import sys
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from dataclasses import asdict, replace
from os import PathLike
from typing import Any, NamedTuple, Self

import joblib
import numpy as np
from joblib.parallel import get_active_backend
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils.validation import check_is_fitted

from icvi_artmap._support.threads import one_thread
from icvi_artmap._support.validation import (
    MOST_RUNS,
    check_integer,
    check_jobs,
    check_real,
    check_verbose,
    checked_generator,
)
from icvi_artmap._support.version import __version__
from icvi_artmap._support.wording import better, shown
from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
from icvi_artmap.estimators.preparing import prepares
from icvi_artmap.estimators.vigilance_search.results import Outcome, Run, SearchResults
from icvi_artmap.estimators.vigilance_search.store import Memory, Store
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.custom import CustomIndex, custom_index
from icvi_artmap.indices.registry import get_index
from icvi_artmap.samples.scaling import Data, Scaling, blocks, coded_data, learn_scaling
from icvi_artmap.training.part import extended
from icvi_artmap.training.run import Run as TrainingRun
from icvi_artmap.training.run import Vigilances
from icvi_artmap.training.start import (
    Samples,
    kmeans_centres,
    presentation_order,
    start_at,
)

#: The grids of the paper (Table gridsearch): rho_a with few features and with many, rho_ab.
RHO_A_FEW = tuple(i / 20 for i in range(20))
RHO_A_MANY = tuple(i / 20 for i in range(15))
RHO_AB = tuple(i / 10 for i in range(1, 11))
#: From this number of features on the paper's grid of rho_a ends at 0.7.
MANY_FEATURES = 10
#: A backend that cannot hand over results one by one gets this many runs per worker at a time.
RUNS_PER_WORKER = 4
#: Seconds between two drawings of the progress bar.
REDRAW_SECONDS = 0.1

_SEEDS = np.iinfo(np.int32).max
#: Parameters of the estimator that every run sets anew, or that change no result.
_OF_THE_RUN = ("n_clusters", "index", "rho_a", "rho_ab", "n_init", "random_state", "verbose")


class ICVIARTMAPSearch(ClusterMixin, BaseEstimator):
    """Search for the vigilances, judged by the index that drives the runs.

    An :class:`ICVIARTMAP` is trained with every combination of the given values, all from the same
    k-means starts and with the same order of presentation. The run with the best index value wins.
    The result depends neither on the number of workers nor on the joblib backend.

    Parameters
    ----------
    estimator : ICVIARTMAP, optional
        Has the parameters that are not searched; ``ICVIARTMAP()`` by default. It is not changed.
    rho_a : float or list of float, optional
        Vigilances of the categories to try. By default the paper's grid: 0, 0.05, ..., 0.95, or,
        with 10 features or more, 0, 0.05, ..., 0.7.
    rho_ab : float or list of float, optional
        Vigilances of the map field to try. By default the paper's grid: 0.1, 0.2, ..., 1.
    index : str, Index or list of these, optional
        Indices to try; the estimator's by default. Values of different indices do not compare: the
        best run of the *first* becomes ``best_estimator_``, those of the others are found with
        ``results_.best(index)``.
    n_clusters : int or list of int, optional
        Numbers of clusters to try; the estimator's by default. Values of one index for different
        numbers of clusters are compared as they are, with a warning: NI, for one, tends to favour
        more clusters.
    n_starts : int, optional
        Number of k-means starts to try, at most 10,000; the estimator's ``n_init`` by default.
    n_jobs : int, optional
        Number of runs at a time; -1 for as many as there are processors. By default 1, or what
        ``joblib.parallel_config`` says. The active joblib backend does the work.
    store : path, optional
        File that gets every result as it comes in. A search that finds its file there goes on from
        it: what is stored is not computed again.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts and of the order of presentation, as in :class:`ICVIARTMAP`. With None a
        stored search goes on with the seed it began with.
    verbose : int or bool, default=1
        1 shows a progress bar if stderr is a terminal, 0 never.

    Attributes
    ----------
    best_estimator_ : ICVIARTMAP
        The best run, fitted on the data. Its ``init`` and ``random_state`` are such that another
        ``fit`` gives the same.
    best_params_ : dict
        Its ``index``, ``n_clusters``, ``rho_a`` and ``rho_ab``.
    best_run_ : int
        Its number in the results.
    results_ : SearchResults
        All runs: columns, ``to_pandas()``, ``plot()``, ``best(index, n_clusters)``.
    starts_ : dict
        For every number of clusters and number of a start its centres, in the units of the data.
    seed_ : int
        The seed of the order of presentation and of the starts.
    labels_ : ndarray of shape (n_samples,)
        Labels of the best run.
    index_value_ : float
        Index value of the best run.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if all are strings.

    Examples
    --------
    >>> from icvi_artmap import ICVIARTMAP, ICVIARTMAPSearch
    >>> from icvi_artmap.datasets import make_gaussian_clusters
    >>> X, y = make_gaussian_clusters(4, 2, random_state=0)
    >>> search = ICVIARTMAPSearch(
    ...     ICVIARTMAP(n_clusters=4), rho_a=[0, 0.4, 0.8], rho_ab=[0.5, 1], random_state=0
    ... ).fit(X)
    >>> len(search.results_)
    6
    >>> sorted(search.best_params_)
    ['index', 'n_clusters', 'rho_a', 'rho_ab']
    >>> bool(search.index_value_ == search.results_.index_value.min())
    True
    """

    def __init__(
        self,
        estimator: ICVIARTMAP | None = None,
        *,
        rho_a: float | Iterable[float] | None = None,
        rho_ab: float | Iterable[float] | None = None,
        index: str | Index | Iterable[str | Index] | None = None,
        n_clusters: int | Iterable[int] | None = None,
        n_starts: int | None = None,
        n_jobs: int | None = None,
        store: str | PathLike[str] | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | bool = 1,
    ) -> None:
        self.estimator = estimator
        self.rho_a = rho_a
        self.rho_ab = rho_ab
        self.index = index
        self.n_clusters = n_clusters
        self.n_starts = n_starts
        self.n_jobs = n_jobs
        self.store = store
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Make all runs that are not stored yet and keep the best.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers without missing values, dense.
        y : ignored

        Returns
        -------
        self : ICVIARTMAPSearch
        """
        template = self._template()
        table = template._check_data(X, reset=True)
        indices, runs = self._grid(template, *table.shape)
        with self._open(template, table, indices) as memory:
            scaling = learn_scaling(table)
            # The very draws of ICVIARTMAP, so that its runs are those of the search.
            generator = np.random.RandomState(memory.seed)
            order = presentation_order(table, scaling, template.shuffle, template.order, generator)
            n_starts = 1 + max(run.start for run in runs)
            seeds = [int(generator.randint(_SEEDS)) for _ in range(n_starts)]
            # Workers limit BLAS to one thread themselves. But that limit is the process's: of
            # workers that are threads the first to end would lift it for the others.
            with one_thread():
                self._find_starts(memory, template, runs, table, scaling, seeds)
                self._make_runs(memory, template, runs, indices, table, scaling, order, seeds[0])
        self._template_used, self._indices_used = template, indices
        self.seed_ = memory.seed
        self.starts_ = {(run.n_clusters, run.start): memory.starts[_start(run)] for run in runs}
        self.results_ = SearchResults(
            runs,
            [memory.outcomes[run] for run in runs],
            {name: index.direction for name, index in indices.items()},
        )
        self.best_run_ = self.results_.best()
        best = self.results_.run(self.best_run_)
        self.best_params_ = asdict(best) | {"index": _parameter(indices[best.index])}
        del self.best_params_["start"]
        self.best_estimator_ = self.estimator_of_run(self.best_run_).fit(X)
        self.index_value_ = self.best_estimator_.index_value_
        self.labels_ = self.best_estimator_.labels_
        self._set_features()
        stored = self.results_.index_value[self.best_run_]
        if self.index_value_ != stored:
            warnings.warn(
                f"The best run gave {self.index_value_!r} when it was repeated, but "
                f"{float(stored)!r} in the search: the runs were made on a machine, or with "
                "versions of NumPy and Numba, that round differently.",
                RuntimeWarning,
                stacklevel=2,
            )
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Cluster of every row, by the best estimator."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    def score(self, X: ArrayLike, y: Any = None) -> float:
        """Index of the partition predicted by the best estimator; greater is better."""
        check_is_fitted(self)
        return self.best_estimator_.score(X)

    def estimator_of_run(self, number: int) -> ICVIARTMAP:
        """An estimator, not yet fitted, whose fit on the same data is that run of the results.

        Parameters
        ----------
        number : int
            Position in the columns of ``results_``.

        Returns
        -------
        ICVIARTMAP
        """
        check_is_fitted(self, "results_")
        run = self.results_.run(number)
        model = _configured(self._template_used, run, self._indices_used[run.index])
        model.index = _parameter(self._indices_used[run.index])
        model.init = self.starts_[_start(run)].copy()
        model.random_state = self.seed_
        return model

    # --- what is to be done ----------------------------------------------------------------------

    def _template(self) -> ICVIARTMAP:
        if self.estimator is None:
            return ICVIARTMAP()
        if not isinstance(self.estimator, ICVIARTMAP):
            raise TypeError(
                f"estimator must be an ICVIARTMAP, got {type(self.estimator).__name__}. For other "
                "estimators there is scikit-learn's GridSearchCV."
            )
        if prepares(self.estimator):
            raise ValueError(
                "The estimator of a search must not prepare its rows: missing, transform_columns, "
                "categories and n_axes must have their defaults. Prepare the rows first, by "
                "preparation_.prepared of a fitted ICVIARTMAP."
            )
        return clone(self.estimator)

    def _grid(
        self, template: ICVIARTMAP, n_samples: int, n_features: int
    ) -> tuple[dict[str, Index], list[Run]]:
        """The indices by name, and all runs in the order of the results."""
        check_verbose(self.verbose)
        rho_a = RHO_A_MANY if n_features >= MANY_FEATURES else RHO_A_FEW
        vigilances_a = _vigilances("rho_a", rho_a if self.rho_a is None else self.rho_a)
        vigilances_ab = _vigilances("rho_ab", RHO_AB if self.rho_ab is None else self.rho_ab)
        given = template.index if self.index is None else self.index
        indices: dict[str, Index] = {}
        for index in map(get_index, _listed("index", given)):
            if index.name in indices:
                raise ValueError(
                    f"index names {index.name} more than once. Give every index once, and custom "
                    "indices names of their own (custom_index(..., name=...))."
                )
            indices[index.name] = index
        n_clusters = self._numbers_of_clusters(template, n_samples)
        n_starts = template.n_init if self.n_starts is None else self.n_starts
        counted_by = "n_starts" if self.n_starts is not None else "n_init"
        check_integer(counted_by, n_starts, 1, MOST_RUNS)
        check_jobs(self.n_jobs)
        if not isinstance(template.init, str) and n_starts > 1:
            raise ValueError(
                f"n_starts={n_starts} needs starts by k-means, but the estimator's init has given "
                'centres. Use n_starts=1, or init="k-means++".'
            )
        # Fails here and not in a worker if anything is wrong with the other parameters.
        name, index = next(iter(indices.items()))
        trial = _configured(
            template, Run(name, n_clusters[0], 0, vigilances_a[0], vigilances_ab[0]), index
        )
        trial._check_parameters()
        for k in n_clusters:
            trial.n_clusters = k
            trial._given_centres(n_features)
        names = list(indices)
        grid = itertools.product(names, n_clusters, range(n_starts), vigilances_a, vigilances_ab)
        return indices, [Run(*values) for values in grid]

    def _numbers_of_clusters(self, template: ICVIARTMAP, n_samples: int) -> list[int]:
        given = template.n_clusters if self.n_clusters is None else self.n_clusters
        numbers = _listed("n_clusters", given)
        for k in numbers:
            # A single 1 is left to the estimator, which warns.
            one = len(numbers) == 1 and k == 1
            check_integer("n_clusters", k, 1 if one else 2)
            if k > n_samples:
                raise ValueError(
                    f"n_clusters={shown(k)} is more than the number of samples, "
                    f"n_samples={n_samples}. Ask for at most as many clusters as there are samples."
                )
        _refuse_duplicates("n_clusters", numbers)
        if len(numbers) > 1:
            warnings.warn(
                f"n_clusters={numbers}: index values for different numbers of clusters are "
                "compared as they are, and an index may favour more or fewer clusters (NI tends to "
                "favour more). results_.best(n_clusters=k) gives the best run of each.",
                UserWarning,
                stacklevel=4,
            )
        return [int(k) for k in numbers]

    def _open(
        self, template: ICVIARTMAP, table: NDArray[np.floating], indices: dict[str, Index]
    ) -> Memory:
        wanted: int | None = None
        generator = checked_generator(self.random_state)
        if isinstance(self.random_state, (int, np.integer)):
            wanted = int(self.random_state)
        elif self.random_state is not None:
            wanted = int(generator.randint(_SEEDS))
        new_seed = int(generator.randint(_SEEDS)) if wanted is None else wanted
        if self.store is None:
            return Memory(new_seed)
        belongs_to = {
            "package": __version__,
            "data": _hash_of_data(table),
            **{
                name: _written(value)
                for name, value in sorted(template.get_params(deep=False).items())
                if name not in _OF_THE_RUN
            },
        }
        identities = {name: _identity(index) for name, index in indices.items()}
        return Store(self.store, belongs_to, wanted, new_seed, identities)

    # --- doing it --------------------------------------------------------------------------------

    def _find_starts(
        self,
        memory: Memory,
        template: ICVIARTMAP,
        runs: list[Run],
        table: NDArray[np.floating],
        scaling: Scaling,
        seeds: list[int],
    ) -> None:
        """Centres for all numbers of clusters and starts."""
        missing = [
            start for start in dict.fromkeys(map(_start, runs)) if start not in memory.starts
        ]
        given = _configured(template, runs[0], template.index)._given_centres(table.shape[1])
        if given is not None:
            for start in missing:
                memory.add_start(start, given)
            return
        tasks = [
            joblib.delayed(_numbered)(
                i, kmeans_centres, table, scaling, k, template.kmeans_trials, seeds[start]
            )
            for i, (k, start) in enumerate(missing)
        ]
        with closing(_as_completed(tasks, self.n_jobs)) as finished:
            for i, centres in finished:
                memory.add_start(missing[i], centres)

    def _make_runs(
        self,
        memory: Memory,
        template: ICVIARTMAP,
        runs: list[Run],
        indices: dict[str, Index],
        table: NDArray[np.floating],
        scaling: Scaling,
        order: NDArray[np.int64],
        seed: int,
    ) -> None:
        """All runs that are not there yet."""
        missing = [run for run in runs if run not in memory.outcomes]
        # A run tells for which larger rho_a it would be the same.
        missing.sort(key=lambda run: run.rho_a)
        made: dict[Run, list[tuple[Vigilances, Outcome]]] = {}
        first = next(iter(indices.values()))
        progress = _Progress(len(runs), len(runs) - len(missing), first, bool(self.verbose))
        for run in runs:
            if run in memory.outcomes:
                progress.see(run, memory.outcomes[run].index_value)
        scalings = {
            name: index.resolved(scaling, template._steps(table, index))
            for name, index in indices.items()
        }
        coded = coded_data(table, scaling, order)
        data = {name: index.view(coded.scaled(scalings[name])) for name, index in indices.items()}
        shipped = {name: _Shipment.of(index) for name, index in indices.items()}
        bare = clone(template).set_params(init="k-means++", index="NI", verbose=0)
        # Arrays go as arguments of their own: joblib and Dask share large ones among workers.
        tasks = (
            joblib.delayed(_numbered)(
                i,
                _one_run,
                bare,
                run,
                shipped[run.index],
                memory.starts[_start(run)],
                scalings[run.index],
                order,
                seed,
                *data[run.index],
            )
            for i, run in enumerate(missing)
            if _known(run, made) is None  # asked when a worker is free, so of all runs made by then
        )
        try:
            with progress, closing(_as_completed(tasks, self.n_jobs)) as finished:
                for i, (outcome, vigilances) in finished:
                    made.setdefault(_like(missing[i]), []).append((vigilances, outcome))
                    memory.add_outcome(missing[i], outcome)
                    progress.step(missing[i], outcome.index_value)
                for run in missing:
                    if run not in memory.outcomes:
                        same = _known(run, made)
                        assert same is not None
                        memory.add_outcome(run, replace(same, seconds=0.0))
                        progress.step(run, same.index_value)
        finally:
            for shipment in shipped.values():
                _RECEIVED.pop(shipment.token, None)

    def _set_features(self) -> None:
        self.n_features_in_ = self.best_estimator_.n_features_in_
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_


def _start(run: Run) -> tuple[int, int]:
    return run.n_clusters, run.start


def _parameter(index: Index) -> str | Index:
    """An index as one would pass it to the estimator."""
    return index.name if index.built_in else index


# --- the grid ------------------------------------------------------------------------------------


def _listed(name: str, given: Any) -> list[Any]:
    """What was given as a list, a single value being a list of one."""
    if isinstance(given, (str, Index)) or not isinstance(given, Iterable):
        return [given]
    if isinstance(given, (dict, set, frozenset)):
        raise TypeError(
            f"{name} must be a value or a list of values, got a {type(given).__name__}. "
            "The order counts: use a list."
        )
    array = np.asarray(given) if not isinstance(given, (list, tuple, range)) else None
    if array is not None and array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got shape {array.shape}.")
    listed = list(itertools.islice(given, MOST_RUNS + 1))
    if len(listed) > MOST_RUNS:
        raise ValueError(f"{name} has more than {MOST_RUNS:,} values to try. Give fewer.")
    if not listed:
        raise ValueError(f"{name} is empty: there is nothing to search. Give at least one value.")
    return listed


def _vigilances(name: str, given: Any) -> list[float]:
    values = _listed(name, given)
    for value in values:
        check_real(name, value, 0.0, 1.0)
    numbers = [float(value) for value in values]
    _refuse_duplicates(name, numbers)
    return numbers


def _refuse_duplicates(name: str, values: list[Any]) -> None:
    for i, value in enumerate(values):
        if value in values[:i]:
            raise ValueError(f"{name} has {value} more than once. Give every value once.")


# --- what a stored search belongs to -------------------------------------------------------------


def _hash_of_data(table: NDArray[np.floating]) -> str:
    """The same for the same numbers, in whichever form they come."""
    digest = hashlib.sha256(repr(table.shape).encode())
    for rows in blocks(len(table)):
        digest.update(np.ascontiguousarray(table[rows], np.float64).tobytes())
    return digest.hexdigest()


def _written(value: Any) -> Any:
    """A parameter as JSON can hold it; a hash of what it cannot."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return joblib.hash(value)


def _identity(index: Index) -> str:
    """The name of an index; for one of the user's own also a hash of what it does."""
    if index.built_in:
        return index.name
    function = getattr(index, "function", None) or index.make_state
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        text = f"{code.co_code.hex()} {code.co_names}" if code else function.__qualname__
    return f"{index.name} {hashlib.sha256(f'{index.direction} {text}'.encode()).hexdigest()}"


# --- workers -------------------------------------------------------------------------------------


def _like(run: Run) -> Run:
    """What a run has in common with those that differ in the vigilances alone."""
    return replace(run, rho_a=0.0, rho_ab=0.0)


def _known(run: Run, made: dict[Run, list[tuple[Vigilances, Outcome]]]) -> Outcome | None:
    """The outcome of a run that was the same, if there is one."""
    for vigilances, outcome in made.get(_like(run), ()):
        if vigilances.contain(run.rho_a, run.rho_ab):
            return outcome
    return None


def _as_completed(tasks: Iterable[Any], n_jobs: int | None) -> Generator[Any, None, None]:
    """Results of the tasks as they come in, by the active joblib backend.

    Large arrays come to worker processes as memory maps of one file. The mode "c" makes them
    writable there, as kernels are compiled for; nobody writes.
    """
    backend, _ = get_active_backend()
    if getattr(backend, "supports_return_generator", False):
        parallel = joblib.Parallel(n_jobs, return_as="generator_unordered", mmap_mode="c")
        with closing(parallel(tasks)) as results:
            yield from results
        return
    parallel = joblib.Parallel(n_jobs, mmap_mode="c")
    size = RUNS_PER_WORKER * joblib.effective_n_jobs(n_jobs)
    left = iter(tasks)
    while some := list(itertools.islice(left, size)):
        yield from parallel(some)


def _numbered(number: int, function: Callable[..., Any], *arguments: Any) -> tuple[int, Any]:
    """A result that says which task it belongs to."""
    return number, function(*arguments)


def _one_run(
    template: ICVIARTMAP,
    run: Run,
    shipped: _Shipment,
    centres: NDArray[np.float64],
    scaling: Scaling,
    order: NDArray[np.int64],
    seed: int,
    *arrays: NDArray[Any],
) -> tuple[Outcome, Vigilances]:
    """What every worker does."""
    began = time.perf_counter()
    model = _configured(template, run, shipped.unpacked())
    index, parameters = model._check_parameters()
    samples = Samples(Data(*map(_as_ours, arrays)), scaling, order)
    settings = model._settings(index, parameters, seed, trace=False, number_of_run=0)
    rows = model._training_rows(samples.data.shape, run.n_clusters, index, seed)
    part = samples if rows is None else samples.take(rows)
    done = TrainingRun(part, start_at(centres, scaling), settings).train()
    done = done if rows is None else extended(done, rows, samples)
    done.taught()
    outcome = Outcome(
        index_value=float(index.value(done.score)),
        n_clusters_found=done.k,
        n_categories=len(done.boxes),
        n_iter=len(done.epochs),
        converged=bool(done.converged),
        seconds=time.perf_counter() - began,
    )
    return outcome, done.vigilances


def _configured(template: ICVIARTMAP, run: Run, index: str | Index) -> ICVIARTMAP:
    """A copy of the template with the parameters of the run; one start, given elsewhere."""
    model = clone(template)
    # Attributes, since set_params refuses the single cluster that scikit-learn's checks ask for.
    model.n_clusters = run.n_clusters
    model.index = index
    model.rho_a = run.rho_a
    model.rho_ab = run.rho_ab
    model.n_init = 1
    return model


def _as_ours(array: NDArray[Any]) -> NDArray[Any]:
    """A plain array that may be written to: for any other, kernels would be compiled anew."""
    array = np.asarray(array)
    return array if array.flags.writeable else array.copy()


_RECEIVED: dict[str, Index] = {}
_RECEIVED_LOCK = threading.Lock()


class _Shipment(NamedTuple):
    """An index on its way to a worker.

    One that was made in a script or a notebook cannot be imported by name elsewhere. Its function
    goes by value then, and is made an index once per process, so that it is compiled once.
    """

    ready: Index | None
    token: str = ""
    function: Callable[..., float] | None = None
    name: str = ""
    direction: int = 0

    @classmethod
    def of(cls, index: Index) -> _Shipment:
        if not isinstance(index, CustomIndex) or _importable(index):
            return cls(index)
        token = uuid.uuid4().hex
        _RECEIVED[token] = index
        return cls(None, token, index.function, index.name, index.direction)

    def unpacked(self) -> Index:
        if self.ready is not None:
            return self.ready
        with _RECEIVED_LOCK:
            if self.token not in _RECEIVED:
                _RECEIVED[self.token] = custom_index(
                    self.function, better=better(self.direction), name=self.name
                )
            return _RECEIVED[self.token]


def _importable(index: CustomIndex) -> bool:
    """Whether another process finds the index under the name of its function."""
    module = getattr(index.function, "__module__", "__main__")
    name = getattr(index.function, "__name__", "")
    return module != "__main__" and getattr(sys.modules.get(module), name, None) is index


# --- progress ------------------------------------------------------------------------------------


class _Progress:
    """A bar on stderr if that is a terminal: how many runs, the best value, the time left."""

    WIDTH = 24

    def __init__(self, total: int, done: int, index: Index, wanted: bool) -> None:
        self.total, self.done, self.already = total, done, done
        self.index = index
        self.best = -np.inf
        self.began = time.monotonic()
        self.drawn = -np.inf
        self.visible = wanted and total > done and sys.stderr.isatty()

    def __enter__(self) -> Self:
        self._draw()
        return self

    def __exit__(self, *_: object) -> None:
        if self.visible:
            self._draw()
            print(file=sys.stderr, flush=True)

    def see(self, run: Run, value: float) -> None:
        """Take note of a value of the index that decides."""
        if run.index == self.index.name:
            self.best = max(self.best, self.index.direction * value)

    def step(self, run: Run, value: float) -> None:
        """One more run is finished."""
        self.see(run, value)
        self.done += 1
        if time.monotonic() - self.drawn >= REDRAW_SECONDS:
            self._draw()

    def _draw(self) -> None:
        if self.visible:
            self.drawn = time.monotonic()
            # The rest of the line is cleared: it may have been longer.
            print(
                f"\r{self.text(self.drawn - self.began)}\x1b[K", end="", file=sys.stderr, flush=True
            )

    def text(self, seconds: float) -> str:
        """The line to show after this time."""
        full = self.WIDTH * self.done // self.total
        bar = "#" * full + "." * (self.WIDTH - full)
        parts = [f"[{bar}] {self.done}/{self.total}"]
        if self.best > -np.inf:
            parts.append(f"best {self.index.name} = {self.index.value(self.best):.6g}")
        if self.already < self.done < self.total:
            left = seconds / (self.done - self.already) * (self.total - self.done)
            parts.append(f"{_duration(left)} left")
        elif self.done == self.total:
            parts.append(_duration(seconds))
        return ", ".join(parts)


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
