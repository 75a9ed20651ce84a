"""Models that last: fitted estimators to files and back, without pickle.

Stored is what cannot be computed from the rest; a loaded model sets its attributes by the very
methods that a fit uses. Whoever alters a file can make its checksums fit again, so these prove
nothing: what is loaded is checked as the work of a stranger. Every number that a kernel uses as a
position is in its range, all shapes fit together, and nothing is infinite that must not be.
"""

from __future__ import annotations

import os
import platform
import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from icvi_artmap._support.version import __version__
from icvi_artmap._support.wording import LONGEST_PATH, message, shown
from icvi_artmap.deep.autoencoder import DynamicAutoencoder, check_restored
from icvi_artmap.estimators.art_family import (
    DualVigilanceFuzzyART,
    FuzzyART,
    FuzzyARTMAP,
    FuzzyNetwork,
    Ranges,
)
from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
from icvi_artmap.estimators.preparing import DROPPED
from icvi_artmap.estimators.restored import (
    check_parameters,
    restore_icvi_artmap,
    restore_network,
    restore_preparation,
    transform_output,
)
from icvi_artmap.indices.base import Index
from icvi_artmap.indices.registry import INDICES, get_index
from icvi_artmap.network.boxes import BINS, CELLS
from icvi_artmap.persistence import autoencoders, prepared
from icvi_artmap.persistence import file_format as model_file
from icvi_artmap.persistence.contents import (
    ANY_CLUSTERS,
    CLUSTERS_PER_CATEGORY,
    LARGEST_MOMENT,
    MOST_SAMPLES,
    Contents,
    check_between,
    check_scatter,
)
from icvi_artmap.persistence.file_format import (
    Arrays,
    ContentError,
    Header,
    ModelFileError,
    shortened,
)
from icvi_artmap.persistence.streams import restore_stream, stream_arrays
from icvi_artmap.prediction.confidence import Levels
from icvi_artmap.samples.mixture import make_mixture
from icvi_artmap.samples.moments import Moments
from icvi_artmap.samples.scaling import Scaling
from icvi_artmap.training.art_family import assembled
from icvi_artmap.training.joining import Tree
from icvi_artmap.training.number_of_clusters import make_selection
from icvi_artmap.training.run import Epoch, FitResult, Joined, Vigilances
from icvi_artmap.training.shapes import RULE

__all__ = ["ModelFileError", "load", "save"]

#: A box is one up to rounding: lower corner + (1 - upper corner) exceed 1 by no more.
ROUNDING = 1e-9
#: Densities are divided by the fall to where noise begins.
LEAST_FALL = 1e-12
#: Letters of all classes, each as long as the longest: an array of strings takes that much.
MOST_LETTERS = 1 << 22
#: Letters of the estimator's own message about a parameter, which may have any length.
LONGEST_REASON = 300
#: Seeds that NumPy takes.
SEEDS = 1 << 32
#: Steps of a pipeline.
MOST_STEPS = 4


def save(model: BaseEstimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file, from which :func:`load` makes an equal one.

    Parameters
    ----------
    model : fitted ICVIARTMAP, FuzzyART, DualVigilanceFuzzyART, FuzzyARTMAP or DynamicAutoencoder
        Or a scikit-learn pipeline of a DynamicAutoencoder and one of the others.
    path : path of the file, by convention with the suffix ``.icvi``
        An existing file is replaced, in one step, when the new one is complete.

    Notes
    -----
    The file is a zip of plain arrays and a header in JSON; there is no pickle in it. The training
    data are not stored, but the labels of the samples are. A generator passed as ``random_state``
    is not stored: it becomes None. With an index of your own its name is stored, and :func:`load`
    must be given the index.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from icvi_artmap import FuzzyART, load, save
    >>> model = FuzzyART(rho=0.8).fit([[0.0, 1.0], [1.0, 0.0], [9.0, 10.0], [10.0, 9.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, Path(folder) / "boxes.icvi")
    ...     load(Path(folder) / "boxes.icvi").predict([[2.0, 2.0], [8.0, 12.0]])
    array([0, 1])
    """
    steps = _steps_of(model)
    kinds = [_kind_of(step) for step in steps.values()]
    check_is_fitted(model)
    _check_target(path)
    index = _index_of(list(steps.values())[-1])
    parts = [_contents(step, kind, index) for step, kind in zip(steps.values(), kinds, strict=True)]
    header, arrays = parts[0] if model is steps.get("") else _joined_parts(list(steps), parts)
    own = index if isinstance(parts[-1][0]["parameters"].get("index"), dict) else None
    try:
        _restored(header, arrays, own)  # what could not be loaded is not written
    except ContentError as error:
        raise ValueError(
            f"This {type(model).__name__} cannot be saved: {error}. If its attributes were changed "
            "after the fit, fit it again."
        ) from None
    model_file.write(path, header, arrays)


def load(path: str | os.PathLike[str], *, index: Index | None = None) -> Any:
    """Read a model that :func:`save` has written.

    Loading is safe: nothing in the file is executed, and a file that is damaged, altered or
    something else is refused, before it can take memory or do harm.

    Parameters
    ----------
    path : path of the file
    index : Index, optional
        The index that the model was fitted with, if that is one of your own (what
        :func:`custom_index` returns).

    Returns
    -------
    ICVIARTMAP, FuzzyART, DualVigilanceFuzzyART, FuzzyARTMAP, DynamicAutoencoder or Pipeline
        Fitted; all it returns is equal, to the last bit, to what the saved one would return.

    Raises
    ------
    ModelFileError
        A ValueError that says what is wrong with the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from icvi_artmap import ICVIARTMAP, load, save
    >>> X = [[0.0, 5.0], [1.0, 5.0], [2.0, 6.0], [10.0, 5.0], [11.0, 6.0], [12.0, 6.0]]
    >>> model = ICVIARTMAP(n_clusters=2, index="CH", random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, Path(folder) / "model.icvi")
    ...     twin = load(Path(folder) / "model.icvi")
    >>> bool((twin.predict(X) == model.predict(X)).all())
    True
    """
    header, arrays = model_file.read(path)
    try:
        return _restored(header, arrays, index)
    except ContentError as error:
        name = shown(os.fspath(path), LONGEST_PATH)
        origin = ". It was altered or written by another program; save the model again."
        raise ModelFileError(
            message(f"{name} does not hold a valid model: ", error, origin)
        ) from None
    except _OwnIndexError as error:
        name = shown(os.fspath(path), LONGEST_PATH)
        raise ModelFileError(message(f"{name}: ", error)) from None


class _OwnIndexError(Exception):
    """What is wrong with the index passed to load."""


# --- what can be saved ---------------------------------------------------------------------------


class Kind(NamedTuple):
    """How to store one class of estimators."""

    estimator: type[Any]
    fitted: Callable[[Any], tuple[Header, Arrays]]
    restore: Callable[[Any, Header, Contents, Index | None], None]


def _kind_of(model: Any) -> Kind:
    for kind in KINDS.values():
        if type(model) is kind.estimator:
            return kind
    given = type(model).__name__
    if hasattr(model, "best_estimator_") or given == "ICVIARTMAPSearch":
        hint = "Save its best_estimator_, or use joblib.dump for the whole of it."
    elif hasattr(model, "model_") or given == "DistributedICVIARTMAP":
        hint = "Save its model_, which is what the fit has found."
    elif any(isinstance(model, kind.estimator) for kind in KINDS.values()):
        hint = "A class of your own, also one derived from these, is stored by joblib.dump."
    else:
        hint = "Use joblib.dump for anything else, as another pipeline."
    raise TypeError(f"save can store {', '.join(KINDS)}, got {given}. {hint}")


def _steps_of(model: Any) -> dict[str, Any]:
    """The parts that are stored: steps by name if an autoencoder comes first, else the model."""
    if type(model) is Pipeline and isinstance(model.steps[0][1], DynamicAutoencoder):
        return dict(model.steps)
    return {"": model}


def _joined_parts(names: list[str], parts: list[tuple[Header, Arrays]]) -> tuple[Header, Arrays]:
    """The steps of a pipeline in one file; the names of arrays begin with the step's number."""
    arrays = {
        f"{i}.{name}": array for i, (_, own) in enumerate(parts) for name, array in own.items()
    }
    steps = [{"name": name, **header} for name, (header, _) in zip(names, parts, strict=True)]
    return {"class": Pipeline.__name__, "steps": steps}, arrays


def _restored_pipeline(header: Header, arrays: Arrays, index: Index | None) -> Pipeline:
    """The pipeline that a file describes; an index of one's own is that of the last step."""
    found = header.get("steps")
    if not isinstance(found, list) or not 1 < len(found) <= MOST_STEPS:
        raise ContentError(f"its steps are {shortened(found)}")
    names: list[Any] = [step.get("name") if isinstance(step, dict) else None for step in found]
    if not _strings(names) or len(set(names)) != len(names) or "__" in "".join(names):
        raise ContentError(f"the names of its steps are {shortened(names)}")
    parts: list[Arrays] = [{} for _ in found]
    for name, array in arrays.items():
        number, _, own = name.partition(".")
        if not number.isdecimal() or int(number) >= len(parts):
            raise ContentError(f"the array {shortened(name)} does not belong to any step")
        parts[int(number)][own] = array
    if any(step.get("class") != DynamicAutoencoder.__name__ for step in found[:-1]):
        raise ContentError("a step before the last is no DynamicAutoencoder")
    steps = [
        _restored(step, own, index if step is found[-1] else None)
        for step, own in zip(found, parts, strict=True)
    ]
    for before, after in pairwise(steps):
        if after.n_features_in_ != len(before.encoder_[-1]):
            raise ContentError("its steps do not fit together")
    return Pipeline(list(zip(names, steps, strict=True)))


def _check_target(path: str | os.PathLike[str]) -> None:
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(
            f"{str(target)!r} is a folder; give the path of a file, as "
            f"{str(target / 'model.icvi')!r}."
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"The folder {str(target.parent)!r} does not exist. Create it first, or give another "
            "path."
        )


def _contents(model: Any, kind: Kind, index: Index | None) -> tuple[Header, Arrays]:
    fitted, arrays = kind.fitted(model)
    parameters, notes, given = _written_parameters(model, index)
    names = getattr(model, "feature_names_in_", None)
    header = {
        "class": type(model).__name__,
        "parameters": parameters,
        "notes": notes,
        "fitted": fitted,
        "feature_names": None if names is None else [str(name) for name in names],
        "set_output": transform_output(model),
        "written_by": {
            "icvi-artmap": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
            "numba": numba.__version__,
        },
    }
    return header, {**arrays, **given}


def _restored(header: Header, arrays: Arrays, index: Index | None) -> Any:
    """The model that a file describes; a ContentError, if it describes none."""
    if header.get("class") == Pipeline.__name__ and "steps" in header:
        return _restored_pipeline(header, arrays, index)
    kind = KINDS.get(header["class"]) if isinstance(header.get("class"), str) else None
    if kind is None:
        raise ContentError(
            f"its class is {shortened(header.get('class'))}, and known are {', '.join(KINDS)}"
        )
    contents = Contents(arrays)
    model = kind.estimator()
    index = _read_parameters(model, header, contents, index)
    fitted = header.get("fitted")
    if not isinstance(fitted, dict):
        raise ContentError("its header has no fitted attributes")
    kind.restore(model, fitted, contents, index)
    contents.check_empty()
    _check_parameters(model)
    _set_names(model, header)
    return model


def _set_names(model: Any, header: Header) -> None:
    names, output = header.get("feature_names"), header.get("set_output")
    if names is not None:
        d = model.n_features_in_
        if not _strings(names) or len(names) != d or len(set(names)) != d:
            raise ContentError(
                f"its feature names are {shortened(names)}, expected {d} different strings"
            )
        model.feature_names_in_ = np.array(names, dtype=object)
    if output is not None:
        if output not in ("default", "pandas", "polars") or not hasattr(model, "set_output"):
            raise ContentError(f"its set_output is {shortened(output)}")
        model.set_output(transform=output)


def _strings(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _take_boxes(contents: Contents) -> NDArray[np.float64]:
    """(C, 2d) min-max scaled boxes, complement coded."""
    boxes = contents.take("boxes", np.float64, None, None)
    d, odd = divmod(boxes.shape[1], 2)
    if odd:
        raise ContentError(f"'boxes' has {boxes.shape[1]} columns, expected two for every feature")
    check_between("boxes", boxes, 0.0, 1.0)
    check_between("sides of boxes", boxes[:, :d] + boxes[:, d:], 0.0, 1.0 + ROUNDING)
    return boxes


def _number(fitted: Header, name: str, least: int) -> int:
    value = fitted.get(name)
    if type(value) is not int or value < least:
        raise ContentError(f"its {name} is {shortened(value)}, expected an integer from {least}")
    return value


def _truth(fitted: Header, name: str) -> bool:
    value = fitted.get(name)
    if type(value) is not bool:
        raise ContentError(f"its {name} is {shortened(value)}, expected true or false")
    return value


# --- parameters ----------------------------------------------------------------------------------


def _index_of(model: Any) -> Index | None:
    """The index of the model's fit, which must be that of its parameter."""
    if not isinstance(model, ICVIARTMAP):
        return None
    if get_index(model.index) != model.fitted_.index:
        raise ValueError(
            f"index={model.index!r} was set after the fit, which was made with "
            f"{model.fitted_.index.name}. Set it back, or fit again."
        )
    return model.fitted_.index


def _written_parameters(model: Any, index: Index | None) -> tuple[Header, list[str], Arrays]:
    """The parameters as JSON can hold them, what was lost on the way, and arrays among them."""
    parameters: Header = {}
    notes: list[str] = []
    arrays: Arrays = {}

    def as_array(name: str, value: Any) -> Header:
        array = np.array(value, np.float64)
        arrays[f"parameters.{name}"] = array
        return {"array": f"parameters.{name}"}

    for name, value in model.get_params(deep=False).items():
        if name == "random_state" and not isinstance(value, (Integral, type(None))):
            parameters[name] = None
            notes.append(f"random_state was a {type(value).__name__}; generators are not stored.")
        elif name == "index" and not isinstance(value, str):
            parameters[name] = _written_index(index)
        elif name == "init" and not isinstance(value, str):
            parameters[name] = as_array(name, value)
        elif name == "categories" and value is not None and not isinstance(value, str):
            parameters[name] = {
                "columns": [one if isinstance(one, str) else int(one) for one in value]
            }
        elif name in ("hidden", "image_shape") and value is not None:
            parameters[name] = {"integers": [int(one) for one in value]}
        elif name == "checkpoint" and value is not None:
            parameters[name] = None
            notes.append("checkpoint was a path on the machine of the fit; it is not stored.")
        elif name == "feature_range" and value is not None:
            ends = zip(("lower", "upper"), value, strict=True)
            parameters[name] = {
                end: float(given) if np.ndim(given) == 0 else as_array(f"{name}.{end}", given)
                for end, given in ends
            }
        else:
            parameters[name] = _written(name, value)
    return parameters, notes, arrays


def _written_index(index: Index | None) -> Any:
    assert index is not None
    if INDICES.get(index.name) == index:
        return index.name
    return {
        "own": index.name,
        "direction": index.direction,
        "needs_scatter": index.needs_scatter,
    }


def _written(name: str, value: Any) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, range) and value.step == 1:
        return {"range": [value.start, value.stop]}
    raise TypeError(
        f"{name}={value!r} of type {type(value).__name__} cannot be stored. Set {name} to a plain "
        "value first, or use joblib.dump."
    )


def _read_parameters(
    model: Any, header: Header, contents: Contents, index: Index | None
) -> Index | None:
    """Set the parameters; :func:`_check_parameters` is to follow. Returns the index, if any.

    A parameter that the file does not have came to the class later: it keeps its default.
    """
    stored = header.get("parameters")
    if not isinstance(stored, dict):
        raise ContentError("its header has no parameters")
    known = model.get_params(deep=False)
    for name, value in stored.items():
        if name not in known:
            raise ContentError(f"{shortened(name)} is not a parameter of {type(model).__name__}")
        if name != "index":
            plain = not isinstance(value, (dict, list))
            setattr(model, name, value if plain else _read_compound(name, value, contents))
    if "index" not in known:
        if index is not None:
            raise _OwnIndexError(
                f"a {type(model).__name__} has no index. Load it without index=..."
            )
        return None
    given = stored.get("index", known["index"])
    index = _read_index(given, index)
    model.index = given if isinstance(given, str) else index
    return index


def _read_compound(name: str, value: Any, contents: Contents) -> Any:
    if name == "n_clusters" and _keys(value) == {"range"}:
        ends = value["range"]
        if isinstance(ends, list) and len(ends) == 2 and all(type(end) is int for end in ends):
            return range(*ends)
    elif name == "init" and value == {"array": "parameters.init"}:
        return contents.take("parameters.init", np.float64, None, None)
    elif name == "categories" and _keys(value) == {"columns"}:
        columns = value["columns"]
        if isinstance(columns, list) and all(type(one) in (int, str) for one in columns):
            return columns
    elif name in ("hidden", "image_shape") and _keys(value) == {"integers"}:
        numbers = value["integers"]
        if isinstance(numbers, list) and all(type(one) is int for one in numbers):
            return tuple(numbers)
    elif name == "feature_range" and _keys(value) == {"lower", "upper"}:
        return tuple(_read_end(end, value[end], contents) for end in ("lower", "upper"))
    raise ContentError(f"its parameter {name} is {shortened(value)}")


def _keys(value: Any) -> set[str]:
    return set(value) if isinstance(value, dict) else set()


def _read_end(end: str, value: Any, contents: Contents) -> Any:
    name = f"parameters.feature_range.{end}"
    if value == {"array": name}:
        return contents.take(name, np.float64, None)
    if type(value) not in (int, float):
        raise ContentError(f"its feature_range has {shortened(value)} as {end} end")
    return value


def _read_index(stored: Any, index: Index | None) -> Index:
    """The index by its name, or the one passed, if it is the one that the file asks for."""
    if isinstance(stored, str):
        if index is not None:
            raise _OwnIndexError(
                f"the model was fitted with {shortened(stored)}, which is known. Load it without "
                "index=..."
            )
        try:
            return get_index(stored)
        except ValueError:
            raise ContentError(
                f"its index is {shortened(stored)}, and known are {', '.join(INDICES)}"
            ) from None
    if _keys(stored) != {"own", "direction", "needs_scatter"} or not isinstance(stored["own"], str):
        raise ContentError(f"its parameter index is {shortened(stored)}")
    wanted = (stored["own"], stored["direction"], stored["needs_scatter"])
    name = shortened(stored["own"])
    if index is None:
        raise _OwnIndexError(
            f"the model was fitted with an index of your own, {name}. Pass that index: "
            "load(path, index=...)."
        )
    if not isinstance(index, Index):
        raise _OwnIndexError(
            f"index must be what custom_index returns, got {type(index).__name__}. The model was "
            f"fitted with {name}."
        )
    if (index.name, index.direction, index.needs_scatter) != wanted:
        raise _OwnIndexError(
            f"the model was fitted with the index {name} (direction {shortened(wanted[1])}, "
            f"needs_scatter={shortened(wanted[2])}), got {index.name!r} (direction "
            f"{index.direction}, needs_scatter={index.needs_scatter}). Pass the former."
        )
    return index


def _check_parameters(model: Any) -> None:
    """As a fit on data like those of the file would check them."""
    seed = model.random_state
    if seed is not None and (type(seed) is not int or not 0 <= seed < SEEDS):
        raise ContentError(
            f"its random_state is {shortened(seed)}, expected null or 0 to {SEEDS - 1}"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # what a fit has warned of already
            if isinstance(model, DynamicAutoencoder):
                check_restored(model)
            else:
                check_parameters(model)
    except (TypeError, ValueError, OverflowError) as error:
        reason = str(error)[:LONGEST_REASON]
        raise ContentError(f"its parameters are not valid ({reason})") from None


# --- ICVIARTMAP ----------------------------------------------------------------------------------


def _fitted_icviartmap(model: ICVIARTMAP) -> tuple[Header, Arrays]:
    arrays: Arrays = {
        "labels": model.labels_,
        "sample_categories": model.sample_categories_,
        "boxes": model.fitted_.boxes,
        "map_field": model.map_field_,
        "cluster_centers": model.cluster_centers_,
        "index_history": model.index_history_,
        "epochs": np.column_stack([model.history_[name] for name in Epoch._fields]),
        "vigilances": np.array(model.vigilances_),
        "resolution": model.resolution_,
    }
    for group, values in (("scaling", model.fitted_.scaling), ("moments", model.fitted_.moments)):
        for name, array in values._asdict().items():
            arrays[f"{group}.{name}"] = array
    del arrays["moments.size"]
    if not np.array_equal(model.labels_, model.sample_clusters_):
        arrays["sample_clusters"] = model.sample_clusters_
    arrays.update(_written_density(model))
    prepared_header, prepared_arrays = prepared.written(model)
    arrays.update(prepared_arrays)
    if hasattr(model, "index_trace_"):
        arrays["index_trace"] = model.index_trace_
    if hasattr(model, "components_"):
        arrays |= _joined_arrays(model)
    if hasattr(model, "stream_"):
        arrays |= stream_arrays(model)
    fitted: Header = {"n_iter": int(model.n_iter_), "converged": bool(model.converged_)}
    fitted |= prepared_header
    if hasattr(model, "selection_"):
        chosen = model.selection_
        for name in ("single", "limited", "repeated", "clear", "joins", "copies", "cautioned"):
            fitted[f"selection_{name}"] = getattr(chosen, name)
        fitted["selection_halves"] = list(chosen.halves)
        for name in ("k", "criterion", "index_values"):
            arrays[f"selection.{name}"] = getattr(chosen, name)
    return fitted, arrays


def _joined_arrays(model: ICVIARTMAP) -> Arrays:
    """What clusters were joined of, and how."""
    arrays: Arrays = {
        "components.labels": model.components_.labels,
        "components.clusters": model.components_.clusters,
    }
    for name, array in model.fitted_.groups._asdict().items():
        arrays[f"components.{name}"] = array
    del arrays["components.size"]
    for name in Tree._fields:
        arrays[f"joins.{name}"] = getattr(model.joins_, name)
    return arrays


def _restore_icviartmap(
    model: ICVIARTMAP, fitted: Header, contents: Contents, index: Index | None
) -> None:
    assert index is not None
    boxes = _take_boxes(contents)
    n_categories, d = len(boxes), boxes.shape[1] // 2
    map_field = contents.take("map_field", np.float64, n_categories, None)
    k = map_field.shape[1]
    if k > max(ANY_CLUSTERS, CLUSTERS_PER_CATEGORY * n_categories):
        raise ContentError(f"it has {k} clusters, but only {n_categories} categories")
    labels, clusters = _take_labels(contents, k)
    told = prepared.take(fitted, contents, d, k, n_categories, labels)
    held = clusters if told.trained is None else clusters[told.trained]
    in_stream = "stream.numbers" in contents
    n_iter = _number(fitted, "n_iter", 1)
    history = contents.take("index_history", np.float64, None, infinite=True)
    if len(history) <= n_iter:
        raise ContentError(f"'index_history' has {len(history)} values for {n_iter} epochs")
    epochs = contents.take("epochs", np.int64, n_iter, len(Epoch._fields))
    check_between("epochs", epochs, 0, MOST_SAMPLES)
    vigilances = contents.take("vigilances", np.float64, len(Vigilances._fields), infinite=True)
    trace = None
    if "index_trace" in contents:
        trace = contents.take("index_trace", np.float64, n_iter * len(held), infinite=True)
    scaling = _take_scaling(contents, d)
    centres = contents.take("cluster_centers", np.float64, k, told.n_features or d)
    joined = _take_joined(contents, index, clusters, k, d, told.trained)
    # The labels of a stream are those of its last rows; others may have faded.
    n = np.zeros(k, np.int64) if in_stream else np.bincount(held, minlength=k)
    moments = _take_moments(contents, "moments", index, n, d)
    result = FitResult(
        labels=clusters,
        sample_categories=contents.positions("sample_categories", len(labels), n_categories),
        boxes=boxes,
        map_field=map_field,
        centres=moments.mean if told.n_features else scaling.standardise(centres),
        moments=moments,
        history=(index.direction * history).tolist(),
        trace=None if trace is None else index.direction * trace,
        epochs=[Epoch(*numbers) for numbers in epochs.tolist()],
        converged=_truth(fitted, "converged"),
        vigilances=Vigilances(*vigilances.tolist()),
        joined=joined,
    )
    selection = None
    if "selection.k" in contents:
        single = _truth(fitted, "selection_single")
        # Files of version 0.1.0 do not have these.
        limited, repeated, joins, cautioned = (
            f"selection_{name}" in fitted and _truth(fitted, f"selection_{name}")
            for name in ("limited", "repeated", "joins", "cautioned")
        )
        copies = _number(fitted, "selection_copies", 0) if "selection_copies" in fitted else 0
        selection = make_selection(index, *_take_path(contents), single, limited, repeated, copies)
        if "selection_halves" in fitted:
            halves, clear = _take_halves(fitted), _truth(fitted, "selection_clear")
            selection = replace(selection, clear=clear, halves=halves, cautioned=cautioned)
        if joins:
            selection = replace(selection, joins=True, rule=RULE)
    groups = (result.moments, np.arange(k))
    if joined is not None:
        groups = (joined.moments, joined.clusters)
    gaussians, levels = _take_density(contents, *groups)
    if model.noise is True and levels is None:
        raise ContentError("its noise is True, but nothing tells where noise begins")
    resolution = np.zeros(d)  # files of version 0.1.0 have none
    if "resolution" in contents:
        resolution = contents.take("resolution", np.float64, d)
        check_between("resolution", resolution, 0.0, np.inf)
    restore_icvi_artmap(
        model, result, centres, scaling, resolution, index, selection, gaussians, levels, labels
    )
    restore_preparation(model, *told[1:], prepared.take_components(contents, told, joined))
    if in_stream:
        _check_parameters(model)
        restore_stream(model, result, contents)


def _take_halves(fitted: Header) -> tuple[int, ...]:
    """The numbers of clusters that were chosen on halves of the rows."""
    halves = fitted["selection_halves"]
    numbers = isinstance(halves, list) and len(halves) <= 2
    if not numbers or any(type(k) is not int or k < 0 for k in halves):
        raise ContentError(f"its selection_halves are {shortened(halves)}, expected numbers from 0")
    return tuple(halves)


def _take_labels(contents: Contents, k: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The labels, and the clusters of all samples; they differ only where a label is -1."""
    if "sample_clusters" not in contents:
        labels = contents.positions("labels", None, k)
        return labels, labels
    clusters = contents.positions("sample_clusters", None, k)
    labels = contents.take("labels", np.int64, len(clusters))
    if ((labels != clusters) & (labels != -1) & (labels != DROPPED)).any():
        raise ContentError("'labels' and 'sample_clusters' contradict each other")
    return labels, clusters


def _take_scaling(contents: Contents, d: int) -> Scaling:
    names = [name for name in Scaling._fields if name != "unit"]
    known = {name: contents.take(f"scaling.{name}", np.float64, d) for name in names}
    unit = known["deviation"]  # files of version 0.1.0 have no other
    if "scaling.unit" in contents:
        unit = contents.take("scaling.unit", np.float64, d)
    scaling = Scaling(**known, unit=unit)
    for name in ("span", "deviation", "unit"):
        if not (getattr(scaling, name) > 0.0).all():
            raise ContentError(f"'scaling.{name}' has values that are not above 0")
    return scaling


def _take_joined(
    contents: Contents,
    index: Index,
    labels: NDArray[np.int64],
    k: int,
    d: int,
    trained: NDArray[np.bool_] | None,
) -> Joined | None:
    """What clusters were joined of, if they were. ``trained``: the rows they were found on."""
    if "components.clusters" not in contents:
        return None
    if not index.gaussian:
        raise ContentError(f"it has components, which {index.name} does not make")
    clusters = contents.positions("components.clusters", None, k)
    count = len(clusters)
    if count < k or len(np.unique(clusters)) < k:
        raise ContentError(f"'components.clusters' has {count} components for {k} clusters")
    components = contents.positions("components.labels", len(labels), count)
    if (clusters[components] != labels).any():
        raise ContentError("'components.labels' has samples of other clusters than 'labels'")
    rows = components if trained is None else components[trained]
    held = np.bincount(rows, minlength=count)
    moments = _take_moments(contents, "components", index, held, d)
    tree = Tree(
        contents.take("joins.first", np.int64, count - 1),
        contents.take("joins.second", np.int64, count - 1),
        contents.take("joins.prominence", np.float64, count - 1),
        contents.take("joins.evidence", np.float64, count - 1),
    )
    _check_tree(tree, clusters, k)
    return Joined(components, clusters, moments, tree)


def _check_tree(tree: Tree, clusters: NDArray[np.int64], k: int) -> None:
    """Every component but the first is joined once, to one that is there, in its cluster first."""
    alive = np.ones(len(clusters), np.bool_)
    check_between("joins.first", tree.first, 0, len(clusters) - 1)
    check_between("joins.second", tree.second, 0, len(clusters) - 1)
    for step, (a, b) in enumerate(zip(tree.first.tolist(), tree.second.tolist(), strict=True)):
        inside = clusters[a] == clusters[b] or step >= len(clusters) - k
        if not (a < b and alive[a] and alive[b] and inside):
            raise ContentError(f"'joins' are not those of a tree: components {a} and {b}")
        alive[b] = False


def _take_moments(
    contents: Contents, group: str, index: Index, held: NDArray[np.int64], d: int
) -> Moments:
    k, side = len(held), d if index.needs_scatter else 0
    moments = Moments(
        size=np.array([k], np.int64),
        n=contents.take(f"{group}.n", np.int64, k),
        mean=contents.take(f"{group}.mean", np.float64, k, d),
        compactness=contents.take(f"{group}.compactness", np.float64, k),
        scatter=contents.take(f"{group}.scatter", np.float64, k, side, side),
        drift=contents.take(f"{group}.drift", np.float64, k),
    )
    check_between(f"{group}.n", moments.n, 1, MOST_SAMPLES // k)
    if (moments.n < held).any():
        raise ContentError(f"'{group}.n' counts fewer samples than 'labels'")
    check_between(f"{group}.mean", moments.mean, -LARGEST_MOMENT, LARGEST_MOMENT)
    check_between(f"{group}.compactness", moments.compactness, 0.0, LARGEST_MOMENT)
    check_between(f"{group}.scatter", moments.scatter, -LARGEST_MOMENT, LARGEST_MOMENT)
    check_between(f"{group}.drift", moments.drift, 0.0, LARGEST_MOMENT)
    for i in range(k if side else 0):
        check_scatter(f"{group}.scatter", moments.scatter[i], i)
    return moments


def _written_density(model: ICVIARTMAP) -> Arrays:
    """What is known of the density of the clusters."""
    fitted = model.fitted_
    arrays: Arrays = {}
    if fitted.gaussians is not None and fitted.gaussians is not fitted.groups:
        arrays["gaussians.scatter"] = fitted.gaussians.scatter
    if fitted.levels is not None:
        for name, array in fitted.levels._asdict().items():
            arrays[f"levels.{name}"] = array
    return arrays


def _take_density(
    contents: Contents, moments: Moments, clusters: NDArray[np.int64]
) -> tuple[Moments | None, Levels | None]:
    """Gaussians and levels; files of version 0.1.0 have none.

    ``moments``: of the groups that the index compares, ``clusters``: their clusters.
    """
    (count, d), k = moments.mean.shape, int(clusters.max()) + 1
    gaussians = moments if moments.scatter.shape[1] > 0 else None
    if "gaussians.scatter" in contents:
        if gaussians is not None:
            raise ContentError("'gaussians.scatter' comes with 'moments.scatter'")
        scatter = contents.take("gaussians.scatter", np.float64, count, d, d)
        check_between("gaussians.scatter", scatter, -LARGEST_MOMENT, LARGEST_MOMENT)
        for i in range(count):
            check_scatter("gaussians.scatter", scatter[i], i)
        gaussians = moments._replace(scatter=scatter)
    if gaussians is not None:
        _check_density(gaussians)
    if "levels.thin" not in contents:
        return gaussians, None
    if gaussians is None:
        raise ContentError("it has levels of a density, but no 'gaussians.scatter'")
    levels = Levels(
        thin=contents.take("levels.thin", np.bool_, count),
        usual=contents.take("levels.usual", np.float64, k),
        fall=contents.take("levels.fall", np.float64, k),
    )
    if len(np.unique(clusters[~levels.thin])) < k:
        raise ContentError("'levels.thin' leaves out all Gaussians of a cluster")
    check_between("levels.usual", levels.usual, -LARGEST_MOMENT, LARGEST_MOMENT)
    check_between("levels.fall", levels.fall, LEAST_FALL, LARGEST_MOMENT)
    return gaussians, levels


def _check_density(gaussians: Moments) -> None:
    """A density can be made of the Gaussians."""
    try:
        mixture = make_mixture(gaussians)
    except np.linalg.LinAlgError:
        raise ContentError("its Gaussians have no density") from None
    if not all(np.isfinite(array).all() for array in mixture):
        raise ContentError("its Gaussians have no finite density")


def _take_path(
    contents: Contents,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    k = contents.take("selection.k", np.int64, None)
    if k[0] < 1 or (np.diff(k) < 1).any():
        raise ContentError("'selection.k' does not rise from 1 or above")
    criterion = contents.take("selection.criterion", np.float64, len(k), infinite=True)
    values = contents.take("selection.index_values", np.float64, len(k), infinite=True)
    return k, criterion, values


# --- the ART family ------------------------------------------------------------------------------


def _fitted_network(model: FuzzyNetwork) -> tuple[Header, Arrays]:
    whole = model.fitted_.network
    arrays: Arrays = {
        "boxes": model.fitted_.boxes,
        "cells": whole.network.boxes.cells,
        "map_field": whole.map_field,
        "cluster": whole.category_clusters,
        "sample_categories": model.sample_categories_,
        "feature_min": model.feature_min_,
        "feature_max": model.feature_max_,
    }
    return {"n_iter": int(model.n_iter_), "converged": bool(model.converged_)}, arrays


def _restore_network(
    model: FuzzyNetwork,
    fitted: Header,
    contents: Contents,
    n_columns: int,
    classes: NDArray[Any] | None = None,
) -> None:
    """Check what the family shares, and give it to the model."""
    boxes = _take_boxes(contents)
    n_categories, d = len(boxes), boxes.shape[1] // 2
    cells = contents.take("cells", np.uint8, d, CELLS)
    check_between("cells", cells, 0, BINS - 1)
    if (cells[:, 1:] < cells[:, :-1]).any():
        raise ContentError("'cells' does not rise")
    map_field = contents.take("map_field", np.float64, n_categories, n_columns)
    check_between("map_field", map_field, 0.0, 1.0 + ROUNDING)
    cluster = contents.positions("cluster", n_categories, n_categories)
    if len(np.unique(cluster)) != cluster.max() + 1:
        raise ContentError("'cluster' leaves out a number")
    ranges = Ranges(
        contents.take("feature_min", np.float64, d), contents.take("feature_max", np.float64, d)
    )
    with np.errstate(over="ignore"):
        span = ranges.upper - ranges.lower
    if not (np.isfinite(span) & (span >= 0.0)).all():
        raise ContentError("'feature_min' and 'feature_max' are not the ends of ranges")
    categories = contents.positions("sample_categories", None, n_categories)
    restore_network(
        model,
        assembled(boxes, cells, map_field, cluster),
        ranges,
        categories,
        _number(fitted, "n_iter", 1),
        _truth(fitted, "converged"),
        classes,
    )


def _restore_clusterer(
    model: FuzzyART | DualVigilanceFuzzyART, fitted: Header, contents: Contents, _: Index | None
) -> None:
    _restore_network(model, fitted, contents, 1)


def _fitted_classifier(model: FuzzyARTMAP) -> tuple[Header, Arrays]:
    fitted, arrays = _fitted_network(model)
    classes = model.classes_
    if classes.dtype.kind in "biuf":
        arrays["classes"] = classes
    elif _strings(classes.tolist()):
        fitted["classes"], fitted["classes_as_objects"] = classes.tolist(), classes.dtype == object
    else:
        raise TypeError(
            f"Classes of type {classes.dtype} cannot be stored, only strings and numbers. Fit with "
            "such classes, or use joblib.dump."
        )
    return fitted, arrays


def _restore_classifier(
    model: FuzzyARTMAP, fitted: Header, contents: Contents, _: Index | None
) -> None:
    if "classes" in contents:
        classes = contents.take("classes", None, None)
    else:
        names = fitted.get("classes")
        if not _strings(names) or not names:
            raise ContentError(f"its classes are {shortened(names)}, expected strings")
        as_objects = _truth(fitted, "classes_as_objects")
        if not as_objects and len(names) * max(map(len, names)) > MOST_LETTERS:
            raise ContentError("its classes have too long names")
        classes = np.array(names, dtype=object if as_objects else None)
    if len(classes) != len(np.unique(classes)) or (classes[1:] <= classes[:-1]).any():
        raise ContentError("its classes are not sorted, or one comes twice")
    _restore_network(model, fitted, contents, len(classes) + 1, classes)


KINDS: dict[str, Kind] = {
    kind.estimator.__name__: kind
    for kind in (
        Kind(ICVIARTMAP, _fitted_icviartmap, _restore_icviartmap),
        Kind(FuzzyART, _fitted_network, _restore_clusterer),
        Kind(DualVigilanceFuzzyART, _fitted_network, _restore_clusterer),
        Kind(FuzzyARTMAP, _fitted_classifier, _restore_classifier),
        Kind(DynamicAutoencoder, autoencoders.written, autoencoders.restore),
    )
}
