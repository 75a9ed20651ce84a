"""What ``fit`` keeps in files and says of stability; explaining clusters; conclusions."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_tools import write_blobs
from icvi_artmap import load, read_table, write_table
from icvi_artmap.cli.app import run

FIT = ("-k", "3", "--no-stability")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    write_blobs(path)
    return path


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text())))


def ran(*arguments: object) -> None:
    assert run([str(argument) for argument in arguments]) == 0


def test_the_table_comes_back_with_its_clusters(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    ran("fit", data, *FIT, "-o", out, "--model", tmp_path / "m.icvi")
    given, found = rows(data), rows(out)
    model = load(tmp_path / "m.icvi")
    assert [{name: row[name] for name in given[0]} for row in found] == given
    assert [int(row["cluster"]) for row in found] == model.labels_.tolist()
    X = read_table(data, columns=["width", "length"]).X
    model.feature_names_in_ = np.array(["width", "length"])
    del model.feature_names_in_
    parts = model.membership(X)
    for row, part in zip(found, parts, strict=True):
        own = int(row["cluster"])
        assert float(row["membership"]) == pytest.approx(part[own], abs=1e-6)
        others = [i for i in range(3) if i != own]
        assert int(row["runner_up"]) == max(others, key=lambda i, part=part: part[i])
    assert sorted(rows(out)[0], key=list(found[0]).index)[-3:] == [
        "cluster",
        "membership",
        "runner_up",
    ]


def test_noise_and_rows_left_out_are_marked(tmp_path: Path) -> None:
    path, out = tmp_path / "d.csv", tmp_path / "o.csv"
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(300, 2)), rng.normal(20, 1, (200, 2)), [[10.0, -4.0]]])
    X[7, 0] = np.nan
    write_table(path, {"a": X[:, 0], "b": X[:, 1], "text": [f"t{i}" for i in range(len(X))]})
    options = ("-k", "2", "--no-stability", "--missing", "drop", "--transform", "none")
    ran("fit", path, *options, "--noise", "-o", out, "--summary", tmp_path / "s.csv")
    found = rows(out)
    assert [row["text"] for row in found] == [f"t{i}" for i in range(501)]
    assert found[500]["cluster"] == "-1"
    assert found[500]["membership"] == ""
    assert (found[7]["cluster"], found[7]["membership"], found[7]["runner_up"]) == ("-3", "", "-3")
    assert {row["cluster"] for row in found} == {"0", "1", "-1", "-3"}
    summary = rows(tmp_path / "s.csv")
    assert [row["cluster"] for row in summary] == ["0", "1", "-1"]
    assert float(summary[2]["share"]) == pytest.approx(int(summary[2]["rows"]) / 500, abs=1e-3)
    assert sum(float(row["share"]) for row in summary) == pytest.approx(1.0, abs=1e-3)


def test_labels_only_are_the_two_columns(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "o.csv"
    ran("fit", data, *FIT, "-o", out, "--labels-only", "--id-column", "name")
    assert list(rows(out)[0]) == ["name", "cluster"]
    assert run(["fit", str(data), *FIT, "--labels-only"]) == 2


def test_the_summary_has_means_and_spreads(data: Path, tmp_path: Path) -> None:
    out, table = tmp_path / "s.csv", tmp_path / "o.csv"
    ran("fit", data, *FIT, "--summary", out, "-o", table)
    found, given = rows(out), rows(table)
    for row in found:
        mine = [float(r["width"]) for r in given if r["cluster"] == row["cluster"]]
        assert int(row["rows"]) == len(mine) == 25
        assert float(row["share"]) == pytest.approx(1 / 3, abs=1e-3)
        assert float(row["width: mean"]) == pytest.approx(np.mean(mine), rel=1e-4)
        assert float(row["width: spread"]) == pytest.approx(np.std(mine), rel=1e-4)
        assert "higher" in row["what sets it apart"] or "lower" in row["what sets it apart"]


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_a_picture_is_drawn(suffix: str, data: Path, tmp_path: Path) -> None:
    ran("fit", data, *FIT, "--plot", tmp_path / f"p{suffix}")
    content = (tmp_path / f"p{suffix}").read_bytes()
    assert content.startswith(b"\x89PNG" if suffix == ".png" else b"<?xml")
    if suffix == ".svg":
        assert b"width" in content


def test_a_taken_name_is_told(tmp_path: Path, capsys: Any) -> None:
    data, out = tmp_path / "d.csv", tmp_path / "o.csv"
    X = np.random.default_rng(0).normal(size=(40, 2)) + np.repeat([[0, 0], [9, 9]], 20, axis=0)
    write_table(data, {"a": X[:, 0], "b": X[:, 1], "cluster": ["x"] * 40})
    ran("fit", data, "-k", "2", "-o", out)
    assert "the new ones are called cluster_2, membership_2, runner_up_2" in capsys.readouterr().err
    ran("fit", out, "-k", "2", "-c", "a,b", "-o", tmp_path / "again.csv")
    names = list(rows(tmp_path / "again.csv")[0])
    assert names[-3:] == ["cluster_3", "membership_3", "runner_up_3"]


def test_a_fit_of_its_own_output_is_the_same(data: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "1.csv", tmp_path / "2.csv"
    ran("fit", data, *FIT, "-o", first)
    ran("fit", first, *FIT, "-o", second)
    assert first.read_text() == second.read_text()


def test_a_matrix_is_refused_before_the_fit(data: Path, tmp_path: Path, capsys: Any) -> None:
    assert run(["fit", str(data), *FIT, "-o", str(tmp_path / "o.npy")]) == 2
    assert "holds numbers only" in capsys.readouterr().err
    ran("fit", data, *FIT, "-o", tmp_path / "o.npy", "--labels-only")


def test_a_sample_writes_its_rows(tmp_path: Path, capsys: Any) -> None:
    path, out = tmp_path / "d.csv", tmp_path / "o.csv"
    n = 2000
    X = np.random.default_rng(0).normal(size=(n, 2)) + 9 * (np.arange(n) % 2)[:, None]
    write_table(path, {"a": X[:, 0], "b": X[:, 1], "place": [f"p{i}" for i in range(n)]})
    ran("fit", path, "-k", "2", "--sample", "300", "-o", out)
    captured = capsys.readouterr()
    assert "A first look: 300 rows of 2,000" in captured.err
    found = rows(out)
    assert len(found) == 300
    for row in found:
        i = int(row["place"][1:])
        assert float(row["a"]) == X[i, 0]
        assert (row["cluster"] == found[0]["cluster"]) == (i % 2 == int(found[0]["place"][1:]) % 2)


def test_principal_axes_are_learned_and_kept(tmp_path: Path, capsys: Any) -> None:
    path, model = tmp_path / "d.csv", tmp_path / "m.icvi"
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(200, 2)) + np.repeat([[0, 0], [8, 8]], 100, axis=0)
    X = Z @ rng.normal(size=(2, 12)) + 0.01 * rng.normal(size=(200, 12))
    write_table(path, {f"x{j}": column for j, column in enumerate(X.T)})
    ran("fit", path, "-k", "2", "--pca", "2", "--model", model, "-o", tmp_path / "o.csv")
    found = load(model)
    assert found.n_axes == 2
    assert found.fitted_.moments.mean.shape == (2, 2)
    assert found.cluster_centers_.shape == (2, 12)
    capsys.readouterr()
    ran("predict", model, path)
    predicted = [row["cluster"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))]
    assert predicted == [row["cluster"] for row in rows(tmp_path / "o.csv")]


def test_stability_is_told(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "d.csv"
    rng = np.random.default_rng(0)
    one = rng.normal(size=(300, 2))
    far = rng.normal(12, 0.5, (200, 2))
    X = np.vstack([one, far])
    write_table(path, {"a": X[:, 0], "b": X[:, 1]})
    ran("fit", path, "-k", "2", "--json")
    facts = json.loads(capsys.readouterr().out)["stability"]
    assert facts["refits"] == 5
    assert facts["rows"] == 500
    assert facts["agreement"] > 0.99
    assert facts["not_found_again"] == []
    ran("fit", path, "-k", "5")
    text = " ".join(capsys.readouterr().out.split())
    assert "Repeated on 5 random halves of 500 rows, the clustering came out" in text
    assert "mostly not found again" in text
    ran("fit", path, "-k", "5", "--no-stability")
    assert "Repeated" not in capsys.readouterr().out


def test_the_report_says_the_same_of_stability(tmp_path: Path, capsys: Any) -> None:
    pytest.importorskip("jinja2")
    path = tmp_path / "d.csv"
    X = np.random.default_rng(0).normal(size=(300, 3))
    write_table(path, {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    ran("fit", path, "-k", "4", "--report", tmp_path / "r.html")
    text = " ".join(capsys.readouterr().out.split())
    said = text[text.index("Repeated on") :].split(")")[0]
    lost = text[text.index("mostly not found again") - 30 :].split(" were ")[0].split("Cluster")[-1]
    page = " ".join((tmp_path / "r.html").read_text().split())
    assert said in page
    assert f"Cluster{lost} were mostly not found again" in page


def test_clusters_are_explained_without_rows(data: Path, tmp_path: Path, capsys: Any) -> None:
    model = tmp_path / "m.icvi"
    ran("fit", data, *FIT, "--model", model, "-q")
    ran("explain", model)
    out = capsys.readouterr().out
    assert "3 clusters, found in 75 rows and 2 columns" in out
    assert "width is far higher" in out
    ran("explain", model, data)
    assert capsys.readouterr().out == out
    ran("explain", model, "--json")
    facts = json.loads(capsys.readouterr().out)
    assert [cluster["rows"] for cluster in facts["clusters"]] == [25, 25, 25]
    assert run(["explain", str(model), "--row", "1"]) == 2
    assert "the table that has the rows is wanted" in capsys.readouterr().err


def test_compare_chooses_a_number(data: Path, capsys: Any) -> None:
    ran("compare", data, "--methods", "NI,k-means", "--id-column", "name", "--json")
    facts = json.loads(capsys.readouterr().out)
    assert facts["clusters"] == 3
    assert any("k = 3 was chosen for these columns" in note for note in facts["notes"])


def test_a_search_ends_with_a_conclusion(data: Path, capsys: Any) -> None:
    arguments = ("tune", data, "-k", "3", "-q")
    ran(*arguments, "--rho-a", "0,0.2", "--rho-ab", "0.9,1", "--json")
    facts = json.loads(capsys.readouterr().out)
    assert facts["conclusion"].startswith("All runs are equally good: the vigilances do not matter")
    assert (facts["best"]["rho_a"], facts["best"]["rho_ab"]) == (0.0, 0.9)
    ran(*arguments, "--rho-a", "0", "--rho-ab", "1", "--json")
    assert "one run only" in json.loads(capsys.readouterr().out)["conclusion"]


def test_messages_name_options(data: Path, tmp_path: Path, capsys: Any) -> None:
    wrong = tmp_path / "gaps.csv"
    wrong.write_text("a,b\n1,2\n,3\n4,5\n")
    assert run(["fit", str(wrong)]) == 2
    err = capsys.readouterr().err
    assert "Try --missing drop" in err
    assert "missing=" not in err
    assert run(["fit", str(data), "--columns", "nothing"]) == 2
    assert "(--columns)" in capsys.readouterr().err
    assert run(["fit", str(data), "-k", "76"]) == 2
    assert "-k 76 is more than the number of samples" in capsys.readouterr().err
    with pytest.raises(ValueError, match='Try missing="drop"'):
        read_table(wrong)
