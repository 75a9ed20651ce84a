"""The loader of the paper's data sets."""

from __future__ import annotations

import re
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from icvi_artmap.datasets import PAPER_SETS, REAL, SYNTHETIC, load_paper_set, paper

SMALL = "2d-4c-no0"


@pytest.fixture(autouse=True)
def no_default_folder(request, monkeypatch):
    if "shared_data" in request.fixturenames:
        request.getfixturevalue("shared_data")  # which looks at the variable itself
    monkeypatch.delenv(paper.FOLDER_VARIABLE, raising=False)


@pytest.fixture
def offline(tmp_path, monkeypatch):
    """No copy of an earlier download, and a proxy that nobody serves."""
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "downloads"))
    for scheme in ("http", "https"):
        monkeypatch.setenv(f"{scheme}_proxy", "http://127.0.0.1:9")
        monkeypatch.setenv(f"{scheme.upper()}_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)


@pytest.fixture
def made_up(monkeypatch):
    """A small set in the place of a real one: 6 samples, 2 features, 2 clusters."""
    X = np.array([[0.5, -12.25], [3, 4], [5e-3, 1e2], [7, 8], [9, 10], [0, -1]])
    y = np.array([3, 3, 1, 1, 3, 1])
    for name, rescale in ((SMALL, False), ("usps", True)):
        known = paper.PaperSet(6, 2, 2, paper.fingerprint(X, y, rescale=rescale))
        monkeypatch.setitem(PAPER_SETS, name, known)
    return X, y


def write(path: Path, X, y) -> None:
    names, rows = ["a", "b"], [[*map(str, x), str(label)] for x, label in zip(X, y, strict=True)]
    if path.suffix == ".npz":
        np.savez(path, X=X, y=y)
    elif path.suffix == ".dat":
        path.write_text("".join("\t".join(row) + "\n" for row in rows))
    elif path.suffix == ".csv":
        path.write_text("".join(",".join(row) + "\n" for row in [[*names, "class"], *rows]))
    else:
        declared = "".join(f"@attribute {name} real\n" for name in names)
        nominal = "@attribute class {1,3}\n@data\n"
        path.write_text(declared + nominal + "".join(",".join(row) + "\n" for row in rows))


def test_the_table_of_the_paper():
    assert len(SYNTHETIC) == 16
    assert REAL == ("olivetti", "usps", "mnist-test", "mnist", "fashion-mnist")
    assert list(PAPER_SETS) == [*SYNTHETIC, *REAL]
    for name in SYNTHETIC:
        n_features, n_clusters = map(int, re.findall(r"(\d+)d-?(\d+)c", name)[0])
        assert PAPER_SETS[name][1:3] == (n_features, n_clusters)
    assert sum(PAPER_SETS[name].n_samples for name in SYNTHETIC) == 8624 + 6968 + 7350 + 7727
    assert PAPER_SETS["olivetti"][:3] == (400, 4096, 40)
    assert PAPER_SETS["usps"][:3] == (9298, 256, 10)
    assert [PAPER_SETS[name].n_samples for name in REAL[2:]] == [10_000, 70_000, 70_000]
    assert len({known.fingerprint for known in PAPER_SETS.values()}) == 21


@pytest.mark.parametrize("suffix", paper.SUFFIXES)
@pytest.mark.parametrize("below", ["", "synthetic"])
def test_formats_and_folders(tmp_path, made_up, suffix, below):
    X, y = made_up
    folder = tmp_path / below
    folder.mkdir(exist_ok=True)
    write(folder / f"{SMALL}{suffix}", X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = load_paper_set(SMALL, tmp_path)
    assert_array_equal(found.data, X)
    assert_array_equal(found.target, y)
    assert found.data.dtype == np.float64
    assert found.target.dtype == np.int64
    assert found.name == SMALL
    assert found.n_clusters == 2
    assert found.filename == str(folder / f"{SMALL}{suffix}")
    assert found.DESCR.startswith("2d-4c-no0: 6 samples, 2 features, 2 clusters.\nGaussian")


def test_the_variable_names_the_folder(tmp_path, made_up, monkeypatch):
    write(tmp_path / f"{SMALL}.npz", *made_up)
    monkeypatch.setenv(paper.FOLDER_VARIABLE, str(tmp_path))
    assert load_paper_set(SMALL).data.shape == (6, 2)


@pytest.mark.parametrize(
    "head", ["2\n", "6 2 2\n", "# x y cluster\n", "x y cluster\n", "\n6\n2\n", "% 1 2 3\n"]
)
@pytest.mark.parametrize("delimiter", [" ", "  ", ",", ", ", "\t"])
def test_dat_with_lines_before_the_rows(tmp_path, made_up, head, delimiter):
    X, y = made_up
    rows = [delimiter.join(map(str, [*x, float(label)])) for x, label in zip(X, y, strict=True)]
    (tmp_path / f"{SMALL}.dat").write_text(head + "\n".join(rows) + "\n")
    found = load_paper_set(SMALL, tmp_path)
    assert_array_equal(found.data, X)
    assert_array_equal(found.target, y)


def test_labels_of_text_are_numbered(tmp_path, made_up):
    X, y = made_up
    write(tmp_path / f"{SMALL}.csv", X, np.where(y == 3, "left", "right"))
    assert_array_equal(load_paper_set(SMALL, tmp_path).target, [0, 0, 1, 1, 0, 1])


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda X, y: (X + 0.01, y), id="values"),
        pytest.param(lambda X, y: (X[::-1], y[::-1]), id="order"),
        pytest.param(lambda X, y: (X[:, ::-1], y), id="order of features"),
        pytest.param(lambda X, y: (X, np.roll(y, 1)), id="labels"),
        pytest.param(lambda X, y: (X, np.arange(6)), id="more labels"),
    ],
)
def test_other_content_is_warned_of(tmp_path, made_up, change):
    write(tmp_path / f"{SMALL}.npz", *change(*made_up))
    with pytest.warns(
        UserWarning, match="but not its content: values, labels or the order"
    ) as seen:
        load_paper_set(SMALL, tmp_path)
    assert seen[0].filename == __file__


@pytest.mark.parametrize(
    "same",
    [
        pytest.param(lambda X, y: (X.astype(np.float32), y), id="single precision"),
        pytest.param(lambda X, y: (X, 10 - y), id="other names of labels"),
        pytest.param(lambda X, y: (X * (1 + 1e-9), y), id="last digits"),
    ],
)
def test_the_same_content_is_not_warned_of(tmp_path, made_up, same):
    write(tmp_path / f"{SMALL}.npz", *same(*made_up))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_paper_set(SMALL, tmp_path)


def test_images_may_have_another_range(tmp_path, made_up):
    X, y = made_up
    (tmp_path / "real").mkdir()
    write(tmp_path / "real" / "usps.npz", 2 * X - 7, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_array_equal(load_paper_set("usps", tmp_path).data, 2 * X - 7)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (f"{SMALL}.npz", {"X": np.zeros((6, 3)), "y": np.zeros(6)}, r"got data of shape \(6, 3\)"),
        (f"{SMALL}.npz", {"X": np.zeros((5, 2)), "y": np.zeros(5)}, r"got data of shape \(5, 2\)"),
        (f"{SMALL}.npz", {"X": np.zeros((6, 2))}, "must hold arrays X and y; there is no y"),
        (f"{SMALL}.dat", "1 2\n3 4\n", "has no line of 3 numbers: 2 features and the cluster"),
        (f"{SMALL}.dat", "1 2 0\n3 4\n", "lines that are not 3 numbers, after some that are"),
        (f"{SMALL}.dat", "1 2 0\n3 4 x\n", "lines that are not 3 numbers, after some that are"),
        (f"{SMALL}.dat", "", "has no line of 3 numbers"),
        (f"{SMALL}.csv", "a,b,c\n1,2,0\n", r"got data of shape \(1, 2\)"),
        (f"{SMALL}.csv", "a,b,c\n1,,0\n1,2,3\n", "1 missing value"),
    ],
)
def test_wrong_files(tmp_path, made_up, name, content, message):
    if isinstance(content, dict):
        np.savez(tmp_path / name, **content)
    else:
        (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=message):
        load_paper_set(SMALL, tmp_path)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("2d-4c", "'2d-4c-no0'"), ("Fashion MNIST", "'fashion-mnist'"), ("MNIST", "'mnist'")],
)
def test_unknown_names(name, hint):
    with pytest.raises(
        ValueError, match=f"no set {name!r}. Did you mean {hint}. It has: 2d-4c-no0"
    ):
        load_paper_set(name)
    with pytest.raises(ValueError, match=r"no set None\. It has"):
        load_paper_set(None)


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no folder '.*none'"):
        load_paper_set(SMALL, tmp_path / "none")
    files = re.escape("2d-4c-no0{.npz,.dat,.csv,.arff}")
    with pytest.raises(FileNotFoundError, match=f"there is no {files} in '.*' or '.*synthetic'"):
        load_paper_set(SMALL, tmp_path)
    with pytest.raises(FileNotFoundError, match=f"has {files}, or set ICVI_ARTMAP_DATA to it"):
        load_paper_set(SMALL)
    with pytest.raises(FileNotFoundError, match=r"in '.*real'\. With download=True it would be"):
        load_paper_set("mnist", tmp_path, download=False)


@pytest.mark.filterwarnings("ignore:Retry downloading", "ignore:A network error")
@pytest.mark.parametrize("name", ["olivetti", "mnist-test"])
def test_without_a_network(tmp_path, offline, name):
    file = "mnist" if name == "mnist-test" else name
    message = rf"there is no {file}{{.npz.* in '.*real'\. Nor could it be downloaded: is there a"
    with pytest.raises(FileNotFoundError, match=message):
        load_paper_set(name, tmp_path)


@pytest.mark.parametrize("name", [*SYNTHETIC, "olivetti", "usps", "mnist-test"])
def test_the_papers_data(shared_data, name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = load_paper_set(name, shared_data, download=False)
    known = PAPER_SETS[name]
    assert found.data.shape == known[:2]
    assert len(np.unique(found.target)) == known.n_clusters
    if name in SYNTHETIC:
        with np.load(shared_data / "synthetic" / f"{name}.npz") as file:
            assert_array_equal(found.data, file["X"])
            assert_array_equal(found.target, file["y"])


@pytest.mark.parametrize("suffix", [".dat", ".csv", ".arff", ".npz"])
@pytest.mark.parametrize("name", [SMALL, "10d-10c-no0", "ellipsoid.50d4c.1"])
def test_the_papers_data_with_six_digits(tmp_path, shared_data, name, suffix):
    given = load_paper_set(name, shared_data)
    n_features = given.data.shape[1]
    path = tmp_path / f"{name}{suffix}"
    if suffix == ".npz":
        np.savez(path, X=given.data.astype(np.float32), y=given.target + 1)
    else:
        delimiter = " " if suffix == ".dat" else ","
        head = {
            ".dat": f"{n_features}",
            ".csv": ",".join([*(f"x{j}" for j in range(n_features)), "class"]),
            ".arff": "\n".join(["@attribute a" + f"{j} real" for j in range(n_features)])
            + "\n@attribute class {" + ",".join(map(str, np.unique(given.target))) + "}\n@data",
        }[suffix]  # fmt: skip
        np.savetxt(
            path,
            np.column_stack([given.data, given.target]),
            fmt=["%.6g"] * n_features + ["%d"],
            delimiter=delimiter,
            header=head,
            comments="",
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = load_paper_set(name, tmp_path)
    np.testing.assert_allclose(found.data, given.data, rtol=1e-6)


def test_mnist_test_has_a_file_of_its_own_or_is_the_end_of_mnist(tmp_path, shared_data):
    own = load_paper_set("mnist-test", shared_data, download=False)
    np.savez(tmp_path / "mnist-test.npz", X=own.data.astype(np.uint8), y=own.target)
    shutil.copy(shared_data / "real" / "usps.npz", tmp_path / "mnist.npz")  # is not looked at
    again = load_paper_set("mnist-test", tmp_path, download=False)
    assert_array_equal(again.data, own.data)
    assert_array_equal(again.target, own.target)
