"""Reading and writing tables."""

from __future__ import annotations

import csv
import datetime
import decimal
import gzip
import io
import os
import signal
import subprocess
import sys
import time
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import icvi_artmap
from icvi_artmap.tables import Table, column_names, read_table, text, write_table
from icvi_artmap.tables.formats import FORMATS, Format, suffixes_of, written_formats
from icvi_artmap.tables.lines import open_lines
from icvi_artmap.tables.source import TooLargeError, find_source

ARFF = "@relation r\n@attribute a numeric\n@attribute b numeric\n@data\n"


@pytest.fixture
def table(tmp_path):
    """Write a file and read it as a table."""

    def read(content: str | bytes, suffix: str = ".csv", **options) -> Table:
        path = tmp_path / f"table{suffix}"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_table(path, **options)

    return read


def has_note(table: Table, part: str) -> bool:
    return any(part in note for note in table.notes)


# What is read


@pytest.mark.parametrize(
    ("content", "suffix", "columns", "X"),
    [
        pytest.param("a,b\n1,2\n3,4\n", ".csv", "a b", [[1, 2], [3, 4]], id="plain"),
        pytest.param("a,b\n1,2\n3,4", ".CSV", "a b", [[1, 2], [3, 4]], id="no last newline"),
        pytest.param("a,b\r\n1,2\r\n3,4\r\n", ".csv", "a b", [[1, 2], [3, 4]], id="crlf"),
        pytest.param("a,b\r1,2\r3,4\r", ".csv", "a b", [[1, 2], [3, 4]], id="cr"),
        pytest.param("\ufeffa,b\n1,2\n", ".csv", "a b", [[1, 2]], id="byte order mark"),
        pytest.param("ä,b\n1,2\n".encode("utf-16"), ".csv", "ä b", [[1, 2]], id="utf-16"),
        pytest.param("1,2\n3,4\n", ".csv", "x1 x2", [[1, 2], [3, 4]], id="no header"),
        pytest.param("a;b\n1.5;2\n3;4\n", ".csv", "a b", [[1.5, 2], [3, 4]], id="semicolon"),
        pytest.param("a;b\n1,5;2\n3;4e1\n", ".csv", "a b", [[1.5, 2], [3, 40]], id="comma decimal"),
        pytest.param("a|b\n1|2\n", ".csv", "a b", [[1, 2]], id="bar"),
        pytest.param("a\tb\n1\t2\n", ".csv", "a b", [[1, 2]], id="tab in csv"),
        pytest.param("a,b\tc\n1\t2\n", ".tsv", "a,b c", [[1, 2]], id="tsv"),
        pytest.param("a b\n1   2\n 3\t4 \n", ".dat", "a b", [[1, 2], [3, 4]], id="white space"),
        pytest.param("1.5, 2\n3, 4\n", ".txt", "x1 x2", [[1.5, 2], [3, 4]], id="comma and blank"),
        pytest.param("# made by x\n# a b\n1 2\n", ".dat", "a b", [[1, 2]], id="names in comment"),
        pytest.param("% made\n\n1 2\n3 4\n", ".dat", "x1 x2", [[1, 2], [3, 4]], id="comment"),
        pytest.param("#a,b\n1,2\n", ".csv", "a b", [[1, 2]], id="header with #"),
        pytest.param('"a, b","c""d"\n1,"2"\n', ".csv", ("a, b", 'c"d'), [[1, 2]], id="quotes"),
        pytest.param('"a\nb",c\n1,2\n', ".csv", ("a\nb", "c"), [[1, 2]], id="name of two lines"),
        pytest.param("a,b\n\n1,2\n  \n3,4\n\n", ".csv", "a b", [[1, 2], [3, 4]], id="blank lines"),
        pytest.param("a\n1\n2\n", ".csv", "a", [[1], [2]], id="one column"),
        pytest.param("0,1\n.5,1.5\n", ".csv", "0 1", [[0.5, 1.5]], id="counted names"),
        pytest.param("0,1\n2,3\n", ".csv", "x1 x2", [[0, 1], [2, 3]], id="two integers are data"),
        pytest.param("0,1,2,3\n4,5,6,7\n", ".csv", "0 1 2 3", [[4, 5, 6, 7]], id="four are names"),
        pytest.param(",0,1\n0,5,6\n1,7,9\n", ".csv", "0 1", [[5, 6], [7, 9]], id="pandas, index"),
        pytest.param("n,2019,2020\na,1,2\nb,3,4\n", ".csv", "2019 2020", [[1, 2], [3, 4]], id="y"),
        pytest.param("5,3,iris\n4,2,iris\n", ".csv", "x1 x2", [[5, 3], [4, 2]], id="text at end"),
        pytest.param("a,1,2\na,3,5\n", ".csv", "x2 x3", [[1, 2], [3, 5]], id="text recurs"),
        pytest.param("n,t;u,x\n1,a;b,2\n", ".csv", "n x", [[1, 2]], id="semicolon in text"),
        pytest.param("yes,1\nno,2\n", ".csv", "x1 x2", [[1, 1], [0, 2]], id="truth, no header"),
        pytest.param("yes,y\nno,z\nyes,y\n", ".csv", "x1", [[1], [0], [1]], id="values recur"),
        pytest.param("a\n1,5\n2,25\n", ".csv", "a", [[1.5], [2.25]], id="one column, comma"),
        pytest.param("1,5\n2,05\n", ".csv", "x1", [[1.5], [2.05]], id="comma, no two integers"),
        pytest.param("-0,5\n\n1,5\n", ".txt", "x1", [[-0.5], [1.5]], id="comma, minus zero"),
        pytest.param("1,5\n2,25\n", ".tsv", "x1", [[1.5], [2.25]], id="comma in tsv"),
        pytest.param("#" + "n" * 2**18 + "\n1,2\n", ".csv", "x1 x2", [[1, 2]], id="long comment"),
        pytest.param(ARFF + "1,2\n%no\n\n3,4e0\n", ".arff", "a b", [[1, 2], [3, 4]], id="arff"),
        pytest.param(
            "% x\n@RELATION 'r s'\n@Attribute 'a b' REAL\n@attribute \"c'\" integer\n@attribute d"
            " {x,'y, z'}\n@ATTRIBUTE e string\n@attribute f date 'yyyy'\n@attribute g{no, yes}\n"
            "@Data\n1,2,x,'it\\'s, \\\\',2020,no\n 3 , 4,'y, z',\"q\",2021 , yes\n",
            ".arff",
            ("a b", "c'", "g"),
            [[1, 2, 0], [3, 4, 1]],
            id="arff, all types",
        ),
    ],
)  # fmt: skip
def test_forms(table, content, suffix, columns, X):
    found = table(content, suffix)
    assert found.columns == (tuple(columns.split()) if isinstance(columns, str) else columns)
    assert_array_equal(found.X, X)
    assert found.X.dtype == np.float64
    assert found.X.flags.c_contiguous
    assert_array_equal(found.rows, np.arange(len(X)))
    assert found.labels is None
    assert found.ids is None


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".dat", ".data"])
def test_compressed_text(table, suffix):
    packed = gzip.compress(b"a\tb\n1\t2\n3\t4\n")
    assert_array_equal(table(packed, suffix + ".gz").X, [[1, 2], [3, 4]])


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a;b\n1;x\n2;y\n")))
    found = read_table("-", label_column="b")
    assert_array_equal(found.X, [[1], [2]])
    assert found.labels.tolist() == ["x", "y"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_pipe_is_read_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["/bin/sh", "-c", f"printf 'a,b\\n1,2\\n' > '{pipe}'"]):
        assert_array_equal(read_table(pipe).X, [[1, 2]])


def test_the_fast_and_the_careful_way_read_alike(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 3)) * 10.0 ** rng.integers(-300, 300, (500, 3))
    write_table(tmp_path / "x.csv", {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    fast = read_table(tmp_path / "x.csv")
    monkeypatch.setattr(text, "_numbers_only", lambda *_: None)
    monkeypatch.setattr("icvi_artmap.tables.content.BLOCK_CELLS", 200)
    careful = read_table(tmp_path / "x.csv")
    assert_array_equal(fast.X, X)
    assert_array_equal(careful.X, X)
    assert fast.notes == careful.notes


def test_numbers_do_not_pass_through_python_objects(tmp_path, monkeypatch):
    """10,000 rows take well under half a second because NumPy's parser reads them."""
    write_table(tmp_path / "x.csv", {"a": np.arange(100.0) ** 2, "b": np.ones(100)})
    monkeypatch.setattr(text, "gather", None)
    assert read_table(tmp_path / "x.csv").X.shape == (100, 2)


@pytest.mark.parametrize(
    ("arrays", "columns", "X", "labels"),
    [
        ({"X": [[1, 2]], "y": ["u"]}, ("x1", "x2"), [[1, 2]], ["u"]),
        ({"X": [[True, False]]}, ("x1", "x2"), [[1, 0]], None),
        ({"data": np.float32([[1], [2]]), "n": 3}, ("x1",), [[1], [2]], None),
        ({"X": [[1.0]], "other": [[1, 2]], "n_train": 3}, ("x1",), [[1]], None),
        ({"a": [1, 2], "b": [True, False], "c": ["u", "v"]}, ("a", "b"), [[1, 1], [2, 0]], None),
        ({"X": [1, 2], "y": [3, 5]}, ("X", "y"), [[1, 3], [2, 5]], None),
    ],
)
def test_npz(tmp_path, arrays, columns, X, labels):
    np.savez(tmp_path / "a.npz", **arrays)
    found = read_table(tmp_path / "a.npz")
    assert found.columns == columns
    assert_array_equal(found.X, X)
    assert (found.labels if labels is None else found.labels.tolist()) == labels


def test_npz_labels_by_name(tmp_path):
    np.savez(tmp_path / "a.npz", X=[[1.0, 7.0], [2.0, 8.0]], y=[4, 5])
    by_name = read_table(tmp_path / "a.npz", label_column="y")
    assert_array_equal(by_name.labels, [4, 5])
    other = read_table(tmp_path / "a.npz", label_column="x2")
    assert_array_equal(other.labels, [7, 8])
    assert_array_equal(other.X, [[1], [2]])


def test_npy_keeps_columns_that_count(tmp_path):
    """A matrix has been prepared by somebody: no column of it is taken for row numbers."""
    np.save(tmp_path / "a.npy", np.asfortranarray(np.arange(40).reshape(2, 20).T))
    found = read_table(tmp_path / "a.npy")
    assert found.X.shape == (20, 2)
    assert found.X.flags.c_contiguous
    assert found.notes == ()


def test_parquet_types(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")

    columns = {
        "integer": pyarrow.array([1, None, 3], pyarrow.int8()),
        "decimal": pyarrow.array([decimal.Decimal("1.5"), decimal.Decimal(2), None]),
        "truth": pyarrow.array([True, False, None]),
        "text": pyarrow.array(["a", "b", None]),
        "names": pyarrow.array(["a", "b", "a"]).dictionary_encode(),
        "date": pyarrow.array([datetime.date(2020, 1, 1)] * 3),
        "list": pyarrow.array([[1], [2], [3]]),
        "none": pyarrow.nulls(3),
        "nan": pyarrow.array([np.nan] * 3),
    }
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
    found = read_table(tmp_path / "a.parquet", missing="mean")
    assert found.columns == ("integer", "decimal", "truth")
    assert_array_equal(found.X, [[1, 1.5, 1], [2, 2, 0], [3, 1.75, 0.5]])
    assert has_note(found, "Text, left out: columns 'text', 'names', 'list'.")
    assert has_note(found, "Dates or times, left out: column 'date'.")
    assert has_note(found, "Without any value, left out: columns 'none', 'nan'.")
    assert has_note(found, "3 missing values were replaced")
    labelled = read_table(
        tmp_path / "a.parquet", columns=["truth"], label_column="text", missing="drop"
    )
    assert labelled.labels.tolist() == ["a", "b"]
    numbered = read_table(tmp_path / "a.parquet", label_column="names", id_column="date",
                          missing="mean")  # fmt: skip
    assert numbered.labels.tolist() == ["a", "b", "a"]
    assert numbered.ids == ["2020-01-01"] * 3
    assert column_names(tmp_path / "a.parquet") == list(columns)


def test_a_folder_for_parquet_without_pyarrow(tmp_path, monkeypatch):
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"needs pyarrow: pip install 'icvi-artmap\[tables\]'"):
        read_table(tmp_path / "a.parquet")
    with pytest.raises(ImportError, match="needs pyarrow"):
        write_table(tmp_path / "b.parquet", {"a": [1]})
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


# Which columns are used


def test_text_dates_and_truth_values(table):
    found = table("t,d,b,e,x\nu,2020-01-31,True,,1\nv,2020-02-01 10:00,no,NA,2\n")
    assert found.columns == ("b", "x")
    assert_array_equal(found.X, [[1, 1], [0, 2]])
    assert found.notes == (
        "Text, left out: column 't'.",
        "Dates or times, left out: column 'd'.",
        "Without any value, left out: column 'e'.",
        "Truth values, taken as 0 and 1: column 'b'.",
    )


@pytest.mark.parametrize(
    ("name", "values", "left_out"),
    [
        ("t", range(10), True),
        ("t", range(9), False),
        ("t", range(5, 25), True),
        ("t", range(20, 0, -1), True),
        ("t", [*range(11), 12], False),
        ("t", np.arange(12) + 0.5, False),
        ("t", np.arange(0, 24, 2), False),
        ("id", [5, 3, 9], True),
        ("ID", [5, 3, 9], True),
        ("customer_id", [5, 3, 9], True),
        ("index", [5, 3, 3], False),
        ("key", [5, 3.5, 9], False),
        ("Unnamed: 0", [0, 1, 2], True),
        ("uuid", [7, 1, 2], True),
        ("width", [5, 3, 9], False),
        ("t", [*range(20), 12], True),
        ("t", [*range(0, 40, 2), 12], False),
        ("t", [*range(20), *range(20)], False),
        ("t", [7, *range(19)][::-1], True),
        ("order_id", [*range(0, 400, 20), 100], True),
        ("order_id", [*range(20), *range(20)], False),
        ("t", [*range(1, 30), ""], True),
        ("t", [*range(1, 20), *[""] * 20], False),
    ],
)
def test_identifiers(table, name, values, left_out):
    content = f"{name},x\n" + "".join(f"{value},0.5\n" for value in values)
    found = table(content, missing="mean")
    assert (name not in found.columns) == left_out
    assert has_note(found, f"left out: column {name!r}. To use them, name them") == left_out
    assert table(content, columns=[name], missing="mean").columns == (name,)


def test_constant_columns_are_kept(table):
    found = table("a,b\n1,2\n1,3\n")
    assert found.columns == ("a", "b")
    assert found.notes == ("Constant: column 'a'.",)


@pytest.mark.parametrize("name", ["Class", "target", "y", " Label ", "clusters"])
def test_known_groups_among_the_data_are_left_out(table, name):
    content = f"a,{name}\n" + "".join(f"{i / 7},{i % 2}\n" for i in range(6))
    found = table(content)
    assert found.columns == ("a",)
    assert has_note(found, f"left out: column {name.strip()!r}. To compare with them")
    assert not has_note(table(content, label_column=name.strip()), "Known groups")
    assert table(content, columns=["a", name.strip()]).columns == ("a", name.strip())


@pytest.mark.parametrize(
    ("names", "values"),
    [
        ("x,y", [i % 2 for i in range(6)]),  # a coordinate
        ("a,y", [i / 3 for i in range(6)]),  # a measurement
        ("a,target", range(3, 9)),  # all different
        ("a,targeted", [i % 2 for i in range(6)]),
    ],
)
def test_what_is_no_column_of_known_groups(table, names, values):
    rows = "".join(f"{i / 7},{value}\n" for i, value in enumerate(values))
    assert table(f"{names}\n{rows}").columns == tuple(names.split(","))


def test_known_groups_of_a_matrix_are_data(tmp_path):
    np.save(tmp_path / "m.npy", np.column_stack([np.arange(6) / 7, np.arange(6) % 2]))
    assert read_table(tmp_path / "m.npy").X.shape == (6, 2)


@pytest.mark.parametrize(
    ("exclude", "columns", "expected"),
    [
        (["b"], None, ("a", "x1", "x2")),
        (["x*"], None, ("a", "b")),
        ("x1", None, ("a", "b", "x2")),
        (["x*", "a"], ["*"], ("b",)),
        (["c"], None, ("a", "b", "x1", "x2")),  # text that would be left out anyway
    ],
)
def test_columns_are_excluded(table, exclude, columns, expected):
    content = "a,b,x1,x2,c\n1,2,3,4,u\n2,3,4,5,v\n"
    if columns:
        content = content.replace(",u", ",5").replace(",v", ",7").replace("x2,c", "x2,x3")
    assert table(content, exclude=exclude, columns=columns).columns == expected


def test_an_excluded_column_need_not_be_readable(table):
    content = "a,b\n" + "".join(f"{i},{i if i else 'oops'}\n" for i in (0, 3, 1, 5) * 6)
    with pytest.raises(ValueError, match="holds numbers, but"):
        table(content.replace("0,oops", "0,8", 5))
    assert table(content.replace("0,oops", "0,8", 5), exclude=["b"]).columns == ("a",)


def test_wrong_names_to_exclude(table):
    with pytest.raises(ValueError, match=r"no column 'aa' \(exclude\). Did you mean 'a'"):
        table("a,b\n1,2\n3,4\n", exclude=["aa"])
    with pytest.raises(ValueError, match="exclude leaves none"):
        table("a,b\n1,2\n3,4\n", columns=["a"], exclude=["a"])
    with pytest.raises(ValueError, match="no column of numbers"):
        table("a,b\n1,2\n3,4\n", exclude=["*"])


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (["c", "a"], ("c", "a")),
        (["x*"], ("x1", "x2", "x[3]")),
        (["x?", "a"], ("x1", "x2", "a")),
        (["x[3]"], ("x[3]",)),
        (["x2", "x*"], ("x2", "x1", "x[3]")),
        (["*"], ("a", "x1", "x2", "x[3]", "c")),
        ("x2", ("x2",)),
    ],
)
def test_columns_by_name_and_pattern(table, columns, expected):
    content = "id,a,x1,x2,x[3],c,label\n1,2,3,4,5,6,7\n"
    found = table(content, columns=columns, label_column="label", id_column="id")
    assert found.columns == expected
    given = dict(zip(content.split()[0].split(","), range(1, 8), strict=True))
    assert_array_equal(found.X, [[given[name] for name in expected]])


def test_columns_asked_for_may_stand_beside_any_text(table):
    found = table("a,b,c\n1,x,5\n2,7,6\n", columns=["c"])
    assert_array_equal(found.X, [[5], [6]])


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        (["1", "0", "1"], np.array([1, 0, 1])),
        (["1.5", "0", "1"], np.array([1.5, 0, 1])),
        (["01", "1", "2"], np.array(["01", "1", "2"])),
        (["a", "", "NA"], np.array(["a", "", "NA"])),
        (["", "1", "2"], np.array(["", "1", "2"])),
        (["1_0", "2", "3"], np.array(["1_0", "2", "3"])),
        (["9" * 30, "1", "2"], np.array(["9" * 30, "1", "2"])),
    ],
)
def test_labels_are_as_given(table, cells, labels):
    rows = zip([1.5, 2.5, 3.5], cells, strict=True)
    found = table("x,c\n" + "".join(f"{x},{c}\n" for x, c in rows), label_column="c")
    assert found.labels.dtype.kind == labels.dtype.kind
    assert_array_equal(found.labels, labels)
    assert found.columns == ("x",)


def test_ids_are_text(table):
    found = table("n,x\n007,1\n008,\n009,3\n", id_column="n", missing="drop")
    assert found.ids == ["007", "009"]
    assert_array_equal(found.rows, [0, 2])


# Missing values


@pytest.mark.parametrize(
    "cell", ["", " ", "NA", "n/a", "NaN", "-nan", "?", "null", "None", "-", "."]
)
@pytest.mark.parametrize("suffix", [".csv", ".arff"])
def test_missing_values(table, cell, suffix):
    content = f"1,2\n{cell},3\n5,\n6,7\n"
    content = ("a,b\n" if suffix == ".csv" else ARFF) + content
    with pytest.raises(ValueError, match=r"has 2 missing values .columns 'a', 'b'; first in row 2"):
        table(content, suffix)
    dropped = table(content, suffix, missing="drop")
    assert_array_equal(dropped.X, [[1, 2], [6, 7]])
    assert_array_equal(dropped.rows, [0, 3])
    assert has_note(dropped, "2 of 4 rows with missing values were left out (columns 'a', 'b').")
    filled = table(content, suffix, missing="mean")
    assert_array_equal(filled.X, [[1, 2], [4, 3], [5, 4], [6, 7]])
    assert_array_equal(filled.rows, range(4))
    assert has_note(filled, "2 missing values were replaced by the mean of the column")


def test_given_values_for_missing_ones(table):
    content = "a,b,t\n1,,x\n?,5,y\n"
    found = table(content, columns=["b", "a"], missing=[7, 8.5])
    assert_array_equal(found.X, [[7, 1], [5, 8.5]])
    assert has_note(found, "2 missing values were replaced by the values given (columns 'b', 'a')")
    assert_array_equal(table("a,b\n1,\n", columns=["a", "b"], missing=np.array([3, 4])).X, [[1, 4]])
    with pytest.raises(ValueError, match=r"missing has 1 number, but 2 columns of .* are used"):
        table(content, missing=[1.0])
    for wrong in ([np.nan, 1.0], [[1.0]], ["x"], None):
        with pytest.raises(ValueError, match="or a number for every column, got"):
            table(content, missing=wrong)


def test_values_missing_in_other_columns_do_not_matter(table):
    found = table("a,b,c\n1,,x\n2,3,\n", columns=["a"], label_column="c")
    assert_array_equal(found.X, [[1], [2]])
    assert found.notes == ()


def test_labels_follow_the_rows_that_are_kept(table):
    found = table("a,b,c\n1,,u\n2,3,v\n4,5,w\n", label_column="c", missing="drop")
    assert found.labels.tolist() == ["v", "w"]


def test_missing_values_in_npz_and_its_labels(tmp_path):
    np.savez(tmp_path / "a.npz", X=[[1.0, np.nan], [2.0, 3.0]], y=[8, 9])
    found = read_table(tmp_path / "a.npz", missing="drop")
    assert_array_equal(found.labels, [9])
    assert_array_equal(found.rows, [1])


# Wrong input


@pytest.mark.parametrize(
    ("content", "suffix", "options", "message"),
    [
        ("", ".csv", {}, r"table.csv' is empty\."),
        ("\n\n", ".csv", {}, r"is empty\."),
        ("", ".arff", {}, r"is empty\."),
        ("a,b\n", ".csv", {}, "has a header but no rows"),
        ("a,b\n\n\n", ".csv", {}, "has a header but no rows|has no rows"),
        ("# a b\n", ".dat", {}, "has a header but no rows"),
        (ARFF, ".arff", {}, "has no rows"),
        ("a,b\n1,2\n3\n", ".csv", {}, r"Line 3 of .* has 1 value, but the header has 2 .*','"),
        ("a,b\n1,2\n\n3,4,5\n", ".csv", {}, "Line 4 of .* has 3 values, but the header has 2"),
        ("1,2\n3,4\n" * 300 + "5\n", ".csv", {}, "Line 601 of .* has 1 value, but the first row"),
        ("a;b\n1;2\n3\n4\n", ".csv", {}, "Line 3 of .* has 1 value, but the header has 2"),
        ("a,b\n1,2,3\n4,5,6\n", ".csv", {}, "Line 2 of .* has 3 values, but the header has 2"),
        ("1 2\n3\n4\n", ".dat", {}, "Line 2 of .* has 1 value, .*white space"),
        ("1 2\n3\n", ".dat", {}, "Line 2 of .* has 1 value, .*white space"),
        ("# c\n1 2\n3 4 5\n", ".dat", {}, "Line 3 of .* has 3 values"),
        ('t,b\n"x\ny",2\n3,4,5\n', ".csv", {}, "Line 4 of .* has 3 values"),
        ('a,b\n1,"2\n3,4\n', ".csv", {}, "cannot be split into cells: .* quotes closed"),
        ('a,b\n1,"2"3\n', ".csv", {}, "Line 2 of .* cannot be split"),
        ("a,b\n1," + "x" * 200_000 + "\n", ".csv", {}, "first lines of .* cannot be split .*limit"),
        (
            "t,b\nu,2\n" * 300 + "x" * 200_000 + ",1\n",
            ".csv",
            {},
            "Line 601 of .* cannot be .*limit",
        ),
        ("a,b,a\n1,2,3\n", ".csv", {}, "more than one column 'a'"),
        ("a,b,a,b\n1,2,3,4\n", ".csv", {}, "more than one column 'a' .and of 1 other"),
        ("a,b\nx,y\n", ".csv", {}, "no column of numbers to use. Text, left out: columns 'a', 'b'"),
        ("id,t\n5,a\n7,b\n", ".csv", {}, "no column of numbers to use.* left out: column 'id'"),
        ("a,b\n1,inf\n", ".csv", {}, "infinite values.*column 'b'; first in row 1"),
        ("a,b\n1,2\n1e999,2\n", ".csv", {}, "too large for a float .column 'a'; first in row 2"),
        ("a\n" + "1\n" * 15 + "x\n", ".csv", {}, "'a' of .* 1 of 16 values .* 'x' in row 16"),
        ("a\n" + "1\n" * 15 + "no\n", ".csv", {}, "'a' of .* 1 of 16 values .* 'no' in row 16"),
        ("a\n" + "1\n" * 15 + "1_0\n", ".csv", {}, "'a' of .* 1 of 16 values .* '1_0' in row 16"),
        ("a;b\n1,5;2\n" + "1;2\n" * 15 + "1.234,5;2\n", ".csv", {}, "'1.234,5' in row 17"),
        ("a;b\n" + "1,5;2\n" * 16 + "1.234;2\n", ".csv", {}, "'1.234' in row 17"),
        ("a,b\n1,\n,2\n", ".csv", {"missing": "drop"}, "every row has a missing value"),
        ("a,b\n1,2\n", ".csv", {"missing": "median"}, "missing must be .* got 'median'"),
        (
            "a,b\n1,2\n",
            ".csv",
            {"columns": ["c"]},
            r"has no column 'c' \(columns\)\. It has: 'a', ",
        ),
        ("width,b\n1,2\n", ".csv", {"columns": ["wdith"]}, "Did you mean 'width'"),
        ("Width,b\n1,2\n", ".csv", {"label_column": "WIDTH"}, "label_column.*Did you mean 'Width'"),
        ("a,b\n1,2\n", ".csv", {"columns": ["x*"]}, "has no column 'x[*]'"),
        ("a,b\n1,2\n", ".csv", {"columns": []}, "columns is empty"),
        ("a,b\n1,2\n", ".csv", {"id_column": "c"}, r"has no column 'c' \(id_column\)"),
        ("a,b\n1,2\n", ".csv", {"columns": ["a"], "id_column": "a"}, "both in columns and as id_"),
        ("a,b\n1,x\n", ".csv", {"columns": ["b"]}, "'b' of .* holds text"),
        ("a,b\n1,x\n2,3\n", ".csv", {"columns": ["b"]}, "'b' of .* holds text .'x' in row 1"),
        ("a,b\n1,\n2,\n", ".csv", {"columns": ["b"]}, "'b' of .* has no values"),
        ("a,b\n1,12:30\n", ".csv", {"columns": ["b"]}, "'b' of .* holds dates or times"),
        ("a\n1\n", ".csv", {"label_column": "a"}, "no column of numbers to use"),
        ("a,b\n1,2\n", ".csv", {"delimiter": "ab"}, "delimiter must be one character"),
        ("a,b\n1,2\n", ".csv", {"delimiter": "x"}, "delimiter must be one character"),
        ("a,b\n1,2\n", ".csv", {"delimiter": ""}, "delimiter must be one character"),
        (b"a,b\n1,\xe9\n", ".csv", {}, "Line 2 of .* is not UTF-8 text .byte 0xe9.* save it as"),
        (b"1,2\n" * 5000 + b"1,\xff\n", ".csv", {}, "Line 5001 of .* is not UTF-8"),
        (b"\xff\xfea\0,\0b\0\n\0\0", ".csv", {}, "is not UTF-16 text"),
        (b"a,b\0\n", ".csv", {}, "is not text: it has bytes of value 0"),
        (b"PK\x03\x04....", ".csv", {}, "zipped .* not text"),
        (b"PAR1....", ".csv", {}, "a Parquet file, not text. Give it the suffix .parquet"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0), ".csv", {}, "a gzip file, not text"),
        (b"a,b\n1,2\n", ".csv.gz", {}, "cannot be unpacked"),
        (gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:-20], ".csv.gz", {}, "cannot be unpacked"),
        (b"x" * 100, ".ods", {}, "no suffix of a known format. Known: .csv, .tsv"),
        (b"x" * 100, ".parquet.gz", {}, "no suffix of a known format"),
        (b"x" * 100, "", {}, "no suffix of a known format"),
        (b"x" * 100, ".npy", {}, "is damaged, or no .npy file"),
        (b"", ".npy", {}, "is damaged, or no .npy file"),
        (b"x" * 100, ".npz", {}, "is damaged, or no .npz file"),
        (b"x" * 100, ".parquet", {}, "is damaged, or no Parquet file"),
        ("@relation x\n@attribute a numeric\n", ".arff", {}, "no line @data"),
        ("@relation x\n@data\n1\n", ".arff", {}, "has no attributes"),
        ("a,b\n1,2\n", ".arff", {}, "Line 1 of .* is no ARFF: expected @attribute"),
        ("@attribute a relational\n@data\n", ".arff", {}, "Line 1 .* has the type 'relational'"),
        ("@attribute a\n@data\n", ".arff", {}, "Line 1 .* has the type ''"),
        (ARFF + "{0 1, 1 2}\n", ".arff", {}, "Line 5 of .* is sparse ARFF"),
        (ARFF + "1,2\n3\n", ".arff", {}, "Line 6 of .* has 1 value, but there are 2 attributes"),
        (ARFF + "1,'2\n", ".arff", {}, "Line 5 of .* cannot be split into values"),
        (ARFF + "1,2\n1,x\n", ".arff", {}, "'b' of .* declared as numeric, .* row 2 is 'x'"),
        (ARFF + "1,?\n1,true\n", ".arff", {}, "'b' of .* declared as numeric, .* row 2 is 'true'"),
        (ARFF + "1,2\n1,true\n", ".arff", {}, "'b' of .* declared as numeric, .* 'true'"),
        ("@attribute a real\n" * 2 + "@data\n1,2\n", ".arff", {}, "more than one column 'a'"),
    ],
)
def test_wrong_tables(table, content, suffix, options, message):
    with pytest.raises(ValueError, match=message):
        table(content, suffix, **options)


def test_a_line_without_end_is_no_table(table, monkeypatch):
    monkeypatch.setattr("icvi_artmap.tables.lines.LONGEST_LINE", 1000)
    monkeypatch.setattr("icvi_artmap.tables.lines.CHUNK", 500)
    with pytest.raises(ValueError, match=r"Line 2 of .* has more than 1000 characters"):
        table("a,b\n" + "1" * 2000)


@pytest.mark.parametrize(
    ("start", "suffix"),
    [
        pytest.param("a,b\n" + "1,2\n" * 500, ".csv", id="numbers"),
        pytest.param("a,b\n" + "1,x\n" * 500, ".csv", id="with text"),
        pytest.param(ARFF + "1,2\n" * 497, ".arff", id="ARFF"),
        pytest.param(ARFF + "1,?\n" * 497, ".arff", id="ARFF with gaps"),
    ],
)
def test_no_line_is_without_end(table, start, suffix, monkeypatch):
    monkeypatch.setattr("icvi_artmap.tables.lines.LONGEST_LINE", 1000)
    monkeypatch.setattr("icvi_artmap.tables.lines.CHUNK", 500)
    message = r"Line 50[12] of .* has more than 1000 characters"
    with pytest.raises(TooLargeError, match=message):
        table(start + "1," + "2" * 2000 + "\n", suffix)
    monkeypatch.setattr("icvi_artmap.tables.lines.CHUNK", 10)
    with pytest.raises(TooLargeError, match=message):
        table(start + "1," + "2" * 2000 + "\n", suffix)


def test_no_row_of_many_lines_is_without_end(table, monkeypatch):
    monkeypatch.setattr("icvi_artmap.tables.lines.LONGEST_LINE", 1000)
    monkeypatch.setattr("icvi_artmap.tables.lines.CHUNK", 500)
    assert len(table("a,b\n" + '1,"x\ny"\n' * 500)) == 500
    with pytest.raises(TooLargeError, match=r"Line .* has more than 1000 characters"):
        table("a,b\n" + "1,x\n" * 500 + '1,"' + "x\n" * 600 + '"\n')


def test_chunks_do_not_matter(table, monkeypatch):
    content = 'a,b,t\r\n1,2,"x\r\ny"\n\r\n\n3,4,ä\r5,6,"\r"\n\r\r\n7,8,z'
    whole = table(content, label_column="t")
    assert whole.labels.tolist() == ["x\r\ny", "ä", "\r", "z"]
    for chunk in range(1, 12):
        monkeypatch.setattr("icvi_artmap.tables.lines.CHUNK", chunk)
        found = table(content, label_column="t")
        assert_array_equal(found.X, whole.X)
        assert found.labels.tolist() == whole.labels.tolist()
        with pytest.raises(ValueError, match=r"Line 12 of .* has 2 values"):
            table(content + "\n1,2\n")


def test_few_lines_are_taken_one_by_one(table, monkeypatch):
    monkeypatch.setattr("icvi_artmap.tables.lines.BLOCK_LINES", 100)
    one_by_one, hand_on = [], text._Taken.lines

    def counted(self, lines):
        for line in hand_on(self, lines):
            one_by_one.append(line)
            yield line

    monkeypatch.setattr(text._Taken, "lines", counted)
    plain = "1,x\n\n" * 1000
    assert len(table("a,b\n" + plain, label_column="b")) == 1000
    assert len(table('a,b\n1,"x"\n' + plain, label_column="b")) == 1001
    assert one_by_one == ["a,b\n"] * 2
    for before in range(3):  # in the last case the text in quotes goes on in the next block
        content = "a,b\n" + plain + "\n" * (100 - 2 + before) + '2,"x\n\ny"\n' + plain
        found = table(content, label_column="b")
        assert len(found) == 2001
        assert found.X[1000, 0] == 2
        assert found.labels[1000] == "x\n\ny"
    assert 100 < len(one_by_one) < 310
    for rows in (plain, plain + '2,"x"\n'):
        number = (rows + "3").count("\n") + 2
        with pytest.raises(ValueError, match=rf"Line {number} of .* has 3 values"):
            table("a,b\n" + rows + "3,4,5\n" + plain)


def test_very_many_columns_are_no_table(table, tmp_path, monkeypatch):
    for module in ("content", "text"):
        monkeypatch.setattr(f"icvi_artmap.tables.{module}.MOST_COLUMNS", 1000)
    assert table("1," * 999 + "1\n").X.shape == (1, 1000)
    with pytest.raises(TooLargeError, match=r"more than 1,000 cells .*interchanged"):
        table("1," * 1000 + "1\n")
    with pytest.raises(TooLargeError, match="more than 1,000 cells"):
        table("a,b\n" + "1,x\n" * 300 + "1," * 1000 + "1\n")
    with pytest.raises(TooLargeError, match="more than 1,000 cells"):
        table(ARFF + "1," * 1000 + "1\n", ".arff")
    np.save(tmp_path / "x.npy", np.zeros((1, 1001)))
    with pytest.raises(ValueError, match="has 1,001 columns, and a table at most 1,000"):
        read_table(tmp_path / "x.npy")


# Bombs


def test_text_that_unpacks_to_very_much(table, monkeypatch):
    with pytest.raises(TooLargeError, match=r"unpacks to more than 16,777,216,.* gunzip first"):
        table(gzip.compress(b"\n" * 2**25), ".csv.gz")
    monkeypatch.setattr("icvi_artmap.tables.source.UNPACKED_BYTES", 2**20)
    for content in (b"1" * 2**21, b"0\n" * 2**20, b"a,b\n" + b"x,1\n" * 2**19):
        with pytest.raises(TooLargeError, match="unpacks to more than 1,048,576"):
            table(gzip.compress(content), ".csv.gz")
    with pytest.raises(TooLargeError, match="unpacks to more than 1,048,576"):
        table(gzip.compress(ARFF.encode() + b"1,2\n" * 2**19), ".arff.gz")
    numbers = "".join(f"{number}\n" for number in np.random.default_rng(0).random(10**5))
    assert len(table(gzip.compress(numbers.encode()), ".csv.gz")) == 10**5


def test_arrays_that_unpack_to_very_much(tmp_path):
    for name, X in (("x", np.zeros((1000, 9000))), ("y", np.zeros((3000, 5000), np.int8))):
        np.savez_compressed(tmp_path / f"{name}.npz", X=X)
    np.savez_compressed(tmp_path / "z.npz", X=np.zeros((2, 2)), more=np.zeros((1000, 9000)))
    del X
    tracemalloc.start()
    for name in ("x", "y", "z"):
        with pytest.raises(TooLargeError, match=r"would take .* at most 67,108,864 are allowed"):
            read_table(tmp_path / f"{name}.npz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**22
    np.savez(tmp_path / "x.npz", X=np.zeros((1000, 9000)))
    assert read_table(tmp_path / "x.npz").X.shape == (1000, 9000)


def test_an_array_is_as_large_as_its_file(tmp_path):
    header = b"\x93NUMPY\x01\x00\x76\x00{'descr': '%s', 'fortran_order': False, 'shape': (%s), }"
    for dtype, shape in (
        (b"<f8", b"1000, 1000000"),
        (b"<f8", b"-1, -1000"),
        (b"<U0", b"10, 10000000"),
    ):
        content = (header % (dtype, shape)).ljust(127) + b"\n" + bytes(64)
        (tmp_path / "x.npy").write_bytes(content)
        with pytest.raises(ValueError, match=r"is damaged, or no .npy file|would take 800,000,000"):
            read_table(tmp_path / "x.npy")


def test_columns_that_unpack_to_very_much(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    columns = {"a": np.zeros(10**7), "b": np.arange(10**7) // 10**6}
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "x.parquet")
    with pytest.raises(TooLargeError, match="would take 160,000,000; at most 67,108,864"):
        read_table(tmp_path / "x.parquet")
    words = {"a": np.arange(20_000) ** 2, "t": ["x" * 10_000] * 20_000}
    pyarrow.parquet.write_table(pyarrow.table(words), tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").columns == ("a",)
    with pytest.raises(TooLargeError, match="would take 800,000,000"):
        read_table(tmp_path / "t.parquet", label_column="t")


def test_nested_columns_are_no_labels(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    columns = {"a": [1.5, 2.5], "a.b": [[1], [2]]}
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "x.parquet")
    assert has_note(read_table(tmp_path / "x.parquet"), "Text, left out: column 'a.b'")
    with pytest.raises(ValueError, match=r"Column 'a.b' of .* is nested"):
        read_table(tmp_path / "x.parquet", label_column="a.b")


def test_one_long_label_among_many(table):
    content = "a,b\n" + "1,x\n" * 10_000 + "2," + "y" * 10_000 + "\n"
    assert table(content).columns == ("a",)
    assert len(table(content, id_column="b").ids[-1]) == 10_000
    with pytest.raises(TooLargeError, match="would take 400,040,000"):
        table(content, label_column="b")


def test_a_pipe_without_end(monkeypatch):
    monkeypatch.setattr("icvi_artmap.tables.source.PIPED_BYTES", 2**21)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1,2\n" * 2**20)))
    with pytest.raises(TooLargeError, match=r"has more than 2,097,152 bytes.* to a file first"):
        read_table("-")


def test_very_many_blank_lines_are_not_read_one_by_one(tmp_path):
    for end in (b"\n", b"\r\n", b"\r"):
        (tmp_path / "x.csv").write_bytes(b"a,b\n" + end * 2**21 + b"1,2\n3\n")
        with open_lines(find_source(tmp_path / "x.csv")) as lines:
            assert sum(1 for _ in lines) < 2**20
            assert lines.number == 2**21 + 3
        with pytest.raises(ValueError, match=r"Line 2097155 of .* has 1 value"):
            read_table(tmp_path / "x.csv")


@pytest.mark.parametrize(
    "cell", [" " * 100_000 + "'x", "'" + "\\'" * 100_000, '"' * 99_999, " " * 100_000 + ","]
)
def test_arff_is_split_in_linear_time(table, cell):
    began = time.perf_counter()
    with pytest.raises(ValueError, match=r"Line 5 of .* (cannot be split|has \d+ values)"):
        table(ARFF + "'1'," + cell + "\n", ".arff")
    assert time.perf_counter() - began < 5


# Damage


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """The same with a few bytes changed, cut out or put in."""
    changed = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        at, kind = rng.integers(len(changed)), rng.integers(4)
        if kind == 0:
            changed[at] ^= 1 << rng.integers(8)
        elif kind == 1:
            changed[at] = rng.integers(256)
        elif kind == 2:
            del changed[at : at + rng.integers(1, 30)]
        else:
            changed[at:at] = rng.bytes(rng.integers(1, 9))
        if not changed:
            return b""
    return bytes(changed)


@pytest.mark.parametrize("suffix", [".npz", ".npy", ".parquet", ".csv", ".csv.gz", ".arff"])
def test_damaged_files_are_read_or_refused_in_a_sentence(tmp_path, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    rng = np.random.default_rng(14)
    columns = {"a": rng.normal(size=20), "b": np.arange(20) % 3, "c": np.ones(20, bool)}
    if suffix != ".npy":
        columns["t"] = [f"name {i}" for i in range(20)]
    path = tmp_path / f"x{suffix}"
    write_table(path, columns)
    content, refusals = path.read_bytes(), []
    for _ in range(200):
        path.write_bytes(mutated(content, rng))
        try:
            read_table(path, missing="mean")
        except ValueError as error:
            refusals.append(str(error))
    assert len(refusals) > 20
    assert max(map(len, refusals)) <= 300
    assert all(text.isprintable() for text in refusals)


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), 'x': '''}",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': ((1, 1}",
        b"{'descr': [('a', 5)], 'fortran_order': False, 'shape': (1, 1)}",
        b"{'descr': ('<f8', -1), 'fortran_order': False, 'shape': (1, 1)}",
        b"[1, 2]",
        b"((((((((((" * 200,
    ],
)
def test_headers_that_are_none(tmp_path, header):
    text = header.ljust(118) + b"\n"
    content = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(8)
    (tmp_path / "x.npy").write_bytes(content)
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("X.npy", content)
    for suffix in (".npy", ".npz"):
        with pytest.raises(ValueError, match=f"is damaged, or no {suffix} file"):
            read_table(tmp_path / f"x{suffix}")


def test_archives_that_numpy_does_not_write(tmp_path):
    array = io.BytesIO()
    np.save(array, np.eye(3))
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        with zipfile.ZipFile(tmp_path / "x.npz", "w", method) as archive:
            archive.writestr("X.npy", array.getvalue())
        with pytest.raises(ValueError, match=r"is damaged, or no .npz file"):
            read_table(tmp_path / "x.npz")
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("X", b"no array")
    with pytest.raises(ValueError, match="It holds: nothing"):
        read_table(tmp_path / "x.npz")


LONG = "n" * 100_000
OPEN = ARFF.removesuffix("@data\n")
WORDS = [f"a name of a column {i}" for i in range(9)]


@pytest.mark.parametrize(
    ("content", "suffix", "options"),
    [
        (f"{LONG},b\nx,y\n", ".csv", {}),
        (f"{LONG},{LONG}\n1,2\n", ".csv", {}),
        (f"{LONG},b\n1,2\n", ".csv", {"columns": ["c"]}),
        (",".join(LONG[:1000] + str(i) for i in range(9)) + "\n" + "1," * 8 + "1\n", ".csv",
         {"columns": ["c"]}),
        ("a,b\n1,2\n", ".csv", {"columns": [LONG]}),
        ("a,b\n1,2\n", ".csv", {"label_column": LONG}),
        ("a,b\n1,2\n", ".csv", {"missing": LONG}),
        ("a,b\n1,2\n", ".csv", {"delimiter": LONG}),
        (f"{LONG},b\n1,\n,2\n", ".csv", {}),
        (f"{LONG},b\n1,inf\n,2\n", ".csv", {}),
        (",".join(WORDS) + "\n1" + "," * 8 + "\n2" * 9, ".csv", {}),
        (",".join(WORDS) + "\n" + "," * 8 + "\n" + "2,?" * 4 + ",1\n", ".csv", {"missing": "drop"}),
        (",".join(WORDS) + "\n" + "inf," * 8 + "1\n", ".csv", {}),
        ("a\n" + "1\n" * 20 + LONG + "\n", ".csv", {}),
        (f"a,b\n1,{LONG}\n", ".csv", {"columns": ["b"]}),
        (LONG, ".arff", {}),
        (OPEN + f"@attribute {LONG} {LONG}\n", ".arff", {}),
        (ARFF + f"1,{LONG}\n", ".arff", {}),
        (ARFF + f"1,'{LONG}\n", ".arff", {}),
        ("\x1b[31ma,b\nx,y\n", ".csv", {}),
    ],
)  # fmt: skip
def test_messages_are_short_and_show_no_escapes(table, content, suffix, options):
    with pytest.raises(ValueError) as error:
        table(content, suffix, **options)
    assert len(str(error.value)) <= 300
    assert str(error.value).isprintable()


def test_notes_are_short(table):
    names = [f"{i}{LONG[:1000]}" for i in range(9)]
    found = table(",".join(names) + ",z\n" + "x," * 9 + "1\n")
    assert has_note(found, "Text, left out: columns '0nnn")
    assert all(len(note) <= 300 for note in found.notes)


def test_a_long_path_is_shown_in_part(tmp_path):
    path = tmp_path / ("d" * 200) / ("e" * 200) / "none.csv"
    with pytest.raises(FileNotFoundError, match=r"/none.csv") as error:
        read_table(path)
    assert len(str(error.value)) <= 300


def test_two_integers_or_one_decimal_is_told(table):
    found = table("1,5\n2,25\n3,5\n")
    assert found.columns == ("x1", "x2")
    assert has_note(found, 'If that is a decimal mark, give delimiter=";"')
    assert_array_equal(table("1,5\n2,25\n3,5\n", delimiter=";").X, [[1.5], [2.25], [3.5]])
    assert not has_note(table("1,5\n2,-25\n"), "decimal")
    assert not has_note(table("a,b\n1,5\n"), "decimal")


def test_rows_are_counted_over_blocks(table, monkeypatch):
    monkeypatch.setattr("icvi_artmap.tables.content.BLOCK_CELLS", 8)
    with pytest.raises(ValueError, match="1 of 31 values are none: the first is 'x' in row 31"):
        table("a,b\n" + "1,2\n" * 30 + "x,2\n")


def test_noise_under_the_name_of_a_table(table):
    for seed in range(20):
        noise = np.random.default_rng(seed).bytes(100_000)
        for suffix in (".csv", ".dat", ".arff", ".npy", ".npz", ".parquet"):
            with pytest.raises(ValueError, match="table"):
                table(noise, suffix)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.arange(3), r"shape \(3,\); a 2-D one .* array.reshape\(-1, 1\)"),
        (np.zeros((2, 2, 2)), r"shape \(2, 2, 2\); .* array.reshape\(len\(array\), -1\)"),
        (np.array([["a"]]), "values of type <U1; numbers are wanted"),
        (np.zeros((2, 2), complex), "values of type complex128"),
        (np.zeros((2, 0)), "no columns"),
        (np.zeros((0, 2)), "has no rows"),
        (np.array([[np.inf]]), "infinite values"),
        (np.array([[None]]), "Python objects"),
    ],
)
def test_wrong_arrays(tmp_path, array, message):
    np.save(tmp_path / "a.npy", array, allow_pickle=True)
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path / "a.npy")
    np.savez(tmp_path / "a.npz", X=array)
    if array.ndim != 1:
        with pytest.raises(ValueError, match=message):
            read_table(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, "It holds: nothing"),
        ({"a": [[1]], "b": [[2]]}, r"It holds: a \(1, 1\), b \(1, 1\)"),
        ({"a": [1, 2], "b": [1]}, r"It holds: a \(2,\), b \(1,\)"),
        ({"X": [[1], [2]], "y": [1]}, r"y has shape \(1,\), but X has 2 rows"),
    ],
)
def test_wrong_archives(tmp_path, arrays, message):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path / "a.npz")


def test_wrong_places(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file '.*none.csv'"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(IsADirectoryError, match=r"is a folder without any file .parquet"):
        read_table(tmp_path)
    with pytest.raises(TypeError, match=r"source must be a path, .* got list. Arrays"):
        read_table([[1, 2]])


def test_empty_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(ValueError, match="Standard input is empty"):
        read_table("-")


def test_a_given_delimiter_is_used(table):
    assert table("a,b c\n1 2\n", ".csv", delimiter=" ").columns == ("a,b", "c")
    assert table("a b\tc\n1\t2\n", ".txt", delimiter="\\t").columns == ("a b", "c")
    assert table("a:b\n1:2\n", ".csv", delimiter=":").columns == ("a", "b")


# Names alone


@pytest.mark.parametrize(
    ("content", "suffix"), [("a,b\n1,x\n", ".csv"), (ARFF + "1,2", ".arff"), ("#a b\n1 2", ".dat")]
)
def test_column_names(tmp_path, content, suffix):
    path = tmp_path / f"x{suffix}"
    path.write_text(content)
    assert column_names(path) == ["a", "b"]


def test_column_names_of_arrays(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((2, 2)))
    assert column_names(tmp_path / "x.npy") == ["x1", "x2"]


# Writing

EXTREMES = np.array(
    [0.1, -0.0, 5e-324, 1.7976931348623157e308, 2**53 + 2, 1 / 3, -1e-17, 123456.789e-30]
)
TEXTS = ['a "b"', "c, d", "e;f\tg|h", "ä ß €", "日本", "line\nbreak", " blank ", "it's \\ {x} %"]
WITH_NAMES = [".csv", ".csv.gz", ".tsv", ".arff", ".arff.gz", ".npz", ".parquet"]


@pytest.mark.parametrize("suffix", WITH_NAMES)
def test_round_trip(tmp_path, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"x{suffix}"
    columns = {
        "small, large": EXTREMES,
        "count": np.array([3, -1, 2**40, 0, 7, 8, 9, 5]),
        "flag": EXTREMES > 0,
        "it's": np.float32([0.1, 1e-38, 3e38, -7, 1 / 3, 2**24, 1e-45, 0]),
        "text": TEXTS,
        "file": np.ones(8, np.uint8),
    }
    write_table(path, columns)
    found = read_table(path, label_column="text")
    assert found.columns == ("small, large", "count", "flag", "it's", "file")
    for j, name in enumerate(found.columns):
        expected = np.asarray(columns[name], np.float64)
        assert found.X[:, j].tobytes() == expected.tobytes(), name
    assert found.labels.tolist() == TEXTS
    assert column_names(path) == list(columns)


@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=False, allow_infinity=False),
            st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8),
        ),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from([".csv", ".tsv", ".arff"]),
)
@example([(1.0, "a\rb")], ".csv")
@example([(1.0, "\r"), (2.0, "=1+1"), (3.0, "'=1+1"), (4.0, "''@x"), (5.0, "'x")], ".csv")
@example([(1.0, "-"), (2.0, "'-"), (3.0, "\t-x"), (4.0, "-x, y"), (5.0, "\r=")], ".tsv")
def test_any_text_and_float_comes_back(tmp_path_factory, rows, suffix):
    path = tmp_path_factory.getbasetemp() / f"any{suffix}"
    # A text that is no number, so that the column stays text.
    rows = [(1.5, "text"), *rows]
    write_table(path, {"value": [row[0] for row in rows], "text": [row[1] for row in rows]})
    found = read_table(path, columns=["value"], label_column="text")
    assert found.X[:, 0].tobytes() == np.array([row[0] for row in rows]).tobytes()
    assert found.labels.tolist() == [row[1] for row in rows]


FORMULAS = ["=cmd|'/c x'!A1", "+49 30", "-x", "@sum(a)", "\tx", "\r=1", "'=x", "-5", "+1e3", "-1,5"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz"])
def test_formulas_are_made_harmless_and_come_back(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    write_table(path, {"=n": np.arange(10.0) - 5, "+t": FORMULAS})
    opened = gzip.open if suffix.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t" if suffix == ".tsv" else ","))
    assert rows[0] == ["'=n", "'+t"]
    written = [row[1] for row in rows[1:]]
    assert written == [f"'{text}" for text in FORMULAS[:7]] + FORMULAS[7:]
    assert [float(row[0]) for row in rows[1:]] == list(range(-5, 5))
    found = read_table(path, columns=["=n"], label_column="+t")
    assert found.labels.tolist() == FORMULAS
    assert read_table(path, columns=["=n"], id_column="+t").ids == FORMULAS
    assert column_names(path) == ["=n", "+t"]


def test_formulas_as_they_are(tmp_path):
    write_table(tmp_path / "x.csv", {"=n": [1, 2], "t": ["=1", "@x"]}, escape_formulas=False)
    assert (tmp_path / "x.csv").read_text() == "=n,t\n1,=1\n2,@x\n"
    assert read_table(tmp_path / "x.csv", label_column="t").labels.tolist() == ["=1", "@x"]
    write_table(tmp_path / "x.npz", {"=n": [1, 2], "t": ["=1", "@x"]})
    with np.load(tmp_path / "x.npz") as arrays:
        assert arrays["t"].tolist() == ["=1", "@x"]


def test_names_come_back(tmp_path):
    names = ["#a", "b\rc", "%d", "e\nf"]
    for suffix in (".csv", ".tsv"):
        write_table(tmp_path / f"x{suffix}", {name: [1.5, 2.5] for name in names})
        assert column_names(tmp_path / f"x{suffix}") == names


def test_a_screen_is_not_commanded(monkeypatch):
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    for stream, cell in ((Screen(), "a\\x1b[2J"), (io.StringIO(), "a\x1b[2J")):
        monkeypatch.setattr(sys, "stdout", stream)
        write_table("-", {"t": ["a\x1b[2J"], "n": [1]})
        assert stream.getvalue() == f"t,n\n{cell},1\n"


def test_npy_has_numbers_only(tmp_path):
    write_table(tmp_path / "x.npy", {"a": [1, 2], "b": EXTREMES[:2]})
    assert_array_equal(np.load(tmp_path / "x.npy"), np.column_stack([[1, 2], EXTREMES[:2]]))
    with pytest.raises(ValueError, match="numbers only, but column 'b' is text"):
        write_table(tmp_path / "y.npy", {"a": [1, 2], "b": ["u", "v"]})
    assert not (tmp_path / "y.npy").exists()


def test_missing_values_come_back_as_missing(tmp_path):
    for suffix in (".csv", ".arff", ".npz"):
        write_table(tmp_path / f"x{suffix}", {"a": [1, np.nan, 3], "t": ["u", None, "w"]})
        found = read_table(tmp_path / f"x{suffix}", missing="drop", label_column="t")
        assert_array_equal(found.rows, [0, 2])
        assert found.labels.tolist() == ["u", "w"]


def test_standard_output(capsys):
    write_table("-", {"a": [0.1, 2], "b": [True, False], "c": ["x,y", ""]})
    assert capsys.readouterr().out == 'a,b,c\n0.1,True,"x,y"\n2.0,False,\n'


def test_the_same_table_gives_the_same_bytes(tmp_path):
    for name in ("one.csv.gz", "two.csv.gz"):
        write_table(tmp_path / name, {"a": [1]})
    packed = (tmp_path / "one.csv.gz").read_bytes()
    assert packed == (tmp_path / "two.csv.gz").read_bytes()
    assert packed[4:8] == bytes(4), "a gzip file has the time there"


@pytest.mark.parametrize(
    ("name", "columns", "error", "message"),
    [
        ("x.ods", {"a": [1]}, ValueError, "no suffix of a known format. Known: .csv, .tsv, .arff"),
        ("x", {"a": [1]}, ValueError, "no suffix of a known format"),
        ("x.npz.gz", {"a": [1]}, ValueError, "no suffix of a known format"),
        ("none/x.csv", {"a": [1]}, FileNotFoundError, "There is no folder '.*none': make it first"),
        ("x.csv", {}, ValueError, "columns is empty"),
        ("x.csv", {"a": [1], "b": [1, 2]}, ValueError, "one length, got: 'a' 1, 'b' 2"),
        ("x.csv", {"a": [[1]]}, ValueError, r"'a' must be 1-D, got an array of shape \(1, 1\)"),
        ("x.csv", {1: [1]}, ValueError, "Names of columns must be text, got 1"),
        ("x.csv", {" ": [1]}, ValueError, "Names of columns must be text"),
        ("x.csv", [[1]], TypeError, "columns must be a mapping .* got list"),
    ],
)
def test_wrong_writing(tmp_path, name, columns, error, message):
    with pytest.raises(error, match=message):
        write_table(tmp_path / name, columns)
    assert not list(tmp_path.iterdir())


def test_a_folder_is_not_written_over(tmp_path):
    (tmp_path / "x.csv").mkdir()
    with pytest.raises(IsADirectoryError, match="is a folder"):
        write_table(tmp_path / "x.csv", {"a": [1]})


def test_an_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.csv"
    write_table(path, {"a": [1]})
    with pytest.raises(UnicodeEncodeError):
        write_table(path, {"a": ["\ud800"]})
    assert path.read_text() == "a\n1\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.csv"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
@pytest.mark.parametrize("suffix", [".csv", ".npz"])
def test_a_killed_writer_leaves_the_old_file(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    write_table(path, {"a": [1]})
    before = path.read_bytes()
    # Killed when all is written, but before the new file takes the place of the old one.
    program = (
        "import os, signal, sys\n"
        "from icvi_artmap import write_table\n"
        "os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_table(sys.argv[1], {'a': range(10_000)})\n"
    )
    source = Path(icvi_artmap.__file__).parents[1]
    killed = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        env={**os.environ, "PYTHONPATH": str(source)},
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    assert path.read_bytes() == before
    (left,) = (entry for entry in tmp_path.iterdir() if entry != path)
    assert left.name.startswith(f".x{suffix}.")
    assert left.stat().st_size > 10_000


def test_rights_of_a_written_file(tmp_path):
    path = tmp_path / "x.csv"
    write_table(path, {"a": [1]})
    (tmp_path / "plain").write_text("")
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode
    path.chmod(0o640)
    write_table(path, {"a": [2]})
    assert path.stat().st_mode & 0o777 == 0o640


# The object


def test_table_shows_its_size_and_cannot_be_changed(table):
    found = table("a,b\n1,2\n3,4\n5,7\n")
    assert repr(found) == "<Table: 3 rows, 2 columns>"
    assert len(found) == 3
    with pytest.raises(AttributeError):
        found.X = None


def test_a_file_is_not_read_to_find_it(tmp_path):
    path = tmp_path / "ellipsoid.50d4c.1.csv.gz"
    path.write_text("no gzip")
    assert find_source(path).format.suffixes == (".csv",)


# The registry of formats


def first_suffix(format: Format) -> str:
    return format.suffixes[0]


def test_a_suffix_belongs_to_one_format():
    suffixes = [suffix for format in FORMATS for suffix in format.suffixes]
    assert len(set(suffixes)) == len(suffixes)
    assert [format.name for format in FORMATS if format.streamed] == ["CSV"]


@pytest.mark.parametrize("format", written_formats(), ids=first_suffix)
def test_names_alone_are_those_that_reading_finds(tmp_path, format):
    if format.needs:
        pytest.importorskip(format.needs)
    path = tmp_path / f"x{first_suffix(format)}"
    write_table(path, {"a": [1.5, 2, 4], "b c": [3.5, 1, 2]})
    expected = ["a", "b c"] if format.named else ["x1", "x2"]
    assert column_names(path) == list(read_table(path).columns) == expected


@pytest.mark.parametrize("format", [f for f in FORMATS if f.writer is None], ids=first_suffix)
def test_a_format_without_a_writer_is_not_written(tmp_path, format):
    for suffix in format.suffixes:
        with pytest.raises(ValueError, match=f"Known: {suffixes_of(written_formats())}, and"):
            write_table(tmp_path / f"x{suffix}", {"a": [1]})


@pytest.mark.parametrize("format", [f for f in FORMATS if f.packed], ids=first_suffix)
def test_a_packed_file_has_the_bytes_of_the_plain_one(tmp_path, format):
    plain, packed = (tmp_path / f"x{first_suffix(format)}{end}" for end in ("", ".gz"))
    if format.writer is None:
        plain.write_text("a b\n1 2\n")
        packed.write_bytes(gzip.compress(plain.read_bytes()))
    else:
        write_table(plain, {"a": [1.5, 2], "b": ["x", "y"]})
        write_table(packed, {"a": [1.5, 2], "b": ["x", "y"]})
        assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    assert_array_equal(read_table(packed).X, read_table(plain).X)


def test_no_delimiter_is_none_in_a_file_with_tabs(table):
    with pytest.raises(ValueError, match="delimiter must be one character"):
        table("a\tb\n1\t2\n", ".tsv", delimiter="")
