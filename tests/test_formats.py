"""Excel, JSON, Feather, tables in several files, samples, and tables with columns added."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from icvi_artmap import read_table, write_table
from icvi_artmap.tables import column_names
from icvi_artmap.tables.extending import check_extended, names_to_add, write_extended

COLUMNS: dict[str, Any] = {
    "width": np.array([0.1, -2.5, 1e22, 1 / 3, 5e-324]),
    "count": np.array([1, 2, 3, 4, 2**53 - 1]),
    "good": np.array([True, False, True, True, False]),
    "kind, of": np.array(["a", "=1+1", "it's\r\n_x0041_", "\x1bü<&>", " b "]),
}
NEW = [".xlsx", ".json", ".json.gz", ".jsonl", ".jsonl.gz", ".ndjson", ".feather"]


def need(suffix: str) -> None:
    if suffix == ".xlsx":
        pytest.importorskip("openpyxl")


@pytest.mark.parametrize("suffix", NEW)
def test_what_is_written_comes_back(suffix: str, tmp_path: Path) -> None:
    need(suffix)
    path = tmp_path / f"t{suffix}"
    write_table(path, COLUMNS)
    assert column_names(path) == list(COLUMNS)
    found = read_table(path, columns=["width", "count", "good"], label_column="kind, of")
    np.testing.assert_array_equal(found.X[:, 0], COLUMNS["width"])
    np.testing.assert_array_equal(found.X[:, 1], COLUMNS["count"])
    np.testing.assert_array_equal(found.X[:, 2], COLUMNS["good"])
    assert found.labels is not None
    assert found.labels.tolist() == COLUMNS["kind, of"].tolist()
    content = path.read_bytes()
    write_table(path, COLUMNS)
    assert path.read_bytes() == content


@pytest.mark.parametrize("suffix", NEW)
def test_missing_values_come_back(suffix: str, tmp_path: Path) -> None:
    need(suffix)
    path = tmp_path / f"t{suffix}"
    write_table(path, {"a": [1.5, np.nan, 2.0], "b": [1.0, 2.0, 4.0]})
    found = read_table(path, missing="keep")
    np.testing.assert_array_equal(found.X, [[1.5, 1.0], [np.nan, 2.0], [2.0, 4.0]])


@pytest.mark.parametrize(
    "text",
    [
        '[{"a": 1, "b": "x"}, {"a": 2.5}]',
        '{"a": [1, 2.5], "b": ["x", null]}',
        '{"a": {"0": 1, "1": 2.5}, "b": {"0": "x", "1": null}}',
    ],
)
def test_shapes_of_json(text: str, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(text)
    found = read_table(path)
    assert found.columns == ("a",)
    assert found.X.tolist() == [[1.0], [2.5]]
    assert found.notes == ("Text, left out: column 'b'.",)


def test_lists_of_json_have_no_names(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text("[[1, 2], [3, 5]]")
    found = read_table(path)
    assert found.columns == ("x1", "x2")
    assert found.X.tolist() == [[1.0, 2.0], [3.0, 5.0]]


@pytest.mark.parametrize(
    ("suffix", "text", "told"),
    [
        (".json", "", "is no JSON: Expecting value"),
        (".json", "[1, 2", "is no JSON"),
        (".json", "3", "holds a number; wanted is a list of objects"),
        (".json", "[]", "has no rows"),
        (".json", "[1, 2]", "Row 1 of .* is a number; wanted is a list of objects"),
        (".json", '[{"a": 1}, [2]]', "Row 2 of .* is a list; wanted is an object like the first"),
        (".json", "[[1, 2], [3]]", "Row 2 of .* has 1 value, but the first has 2"),
        (".json", "[{}]", "objects without keys"),
        (".json", "[[]]", "empty rows"),
        (".json", '{"a": [1], "b": [1, 2]}', "'a' has 1 value, but 'b' has 2"),
        (".json", '{"a": 1}', "an object whose 'a' is a number"),
        (".json", "[" * 100_000, "nested too deeply"),
        (".json", "[" + "9" * 5000 + "]", "is no JSON"),
        (".json", '[{"a": 1e999}, {"a": 2}]', "infinite values"),
        (".jsonl", '{"a": 1}\n{"a": \n', "Line 2 of .* is no JSON"),
        (".jsonl", '{"a": 1}\n7\n', "Line 2 of .* is a number"),
        (".jsonl", "", "has no rows"),
        (".feather", "FEA1 no", "is damaged, or no Feather file"),
        (".feather", "", "is damaged, or no Feather file"),
        (".xlsx", "PK no", "is damaged, or no Excel workbook"),
        (".xlsx", "", "is damaged, or no Excel workbook"),
    ],
)
def test_broken_files_are_told(suffix: str, text: str, told: str, tmp_path: Path) -> None:
    need(suffix)
    path = tmp_path / f"t{suffix}"
    path.write_text(text)
    with pytest.raises(ValueError, match=told):
        read_table(path)


def test_many_different_keys_are_no_table(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("".join(f'{{"k{i}": 1}}\n' for i in range(4000)))
    with pytest.raises(ValueError, match="would take"):
        read_table(path)


# Excel


def workbook(path: Path, rows: list[list[Any]], *more: list[list[Any]]) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for i, cells in enumerate((rows, *more)):
        sheet = book.active if i == 0 else book.create_sheet()
        for row in cells:
            sheet.append(row)
    book.save(path)
    return path


def test_a_workbook_of_openpyxl(tmp_path: Path) -> None:
    import datetime

    rows = [["a", "when", "b"], [1, datetime.date(2024, 1, 2), 2.5], [], [3, None, 4, None]]
    found = read_table(workbook(tmp_path / "t.xlsx", rows))
    assert found.columns == ("a", "b")
    assert found.X.tolist() == [[1.0, 2.5], [3.0, 4.0]]
    assert found.notes == ("Dates or times, left out: column 'when'.",)


def test_the_first_sheet_with_cells_is_read(tmp_path: Path) -> None:
    found = read_table(workbook(tmp_path / "t.xlsx", [], [[1, 2], [3, 5]], [["x"], [1]]))
    assert found.X.tolist() == [[1.0, 2.0], [3.0, 5.0]]
    assert found.notes[1] == "Only the first sheet with cells was read; the workbook has others."
    with pytest.raises(ValueError, match="has no cells"):
        read_table(workbook(tmp_path / "e.xlsx", []))
    with pytest.raises(ValueError, match="has a header but no rows"):
        read_table(workbook(tmp_path / "h.xlsx", [["a", "b"]]))


def test_old_workbooks_are_told(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"\xd0\xcf\x11\xe0" + bytes(2000))
    with pytest.raises(ValueError, match=r"an old Excel file \(.xls\) or has a password"):
        read_table(path)


def test_workbooks_that_would_take_all_memory(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    path = tmp_path / "t.xlsx"
    write_table(path, {"a": [1.0, 2.0]})
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    wide = b"".join(b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (i, i) for i in range(1, 9000))
    bomb = members[sheet].replace(b"<sheetData>", b"<sheetData>" + wide)
    padded = members[sheet].replace(b"<sheetData>", b"<sheetData>" + b" " * (1 << 27))
    for content in (bomb, padded):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, old in members.items():
                archive.writestr(name, content if name == sheet else old)
        with pytest.raises(ValueError, match="are allowed for a file of this size"):
            read_table(path)


def test_what_a_sheet_cannot_hold_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    path = tmp_path / "t.xlsx"
    with pytest.raises(ValueError, match="at most 1,048,575 rows"):
        write_table(path, {"a": np.zeros(2**20)})
    with pytest.raises(ValueError, match="at most 32,767 letters"):
        write_table(path, {"a": ["x" * 40_000]})
    assert not path.exists()


# Several files


def test_a_table_in_several_files(tmp_path: Path) -> None:
    for i in range(3):
        folder = tmp_path / f"part{i % 2}"
        folder.mkdir(exist_ok=True)
        values = {"a": np.arange(3.0) + 10 * i, "b": [0.5, 1.5, i]}
        write_table(folder / f"{i}.parquet", {**values, "name": ["x", "y", str(i)]})
    (tmp_path / "_SUCCESS").write_text("")
    for source in (tmp_path, tmp_path / "part*" / "*.parquet"):
        found = read_table(source, id_column="name")
        assert sorted(found.X[:, 0]) == [0, 1, 2, 10, 11, 12, 20, 21, 22]
        assert found.ids is not None
        assert len(found.ids) == 9
        assert column_names(source) == ["a", "b", "name"]
    write_table(tmp_path / "part0" / "z.parquet", {"a": [1.0], "c": [2.0]})
    with pytest.raises(ValueError, match=r"z.parquet' has the column 'c', unlike .*0.parquet"):
        read_table(tmp_path)
    write_table(tmp_path / "part0" / "z.feather", {"a": [1.0], "c": [2.0]})
    with pytest.raises(ValueError, match="files of several formats"):
        read_table(tmp_path)
    with pytest.raises(IsADirectoryError, match="a pattern without any file"):
        read_table(tmp_path / "*.nothing")


# Samples


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json"])
def test_a_sample_knows_its_rows(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{suffix}"
    n = 5000
    values = np.random.RandomState(0).permutation(n) + 0.25 * (np.arange(n) % 3)
    write_table(path, {"a": values, "text": [f"t{i}" for i in range(n)]})
    found = read_table(path, sample=200, random_state=3, id_column="text")
    assert len(found) == 200
    assert found.n_input == n
    np.testing.assert_array_equal(found.X[:, 0], values[found.rows])
    assert found.ids == [f"t{row}" for row in found.rows]
    assert (np.diff(found.rows) > 0).all()
    assert 0.4 * n < found.rows.mean() < 0.6 * n
    assert "A first look: 200 rows of 5,000, drawn at random, were read." in found.notes
    again = read_table(path, sample=200, random_state=3)
    np.testing.assert_array_equal(found.rows, again.rows)
    other = read_table(path, sample=200, random_state=4)
    assert not np.array_equal(found.rows, other.rows)
    whole = read_table(path, sample=n)
    assert len(whole) == n
    assert not any("first look" in note for note in whole.notes)


def test_messages_about_a_sample_count_rows_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 500 + "1,\n" * 500)
    with pytest.raises(ValueError, match=r"first in row (5[0-9]\d|6\d\d)\)"):
        read_table(path, sample=50)


@pytest.mark.parametrize("sample", [0, -1, True, 1.5, "9"])
def test_a_sample_is_a_number_of_rows(sample: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="sample must be a number of rows"):
        read_table(tmp_path / "t.csv", sample=sample)


# Columns added

TEXT = 'id;when;size;note\n007;2024-01-02;1,5;"a;b"\n008;;2,25;=SUM(A1)\n'
ADDED = {
    "cluster": np.array([0, -1]),
    "membership": np.array([0.75, np.nan]),
    "runner_up": np.array([1, 0]),
}


def test_text_keeps_its_cells_delimiter_and_decimal_mark(tmp_path: Path) -> None:
    source, target = tmp_path / "t.csv", tmp_path / "o.csv"
    source.write_text(TEXT)
    assert write_extended(target, source, ADDED) == list(ADDED)
    rows = list(csv.reader(io.StringIO(target.read_text()), delimiter=";"))
    assert rows == [
        ["id", "when", "size", "note", "cluster", "membership", "runner_up"],
        ["007", "2024-01-02", "1,5", "a;b", "0", "0,75", "1"],
        ["008", "", "2,25", "'=SUM(A1)", "-1", "", "0"],
    ]
    found = read_table(target, columns=["size", "membership"], missing="keep")
    np.testing.assert_array_equal(found.X, [[1.5, 0.75], [2.25, np.nan]])
    again = tmp_path / "again.tsv"
    assert write_extended(again, target, ADDED) == list(ADDED)
    assert again.read_text().splitlines()[0].split("\t") == rows[0]


@pytest.mark.parametrize(
    "suffix", [".csv", ".tsv", ".csv.gz", ".arff", ".parquet", ".feather", ".npz", *NEW]
)
@pytest.mark.parametrize("origin", [".csv", ".parquet", ".json"])
def test_every_format_holds_the_table(origin: str, suffix: str, tmp_path: Path) -> None:
    need(suffix)
    source, target = tmp_path / f"t{origin}", tmp_path / f"o{suffix}"
    numbers = np.array([1.5, 2.0, np.nan])
    long = ["123456789012345678", "123456789012345679", "123456789012345680"]
    write_table(source, {"a": numbers, "long": long, "name": ["x", "=y", "ü, z"], "n": [1, 2, 3]})
    more = {"cluster": np.array([0, 1, 0]), "membership": np.array([1.0, 0.5, np.nan])}
    write_extended(target, source, more)
    assert column_names(target) == ["a", "long", "name", "n", "cluster", "membership"]
    wanted = ["a", "n", "cluster", "membership"]
    found = read_table(
        target, columns=wanted, id_column="long", label_column="name", missing="keep"
    )
    np.testing.assert_array_equal(
        found.X, np.column_stack([numbers, [1, 2, 3], more["cluster"], more["membership"]])
    )
    assert found.ids == long
    assert found.labels is not None
    assert found.labels.tolist() == ["x", "=y", "ü, z"]


def test_parquet_keeps_its_types(tmp_path: Path) -> None:
    import datetime

    import pyarrow
    import pyarrow.parquet

    days = [datetime.date(2024, 1, 2), None]
    nested = [[1, 2], []]
    table = pyarrow.table({"day": days, "nested": nested, "x": [1, None]})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    write_extended(tmp_path / "o.parquet", tmp_path / "t.parquet", ADDED)
    found = pyarrow.parquet.read_table(tmp_path / "o.parquet")
    assert found.select(["day", "nested", "x"]).equals(table)
    write_extended(tmp_path / "o.csv", tmp_path / "t.parquet", ADDED)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "o.csv").read_text())))
    assert [row["day"] for row in rows] == ["2024-01-02", ""]
    assert rows[0]["nested"] == "[1, 2]"


def test_some_rows_only(tmp_path: Path) -> None:
    write_table(tmp_path / "t.csv", {"a": np.arange(9)})
    for target in ("o.csv", "o.parquet"):
        rows = np.array([2, 5])
        write_extended(tmp_path / target, tmp_path / "t.csv", {"cluster": rows % 2}, rows=rows)
        found = read_table(tmp_path / target, columns=["a", "cluster"])
        assert found.X.tolist() == [[2.0, 0.0], [5.0, 1.0]]


def test_names_that_are_taken() -> None:
    assert names_to_add(["a", "cluster"]) == ["cluster_2", "membership_2", "runner_up_2"]
    assert names_to_add(["cluster", "membership", "runner_up"]) == list(ADDED)
    assert names_to_add(["cluster", "runner_up_2"]) == ["cluster_3", "membership_3", "runner_up_3"]


def test_what_an_earlier_fit_has_added_is_left_out(tmp_path: Path) -> None:
    write_table(tmp_path / "t.csv", {"a": [1.0, 2.0], **{k: v * 0.5 for k, v in ADDED.items()}})
    found = read_table(tmp_path / "t.csv")
    assert found.columns == ("a",)
    assert "Added by an earlier fit, left out" in found.notes[0]


def test_a_matrix_cannot_hold_text(tmp_path: Path) -> None:
    write_table(tmp_path / "t.csv", {"a": [1.0, 2.0], "b": ["x", "y"]})
    with pytest.raises(ValueError, match="holds numbers only, but column 'b' is text"):
        check_extended(tmp_path / "o.npy", tmp_path / "t.csv")
    write_table(tmp_path / "n.csv", {"a": [1.0, 2.0]})
    check_extended(tmp_path / "o.npy", tmp_path / "n.csv")


def test_json_has_null_for_what_is_missing(tmp_path: Path) -> None:
    write_table(tmp_path / "t.json", {"a": [1.0, np.nan], "b": ["x", ""]})
    assert json.loads((tmp_path / "t.json").read_text()) == [
        {"a": 1.0, "b": "x"},
        {"a": None, "b": ""},
    ]
