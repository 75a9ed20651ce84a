"""Two processes compile the kernels of a first fit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest

from icvi_artmap import ICVIARTMAP, custom_index
from icvi_artmap.indices.base import evaluate
from icvi_artmap.indices.registry import INDICES
from icvi_artmap.network.nearest import nearest_boxes
from icvi_artmap.samples import mixture
from icvi_artmap.samples.moments import sum_samples, sum_scatter
from icvi_artmap.training import first_run
from icvi_artmap.training.sample_loop import present

FIT = """
import json, sys
import numpy as np
from icvi_artmap import ICVIARTMAP
from icvi_artmap.indices.base import evaluate
from icvi_artmap.training.sample_loop import learn_sample, present

X = np.array(json.load(sys.stdin))
labels = ICVIARTMAP(3, index="CH", refine=True, random_state=0).fit(X).labels_
print(json.dumps(labels.tolist()))
for kernel in (learn_sample._compiled, present, evaluate):
    print(sum(kernel.stats.cache_hits.values()), sum(kernel.stats.cache_misses.values()))
"""


@pytest.fixture(autouse=True)
def nothing_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_run, "_SEEN", set())


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The indices for which a process was to be started, in a place where it is of use."""
    names: list[str] = []

    def start(_):
        names.extend(first_run._SEEN - set(names))
        raise OSError("no more processes")

    monkeypatch.setattr(first_run, "_other_process", start)
    monkeypatch.setattr(first_run.learn_sample, "is_wanted", lambda _: True)
    monkeypatch.setattr(joblib, "effective_n_jobs", lambda _: 2)
    monkeypatch.setattr(sys, "executable", "/somewhere/python3.11")
    return names


@pytest.mark.skipif(joblib.effective_n_jobs(-1) == 1, reason="there is one processor only")
def test_a_first_fit(tmp_path: Path) -> None:
    """The learning is compiled there, for the types that a fit has; all of the index here."""
    X = np.random.default_rng(0).normal(size=(60, 3)).round(3)
    expected = ICVIARTMAP(3, index="CH", refine=True, random_state=0).fit(X).labels_
    folder = tmp_path / "here"  # with a file that no program of ours may run
    folder.mkdir()
    (folder / "random.py").write_text("open('run', 'w')\nraise SystemExit\n", "utf-8")
    done = subprocess.run(
        [sys.executable, "-P", "-c", FIT],
        input=json.dumps(X.tolist()),
        cwd=folder,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    labels, learning, *others = done.stdout.splitlines()
    assert json.loads(labels) == expected.tolist()
    assert learning == "1 0"
    assert others == ["0 1"] * 2
    assert len(list(tmp_path.rglob("*sample_loop.learn_sample*.kernel"))) == 1
    assert not (folder / "run").exists()


def test_the_other_process_imports_little() -> None:
    """Not what takes seconds, and what compiling does not need."""
    look = "import sys\nfrom icvi_artmap.training.first_run import TASKS\n"
    look += "for task in TASKS: task()\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert not {"sklearn", "joblib", "pandas"} & set(done.stdout.split())


@pytest.mark.parametrize("name", list(INDICES))
def test_the_kernels_of_a_fit_are_known(name: str) -> None:
    """The types are those of a fit: after one, nothing is compiled any more."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    ICVIARTMAP(2, index=name, refine=True, random_state=0).fit(X)
    kernels = (present, evaluate, sum_samples, sum_scatter, nearest_boxes, mixture.evaluate)
    before = [len(kernel.overloads) for kernel in kernels]
    first_run._use_index(INDICES[name])
    for task in first_run.TASKS:
        task()
    assert [len(kernel.overloads) for kernel in kernels] == before
    assert not first_run.learn_sample.is_wanted(first_run._lesson())


def test_a_process_is_started_once_for_an_index(started: list[str]) -> None:
    for name in ("NI", "CH", "NI"):
        first_run.compile_by_two(INDICES[name])
    assert started == ["NI", "CH"]


def test_nobody_is_asked_in_vain(started: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    own = custom_index(lambda n, mean, compactness: 0.0, better="greater", name="NI")
    first_run.compile_by_two(own)
    monkeypatch.setattr(joblib, "effective_n_jobs", lambda _: 1)
    first_run.compile_by_two(INDICES["CH"])
    monkeypatch.setattr(joblib, "effective_n_jobs", lambda _: 2)
    for program in ("/usr/bin/uwsgi", "", None):
        monkeypatch.setattr(sys, "executable", program)
        monkeypatch.setattr(first_run, "_SEEN", set())
        first_run.compile_by_two(INDICES["WB"])
    monkeypatch.setattr(sys, "executable", "C:/python/python.exe")
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    first_run.compile_by_two(INDICES["XB"])
    monkeypatch.setattr(first_run.learn_sample, "is_wanted", lambda _: False)
    first_run.compile_by_two(INDICES["DB"])
    assert started == []


@pytest.fixture
def sleeper(started: list[str], monkeypatch: pytest.MonkeyPatch) -> subprocess.Popen[bytes]:
    """The other process, which would sleep for minutes."""
    process = subprocess.Popen([sys.orig_argv[0], "-c", "import time; time.sleep(600)"])
    monkeypatch.setattr(first_run, "_other_process", lambda _: process)
    return process


def test_an_interrupt_ends_the_other_process(
    sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(first_run, "_use_index", interrupted)
    with pytest.raises(KeyboardInterrupt):
        first_run.compile_by_two(INDICES["CH"])
    assert sleeper.poll() is not None


def test_it_is_not_waited_for_without_end(
    sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_run, "_use_index", lambda _: None)
    monkeypatch.setattr(first_run, "PATIENCE", 0.1)
    first_run.compile_by_two(INDICES["CH"])
    assert sleeper.poll() is not None


def test_every_task_is_done_once(tmp_path: Path) -> None:
    done = []

    def first() -> None:
        done.append("first")
        first_run.share(tasks[::-1], str(tmp_path))  # as the other process, meanwhile

    def second() -> None:
        done.append("second")

    tasks = (first, second)
    first_run.share(tasks, str(tmp_path))
    assert done == ["first", "second"]
