"""The command line on real tables: columns that are left out, gaps, transforms, categories."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import datasets

from cli_tools import blobs
from icvi_artmap import index_value, read_table, write_table
from icvi_artmap.cli.app import run as run_command
from icvi_artmap.datasets import make_gaussian_clusters
from icvi_artmap.preparation import fills, transforms


@pytest.fixture
def parsed(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """What a command prints as JSON."""

    def run(*arguments: str) -> Any:
        assert run_command([*map(str, arguments), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


@pytest.mark.parametrize("command", ["fit", "compare", "tune", "score"])
def test_columns_that_should_not_be_there(command: str, tmp_path: Path, parsed: Any) -> None:
    X, labels = blobs()
    rng = np.random.default_rng(0)
    numbers = np.append(rng.permutation(len(X) - 2), [3, 4])
    columns = {"no": numbers, "a": X[:, 0], "b": X[:, 1], "junk": rng.random(len(X))}
    write_table(tmp_path / "t.csv", {**columns, "target": labels})
    more = {"score": ["target"], "compare": ["-k", "3", "--methods", "k-means"]}
    options = more.get(command, ["-k", "3"])
    if command == "tune":
        options += ["--rho-a", "0", "--rho-ab", "1"]
    found = parsed(command, tmp_path / "t.csv", *options, "--exclude", "junk")
    assert found["columns"] == ["a", "b"]
    left_out = [note for note in found["notes"] if "left out" in note]
    assert "'no'" in left_out[0]
    assert command == "score" or "'target'" in left_out[1]


@pytest.fixture
def noted(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[str, str]]:
    """What a command prints, on standard output and standard error."""

    def run(*arguments: str | Path) -> tuple[str, str]:
        assert run_command([str(argument) for argument in arguments]) == 0
        out, err = capsys.readouterr()
        return " ".join(out.split()), err

    return run


def write_sklearn(folder: Path, name: str) -> Path:
    """One of scikit-learn's tables, with its classes in a column "kind"."""
    data = getattr(datasets, f"load_{name}")()
    columns = {
        str(key): column for key, column in zip(data.feature_names, data.data.T, strict=True)
    }
    write_table(folder / f"{name}.csv", {**columns, "kind": data.target})
    return folder / f"{name}.csv"


def test_skewed_columns_without_options(tmp_path: Path, parsed: Any, noted: Any) -> None:
    fit = ("fit", write_sklearn(tmp_path, "breast_cancer"), "-k", "2", "--label-column", "kind")
    found = parsed(*fit)
    assert found["transform"] == "clip"
    assert found["ari"] > 0.65
    assert parsed(*fit, "--transform", "none")["ari"] < 0.1
    chosen = parsed(*fit, "--transform", "auto")
    assert chosen["transform"] == "power"
    assert chosen["ari"] > 0.85
    assert (
        "Values beyond 3 robust deviations from the median were drawn in before" in noted(*fit)[0]
    )


def test_the_columns_are_told_in_their_units(tmp_path: Path, parsed: Any) -> None:
    data = write_sklearn(tmp_path, "breast_cancer")
    fit = ("fit", data, "-k", "2", "--label-column", "kind", "--model", tmp_path / "m.icvi")
    found = parsed(*fit, "--transform", "power")
    table = read_table(data, label_column="kind")
    labels = np.array(found["labels"])
    means = {one["name"]: one["mean"] for one in found["clusters"][0]["features"]}
    expected = table.X[labels == 0].mean(axis=0)
    np.testing.assert_allclose([means[name] for name in table.columns], expected, rtol=1e-9)
    facts = parsed("explain", tmp_path / "m.icvi", data, "--row", "7")
    assert facts["training_data"] is True
    values = [feature["value"] for feature in facts["rows"][0]["features"]]
    np.testing.assert_allclose(values, table.X[6])


def write_gaps(path: Path, n: int = 400, part: float = 0.03) -> Any:
    """Five clusters with gaps, and where these are."""
    X, y = make_gaussian_clusters(5, 3, n_samples=n, random_state=0)
    gaps = np.random.RandomState(0).random_sample(X.shape) < part
    X = np.where(gaps, np.nan, X)
    write_table(path, {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "kind": y})
    return X, y


@pytest.mark.parametrize("missing", ["mean", "median", "neighbours"])
def test_gaps_make_no_clusters(missing: str, tmp_path: Path, parsed: Any, noted: Any) -> None:
    X, _ = write_gaps(tmp_path / "t.csv", 1_000)
    model = tmp_path / "m.icvi"
    fit = ("fit", tmp_path / "t.csv", "--label-column", "kind", "--missing", missing)
    found = parsed(*fit, "--model", model)
    assert found["n_clusters"] == 5
    assert found["ari"] > 0.9
    assert found["rows_without_gaps"] == int((~np.isnan(X).any(axis=1)).sum())
    count = int(np.isnan(X).sum())
    assert any(f"{count} missing values were replaced by the" in note for note in found["notes"])
    again = parsed("predict", model, tmp_path / "t.csv")
    gaps = np.isnan(X).any(axis=1)
    assert np.array(again["labels"])[gaps].tolist() == np.array(found["labels"])[gaps].tolist()
    assert "rows without missing values; the other" in noted(*fit)[0]


def test_a_single_row_with_a_gap(tmp_path: Path, parsed: Any) -> None:
    """It gets the same cluster beside any other rows."""
    write_gaps(tmp_path / "t.csv")
    for missing in ("mean", "median", "neighbours"):
        model = tmp_path / f"{missing}.icvi"
        fit = ("fit", tmp_path / "t.csv", "-k", "5", "--exclude", "kind", "--missing", missing)
        parsed(*fit, "--model", model)
        labels = set()
        for more in ("", "9,9,9\n", "-90,,1\n,5,\n"):
            (tmp_path / "new.csv").write_text(f"a,b,c\n1.5,,-2\n{more}")
            for option in ((), ("--missing", "mean")):
                found = parsed("predict", model, tmp_path / "new.csv", *option)
                assert "by what the model has learned" in found["notes"][0]
                labels.add(found["labels"][0])
        assert len(labels) == 1
        (tmp_path / "new.csv").write_text("a,b,c\n1.5,,-2\n9,9,9\n")
        left = parsed("predict", model, tmp_path / "new.csv", "--missing", "drop")
        assert left["row_names"] == ["2"]
        assert run_command(
            ["predict", str(model), str(tmp_path / "new.csv"), "--missing", "refuse"]
        )


def test_a_model_that_leaves_out_rows(tmp_path: Path, parsed: Any) -> None:
    X, _ = write_gaps(tmp_path / "t.csv")
    model = tmp_path / "m.icvi"
    fit = ("fit", tmp_path / "t.csv", "-k", "5", "--exclude", "kind", "--missing", "drop")
    complete = int((~np.isnan(X).any(axis=1)).sum())
    assert parsed(*fit, "--model", model)["rows"] == complete
    assert parsed("predict", model, tmp_path / "t.csv")["rows"] == complete


@pytest.mark.parametrize("command", ["compare", "tune", "score"])
@pytest.mark.parametrize("missing", ["median", "neighbours"])
def test_gaps_in_other_commands(command: str, missing: str, tmp_path: Path, parsed: Any) -> None:
    X, y = write_gaps(tmp_path / "t.csv", 200)
    options = {
        "compare": ["-k", "5", "--methods", "k-means", "--exclude", "kind"],
        "tune": ["-k", "5", "--rho-a", "0", "--rho-ab", "1", "--exclude", "kind"],
        "score": ["kind"],
    }
    found = parsed(command, tmp_path / "t.csv", *options[command], "--missing", missing)
    assert found["columns"] == ["a", "b", "c"]
    if command == "score":
        coded = np.zeros(3, np.bool_)
        whole = fills.filled(X, fills.learn_fills(X, missing, coded), coded)
        clipped = transforms.learn_transform(whole, "clip", coded)
        expected = index_value(transforms.transformed(whole, clipped), y, "NI")
        assert found["values"]["NI"] == pytest.approx(expected)


def write_mixed(path: Path, n: int = 120) -> Any:
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    columns = {
        "width": rng.normal(size=n) + 3 * y,
        "colour": np.array(["red", "green", "blue"])[(y + (rng.random(n) < 0.1)) % 3],
        "name": [f"n{i}" for i in range(n)],
        "length": rng.normal(size=n) - 3 * y,
        "flag": (y == 2) * 1,
        "answer": rng.integers(1, 5, n),
        "species": np.array(["u", "v", "w"])[y],
    }
    write_table(path, columns)
    return columns


def test_categories_are_left_out_and_named(tmp_path: Path, parsed: Any) -> None:
    write_mixed(tmp_path / "t.csv")
    found = parsed("fit", tmp_path / "t.csv", "-k", "3")
    assert found["columns"] == ["width", "length", "answer"]
    assert found["notes"] == [
        "Text, left out: columns 'colour', 'name', 'species'.",
        "Two values only, left out: column 'flag'.",
        "Few different values, used as numbers: column 'answer'.",
    ]
    named = parsed("fit", tmp_path / "t.csv", "-k", "3", "--columns", "width,flag")
    assert named["columns"] == ["width", "flag"]


def test_categories_are_used(tmp_path: Path, parsed: Any, noted: Any) -> None:
    columns = write_mixed(tmp_path / "t.csv")
    model = tmp_path / "m.icvi"
    fit = ("fit", tmp_path / "t.csv", "-k", "3", "--categories", "use", "--index", "CH")
    found = parsed(*fit, "--exclude", "answer", "--model", model, "--report", tmp_path / "r.html")
    assert found["columns"] == ["width", "colour", "length", "flag"]
    assert "Used as categories: columns 'colour', 'flag'." in found["notes"]
    assert any("'species'. To compare with them" in note for note in found["notes"])
    names = {one["name"] for one in found["clusters"][0]["features"]}
    assert {"colour = red", "flag = 1", "width"} <= names
    assert "colour = red" in (tmp_path / "r.html").read_text()
    again = parsed("predict", model, tmp_path / "t.csv")
    assert (np.array(again["labels"]) == found["labels"]).mean() > 0.95
    facts = parsed("explain", model, tmp_path / "t.csv", "--row", "5")
    assert facts["training_data"] is True
    row = [columns[name][0] for name in ("width", "length", "flag")]
    text = f"width,colour,length,flag\n{row[0]},violet,{row[1]},{row[2]}\n"
    (tmp_path / "new.csv").write_text(text)
    new = parsed("predict", model, tmp_path / "new.csv")
    assert new["labels"] == again["labels"][:1]
    assert new["notes"] == ["Not in the training data, so without effect: 'violet' of 'colour'."]


def test_categories_with_gaps(tmp_path: Path, parsed: Any) -> None:
    write_mixed(tmp_path / "t.csv")
    lines = (tmp_path / "t.csv").read_text().splitlines()
    for at, word in ((4, "red"), (8, "green"), (9, "blue")):
        lines[at] = lines[at].replace(word, "NA")
    (tmp_path / "t.csv").write_text("\n".join(lines))
    fit = ("fit", tmp_path / "t.csv", "-k", "3", "--categories", "use", "--index", "CH")
    model = tmp_path / "m.icvi"
    found = parsed(*fit, "--missing", "neighbours", "--model", model)
    assert any("missing value" in note and "'colour'" in note for note in found["notes"])
    assert len(parsed("predict", model, tmp_path / "t.csv")["labels"]) == 120
    assert run_command([*map(str, fit)]) == 2


@pytest.mark.parametrize("suffix", [".arff", ".parquet", ".tsv"])
def test_categories_in_other_formats(suffix: str, tmp_path: Path, parsed: Any) -> None:
    columns = write_mixed(tmp_path / "t.csv")
    write_table(tmp_path / f"t{suffix}", columns)
    fit = ("-k", "3", "--categories", "use", "--index", "CH")
    expected = parsed("fit", tmp_path / "t.csv", *fit)
    assert parsed("fit", tmp_path / f"t{suffix}", *fit)["labels"] == expected["labels"]


def test_clusters_that_are_one_column_are_told(tmp_path: Path, parsed: Any, noted: Any) -> None:
    rng = np.random.default_rng(0)
    sex = np.arange(200) % 2
    columns = {"a": 9.0 * sex + rng.normal(size=200), "b": rng.normal(size=200), "sex": sex}
    write_table(tmp_path / "t.csv", columns)
    fit = ("fit", tmp_path / "t.csv", "-k", "2")
    found = parsed(*fit)
    assert "sex" not in found["columns"]
    assert found["cautions"] == []
    every = ("--columns", ",".join(columns))
    assert "just the values of 'sex'" in parsed(*fit, *every)["cautions"][0]
    out, err = noted(*fit, *every)
    assert "just the values of 'sex'" in out
    assert "just the values" not in err
