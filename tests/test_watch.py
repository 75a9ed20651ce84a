"""icvi-artmap watch: rows that keep coming, a model that is never lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from cli_tools import CENTRES, PROGRAM
from icvi_artmap import load
from icvi_artmap.cli.app import run
from icvi_artmap.tables.following import FollowedRows

OPTIONS = ["-k", "3", "--index", "CH", "--warm-up", "100", "--memory", "100"]


def rows(n: int, seed: int = 0, moved: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return CENTRES[rng.integers(0, 3, n)] + moved + rng.normal(scale=0.5, size=(n, 2))


def text(X: np.ndarray) -> str:
    return "".join(f"{x!r},{y!r}\n" for x, y in X.tolist())


def watched(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str], str]:
    code = run(["watch", *arguments])
    out, err = capsys.readouterr()
    return code, out.splitlines(), err


def test_a_file_to_its_end(tmp_path, capsys) -> None:
    data, kept = tmp_path / "rows.csv", tmp_path / "model.icvi"
    data.write_text("width,length\n" + text(rows(2500)) + "nothing,1\n1,\n" + text(rows(10, 1)))
    arguments = [str(data), "--model", str(kept), *OPTIONS, "--no-follow"]
    code, out, _ = watched(arguments, capsys)
    assert code == 0
    assert out[-1].startswith("2,510 rows: CH = ")
    assert "3 clusters: " in out[-1]
    assert "2 lines left out" in out[-1]
    model = load(kept)
    assert model.n_samples_seen_ == 2510
    assert list(model.feature_names_in_) == ["width", "length"]
    with data.open("a") as file:
        file.write(text(rows(500, 2)))
    code, out, _ = watched([*arguments, "--json"], capsys)
    first, *_, last = map(json.loads, out)
    assert (first["event"], first["rows"]) == ("goes on", 2510)
    assert last["rows"] == 3010
    assert sum(last["clusters"]) == pytest.approx(1.0, abs=1e-3)
    assert last["break"] is None


def test_a_break_is_told(tmp_path, capsys) -> None:
    data, kept = tmp_path / "rows.txt", tmp_path / "model.icvi"
    data.write_text(text(np.vstack([rows(2000), rows(2000, 1, moved=7.0)])))
    options = [*OPTIONS, "--forgetting", "0.998", "--no-follow", "--every", "0"]
    code, out, _ = watched([str(data), "-m", str(kept), *options], capsys)
    assert code == 0
    (told,) = [line for line in out if line.startswith("The clusters changed after row ")]
    assert 1900 <= int(told.split()[-1].rstrip(".").replace(",", "")) <= 2100
    assert len(out) >= 5  # every batch is told
    assert list(load(kept).feature_names_in_) == ["x1", "x2"]


def test_quiet_and_too_few_rows(tmp_path, capsys) -> None:
    data, kept = tmp_path / "rows.csv", tmp_path / "model.icvi"
    data.write_text(text(rows(99)))
    arguments = [str(data), "-m", str(kept), *OPTIONS, "--no-follow", "--quiet"]
    assert watched(arguments, capsys) == (0, [], "")
    assert not kept.exists()
    with data.open("a") as file:
        file.write(text(rows(10, 1)))
    assert watched(arguments, capsys) == (0, [], "")
    assert load(kept).n_samples_seen_ == 109


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["-k", "4"], "another n_clusters"),
        (["--index", "NI", "--seed", "3"], "another index, random_state"),
        (["--columns", "nobody"], "no column 'nobody'"),
        (["--memory", "101"], "another memory"),
    ],
)
def test_other_options_than_before(change, message, tmp_path, capsys) -> None:
    data, kept = tmp_path / "rows.csv", tmp_path / "model.icvi"
    data.write_text("a,b\n" + text(rows(150)))
    arguments = [str(data), "-m", str(kept), *OPTIONS, "--no-follow"]
    assert watched(arguments, capsys)[0] == 0
    code, _, err = watched([*arguments, *change], capsys)
    assert code == 2
    assert message in err


def test_another_file_and_another_model(tmp_path, capsys) -> None:
    data, kept = tmp_path / "rows.csv", tmp_path / "model.icvi"
    data.write_text(text(rows(150)))
    arguments = [str(data), "-m", str(kept), *OPTIONS, "--no-follow"]
    assert watched(arguments, capsys)[0] == 0
    data.write_text(text(rows(120)))
    code, _, err = watched(arguments, capsys)
    assert code == 2
    assert "120 rows, but the model has learned 150" in err
    assert load(kept).n_samples_seen_ == 150
    assert run(["fit", str(data), "-k", "3", "--model", str(tmp_path / "fit.icvi"), "-q"]) == 0
    code, _, err = watched([str(data), "-m", str(tmp_path / "fit.icvi"), *OPTIONS], capsys)
    assert code == 2
    assert "was not written by watch" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--forgetting", "0"], "--forgetting must be above 0"),
        (["--memory", "500"], "--memory must be at most --warm-up"),
        (["-k", "1"], "at least 2 clusters"),
    ],
)
def test_wrong_options(options, message, tmp_path, capsys) -> None:
    data = tmp_path / "rows.csv"
    data.write_text(text(rows(10)))
    arguments = [str(data), "-m", str(tmp_path / "m.icvi"), *OPTIONS, *options]
    code, _, err = watched(arguments, capsys)
    assert code == 2
    assert message in err


def test_standard_input(tmp_path) -> None:
    kept = tmp_path / "model.icvi"
    command = [*PROGRAM, "watch", "-", "--model", str(kept), *OPTIONS]
    given = "a;b\n" + text(rows(300)).replace(",", ";")
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    assert "300 rows: CH = " in done.stdout
    assert load(kept).n_samples_seen_ == 300
    # What comes then is new, and not skipped.
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Going on after 300 rows")
    assert load(kept).n_samples_seen_ == 600


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_killed_at_any_moment_it_goes_on_from_its_last_model(tmp_path) -> None:
    data, kept = tmp_path / "rows.csv", tmp_path / "model.icvi"
    data.write_text("a,b\n" + text(rows(300)))
    command = [*PROGRAM, "watch", str(data), "-m", str(kept), *OPTIONS, "--every", "0", "--json"]
    written, rng = 300, np.random.default_rng(0)
    for _ in range(3):
        before = load(kept).n_samples_seen_ if kept.exists() else 0
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            first = json.loads(process.stdout.readline())
            assert (first["event"] == "goes on") == (before > 0)
            assert first["rows"] >= before
            for _ in range(int(rng.integers(5, 60))):
                with data.open("a") as file:  # also lines that come in two parts
                    line = text(rows(20, written))
                    file.write(line[:400])
                    file.flush()
                    file.write(line[400:])
                written += 20
                time.sleep(0.001)
            while not kept.exists():  # what learns is compiled first, if it is not yet
                assert process.poll() is None
                time.sleep(0.01)
            seen = load(kept).n_samples_seen_  # a whole model, at any moment
            assert seen >= before
            process.send_signal(signal.SIGKILL)
        assert load(kept).n_samples_seen_ >= seen

    subprocess.run([*command, "--no-follow"], check=True, capture_output=True)
    model = load(kept)
    assert model.n_samples_seen_ == written
    assert model.n_clusters_ == 3
    assert sorted(path.name for path in tmp_path.glob("*.icvi")) == ["model.icvi"]


# --- rows as they come ---------------------------------------------------------------------------


def followed(path: Path, given: str | bytes, **options) -> FollowedRows:
    path.write_bytes(given.encode() if isinstance(given, str) else given)
    return FollowedRows(str(path), follow=False, **options)


@pytest.mark.parametrize(
    ("given", "names", "expected"),
    [
        ("a,b\n1,2\n3,4\n", ["a", "b"], [[1, 2], [3, 4]]),
        ("1,2\n3,4", ["x1", "x2"], [[1, 2], [3, 4]]),
        ("a;b\n1,5;2\n", ["a", "b"], [[1.5, 2]]),
        ("# remark\n\n1 2\n3 4\n", ["x1", "x2"], [[1, 2], [3, 4]]),
        ("a\tb\r\n1\t2\r\n", ["a", "b"], [[1, 2]]),
        ("\ufeffa,b\n1,2\n", ["a", "b"], [[1, 2]]),
        ("name,b\nx,2\ny,4\n", ["b"], [[2], [4]]),
        ("1,2\n", ["x1", "x2"], [[1, 2]]),
        ("a,b\n1,2\n3,nan\n5,inf\n6\n7,8,9\n10,11\n", ["a", "b"], [[1, 2], [10, 11]]),
    ],
)
def test_rows_of_many_kinds(given, names, expected, tmp_path) -> None:
    source = followed(tmp_path / "rows", given)
    found = [row for part in source for row in part.tolist()]
    assert found == expected
    assert source.names == names


def test_columns_in_the_order_wanted(tmp_path) -> None:
    source = followed(tmp_path / "rows", "a,b,c\n1,2,3\n4,5,x\n", columns=["c", "a"])
    assert [row for part in source for row in part.tolist()] == [[3, 1]]
    assert source.left_out == 1


def test_at_most_so_many_rows_at_a_time(tmp_path) -> None:
    source = followed(tmp_path / "rows", text(rows(25)), most=10)
    assert [len(part) for part in source if len(part)] == [10, 10, 5]


@pytest.mark.parametrize(
    ("given", "message"),
    [(b"a,b\n\xff\xfe,1\n", "not UTF-8"), ("a,b\nx,y\n", "no columns of numbers")],
)
def test_what_cannot_be_read(given, message, tmp_path) -> None:
    with pytest.raises(ValueError, match=message):
        list(followed(tmp_path / "rows", given))


def test_a_file_that_grows_and_one_that_is_cut(tmp_path) -> None:
    path = tmp_path / "rows"
    path.write_text("a,b\n1,2\n3,")
    source = iter(FollowedRows(str(path)))
    assert next(part for part in source if len(part)).tolist() == [[1, 2]]
    with path.open("a") as file:
        file.write("4\n")
    assert next(part for part in source if len(part)).tolist() == [[3, 4]]
    path.write_text("a,b\n")
    with pytest.raises(ValueError, match="has become shorter"):
        list(source)


def test_nothing_at_all(tmp_path) -> None:
    assert [len(part) for part in followed(tmp_path / "rows", "")] == []
