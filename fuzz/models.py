"""Model files altered at random: refused, or a model that works."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import random
import warnings
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_circles

from fuzz.campaign import Campaign, Outcome, clear, demand
from fuzz.mutations import altered_bytes
from icvi_artmap import (
    ICVIARTMAP,
    DualVigilanceFuzzyART,
    FuzzyART,
    FuzzyARTMAP,
    ModelFileError,
    explain,
    load,
    save,
)
from icvi_artmap.persistence.file_format import npy_header

Arrays = dict[str, NDArray[Any]]

NUMBERS = (
    *(0, 1, -1, 2, 63, 64, 255, 2**31, 2**53, 2**62, -(2**63), 0.5, 1e-320, 1e308, -1e308),
    *(float("nan"), float("inf"), -float("inf")),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 3, 10**15, 2**63, 10**40, 0.5, -0.5, 1e300, "", "x", "NI"),
    *("DB", "category", "clip", [], [1], {}, {"range": [2, 9]}, {"array": "labels"}, "<f8"),
    *("x" * 500, {"y" * 500: 1}),
)
DTYPES = ("<f8", "<f4", "<i8", "<i4", "|u1", "|b1", "<u8", ">f8", "<c16", "<U2")


class Models(Campaign):
    """Bytes flipped, headers and arrays edited with checksums that fit again."""

    memory = 1 << 28

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.path = folder / "altered.icvi"
        self.contents: list[bytes] = []
        for model in fitted_models():
            save(model, self.path)
            self.contents.append(self.path.read_bytes())
            use(load(self.path))  # compiles, so that no case is charged for it
        self.parts = [unpacked(content) for content in self.contents]

    def case(self, seed: int) -> Outcome:
        rng = random.Random(seed)
        number = rng.randrange(len(self.contents))
        self.path.write_bytes(altered(rng, self.contents[number], *self.parts[number]))
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                model = load(self.path)
            except ModelFileError as error:
                return clear(error)
            use(model)
        return Outcome(True, f"{type(model).__name__} that works")


def samples(n: int, d: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)) + 8.0 * rng.normal(size=(3, d))[np.arange(n) % 3]


def fitted_models() -> list[Any]:
    """One of every kind of file."""
    import pandas as pd

    X, classes = samples(60, 2), np.array(["no", "yes", "perhaps"])[np.arange(60) % 3]
    frame = pd.DataFrame(X, columns=["<b>width</b>", "höhe"])
    rings, _ = make_circles(150, noise=0.05, factor=0.4, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            ICVIARTMAP(3, random_state=0).fit(frame, trace=True),
            ICVIARTMAP(3, index="ch", init=X[:3].tolist(), rho_a=0.8).fit(X),
            ICVIARTMAP(range(2, 5), random_state=0, rho_ab=0.5).fit(X),
            ICVIARTMAP("auto", shape="any", random_state=0).fit(rings),
            ICVIARTMAP(3, index="ch", noise=True, random_state=0).fit(np.vstack([X, 99.0 + X[:1]])),
            prepared(X),
            prepared(X, index="ch", categories=[1], transform_columns="clip"),
            streamed(ICVIARTMAP(3, warm_up=60, memory=40, rho_a=0.9, random_state=0)),
            streamed(ICVIARTMAP(3, index="ch", warm_up=60, memory=40, forgetting=0.99)),
            FuzzyART(0.98, feature_range=(-99, [99.0, 98.0])).fit(X),
            DualVigilanceFuzzyART(0.9, 0.5, max_epochs=None).fit(X),
            FuzzyARTMAP(0.5, beta_ab=0.5, rho_ab=0.8, epsilon=-0.01).fit(X, classes),
        ]


def prepared(X: NDArray[np.float64], **options: Any) -> Any:
    """A model that fills gaps; with categories, of one column in words."""
    cells: Any = np.where(np.arange(len(X))[:, None] % 20 == [3, 4], np.nan, X)
    if "categories" in options:
        cells = cells.astype(object)
        cells[:, 1] = np.array(["no", "yes", "perhaps"])[np.arange(len(X)) % 3]
    settings = {"missing": "neighbours", "transform_columns": "power", **options}
    return ICVIARTMAP(3, random_state=0, **settings).fit(cells)


def streamed(model: ICVIARTMAP) -> ICVIARTMAP:
    """Learned in pieces; a model that forgets waits for rows after a break."""
    X = samples(300, 2)
    return model.partial_fit(X[:100]).partial_fit(X[100:]).partial_fit(samples(40, 2)[:, ::-1])


def use(model: Any) -> None:
    """All that a kernel does with a model's numbers."""
    rows: Any = samples(5, model.n_features_in_)
    if hasattr(model, "feature_names_in_"):
        import pandas as pd

        rows = pd.DataFrame(rows, columns=model.feature_names_in_)
    predicted = model.predict(rows)
    if isinstance(model, FuzzyARTMAP):
        demand(set(predicted) <= set(model.classes_), "predict gives no known class")
        shape = model.predict_proba(rows).shape
        demand(shape == (5, len(model.classes_)), f"predict_proba gives shape {shape}")
    else:
        least = -1 if getattr(model, "noise", False) else 0
        within = least <= predicted.min() <= predicted.max() < model.n_clusters_
        demand(within, "predict out of range")
        shape = model.set_output(transform="default").transform(rows).shape
        demand(shape == (5, model.n_clusters_), f"transform gives shape {shape}")
    if isinstance(model, ICVIARTMAP):
        model.score(rows)
        if model.fitted_.levels is not None:
            demand(bool((np.abs(model.outlier_score(rows) - 0.5) <= 0.5).all()), "no outlier score")
            demand(bool(np.allclose(model.membership(rows).sum(axis=1), 1.0)), "no memberships")
        explain(model, rows[:1]).to_text()
        if not numba.config.DISABLE_JIT:  # the row is none of an altered model's samples: NaN
            explain(model, rows[:1], samples=[0]).to_text()
        if hasattr(model, "stream_"):
            seen = model.n_samples_seen_
            model.partial_fit(rows)
            demand(model.n_samples_seen_ == seen + 5, "partial_fit does not count its rows")
            within = 0 <= model.sample_clusters_.min() <= model.sample_clusters_.max()
            demand(within and len(model.sample_clusters_) == 5, "partial_fit gives no clusters")
    else:
        y = predicted if isinstance(model, FuzzyARTMAP) else None
        model.set_params(outside="clip").partial_fit(rows, y)


# --- the file ------------------------------------------------------------------------------------


def unpacked(content: bytes) -> tuple[dict[str, Any], Arrays]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        header = json.loads(archive.read("header.json"))
        arrays = {
            name: np.load(io.BytesIO(archive.read(f"{name}.npy"))) for name in header.pop("arrays")
        }
    return header, arrays


def packed(members: list[tuple[str, bytes]], compression: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that come twice
        for name, content in members:
            archive.writestr(name, content)
    return stream.getvalue()


def members_of(header: Any, arrays: Arrays) -> list[tuple[str, bytes]]:
    """What the zip of this content holds, all checksums right."""
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    data = {
        name: npy_header(array.dtype.str, array.shape) + array.tobytes()
        for name, array in arrays.items()
    }
    described = {
        name: {
            "dtype": array.dtype.str,
            "shape": list(array.shape),
            "sha256": hashlib.sha256(data[name]).hexdigest(),
        }
        for name, array in arrays.items()
    }
    text = json.dumps({**header, "arrays": described}).encode()
    return [("header.json", text), *((f"{name}.npy", data[name]) for name in data)]


# --- mutations -----------------------------------------------------------------------------------


def altered_header(rng: random.Random, header: Any) -> None:
    """One value of the JSON replaced, removed, or exchanged for another."""
    places: list[tuple[Any, Any]] = []

    def visit(node: Any) -> None:
        keys = node.keys() if isinstance(node, dict) else range(len(node))
        for key in list(keys):
            places.append((node, key))
            if isinstance(node[key], (dict, list)):
                visit(node[key])

    visit(header)
    node, key = rng.choice(places)
    kind = rng.randrange(4)
    if kind == 0 and isinstance(node, dict):
        del node[key]
    elif kind == 1:
        other, other_key = rng.choice(places)
        node[key] = copy.deepcopy(other[other_key])
    else:
        node[key] = copy.deepcopy(rng.choice(VALUES))


def altered_array(rng: random.Random, arrays: Arrays) -> None:
    """Other numbers, another type or shape, or another array in its place."""
    name, other = rng.choice(list(arrays)), rng.choice(list(arrays))
    array, kind = arrays[name].copy(), rng.randrange(8)
    if kind <= 2 and array.size:
        for _ in range(rng.choice((1, 3, array.size))):
            value = rng.choice((*NUMBERS, array.flat[rng.randrange(array.size)]))
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                array.flat[rng.randrange(array.size)] = np.array(value).astype(array.dtype)
    elif kind == 3:
        dtype = rng.choice(DTYPES)
        with np.errstate(all="ignore"), suppress(ValueError):  # text that is no number stays text
            array = array.astype(dtype)
    elif kind == 4:
        axis = rng.randrange(max(1, array.ndim))
        rows = (
            rng.choices(range(array.shape[axis]), k=rng.choice((0, 1, 2, 61))) if array.size else []
        )
        array = np.take(array, rows, axis=axis)
    elif kind == 5:
        array = rng.choice((array.T, array[None], array.ravel(), array[..., None]))
    elif kind == 6:
        array, arrays[other] = arrays[other], array
    else:
        del arrays[name]
        return
    arrays[name] = np.ascontiguousarray(array)


def altered_members(rng: random.Random, members: list[tuple[str, bytes]]) -> list[Any]:
    """Contents exchanged, names exchanged, one twice or gone."""
    a, b = rng.randrange(len(members)), rng.randrange(len(members))
    kind = rng.randrange(4)
    if kind == 0:
        members[a], members[b] = (members[a][0], members[b][1]), (members[b][0], members[a][1])
    elif kind == 1:
        members.append((members[a][0], members[b][1]))
    elif kind == 2:
        del members[a]
    else:
        name, content = members[a]
        members[a] = (name, altered_bytes(rng, content + bytes(8)))
    return members


def altered(rng: random.Random, content: bytes, header: Any, arrays: Any) -> bytes:
    if rng.random() < 0.3:
        return altered_bytes(rng, content)
    header, arrays = copy.deepcopy(header), dict(arrays)
    for _ in range(rng.choice((1, 1, 2))):
        if rng.random() < 0.5:
            altered_header(rng, header)
        elif arrays:
            altered_array(rng, arrays)
    members = members_of(header, arrays)
    kind = rng.random()
    if kind < 0.15:
        members = altered_members(rng, members)
    elif kind < 0.3:  # the description of the arrays as well
        whole = json.loads(members[0][1])
        altered_header(rng, whole)
        members[0] = (members[0][0], json.dumps(whole).encode())
    return packed(members)
