"""Wrong use and bad input: one line that says what is wrong, exit code 2, no file touched."""

from __future__ import annotations

import gzip
import os
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest

from cli_tools import PROGRAM, blobs, environment, write_blobs
from icvi_artmap import FuzzyART, save, write_table
from icvi_artmap.cli.app import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Inputs of all kinds, and files that outputs would replace."""
    here = tmp_path_factory.mktemp("bad")
    X, labels = write_blobs(here / "data.csv")
    model = ["fit", here / "data.csv", "-k", "3", "--model", here / "model.icvi", "-q"]
    assert run([str(argument) for argument in model]) == 0
    save(FuzzyART(0.7).fit(X), here / "art.icvi")
    search = ["tune", here / "data.csv", "-k", "3", "--rho-a", "0", "--store", here / "old.jsonl"]
    assert run([str(argument) for argument in [*search, "-q"]]) == 0

    for name in ("out.csv", "out.npz", "out.icvi", "out.html", "out.png", "out.jsonl"):
        (here / name).write_bytes(b"what was here before")
    (here / "folder").mkdir()
    (here / "folder.csv").mkdir()
    (here / "folder.icvi").mkdir()
    os.symlink(here / "data.csv", here / "link.csv")
    os.link(here / "out.icvi", here / "also.html")

    text = (here / "data.csv").read_text()
    files: dict[str, str | bytes] = {
        "data.ods": text,
        "empty.csv": "",
        "header.csv": "width,length\n",
        "text.csv": "name,kind\na,x\nb,y\nc,x\n",
        "ragged.csv": "width,length\n1,2\n3\n4,5\n",
        "binary.csv": b"\x00\x01\x02" * 100,
        "latin.csv": "width,length\n1,2\n3,4\nä,6\n".encode("latin-1"),
        "damaged.parquet": b"PAR1 this is none",
        "damaged.npz": b"PK this is none",
        "damaged.npy": b"this is none",
        "damaged.csv.gz": gzip.compress(text.encode())[:-20],
        "damaged.icvi": (here / "model.icvi").read_bytes()[:-200],
        "altered.icvi": (here / "model.icvi").read_bytes().replace(b"width", b"depth"),
        "long.csv": "n" * 500_000 + ",b\nx,y\n",
        "long.arff": "@relation r\n@attribute a numeric\n@data\n" + "x" * 500_000 + "\n",
        "bomb.csv.gz": gzip.compress(b"\n" * 2**25),
        "escape.csv": "\x1b[31mred,b\nx,y\n",
        "header.npy": b"\x93NUMPY\x01\x00\x0a\x00{'descr': (",
        "sparse.arff": "@relation r\n@attribute a numeric\n@attribute b numeric\n@data\n{0 1}\n",
        "infinite.csv": "width,length\n1,2\n3,inf\n5,6\n",
        "missing.csv": "width,length\n1,2\n3,\n5,6\n",
        "all_missing.csv": "width,length\n1,\n,2\n3,\n",
        "twice.csv": "width,width\n1,2\n3,4\n5,6\n",
        "stray.csv": "width,length\n" + "1,2\n" * 30 + "3,four\n",
        "same.csv": "width,length\n" + "1,2\n" * 5,
        "one.csv": "width,length\n1,2\n",
        "numbers.csv": "row\n" + "".join(f"{i}\n" for i in range(20)),
        "quotes.csv": 'width,length\n1,"2\n3,4\n5,6\n',
        "narrow.csv": "width\n1\n2\n3\n",
        "few.csv": "row,cluster\n1,0\n2,1\n",
        "one_label.csv": "cluster\n" + "0\n" * 75,
        "short.csv": "cluster\n0\n1\n",
        "no_label.csv": "cluster\n" + "0\n" * 74 + "NA\n",
        "unclear.csv": "a,b\n" + "0,1\n" * 75,
        "repeated.csv": "row,cluster\n" + "1,0\n" * 75,
        "no_groups.csv": "width,length,kind\n1,2,\n3,4,\n9,9,\n",
        "gap.csv": "width,length,mine\n1,2,a\n3,4,\n9,9,b\n",
        "mine.csv": "width,length,mine\n1,2,a\n3,4,a\n9,9,b\n",
    }
    for name, content in files.items():
        data = content if isinstance(content, bytes) else content.encode()
        (here / name).write_bytes(data)
    np.savez_compressed(here / "bomb.npz", X=np.zeros((1000, 9000)))
    np.savez_compressed(here / "whole.npz", X=X)
    content = bytearray((here / "whole.npz").read_bytes())
    content[100:110] = bytes(10)  # in the middle of what is compressed
    (here / "flipped.npz").write_bytes(content)
    with zipfile.ZipFile(here / "other.npz", "w") as archive:
        archive.writestr("X.npy", b"no array")
    np.save(here / "vector.npy", np.arange(5.0))
    np.save(here / "objects.npy", np.array([[1, "a"], [2, None]], dtype=object))
    np.save(here / "three.npy", np.random.default_rng(0).normal(size=(9, 3)))
    write_table(here / "labels.csv", {"row": np.arange(1, 76), "cluster": labels})
    return here


CASES = {
    # the program
    "no such command": ("nonsense", "nonsense"),
    "no such option": ("--nonsense", "--nonsense"),
    # fit: the data
    "no data": ("fit", "DATA"),
    "no file": ("fit absent.csv", "no file 'absent.csv'"),
    "a folder": ("fit folder", "'folder' is a folder"),
    "unknown format": ("fit data.ods", "suffix of a known format"),
    "empty": ("fit empty.csv", "empty.csv"),
    "header only": ("fit header.csv", "no rows"),
    "text only": ("fit text.csv", "no column of numbers"),
    "too few cells": ("fit ragged.csv", "Line 3"),
    "no text": ("fit binary.csv", "not text"),
    "other encoding": ("fit latin.csv", "latin.csv"),
    "no parquet": ("fit damaged.parquet", "no Parquet file"),
    "no npz": ("fit damaged.npz", "damaged"),
    "no npy": ("fit damaged.npy", "damaged"),
    "npz damaged inside": ("fit flipped.npz", "damaged"),
    "npz of no arrays": ("fit other.npz", "damaged"),
    "header of npy damaged": ("fit header.npy", "damaged"),
    "npz unpacks to very much": ("fit bomb.npz", "at most 67,108,864"),
    "gzip unpacks to very much": ("fit bomb.csv.gz", "gunzip"),
    "name without end": ("fit long.csv", "cannot be split"),
    "cell without end": ("fit long.arff", "declared as numeric"),
    "option without end": (["fit", "data.csv", "--columns", "x" * 9999], "no column 'xxx"),
    "command without end": (["x" * 9999], "xxx"),
    "escapes in a name": ("fit escape.csv", r"\x1b[31mred"),
    "gzip cut off": ("fit damaged.csv.gz", "cannot be unpacked"),
    "sparse arff": ("fit sparse.arff", "sparse ARFF"),
    "a vector": ("fit vector.npy", "2-D"),
    "python objects": ("fit objects.npy", "Python objects"),
    "infinity": ("fit infinite.csv", "infinite"),
    "missing": ("fit missing.csv", "--missing drop"),
    "all missing": ("fit all_missing.csv --missing drop", "every row has a missing value"),
    "names twice": ("fit twice.csv", "more than one column 'width'"),
    "text in a column of numbers": ("fit stray.csv", "'four'"),
    "open quotes": ("fit quotes.csv", "quotes.csv"),
    "all the same": ("fit same.csv", "All rows of 'same.csv' are the same"),
    "one row": ("fit one.csv", "minimum of 2"),
    "row numbers only": ("fit numbers.csv", "no column of numbers"),
    "more than one file": ("fit data.csv data.csv", "data.csv"),
    # fit: the options
    "column not there": ("fit data.csv --columns depth", "no column 'depth'"),
    "column nearly there": ("fit data.csv --columns Width", "Did you mean 'width'"),
    "column of text": ("fit data.csv --columns kind", "holds text"),
    "no name of a column": ("fit data.csv --columns ,", "empty name"),
    "label column not there": ("fit data.csv --label-column sort", "no column 'sort'"),
    "label column is data": ("fit data.csv -c width --label-column width", "both"),
    "label column is empty": ("fit no_groups.csv --label-column kind -k 2", "no values"),
    "id column not there": ("fit data.csv --id-column nr", "no column 'nr'"),
    "k = 0": ("fit data.csv -k 0", "at least 2"),
    "k = 1": ("fit data.csv -k 1", "at least 2"),
    "k negative": ("fit data.csv -k -3", "'-3'"),
    "k a fraction": ("fit data.csv -k 2.5", "'2.5'"),
    "k a word": ("fit data.csv -k many", "'many'"),
    "k falls": ("fit data.csv -k 5:2", "a range rises"),
    "k open": ("fit data.csv -k 2:", "'2:'"),
    "k with a step": ("fit data.csv -k 2:9:2", "'2:9:2'"),
    "k above n": ("fit data.csv -k 1000", "n_samples=75"),
    "all k above n": ("fit data.csv -k 100:200", "n_samples=75"),
    "no such index": ("fit data.csv --index silhouette", "silhouette"),
    "no such treatment": ("fit data.csv --missing guess", "guess"),
    "seed negative": ("fit data.csv --seed -1", "--seed"),
    "seed too large": ("fit data.csv --seed 4294967296", "--seed"),
    "seed a word": ("fit data.csv --seed luck", "--seed"),
    "no starts": ("fit data.csv -k 3 --starts 0", "--starts"),
    "starts without k": ("fit data.csv --starts 3", "--starts"),
    "option without value": ("fit data.csv -k", "-k"),
    # fit: the outputs
    "output of unknown format": ("fit data.csv -o out.ods", "out.ods"),
    "output without suffix": ("fit data.csv -o out", "'out'"),
    "output in no folder": ("fit data.csv -o absent/out.csv", "no folder 'absent'"),
    "output a folder": ("fit data.csv -o folder.csv", "is a folder"),
    "output the input": ("fit data.csv -o data.csv", "'data.csv' is the input"),
    "output a link to the input": ("fit data.csv -o link.csv", "is the input"),
    "output without a name": (["fit", "data.csv", "-o", ""], "nothing"),
    "names in npy": ("fit data.csv --id-column name -o out.npy", "numbers only"),
    "model of another suffix": ("fit data.csv --model out.pkl", ".icvi"),
    "model in no folder": ("fit data.csv --model absent/out.icvi", "no folder 'absent'"),
    "model a folder": ("fit data.csv --model folder.icvi", "is a folder"),
    "report of another suffix": ("fit data.csv --report out.pdf", ".html"),
    "report in no folder": ("fit data.csv --report absent/out.html", "no folder 'absent'"),
    "outputs are one file": (
        "fit data.csv -o out.csv --model out.icvi --report also.html",
        "file of --model",
    ),
    "json and data": ("fit data.csv --json -o -", "--json and -o -"),
    "bad data with outputs": (
        "fit ragged.csv -o out.csv --model out.icvi --report out.html",
        "Line 3",
    ),
    "bad k with outputs": (
        "fit data.csv -k 1000 -o out.csv --model out.icvi --report out.html",
        "n_samples=75",
    ),
    # predict
    "predict: no model": ("predict absent.icvi data.csv", "no file 'absent.icvi'"),
    "predict: model a folder": ("predict folder.icvi data.csv", "is a folder"),
    "predict: no model file": ("predict data.csv data.csv", "data.csv"),
    "predict: model cut off": ("predict damaged.icvi data.csv", "damaged.icvi"),
    "predict: model altered": ("predict altered.icvi data.csv", "altered.icvi"),
    "predict: model on stdin": ("predict - data.csv", "standard input"),
    "predict: no data": ("predict model.icvi absent.csv", "no file 'absent.csv'"),
    "predict: column missing": ("predict model.icvi narrow.csv -o out.csv", "'length'"),
    "predict: values missing": ("predict model.icvi missing.csv -o out.csv", "--missing drop"),
    "predict: other columns": ("predict art.icvi three.npy -o out.csv", "fitted on 2"),
    "predict: output the model": ("predict model.icvi data.csv -o model.icvi", "model.icvi"),
    "predict: output the data": ("predict model.icvi data.csv -o data.csv", "is the input"),
    # explain
    "explain: row 0": ("explain model.icvi data.csv --row 0", "from 1 to 75"),
    "explain: row beyond": ("explain model.icvi data.csv --row 76", "from 1 to 75"),
    "explain: row a word": ("explain model.icvi data.csv --row s01", "--id-column"),
    "explain: no such name": (
        "explain model.icvi data.csv --row x1 --id-column name",
        "in column 'name'",
    ),
    "explain: row left out": (
        "explain model.icvi missing.csv --row 2 --missing drop",
        "was left out",
    ),
    "explain: another model": ("explain art.icvi data.csv --row 1", "FuzzyART"),
    # score
    "score: no labels": ("score data.csv", "LABELS"),
    "score: neither file nor column": ("score data.csv sort", "no file 'sort', and"),
    "score: too few labels": ("score data.csv short.csv", "2 labels"),
    "score: rows without": ("score data.csv few.csv", "no label for 73 of 75 rows"),
    "score: rows twice": ("score data.csv repeated.csv", "more than once"),
    "score: one cluster": ("score data.csv one_label.csv", "at least two"),
    "score: a label missing": ("score data.csv no_label.csv", "without a label"),
    "score: which column": ("score data.csv unclear.csv", "no column 'cluster'"),
    "score: a cell missing": ("score gap.csv mine", "without a label"),
    "score: stdin twice": ("score - -", "only once"),
    "score: truth is the labels": ("score data.csv kind --label-column kind", "both 'kind'"),
    "score: no such truth": ("score mine.csv mine --label-column sort", "no column 'sort'"),
    # compare
    "compare: k = 1": ("compare data.csv -k 1", "-k"),
    "compare: k a word": ("compare data.csv -k many", "-k"),
    "compare: k above n": ("compare data.csv -k 76", "75 rows"),
    "compare: no such method": ("compare data.csv -k 3 --methods NI,dbscan", "'dbscan'"),
    "compare: no jobs": ("compare data.csv -k 3 --jobs 0", "--jobs"),
    "compare: jobs negative": ("compare data.csv -k 3 --jobs -2", "--jobs"),
    "compare: bad data": ("compare text.csv -k 3", "no column of numbers"),
    # tune
    "tune: k auto": ("tune data.csv -k auto", "-k"),
    "tune: k above n": ("tune data.csv -k 76 -o out.csv --model out.icvi", "n_samples=75"),
    "tune: vigilance above 1": ("tune data.csv -k 3 --rho-a 0,2", "between 0 and 1"),
    "tune: vigilance a word": ("tune data.csv -k 3 --rho-ab high", "'high'"),
    "tune: vigilance twice": ("tune data.csv -k 3 --rho-a 0.5,0.50", "once"),
    "tune: store of another suffix": ("tune data.csv -k 3 --store runs.csv", ".jsonl"),
    "tune: store of other data": ("tune mine.csv -k 2 --store old.jsonl", "another search"),
    "tune: store is no store": ("tune data.csv -k 3 --store out.jsonl", "out.jsonl"),
    "tune: store in no folder": ("tune data.csv -k 3 --store absent/a.jsonl", "no folder"),
    # the rest
    "generate: no such family": ("generate spiral", "spiral"),
    "generate: k = 0": ("generate gaussian -k 0", "-k"),
    "generate: no columns": ("generate gaussian -d 0", "-d"),
    "generate: too few rows": ("generate gaussian -k 5 -n 4 -o out.csv", "n_samples"),
    "generate: unknown format": ("generate gaussian -o out.txt", "out.txt"),
    "demo: unknown format": ("demo -o out.gif", ".png"),
    "demo: no folder": ("demo -o absent/out.png", "no folder 'absent'"),
    "warmup: no such index": ("warmup NI silhouette", "silhouette"),
    "info: surplus": ("info surplus", "surplus"),
}


def contents(folder: Path) -> dict[str, bytes | None]:
    return {path.name: path.read_bytes() if path.is_file() else None for path in folder.iterdir()}


@pytest.mark.parametrize("name", CASES)
def test_one_line_and_no_file_touched(
    name: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    given, expected = CASES[name]
    arguments = given.split() if isinstance(given, str) else given
    before = contents(folder)
    monkeypatch.chdir(folder)
    capfd.readouterr()
    assert run(arguments) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("icvi-artmap: "), err
    assert err.count("\n") == 1, err
    assert expected in err, err
    assert len(err) <= 301, err
    assert err[:-1].isprintable(), err
    assert contents(folder) == before


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 60


@pytest.mark.parametrize("content", [b"", b"a;b\n1;2\nx;y\n", b"\xff\xfe\x00"])
def test_bad_standard_input(content: bytes) -> None:
    done = subprocess.run(
        [*PROGRAM, "fit", "-"], input=content, env=environment(), capture_output=True
    )
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.startswith(b"icvi-artmap: ")
    assert done.stderr.count(b"\n") == 1


def test_a_full_disk_is_said_to_be_full(folder: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*PROGRAM, "score", str(folder / "data.csv"), "kind", "--json"],
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert b"No space left" in done.stderr


def test_a_fault_of_the_program_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what input can cause is one line; a fault keeps its traceback."""

    def broken() -> str:
        raise ZeroDivisionError

    monkeypatch.setattr("platform.platform", broken)
    with pytest.raises(ZeroDivisionError):
        run(["info"])


def test_blobs_are_what_the_cases_say() -> None:
    assert len(blobs()[0]) == 75
