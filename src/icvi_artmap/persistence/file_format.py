"""The file of a model: a header in JSON and plain arrays, in a zip without compression.

Any program that reads .npz files reads the arrays. This module writes one form of such a file and
reads no other: nothing in it is ever executed or unpickled, every size is checked against that of
the file before memory is taken, and every array against its checksum. What the arrays mean, and
whether they fit together, is not known here (:mod:`icvi_artmap.persistence.save_load`).
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import reprlib
import stat
import struct
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.files import replaced
from icvi_artmap._support.wording import LONGEST_PATH, message, shown

FORMAT = "icvi-artmap model"
VERSION = 1
#: The header's name in the zip, and what the names of arrays end with.
HEADER, SUFFIX = "header.json", ".npy"
#: Types of arrays, as NumPy's files name them: little-endian, none that holds objects.
DTYPES = ("<f8", "<f4", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1")
#: No array has more dimensions, no file more arrays; both with room for later versions.
MAX_DIMENSIONS, MAX_ARRAYS = 4, 112
#: Bytes of the zip's table of contents and of the header, at most.
MAX_DIRECTORY, MAX_HEADER = 1 << 16, 1 << 22
#: Characters of a value from a file in a message.
LONGEST_VALUE = 60
#: Bytes that are read and hashed at a time.
CHUNK = 1 << 20
#: A zip begins with the first, a pickle of protocol 2 or above with the second.
_ZIP, _PICKLE = b"PK\x03\x04", b"\x80"
#: The last record of a zip; with the two before it in a file of 2 GB and more.
_END, _END_64, _LOCATOR = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"
_END_SIZE, _LOCATOR_SIZE, _END_64_SIZE = 22, 20, 56
#: What Python's zip module raises for files that are damaged or made to harm.
_UNREADABLE = (
    zipfile.BadZipFile,
    EOFError,
    IndexError,
    KeyError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
)

#: Of a value from a file no more is looked at for a message, however deep it is nested.
_SHORT = reprlib.Repr()
_SHORT.maxlevel = 2
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = LONGEST_VALUE

Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]


class ModelFileError(ValueError):
    """A file that :func:`icvi_artmap.load` cannot make a model of; the message says why."""


class ContentError(Exception):
    """What is wrong with the content of a file. Whoever knows the file makes a sentence of it."""


# --- writing -------------------------------------------------------------------------------------


def write(path: str | os.PathLike[str], header: Header, arrays: Arrays) -> None:
    """Write a file, whole or not at all; the same content gives the same bytes.

    ``header`` is what JSON can hold; it gets a description of the arrays.
    """
    arrays = {name: np.ascontiguousarray(a, _stored_type(a)) for name, a in arrays.items()}
    whole = {"format": FORMAT, "version": VERSION, **header, "arrays": described(arrays)}
    text = json.dumps(whole, indent=1, allow_nan=False).encode("ascii")
    if len(text) > MAX_HEADER:
        raise ValueError(
            f"The names in the model take {len(text)} bytes, but at most {MAX_HEADER} can be "
            "stored. Fit with shorter names of features or classes, or use joblib.dump."
        )
    with replaced(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        with _opened(archive, HEADER, len(text)) as file:
            file.write(text)
        for name, array in arrays.items():
            beginning, data = npy_header(array.dtype.str, array.shape), _bytes(array)
            with _opened(archive, name + SUFFIX, len(beginning) + len(data)) as file:
                file.write(beginning)
                for at in range(0, len(data), CHUNK):
                    file.write(data[at : at + CHUNK].data)


def _opened(archive: zipfile.ZipFile, name: str, size: int) -> Any:
    """A member of this size to write to; its date is always the first one that a zip knows."""
    info = zipfile.ZipInfo(name)
    info.file_size = size  # more than 2 GB are written in another form
    return archive.open(info, "w")


def _stored_type(array: NDArray[Any]) -> np.dtype[Any]:
    dtype = array.dtype.newbyteorder("<")
    if dtype.str not in DTYPES:
        raise TypeError(f"An array of type {array.dtype} cannot be stored in a model file.")
    return dtype


def described(arrays: Arrays) -> Header:
    """Type, shape and checksum of every array, as the header has them."""
    return {
        name: {"dtype": array.dtype.str, "shape": list(array.shape), "sha256": _checksum(array)}
        for name, array in arrays.items()
    }


def _checksum(array: NDArray[Any]) -> str:
    digest = hashlib.sha256(npy_header(array.dtype.str, array.shape))
    digest.update(_bytes(array).data)
    return digest.hexdigest()


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    """The memory of an array in C order."""
    return array.reshape(-1).view(np.uint8)


def npy_header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """What comes before the numbers in a .npy file, format version 1.0.

    NumPy may lay out the same facts differently from version to version. This is always the same,
    so a reader that knows type and shape has nothing to parse: it compares.
    """
    facts = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape!r}, }}"
    beginning = b"\x93NUMPY\x01\x00"
    padding = -(len(beginning) + 2 + len(facts) + 1) % 64
    text = facts.encode("ascii") + b" " * padding + b"\n"
    return beginning + struct.pack("<H", len(text)) + text


# --- reading -------------------------------------------------------------------------------------


def read(path: str | os.PathLike[str]) -> tuple[Header, Arrays]:
    """Header and arrays of a file that :func:`write` has made."""
    name = shown(os.fspath(path), LONGEST_PATH)
    try:
        found = os.stat(path)  # before it is opened: a pipe would wait for a writer
        if stat.S_ISDIR(found.st_mode):
            inside = shown(str(Path(path) / "model.icvi"), LONGEST_PATH)
            raise ModelFileError(f"{name} is a folder; give the path of a file, as {inside}.")
        if not stat.S_ISREG(found.st_mode):
            raise ModelFileError(f"{name} is not a regular file. Copy the model to a file first.")
        with open(path, "rb") as file:
            return _content(file, os.fstat(file.fileno()).st_size, name)
    except FileNotFoundError:
        raise ModelFileError(
            f"{name} does not exist. Check the path; model files are made by "
            "icvi_artmap.save(model, path)."
        ) from None
    except OSError as error:
        reason = error.strerror or error
        raise ModelFileError(message(f"{name} cannot be read: ", reason, ".")) from error


def _content(file: BinaryIO, size: int, name: str) -> tuple[Header, Arrays]:
    """What the file holds. First of all: is it one of ours?"""
    first = file.read(len(_ZIP))
    if not first:
        raise ModelFileError(f"{name} is empty. Copy it again, or save the model again.")
    if first != _ZIP:
        kind = (
            "It looks like a pickle: load it with joblib.load, but only if you trust whoever made "
            "it, since a pickle can run any code."
            if first[:1] == _PICKLE
            else "Give the path of a file made by icvi_artmap.save(model, path)."
        )
        raise ModelFileError(
            f"{name} is not a model file of icvi-artmap: it begins with {first!r}. {kind}"
        )
    try:
        _check_directory(file, size)
        with zipfile.ZipFile(file) as archive:
            members = _members(archive, size)
            header = _header(archive, members.pop(HEADER, None), name)
            return header, _arrays(archive, header, members)
    except ModelFileError:
        raise
    except ContentError as error:
        remedy = ". Copy it again, or save the model again."
        raise ModelFileError(message(f"{name} is damaged: ", error, remedy)) from None
    except _UNREADABLE as error:
        reason = f"{type(error).__name__}: {error}"
        remedy = "). Copy it again, or save the model again."
        raise ModelFileError(message(f"{name} is damaged (", reason, remedy)) from None


def _check_directory(file: BinaryIO, size: int) -> None:
    """The table of contents is small, whatever it says, so reading it takes little memory."""
    length = min(size, _END_SIZE + _LOCATOR_SIZE + _END_64_SIZE)
    file.seek(-length, os.SEEK_END)
    tail = file.read(length)
    end = tail[-_END_SIZE:]
    if len(end) < _END_SIZE or end[:4] != _END or end[-2:] != b"\0\0":
        raise ContentError("it does not end as a model file ends, so a part of it is missing")
    entries, directory = struct.unpack_from("<HI", end, 10)
    locator = tail[-_END_SIZE - _LOCATOR_SIZE : -_END_SIZE]
    if locator[:4] == _LOCATOR:
        (place,) = struct.unpack_from("<Q", locator, 8)
        if len(tail) < length or place != size - length or tail[:4] != _END_64:
            raise ContentError("its last records contradict each other")
        entries, directory = struct.unpack_from("<QQ", tail, 32)
    if entries > MAX_ARRAYS + 1 or directory > MAX_DIRECTORY:
        raise ContentError(
            f"its table of contents has {entries} entries in {directory} bytes, and a model file "
            f"at most {MAX_ARRAYS + 1} in {MAX_DIRECTORY}"
        )


def _members(archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """The members by name, all stored as they are and together no larger than the file."""
    members: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        if info.filename in members:
            raise ContentError(f"it has two members named {shortened(info.filename)}")
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits != 0:
            raise ContentError(
                f"{shortened(info.filename)} is compressed or encrypted, and nothing in a model "
                "file is"
            )
        if info.file_size != info.compress_size:
            raise ContentError(f"{shortened(info.filename)} has two different sizes")
        members[info.filename] = info
    total = sum(info.file_size for info in members.values())
    if total > size:
        raise ContentError(f"its members claim {total} bytes, but the file has {size}")
    return members


def _header(archive: zipfile.ZipFile, info: zipfile.ZipInfo | None, name: str) -> Header:
    if info is None:
        raise ModelFileError(
            f"{name} is a zip file, but not a model file of icvi-artmap: {HEADER!r} is not in it. "
            "Give the path of a file made by icvi_artmap.save(model, path)."
        )
    if info.file_size > MAX_HEADER:
        raise ContentError(
            f"its header claims {info.file_size} bytes, at most {MAX_HEADER} are possible"
        )
    header = parsed(archive.read(info))
    if header.get("format") != FORMAT:
        raise ModelFileError(
            f"{name} is not a model file of icvi-artmap: its header says format "
            f"{shortened(header.get('format'))}, expected {FORMAT!r}. Give the path of a file made "
            "by icvi_artmap.save(model, path)."
        )
    version = header.get("version")
    if type(version) is not int or version < 1:
        raise ContentError(f"its format version is {shortened(version)}, expected a number from 1")
    if version > VERSION:
        raise ModelFileError(
            f"{name} has version {version} of the format, and this icvi-artmap reads version "
            f"{VERSION}. Update icvi-artmap, or save the model with the older one."
        )
    return header


def parsed(text: bytes) -> Header:
    """The JSON object in ``text``: no key twice, no NaN, no integer that int64 cannot hold."""
    try:
        header = json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_without_duplicates,
            parse_constant=_refuse_constant,
            parse_int=_short_integer,
            parse_float=_finite,
        )
    except (ValueError, RecursionError) as error:
        raise ContentError(f"its header is not valid JSON ({error})") from None
    if not isinstance(header, dict):
        raise ContentError("its header is not a JSON object")
    return header


def _without_duplicates(pairs: list[tuple[str, Any]]) -> Header:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key comes twice")
    return found


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _short_integer(digits: str) -> int:
    if len(digits) > 20 or not -(2**63) <= int(digits) < 2**63:
        raise ValueError("an integer is too large")
    return int(digits)


def _finite(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise ValueError("a number is too large")
    return number


def _arrays(
    archive: zipfile.ZipFile, header: Header, members: dict[str, zipfile.ZipInfo]
) -> Arrays:
    """The arrays that the header describes, each as it describes it, and no others."""
    described = header.pop("arrays", None)
    if not isinstance(described, dict):
        raise ContentError("its header describes no arrays")
    names = {name + SUFFIX for name in described}
    if names != members.keys():
        odd = sorted(names ^ members.keys())[0]
        raise ContentError(
            f"{shortened(odd)} is {'missing' if odd in names else 'not in its header'}"
        )
    return {
        name: _array(archive, members[name + SUFFIX], name, facts)
        for name, facts in described.items()
    }


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, facts: Any) -> NDArray[Any]:
    dtype, shape, checksum = _facts(name, facts)
    beginning = npy_header(dtype, shape)
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    if len(beginning) + n_bytes != info.file_size:
        raise ContentError(
            f"{shortened(name)} has {info.file_size} bytes, but shape {shape} and type {dtype} "
            f"need {len(beginning) + n_bytes}"
        )
    with archive.open(info) as file:
        if file.read(len(beginning)) != beginning:
            raise ContentError(
                f"{shortened(name)} is not an array of shape {shape} and type {dtype}"
            )
        digest = hashlib.sha256(beginning)
        array = np.empty(shape, dtype)
        target, at = _bytes(array), 0
        while at < n_bytes:
            part = file.read(min(CHUNK, n_bytes - at))
            if not part:
                raise ContentError(f"{shortened(name)} ends too early")
            digest.update(part)
            target[at : at + len(part)] = np.frombuffer(part, np.uint8)
            at += len(part)
        if file.read(1):  # at the end, Python's zip module compares its own checksum
            raise ContentError(f"{shortened(name)} does not end where it should")
    if digest.hexdigest() != checksum:
        raise ContentError(f"{shortened(name)} does not have the checksum that the header says")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _facts(name: str, facts: Any) -> tuple[str, tuple[int, ...], str]:
    """Type, shape and checksum that the header claims."""
    if not isinstance(facts, dict) or facts.keys() != {"dtype", "shape", "sha256"}:
        raise ContentError(f"its header does not say type, shape and checksum of {shortened(name)}")
    dtype, shape, checksum = facts["dtype"], facts["shape"], facts["sha256"]
    if dtype not in DTYPES:
        raise ContentError(
            f"{shortened(name)} has the type {shortened(dtype)}, known are {', '.join(DTYPES)}"
        )
    if (
        not isinstance(shape, list)
        or len(shape) > MAX_DIMENSIONS
        or not all(type(side) is int and side >= 0 for side in shape)
    ):
        raise ContentError(f"{shortened(name)} has the shape {shortened(shape)}")
    if not isinstance(checksum, str):
        raise ContentError(f"{shortened(name)} has no checksum")
    return dtype, tuple(shape), checksum


def shortened(value: Any) -> str:
    """Enough of a value from a file for a message."""
    text = _SHORT.repr(value)
    return text if len(text) <= LONGEST_VALUE + 2 else f"{text[:LONGEST_VALUE]}..."
