"""The command line: what it computes, prints and writes, and how it ends."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import icvi_artmap
from cli_tools import PROGRAM, blobs, environment, write_blobs
from icvi_artmap import (
    ICVIARTMAP,
    FuzzyART,
    __version__,
    index_value,
    load,
    read_table,
    save,
    write_table,
)
from icvi_artmap._support.callbacks import watching
from icvi_artmap.cli import demo as demonstrating
from icvi_artmap.cli import fit as fitting
from icvi_artmap.cli import methods
from icvi_artmap.cli.app import run
from icvi_artmap.cli.common import IndexName, parse_clusters, parse_names
from icvi_artmap.cli.output import Bar, watch_fit
from icvi_artmap.indices.registry import INDICES, PAPER

#: Seconds that a process may take to start on a busy machine.
PATIENCE = 120
WINDOWS = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes are others there")

Printed = Callable[..., tuple[str, str]]


@pytest.fixture
def printed(capfd: pytest.CaptureFixture[str]) -> Printed:
    """Runs a command that must succeed; what it prints on the two streams."""

    def call(*arguments: str | Path) -> tuple[str, str]:
        capfd.readouterr()
        code = run([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        assert code == 0, err
        return out, err

    return call


@pytest.fixture
def parsed(printed: Printed) -> Callable[..., Any]:
    """Runs a command with --json; the object, which must be all that is printed."""

    def call(*arguments: str | Path) -> Any:
        out, err = printed(*arguments, "--json")
        assert err == ""
        assert out.count("\n") == 1
        return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))

    return call


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_blobs(tmp_path / "data.csv")
    return tmp_path / "data.csv"


@pytest.fixture(scope="session")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data.csv and the model of them, fitted by the command."""
    folder = tmp_path_factory.mktemp("fitted")
    write_blobs(folder / "data.csv")
    arguments = ["fit", folder / "data.csv", "-k", "3", "--model", folder / "model.icvi", "-q"]
    assert run([str(argument) for argument in arguments]) == 0
    return folder


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def write_far(folder: Path) -> tuple[Path, NDArray[np.float64], NDArray[np.int64]]:
    """Three clusters, and six rows anywhere around them, as a file."""
    X, truth = blobs()
    far = np.random.default_rng(1).uniform(-8.0, 18.0, (6, 2))
    X, truth = np.concatenate([X, far]), np.append(truth, [0, 1, 2, 0, 1, 2])
    kinds = np.array(["red", "green", "blue"])[truth]
    path = folder / "far.csv"
    write_table(path, {"width": X[:, 0], "length": X[:, 1], "kind": kinds})
    return path, X, truth


def same_partition(a: Any, b: Any) -> bool:
    return bool(adjusted_rand_score(a, b) == 1.0)


# --- the program ---------------------------------------------------------------------------------


def test_version(printed: Printed) -> None:
    assert printed("--version") == (f"icvi-artmap {__version__}\n", "")


def test_no_arguments_shows_the_commands(printed: Printed) -> None:
    out, err = printed()
    names = ("fit", "predict", "explain", "score", "compare", "tune", "generate", "demo", "warmup")
    assert all(f"\n  {name} " in out for name in (*names, "info"))
    assert err == ""


def test_info_as_json(printed: Printed) -> None:
    assert json.loads(printed("info", "--json")[0])["icvi-artmap"] == __version__


def test_help_imports_nothing_large() -> None:
    program = (
        "import sys\nfrom icvi_artmap.cli.app import run\nrun(['fit', '--help'])\n"
        "large = {'numpy', 'numba', 'scipy', 'sklearn', 'rich', 'pandas'} & set(sys.modules)\n"
        "assert not large, large"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_completion() -> None:
    more = {
        "_ICVI_ARTMAP_COMPLETE": "complete_bash",
        "COMP_WORDS": "icvi-artmap pre",
        "COMP_CWORD": "1",
    }
    program = [sys.executable, "-c", "from icvi_artmap.cli import main; main()"]
    done = subprocess.run(program, env=environment(**more), capture_output=True, text=True)
    assert done.stdout.split() == ["predict"]


def test_names_of_indices_are_those_of_the_registry() -> None:
    assert [name.value for name in IndexName] == list(INDICES)
    assert all(index.purpose and index.name == name for name, index in INDICES.items())


def test_number_of_clusters_as_typed() -> None:
    assert parse_clusters("auto") == "auto"
    assert parse_clusters(" 7 ") == 7
    assert parse_clusters("2:20") == range(2, 21)


def test_names_of_columns_as_typed() -> None:
    assert parse_names(None) is None
    assert parse_names(["a, b", "c*"]) == ["a", "b", "c*"]
    assert parse_names(['"a, b",c']) == ["a, b", "c"]


# --- fit -----------------------------------------------------------------------------------------


def test_fit_finds_what_is_there(data: Path, printed: Printed) -> None:
    """k is chosen; labels, model and report are written, and agree with each other."""
    folder = data.parent
    _, truth = blobs()
    out, err = printed(
        *("fit", data, "-o", folder / "labels.csv", "--model", folder / "m.icvi"),
        *("--report", folder / "r.html", "--label-column", "kind", "--id-column", "name"),
    )
    assert "data.csv: 75 rows, 2 columns used" in out
    assert "3 is the best number of clusters from 2 to " in out
    assert "agreement 1.00" in out
    assert "NI ↓" in out
    assert "width is far higher (mean " in out
    assert "Written: " in out
    assert f"icvi-artmap predict {folder / 'm.icvi'}" in out.replace("\n", "")
    assert err == "note: Constant, left out: column 'year'.\n"
    rows = rows_of((folder / "labels.csv").read_text())
    assert [row["name"] for row in rows] == [f"s{i:02d}" for i in range(75)]
    labels = [int(row["cluster"]) for row in rows]
    assert same_partition(labels, truth)
    model = load(folder / "m.icvi")
    assert model.feature_names_in_.tolist() == ["width", "length"]
    assert model.labels_.tolist() == labels
    report = (folder / "r.html").read_text()
    assert "Clusters of data.csv" in report
    assert "--label-column kind" in report  # the command that makes it again
    assert not list(folder.glob(".*"))


def test_fit_is_the_fit_of_the_library(data: Path, parsed: Any) -> None:
    X, _ = blobs()
    facts = parsed("fit", data, "-k", "4", "--index", "ch", "--seed", "5", "--starts", "2")
    model = ICVIARTMAP(4, index="CH", random_state=5, n_init=2).fit(X)
    assert facts["labels"] == model.labels_.tolist()
    assert facts["index_value"] == pytest.approx(model.index_value_, rel=1e-12)
    assert facts["index"] == "CH"
    assert facts["better"] == "greater"
    assert [cluster["rows"] for cluster in facts["clusters"]] == np.bincount(model.labels_).tolist()
    assert sum(cluster["share"] for cluster in facts["clusters"]) == pytest.approx(1.0)
    assert "selection" not in facts
    assert "ari" not in facts


@pytest.mark.parametrize(("option", "refine"), [("--refine", True), ("--no-refine", False)])
def test_fit_refines_or_not(option: str, refine: bool, tmp_path: Path, parsed: Any) -> None:
    X = np.random.default_rng(1).normal(size=(200, 2))
    icvi_artmap.write_table(tmp_path / "data.npy", {"a": X[:, 0], "b": X[:, 1]})
    facts = parsed("fit", tmp_path / "data.npy", "-k", "6", option, "--transform", "none")
    values = {
        given: ICVIARTMAP(6, refine=given, random_state=0).fit(X).index_value_
        for given in (True, False)
    }
    assert values[True] != values[False]
    assert facts["index_value"] == values[refine]


@pytest.fixture
def rings(tmp_path: Path) -> Path:
    X, ring = make_circles(300, factor=0.4, noise=0.03, random_state=0)
    columns = {"x": X[:, 0], "y": X[:, 1], "ring": np.array(["inner", "outer"])[ring]}
    write_table(tmp_path / "rings.csv", columns)
    return tmp_path / "rings.csv"


def test_fit_finds_clusters_of_any_shape(rings: Path, parsed: Any, printed: Printed) -> None:
    arguments = ("fit", rings, "-k", "2", "--label-column", "ring")
    facts = parsed(*arguments, "--shape", "any")
    X = read_table(rings, label_column="ring").X
    model = ICVIARTMAP(2, shape="any", random_state=0).fit(X)
    assert facts["ari"] == 1.0
    assert facts["noise"] == 0
    assert facts["components"]["n_components"] == len(model.components_.weights)
    assert facts["components"]["clusters"] == model.components_.clusters.tolist()
    assert facts["components"]["joins"]["prominence"] == model.joins_.prominence.tolist()
    assert facts["components"]["joins"]["made"] == model.joins_.made.tolist()
    out, _ = printed(*arguments, "--shape", "any")
    told = f"joined of {len(model.components_.weights)} components"
    assert f"The 300 rows fall into 2 clusters, {told}" in " ".join(out.split())
    assert parsed(*arguments, "--shape", "auto")["ari"] == 1.0
    plain = parsed(*arguments)
    assert plain["ari"] < 0.5
    assert "components" not in plain


def test_fit_asks_for_noise_only_if_told(rings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def stop(given: Any, settings: dict[str, Any], kept: Any, bar: Any) -> None:
        asked.append(settings)
        raise ValueError("no further")

    monkeypatch.setattr(fitting, "fit_model", stop)
    for arguments in (["--noise"], []):
        assert run(["fit", str(rings), *arguments]) == 2
    assert asked[0].pop("noise") is True
    assert asked[1].pop("noise") is False
    assert asked[0] == asked[1]


def test_rows_that_are_noise_are_told(tmp_path: Path, parsed: Any, printed: Printed) -> None:
    data, X, truth = write_far(tmp_path)
    arguments = ("fit", data, "-k", "3", "--label-column", "kind", "--noise")
    facts = parsed(*arguments)
    model = ICVIARTMAP(3, noise=True, random_state=0).fit(X)
    placed = model.labels_ >= 0
    assert 0 < np.count_nonzero(~placed) <= 6
    assert facts["labels"] == model.labels_.tolist()
    assert facts["noise"] == np.count_nonzero(~placed)
    held = [np.count_nonzero(model.labels_ == i) for i in range(3)]
    assert [cluster["rows"] for cluster in facts["clusters"]] == held
    assert facts["ari"] == pytest.approx(adjusted_rand_score(truth[placed], model.labels_[placed]))
    out = " ".join(printed(*arguments)[0].split())
    assert f"The {np.count_nonzero(placed)} rows fall into 3 clusters" in out
    assert f"{np.count_nonzero(~placed)} rows" in out
    assert "lie far from all clusters: noise, which belongs to none." in out


def test_fit_chooses_from_a_range(data: Path, parsed: Any) -> None:
    facts = parsed("fit", data, "-k", "2:3", "--label-column", "kind")
    assert facts["selection"]["k"] == [2, 3]
    assert facts["n_clusters"] == 3
    assert facts["selection"]["clear"] is True
    assert facts["ari"] == 1.0


def test_fit_uses_the_columns_asked_for(data: Path, parsed: Any) -> None:
    facts = parsed("fit", data, "-k", "2", "--columns", "len*, width")
    assert facts["columns"] == ["length", "width"]
    assert parsed("fit", data, "-k", "2", "-c", "width")["columns"] == ["width"]


def test_rows_left_out_keep_their_numbers(data: Path, printed: Printed, tmp_path: Path) -> None:
    lines = data.read_text().splitlines()
    cells = lines[3].split(",")
    lines[3] = ",".join([cells[0], "", *cells[2:]])
    data.write_text("\n".join(lines))
    arguments = ("fit", data, "-k", "3", "--missing", "drop", "-o", tmp_path / "o.csv")
    _, err = printed(*arguments, "--labels-only")
    assert "1 of 75 rows with missing values were left out" in err
    rows = [row["row"] for row in rows_of((tmp_path / "o.csv").read_text())]
    assert rows == [str(i) for i in range(1, 76) if i != 3]


def test_groups_that_are_not_known_everywhere(data: Path, parsed: Any) -> None:
    text = data.read_text()
    first = text.splitlines()[1]
    data.write_text(text.replace(first, first.rsplit(",", 1)[0] + ","))
    assert parsed("fit", data, "-k", "3", "--label-column", "kind")["ari"] == 1.0


def test_labels_on_standard_output(data: Path, printed: Printed) -> None:
    out, err = printed("fit", data, "-k", "3", "-o", "-")
    assert same_partition([row["cluster"] for row in rows_of(out)], blobs()[1])
    assert "The 75 rows fall into 3 clusters" in err
    out, err = printed("fit", data, "-k", "3", "-o", "-", "--quiet")
    assert len(rows_of(out)) == 75
    assert err == ""


def test_quiet_prints_nothing(
    data: Path, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ICVI_ARTMAP_QUIET")
    assert printed("fit", data, "-k", "3", "--quiet") == ("", "")
    assert "ICVI_ARTMAP_QUIET" not in os.environ


def test_a_doubtful_choice_is_told_once_and_in_words(tmp_path: Path, printed: Printed) -> None:
    X = np.random.default_rng(0).normal(size=(150, 2))
    icvi_artmap.write_table(tmp_path / "one.csv", {"a": X[:, 0], "b": X[:, 1]})
    out, err = printed("fit", tmp_path / "one.csv")
    assert "look like a single cluster" in " ".join(out.split())
    assert err == ""


@pytest.mark.parametrize(("k", "first"), [("auto", "choosing k: 1"), (3, "run 1 of 2, epoch 1 of")])
def test_the_bar_follows_the_fit(k: Any, first: str) -> None:
    texts: list[str] = []
    done, total = [0], [0]

    def update(**changes: Any) -> None:
        texts.extend(text for name, text in changes.items() if name == "description")
        done.append(changes.get("completed", done[-1] + changes.get("advance", 0)))
        total.append(changes.get("total", total[-1]))

    X, _ = blobs()
    with warnings.catch_warnings(), watching(watch_fit(Bar(update))):
        warnings.simplefilter("ignore")
        model = ICVIARTMAP(k, n_init=1 if k == "auto" else 2, random_state=0).fit(X)
    assert texts[0].startswith(first)
    assert "refining" in texts
    assert done[-1] == total[-1] > 0
    if k == "auto":
        assert f"choosing k: {model.selection_.k[-1]}" in texts


def test_names_are_printed_as_they_are(tmp_path: Path, printed: Printed) -> None:
    X, _ = blobs()
    columns = {"[bold]a": X[:, 0], ":smile:": X[:, 1]}
    icvi_artmap.write_table(tmp_path / "odd.csv", columns)
    out, _ = printed("fit", tmp_path / "odd.csv", "-k", "3")
    assert "[bold]a is" in out
    assert ":smile: is" in out


def test_constant_columns_make_no_difference(data: Path, parsed: Any) -> None:
    """They do to NI itself, which counts features."""
    X, _ = blobs()
    constant = np.column_stack([X, np.full(len(X), 7.0)])
    facts = parsed("fit", data, "-k", "3")
    assert facts["index_value"] == index_value(X, facts["labels"], "NI", resolution="learn")
    assert facts["index_value"] != index_value(constant, facts["labels"], "NI")
    assert facts["notes"][-1] == "Constant, left out: column 'year'."


def test_what_is_no_number_is_null(tmp_path: Path, parsed: Any) -> None:
    """A column that is constant within both clusters has an infinite effect."""
    X, labels = blobs()
    two = labels < 2
    columns = {"a": X[two, 1], "flag": labels[two]}
    icvi_artmap.write_table(tmp_path / "flag.csv", columns)
    both = ("--columns", "a,flag")  # a column of two values is left out otherwise
    facts = parsed("fit", tmp_path / "flag.csv", "-k", "2", "--index", "CH", *both)
    effects = {
        feature["name"]: feature["effect"]
        for cluster in facts["clusters"]
        for feature in cluster["features"]
    }
    assert effects["flag"] is None
    assert isinstance(effects["a"], float)


# --- predict and explain -------------------------------------------------------------------------


def test_predict_is_that_of_the_model(fitted: Path, parsed: Any, printed: Printed) -> None:
    X, _ = write_blobs(fitted / "new.csv", seed=3)
    model = load(fitted / "model.icvi")
    del model.feature_names_in_  # which scikit-learn would miss in X
    expected = model.predict(X).tolist()
    facts = parsed("predict", fitted / "model.icvi", fitted / "new.csv", "--id-column", "name")
    assert facts["labels"] == expected
    assert facts["row_names"][:2] == ["s00", "s01"]
    out, err = printed("predict", fitted / "model.icvi", fitted / "new.csv")
    assert [int(row["cluster"]) for row in rows_of(out)] == expected
    assert [row["row"] for row in rows_of(out)][:2] == ["1", "2"]
    assert err == ""
    out, _ = printed("predict", fitted / "model.icvi", fitted / "new.csv", "-o", fitted / "p.npz")
    assert "Written: " in out
    with np.load(fitted / "p.npz") as written:
        assert written["cluster"].tolist() == expected


def test_predict_finds_columns_by_name(fitted: Path, parsed: Any, tmp_path: Path) -> None:
    X, _ = blobs()
    columns = {"length": X[:, 1], "more": X[:, 0] ** 2, "width": X[:, 0]}
    icvi_artmap.write_table(tmp_path / "turned.csv", columns)
    facts = parsed("predict", fitted / "model.icvi", tmp_path / "turned.csv")
    model = load(fitted / "model.icvi")
    del model.feature_names_in_
    assert facts["labels"] == model.predict(X).tolist()


def test_predict_by_another_kind_of_model(tmp_path: Path, parsed: Any) -> None:
    X, _ = blobs()
    model = FuzzyART(0.7).fit(X)
    save(model, tmp_path / "art.icvi")
    np.save(tmp_path / "x.npy", X)
    facts = parsed("predict", tmp_path / "art.icvi", tmp_path / "x.npy")
    assert facts["labels"] == model.predict(X).tolist()


def test_explain_a_row_of_the_training_data(fitted: Path, parsed: Any, printed: Printed) -> None:
    X, _ = blobs()
    model = load(fitted / "model.icvi")
    del model.feature_names_in_
    expected = icvi_artmap.explain(model, X[[4]], samples=[4])
    facts = parsed("explain", fitted / "model.icvi", fitted / "data.csv", "--row", "5")
    assert facts["training_data"] is True
    (row,) = facts["rows"]
    assert row["row"] == "5"
    assert row["index_values"] == expected.index_values[0].tolist()
    assert row["best"] == row["cluster"] == model.labels_[4]
    assert [feature["name"] for feature in row["features"]] == ["width", "length"]
    out, _ = printed(
        *("explain", fitted / "model.icvi", fitted / "data.csv"),
        *("--row", "s04", "--row", "s10", "--id-column", "name"),
    )
    assert f"row s04 is in cluster {model.labels_[4]}" in out
    assert "Sample s10 fits cluster" in out
    assert "width = " in out or "length = " in out


def test_explain_new_rows(fitted: Path, parsed: Any, tmp_path: Path) -> None:
    X, _ = write_blobs(tmp_path / "new.csv", seed=4)
    model = load(fitted / "model.icvi")
    del model.feature_names_in_
    facts = parsed("explain", fitted / "model.icvi", tmp_path / "new.csv", "--row", "1")
    assert facts["training_data"] is False
    expected = icvi_artmap.explain(model, X[[0]])
    assert facts["rows"][0]["index_values"] == expected.index_values[0].tolist()


def write_with_gaps(path: Path, rows: list[tuple[str, str]]) -> Path:
    """A table of widths and lengths as they are typed."""
    path.write_text("width,length\n" + "".join(f"{a},{b}\n" for a, b in rows))
    return path


def test_a_gap_is_filled_from_the_training_data(fitted: Path, parsed: Any, tmp_path: Path) -> None:
    """The same row gets the same cluster, whatever rows are beside it."""
    model = load(fitted / "model.icvi")
    del model.feature_names_in_
    means = blobs()[0].mean(axis=0)
    row = ("9.5", "")
    (expected,) = model.predict([[9.5, means[1]]]).tolist()
    for others in ([], [("0", "900")], [("0", "-900"), ("1", "-900")]):
        data = write_with_gaps(tmp_path / "new.csv", [row, *others])
        facts = parsed("predict", fitted / "model.icvi", data, "--missing", "mean")
        assert facts["labels"][0] == expected
        assert facts["notes"] == [
            "1 missing value was replaced by the mean of the training data (column 'length')."
        ]
        facts = parsed("explain", fitted / "model.icvi", data, "--row", "1", "--missing", "mean")
        values = [feature["value"] for feature in facts["rows"][0]["features"]]
        np.testing.assert_allclose(values, [9.5, means[1]], rtol=1e-12)
    data = write_with_gaps(tmp_path / "new.csv", [("", "")])
    (expected,) = model.predict([means]).tolist()
    assert parsed("predict", fitted / "model.icvi", data, "--missing", "mean")["labels"] == [
        expected
    ]


def test_a_gap_is_filled_without_names_of_columns(
    parsed: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    X, _ = blobs()
    model = ICVIARTMAP(3, random_state=0).fit(X)
    save(model, tmp_path / "model.icvi")
    predict = (
        "predict",
        str(tmp_path / "model.icvi"),
        str(tmp_path / "x.npy"),
        "--missing",
        "mean",
    )
    np.save(tmp_path / "x.npy", [[9.5, np.nan]])
    expected = model.predict([[9.5, X[:, 1].mean()]]).tolist()
    assert parsed(*predict)["labels"] == expected
    np.save(tmp_path / "x.npy", [[9.5, np.nan, 1.0]])
    capfd.readouterr()
    assert run(list(predict)) == 2
    assert "was fitted on 2 of them, but 'x.npy' has more or fewer" in capfd.readouterr().err


def test_training_data_with_gaps_are_known_again(parsed: Any, tmp_path: Path) -> None:
    rows = [(f"{a}", f"{b}") for a, b in blobs()[0]]
    rows[3] = (rows[3][0], "")
    data = write_with_gaps(tmp_path / "data.csv", rows)
    model = tmp_path / "model.icvi"
    fit = parsed("fit", data, "-k", "3", "--missing", "mean", "--model", model)
    facts = parsed("explain", model, data, "--row", "4", "--missing", "mean")
    assert facts["training_data"] is True
    assert parsed("predict", model, data, "--missing", "mean")["labels"] == fit["labels"]


def test_a_model_without_means_fills_no_gap(
    tmp_path: Path, parsed: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    X, _ = blobs()
    save(FuzzyART(0.7).fit(X), tmp_path / "art.icvi")
    predict = ("predict", str(tmp_path / "art.icvi"))
    data = write_with_gaps(tmp_path / "new.csv", [("1", "2"), ("3", "4.5")])
    assert len(parsed(*predict, data, "--missing", "mean")["labels"]) == 2
    data = write_with_gaps(tmp_path / "new.csv", [("1", "2"), ("", "4.5")])
    capfd.readouterr()
    assert run([*predict, str(data), "--missing", "mean"]) == 2
    assert "a FuzzyART keeps no means of its training data" in capfd.readouterr().err
    assert len(parsed(*predict, data, "--missing", "drop")["labels"]) == 1


def test_names_do_not_command_the_terminal(
    tmp_path: Path, printed: Printed, parsed: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    X, _ = blobs()
    evil = "\x1b[31mred\x9b2J"
    columns = {
        evil: X[:, 0],
        "b": X[:, 1],
        f"{evil}t": ["x"] * 75,
        "n": [f"{evil}{i}" for i in range(75)],
    }
    data, model = tmp_path / "data.csv", tmp_path / "model.icvi"
    icvi_artmap.write_table(data, columns)
    out, err = printed("fit", data, "-k", "3", "--model", model, "--id-column", "n")
    assert r"\x1b[31mred\x9b2J" in out
    assert r"\x1b[31mred\x9b2Jt" in err
    more, _ = printed("explain", model, data, "--row", f"{evil}1", "--id-column", "n")
    assert r"\x1b[31mred\x9b2J1" in more
    facts = parsed("predict", model, data, "--id-column", "n")
    assert facts["row_names"][0] == f"{evil}0"
    as_json, _ = printed("predict", model, data, "--id-column", "n", "--json")
    assert run(["fit", str(data), "--columns", f"{evil}x"]) == 2
    assert run([f"{evil}"]) == 2
    failed = capfd.readouterr().err
    assert failed.count(r"\x1b[31mred") >= 2
    for text in (out, err, more, as_json, failed):
        assert "\x1b" not in text
        assert "\x9b" not in text


# --- score ---------------------------------------------------------------------------------------


def test_score_gives_all_indices(data: Path, parsed: Any, printed: Printed) -> None:
    X, truth = blobs()
    facts = parsed("score", data, "kind")
    expected = {name: index_value(X, truth, name, resolution="learn") for name in INDICES}
    assert facts["values"] == pytest.approx(expected, rel=1e-12)  # clusters are in another order
    assert {way for way in facts["better"].values()} == {"greater", "smaller"}
    assert facts["better"]["CH"] == "greater"
    out, err = printed("score", data, "kind")
    assert "75 rows in 3 clusters of 25 to 25" in out
    assert "CH ↑" in out
    assert "DB ↓" in out
    assert err == "note: Text, left out: column 'name'.\nnote: Constant, left out: column 'year'.\n"


def test_score_of_a_file(data: Path, parsed: Any, tmp_path: Path) -> None:
    """By position, by row numbers, or by names, in any order."""
    X, truth = blobs()
    other = np.roll(truth, 5)
    expected = index_value(X, other, "NI", resolution="learn")
    turned = np.random.default_rng(0).permutation(75)
    names = np.array([f"s{i:02d}" for i in range(75)])
    np.save(tmp_path / "labels.npy", other)
    icvi_artmap.write_table(tmp_path / "plain.csv", {"group": other})
    by_row = {"row": turned + 1, "cluster": other[turned], "remark": turned}
    icvi_artmap.write_table(tmp_path / "rows.csv", by_row)
    icvi_artmap.write_table(
        tmp_path / "names.csv", {"cluster": other[turned], "name": names[turned]}
    )
    np.savez(tmp_path / "both.npz", X=X, y=other)
    for file in ("labels.npy", "plain.csv", "rows.csv", "both.npz"):
        facts = parsed("score", data, tmp_path / file, "--label-column", "kind")
        assert facts["values"]["NI"] == expected, file
        assert facts["ari"] == adjusted_rand_score(truth, other), file
    facts = parsed("score", data, tmp_path / "names.csv", "--id-column", "name")
    assert facts["values"]["NI"] == expected


def test_score_of_a_column_against_another(tmp_path: Path, parsed: Any) -> None:
    X, truth = blobs()
    other = np.roll(truth, 5)
    columns = {"a": X[:, 0], "mine": other, "b": X[:, 1], "theirs": truth}
    icvi_artmap.write_table(tmp_path / "data.csv", columns)
    facts = parsed("score", tmp_path / "data.csv", "mine", "--label-column", "theirs")
    assert facts["columns"] == ["a", "b"]
    assert facts["values"]["XB"] == index_value(X, other, "XB")
    assert facts["ari"] == adjusted_rand_score(truth, other)


def test_labels_of_fit_score_as_the_fit_did(data: Path, parsed: Any, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    found = parsed("fit", data, "-k", "3", "-o", labels)
    assert parsed("score", data, labels)["values"]["NI"] == found["index_value"]


# --- compare, tune -------------------------------------------------------------------------------


def test_compare_on_clusters_that_all_find(data: Path, parsed: Any, printed: Printed) -> None:
    X, truth = blobs()
    arguments = [
        "compare",
        data,
        "-k",
        "3",
        "--methods",
        "NI,k-means,GMM,ward",
        "-c",
        "width,length",
    ]
    facts = parsed(*arguments, "--label-column", "kind")
    assert [row["method"] for row in facts["methods"]] == ["NI", "k-means", "gmm", "ward"]
    for row in facts["methods"]:
        assert row["ari"] == 1.0
        assert row["NI"] == pytest.approx(index_value(X, truth, "NI", resolution="learn"))
        assert row["stability"] == (None if row["method"] == "ward" else 1.0)
    assert np.array(facts["agreement"]["ari"]).tolist() == np.ones((4, 4)).tolist()
    out, _ = printed(*arguments)
    assert "ARTMAP-NI" in out
    assert "ARI:" not in out
    assert out.count("100") >= 12


def test_compare_all_methods(data: Path, parsed: Any) -> None:
    facts = parsed("compare", data, "-k", "3", "--label-column", "kind", "--seed", "4294967295")
    by_name = {row["method"]: row for row in facts["methods"]}
    assert list(by_name) == [one.name for one in methods.all_methods() if one.by_default]
    assert [name for name in by_name if name in INDICES] == list(PAPER)
    for name in ("NI", "CH", "WB", "k-means", "gmm", "spectral", "ward", "average", "hdbscan"):
        assert adjusted_rand_score(by_name[name]["labels"], blobs()[1]) > 0.8, name
    alike = np.array(facts["agreement"]["ari"])
    assert np.array_equal(alike, alike.T)
    assert (alike.diagonal() == 1.0).all()


def test_compare_treats_noise_fairly(tmp_path: Path, printed: Printed, parsed: Any) -> None:
    data, X, truth = write_far(tmp_path)
    found = HDBSCAN(copy=True).fit(StandardScaler().fit_transform(X)).labels_
    placed = found >= 0
    assert 0 < np.count_nonzero(~placed) < 20
    arguments = ("compare", data, "-k", "3", "--label-column", "kind")
    arguments = (*arguments, "--methods", "k-means,hdbscan")
    kmeans, hdbscan = parsed(*arguments)["methods"]
    assert hdbscan["labels"] == found.tolist()
    assert hdbscan["k"] == len(set(found[placed]))
    assert hdbscan["noise"] == pytest.approx(np.mean(~placed))
    assert hdbscan["ari"] == pytest.approx(adjusted_rand_score(truth[placed], found[placed]))
    assert hdbscan["CH"] == pytest.approx(index_value(X[placed], found[placed], "CH"))
    assert kmeans["noise"] == 0.0
    agreement = parsed(*arguments)["agreement"]["ari"][0][1]
    labels = np.array(kmeans["labels"])
    assert agreement == pytest.approx(adjusted_rand_score(labels[placed], found[placed]))
    out, err = printed(*arguments)
    assert f"{round(100 * np.mean(~placed))}%" in out
    assert f"hdbscan takes {np.count_nonzero(~placed)} of 81 rows for noise" in err


def test_compare_of_rows_that_are_all_noise(tmp_path: Path, printed: Printed) -> None:
    np.save(tmp_path / "few.npy", np.random.default_rng(0).uniform(size=(12, 2)))
    methods_asked = "hdbscan,k-means"
    out, err = printed("compare", tmp_path / "few.npy", "-k", "2", "--methods", methods_asked)
    assert "hdbscan takes all rows for noise." in err
    assert "hdbscan" not in out


def test_compare_clusters_of_any_shape(rings: Path, parsed: Any, printed: Printed) -> None:
    arguments = ("compare", rings, "-k", "2", "--label-column", "ring", "--methods", "NI,any-shape")
    plain, joined = parsed(*arguments)["methods"]
    assert plain["ari"] < 0.5
    assert joined["ari"] == 1.0
    assert "ARTMAP-any-shape: iCVI-ARTMAP, any shape." in " ".join(printed(*arguments)[0].split())


def test_compare_tells_how_stable_methods_are(tmp_path: Path, parsed: Any) -> None:
    X = np.random.default_rng(0).uniform(size=(80, 2))
    np.save(tmp_path / "noise.npy", X)
    facts = parsed("compare", tmp_path / "noise.npy", "-k", "7", "--methods", "k-means,fuzzy-art")
    for row in facts["methods"]:
        assert -0.5 < row["stability"] < 1.0


def test_compare_leaves_out_what_takes_the_square(
    data: Path, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(methods, "SQUARE_ROWS", 74)
    out, err = printed("compare", data, "-k", "3", "--methods", "k-means,spectral,ward")
    assert "k-means" in out
    assert "ward" not in out
    assert (
        "Left out, since time or memory grow with the square of the 75 rows: spectral, ward" in err
    )


def test_compare_goes_on_if_a_method_fails(tmp_path: Path, printed: Printed) -> None:
    np.save(tmp_path / "few.npy", np.array([[0.0], [0.1], [5.0], [5.1]]))
    out, err = printed("compare", tmp_path / "few.npy", "-k", "2", "--methods", "hdbscan,k-means")
    assert "note: hdbscan failed: " in err
    assert "k-means" in out


def test_tune_is_the_search_of_the_library(data: Path, parsed: Any, tmp_path: Path) -> None:
    X, _ = blobs()
    grid = ("--rho-a", "0,0.9", "--rho-ab", "0.5, 1")
    store, model = tmp_path / "runs.jsonl", tmp_path / "best.icvi"
    facts = parsed(
        *("tune", data, "-k", "4", "--index", "CH", *grid, "--seed", "1"),
        *("--store", store, "--model", model, "-o", tmp_path / "best.csv"),
    )
    search = icvi_artmap.ICVIARTMAPSearch(
        ICVIARTMAP(4, index="CH"), rho_a=[0, 0.9], rho_ab=[0.5, 1], random_state=1, verbose=0
    ).fit(X)
    assert facts["best"]["index_value"] == search.index_value_
    assert facts["best"]["rho_a"] == search.best_params_["rho_a"]
    assert facts["labels"] == search.labels_.tolist() == load(model).labels_.tolist()
    values = [run["index_value"] for run in facts["runs"]]
    assert values[0] == pytest.approx(max(values), rel=1e-12)  # the first of equal ones
    assert values[1:] == sorted(values[1:], reverse=True)
    assert len(values) == 4
    before = store.read_bytes()
    again = parsed("tune", data, "-k", "4", "--index", "CH", *grid, "--seed", "1", "--store", store)
    assert again["runs"] == facts["runs"]  # with their times: nothing was computed anew
    assert store.read_bytes() == before


def test_tune_takes_the_first_of_equal_runs(
    data: Path, parsed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values that differ by rounding alone are equal, to the command as to the class."""
    fit = icvi_artmap.ICVIARTMAPSearch.fit

    def rounded_differently(search: Any, X: Any, y: Any = None) -> Any:
        fit(search, X, y)
        search.results_.index_value *= 1.0 + 1e-15 * np.arange(len(search.results_))
        return search

    monkeypatch.setattr(icvi_artmap.ICVIARTMAPSearch, "fit", rounded_differently)
    facts = parsed(
        "tune", data, "-k", "3", "--index", "CH", "--rho-a", "0,0.1,0.2", "--rho-ab", "0.5"
    )
    values = [run["index_value"] for run in facts["runs"]]
    assert max(values) > values[0]
    assert facts["best"]["rho_a"] == 0.0
    assert len({run["rho_a"] for run in facts["runs"]}) == 3


def test_tune_prints_the_best_values(data: Path, printed: Printed) -> None:
    out, _ = printed("tune", data, "-k", "3", "--rho-a", "0,0.5", "--label-column", "kind")
    assert "20 runs" in out
    assert "Best: rho_a = 0" in out
    assert "(ARI ↑): 1.000" in out


# --- generate, demo, warmup ----------------------------------------------------------------------


@pytest.mark.parametrize("family", ["gaussian", "ellipsoid"])
def test_generate_is_that_of_the_library(
    family: str, tmp_path: Path, printed: Printed, parsed: Any
) -> None:
    make = getattr(icvi_artmap.datasets, f"make_{family}_clusters")
    X, y = make(3, 4, n_samples=60, random_state=7)
    options = ("-k", "3", "-d", "4", "-n", "60", "--seed", "7")
    facts = parsed("generate", family, *options, "-o", tmp_path / "made.parquet")
    assert facts["rows"] == 60
    table = read_table(tmp_path / "made.parquet", label_column="label")
    assert table.columns == ("x1", "x2", "x3", "x4")
    assert np.array_equal(table.X, X)
    assert np.array_equal(table.labels, y)
    out, err = printed("generate", family, *options)
    assert err == ""
    assert [float(row["x1"]) for row in rows_of(out)] == X[:, 0].tolist()


def test_demo(tmp_path: Path, printed: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demonstrating, "N_CLUSTERS", 3)
    monkeypatch.setattr(demonstrating, "N_FEATURES", 6)
    monkeypatch.setattr(demonstrating, "N_STARTS", 1)
    out, _ = printed("demo", "-o", tmp_path / "picture.png")
    assert "iNI-ARTMAP" in out
    assert "Gaussian mixture" in out
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_warmup(parsed: Any) -> None:
    facts = parsed("warmup", "ni", "ch", "NI")
    assert list(facts["seconds"]) == ["NI", "CH"]
    assert list(parsed("warmup")["seconds"]) == [*INDICES, "any-shape"]


# --- processes -----------------------------------------------------------------------------------


def start(*arguments: str | Path, **options: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=_notice_interrupts if sys.platform != "win32" else None,
        **options,
    )


def _notice_interrupts() -> None:
    """A shell that starts the tests in the background has them ignore the signal."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def as_text(X: NDArray[np.float64]) -> bytes:
    return b"a,b\n" + b"".join(b"%r,%r\n" % (x, y) for x, y in X.tolist())


def test_standard_input(tmp_path: Path) -> None:
    X, truth = blobs()
    process = start("fit", "-", "-k", "3", "-o", "-", stdin=subprocess.PIPE)
    out, err = process.communicate(as_text(X), timeout=PATIENCE)
    assert process.returncode == 0, err
    assert same_partition([row["cluster"] for row in rows_of(out.decode())], truth)


def test_quiet_compiles_quietly(
    printed: Printed, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A kernel is compiled as if it were the first, once as warmup does it and once by itself."""
    from icvi_artmap._compile.jit import jit, nothing_kept
    from icvi_artmap._compile.notes import COMPILING

    def compile_one(index: str) -> None:
        def kernel(x):
            return x + 1.0

        with nothing_kept():
            jit(kernel)(1.0)

    monkeypatch.setattr(COMPILING, "said", False)
    monkeypatch.delenv("ICVI_ARTMAP_QUIET")
    monkeypatch.setattr("icvi_artmap.cli.warmup.use", compile_one)
    assert printed("warmup", "NI", "--quiet") == ("", "")
    compile_one("NI")
    assert "compiling (first run only)" in capfd.readouterr().err


@WINDOWS
@pytest.mark.parametrize("when", ["reading", "fitting"])
def test_interrupt(when: str, tmp_path: Path) -> None:
    target = tmp_path / "labels.csv"
    target.write_bytes(b"old")
    arguments = ("fit", "-", "-k", "20", "--starts", "10000", "-o", target)
    process = start(*arguments, stdin=subprocess.PIPE)
    assert process.stdin is not None
    try:
        # More than a pipe holds: when all is written, the program has begun to read.
        process.stdin.write(as_text(np.random.default_rng(0).normal(size=(20_000, 2))))
        process.stdin.flush()
        if when == "fitting":
            process.stdin.close()
            process.stdin = None
            time.sleep(6.0)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 130
    assert err == b"icvi-artmap: interrupted\n"
    assert out == b""
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["labels.csv"]


@WINDOWS
def test_kill_while_writing_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "made.csv"
    target.write_bytes(b"old")
    arguments = ("generate", "ellipsoid", "-k", "3", "-d", "10", "-n", "200000", "-o", target)
    process = start(*arguments)
    try:
        deadline = time.monotonic() + PATIENCE
        while not any(part.stat().st_size for part in tmp_path.glob(".made.csv.*.part")):
            assert process.poll() is None, "it ended before it was seen writing"
            assert time.monotonic() < deadline
            time.sleep(0.005)
    finally:
        process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert target.read_bytes() == b"old"


@WINDOWS
@pytest.mark.parametrize("command", ["generate", "fit"])
def test_a_reader_that_leaves_ends_it_silently(command: str, data: Path) -> None:
    arguments: dict[str, list[str | Path]] = {
        "generate": ["generate", "ellipsoid", "-k", "2", "-d", "3", "-n", "20000"],
        "fit": ["fit", data, "-k", "3", "--columns", "width,length"],
    }
    process = start(*arguments[command])
    assert process.stdout is not None
    if command == "generate":
        process.stdout.readline()
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert err == b""
