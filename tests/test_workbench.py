"""The workbench: what it answers, what it refuses, and that nothing is left of it."""

from __future__ import annotations

import http.client
import os
import re
import socket
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from helpers.hostile_files import PICKLED, hostile_files
from helpers.workbench import PATIENCE, Workbench, resident, until, workbench, workers
from icvi_artmap import ICVIARTMAP, load, read_table, write_table
from icvi_artmap._support.callbacks import Watch, watching
from icvi_artmap.app import columns, settings, uploads, work
from icvi_artmap.cli.app import run

for needed in ("starlette", "uvicorn"):
    pytest.importorskip(needed, reason="the workbench needs pip install 'icvi-artmap[app]'")

MIB = 2**20
#: The columns of the table that are used by default.
USED = ["a", "b, c", "d"]
#: Memory may have grown by this after a hundred files, for buffers that are kept.
GROWN = 30 * MIB


@pytest.fixture(scope="module", name="table")
def written_table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    X, y = make_blobs(240, centers=4, n_features=3, cluster_std=1.2, random_state=3)
    path = tmp_path_factory.mktemp("data") / "blobs.csv"
    write_table(
        path,
        {
            "number": np.arange(240) + 1,
            "name": [f"s{i}" for i in range(240)],
            "a": X[:, 0],
            "b, c": X[:, 1],
            "d": X[:, 2],
            "class": y,
            "same": np.ones(240),
            "half": np.arange(240) % 2,
        },
    )
    return path


@pytest.fixture(scope="module", name="bench")
def running_workbench(tmp_path_factory: pytest.TempPathFactory, table: Path) -> Iterator[Workbench]:
    folder = tmp_path_factory.mktemp("private")
    with workbench(folder, str(table), "--max-upload", "8") as found:
        yield found


@pytest.fixture(name="fitted")
def bench_with_a_fit(bench: Workbench, table: Path) -> Workbench:
    """The table on the bench, and its fit; made anew only if another test has removed it."""
    if bench.get("api/file").json()["name"] != "blobs.csv":
        assert bench.upload("blobs.csv", table.read_bytes()).status == 200
    shown = bench.get("api/a/result")
    if shown.status != 200 or shown.json()["settings"][0] != "auto clusters":
        bench.fit("a", columns=USED, label_column="class", id_column="name")
    return bench


# --- the way through: columns, a fit, what is known of it ----------------------------------------


def test_columns_have_notes_and_a_proposal(fitted: Workbench, table: Path) -> None:
    found = fitted.get("api/file").json()
    assert (found["name"], found["rows"]) == ("blobs.csv", 240)
    by_name = {column["name"]: column for column in found["columns"]}
    assert [name for name, column in by_name.items() if column["used"]] == USED
    assert by_name["name"]["look"] == "text"
    assert not by_name["name"]["usable"]
    assert by_name["number"]["note"].startswith("row numbers or identifiers by the look of them")
    assert by_name["class"]["note"].startswith("known groups by the look of them")
    assert (by_name["same"]["note"], by_name["same"]["usable"]) == ("the same in all rows", False)
    assert (by_name["half"]["note"], by_name["half"]["usable"]) == ("two values only", True)
    X = read_table(table).X
    assert by_name["a"]["range"] == f"{X[:, 0].min():.4g} to {X[:, 0].max():.4g}".replace("-", "−")


def test_a_fit_is_that_of_the_estimator(fitted: Workbench, table: Path) -> None:
    shown = fitted.get("api/a/result").json()
    model = ICVIARTMAP("auto", transform_columns="clip", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(read_table(table, columns=USED).X)
    assert shown["n_clusters"] == model.n_clusters_ == 4
    assert shown["map"]["clusters"] == model.labels_.tolist()
    assert shown["map"]["ids"][:2] == ["s0", "s1"]
    assert [cluster["rows"] for cluster in shown["clusters"]] == np.bincount(model.labels_).tolist()
    assert any("known classes" in told["text"] for told in shown["readings"])
    path = shown["path"]
    assert path["k"] == model.selection_.k.tolist()
    assert path["chosen"] == 4
    assert "<svg" in path["chart"]
    for k in path["k"]:
        part = path["partitions"][str(k)]
        assert np.bincount(part["clusters"]).tolist() == part["sizes"]
        assert part["sizes"] == sorted(part["sizes"], reverse=True)  # numbered by size
        assert len(part["sizes"]) == len(part["colours"]) == k
    same = path["partitions"]["4"]
    for i, colour in enumerate(same["colours"]):  # clusters that stay keep their colour
        row = same["clusters"].index(i)
        assert colour == shown["map"]["colours"][model.labels_[row]]


def test_a_row_is_explained(fitted: Workbench) -> None:
    shown = fitted.get("api/a/result").json()
    by_place = fitted.get("api/a/row?at=17").json()
    assert by_place == fitted.get("api/a/row?name=s17").json()
    assert by_place["cluster"] == shown["map"]["clusters"][17]
    assert by_place["text"].startswith(f"Sample s17 fits cluster {by_place['cluster']} best.")
    for wrong in ("at=240", "at=-1", "at=x", "name=s999", "name=", ""):
        answer = fitted.get(f"api/a/row?{wrong}")
        assert answer.status == 422
        assert "row" in answer.json()["message"]


def test_downloads_are_whole_and_leave_nothing(fitted: Workbench, tmp_path: Path) -> None:
    shown, before = fitted.get("api/a/result").json(), set(fitted.files())
    got = {what: fitted.get(f"api/a/download/{what}") for what in ("labels", "model", "report")}
    for what, suffix in (("labels", ".csv"), ("model", ".icvi"), ("report", ".html")):
        disposition = got[what].headers["content-disposition"]
        assert disposition == f'attachment; filename="blobs-{what}{suffix}"'
        (tmp_path / f"{what}{suffix}").write_bytes(got[what].body)
    lines = (tmp_path / "labels.csv").read_text().splitlines()
    assert lines[0] == "id,cluster"
    assert [int(line.split(",")[1]) for line in lines[1:]] == shown["map"]["clusters"]
    assert load(tmp_path / "model.icvi").labels_.tolist() == shown["map"]["clusters"]
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<title>Clusters of blobs.csv</title>" in html
    assert "icvi-artmap fit blobs.csv -k auto" in html
    until(lambda: set(fitted.files()) <= before)  # a file is removed when it has been sent
    assert fitted.get("api/a/download/other").status == 404


def test_the_command_in_the_report_makes_the_same_clusters(
    fitted: Workbench, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import html
    import shlex

    page = fitted.get("api/a/download/report").body.decode()
    (code,) = re.findall(r'id="command"><code>(.*?)</code>', page, re.DOTALL)
    words = shlex.split(html.unescape(code))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "blobs.csv").write_bytes(table.read_bytes())
    assert run([*words[1:], "--quiet", "--model", "m.icvi"]) == 0
    assert load("m.icvi").labels_.tolist() == fitted.get("api/a/result").json()["map"]["clusters"]


def test_two_fits_stand_side_by_side(fitted: Workbench) -> None:
    first = fitted.get("api/a/result").json()
    second = fitted.fit("b", columns=USED, n_clusters=3, index="CH", missing="drop", noise=True)
    assert second["path"] is None
    assert second["settings"][:3] == ["3 clusters", "CH", "3 columns"]
    told = fitted.get("api/compare").json()
    ours, theirs = np.array(first["map"]["clusters"]), np.array(second["map"]["clusters"])
    both = (ours >= 0) & (theirs >= 0)
    assert told["rows"] == both.sum()
    assert told["agreement"] == pytest.approx(adjusted_rand_score(ours[both], theirs[both]))
    assert fitted.tell("api/b/clear").status == 200
    assert fitted.get("api/compare").status == 409
    assert fitted.get("api/a/result").status == 200


def test_a_fit_can_be_stopped_and_its_memory_comes_back(bench: Workbench, tmp_path: Path) -> None:
    X, _ = make_blobs(7000, centers=30, n_features=20, random_state=0)
    path = tmp_path / "large.csv"
    write_table(path, {f"x{i}": column for i, column in enumerate(X.astype(np.float32).T)})
    assert bench.upload("large.csv", path.read_bytes()).status == 200
    names = [f"x{i}" for i in range(20)]
    assert bench.tell("api/a/fit", columns=names).status == 200
    assert bench.tell("api/a/fit", columns=names).status == 409  # one at a time
    until(lambda: bench.get("api/status").json()["a"]["progress"].get("done"))
    running = set(workers(bench.process.pid))
    assert bench.tell("api/a/stop").status == 200
    status = bench.wait("a", "failed")
    assert status["message"] == "Stopped."
    left = set(workers(bench.process.pid))
    assert len(running) == 2  # the fit, and a process that is ready for the next one
    assert len(left) == 1
    assert bench.get("api/a/result").status == 409


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"columns": []}, "No column is switched on"),
        ({"columns": "a"}, "must be a list of names"),
        ({"columns": [1]}, "must be a list of names"),
        ({"n_clusters": 1}, "The number of clusters must be a whole number from 2"),
        ({"n_clusters": True}, "The number of clusters must be a whole number"),
        ({"n_clusters": "many"}, "The number of clusters must be a whole number"),
        ({"index": "no"}, "index must be one of NI"),
        ({"missing": "yes"}, "missing must be one of error"),
        ({"seed": -1}, "The seed must be a whole number"),
        ({"seed": 0.5}, "The seed must be a whole number"),
    ],
)
def test_wrong_settings_are_named(bench: Workbench, asked: Any, message: str) -> None:
    answer = bench.tell("api/b/fit", **{"columns": ["a"], **asked})
    assert answer.status == 422
    assert message in answer.json()["message"]


def test_what_is_no_json_is_refused(bench: Workbench) -> None:
    for body in (b"[1, 2]", b"{", b"\xff", b"x" * (2 * MIB)):
        answer = bench.request("POST", "api/b/fit", body)
        assert answer.status in (413, 422)
        assert answer.json()["message"]


def test_a_fit_that_fails_says_why(bench: Workbench) -> None:
    assert bench.upload("gaps.csv", b"a,b\n1,2\n3,\n5,6\n7,9\n").status == 200
    assert bench.tell("api/a/fit", columns=["a", "b"], n_clusters=2).status == 200
    status = bench.wait("a", "failed")
    assert status["message"].startswith("'gaps.csv' has 1 missing value (column 'b'")
    assert str(bench.folder) not in status["message"]
    assert bench.tell("api/a/fit", columns=["no such"]).status == 200
    assert "no column 'no such'" in bench.wait("a", "failed")["message"]


# --- hostile files -------------------------------------------------------------------------------


def test_a_hundred_hostile_files(bench: Workbench, table: Path) -> None:
    assert bench.upload("blobs.csv", table.read_bytes()).status == 200
    files = hostile_files()
    measured = os.path.exists("/proc/self/statm")
    before = 0
    for which, (name, content) in enumerate(files):
        answer = bench.upload(name, content)
        assert answer.status == 422, (name, answer.body[:200])
        message = answer.json()["message"]
        assert 20 < len(message) < 1000, (name, message)
        assert "should not happen" not in message, name
        assert str(bench.folder) not in message, name
        if measured and which == 19:
            before = resident(bench.process.pid)  # what is imported when it is first needed
    if measured:
        assert resident(bench.process.pid) - before < GROWN
    until(lambda: len(bench.files()) == 1)  # of all that came, the good one
    assert bench.get("api/file").json()["name"] == "blobs.csv"  # and it is still there
    assert bench.fit("a", columns=USED, n_clusters=4)["n_clusters"] == 4
    assert not Path("hacked").exists()


def test_no_pickle_is_loaded(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name, content in hostile_files():
        if "pickle" in name or name == "raw.npy":
            (tmp_path / name).write_bytes(content)
            with pytest.raises(ValueError):
                columns.described_columns(str(tmp_path / name))
    assert PICKLED not in capfd.readouterr().out


def test_a_process_that_dies_is_replaced(bench: Workbench, table: Path) -> None:
    for slot in ("a", "b"):
        assert bench.tell(f"api/{slot}/clear").status == 200
    (ready,) = workers(bench.process.pid)
    os.kill(ready, 9)
    answer = bench.upload("blobs.csv", table.read_bytes())
    assert answer.status == 422
    assert answer.json()["message"] == "blobs.csv cannot be read: reading it has failed."
    assert bench.upload("blobs.csv", table.read_bytes()).status == 200


def test_uploads_that_are_too_large_are_refused_while_they_come(bench: Workbench) -> None:
    before = set(bench.files())
    headers = {"Content-Length": str(9 * MIB)}
    answer = bench.request("PUT", "api/file?name=x.csv", b"", headers)  # nothing of it is sent
    assert answer.status == 413
    assert "x.csv is larger than 8 MiB" in answer.json()["message"]
    connection = http.client.HTTPConnection("127.0.0.1", bench.port, timeout=PATIENCE)
    connection.putrequest("PUT", f"/{bench.token}/api/file?name=y.csv", skip_host=True)
    for name, value in (("Host", bench.host), ("Origin", f"http://{bench.host}")):
        connection.putheader(name, value)
    connection.putheader("Transfer-Encoding", "chunked")
    connection.endheaders()
    sent = 0
    try:
        while sent < 64 * MIB:  # it never says how much there is
            connection.send(b"%x\r\n%s\r\n" % (MIB, bytes(MIB)))
            sent += MIB
    except OSError:
        pass  # the server has closed the line
    assert sent < 64 * MIB
    connection.close()
    until(lambda: set(bench.files()) <= before)
    # Somebody who leaves half-way leaves nothing behind.
    with socket.create_connection(("127.0.0.1", bench.port)) as line:
        head = (
            f"PUT /{bench.token}/api/file?name=z.csv HTTP/1.1\r\nHost: {bench.host}\r\n"
            f"Origin: http://{bench.host}\r\nContent-Length: 5000\r\n\r\n"
        )
        line.sendall(head.encode() + b"a,b\n")
        until(lambda: set(bench.files()) - before)
    until(lambda: set(bench.files()) <= before)


# --- strangers -----------------------------------------------------------------------------------


def test_only_the_page_itself_is_answered(bench: Workbench) -> None:
    host, origin = bench.host, f"http://{bench.host}"
    own = f"/{bench.token}/"
    strangers: list[tuple[str, str, dict[str, str]]] = [
        ("GET", "/", {"Host": host}),
        ("GET", "/api/file", {"Host": host}),
        ("GET", f"/{bench.token}", {"Host": host}),
        ("GET", f"/{bench.token[:-1]}/", {"Host": host}),
        ("GET", f"/{bench.token[:-1]}%C3%A9/", {"Host": host}),
        ("GET", f"/x{own}", {"Host": host}),
        ("GET", f"{own}", {"Host": "evil.example"}),
        ("GET", f"{own}", {"Host": f"evil.example:{bench.port}"}),
        ("GET", f"{own}", {"Host": "127.0.0.1"}),
        ("GET", f"{own}", {"Host": f"127.0.0.1.evil.example:{bench.port}"}),
        ("GET", f"{own}api/file", {"Host": host, "Origin": "http://evil.example"}),
        ("GET", f"{own}api/file", {"Host": host, "Origin": "null"}),
        ("GET", f"{own}api/file", {"Host": host, "Origin": origin.replace("http", "https")}),
        ("GET", f"{own}api/file", {"Host": host, "Sec-Fetch-Site": "cross-site"}),
        ("GET", f"{own}api/file", {"Host": host, "Sec-Fetch-Site": "same-site"}),
        ("POST", f"{own}api/a/stop", {"Host": host}),
        ("PUT", f"{own}api/file?name=x.csv", {"Host": host, "Origin": "http://evil.example"}),
        ("GET", f"{own}../", {"Host": host}),
        ("GET", f"{own}../../etc/passwd", {"Host": host}),
        ("GET", f"{own}%2e%2e/%2e%2e/etc/passwd", {"Host": host}),
        ("GET", f"{own}..%5c..%5cboot.ini", {"Host": host}),
        ("GET", f"{own}api/a/download/..%2f..%2fetc%2fpasswd", {"Host": host}),
        ("GET", f"{own}api/../api/file", {"Host": host}),
    ]
    for method, path, headers in strangers:
        answer = bench.request(method, path, headers=headers, raw=True)
        assert answer.status in (400, 403), (method, path, headers, answer.status)
        assert b"columns" not in answer.body
        assert b"root:" not in answer.body
        assert bench.token.encode() not in answer.body
    for path in ("server.py", "templates/workbench.js", ".", "report.html.j2", "%00", "api"):
        assert bench.get(path).status in (403, 404)
    for allowed in (host, f"localhost:{bench.port}"):
        assert bench.request("GET", own, headers={"Host": allowed}, raw=True).status == 200


def test_two_hosts_are_refused(bench: Workbench) -> None:
    with socket.create_connection(("127.0.0.1", bench.port), timeout=PATIENCE) as line:
        head = f"GET /{bench.token}/ HTTP/1.1\r\nHost: {bench.host}\r\nHost: evil.example\r\n\r\n"
        line.sendall(head.encode())
        assert line.recv(100).split()[1] in (b"400", b"403")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
def test_no_other_address_is_listened_at(bench: Workbench) -> None:
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", bench.port), timeout=5.0).close()


def test_every_answer_forbids_what_the_page_does_not_need(bench: Workbench) -> None:
    pages = [bench.get(""), bench.get("map.js"), bench.get("api/file"), bench.get("none")]
    pages.append(bench.request("GET", "/", headers={"Host": bench.host}, raw=True))
    for answer in pages:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers
        assert "server" not in answer.headers
    page = bench.get("").body.decode()
    assert not re.search(r"""(?:src|href)=["'](?!data:,)[^"']*[:/]""", page)  # all beside it


# --- parts ---------------------------------------------------------------------------------------


def test_partitions_tried_are_told_to_a_watch() -> None:
    X, _ = make_blobs(300, centers=3, n_features=2, random_state=0)

    class Keeping(Watch):
        wants_partitions = True

        def __init__(self) -> None:
            self.found: list[np.ndarray] = []

        def tried(self, labels: np.ndarray) -> None:
            self.found.append(labels)

    watch = Keeping()
    with watching(watch):
        model = ICVIARTMAP("auto", random_state=0).fit(X)
    numbers = [int(labels.max()) + 1 for labels in watch.found]
    assert numbers == model.selection_.k.tolist()
    chosen = watch.found[numbers.index(model.n_clusters_)]
    assert adjusted_rand_score(chosen, model.labels_) == 1.0  # in the order of the rows
    with watching(Watch()):
        again = ICVIARTMAP("auto", random_state=0).fit(X)
    np.testing.assert_array_equal(again.labels_, model.labels_)


def test_colours_follow_the_fitted_clusters() -> None:
    fitted = np.array([0, 0, 0, 1, 1, 2, -1])
    labels, sizes = work._by_size(np.array([1, 1, 1, 0, 0, 0, 0]))
    assert labels.tolist() == [1, 1, 1, 0, 0, 0, 0]
    assert sizes.tolist() == [4, 3]
    assert work._colours(labels, fitted, 2) == [1, 0]
    split = np.array([0, 0, 3, 1, 1, 2, -1])
    assert work._colours(split, fitted, 4) == [0, 1, 2, 3]  # what is new has a colour of its own
    assert work._by_size(np.array([-1, 0, 1, 1]))[0].tolist() == [-1, 1, 0, 0]


@pytest.mark.parametrize(
    ("name", "clean", "suffix"),
    [
        ("a.csv", "a.csv", ".csv"),
        ("../../a.CSV", "a.CSV", ".csv"),
        ("C:\\x\\b.tar.gz", "b.tar.gz", ".tar.gz"),
        ("", "table", ""),
        ("a.c/sv", "sv", ""),
        ("x.cs v", "x.cs v", ""),
    ],
)
def test_names_of_uploads(name: str, clean: str, suffix: str) -> None:
    assert uploads.clean_name(name) == clean
    assert uploads.suffix_of(name) == suffix


def test_defaults_are_those_of_the_command_line() -> None:
    assert settings.checked_settings({}) == {
        "n_clusters": "auto",
        "index": "NI",
        "shape": "gaussian",
        "missing": "error",
        "transform_columns": "clip",
        "noise": False,
        "random_state": 0,
    }


def test_a_file_that_cannot_be_read_ends_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["app", str(tmp_path / "no.csv"), "--no-browser"]) == 2
    assert "There is no file" in capsys.readouterr().err


def test_without_its_packages_the_message_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert run(["app", "--no-browser"]) == 2
    assert "pip install 'icvi-artmap[app]'" in capsys.readouterr().err


def test_a_port_that_is_taken_is_named(
    bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["app", "--port", str(bench.port), "--no-browser"]) == 2
    assert f"Port {bench.port} cannot be used" in capsys.readouterr().err
