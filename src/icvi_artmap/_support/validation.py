"""Checks of what users pass; the message says what came, what was expected and what to try."""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from icvi_artmap._support.wording import (
    LONGEST_MESSAGE,
    LONGEST_NAME,
    message,
    shortened,
    shown,
)

#: No more runs of the same may be asked for, nor values of one parameter to try.
MOST_RUNS = 10_000
#: No more passes over the data.
MOST_EPOCHS = 1_000_000
#: No more workers at a time.
MOST_JOBS = 100_000


def refuse_sparse(X: Any) -> None:
    if scipy.sparse.issparse(X):
        raise TypeError(
            f"Sparse data ({type(X).__name__}) was passed, but dense data is required: "
            "complement coding turns every zero into a one. Use X.toarray() if it fits into "
            "memory, or reduce the dimension first, for example with TruncatedSVD."
        )


def refuse_equal_names(X: Any) -> None:
    """Of two columns with one name nobody can tell which is meant when new rows come."""
    names = Counter(getattr(X, "columns", ()))
    repeated = [name for name, times in names.items() if times > 1]
    if repeated:
        raise ValueError(
            f"X has more than one column {shown(repeated[0])}. Give each column a name of its own."
        )


def checked_data(estimator: Any, *tables: Any, **options: Any) -> Any:
    """The result of scikit-learn's ``validate_data``, for dense data in either float type.

    Its message on missing values is long and recommends other estimators; ours is not.
    """
    refuse_sparse(tables[0])
    refuse_equal_names(tables[0])
    with short_messages():
        try:
            return validate_data(estimator, *tables, dtype=[np.float64, np.float32], **options)
        except ValueError as error:
            if not str(error).startswith("Input X contains NaN"):
                raise
    raise ValueError(
        f"Input X contains NaN, but {type(estimator).__name__} needs a value in every cell. Leave "
        "out the rows with missing values, or fill them in, for example with scikit-learn's "
        "SimpleImputer."
    )


@contextmanager
def short_messages() -> Iterator[None]:
    """Cut off what another package says at length of the input: it may show all of it."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if len(str(error)) <= LONGEST_MESSAGE:
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(message("", error)) from None
    except OverflowError as error:
        raise ValueError(f"A number is larger than float64 can hold ({error}).") from None


def checked_generator(random_state: Any) -> np.random.RandomState:
    """What scikit-learn's ``check_random_state`` makes of a seed."""
    try:
        return check_random_state(random_state)
    except ValueError:
        raise ValueError(
            f"random_state={shown(random_state)} cannot be used to seed a generator. Use None, an "
            "integer from 0 to 4294967295, or a numpy.random.RandomState."
        ) from None


def check_integer(name: str, value: Any, least: int, most: int | None = None) -> None:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(
            f"{name} must be an integer, got {shown(value)} of type {type(value).__name__}."
        )
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {shown(value)}.")
    if most is not None and int(value) > most:
        raise ValueError(f"{name} must be at most {most:,}, got {shown(value)}.")


def check_jobs(value: Any) -> None:
    """A number of workers, as joblib has it: -1 is one for every processor, -2 one less."""
    if value is not None:
        check_integer("n_jobs", value, -MOST_JOBS, MOST_JOBS)
        if value == 0:
            raise ValueError("n_jobs must not be 0. Use 1 for one worker, -1 for all processors.")


def check_choice(name: str, value: Any, choices: tuple[str | None, ...]) -> None:
    """Refuse what is none of the choices; a value may be anything, an array for one."""
    if not (value is None or isinstance(value, str)) or value not in choices:
        *first, last = ("None" if choice is None else f'"{choice}"' for choice in choices)
        raise ValueError(f"{name} must be {', '.join(first)} or {last}, got {shown(value)}.")


def check_truth(name: str, value: Any) -> None:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {shown(value)}.")


def check_verbose(value: Any) -> None:
    """True and False are as good as 1 and 0."""
    check_integer("verbose", int(value) if isinstance(value, (bool, np.bool_)) else value, 0)


def check_real(name: str, value: Any, low: float, high: float, *, open_low: bool = False) -> None:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(
            f"{name} must be a number, got {shown(value)} of type {type(value).__name__}."
        )
    try:
        number = float(value)
    except OverflowError:  # an integer beyond float64
        number = np.inf
    inside = low < number if open_low else low <= number
    if not inside or not number <= high or number == np.inf:
        bracket, upper = "(" if open_low else "[", f"{high:g}]" if high < np.inf else "inf)"
        raise ValueError(
            f"{name} must be in {bracket}{low:g}, {upper}, got {shortened(value, LONGEST_NAME)}."
        )


def check_forgetting(forgetting: Any, index_name: str, forgets: bool) -> None:
    """``forgets``: whether the index can forget."""
    check_real("forgetting", forgetting, 0.0, 1.0, open_low=True)
    if forgetting < 1.0 and not forgets:
        raise ValueError(
            f"{index_name} cannot forget: it is not defined for samples with weights. Use "
            "forgetting=1.0, or another index."
        )
