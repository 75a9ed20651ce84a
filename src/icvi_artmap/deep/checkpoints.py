"""A training to a file and back: plain arrays in a .npz file, and a header in JSON among them.

Nothing in it is pickled. What a file says is compared with the plan and the data that are at hand,
and every array with its checksum, before any of it is used.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.files import replaced
from icvi_artmap._support.wording import LONGEST_PATH, message, shown
from icvi_artmap.deep.layers import shapes_of
from icvi_artmap.deep.needs_torch import imported_torch
from icvi_artmap.deep.training import (
    BY_NEIGHBOURS,
    CLUSTERING,
    STAGES,
    THRESHOLDS,
    Look,
    Plan,
    Training,
    arrays_of,
    head_sizes,
    tensors,
)

FORMAT, VERSION = "icvi-artmap checkpoint", 1
HEADER = "header"
#: What of a plan may be another when a training goes on: how far it may go.
_MAY_CHANGE = {"clustering_iterations"}
#: What NumPy and Python's zip module raise for files that are damaged or none of theirs.
_UNREADABLE = (zipfile.BadZipFile, EOFError, KeyError, OSError, ValueError, TypeError)

Arrays = dict[str, NDArray[Any]]


class _UnfitError(Exception):
    """What is wrong with the content of a file."""


def data_checksum(X: NDArray[np.float32]) -> str:
    """What tells data from other data."""
    digest = hashlib.sha256(repr(X.shape).encode())
    digest.update(np.ascontiguousarray(X).data)
    return digest.hexdigest()


def write(path: str | os.PathLike[str], training: Training, checksum: str) -> None:
    """Write a training down, whole or not at all. ``checksum``: of its data."""
    arrays = _arrays(training)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "plan": training.plan._asdict(),
        "data": checksum,
        "stage": training.stage,
        "iteration": training.iteration,
        "level": training.level,
        "conflicted": training.conflicted,
        "looks": training.looks,
        "arrays": {name: _checksum(array) for name, array in arrays.items()},
    }
    text = np.frombuffer(json.dumps(header, allow_nan=False).encode("ascii"), np.uint8)
    with replaced(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, allow_pickle=False, **{HEADER: text}, **arrays)


def read(path: str | os.PathLike[str], plan: Plan, checksum: str) -> Training | None:
    """The training in a file, for this plan and data of this checksum; None if there is no file."""
    if not Path(path).exists():
        return None
    name = shown(os.fspath(path), LONGEST_PATH)
    try:
        with np.load(path, allow_pickle=False) as archive:
            header = json.loads(archive[HEADER].tobytes())
            return _training(header, archive, plan, checksum)
    except _UnfitError as error:
        remedy = ". Delete it to begin anew, or give another path."
        raise ValueError(
            message(f"The checkpoint {name} cannot be used: ", error, remedy)
        ) from None
    except _UNREADABLE as error:
        reason = f"{type(error).__name__}: {error}"
        remedy = "). Delete it to begin anew, or give another path."
        raise ValueError(message(f"The checkpoint {name} is damaged (", reason, remedy)) from None


def _arrays(training: Training) -> Arrays:
    groups = {"weights": training.weights, "critic": training.critic, **training.momenta}
    arrays = {
        f"{group}.{i}": array
        for group, held in groups.items()
        for i, array in enumerate(arrays_of(held))
    }
    if training.centres is not None:
        arrays["centres"], arrays["images"] = arrays_of([training.centres, training.images])
    return arrays


def _checksum(array: NDArray[Any]) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()


def _training(header: Any, archive: Any, plan: Plan, checksum: str) -> Training:
    """The training that a file describes; an error, if it is none or another one."""
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise _UnfitError("it is no checkpoint of a DynamicAutoencoder")
    if header.get("version") != VERSION:
        raise _UnfitError(f"it has version {shown(header.get('version'))}, known is {VERSION}")
    _check_plan(header.get("plan"), plan)
    if header.get("data") != checksum:
        raise _UnfitError("it was made with other data")
    stage, level = header["stage"], header["level"]
    if stage not in STAGES or type(level) is not int or not 0 <= level < len(THRESHOLDS):
        raise _UnfitError("its header contradicts itself")
    iteration, conflicted = header["iteration"], header["conflicted"]
    if type(iteration) is not int or type(conflicted) is not int or iteration < 0:
        raise _UnfitError("its header contradicts itself")
    arrays = _checked_arrays(header["arrays"], archive, dict(_expected(plan, stage)))
    groups = _grouped(arrays)
    torch = imported_torch()
    weights, critic = groups.pop("weights"), groups.pop("critic", [])
    centres, images = (groups.pop(name, [None])[0] for name in ("centres", "images"))
    return Training(
        plan,
        tensors(weights),
        tensors(critic),
        {group: [torch.from_numpy(array) for array in held] for group, held in groups.items()},
        stage,
        iteration,
        level,
        conflicted,
        None if centres is None else torch.from_numpy(centres),
        None if images is None else torch.from_numpy(images),
        [Look(*one) for one in header["looks"]],
    )


def _check_plan(stored: Any, plan: Plan) -> None:
    if not isinstance(stored, dict):
        raise _UnfitError("its header has no parameters")
    for name, wanted in json.loads(json.dumps(plan._asdict())).items():
        if name not in _MAY_CHANGE and stored.get(name) != wanted:
            raise _UnfitError(
                f"it was made with {name}={shown(stored.get(name))}, and here it is {wanted!r}"
            )


def _expected(plan: Plan, stage: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Names and shapes of the arrays of a training."""
    both = shapes_of(plan.sizes) + shapes_of(plan.sizes[::-1])
    groups = {"weights": both}
    if plan.first_centres == BY_NEIGHBOURS and stage != CLUSTERING:
        groups["weights"] = both + shapes_of(head_sizes(plan))
    if plan.critic:
        groups["critic"] = shapes_of(plan.sizes)
    if stage == CLUSTERING:
        groups["weights.velocity"] = both
    else:
        moments = [f"{group}.{which}" for group in groups for which in ("first", "second")]
        groups |= {name: groups[name.split(".")[0]] for name in moments}
    for group, shapes in groups.items():
        for i, shape in enumerate(shapes):
            yield f"{group}.{i}", shape
    if stage == CLUSTERING:
        yield "centres", (plan.n_clusters, plan.sizes[-1])
        yield "images", (plan.n_clusters, plan.sizes[0])


def _checked_arrays(checksums: Any, archive: Any, expected: dict[str, tuple[int, ...]]) -> Arrays:
    """The arrays of a file, each with the shape that the plan asks for."""
    if set(archive.files) != {HEADER, *expected} or not isinstance(checksums, dict):
        raise _UnfitError("its arrays are not those of its header")
    arrays: Arrays = {}
    for name, shape in expected.items():
        array = archive[name]
        if array.dtype != np.float32 or array.shape != shape:
            raise _UnfitError(f"{name!r} is not an array of shape {shape} and type float32")
        if _checksum(array) != checksums.get(name):
            raise _UnfitError(f"{name!r} does not have the checksum that the header says")
        arrays[name] = array
    return arrays


def _grouped(arrays: Arrays) -> dict[str, list[NDArray[Any]]]:
    """Arrays whose names end with a number, by what comes before it, in their order."""
    groups: dict[str, list[NDArray[Any]]] = {}
    for name, array in arrays.items():
        group, _, number = name.rpartition(".")
        groups.setdefault(group if number.isdigit() else name, []).append(array)
    return groups
