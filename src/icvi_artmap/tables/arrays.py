"""NumPy's own formats: a matrix, or an archive of a matrix and labels, or of columns."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.wording import LONGEST_PATH, message, shown
from icvi_artmap.tables.content import Content, Kind, Request
from icvi_artmap.tables.source import Source, TooLargeError
from icvi_artmap.tables.text import name_columns

#: What the names of arrays end with in a NPZ file, and the bytes of a number that is used.
SUFFIX, NUMBER_SIZE = ".npy", 8


def read_npy(source: Source, request: Request) -> Content:
    """Read a matrix from a NPY file."""
    return _matrix(_array(source), source, request)


def npy_vector(source: Source) -> NDArray[Any] | None:
    """The 1-D array of a NPY file; None if the array has another shape or type."""
    array = _array(source)
    return array if array.ndim == 1 and array.dtype.kind in "biufU" else None


def read_npz(source: Source, request: Request) -> Content:
    """Read a matrix with its labels, or columns, from a NPZ file."""
    arrays = _arrays(source)
    if "X" in arrays and arrays["X"].ndim != 1:
        return _labelled(arrays["X"], arrays.get("y"), source, request)
    matrices = [array for array in arrays.values() if array.ndim == 2]
    if len(matrices) == 1:
        return _matrix(matrices[0], source, request)
    if len({array.shape for array in arrays.values()}) == 1 and not matrices:
        array = next(iter(arrays.values()))
        if array.ndim == 1:
            return _columns(arrays, source, request)
    shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
    raise ValueError(
        message(
            f"{source.name} must hold a 2-D array X (and labels y if there are any), or a single "
            "2-D array, or 1-D arrays of one length, its columns. It holds: ",
            shapes or "nothing",
            ".",
        )
    )


def npz_vector(source: Source) -> NDArray[Any] | None:
    """The labels y beside a matrix X; None if the file does not hold both."""
    arrays = _arrays(source)
    if "X" not in arrays or arrays["X"].ndim != 2 or "y" not in arrays:
        return None
    return arrays["y"] if arrays["y"].ndim == 1 else None


def refuse_text(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Refuse columns of text, which a NPY file cannot hold beside numbers."""
    text = [name for name, array in arrays.items() if array.dtype.kind == "U"]
    if text:
        raise ValueError(
            f"{shown(str(path), LONGEST_PATH)}: a NPY file holds numbers only, but column "
            f"{shown(text[0])} is text. Choose another suffix, for example .npz."
        )


def write_npy(file: IO[bytes], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a matrix; the names of the columns are lost."""
    np.save(file, np.column_stack(list(arrays.values())))


def write_npz(file: IO[bytes], arrays: dict[str, NDArray[Any]]) -> None:
    """Write an array for every column."""
    # np.savez takes names as keywords and so cannot write a column called "file".
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def _array(source: Source) -> NDArray[Any]:
    with _refusals(source), source.open() as file:
        return _read_array(file, source.size, source)


def _arrays(source: Source) -> dict[str, NDArray[Any]]:
    """The arrays of a NPZ file by their names; X and y alone if X is no column."""
    with _refusals(source), source.open() as file, zipfile.ZipFile(file) as archive:
        members = {
            info.filename.removesuffix(SUFFIX): info
            for info in archive.infolist()
            if info.filename.endswith(SUFFIX)
        }
        source.check_array(sum(info.file_size for info in members.values()))
        arrays: dict[str, NDArray[Any]] = {}
        if "X" in members:
            arrays["X"] = _member(archive, members["X"], source)
            if arrays["X"].ndim != 1:
                members = {name: info for name, info in members.items() if name in ("X", "y")}
        return {
            name: arrays[name] if name in arrays else _member(archive, info, source)
            for name, info in members.items()
        }


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, source: Source) -> NDArray[Any]:
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise zipfile.BadZipFile("NumPy does not compress in this way")
    with archive.open(info) as member:
        return _read_array(member, info.file_size, source)


def _read_array(file: IO[bytes], size: int, source: Source) -> NDArray[Any]:
    """An array of a file that has this size, which must account for the array."""
    version = np.lib.format.read_magic(file)
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    shape, _, dtype = read_header(file)
    if dtype.hasobject:
        raise _ObjectsError
    count = math.prod(shape)
    if min(shape, default=0) < 0 or file.tell() + count * dtype.itemsize > size:
        raise EOFError("the file ends before the array does")
    source.check_array(count * max(dtype.itemsize, NUMBER_SIZE))
    file.seek(0)
    array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array


class _ObjectsError(Exception):
    """An array of Python objects, which only pickle could read."""


@contextmanager
def _refusals(source: Source) -> Iterator[None]:
    """Say in a sentence why a file is refused: damage makes NumPy raise nearly anything."""
    try:
        yield
    except TooLargeError:
        raise
    except _ObjectsError as error:
        raise ValueError(
            f"{source.name} holds Python objects, which are not read. Save arrays of numbers."
        ) from error
    except Exception as error:
        raise ValueError(
            f"{source.name} is damaged, or no {source.format.suffixes[0]} file."
        ) from error


def _labelled(X: NDArray[Any], y: NDArray[Any] | None, source: Source, request: Request) -> Content:
    if y is None or request.label_column not in (None, "y"):
        return _matrix(X, source, request)
    content = _matrix(X, source, replace(request, label_column=None))
    if y.shape != (len(X),):
        raise ValueError(f"{source.name}: y has shape {y.shape}, but X has {len(X)} rows.")
    content.labels = y
    return content


def _matrix(array: NDArray[Any], source: Source, request: Request) -> Content:
    if array.ndim != 2:
        hint = "array.reshape(-1, 1)" if array.ndim < 2 else "array.reshape(len(array), -1)"
        raise ValueError(
            f"{source.name} has an array of shape {array.shape}; a 2-D one is wanted, with a row "
            f"for every sample: {hint} makes one."
        )
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{source.name} holds values of type {array.dtype}; numbers are wanted.")
    if array.shape[1] == 0:
        raise ValueError(f"{source.name} has an array of shape {array.shape}: no columns.")
    names = name_columns([], array.shape[1])
    choice = request.among(names, source.name)
    values = np.ascontiguousarray(array, dtype=np.float64)
    as_given = {j: array[:, j].copy() for j in choice.as_given}
    kinds = [Kind.NUMBER] * len(names)
    return Content(names, choice, values, kinds, as_given=as_given, tabular=False)


def _columns(arrays: dict[str, NDArray[Any]], source: Source, request: Request) -> Content:
    names = list(arrays)
    choice = request.among(names, source.name)
    values = np.full((len(arrays[names[0]]), len(names)), np.nan)
    kinds = []
    for j, array in enumerate(arrays.values()):
        kinds.append(_KINDS.get(array.dtype.kind, Kind.TEXT))
        if kinds[-1] in (Kind.NUMBER, Kind.BOOLEAN):
            values[:, j] = array
    as_given = {j: arrays[names[j]] for j in choice.as_given}
    return Content(names, choice, values, kinds, as_given=as_given)


_KINDS = {
    "b": Kind.BOOLEAN,
    "i": Kind.NUMBER,
    "u": Kind.NUMBER,
    "f": Kind.NUMBER,
    "M": Kind.DATE,
    "m": Kind.DATE,
}
