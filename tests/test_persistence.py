"""Saved models come back equal to the last bit, and no file can do harm.

Files altered at random are tried in test_fuzz.py.
"""

from __future__ import annotations

import copy
import doctest
import hashlib
import io
import json
import os
import pickle
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from fuzz.models import members_of, packed, unpacked
from helpers.models import assert_same, assert_same_model
from icvi_artmap import (
    ICVIARTMAP,
    CategoryDisplay,
    DualVigilanceFuzzyART,
    FuzzyART,
    FuzzyARTMAP,
    ICVIARTMAPSearch,
    ModelFileError,
    custom_index,
    explain,
    load,
    save,
)
from icvi_artmap.persistence import file_format


@custom_index(better="greater")
def separation(n, mean, compactness):
    between = 0.0
    for i in range(len(n)):
        for f in range(mean.shape[1]):
            between += n[i] * mean[i, f] ** 2
    return between / compactness.sum()


def blobs(seed: int = 0, n: int = 60, d: int = 2, k: int = 3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 8.0 * rng.normal(size=(k, d))[np.arange(n) % k]


X = blobs()
CLASSES = np.arange(60) % 3
FRAME = pd.DataFrame(X, columns=["<b>width</b>", "höhe"])
MAKERS: dict[str, Callable[[], Any]] = {
    "NI": lambda: ICVIARTMAP(3, random_state=0).fit(FRAME, trace=True),
    "CH": lambda: ICVIARTMAP(3, index="ch", init=X[:3].tolist(), rho_a=0.8).fit(X),
    "DB": lambda: ICVIARTMAP(np.int32(3), index="DB", tol=np.float32(1e-3)).fit(X),
    "chosen": lambda: ICVIARTMAP(range(2, 5), random_state=0, rho_ab=0.5).fit(X),
    "many features": lambda: ICVIARTMAP(3, random_state=0).fit(blobs(d=20)),
    "FuzzyART": lambda: FuzzyART(0.98, feature_range=(-99, [99.0, 98.0])).fit(X),
    "FuzzyART in parts": lambda: (
        FuzzyART(0.9, beta=0.5, outside="clip").partial_fit(FRAME[:20]).partial_fit(FRAME[20:])
    ),
    "DualVigilanceFuzzyART": lambda: DualVigilanceFuzzyART(0.9, 0.5, max_epochs=None).fit(X),
    "FuzzyARTMAP": lambda: FuzzyARTMAP(0.5, beta_ab=0.5, rho_ab=0.8, epsilon=-0.01).fit(
        X, np.array(["no", "yes", "perhaps"])[CLASSES]
    ),
    "numbered classes": lambda: FuzzyARTMAP().fit(X, (CLASSES - 1).astype(np.int8)),
    "classes as objects": lambda: FuzzyARTMAP().fit(
        X, np.array(["a\0", "b", "ü"], dtype=object)[CLASSES]
    ),
    "two classes": lambda: FuzzyARTMAP().partial_fit(X, CLASSES == 1, classes=[False, True]),
}
_FITTED: dict[str, Any] = {}


def fitted(name: str) -> Any:
    """A fitted model of one's own; the fit is made once."""
    if name not in _FITTED:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _FITTED[name] = MAKERS[name]()
    return copy.deepcopy(_FITTED[name])


def rows_for(model: Any) -> Any:
    d = model.n_features_in_
    new = np.vstack([blobs(5, 40, d), blobs(6, 10, d) * 10.0])
    return pd.DataFrame(new, columns=model.feature_names_in_) if named(model) else new


def named(model: Any) -> bool:
    return hasattr(model, "feature_names_in_")


def saved(model: Any, folder: Path, **options: Any) -> Any:
    save(model, folder / "model.icvi")
    return load(folder / "model.icvi", **options)


# --- the same model ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MAKERS)
def test_a_loaded_model_is_the_saved_one(name: str, tmp_path: Path) -> None:
    model = fitted(name)
    twin = saved(model, tmp_path)
    assert_same_model(model, twin)
    new = rows_for(model)
    assert_same(model.predict(new), twin.predict(new))
    if hasattr(model, "transform"):
        assert_same(model.transform(new), twin.transform(new))
    if hasattr(model, "predict_proba"):
        assert_same(model.predict_proba(new), twin.predict_proba(new))
    if hasattr(model, "score") and not isinstance(model, FuzzyARTMAP):
        assert model.score(new) == twin.score(new)


@pytest.mark.parametrize("name", ["NI", "CH", "DB", "chosen", "many features"])
def test_explanations_and_pictures_of_a_loaded_model(name: str, tmp_path: Path) -> None:
    model = fitted(name)
    twin = saved(model, tmp_path)
    for rows, samples in ((rows_for(model)[:3], None), (rows_for(model)[:2], [4, 7])):
        mine, other = explain(model, rows, samples=samples), explain(twin, rows, samples=samples)
        assert str(mine) == str(other)
        assert_same(mine.index_values, other.index_values)
        assert_same(mine.lower, other.lower)
    mine, other = (CategoryDisplay.from_estimator(m) for m in (model, twin))
    assert_same(mine.boxes, other.boxes)
    assert mine.names == other.names


@pytest.mark.parametrize(
    "name", ["FuzzyART", "FuzzyART in parts", "DualVigilanceFuzzyART", "FuzzyARTMAP", "two classes"]
)
def test_a_loaded_model_learns_on(name: str, tmp_path: Path) -> None:
    model = fitted(name).set_params(outside="clip")
    twin = saved(model, tmp_path)
    for seed in range(3):
        more = blobs(seed, 700)
        more = pd.DataFrame(more, columns=model.feature_names_in_) if named(model) else more
        y = None
        if isinstance(model, FuzzyARTMAP):
            y = model.classes_[np.arange(700) % len(model.classes_)]
            if seed == 2 and y.dtype.kind == "U":
                y[0] = "new"
        for one in (model, twin):
            one.partial_fit(more, y)
        assert_same_model(model, twin)
    assert len(model.categories_) > 10  # so that categories were added


def test_a_loaded_model_can_be_saved_fitted_and_cloned(tmp_path: Path) -> None:
    model = fitted("NI")
    twin = saved(model, tmp_path)
    first = (tmp_path / "model.icvi").read_bytes()
    assert_same_model(model, saved(twin, tmp_path))
    assert (tmp_path / "model.icvi").read_bytes() == first
    assert_same_model(model, clone(twin).fit(FRAME, trace=True))


def test_with_one_cluster(tmp_path: Path) -> None:
    model = ICVIARTMAP(random_state=0)
    model.n_clusters = 1
    with pytest.warns(RuntimeWarning, match="not a clustering"):
        model.fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        twin = saved(model, tmp_path)
    assert twin.index_value_ == model.index_value_ == np.inf
    assert_same_model(model, twin)


def test_centres_are_kept_as_they_are(tmp_path: Path) -> None:
    """Not computed from their standardised form, which is the same but for rounding."""
    model = fitted("CH")
    model.cluster_centers_ = 1e-3 * blobs(1, 3)
    assert_same(model.cluster_centers_, saved(model, tmp_path).cluster_centers_)


def test_what_transform_returns_is_kept(tmp_path: Path) -> None:
    twin = saved(fitted("CH").set_output(transform="pandas"), tmp_path)
    assert isinstance(twin.transform(X), pd.DataFrame)


@pytest.mark.parametrize("dump", [pickle.dump, joblib.dump])
@pytest.mark.parametrize("name", MAKERS)
def test_pickle_and_joblib(name: str, dump: Any, tmp_path: Path) -> None:
    model, path = fitted(name), tmp_path / "model.pickle"
    with open(path, "wb") as file:
        dump(model, file)
    twin = joblib.load(path)
    assert_same_model(model, twin)
    new = rows_for(model)
    assert_same(model.predict(new), twin.predict(new))


# --- the file ------------------------------------------------------------------------------------


def test_numpy_reads_the_arrays(tmp_path: Path) -> None:
    model, path = fitted("NI"), tmp_path / "model.icvi"
    save(model, path)
    with np.load(path, allow_pickle=False) as file:
        assert_same(file["labels"], model.labels_)
        assert_same(file["boxes"], model.fitted_.boxes)
        for name in set(file.files) - {"header.json"}:
            assert file[name].dtype != object
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        header = json.loads(archive.read("header.json"))
        assert all(info.compress_type == zipfile.ZIP_STORED for info in archive.infolist())
        for name, facts in header["arrays"].items():
            member = archive.read(f"{name}.npy")
            assert hashlib.sha256(member).hexdigest() == facts["sha256"]
            assert np.load(io.BytesIO(member)).shape == tuple(facts["shape"])
    assert header["format"] == "icvi-artmap model"
    assert header["version"] == 1
    assert header["class"] == "ICVIARTMAP"
    assert header["parameters"]["n_clusters"] == 3
    assert header["feature_names"] == ["<b>width</b>", "höhe"]
    assert header["written_by"]["numpy"] == np.__version__


def test_a_generator_is_not_stored(tmp_path: Path) -> None:
    model = ICVIARTMAP(3, index="CH", random_state=np.random.RandomState(0)).fit(X)
    twin = saved(model, tmp_path)
    assert twin.random_state is None
    assert "RandomState" in unpacked((tmp_path / "model.icvi").read_bytes())[0]["notes"][0]
    assert_same(twin.predict(X), model.predict(X))


def test_a_file_is_there_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.icvi"
    save(fitted("CH"), path)
    before = path.read_bytes()

    def fail(*_: Any) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(file_format, "npy_header", fail)
    with pytest.raises(KeyboardInterrupt):
        save(fitted("NI"), path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.icvi"]


def test_large_files_have_other_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of more than 2 GB; here every file is taken for one."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 10)
    model, path = fitted("NI"), tmp_path / "model.icvi"
    save(model, path)
    monkeypatch.undo()
    content = path.read_bytes()
    assert content[-42:-38] == b"PK\x06\x07"
    assert_same_model(model, load(path))
    at = len(content) - 98
    for change in (b"\xff" * 8, b"\0" * 8):
        path.write_bytes(content[: at + 40] + change + content[at + 48 :])
        with pytest.raises(ModelFileError, match=r"table of contents|not in it"):
            load(path)


def test_the_documentation() -> None:
    page = Path(__file__).resolve().parents[1] / "docs" / "models.md"
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=options)
    assert tried > 10
    assert failed == 0


# --- an index of one's own -----------------------------------------------------------------------


def test_an_index_of_ones_own(tmp_path: Path) -> None:
    model, path = fitted("CH").set_params(prediction="category"), tmp_path / "model.icvi"
    # Its own fit would take long to compile.
    model.index, model.fitted_ = separation, replace(model.fitted_, index=separation)
    save(model, path)
    twin = load(path, index=separation)
    assert twin.index is separation
    assert_same_model(model, twin)
    assert_same(model.predict(X), twin.predict(X))
    with pytest.raises(ModelFileError, match=r"index of your own, 'separation'.*index=\.\.\."):
        load(path)

    @custom_index(better="smaller", name="separation")
    def other(n, mean, compactness):
        return compactness.sum()

    with pytest.raises(ModelFileError, match=r"direction 1.*direction -1"):
        load(path, index=other)
    with pytest.raises(ModelFileError, match="custom_index returns, got str"):
        load(path, index="separation")


def test_an_index_that_is_not_asked_for(tmp_path: Path) -> None:
    for name in ("CH", "FuzzyART"):
        save(fitted(name), tmp_path / "model.icvi")
        with pytest.raises(ModelFileError, match="without index"):
            load(tmp_path / "model.icvi", index=separation)


# --- what cannot be saved ------------------------------------------------------------------------


def test_what_cannot_be_saved(tmp_path: Path) -> None:
    path = tmp_path / "model.icvi"

    class Derived(FuzzyART):
        pass

    search = ICVIARTMAPSearch(ICVIARTMAP(3, index="CH"), rho_a=0, rho_ab=1, verbose=0).fit(X)
    for model, message in (
        (search, "Save its best_estimator_"),
        (make_pipeline(fitted("CH")), "joblib.dump for anything else"),
        (Derived().fit(X), "derived from these"),
        (fitted("CH").set_params(index="NI"), "set after the fit"),
        (fitted("CH").set_params(rho_a=lambda: 1), "rho_a=.* cannot be stored"),
        (fitted("CH").set_params(rho_a=1.5), "rho_a must be in"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            save(model, path)
    with pytest.raises(NotFittedError):
        save(FuzzyART(), path)
    wrong = fitted("CH")
    wrong.labels_ = wrong.labels_ - 1
    with pytest.raises(ValueError, match=r"cannot be saved: 'labels' and 'sample_clusters'"):
        save(wrong, path)
    with pytest.raises(IsADirectoryError, match="is a folder"):
        save(fitted("CH"), tmp_path)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        save(fitted("CH"), tmp_path / "no" / "model.icvi")
    assert os.listdir(tmp_path) == []
    save(search.best_estimator_, path)
    assert_same_model(search.best_estimator_, load(path))


# --- what cannot be loaded -----------------------------------------------------------------------


def content_of(name: str, folder: Path) -> bytes:
    save(fitted(name), folder / "model.icvi")
    return (folder / "model.icvi").read_bytes()


def refused(content: bytes, folder: Path) -> str:
    """The message with which a file is refused."""
    path = folder / "altered.icvi"
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as error:
        load(path)
    assert "altered.icvi" in str(error.value)
    assert len(str(error.value)) <= 300
    return str(error.value)


class Bomb:
    def __reduce__(self) -> Any:
        return os.abort, ()


def test_files_of_something_else(tmp_path: Path) -> None:
    assert "is empty" in refused(b"", tmp_path)
    assert "begins with b'\\x89PNG'" in refused(b"\x89PNG\r\n\x1a\n" + bytes(100), tmp_path)
    assert "looks like a pickle" in refused(pickle.dumps(Bomb()), tmp_path)
    assert "begins with b'a'" in refused(b"a", tmp_path)
    assert "part of it is missing" in refused(b"PK\x03\x04", tmp_path)
    assert "not a model file" in refused(packed([("a.txt", b"text")]), tmp_path)
    stream = io.BytesIO()
    np.savez(stream, a=np.arange(3), b=np.array([Bomb()], dtype=object))
    assert "'header.json' is not in it" in refused(stream.getvalue(), tmp_path)
    assert "says format None" in refused(packed([("header.json", b"{}")]), tmp_path)
    with pytest.raises(ModelFileError, match="does not exist"):
        load(tmp_path / "nothing.icvi")
    with pytest.raises(ModelFileError, match="is a folder"):
        load(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.icvi")
    with pytest.raises(ModelFileError, match="not a regular file"):
        load(tmp_path / "pipe.icvi")


def test_every_truncation_is_noticed(tmp_path: Path) -> None:
    content = content_of("CH", tmp_path)
    for length in [*range(0, len(content), 97), len(content) - 1]:
        refused(content[:length], tmp_path)


def test_every_damaged_byte_of_an_array_is_noticed(tmp_path: Path) -> None:
    content = content_of("CH", tmp_path)
    begin = content.index(b"\x93NUMPY")
    for at in range(begin, begin + 400, 7):
        altered = bytearray(content)
        altered[at] ^= 16
        refused(bytes(altered), tmp_path)


def test_zips_that_we_do_not_write(tmp_path: Path) -> None:
    header, arrays = unpacked(content_of("CH", tmp_path))
    members = members_of(header, arrays)
    path = tmp_path / "altered.icvi"
    path.write_bytes(packed(members))
    load(path)  # the form of members_of is right
    assert "compressed" in refused(packed(members, zipfile.ZIP_DEFLATED), tmp_path)
    assert "two members named" in refused(packed([*members, members[1]]), tmp_path)
    assert "'../../x' is not in its header" in refused(
        packed([*members, ("../../x", b"")]), tmp_path
    )
    assert "'labels.npy' is missing" in refused(
        packed([m for m in members if m[0] != "labels.npy"]), tmp_path
    )
    many = [*members, *((f"{i}.npy", b"") for i in range(100))]
    assert "table of contents" in refused(packed(many), tmp_path)
    long = [*members, ("x" * 60000 + ".npy", b""), ("y" * 60000 + ".npy", b"")]
    assert "table of contents" in refused(packed(long), tmp_path)
    large = [("header.json", b" " * (5 << 20)), *members[1:]]
    assert "its header claims" in refused(packed(large), tmp_path)
    with_comment = bytearray(packed(members))
    with_comment[-2:] = b"\x03\x00"
    assert "part of it is missing" in refused(bytes(with_comment) + b"abc", tmp_path)
    # The same bytes as two members, so that they claim more than there is.
    twice = bytearray(packed([*members, ("copy.npy", b"")]))
    at = twice.rindex(b"PK\x01\x02")
    twice[at + 20 : at + 28] = (1 << 31).to_bytes(4, "little") * 2
    assert "members claim" in refused(bytes(twice), tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "not valid JSON"),
        (b"[]", "not a JSON object"),
        (b"\xff\xfe", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b'{"a": ' * 100_000, "not valid JSON"),
        (b'{"format": 1, "format": 2}', "a key comes twice"),
        (b'{"format": NaN}', "NaN is not JSON"),
        (b'{"format": 1e999}', "too large"),
        (b'{"format": ' + b"9" * 5000 + b"}", "too large"),
        (b'{"format": "another"}', "says format 'another'"),
        (b'{"format": "icvi-artmap model"}', "format version is None"),
        (b'{"format": "icvi-artmap model", "version": 2}', "Update icvi-artmap"),
        (b'{"format": "icvi-artmap model", "version": true}', "format version is True"),
        (b'{"format": "icvi-artmap model", "version": 1}', "describes no arrays"),
        (b'{"format": "icvi-artmap model", "version": 1, "arrays": {}}', "not in its header"),
    ],
)
def test_headers(text: bytes, message: str, tmp_path: Path) -> None:
    _, *arrays = members_of(*unpacked(content_of("FuzzyART", tmp_path)))
    assert message in refused(packed([("header.json", text), *arrays]), tmp_path)


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"shape": [10**15]}, "need 8000000000000"),
        ({"shape": [0, 10**15, 10**15]}, "labels"),
        ({"shape": [-60]}, "has the shape [-60]"),
        ({"shape": [60.0]}, "has the shape"),
        ({"shape": 60}, "has the shape"),
        ({"shape": [1, 1, 1, 1, 60]}, "has the shape"),
        ({"shape": [61]}, "bytes, but shape"),
        ({"dtype": "|O"}, "has the type '|O'"),
        ({"dtype": ["<i8"]}, "has the type"),
        ({"dtype": "<f8"}, "is not an array of"),
        ({"sha256": "0" * 64}, "checksum"),
        ({"sha256": None}, "no checksum"),
        ({"more": 1}, "does not say type"),
    ],
)
def test_descriptions_of_arrays(facts: dict[str, Any], message: str, tmp_path: Path) -> None:
    (_, text), *arrays = members_of(*unpacked(content_of("CH", tmp_path)))
    header = json.loads(text)
    header["arrays"]["labels"] |= facts
    members = [("header.json", json.dumps(header).encode()), *arrays]
    assert message in refused(packed(members), tmp_path)


Edit = Callable[[dict[str, Any], dict[str, np.ndarray]], Any]


def putting(name: str, value: Any, at: Any = 0) -> Edit:
    def edit(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        arrays[name] = arrays[name].copy()
        arrays[name][at] = value

    return edit


def with_array(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Edit:
    def edit(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        arrays[name] = change(arrays[name])

    return edit


def with_header(part: str | None, **values: Any) -> Edit:
    return lambda header, arrays: (header[part] if part else header).update(values)


@pytest.mark.parametrize(
    ("name", "edit", "message"),
    [
        ("CH", putting("labels", -1), "'labels' has values from -1"),
        ("CH", putting("labels", 3), "to 3, expected 0 to 2"),
        ("CH", putting("sample_categories", 10**6), "'sample_categories' has values"),
        ("CH", with_array("labels", lambda a: a[:-1]), "'sample_categories' has shape"),
        ("CH", with_array("labels", lambda a: a[:0]), "'labels' has shape (0,)"),
        ("CH", with_array("labels", lambda a: a.astype("<i4")), "has type int32"),
        ("CH", with_array("labels", lambda a: a.astype("<f8")), "has type float64"),
        ("CH", putting("boxes", np.nan, (0, 0)), "'boxes' has NaN"),
        ("CH", putting("boxes", -0.5, (0, 0)), "'boxes' has values"),
        ("CH", putting("boxes", 1.0, 0), "'sides of boxes'"),
        ("CH", with_array("boxes", lambda a: a[:, :3]), "two for every feature"),
        ("CH", with_array("boxes", lambda a: a[:0]), "'boxes' has shape (0, 4)"),
        ("CH", with_array("boxes", lambda a: a[:, ::2]), "'scaling.minimum' has shape (2,)"),
        ("CH", putting("map_field", np.inf, (0, 0)), "'map_field' has NaN or infinity"),
        ("CH", with_array("map_field", lambda a: a[:, :2]), "'labels' has values"),
        ("CH", with_array("map_field", lambda a: np.zeros((len(a), 2000))), "only"),
        ("CH", putting("scaling.span", 0.0), "not above 0"),
        ("CH", putting("scaling.deviation", -1.0), "not above 0"),
        ("CH", putting("moments.n", 0), "'moments.n' has values"),
        ("CH", putting("moments.n", 2**62), "'moments.n' has values"),
        ("CH", putting("moments.n", 1), "fewer samples"),
        ("CH", putting("moments.mean", 1e200, (0, 0)), "'moments.mean' has values"),
        ("CH", putting("moments.compactness", -1.0), "'moments.compactness'"),
        ("NI", putting("moments.scatter", -1.0, (0, 1, 1)), "cluster 0 has a negative variance"),
        ("NI", putting("moments.scatter", 1e3, (1, 0, 1)), "cluster 1 has a negative variance"),
        (
            "NI",
            with_array("moments.scatter", lambda a: a[:, :0, :0]),
            "'moments.scatter' has shape",
        ),
        ("CH", putting("index_history", np.nan), "'index_history' has NaN"),
        ("CH", with_header("fitted", n_iter=10**6), "for 1000000 epochs"),
        ("NI", with_array("index_trace", lambda a: a[1:]), "'index_trace' has shape"),
        ("chosen", with_array("selection.k", lambda a: a[::-1]), "'selection.k' does not rise"),
        ("chosen", with_header("fitted", selection_single=None), "selection_single is None"),
        ("CH", with_header("fitted", n_iter=0), "n_iter is 0"),
        ("CH", with_header("fitted", n_iter=True), "n_iter is True"),
        ("CH", with_header("fitted", converged=1), "converged is 1"),
        ("CH", with_header(None, fitted=[]), "no fitted attributes"),
        ("CH", with_header(None, parameters=None), "no parameters"),
        ("CH", with_header(None, **{"class": "os.system"}), "its class is 'os.system'"),
        ("CH", with_header(None, **{"class": ["ICVIARTMAP"]}), "its class is"),
        ("CH", with_header(None, **{"class": "FuzzyART"}), "is not a parameter of FuzzyART"),
        ("CH", with_header(None, feature_names=["a"]), "expected 2 different strings"),
        ("CH", with_header(None, feature_names=["a", 1]), "expected 2 different strings"),
        ("CH", with_header(None, feature_names=["a", "a"]), "expected 2 different strings"),
        ("CH", with_header(None, set_output="code"), "its set_output is 'code'"),
        ("CH", with_header("parameters", __class__="x"), "'__class__' is not a parameter"),
        ("CH", with_header("parameters", alpha=0), "alpha must be in (0, inf)"),
        ("CH", with_header("parameters", alpha="1"), "alpha must be a number"),
        ("CH", with_header("parameters", n_clusters={"range": [2, 2]}), "at least one number"),
        ("CH", with_header("parameters", n_clusters={"range": [0.5, 2]}), "n_clusters is"),
        ("CH", with_header("parameters", n_clusters=[3]), "n_clusters is [3]"),
        ("CH", with_header("parameters", prediction=None), "prediction must be"),
        ("CH", with_header("parameters", random_state=-1), "its random_state is -1"),
        ("CH", with_header("parameters", random_state="x"), "its random_state is 'x'"),
        ("CH", with_header("parameters", index="os"), "its index is 'os'"),
        ("CH", with_header("parameters", index="os" * 10**6), "its index is 'os"),
        ("CH", with_header("parameters", order="os" * 10**6), "order must be None"),
        ("CH", with_header("parameters", index="NI"), "'moments.scatter' has shape"),
        ("CH", with_header("parameters", index={"own": 1}), "its parameter index is"),
        ("CH", with_header("parameters", init="k-means++"), "does not belong to its class"),
        ("CH", with_array("parameters.init", lambda a: a[:2]), "init has shape (2, 2)"),
        ("CH", with_header("parameters", init={"array": "labels"}), "its parameter init is"),
        ("FuzzyART", putting("cells", 64, (0, 5)), "'cells' has values"),
        ("FuzzyART", putting("cells", 1, (0, -1)), "'cells' does not rise"),
        ("FuzzyART", with_array("cells", lambda a: a[:, :-1]), "'cells' has shape"),
        ("FuzzyART", putting("cluster", -1), "'cluster' has values"),
        ("FuzzyART", putting("cluster", 1), "'cluster' leaves out"),
        ("FuzzyART", putting("feature_min", 1e308), "not the ends of ranges"),
        ("FuzzyART", putting("feature_max", -1e308), "not the ends of ranges"),
        ("FuzzyART", with_header("parameters", feature_range=[0, 1]), "feature_range is [0, 1]"),
        (
            "FuzzyART",
            with_header("parameters", feature_range={"lower": 1, "upper": None}),
            "as upper",
        ),
        ("FuzzyART", putting("parameters.feature_range.upper", -1e6), "feature_range of feature 0"),
        ("FuzzyARTMAP", with_header("fitted", classes=["b", "a", "c"]), "not sorted"),
        ("FuzzyARTMAP", with_header("fitted", classes=["a", "a", "b"]), "not sorted"),
        ("FuzzyARTMAP", with_header("fitted", classes=["a"]), "'map_field' has shape"),
        ("FuzzyARTMAP", with_header("fitted", classes=[1, 2, 3]), "expected strings"),
        ("FuzzyARTMAP", with_header("fitted", classes=[]), "expected strings"),
        ("FuzzyARTMAP", with_header("fitted", classes=["a" * 10**6, *map(str, range(99))]), "long"),
        ("FuzzyARTMAP", putting("map_field", 2.0, (0, 0)), "'map_field' has values"),
        ("numbered classes", putting("classes", 1), "not sorted"),
        ("FuzzyARTMAP", lambda header, arrays: arrays.pop("cells"), "'cells' is missing"),
    ],
)
def test_contents_with_right_checksums(name: str, edit: Edit, message: str, tmp_path: Path) -> None:
    header, arrays = unpacked(content_of(name, tmp_path))
    edit(header, arrays)
    assert message in refused(packed(members_of(header, arrays)), tmp_path)


def nested(depth: int) -> Any:
    """Lists in lists, each with as many as a short form shows."""
    return ["x" * 1000] * 6 if depth == 0 else [nested(depth - 1)] * 6


@pytest.mark.parametrize(
    "edit",
    [
        lambda header, arrays: header["parameters"].update(init=nested(4)),
        lambda header, arrays: header["parameters"].update(index=nested(4)),
        lambda header, arrays: header["parameters"].update({"x" * 9999: 1}),
        lambda header, arrays: header["parameters"].update(n_clusters="x" * 9999),
        lambda header, arrays: header["fitted"].update(n_iter=nested(4)),
        lambda header, arrays: header.update({"class": {"x" * 9999: nested(3)}}),
        lambda header, arrays: header.update(feature_names=nested(4)),
        lambda header, arrays: arrays.update({"x" * 9999: np.zeros(2)}),
    ],
)
def test_long_values_are_shown_in_part(edit: Edit, tmp_path: Path) -> None:
    header, arrays = unpacked(content_of("NI", tmp_path))
    edit(header, arrays)
    folder = tmp_path / ("d" * 200)
    folder.mkdir()
    assert refused(packed(members_of(header, arrays)), folder).isprintable()
