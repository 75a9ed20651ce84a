"""The data sets of the paper: 16 synthetic ones, and five of images.

None of them is part of the package. Files are looked for in a folder; sets of images that are not
there are downloaded by scikit-learn.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

#: The folder to look in by default.
FOLDER_VARIABLE = "ICVI_ARTMAP_DATA"


class PaperSet(NamedTuple):
    """What the paper says of a set (Table datasets), and how to recognise it."""

    n_samples: int
    n_features: int
    n_clusters: int
    fingerprint: str  # see `fingerprint`


_SYNTHETIC = {
    "2d-4c-no0": PaperSet(
        1572, 2, 4, "2b034f2b4c60ce1b2e7fedcd4f2b0c6f766572d2e94c96bbedde38bbbf26605c"
    ),
    "2d-10c-no0": PaperSet(
        2972, 2, 10, "18d73dea1b85eb5f3843b768197b9d28f39a6579b33f5e38ddee80b835c14631"
    ),
    "2d-20c-no0": PaperSet(
        1517, 2, 20, "048d25cce54329d6cde78355315b4bd57b0cc55c92f0368683a73672c7dc9295"
    ),
    "2d-40c-no0": PaperSet(
        2563, 2, 40, "4f4b4e30eb6cdf1e753151ffd82669e0c04f387d17a3b12fd3fab8869fea86f7"
    ),
    "10d-4c-no0": PaperSet(
        1289, 10, 4, "22f34cb4460ede1911ccc0e5394374302c634b261229129cff0809676b5cc010"
    ),
    "10d-10c-no0": PaperSet(
        2729, 10, 10, "0649010211c770d206ad45289ec603c103dd7b02f3ab49b61b9906c0ac160bdb"
    ),
    "10d-20c-no0": PaperSet(
        1013, 10, 20, "45c03c0d907dd69623f311b05ee67bb42bc1a24af8180e434be5a000616e9b6c"
    ),
    "10d-40c-no0": PaperSet(
        1937, 10, 40, "8881104718463de05ce284f4e9921838e1aca98a3f31def53528598d841602b8"
    ),
    "ellipsoid.50d4c.1": PaperSet(
        1064, 50, 4, "0c38f5bad6136490db069b94b60d5859178a702909c9ecf29da00b81dff73842"
    ),
    "ellipsoid.50d10c.1": PaperSet(
        2698, 50, 10, "54533bc342f0b0902ec3454cd81fef77df1500f486099e6b64a3cc54dced30ba"
    ),
    "ellipsoid.50d20c.1": PaperSet(
        1254, 50, 20, "ab2bdd89f4a3c3d5e2a0bf1b8e43b36322ad4285337d01a3587da2bcbc76e1fc"
    ),
    "ellipsoid.50d40c.1": PaperSet(
        2334, 50, 40, "5fa2102dd91d859e9965099a210dc6e4abd318b95a85caf45ad3f2f76eeae2bc"
    ),
    "ellipsoid.100d4c.1": PaperSet(
        1286, 100, 4, "4e0e114b6595438aeddebd4f556f778431a9e475add1d8baa47e923ede74aac5"
    ),
    "ellipsoid.100d10c.1": PaperSet(
        2892, 100, 10, "21d27c24e82da7cbbb47b2fdf29b22b9b4fd38242cf4dec14211840c57ca7bc8"
    ),
    "ellipsoid.100d20c.1": PaperSet(
        1338, 100, 20, "7d862f782560def493c9759bee86a182b296e16aaf454df39f595bf6045fe504"
    ),
    "ellipsoid.100d40c.1": PaperSet(
        2211, 100, 40, "74b157c1067aec6a6c51931979771d0f03d82eba1439db2108ee368312a48a3e"
    ),
}
_REAL = {
    "olivetti": PaperSet(
        400, 4096, 40, "aabf90745020ab22830c0f340eeed0cd1d1e38a2b0af0f54962248efe5d366d7"
    ),
    "usps": PaperSet(
        9298, 256, 10, "8afbb864cbd0aa5d103bcdf89c0f2e4a99e699a474a98fd1d117a77655c6afbd"
    ),
    "mnist-test": PaperSet(
        10000, 784, 10, "a32d6443d81f3364d15a96d2ba0783a88dda1c10a8b370798d7b5c64e64fca90"
    ),
    "mnist": PaperSet(
        70000, 784, 10, "0c05261e87e81a37ba95d9e1a2d637ae5b20412e570c760942196262bd7838db"
    ),
    "fashion-mnist": PaperSet(
        70000, 784, 10, "62ca78362d86cba2aed56ed8158df04bee0cac6288fa6e5c9e91c168333d12d0"
    ),
}

#: What is known of every set, and the names of both kinds.
PAPER_SETS = _SYNTHETIC | _REAL
SYNTHETIC = tuple(_SYNTHETIC)
REAL = tuple(_REAL)

SUFFIXES = (".npz", ".dat", ".csv", ".arff")

#: The sets that OpenML has, by its numbers.
OPENML = {"usps": 41082, "mnist": 554, "fashion-mnist": 40996}

SOURCES = {
    "olivetti": "Olivetti faces, AT&T Laboratories Cambridge.",
    "usps": "USPS handwritten digits, 16 x 16 pixels.",
    "mnist-test": "The 10,000 test images of MNIST, 28 x 28 pixels: the last rows of mnist.",
    "mnist": "MNIST handwritten digits, 28 x 28 pixels: 60,000 training and 10,000 test images.",
    "fashion-mnist": "Fashion-MNIST, 28 x 28 pixels: 60,000 training and 10,000 test images.",
}

# The steps to which values are rounded for a fingerprint, and where a step begins. The synthetic
# sets were written with six significant digits, images have 256 grey levels or fewer digits still.
# With steps that begin a seventh off, no value of any set is so near to a border that six digits
# or single precision could carry it across (the nearest are 1.4e-7 of themselves away), so a
# fingerprint does not depend on the file format.
STEPS_PER_UNIT = 1000.0
FIRST_STEP = 1.0 / 7.0

#: Values handled at a time, so that 70,000 images need no second copy.
BLOCK_VALUES = 2**22


def load_paper_set(
    name: str, folder: str | os.PathLike[str] | None = None, *, download: bool = True
) -> Any:
    """Load a data set of the paper.

    A set is read from ``<name>.npz``, ``.dat``, ``.csv`` or ``.arff`` in the folder or its
    sub-folder ``synthetic`` or ``real``. A NPZ file holds arrays ``X`` and ``y``; in the others the
    last column is the cluster, as the cluster generators write it. Rows stay in their order.

    Parameters
    ----------
    name : str
        One of `SYNTHETIC` or `REAL`.
    folder : str or path, optional
        Where the files are. By default the folder that the environment variable
        ``ICVI_ARTMAP_DATA`` names.
    download : bool, default=True
        Let scikit-learn fetch a set of images that is not in the folder. It keeps a copy.

    Returns
    -------
    sklearn.utils.Bunch
        With ``data`` (float64), ``target`` (int64, as in the file; text is numbered), ``name``,
        ``n_clusters``, ``filename`` (None if it was downloaded) and ``DESCR``.

    Raises
    ------
    FileNotFoundError
        If the set is neither there nor can be downloaded.
    ValueError
        If the file does not have the numbers of samples and features of the paper's set.

    Warns
    -----
    UserWarning
        If the shape is right, but values, labels or their order are not the paper's.

    See Also
    --------
    make_gaussian_clusters, make_ellipsoid_clusters : More sets of the synthetic families.

    Examples
    --------
    >>> from icvi_artmap.datasets import SYNTHETIC, load_paper_set
    >>> SYNTHETIC[0]
    '2d-4c-no0'
    >>> load_paper_set("2d-4c-no0")  # doctest: +SKIP
    >>> load_paper_set("2d-4c")
    Traceback (most recent call last):
    ...
    ValueError: The paper has no set '2d-4c'. Did you mean '2d-4c-no0'? It has: 2d-4c-no0, ...
    """
    if name not in PAPER_SETS:
        near = difflib.get_close_matches(str(name).lower().replace(" ", "-"), PAPER_SETS, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"The paper has no set {name!r}.{hint} It has: {', '.join(PAPER_SETS)}.")
    if folder is not None and not Path(folder).is_dir():
        raise FileNotFoundError(f"There is no folder {str(folder)!r}.")
    given = folder if folder is not None else os.environ.get(FOLDER_VARIABLE) or None
    expected = PAPER_SETS[name]

    path = None if given is None else _find(name, Path(given))
    whole = "mnist" if name == "mnist-test" and path is None else name
    if whole != name and given is not None:
        path = _find(whole, Path(given))
    if path is not None:
        X, y = _read(path, PAPER_SETS[whole])
    elif name in REAL and download:
        X, y = _fetch(whole, _looked_for(whole, given))
    else:
        hint = " With download=True it would be downloaded." if name in REAL else ""
        raise FileNotFoundError(f"{_looked_for(whole, given)}{hint}")
    where = "The download" if path is None else f"{str(path)!r}"
    _check_shape(X, y, whole, where)
    if whole != name:
        X, y = X[-expected.n_samples :].copy(), y[-expected.n_samples :].copy()
    if fingerprint(X, y, rescale=name in REAL) != expected.fingerprint:
        warnings.warn(
            f"{where} has the shape of the set {name!r} of the paper, but not its content: values, "
            "labels or the order of the samples differ. Results need not be the paper's.",
            UserWarning,
            stacklevel=2,
        )

    from sklearn.utils import Bunch

    return Bunch(
        data=X,
        target=y,
        name=name,
        n_clusters=expected.n_clusters,
        filename=None if path is None else str(path),
        DESCR=_description(name, expected),
    )


def _folders(folder: Path, name: str) -> tuple[Path, Path]:
    return folder, folder / ("synthetic" if name in SYNTHETIC else "real")


def _find(name: str, folder: Path) -> Path | None:
    places = (place / f"{name}{suffix}" for place in _folders(folder, name) for suffix in SUFFIXES)
    return next((path for path in places if path.is_file()), None)


def _looked_for(name: str, folder: str | os.PathLike[str] | None) -> str:
    """Say that a set was not found, and where it should be."""
    files = f"{name}{{{','.join(SUFFIXES)}}}"
    if folder is None:
        return (
            f"The set {name!r} was not looked for: pass the folder that has {files}, or set "
            f"{FOLDER_VARIABLE} to it."
        )
    places = " or ".join(repr(str(place)) for place in _folders(Path(folder), name))
    return f"The set {name!r} is not there: there is no {files} in {places}."


def _read(path: Path, expected: PaperSet) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    from icvi_artmap.tables import column_names, read_table

    if path.suffix == ".dat":
        values = _read_dat(path, expected.n_features + 1)
        if len(values) == expected.n_samples + 1:
            values = values[1:]  # numbers of samples, features and clusters: a row by its look
        return np.ascontiguousarray(values[:, :-1]), _numbered(values[:, -1])
    if path.suffix == ".npz":
        table = read_table(path)
        if table.labels is None:
            raise ValueError(f"{str(path)!r} must hold arrays X and y; there is no y.")
    else:
        *features, label = column_names(path)
        table = read_table(path, columns=features, label_column=label)
        assert table.labels is not None
    return table.X, _numbered(table.labels)


def _read_dat(path: Path, width: int) -> NDArray[np.float64]:
    """Rows of numbers; lines before the first whole row, such as the number of dimensions, are
    passed over."""
    with open(path, encoding="utf-8", errors="replace") as file:
        rows = _rows(file)
        for row in rows:
            if len(row) == width and _are_numbers(row):
                break
        else:
            raise ValueError(
                f"{str(path)!r} has no line of {width} numbers: {width - 1} features and the "
                "cluster were expected."
            )
        table = [row, *rows]
    try:
        return np.array(table, np.float64)
    except ValueError as error:
        raise ValueError(
            f"{str(path)!r} has lines that are not {width} numbers, after some that are."
        ) from error


def _rows(lines: Iterator[str]) -> Iterator[list[str]]:
    for line in lines:
        cells = line.replace(",", " ").split()
        if cells and cells[0][0] not in "#%":
            yield cells


def _are_numbers(cells: list[str]) -> bool:
    try:
        [float(cell) for cell in cells]
    except ValueError:
        return False
    return True


def _numbered(labels: NDArray[Any]) -> NDArray[np.int64]:
    """Labels as integers: those given, or numbers for text."""
    try:
        numbers = labels.astype(np.float64)
    except ValueError:
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)
    integers = numbers.astype(np.int64)
    if np.array_equal(integers, numbers):
        return integers
    return np.unique(numbers, return_inverse=True)[1].astype(np.int64)


def _fetch(name: str, not_found: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Download a set of images, or take the copy of an earlier download."""
    from http.client import HTTPException

    from sklearn.datasets import fetch_olivetti_faces, fetch_openml

    try:
        if name == "olivetti":
            X, y = fetch_olivetti_faces(return_X_y=True, n_retries=1, delay=0.1)
        else:
            X, y = fetch_openml(
                data_id=OPENML[name], return_X_y=True, as_frame=False, n_retries=1, delay=0.1
            )
    except (OSError, HTTPException) as error:  # urllib's URLError is an OSError
        raise FileNotFoundError(
            f"{not_found} Nor could it be downloaded: is there a network? ({error})"
        ) from error
    return np.ascontiguousarray(X, np.float64), _numbered(np.asarray(y))


def _check_shape(X: NDArray[np.float64], y: NDArray[np.int64], name: str, where: str) -> None:
    shape = PAPER_SETS[name][:2]
    if X.shape != shape or y.shape != shape[:1]:
        raise ValueError(
            f"{where} is not the set {name!r} of the paper: expected {shape[0]} samples and "
            f"{shape[1]} features, got data of shape {X.shape} and labels of shape {y.shape}."
        )


def fingerprint(X: NDArray[Any], y: NDArray[Any], *, rescale: bool) -> str:
    """SHA-256 of data and labels, the same for all formats that keep six digits.

    Values are rounded to steps (see `FIRST_STEP`). With ``rescale`` they first get the range from 0
    to 1 as a whole: images come as 0 to 255, 0 to 1 or -1 to 1. Labels are numbered in the order in
    which they appear.
    """
    shift, scale = 0.0, 1.0
    if rescale and X.size:
        shift, scale = float(X.min()), float(X.max()) - float(X.min()) or 1.0
    found = hashlib.sha256(np.array(X.shape, "<i8").tobytes())
    for start in range(0, len(X), rows := max(1, BLOCK_VALUES // max(1, X.shape[1]))):
        values = (X[start : start + rows].astype(np.float64) - shift) / scale
        found.update(np.floor(values * STEPS_PER_UNIT + FIRST_STEP).astype("<f8").tobytes())
    _, first, label = np.unique(y, return_index=True, return_inverse=True)
    by_appearance = np.argsort(np.argsort(first))[label]
    found.update(by_appearance.astype("<i8").tobytes())
    return found.hexdigest()


def _description(name: str, facts: PaperSet) -> str:
    source = SOURCES.get(name)
    if source is None:
        family = "Ellipsoidal" if name.startswith("ellipsoid") else "Gaussian"
        source = (
            f'{family} clusters of J. Handl and J. Knowles, "Cluster generators for large '
            'high-dimensional data sets with large numbers of clusters", 2005.'
        )
    return (
        f"{name}: {facts.n_samples} samples, {facts.n_features} features, {facts.n_clusters} "
        f"clusters.\n{source}\nUsed in L. E. Brito da Silva, N. Rayapati, D. C. Wunsch II, "
        '"iCVI-ARTMAP: Accelerating and improving clustering using adaptive resonance theory '
        'predictive mapping and incremental cluster validity indices", 2020.\n'
    )
